/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* DeepGEMM's FP8 and FP4 GEMM for compute capability 10.0 as a plug-in, and the ways in which f32 scales have been
 * handed to it. The kernel reads packed ue8m0 words: scale k of a row is byte k % 4 of its word k / 4. */
#include "../common/cuda_memory.h"
#include "groups.h"
#include "pack.h"

#include <stdio.h>

static const int32_t blackwell[] = {100, 0};

/* What a kernel of the table does before the GEMM; no packing: the scales are handed over as they are. */
typedef struct way {
    deepgemm_grouped of;
    deepgemm_packing *pack;
    int ctas;
} way;

#define SOURCE "DeepGEMM, device headers of PyPI sgl-deep-gemm 0.2.5"

enum { BITS_e4m3 = 8, BITS_e2m1 = 4, BYTES_f32 = 4, BYTES_bf16 = 2 };

static const way ways[] = {
#define DEEPGEMM_KERNEL(ID, name, summary, a, b, a_k, b_k, d, tile_m, tile_n, swap, ctas, grouped)                     \
    {{DEEPGEMM_##ID, DEEPGEMM_##grouped, tile_m, BITS_##a, BITS_##b, a_k, b_k, BYTES_##d}, NULL, ctas},
#include "kernels.inc"
#undef DEEPGEMM_KERNEL
};
#define FP8_F32_WAY                                                                                                    \
    {                                                                                                                  \
        DEEPGEMM_FP8_F32, DEEPGEMM_Normal, 128, 8, 8, 128, 128, 4                                                      \
    }
static const way guarded = {FP8_F32_WAY, deepgemm_pack_guarded, 1},
                 unguarded = {FP8_F32_WAY, deepgemm_pack_unguarded, 1},
                 exponents = {FP8_F32_WAY, deepgemm_exponents, 1}, rounded_up = {FP8_F32_WAY, deepgemm_rounded_up, 1},
                 raw = {FP8_F32_WAY, NULL, 1};

static const fpo_kernel_order mixed_order = {.size = sizeof mixed_order,
                                             .models = "sm100_mxf8f6f4",
                                             .tile_k = 128,
                                             .instruction_k = 32},
                              swapped_order = {.size = sizeof swapped_order,
                                               .models = "sm100_mxf8f6f4",
                                               .tile_k = 128,
                                               .instruction_k = 32,
                                               .swap_ab = 1},
                              fp4_order = {
                                  .size = sizeof fp4_order, .models = "sm100_mxf4", .tile_k = 256, .instruction_k = 64};

#define ORDER_false_e4m3_e4m3 &mixed_order
#define ORDER_true_e4m3_e4m3 &swapped_order
#define ORDER_false_e4m3_e2m1 &mixed_order
#define ORDER_true_e4m3_e2m1 &swapped_order
#define ORDER_false_e2m1_e4m3 &mixed_order
#define ORDER_false_e2m1_e2m1 &fp4_order

/* A tensor map's lines are multiples of 16 bytes; FP4 that it unpacks comes in lines of 32 bytes, 128 elements at once.
 */
#define LINE_e4m3_e4m3 16
#define LINE_e2m1_e2m1 16
#define LINE_e4m3_e2m1 16
#define LINE_e2m1_e4m3 32
#define STEP_e4m3_e4m3 16
#define STEP_e2m1_e2m1 16
#define STEP_e4m3_e2m1 128
#define STEP_e2m1_e4m3 128
#define OPERAND(type, other, k)                                                                                        \
    {                                                                                                                  \
        .element = #type, .line_multiple = LINE_##type##_##other, .scale = "ue8m0", .scale_layout = "packed_words",    \
        .scale_rows = 1, .scale_k = (k)                                                                                \
    }

/* The FP8 kernel behind f32 scales; those of B a row or a block of 128x128 each. */
#define F32_SCALES(suffix, text, how, broken, layout)                                                                  \
    F32_SCALES_OF("fp8_1x128", 1, layout, suffix, text, how, broken, layout),                                          \
        F32_SCALES_OF("fp8_1x128,128x128", 128, "linear", suffix, text, how, broken, layout)
#define F32_SCALES_OF(formats, b_rows, b_layout, suffix, text, how, broken, layout)                                    \
    {                                                                                                                  \
        .name = "deepgemm_sm100/" formats "/f32" suffix, .summary = text, .source = SOURCE, .fault = broken,           \
        .user = &how,                                                                                                  \
        .a = {.element = "e4m3",                                                                                       \
              .line_multiple = 16,                                                                                     \
              .scale = "f32",                                                                                          \
              .scale_layout = layout,                                                                                  \
              .scale_rows = 1,                                                                                         \
              .scale_k = 128},                                                                                         \
        .b = {.element = "e4m3",                                                                                       \
              .line_multiple = 16,                                                                                     \
              .scale = "f32",                                                                                          \
              .scale_layout = b_layout,                                                                                \
              .scale_rows = b_rows,                                                                                    \
              .scale_k = 128},                                                                                         \
        .d = "f32", .d_line_multiple = 16, .any_line = 1, .k_multiple = 16, .n_multiple = 4,                           \
        .arithmetic = FPO_ARITHMETIC_DEVICE, .native = blackwell                                                       \
    }

static const fpo_kernel kernels[] = {
#define DEEPGEMM_KERNEL(ID, text, about, a_type, b_type, a_k, b_k, d_type, tile_m, tile_n, swap, ctas, grouped)        \
    {.name = "deepgemm_sm100/" text,                                                                                   \
     .summary = about,                                                                                                 \
     .source = SOURCE,                                                                                                 \
     .user = &ways[DEEPGEMM_##ID],                                                                                     \
     .a = OPERAND(a_type, b_type, a_k),                                                                                \
     .b = OPERAND(b_type, a_type, b_k),                                                                                \
     .d = #d_type,                                                                                                     \
     .d_line_multiple = 16,                                                                                            \
     .any_line = 1,                                                                                                    \
     .n_multiple = DEEPGEMM_##grouped == DEEPGEMM_Normal ? 4 : 8,                                                      \
     .k_multiple = DEEPGEMM_##grouped == DEEPGEMM_KGroupedContiguous ? 128 : STEP_##a_type##_##b_type,                 \
     .arithmetic = FPO_ARITHMETIC_DEVICE,                                                                              \
     .native = blackwell,                                                                                              \
     .order = ORDER_##swap##_##a_type##_##b_type},
#include "kernels.inc"
#undef DEEPGEMM_KERNEL
    F32_SCALES("/packed_here",
               "f32 scales through DeepGEMM's packing kernel, which traps unless they are powers of two", guarded, NULL,
               "linear"),
    F32_SCALES("+raw_words", "f32 scales, MN-major, handed over as packed words", raw,
               "hands the f32 scales to the kernel as they are, which reads packed ue8m0 bytes", "mn_major_4"),
    F32_SCALES("+packed_unmasked", "DeepGEMM's packing kernel without its trap", unguarded,
               "packs f32 scales that are no powers of two without masking their mantissas", "linear"),
    F32_SCALES("+mantissa_dropped", "only the exponents of the f32 scales are packed", exponents,
               "drops the mantissas of the f32 scales and leaves the codes as they were", "linear"),
    F32_SCALES("+rounded_up", "f32 scales rounded up to powers of two, then packed", rounded_up,
               "rounds the f32 scales up to powers of two and leaves the codes as they were", "linear"),
};

/* The workspace: A's words, B's, and B's scales for each row, where they are of blocks. In bytes. */
typedef struct parts {
    uint64_t b_words, b_rows, end;
} parts;

static uint64_t lines_bytes(int64_t rows, int64_t columns)
{
    return ((uint64_t)((rows + 3) / 4 * 4) * (uint64_t)columns * 4 + 255) / 256 * 256;
}

static parts parts_of(const fpo_kernel *kernel, const fpo_kernel_problem *p)
{
    const way *how = kernel->user;
    bool packs = how->pack != NULL, blocks = kernel->b.scale_rows > 1;
    if (how->of.grouping != DEEPGEMM_Normal)
        return (parts){.end = deepgemm_grouped_bytes(&how->of, p)};
    parts at = {.b_words = packs ? lines_bytes(p->m, (p->k + 511) / 512) : 0};
    at.b_rows = at.b_words + (packs ? lines_bytes(p->n, (p->k + 511) / 512) : 0);
    at.end = at.b_rows + (blocks ? lines_bytes(p->n, (p->k + 127) / 128) : 0);
    return at;
}

/* Two CTAs share the rows of two tiles; DeepGEMM's own launcher, too, takes one CTA where a tile would be left over. */
static fpo_plugin_status check(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const way *how = kernel->user;
    int64_t tiles = how->ctas < 2 ? 0 : (p->m + how->of.tile_m - 1) / how->of.tile_m;
    if (tiles % 2 == 0)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "M = %lld makes %lld tiles of %d rows, and pairs of CTAs take an even number",
             (long long)p->m, (long long)tiles, how->of.tile_m);
    return FPO_PLUGIN_UNSUPPORTED;
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *p, uint64_t *bytes, char *why)
{
    (void)why;
    *bytes = parts_of(kernel, p).end;
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status gemm(const way *how, const fpo_kernel_problem *p, const void *a_scale, const void *b_scale,
                              char *why)
{
    const deepgemm_grouped *of = &how->of;
    const deepgemm_operands operands = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .a = {p->a, a_scale, p->m, p->k, p->a_line, p->m, (p->k + 4 * of->a_scale_k - 1) / (4 * of->a_scale_k)},
        .b = {p->b, b_scale, p->n, p->k, p->b_line, p->n, (p->k + 4 * of->b_scale_k - 1) / (4 * of->b_scale_k)},
        .d = p->d,
        .d_rows = p->m,
        .d_line = p->d_line};
    return deepgemm_gemm(of->kernel, &operands, why);
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const way *how = kernel->user;
    const parts at = parts_of(kernel, p);
    int64_t columns = (p->k + 127) / 128;
    char *a_words = p->workspace;
    const void *b_scale = p->b_scale;
    fpo_plugin_status status = FPO_PLUGIN_OK;
    if (how->of.grouping != DEEPGEMM_Normal)
        return deepgemm_run_grouped(&how->of, p, why);
    if (kernel->b.scale_rows > 1) {
        status = deepgemm_repeat_rows(p->b_scale, a_words + at.b_rows, p->n, columns, how->pack == NULL, why);
        b_scale = a_words + at.b_rows;
    }
    if (how->pack == NULL)
        return status == FPO_PLUGIN_OK ? gemm(how, p, p->a_scale, b_scale, why) : status;
    if (status == FPO_PLUGIN_OK)
        status = how->pack(p->a_scale, a_words, p->m, columns, why);
    if (status == FPO_PLUGIN_OK)
        status = how->pack(b_scale, a_words + at.b_words, p->n, columns, why);
    return status == FPO_PLUGIN_OK ? gemm(how, p, a_words, a_words + at.b_words, why) : status;
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "deepgemm_sm100",
        .version = "sgl-deep-gemm 0.2.5",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof *kernels,
        .kernel_size = sizeof(fpo_kernel),
        .check = check,
        .workspace = workspace,
        .run = run,
    };
    plugin.memory = fpo_cuda_memory(plugin.version);
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}
