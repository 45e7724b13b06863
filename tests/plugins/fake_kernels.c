/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Kernels of the fake device. Between them they use everything that a kernel can declare. */
#include "fake_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { RIGHT, ILLEGAL, ON_HOST } kind;

static float small_float(uint32_t code, int exponent_bits, int mantissa_bits, int bias)
{
    int exponent = (int)(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
    int mantissa = (int)code & ((1 << mantissa_bits) - 1);
    float x = exponent == 0 ? ldexpf((float)mantissa, 1 - bias - mantissa_bits)
                            : ldexpf((float)(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
    return code >> (exponent_bits + mantissa_bits) & 1 ? -x : x;
}

/* Code (row, k) of an operand, in the order and packing that the kernel declared. */
static float element(const fpo_kernel_operand *o, const uint8_t *codes, int64_t line, int64_t row, int64_t k)
{
    int64_t outer = o->major == FPO_MAJOR_MN ? k : row, inner = o->major == FPO_MAJOR_MN ? row : k;
    if (strcmp(o->element, "e2m1") == 0) {
        int swapped = o->packing != NULL && strcmp(o->packing, "nibbles_swapped") == 0;
        return small_float(codes[outer * line + inner / 2] >> ((inner & 1) != swapped ? 4 : 0) & 15, 2, 1, 1);
    }
    return small_float(codes[outer * line + inner], 4, 3, 7);
}

static float block_scale(const fpo_kernel_operand *o, const uint8_t *scales, int64_t k_count, int64_t row, int64_t k)
{
    if (o->scale == NULL || o->scale_k == 0) {
        return 1.0f;
    }
    int64_t columns = (k_count + o->scale_k - 1) / o->scale_k, column = k / o->scale_k;
    int64_t offset = o->scale_layout == NULL ? row * columns + column
                                             : (row / 128 * ((columns + 3) / 4) + column / 4) * 512 + row % 32 * 16 +
                                                   row % 128 / 32 * 4 + column % 4;
    return strcmp(o->scale, "ue8m0") == 0 ? ldexpf(1.0f, scales[offset] - 127) : small_float(scales[offset], 4, 3, 7);
}

static float chain(const fpo_kernel *kernel, const fpo_kernel_problem *p, int64_t m, int64_t n, int64_t begin,
                   int64_t end)
{
    const uint8_t *a = fake_address(p->a), *b = fake_address(p->b);
    const uint8_t *sa = fake_address(p->a_scale), *sb = fake_address(p->b_scale);
    float sum = 0;
    for (int64_t k = begin; k < end; k++) {
        float x = element(&kernel->a, a, p->a_line, m, k) * block_scale(&kernel->a, sa, p->k, m, k);
        float y = element(&kernel->b, b, p->b_line, n, k) * block_scale(&kernel->b, sb, p->k, n, k);
        sum = fmaf(x, y, sum);
    }
    return sum;
}

static float scalar(uint32_t where, const float *value)
{
    return where == FPO_SCALAR_NONE ? 1.0f : where == FPO_SCALAR_HOST ? *value : *(const float *)fake_address(value);
}

static float row_factor(const fpo_kernel_operand *o, const float *scales, int64_t row)
{
    const float *factors = fake_address(scales);
    return o->scale == NULL || o->scale_k != 0 ? 1.0f : factors[o->scale_rows == 0 ? 0 : row];
}

static float finish(const fpo_kernel *kernel, const fpo_kernel_problem *p, float y, int64_t m, int64_t n)
{
    y = y * row_factor(&kernel->b, p->b_scale, n); /* B first, as vLLM does */
    y = y * row_factor(&kernel->a, p->a_scale, m);
    float coefficient = kernel->tensor_scales != 0 ? scalar(kernel->tensor_scales, p->a_tensor_scale) : 1.0f;
    coefficient = coefficient * scalar(kernel->alpha, p->alpha);
    coefficient = coefficient * (kernel->tensor_scales != 0 ? scalar(kernel->tensor_scales, p->b_tensor_scale) : 1.0f);
    y = y * coefficient;
    float beta = kernel->beta != 0 ? scalar(kernel->beta, p->beta) : 0.0f;
    if (p->c != NULL && beta != 0) {
        float c;
        int column = kernel->c_order == FPO_COLUMN_MAJOR;
        memcpy(&c, (const char *)fake_address(p->c) + (column ? n : m) * p->c_line + 4 * (column ? m : n), sizeof c);
        y = fmaf(beta, c, y);
    }
    return p->bias != NULL ? y + ((const float *)fake_address(p->bias))[kernel->bias_per_row != 0 ? m : n] : y;
}

int fake_compute(const fpo_kernel *kernel, const fpo_kernel_problem *p)
{
    if (*(const kind *)kernel->user == ILLEGAL) {
        return 1;
    }
    int64_t half = (p->k / 32 + 1) / 2 * 32;
    for (int64_t m = 0; m < p->m; m++) {
        for (int64_t n = 0; n < p->n; n++) {
            float y = p->variant == 0 ? chain(kernel, p, m, n, 0, p->k)
                                      : chain(kernel, p, m, n, 0, half) + chain(kernel, p, m, n, half, p->k);
            y = finish(kernel, p, y, m, n);
            if (p->workspace != NULL) { /* a round trip, so that the workspace is really used */
                float *place = (float *)fake_address(p->workspace) + n;
                *place = y;
                y = *place;
            }
            int column = kernel->d_order == FPO_COLUMN_MAJOR;
            memcpy((char *)fake_address(p->d) + (column ? n : m) * p->d_line + 4 * (column ? m : n), &y, sizeof y);
        }
    }
    return 0;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    if (*(const kind *)kernel->user == ON_HOST) {
        *(volatile uint8_t *)p->d = 0; /* a device address on the host */
    }
    return fake_launch(kernel, p, why);
}

static fpo_plugin_status variants(const fpo_kernel *kernel, const fpo_kernel_problem *p, uint32_t *count, char *why)
{
    (void)why;
    *count = strstr(kernel->name, "/split") != NULL && p->k > 32 ? 2 : 1;
    return FPO_PLUGIN_OK;
}

static const fpo_kernel_order plain_order = {.size = sizeof plain_order, .models = "fma_f32"};
static const fpo_kernel_order split_order = {
    .size = sizeof split_order, .models = "fma_f32", .split = "even", .reduction = "serial", .parts = 2, .tile_k = 32};

static fpo_plugin_status describe(const fpo_kernel *kernel, const fpo_kernel_problem *p, fpo_kernel_variant *variant,
                                  char *why)
{
    (void)why;
    if (strstr(kernel->name, "/split") != NULL) {
        variant->order = p->variant == 0 ? NULL : &split_order;
        snprintf(variant->name, sizeof variant->name, "split %u", p->variant + 1);
    }
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *p, uint64_t *bytes, char *why)
{
    (void)why;
    *bytes = strstr(kernel->name, "/workspace") != NULL ? (uint64_t)p->n * sizeof(float) : 0;
    return FPO_PLUGIN_OK;
}

/* vLLM's order, in the words of the spec. */
static const fpo_kernel_order b_first = {
    .size = sizeof b_first, .models = "fma_f32", .epilogue = "mul b_scale, mul a_scale, coef_mul alpha, mul_coef"};
static const fpo_kernel_order strange_epilogue = {
    .size = sizeof strange_epilogue, .models = "fma_f32", .epilogue = "mul alpha, sqrt"};
static const fpo_kernel_order strange_model = {.size = sizeof strange_model, .models = "sm999_quantum"};
static const fpo_kernel_order short_order = {.size = offsetof(fpo_kernel_order, epilogue),
                                             .models = "exact, fma_f32",
                                             .epilogue = "beyond the size: must not be read"};
static const int32_t cc120[] = {120, 0}, cc90[] = {90, 0};

#define MXFP8                                                                                                          \
    {                                                                                                                  \
        .element = "e4m3", .scale = "ue8m0", .scale_layout = "128x4", .scale_rows = 1, .scale_k = 32                   \
    }
#define NVFP4                                                                                                          \
    {                                                                                                                  \
        .element = "e2m1", .scale = "ue4m3", .scale_layout = "128x4", .scale_rows = 1, .scale_k = 16                   \
    }
#define COMMON(kernel_name, kernel_kind, kernel_order)                                                                 \
    .name = kernel_name, .summary = "a kernel of the fake device", .source = "fake@1",                                 \
    .user = &(const kind){kernel_kind}, .d = "f32", .order = kernel_order

static const fpo_kernel kernels[] = {
    {COMMON("fake/mxfp8", RIGHT, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc120},
    {COMMON("fake/mxfp8/column", RIGHT, &plain_order), .a = MXFP8, .b = MXFP8, .c = "f32", .bias = "f32",
     .bias_per_row = 1, .c_order = FPO_COLUMN_MAJOR, .d_order = FPO_COLUMN_MAJOR, .d_line_multiple = 64,
     .c_line_multiple = 32, .alpha = FPO_SCALAR_DEVICE, .beta = FPO_SCALAR_DEVICE, .native = cc120, .any_line = 1},
    {COMMON("fake/mxfp8/mn_major", RIGHT, &plain_order),
     .a = {.element = "e4m3",
           .scale = "ue8m0",
           .scale_layout = "128x4",
           .scale_rows = 1,
           .scale_k = 32,
           .major = FPO_MAJOR_MN,
           .line_multiple = 16},
     .b = {.element = "e4m3", .scale = "ue8m0", .scale_rows = 1, .scale_k = 32, .major = FPO_MAJOR_MN},
     .alpha = FPO_SCALAR_HOST, .native = cc120},
    {COMMON("fake/nvfp4/folded", RIGHT, &plain_order), .a = NVFP4, .b = NVFP4, .alpha = FPO_SCALAR_DEVICE,
     .native = cc120},
    {COMMON("fake/nvfp4/device_scales", RIGHT, &plain_order),
     .a = {.element = "e2m1",
           .packing = "nibbles_swapped",
           .scale = "ue4m3",
           .scale_layout = "128x4",
           .scale_rows = 1,
           .scale_k = 16,
           .line_multiple = 16},
     .b = NVFP4, .alpha = FPO_SCALAR_DEVICE, .tensor_scales = FPO_TENSOR_SCALES_DEVICE, .native = cc120, .any_line = 1},
    {COMMON("fake/fp8_row/b_first", RIGHT, &b_first), .a = {.element = "e4m3", .scale = "f32", .scale_rows = 1},
     .b = {.element = "e4m3", .scale = "f32", .scale_rows = 1}, .alpha = FPO_SCALAR_HOST, .native = cc120},
    {COMMON("fake/mxfp8/split", RIGHT, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc120},
    {COMMON("fake/mxfp8/workspace", RIGHT, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc120},
    {COMMON("fake/mxfp8/unknown_order", RIGHT, NULL), .a = MXFP8, .b = MXFP8, .native = cc120},
    {COMMON("fake/mxfp8/two_models", RIGHT, &short_order), .a = MXFP8, .b = MXFP8, .native = cc120},
    {COMMON("fake/mxfp8/tiles", RIGHT, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc120, .m_multiple = 8,
     .n_multiple = 8, .k_multiple = 64},
    {COMMON("fake/mxfp8/sm90", RIGHT, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc90},
    {COMMON("fake/mxfp8/retargeted", RIGHT, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc90, .emulated = cc120},
    {COMMON("fake/mxfp8/illegal_access", ILLEGAL, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc120},
    {COMMON("fake/mxfp8/on_host", ON_HOST, &plain_order), .a = MXFP8, .b = MXFP8, .native = cc120},
    {COMMON("fake/mxfp8/strange_layout", RIGHT, &plain_order),
     .a = {.element = "e4m3", .scale = "ue8m0", .scale_layout = "17x5", .scale_rows = 1, .scale_k = 32}, .b = MXFP8,
     .native = cc120},
    {COMMON("fake/mxfp8/strange_element", RIGHT, &plain_order), .a = MXFP8, .b = {.element = "e9m9"}, .native = cc120},
    {COMMON("fake/mxfp8/strange_epilogue", RIGHT, &strange_epilogue), .a = MXFP8, .b = MXFP8, .alpha = FPO_SCALAR_HOST,
     .native = cc120},
    {COMMON("fake/mxfp8/strange_model", RIGHT, &strange_model), .a = MXFP8, .b = MXFP8, .native = cc120},
};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static const fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "fake_device",
        .version = "1",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof(fpo_kernel),
        .memory = &fake_memory,
        .variants = variants,
        .describe = describe,
        .workspace = workspace,
        .run = run,
    };
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}
