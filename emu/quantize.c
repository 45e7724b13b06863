/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fpo_quantize: checks, the tensor's own values, and rows shared out to threads. */
#include "engine.h"
#include "quantizer.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

size_t fpo_operand_codes_bytes(const fpo_operand_view *view, int64_t rows, int64_t k)
{
    return (size_t)(rows * fpo_packing_row_bytes(view->packing, view->element, k));
}

size_t fpo_operand_scales_bytes(const fpo_operand_view *view, int64_t rows, int64_t k)
{
    const fpo_scale_view *scale = &view->scale;
    if (scale->format == FPO_FORMAT_NONE)
        return 0;
    return (size_t)fpo_layout_size(scale->layout, fpo_scale_rows(scale, rows), fpo_scale_columns(scale, k)) *
           fpo_format_describe(scale->format)->storage_bytes;
}

static const fpo_quantize_kernels *kernels_of(fpo_isa isa)
{
#ifdef FPO_X86
    if (isa == FPO_ISA_AVX512)
        return &fpo_quantize_avx512;
    if (isa == FPO_ISA_AVX2)
        return &fpo_quantize_avx2;
#endif
    (void)isa;
    return &fpo_quantize_portable;
}

static fpo_status tensor_scope(fpo_quantizer *q, int threads, fpo_error *error)
{
    const fpo_program *program = q->program;
    for (int r = 0; r < program->register_count; r++)
        if (program->registers[r].constant)
            q->tensor[r] = program->registers[r].number;
    if (fpo_uses(q, program->tensor_amax)) {
        float amax = 0;
        fpo_status status = fpo_tensor_amax(q, threads, &amax, error);
        if (status != FPO_OK)
            return status;
        q->tensor[program->tensor_amax] = amax;
    }
    if (program->tensor_scale != FPO_NO_REGISTER && q->result->given_library_scale)
        q->tensor[program->tensor_scale] = q->result->library_scale;
    for (int i = 0; i < program->step_count; i++) {
        const fpo_recipe_step *step = &program->steps[i];
        if (!q->live[i] || step->scope != FPO_SCOPE_TENSOR)
            continue;
        double arguments[3] = {0, 0, 0};
        for (int a = 0; a < 3 && step->argument[a] != FPO_NO_REGISTER; a++)
            arguments[a] = q->tensor[step->argument[a]];
        q->tensor[step->to] = fpo_recipe_apply(step, arguments[0], arguments[1], arguments[2]);
    }
    if (program->tensor_scale != FPO_NO_REGISTER)
        q->result->library_scale = fpo_canonical((float)q->tensor[program->tensor_scale]);
    int multiplier = program->multiplier != FPO_NO_REGISTER ? program->multiplier : program->tensor_scale;
    q->result->tensor_scale = multiplier != FPO_NO_REGISTER ? fpo_canonical((float)q->tensor[multiplier]) : 1.0f;
    return FPO_OK;
}

static fpo_status check_sizes(const fpo_recipe_info *info, const float *x, int64_t rows, int64_t k,
                              const fpo_quantized *result, fpo_error *error)
{
    int64_t elements;
    if (x == NULL || result == NULL || result->codes == NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: no input or no place for the codes", info->name);
    if (rows < 1 || k < 1 || __builtin_mul_overflow(rows, k, &elements) || elements > INT64_MAX / 8)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: %lld x %lld elements", info->name, (long long)rows, (long long)k);
    size_t codes = fpo_operand_codes_bytes(&info->view, rows, k);
    size_t scales = fpo_operand_scales_bytes(&info->view, rows, k);
    if (result->codes_bytes != codes)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: the codes of %lld x %lld take %zu bytes, not %zu", info->name,
                        (long long)rows, (long long)k, codes, result->codes_bytes);
    if (scales > 0 && (result->scales == NULL || result->scales_bytes != scales))
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: the scales of %lld x %lld take %zu bytes, not %zu", info->name,
                        (long long)rows, (long long)k, scales, result->scales_bytes);
    return FPO_OK;
}

/* Where part `index` of `parts` begins. */
static int64_t part_of(int64_t count, int64_t index, int64_t parts)
{
    return count / parts * index + (count % parts < index ? count % parts : index);
}

enum { ROWS_AT_ONCE = 128 }; /* between two reports of progress */

/* The end of the rows from `row` on that share their regions, at most `stop`. */
static int64_t end_of_strip(const fpo_quantizer *q, int64_t row, int64_t stop)
{
    int64_t end = (row / q->region_rows + 1) * q->region_rows;
    end = end < row + ROWS_AT_ONCE ? end : row + ROWS_AT_ONCE;
    return end < stop ? end : stop;
}

static fpo_status all_rows(const fpo_quantizer *q, int threads, const fpo_execution *execution, fpo_error *error)
{
    bool failed = false;
    int64_t done = 0;
#pragma omp parallel num_threads(threads)
    {
        fpo_lane lane = {.memory = NULL};
        bool ready = fpo_lane_init(&lane, q);
        if (!ready)
#pragma omp atomic write
            failed = true;
        int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
        int64_t stop = part_of(q->rows, me + 1, team);
        for (int64_t row = part_of(q->rows, me, team), end; ready && row < stop; row = end) {
            end = end_of_strip(q, row, stop);
            fpo_quantize_rows(q, &lane, row, end);
            int64_t now;
#pragma omp atomic capture
            now = done += end - row;
            if (execution != NULL && execution->progress != NULL && me == 0)
                execution->progress(execution->progress_context, (double)now / (double)q->rows);
        }
        fpo_lane_free(&lane);
    }
    return failed ? fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the registers of a recipe") : FPO_OK;
}

/* Unless the caller says how many: one for each 2^17 elements, of which a fast recipe does 1,000 in a microsecond. */
static int thread_count(const fpo_quantizer *q, const fpo_execution *execution)
{
    if (execution != NULL && execution->threads > 0)
        return execution->threads;
    int64_t worth = q->rows * q->k / (1 << 17) + 1, most = omp_get_max_threads();
    return (int)(most < worth ? most : worth);
}

static fpo_status run(const fpo_recipe_info *info, fpo_quantizer *q, const fpo_execution *execution, fpo_error *error)
{
    const fpo_program *program = q->program;
    int threads = thread_count(q, execution);
    if (fpo_uses(q, program->row_amax) && q->region_rows != 1)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: a scale per row needs blocks of one row", info->name);
    if (program->try_count > 0 && q->region_k > FPO_CHUNK)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: a search over blocks of more than %d elements", info->name,
                        FPO_CHUNK);
    bool apart = fpo_uses(q, program->amax) && program->amax_rule[FPO_SCOPE_BLOCK] == FPO_AMAX_EVEN_ODD;
    if (apart && q->region_k > FPO_CHUNK)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: even_odd over blocks of more than %d elements", info->name,
                        FPO_CHUNK);
    fpo_status status = tensor_scope(q, threads, error);
    if (status == FPO_OK && q->region_rows > 1 && fpo_uses(q, program->amax))
        status = fpo_region_amax(q, threads, error);
    if (status == FPO_OK && q->region_rows > 1 && program->try_count > 0)
        status = fpo_region_choice(q, threads, error);
    if (status == FPO_OK)
        status = all_rows(q, threads, execution, error);
    free(q->region_amax);
    free(q->region_choice);
    return status;
}

fpo_status fpo_quantize_by(const fpo_recipe_info *info, const float *x, int64_t rows, int64_t k, fpo_quantized *result,
                           const fpo_execution *execution, fpo_error *error)
{
    fpo_status status = check_sizes(info, x, rows, k, result, error);
    if (status != FPO_OK)
        return status;
    fpo_format dtype = result->dtype == FPO_FORMAT_NONE ? FPO_F32 : result->dtype;
    fpo_program *program = malloc(sizeof *program);
    fpo_quantizer *q = calloc(1, sizeof *q);
    if (program == NULL || q == NULL) {
        free(program);
        free(q);
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a recipe");
    }
    status = fpo_recipe_compile(info->text, &info->view, dtype, program, error);
    if (status == FPO_OK) {
        fpo_simplify(program);
        q->kernels = kernels_of(fpo_isa_resolve(execution != NULL ? execution->isa : FPO_ISA_BEST));
        fpo_plan_program(q, program, &info->view, x, rows, k, result);
        fenv_t environment;
        fegetenv(&environment);
        fesetenv(FE_DFL_ENV);
        status = run(info, q, execution, error);
        fesetenv(&environment);
    }
    free(program);
    free(q);
    return status;
}

fpo_status fpo_quantize(fpo_recipe recipe, const float *x, int64_t rows, int64_t k, fpo_quantized *result,
                        const fpo_execution *execution, fpo_error *error)
{
    const fpo_recipe_info *info = fpo_recipe_describe(recipe);
    if (info == NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "no recipe number %d", (int)recipe);
    return fpo_quantize_by(info, x, rows, k, result, execution, error);
}
