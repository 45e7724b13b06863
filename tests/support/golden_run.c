/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Golden rows through the engine's step and through the twin's. */
#include "golden.h"

#include "assertions.h"
#include <stdlib.h>
#include <twin.h>

uint64_t golden_rows_engine(const golden_rows *rows, const fpo_step *step)
{
    const golden_pair *p = &rows->pair;
    uint64_t digest = GOLDEN_DIGEST_START;
    uint8_t a[4 * GOLDEN_K], b[4 * GOLDEN_K], sa[GOLDEN_SCALES], sb[GOLDEN_SCALES];
    bool scaled = p->scale != FPO_FORMAT_NONE;
    int a_width = fpo_format_describe(p->a)->storage_bytes, b_width = fpo_format_describe(p->b)->storage_bytes;
    for (int row = 0; row < GOLDEN_ROWS; row++) {
        for (int k = 0; k < p->k; k++) {
            fpo_store_code(p->a, a, (size_t)k, rows->a[row][k]);
            fpo_store_code(p->b, b, (size_t)k, rows->b[row][k]);
        }
        for (int i = 0; scaled && i < p->k / p->block_k; i++) {
            sa[i] = (uint8_t)rows->sa[row][i];
            sb[i] = (uint8_t)rows->sb[row][i];
        }
        uint32_t accumulator = rows->c[row];
        for (int k = 0; k < p->k; k += step->k) {
            fpo_step_operands operands = {.a_element = p->a,
                                          .b_element = p->b,
                                          .a_scale = p->scale,
                                          .b_scale = p->scale,
                                          .block_k = p->block_k,
                                          .a = a + k * a_width,
                                          .b = b + k * b_width,
                                          .sa = scaled ? sa + k / p->block_k : NULL,
                                          .sb = scaled ? sb + k / p->block_k : NULL};
            accumulator = fpo_step_run(step, &operands, accumulator);
        }
        digest = golden_digest(digest, accumulator);
    }
    return digest;
}

/* All rows as one problem, of which the diagonal counts. */
static void *packed_codes(fpo_format format, const uint32_t (*codes)[GOLDEN_K], int k, size_t *bytes)
{
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, format, k);
    uint8_t row[4 * GOLDEN_K], *all = calloc(GOLDEN_ROWS, (size_t)row_bytes);
    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < GOLDEN_ROWS; i++) {
        for (int j = 0; j < k; j++)
            fpo_store_code(format, row, (size_t)j, codes[i][j]);
        fpo_pack_row(FPO_PACKING_CANONICAL, format, k, row, all + i * row_bytes);
    }
    *bytes = (size_t)(GOLDEN_ROWS * row_bytes);
    return all;
}

static void *packed_scales(const golden_pair *p, const uint32_t (*scales)[GOLDEN_SCALES], size_t *bytes)
{
    int columns = p->scale != FPO_FORMAT_NONE ? p->k / p->block_k : 0;
    uint8_t *all = calloc(GOLDEN_ROWS, (size_t)columns + 1);
    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < GOLDEN_ROWS; i++)
        for (int j = 0; j < columns; j++)
            all[i * columns + j] = (uint8_t)scales[i][j];
    *bytes = (size_t)(GOLDEN_ROWS * columns);
    return all;
}

static fpo_operand_spec operand_spec(const golden_pair *p, fpo_format element)
{
    fpo_operand_view view = {.element = element, .packing = FPO_PACKING_CANONICAL};
    if (p->scale != FPO_FORMAT_NONE)
        view.scale = (fpo_scale_view){p->scale, 1, p->block_k, FPO_LAYOUT_LINEAR};
    return (fpo_operand_spec){.stored = view, .read = view};
}

uint64_t golden_rows_twin(const golden_rows *rows, const fpo_step *step)
{
    const golden_pair *p = &rows->pair;
    fpo_gemm_spec spec = {.a = operand_spec(p, p->a), .b = operand_spec(p, p->b), .accumulation = {.step = *step}};
    fpo_gemm_problem problem = {.m = GOLDEN_ROWS, .n = GOLDEN_ROWS, .k = p->k, .alpha = 1};
    void *a = packed_codes(p->a, rows->a, p->k, &problem.a.codes_bytes);
    void *b = packed_codes(p->b, rows->b, p->k, &problem.b.codes_bytes);
    void *sa = packed_scales(p, rows->sa, &problem.a.scales_bytes);
    void *sb = packed_scales(p, rows->sb, &problem.b.scales_bytes);
    problem.a.codes = a, problem.a.scales = problem.a.scales_bytes > 0 ? sa : NULL, problem.a.tensor_scale = 1;
    problem.b.codes = b, problem.b.scales = problem.b.scales_bytes > 0 ? sb : NULL, problem.b.tensor_scale = 1;
    fpo_twin_gemm gemm = {.spec = &spec, .problem = &problem};
    ck_assert_int_eq(fpo_twin_open(&spec.a, &problem.a, GOLDEN_ROWS, p->k, "a", &gemm.a, NULL), FPO_OK);
    ck_assert_int_eq(fpo_twin_open(&spec.b, &problem.b, GOLDEN_ROWS, p->k, "b", &gemm.b, NULL), FPO_OK);
    uint64_t digest = GOLDEN_DIGEST_START;
    for (int row = 0; row < GOLDEN_ROWS; row++) {
        fpo_twin_value accumulator;
        ck_assert(fpo_twin_decode(p->accumulator, rows->c[row], &accumulator));
        fpo_twin_step(&gemm, row, row, 0, &accumulator);
        digest = golden_digest(digest, fpo_twin_encode(p->accumulator, &accumulator, fpo_cast_describe(FPO_CAST_IEEE)));
    }
    fpo_twin_close(&gemm.a);
    fpo_twin_close(&gemm.b);
    free(a), free(b), free(sa), free(sb);
    return digest;
}
