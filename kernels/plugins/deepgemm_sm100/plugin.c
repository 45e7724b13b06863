/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* DeepGEMM's FP8 and FP4 GEMM for compute capability 10.0 as a plug-in, and the ways in which f32 scales have been
 * handed to it. The kernel reads packed ue8m0 words: scale k of a row is byte k % 4 of its word k / 4. */
#include "../common/cuda_memory.h"
#include "launch.h"
#include "pack.h"

static const int32_t blackwell[] = {100, 0};

/* What a kernel of the table does before the GEMM; no packing: the scales are handed over as they are. */
typedef struct way {
    enum deepgemm_kernel kernel;
    deepgemm_packing *pack;
} way;

#define SOURCE "DeepGEMM, device headers of PyPI sgl-deep-gemm 0.2.5"

static const way ways[] = {
#define DEEPGEMM_KERNEL(ID, name, summary, a, b, a_k, b_k, d, tile_m, tile_n, swap, ctas) {DEEPGEMM_##ID, NULL},
#include "kernels.inc"
#undef DEEPGEMM_KERNEL
};
static const way guarded = {DEEPGEMM_FP8_F32, deepgemm_pack_guarded},
                 unguarded = {DEEPGEMM_FP8_F32, deepgemm_pack_unguarded},
                 exponents = {DEEPGEMM_FP8_F32, deepgemm_exponents},
                 rounded_up = {DEEPGEMM_FP8_F32, deepgemm_rounded_up}, raw = {DEEPGEMM_FP8_F32, NULL};

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

#define ORDER_false_e4m3 &mixed_order
#define ORDER_true_e4m3 &swapped_order
#define ORDER_false_e2m1 &fp4_order

/* A tensor map's lines are multiples of 16 bytes. */
#define OPERAND(type, k)                                                                                               \
    {                                                                                                                  \
        .element = #type, .line_multiple = 16, .scale = "ue8m0", .scale_layout = "packed_words", .scale_rows = 1,      \
        .scale_k = (k)                                                                                                 \
    }

/* The FP8 kernel behind f32 scales. */
#define F32_SCALES(suffix, text, how, broken, layout)                                                                  \
    {                                                                                                                  \
        .name = "deepgemm_sm100/fp8_1x128/f32" suffix, .summary = text, .source = SOURCE, .fault = broken,             \
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
              .scale_layout = layout,                                                                                  \
              .scale_rows = 1,                                                                                         \
              .scale_k = 128},                                                                                         \
        .d = "f32", .d_line_multiple = 16, .any_line = 1, .k_multiple = 16, .n_multiple = 4,                           \
        .arithmetic = FPO_ARITHMETIC_DEVICE, .native = blackwell                                                       \
    }

static const fpo_kernel kernels[] = {
#define DEEPGEMM_KERNEL(ID, text, about, a_type, b_type, a_k, b_k, d_type, tile_m, tile_n, swap, ctas)                 \
    {.name = "deepgemm_sm100/" text,                                                                                   \
     .summary = "normal GEMM, " about,                                                                                 \
     .source = SOURCE,                                                                                                 \
     .user = &ways[DEEPGEMM_##ID],                                                                                     \
     .a = OPERAND(a_type, a_k),                                                                                        \
     .b = OPERAND(b_type, b_k),                                                                                        \
     .d = #d_type,                                                                                                     \
     .d_line_multiple = 16,                                                                                            \
     .any_line = 1,                                                                                                    \
     .n_multiple = 4,                                                                                                  \
     .k_multiple = 16,                                                                                                 \
     .arithmetic = FPO_ARITHMETIC_DEVICE,                                                                              \
     .native = blackwell,                                                                                              \
     .order = ORDER_##swap##_##a_type},
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

static int64_t words_bytes(int64_t rows, int64_t k)
{
    return (rows + 3) / 4 * 4 * ((k + 511) / 512) * 4;
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *p, uint64_t *bytes, char *why)
{
    (void)why;
    const way *how = kernel->user;
    *bytes = how->pack == NULL
                 ? 0
                 : (uint64_t)(words_bytes(p->m, p->k) + 255) / 256 * 256 + (uint64_t)words_bytes(p->n, p->k);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const way *how = kernel->user;
    if (how->pack == NULL)
        return deepgemm_gemm(how->kernel, p, p->a_scale, p->b_scale, why);
    char *a_words = p->workspace, *b_words = a_words + (words_bytes(p->m, p->k) + 255) / 256 * 256;
    fpo_plugin_status status = how->pack(p->a_scale, a_words, p->m, (p->k + 127) / 128, why);
    if (status == FPO_PLUGIN_OK)
        status = how->pack(p->b_scale, b_words, p->n, (p->k + 127) / 128, why);
    return status == FPO_PLUGIN_OK ? deepgemm_gemm(how->kernel, p, a_words, b_words, why) : status;
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
        .workspace = workspace,
        .run = run,
    };
    plugin.memory = fpo_cuda_memory(plugin.version);
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}
