/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table of kernels: for each pair of formats the kinds of edits that it admits. */
#include "edited.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 4096, EDITS = 8192, NAME = 96, SENTENCE = 384 };

static const struct {
    fpo_block_format a, b;
    fpo_format d;
    const char *name;
} bases[] = {
    {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, "nvfp4"},
    {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_BF16, "nvfp4/bf16"},
    {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_E2M1, "nvfp4/nvfp4"},
    {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, FPO_F32, "mxfp4"},
    {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, FPO_F32, "mxfp8_e4m3"},
    {FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_TENSOR, FPO_F32, "fp8_tensor"},
    {FPO_BLOCK_FP8_ROW, FPO_BLOCK_FP8_ROW, FPO_F32, "fp8_row"},
    {FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, FPO_F32, "fp8_1x128"},
};

typedef struct entry {
    edited_kernel what;
    char name[NAME], sentence[SENTENCE];
} entry;

static const fpo_kernel_order in_order = {.size = sizeof(fpo_kernel_order), .models = "fma_f32", .instruction_k = 1};

fpo_status edited_spec(const edited_kernel *kernel, fpo_gemm_spec *spec, fpo_error *error)
{
    fpo_status status = fpo_spec_init(spec, kernel->a, kernel->b, fpo_model_by_name("fma_f32"), kernel->d, error);
    spec->epilogue.c = kernel->d == FPO_E2M1 ? FPO_BF16 : kernel->d;
    spec->epilogue.bias = FPO_F32;
    return status;
}

static fpo_kernel_operand operand_of(fpo_block_format format)
{
    const fpo_operand_view *view = &fpo_block_format_describe(format)->view;
    return (fpo_kernel_operand){.element = fpo_format_describe(view->element)->name,
                                .scale = fpo_format_describe(view->scale.format)->name,
                                .scale_layout = "linear",
                                .scale_rows = view->scale.block_rows,
                                .scale_k = view->scale.block_k};
}

static fpo_kernel kernel_of(const entry *e)
{
    const char *d = fpo_format_describe(e->what.d)->name;
    bool scaled = e->what.d == FPO_E2M1;
    return (fpo_kernel){.name = e->name,
                        .summary = "the emulator with one edit",
                        .fault = e->sentence,
                        .user = &e->what,
                        .a = operand_of(e->what.a),
                        .b = operand_of(e->what.b),
                        .c = scaled ? "bf16" : d,
                        .bias = "f32",
                        .d = d,
                        .d_scale = scaled ? "ue4m3" : NULL,
                        .alpha = FPO_SCALAR_HOST,
                        .beta = FPO_SCALAR_HOST,
                        .tensor_scales = FPO_TENSOR_SCALES_HOST,
                        .arithmetic = FPO_ARITHMETIC_PLAIN,
                        .order = &in_order};
}

/* A problem that has everything an edit may ask for; its operands are never read. */
static fpo_gemm_problem any_problem(void)
{
    static const unsigned char something[1];
    static const float number;
    fpo_operand operand = {.codes = something, .scales = something, .tensor_scale = 0.5f, .source = &number};
    return (fpo_gemm_problem){.m = 256,
                              .n = 256,
                              .k = 1024,
                              .a = operand,
                              .b = operand,
                              .alpha = 0.5f,
                              .beta = 0.5f,
                              .d_scale = 0.5f,
                              .c = something,
                              .bias = something};
}

static bool is_listed(const entry *entries, uint32_t first, uint32_t count, const fpo_edit *edit)
{
    for (uint32_t i = first; i < count; i++)
        if (entries[i].what.kind == edit->kind && entries[i].what.operands == edit->operands)
            return true;
    return false;
}

/* The kinds of edits of one base, for A, for B and for both. */
static uint32_t add_base(entry *entries, uint32_t count, size_t base, fpo_edit *edits)
{
    static const char *const suffixes[] = {"", "_a", "_b", "_ab"};
    edited_kernel what = {.a = bases[base].a, .b = bases[base].b, .d = bases[base].d};
    fpo_gemm_spec spec;
    fpo_gemm_problem problem = any_problem();
    uint32_t first = count;
    if (edited_spec(&what, &spec, NULL) != FPO_OK)
        return count;
    size_t found = fpo_edit_enumerate(&spec, &problem, edits, EDITS);
    for (size_t i = 0; i < found && i < EDITS && count < KERNELS; i++) {
        if (is_listed(entries, first, count, &edits[i]))
            continue;
        entry *e = &entries[count++];
        e->what = what;
        e->what.kind = edits[i].kind;
        e->what.operands = edits[i].operands;
        snprintf(e->name, sizeof e->name, "%s+%s%s", bases[base].name, fpo_edit_describe(edits[i].kind)->name,
                 suffixes[edits[i].operands & 3]);
        int used = snprintf(e->sentence, sizeof e->sentence, "has this edit: ");
        fpo_edit_sentence(&edits[i], e->sentence + used, sizeof e->sentence - (size_t)used);
    }
    return count;
}

const fpo_kernel *edited_kernels(uint32_t *count)
{
    static fpo_kernel *kernels;
    static uint32_t kernel_count;
    entry *entries = kernels == NULL ? calloc(KERNELS, sizeof *entries) : NULL;
    fpo_edit *edits = entries != NULL ? malloc(EDITS * sizeof *edits) : NULL;
    fpo_kernel *table = edits != NULL ? calloc(KERNELS, sizeof *table) : NULL;
    for (size_t base = 0; table != NULL && base < sizeof bases / sizeof *bases; base++)
        kernel_count = add_base(entries, kernel_count, base, edits);
    for (uint32_t i = 0; table != NULL && i < kernel_count; i++)
        table[i] = kernel_of(&entries[i]);
    if (table != NULL)
        kernels = table;
    else
        free(entries);
    free(edits);
    *count = kernel_count;
    return kernels;
}
