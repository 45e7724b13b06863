/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table of kernels: every scale mode with every pair of types and output that it allows. */
#include "cublaslt.h"

#include <stdio.h>
#include <string.h>

static const int32_t fp8_devices[] = {89, 90, 100, 103, 120, 121, 0};
static const int32_t hopper[] = {90, 0};
static const int32_t blackwell[] = {100, 103, 120, 121, 0};

/* A mode as modes.inc has it, and what of it the kernel table needs. */
typedef struct mode_row {
    lt_mode mode;
    const char *exchanged_name;
    const char *scale, *a_layout, *b_layout;
    int32_t a_rows, b_rows, scale_k;
    const char *model, *fast_model;
    const int32_t *devices;
} mode_row;

static const mode_row modes[] = {
#define LT_MODE(ID, name, exchanged, scale, a_layout, b_layout, a_rows, b_rows, scale_k, a, b, model, fast, epilogue,  \
                split, quantum, devices)                                                                               \
    {{name, a, b, epilogue, split, quantum},                                                                           \
     exchanged,                                                                                                        \
     scale,                                                                                                            \
     a_layout,                                                                                                         \
     b_layout,                                                                                                         \
     a_rows,                                                                                                           \
     b_rows,                                                                                                           \
     scale_k,                                                                                                          \
     model,                                                                                                            \
     fast,                                                                                                             \
     devices},
#include "modes.inc"
#undef LT_MODE
};

typedef struct pair {
    const char *name, *a, *b;
    cudaDataType_t a_type, b_type;
} pair;

static const pair fp8_pairs[] = {{"e4m3", "e4m3", "e4m3", CUDA_R_8F_E4M3, CUDA_R_8F_E4M3},
                                 {"e4m3_e5m2", "e4m3", "e5m2", CUDA_R_8F_E4M3, CUDA_R_8F_E5M2},
                                 {"e5m2_e4m3", "e5m2", "e4m3", CUDA_R_8F_E5M2, CUDA_R_8F_E4M3}};
static const pair fp4_pair = {"e2m1", "e2m1", "e2m1", CUDA_R_4F_E2M1, CUDA_R_4F_E2M1};

typedef struct output {
    const char *d, *c, *bias;
    cudaDataType_t d_type, c_type, bias_type;
} output;

static const output outputs[] = {{"f32", "f32", "bf16", CUDA_R_32F, CUDA_R_32F, CUDA_R_16BF},
                                 {"bf16", "bf16", "bf16", CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF},
                                 {"f16", "f16", "f16", CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
                                 {"e4m3", "bf16", "bf16", CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_16BF}};

enum { MODES = sizeof modes / sizeof *modes, PAIRS = 3, OUTPUTS = 4, MAX_KERNELS = MODES * PAIRS * OUTPUTS * 4 };

/* Filled by lt_make_kernels before the table is handed out, constant after that. */
static fpo_kernel table[MAX_KERNELS];
static lt_kernel details[MAX_KERNELS];
static fpo_kernel_order orders[MAX_KERNELS];
static char names[MAX_KERNELS][96], summaries[MAX_KERNELS][160], epilogues[MAX_KERNELS][160];
const fpo_kernel *lt_kernels = table;

static fpo_kernel_operand operand(const mode_row *row, const char *element, const char *layout, int32_t rows)
{
    return (fpo_kernel_operand){.element = element,
                                .scale = row->scale,
                                .scale_layout = layout,
                                .scale_rows = rows,
                                .scale_k = row->scale_k,
                                .line_multiple = 16};
}

const char *lt_epilogue(const lt_kernel *kernel, int split, char *text, size_t size)
{
    const char *library = split ? kernel->mode->split_epilogue : kernel->mode->epilogue;
    if (library == NULL)
        return NULL;
    snprintf(text, size, "%s%s", library, kernel->d == CUDA_R_8F_E4M3 ? ", fma_zero d_scale" : "");
    for (char *scale = text; kernel->exchange && (scale = strstr(scale, "_scale")) != NULL; scale++) {
        if (scale[-1] == 'a' || scale[-1] == 'b')
            scale[-1] = scale[-1] == 'a' ? 'b' : 'a';
    }
    return text;
}

static void make(uint32_t at, const mode_row *row, const pair *types, const output *out, int fast, int exchange)
{
    const char *model = fast ? row->fast_model : row->model;
    uint32_t major = exchange ? FPO_ROW_MAJOR : FPO_COLUMN_MAJOR;
    details[at] = (lt_kernel){&row->mode,     types->a_type, types->b_type, out->c_type, out->d_type,
                              out->bias_type, fast,          exchange,      model};
    fpo_kernel_operand a = operand(row, types->a, row->a_layout, row->a_rows);
    fpo_kernel_operand b = operand(row, types->b, row->b_layout, row->b_rows);
    if (exchange) { /* the mode says what the library's A has, which is our B */
        a = operand(row, types->a, row->b_layout, row->b_rows);
        b = operand(row, types->b, row->a_layout, row->a_rows);
    }
    snprintf(names[at], sizeof names[at], "cublaslt/%s/%s/%s%s%s", exchange ? row->exchanged_name : row->mode.name,
             types->name, out->d, fast ? "/fast" : "", exchange ? "" : "/column");
    snprintf(summaries[at], sizeof summaries[at], "cublasLtMatmul, %s accumulation, %s-major D in %s",
             fast ? "fast" : "default", exchange ? "row" : "column", out->d);
    orders[at] = (fpo_kernel_order){.size = sizeof orders[at],
                                    .models = model,
                                    .epilogue = lt_epilogue(&details[at], 0, epilogues[at], sizeof epilogues[at]),
                                    .tile_k = 128,
                                    .swap_ab = exchange};
    table[at] = (fpo_kernel){
        .name = names[at],
        .summary = summaries[at],
        .source = "cuBLASLt of the installed CUDA Toolkit",
        .user = &details[at],
        .a = a,
        .b = b,
        .c = out->c,
        .bias = out->bias,
        .d = out->d,
        .bias_per_row = exchange ? 0 : 1,
        .c_order = major,
        .d_order = major,
        .c_line_multiple = 16,
        .d_line_multiple = 16,
        .any_line = 1,
        .alpha = FPO_SCALAR_HOST,
        .beta = FPO_SCALAR_HOST,
        .tensor_scales = FPO_TENSOR_SCALES_IN_ALPHA,
        .k_multiple = types == &fp4_pair ? 32 : 16,
        .arithmetic = FPO_ARITHMETIC_DEVICE,
        .native = row->devices,
        .order = &orders[at],
    };
}

uint32_t lt_make_kernels(void)
{
    uint32_t count = 0;
    for (size_t m = 0; m < MODES; m++) {
        int fp4 = modes[m].mode.a == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
        int tensor = modes[m].mode.a == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
        for (int p = 0; p < (fp4 ? 1 : PAIRS); p++)
            for (int o = 0; o < (tensor ? OUTPUTS : OUTPUTS - 1); o++)
                for (int fast = 0; fast < (modes[m].fast_model != NULL ? 2 : 1); fast++)
                    for (int exchange = 1; exchange >= 0; exchange--)
                        make(count++, &modes[m], fp4 ? &fp4_pair : &fp8_pairs[p], &outputs[o], fast, exchange);
    }
    return count;
}
