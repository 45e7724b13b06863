/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The plug-in: one launch from operands to D. */
#include "cpu_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gemm {
    const fpo_kernel *kernel;
    const fpo_kernel_problem *problem;
    const cpu_fault *fault;
    cpu_operand a, b;
} gemm;

static uint32_t load_code(const void *matrix, int64_t line, int64_t m, int64_t n, int wide)
{
    const uint8_t *row = (const uint8_t *)matrix + m * line;
    uint32_t code = 0;
    memcpy(&code, row + n * (wide ? 4 : 2), wide ? 4 : 2);
    return code;
}

static float tensor_factor(float product, const float *scale, uint32_t faults)
{
    float factor = scale != NULL && (faults & CPU_TENSOR_SCALE_DROPPED) == 0 ? *scale : 1.0f;
    product = product * ((faults & CPU_TENSOR_SCALE_INVERTED) != 0 ? 1.0f / factor : factor);
    return (faults & CPU_TENSOR_SCALE_TWICE) != 0 ? product * factor : product;
}

/* The factors that are the same for all of D, in the order A, alpha, B. */
static float coefficient(const gemm *g)
{
    const fpo_kernel_problem *p = g->problem;
    int a_tensor = g->kernel->a.scale_rows == 0, b_tensor = g->kernel->b.scale_rows == 0;
    float c = a_tensor ? cpu_row_factor(&g->a, 0) : 1.0f;
    c = tensor_factor(c, p->a_tensor_scale, g->a.faults);
    c = (g->fault->all & CPU_ALPHA_DROPPED) != 0 ? c : c * *p->alpha;
    c = b_tensor ? c * cpu_row_factor(&g->b, 0) : c;
    return tensor_factor(c, p->b_tensor_scale, g->b.faults);
}

static float epilogue(const gemm *g, float y, float row_factor, float column_factor, float coef, int64_t m, int64_t n)
{
    const fpo_kernel_problem *p = g->problem;
    int wide = strcmp(g->kernel->c, "f32") == 0, bits = 0;
    if ((g->fault->all & CPU_NARROWED_FIRST) != 0) {
        y = cpu_decode_of("f16", &bits)(cpu_to_f16(y, 0));
    }
    y = y * row_factor;
    y = y * column_factor;
    y = y * coef;
    if (p->c != NULL && *p->beta != 0.0f && (g->fault->all & CPU_BETA_DROPPED) == 0) {
        y = fmaf(*p->beta, cpu_decode_of(g->kernel->c, &bits)(load_code(p->c, p->c_line, m, n, wide)), y);
    }
    return p->bias != NULL ? y + ((const float *)p->bias)[n] : y;
}

static void store(const gemm *g, float y, int64_t m, int64_t n)
{
    const char *format = g->kernel->d;
    uint8_t *row = (uint8_t *)g->problem->d + m * g->problem->d_line;
    int cut = (g->fault->all & CPU_OUTPUT_TRUNCATED) != 0;
    if (strcmp(format, "f32") == 0) {
        uint32_t bits = 0x7FFFFFFF; /* the one NaN that GPUs make */
        if (!isnan(y)) {
            memcpy(&bits, &y, sizeof bits);
        }
        memcpy(row + 4 * n, &bits, sizeof bits);
    } else {
        uint16_t code = (uint16_t)(strcmp(format, "bf16") == 0 ? cpu_to_bf16(y, cut) : cpu_to_f16(y, cut));
        memcpy(row + 2 * n, &code, sizeof code);
    }
}

static void finish(const gemm *g, const float *sum)
{
    float coef = coefficient(g);
    int a_rows = g->kernel->a.scale_rows != 0, b_rows = g->kernel->b.scale_rows != 0;
    for (int64_t m = 0; m < g->problem->m; m++) {
        float row_factor = a_rows ? cpu_row_factor(&g->a, m) : 1.0f;
        for (int64_t n = 0; n < g->problem->n; n++) {
            float column_factor = b_rows ? cpu_row_factor(&g->b, n) : 1.0f;
            store(g, epilogue(g, sum[m * g->problem->n + n], row_factor, column_factor, coef, m, n), m, n);
        }
    }
}

/* rows * k floats, or NULL. */
static float *allocate(int64_t rows, int64_t columns)
{
    return rows > 0 && columns > 0 && rows < INT64_MAX / 4 / columns ? malloc((size_t)(rows * columns) * sizeof(float))
                                                                     : NULL;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const cpu_fault *fault = kernel->user;
    int64_t k = p->k;
    if ((fault->all & CPU_LAST_BLOCK_DROPPED) != 0) {
        k = k > 16 ? (k - 1) / 16 * 16 : k;
    }
    gemm g = {.kernel = kernel, .problem = p, .fault = fault};
    g.a = (cpu_operand){&kernel->a, p->a, p->a_line, p->a_scale, p->a_scale_bytes, p->m, p->k, fault->a};
    g.b = (cpu_operand){&kernel->b, p->b, p->b_line, p->b_scale, p->b_scale_bytes, p->n, p->k, fault->b};
    if ((fault->all & CPU_SCALES_SWAPPED) != 0) {
        g.a.scales = p->b_scale;
        g.a.scale_bytes = p->b_scale_bytes;
        g.b.scales = p->a_scale;
        g.b.scale_bytes = p->a_scale_bytes;
    }
    float *a = allocate(p->m, p->k), *b = allocate(p->n, p->k), *sum = allocate(p->m, p->n);
    fpo_plugin_status status = FPO_PLUGIN_OK;
    if (a == NULL || b == NULL || sum == NULL) {
        snprintf(why, FPO_PLUGIN_TEXT, "no memory for %lld x %lld x %lld numbers", (long long)p->m, (long long)p->n,
                 (long long)p->k);
        status = FPO_PLUGIN_OUT_OF_MEMORY;
    } else {
        cpu_dequantise(&g.a, a);
        cpu_dequantise(&g.b, b);
        cpu_multiply(a, b, p->m, p->n, p->k, k, sum);
        finish(&g, sum);
    }
    free(a);
    free(b);
    free(sum);
    return status;
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "cpu_reference",
        .version = FPO_VERSION,
        .kernels = cpu_kernels,
        .kernel_size = sizeof(fpo_kernel),
        .run = run,
    };
    plugin.kernel_count = cpu_kernel_count;
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}
