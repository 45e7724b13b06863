/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tiles of NVFP4 by the vector kernels: which problems they serve, and what they leave to the generic step. */
#include "exact.h"
#include "nvfp4.h"

#include <math.h>
#include <string.h>

#ifdef FPO_X86

static fpo_nvfp4_sums_kernel *sums_kernel(fpo_isa isa)
{
    return isa == FPO_ISA_AVX512 ? fpo_nvfp4_sums_avx512 : fpo_nvfp4_sums_avx2;
}

static fpo_nvfp4_chain_kernel *chain_kernel(fpo_isa isa)
{
    return isa == FPO_ISA_AVX512 ? fpo_nvfp4_chain_avx512 : fpo_nvfp4_chain_avx2;
}

#else

/* Never called: without x86 fpo_isa_resolve says portable, and nothing is packed. */
static fpo_nvfp4_sums_kernel *sums_kernel(fpo_isa isa)
{
    (void)isa;
    return NULL;
}

static fpo_nvfp4_chain_kernel *chain_kernel(fpo_isa isa)
{
    (void)isa;
    return NULL;
}

#endif

/* How much of a 4 x 16 result lies within the tile. */
static int64_t within(int64_t first, int64_t last, int64_t size)
{
    return last - first < size ? last - first : size;
}

fpo_status fpo_fixed64_sums_vector(const fpo_gemm_context *context, fpo_tile tile, int64_t *acc, fpo_error *error)
{
    int64_t width = tile.n1 - tile.n0;
    (void)error;
    for (int64_t n = tile.n0; n < tile.n1; n += FPO_NVFP4_COLUMNS)
        for (int64_t m = tile.m0; m < tile.m1; m += FPO_NVFP4_ROWS) {
            int64_t sums[FPO_NVFP4_ROWS][FPO_NVFP4_COLUMNS];
            sums_kernel(context->isa)(context->nvfp4, m, n / FPO_NVFP4_COLUMNS, sums[0]);
            size_t bytes = (size_t)within(n, tile.n1, FPO_NVFP4_COLUMNS) * sizeof sums[0][0];
            for (int64_t r = 0; r < within(m, tile.m1, FPO_NVFP4_ROWS); r++)
                memcpy(acc + (m + r - tile.m0) * width + n - tile.n0, sums[r], bytes);
        }
    return FPO_OK;
}

/* One chain of mxf4nvf4 steps, whose rules are those of the vector kernel as long as nothing is truncated but the
 * result: e_zero and the subnormals are far below any sum of these operands. */
static bool is_chain(const fpo_accumulation *accumulation)
{
    const fpo_step *s = &accumulation->step;
    const fpo_schedule *schedule = &accumulation->schedule;
    return s->kind == FPO_STEP_FUSED && s->operand_format == FPO_FORMAT_NONE && !s->dequantised &&
           s->k == FPO_NVFP4_STEP && s->fused == FPO_NVFP4_STEP && s->group == FPO_NVFP4_BLOCK &&
           s->fraction_bits >= 30 && s->fraction_bits <= 36 && s->term_rounding == FPO_TOWARD_ZERO &&
           s->e_zero <= -64 && !s->zero_group_enters && !s->c_late && !s->interleaved && s->accumulator == FPO_F32 &&
           s->result_bits == 23 && s->result_rounding == FPO_TOWARD_ZERO && s->result_quantum <= -64 &&
           schedule->promote_k == 0 && schedule->split == FPO_SPLIT_NONE;
}

/* Codes and scales of one step of a row; beyond K they are zero. */
typedef struct step_row {
    uint8_t codes[FPO_NVFP4_STEP];
    uint8_t scales[FPO_NVFP4_BLOCKS];
} step_row;

static step_row read_step(const fpo_prepared *p, int64_t row, int64_t step)
{
    step_row r;
    int64_t k = step * FPO_NVFP4_STEP;
    int64_t block = step * FPO_NVFP4_BLOCKS;
    memset(&r, 0, sizeof r);
    memcpy(r.codes, (const uint8_t *)p->codes + row * p->k + k, (size_t)within(k, p->k, FPO_NVFP4_STEP));
    memcpy(r.scales, (const uint8_t *)p->scales + fpo_scale_index(p, row, k),
           (size_t)within(block, p->scale_columns, FPO_NVFP4_BLOCKS));
    return r;
}

/* An fpo_nvfp4_generic_step on a context. */
static float generic_step(const void *closure, int64_t row, int64_t column, int64_t step, float c)
{
    const fpo_gemm_context *context = closure;
    if (row >= context->a.rows || column >= context->b.rows)
        return 0;
    step_row a = read_step(&context->a, row, step);
    step_row b = read_step(&context->b, column, step);
    fpo_step_operands operands = {FPO_E2M1, FPO_E2M1, FPO_UE4M3, FPO_UE4M3, FPO_NVFP4_BLOCK,
                                  a.codes,  b.codes,  a.scales,  b.scales};
    uint32_t bits;
    memcpy(&bits, &c, sizeof bits);
    bits = fpo_step_run(&context->spec->accumulation.step, &operands, bits);
    memcpy(&c, &bits, sizeof c);
    return c;
}

bool fpo_nvfp4_accumulate(const fpo_gemm_context *context, fpo_tile tile, float *acc)
{
    if (context->nvfp4 == NULL || !is_chain(&context->spec->accumulation))
        return false;
    const fpo_step *step = &context->spec->accumulation.step;
    double reach = ldexp(1, step->fraction_bits - 8 + 1);
    int64_t width = tile.n1 - tile.n0;
    for (int64_t n = tile.n0; n < tile.n1; n += FPO_NVFP4_COLUMNS)
        for (int64_t m = tile.m0; m < tile.m1; m += FPO_NVFP4_ROWS) {
            float sums[FPO_NVFP4_ROWS][FPO_NVFP4_COLUMNS];
            chain_kernel(context->isa)(context->nvfp4, m, n / FPO_NVFP4_COLUMNS, reach, generic_step, context, sums[0]);
            for (int64_t r = 0; r < within(m, tile.m1, FPO_NVFP4_ROWS); r++)
                for (int64_t j = 0; j < within(n, tile.n1, FPO_NVFP4_COLUMNS); j++) {
                    bool nan = ((context->a.row_classes[m + r] | context->b.row_classes[n + j]) & FPO_ROW_NAN) != 0;
                    float *to = acc + (m + r - tile.m0) * width + n + j - tile.n0;
                    *to = sums[r][j];
                    if (nan)
                        memcpy(to, &step->nan, sizeof *to);
                }
        }
    return true;
}
