/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A plug-in with one kernel: NVFP4 x NVFP4 to f32, in host memory. Put your own in its place. */
#include <fp4oracle/kernel_plugin.h>

#include <math.h>
#include <string.h>

static float e2m1(uint32_t code)
{
    static const float numbers[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    return (code & 8) != 0 ? -numbers[code & 7] : numbers[code & 7];
}

static float ue4m3(uint32_t code)
{
    int exponent = code >> 3 & 15, mantissa = code & 7;
    if (exponent == 15 && mantissa == 7) {
        return NAN;
    }
    return exponent == 0 ? ldexpf((float)mantissa, -9) : ldexpf((float)(8 + mantissa), exponent - 10);
}

/* The scale of element (row, k) in the 128x4 layout, which the runner made. */
static float scale(const uint8_t *scales, int64_t row, int64_t k, int64_t k_count)
{
    int64_t column = k / 16, columns = (k_count + 15) / 16;
    return ue4m3(
        scales[(row / 128 * ((columns + 3) / 4) + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4]);
}

static float element(const uint8_t *codes, int64_t line, int64_t row, int64_t k)
{
    return e2m1(codes[row * line + k / 2] >> (k % 2 != 0 ? 4 : 0) & 15u);
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    (void)kernel;
    (void)why; /* a kernel that cannot do this returns FPO_PLUGIN_UNSUPPORTED and says here why */
    for (int64_t m = 0; m < p->m; m++) {
        for (int64_t n = 0; n < p->n; n++) {
            float sum = 0;
            for (int64_t k = 0; k < p->k; k++) {
                float a = element(p->a, p->a_line, m, k) * scale(p->a_scale, m, k, p->k);
                float b = element(p->b, p->b_line, n, k) * scale(p->b_scale, n, k, p->k);
                sum = fmaf(a, b, sum);
            }
            float d = *p->alpha * sum;
            uint32_t bits = 0x7FFFFFFF; /* the NaN that GPUs make */
            if (!isnan(d)) {
                memcpy(&bits, &d, sizeof bits);
            }
            memcpy((char *)p->d + m * p->d_line + 4 * n, &bits, sizeof bits);
        }
    }
    return FPO_PLUGIN_OK;
}

static const fpo_kernel_order in_order = {.size = sizeof in_order, .models = "fma_f32"};

#define NVFP4                                                                                                          \
    {                                                                                                                  \
        .element = "e2m1", .scale = "ue4m3", .scale_rows = 1, .scale_k = 16, .scale_layout = "128x4"                   \
    }

static const fpo_kernel kernels[] = {{
    .name = "mine/nvfp4",
    .summary = "three loops",
    .a = NVFP4,
    .b = NVFP4,
    .d = "f32",
    .any_line = 1,            /* it uses a_line, b_line and d_line, whatever they are */
    .alpha = FPO_SCALAR_HOST, /* with the tensor scales in it, which is the default */
    .arithmetic = FPO_ARITHMETIC_PLAIN,
    .order = &in_order,
}};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static const fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "my_kernels",
        .version = "1.0",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof kernels[0],
        .run = run,
    };
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}
