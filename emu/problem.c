/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Shapes, sizes and pointers of a problem, checked before anything is read. */
#include "engine.h"

/* a * b * c, or -1 where that is no size. */
static int64_t product(int64_t a, int64_t b, int64_t c)
{
    int64_t size;
    if (a < 0 || b < 0 || c < 0 || __builtin_mul_overflow(a, b, &size) || __builtin_mul_overflow(size, c, &size) ||
        (uint64_t)size > SIZE_MAX / 2)
        return -1;
    return size;
}

static int64_t output_size(const fpo_gemm_spec *spec, int64_t m, int64_t n)
{
    const fpo_format_info *info = fpo_format_describe(spec->epilogue.d);
    if (info == NULL || info->bits == 0 || m < 1 || n < 1)
        return -1;
    return info->bits == 4 ? product(m, n / 2 + n % 2, 1) : product(m, n, info->storage_bytes);
}

static int64_t output_scale_size(const fpo_gemm_spec *spec, int64_t m, int64_t n)
{
    if (spec->epilogue.d_scale == FPO_FORMAT_NONE)
        return 0;
    return m < 1 || n < 1 ? -1 : product(m, fpo_output_scale_columns(&spec->epilogue, n), 1);
}

size_t fpo_output_bytes(const fpo_gemm_spec *spec, int64_t m, int64_t n)
{
    int64_t size = output_size(spec, m, n);
    return size < 0 ? 0 : (size_t)size;
}

size_t fpo_output_scale_bytes(const fpo_gemm_spec *spec, int64_t m, int64_t n)
{
    int64_t size = output_scale_size(spec, m, n);
    return size < 0 ? 0 : (size_t)size;
}

/* A buffer of `given` bytes for `rows` x `columns` numbers that take `needed`. */
static fpo_status check_buffer(const char *name, const char *what, const void *buffer, size_t given, int64_t needed,
                               int64_t rows, int64_t columns, fpo_format format, fpo_error *error)
{
    const char *type = fpo_format_describe(format)->name;
    if (needed < 0)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: %s of %lld x %lld %s are too many for this machine", name, what,
                        (long long)rows, (long long)columns, type);
    if (buffer == NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: no %s given, %lld bytes are needed for %lld x %lld %s", name,
                        what, (long long)needed, (long long)rows, (long long)columns, type);
    if (given != (size_t)needed)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: %zu bytes of %s given, %lld are needed for %lld x %lld %s", name,
                        given, what, (long long)needed, (long long)rows, (long long)columns, type);
    return FPO_OK;
}

static fpo_status check_operand(const fpo_operand_view *stored, const fpo_operand *operand, int64_t rows, int64_t k,
                                const char *name, fpo_error *error)
{
    int64_t codes = product(rows, fpo_packing_row_bytes(FPO_PACKING_CANONICAL, stored->element, k), 1);
    fpo_status status =
        check_buffer(name, "codes", operand->codes, operand->codes_bytes, codes, rows, k, stored->element, error);
    if (status != FPO_OK || stored->scale.format == FPO_FORMAT_NONE)
        return status;
    int64_t scale_rows = fpo_scale_rows(&stored->scale, rows), scale_columns = fpo_scale_columns(&stored->scale, k);
    int64_t scales = product(scale_rows, scale_columns, fpo_format_describe(stored->scale.format)->storage_bytes);
    return check_buffer(name, "scales", operand->scales, operand->scales_bytes, scales, scale_rows, scale_columns,
                        stored->scale.format, error);
}

static bool uses(const fpo_epilogue *epilogue, fpo_epilogue_op first, fpo_epilogue_op last)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++) {
        if (epilogue->steps[i].op >= first && epilogue->steps[i].op <= last)
            return true;
    }
    return false;
}

static fpo_status check_addends(const fpo_epilogue *e, const fpo_gemm_problem *p, fpo_error *error)
{
    fpo_status status = FPO_OK;
    if (e->c != FPO_FORMAT_NONE && p->beta != 0 && uses(e, FPO_EPI_FMA_COEF_BETA_C, FPO_EPI_FMA_BETA_C_ALWAYS))
        status = check_buffer("c", "numbers", p->c, p->c_bytes,
                              product(p->m, p->n, fpo_format_describe(e->c)->storage_bytes), p->m, p->n, e->c, error);
    if (status == FPO_OK && e->bias != FPO_FORMAT_NONE && uses(e, FPO_EPI_ADD_BIAS, FPO_EPI_FMA_BIAS)) {
        int64_t count = e->bias_per_row ? p->m : p->n;
        status = check_buffer("bias", "numbers", p->bias, p->bias_bytes,
                              product(count, 1, fpo_format_describe(e->bias)->storage_bytes), count, 1, e->bias, error);
    }
    return status;
}

static fpo_status check_output(const fpo_gemm_spec *spec, const fpo_gemm_problem *p, const fpo_gemm_output *output,
                               fpo_error *error)
{
    int64_t d = output_size(spec, p->m, p->n), d_scale = output_scale_size(spec, p->m, p->n);
    if (d < 0 || d_scale < 0)
        return fpo_fail(error, FPO_ERR_SHAPE, "d: %lld x %lld numbers are too many for this machine", (long long)p->m,
                        (long long)p->n);
    if (output == NULL)
        return FPO_OK;
    if (output->d == NULL || output->d_bytes < (size_t)d)
        return fpo_fail(error, FPO_ERR_SHAPE, "d: %zu bytes given, %lld are needed for %lld x %lld %s",
                        output->d == NULL ? 0 : output->d_bytes, (long long)d, (long long)p->m, (long long)p->n,
                        fpo_format_describe(spec->epilogue.d)->name);
    if (d_scale > 0 && (output->d_scale == NULL || output->d_scale_bytes < (size_t)d_scale))
        return fpo_fail(error, FPO_ERR_SHAPE, "d_scale: %zu bytes given, %lld are needed for %lld x %lld",
                        output->d_scale == NULL ? 0 : output->d_scale_bytes, (long long)d_scale, (long long)p->m,
                        (long long)p->n);
    return FPO_OK;
}

fpo_status fpo_problem_check(const fpo_gemm_spec *spec, const fpo_gemm_problem *p, const fpo_gemm_output *output,
                             fpo_error *error)
{
    if (p->m < 1 || p->n < 1 || p->k < 1)
        return fpo_fail(error, FPO_ERR_SHAPE, "M, N and K are at least 1, not %lld, %lld and %lld", (long long)p->m,
                        (long long)p->n, (long long)p->k);
    fpo_status status = fpo_spec_check(spec, error);
    if (status == FPO_OK)
        status = check_operand(&spec->a.stored, &p->a, p->m, p->k, "a", error);
    if (status == FPO_OK)
        status = check_operand(&spec->b.stored, &p->b, p->n, p->k, "b", error);
    if (status == FPO_OK)
        status = check_addends(&spec->epilogue, p, error);
    if (status == FPO_OK)
        status = check_output(spec, p, output, error);
    return status;
}
