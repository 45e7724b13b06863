/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One launch: the first edit of the kernel's kind that shows in this problem. */
#include "edited.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fpo_operand operand_of(const fpo_operand_view *view, const void *codes, const void *scales, int64_t scale_bytes,
                              const float *tensor_scale, int64_t rows, int64_t k)
{
    int64_t row = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    return (fpo_operand){.codes = codes,
                         .codes_bytes = (size_t)(rows * row),
                         .scales = scales,
                         .scales_bytes = scales != NULL ? (size_t)scale_bytes : 0,
                         .tensor_scale = tensor_scale != NULL ? *tensor_scale : 1.0f};
}

static fpo_gemm_problem problem_of(fpo_gemm_spec *spec, const fpo_kernel_problem *p)
{
    size_t c_bytes = (size_t)(p->m * p->n) * fpo_format_describe(spec->epilogue.c)->storage_bytes;
    fpo_gemm_problem problem = {.m = p->m,
                                .n = p->n,
                                .k = p->k,
                                .alpha = *p->alpha,
                                .beta = *p->beta,
                                .d_scale = p->d_norm != NULL ? *p->d_norm : 1};
    problem.a = operand_of(&spec->a.stored, p->a, p->a_scale, p->a_scale_bytes, p->a_tensor_scale, p->m, p->k);
    problem.b = operand_of(&spec->b.stored, p->b, p->b_scale, p->b_scale_bytes, p->b_tensor_scale, p->n, p->k);
    problem.c = p->c;
    problem.c_bytes = p->c != NULL ? c_bytes : 0;
    problem.bias = p->bias;
    problem.bias_bytes = p->bias != NULL ? (size_t)p->n * sizeof(float) : 0;
    spec->epilogue.c = p->c != NULL ? spec->epilogue.c : FPO_FORMAT_NONE;
    spec->epilogue.bias = p->bias != NULL ? FPO_F32 : FPO_FORMAT_NONE;
    return problem;
}

/* Whether the edit can be applied and changes the output. */
static bool shows(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_edit *edit,
                  const fpo_gemm_output *right, const fpo_gemm_output *output)
{
    fpo_edited edited;
    if (fpo_edited_open(spec, problem, edit, 1, &edited, NULL) != FPO_OK)
        return false;
    bool done = fpo_edited_gemm(&edited, output, NULL, NULL) == FPO_OK;
    fpo_edited_close(&edited);
    return done && (memcmp(output->d, right->d, right->d_bytes) != 0 ||
                    (right->d_scale_bytes > 0 && memcmp(output->d_scale, right->d_scale, right->d_scale_bytes) != 0));
}

static fpo_plugin_status out_of_memory(char *why)
{
    snprintf(why, FPO_PLUGIN_TEXT, "no memory for an output and the edits");
    return FPO_PLUGIN_OUT_OF_MEMORY;
}

/* What the operand stands for, as numbers: edits of the quantisation quantise them again. */
static bool add_source(const fpo_operand_view *view, int64_t rows, int64_t k, fpo_operand *operand)
{
    float *numbers = malloc((size_t)(rows * k) * sizeof *numbers);
    int64_t line = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    int64_t columns = view->scale.format != FPO_FORMAT_NONE ? fpo_scale_columns(&view->scale, k) : 0;
    bool nibbles = fpo_format_describe(view->element)->bits == 4;
    for (int64_t i = 0; i < rows * k && numbers != NULL; i++) {
        int64_t row = i / k, column = i % k;
        const uint8_t *codes = (const uint8_t *)operand->codes + row * line;
        uint32_t code = nibbles ? codes[column / 2] >> (column % 2 == 0 ? 0 : 4) & 15
                                : fpo_load_code(view->element, codes, (size_t)column);
        double x = fpo_decode_double(view->element, code);
        if (columns > 0 && view->scale.block_rows > 0 && view->scale.block_k > 0) {
            int64_t at = row / view->scale.block_rows * columns + column / view->scale.block_k;
            x *= fpo_decode_double(view->scale.format, fpo_load_code(view->scale.format, operand->scales, (size_t)at));
        }
        numbers[i] = (float)(x * (double)operand->tensor_scale);
    }
    operand->source = numbers;
    return numbers != NULL;
}

static fpo_plugin_status run_edited(const edited_kernel *kernel, const fpo_gemm_spec *spec,
                                    const fpo_gemm_problem *problem, const fpo_gemm_output *output, char *why)
{
    size_t count = fpo_edit_enumerate(spec, problem, NULL, 0);
    fpo_edit *edits = malloc((count + 1) * sizeof *edits);
    fpo_gemm_output right = {malloc(output->d_bytes), output->d_bytes, malloc(output->d_scale_bytes + 1),
                             output->d_scale_bytes};
    fpo_error error;
    fpo_plugin_status status = FPO_PLUGIN_OK;
    if (edits == NULL || right.d == NULL || right.d_scale == NULL) {
        status = out_of_memory(why);
    } else if (fpo_gemm(spec, problem, &right, NULL, &error) != FPO_OK) {
        snprintf(why, FPO_PLUGIN_TEXT, "%.200s", error.message);
        status = FPO_PLUGIN_UNSUPPORTED;
    } else {
        bool shown = false;
        fpo_edit_enumerate(spec, problem, edits, count);
        for (size_t i = 0; i < count && !shown; i++)
            shown = edits[i].kind == kernel->kind && edits[i].operands == kernel->operands &&
                    shows(spec, problem, &edits[i], &right, output);
        if (!shown)
            memcpy(output->d, right.d, right.d_bytes);
        if (!shown && right.d_scale_bytes > 0)
            memcpy(output->d_scale, right.d_scale, right.d_scale_bytes);
    }
    free(edits);
    free(right.d);
    free(right.d_scale);
    return status;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const edited_kernel *what = kernel->user;
    fpo_gemm_spec spec;
    fpo_error error;
    if (edited_spec(what, &spec, &error) != FPO_OK) {
        snprintf(why, FPO_PLUGIN_TEXT, "%.200s", error.message);
        return FPO_PLUGIN_UNSUPPORTED;
    }
    fpo_gemm_problem problem = problem_of(&spec, p);
    fpo_gemm_output output = {p->d, fpo_output_bytes(&spec, p->m, p->n), p->d_scale,
                              fpo_output_scale_bytes(&spec, p->m, p->n)};
    bool numbers = add_source(&spec.a.stored, p->m, p->k, &problem.a);
    numbers = add_source(&spec.b.stored, p->n, p->k, &problem.b) && numbers;
    fpo_plugin_status status = numbers ? run_edited(what, &spec, &problem, &output, why) : out_of_memory(why);
    free((float *)problem.a.source);
    free((float *)problem.b.source);
    return status;
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "edited",
        .version = FPO_VERSION,
        .kernel_size = sizeof(fpo_kernel),
        .run = run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    plugin.kernels = edited_kernels(&plugin.kernel_count);
    return plugin.kernels != NULL ? &plugin : NULL;
}
