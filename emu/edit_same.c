/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits that come to the same: other words for what the kernel reads. */
#include "edit_parts.h"
#include "engine.h"

#include <string.h>

static bool same_bytes(const void *x, const void *y, size_t bytes)
{
    return x == y || (x != NULL && y != NULL && memcmp(x, y, bytes) == 0);
}

static bool same_prepared(const fpo_prepared *x, const fpo_prepared *y)
{
    size_t codes = (size_t)(x->rows * x->k) * fpo_format_describe(x->element)->storage_bytes;
    size_t scales = (size_t)(x->scale_rows * x->scale_columns) * fpo_format_describe(x->scale.format)->storage_bytes;
    return x->rows == y->rows && x->k == y->k && x->element == y->element &&
           memcmp(&x->scale, &y->scale, sizeof x->scale) == 0 && x->scale_rows == y->scale_rows &&
           x->scale_columns == y->scale_columns &&
           memcmp(&x->tensor_scale, &y->tensor_scale, sizeof x->tensor_scale) == 0 &&
           same_bytes(x->codes, y->codes, codes) && (scales == 0 || same_bytes(x->scales, y->scales, scales));
}

static bool same_operand(const fpo_operand_spec *x_spec, const fpo_operand *x, const fpo_operand_spec *y_spec,
                         const fpo_operand *y, int64_t rows, int64_t k)
{
    fpo_prepared px, py;
    if (fpo_prepare(x_spec, x, rows, k, "", NULL, &px, NULL) != FPO_OK)
        return false;
    bool same = fpo_prepare(y_spec, y, rows, k, "", NULL, &py, NULL) == FPO_OK;
    if (same) {
        same = same_prepared(&px, &py);
        fpo_prepared_free(&py);
    }
    fpo_prepared_free(&px);
    return same;
}

static bool same_writing(const fpo_output_writing *x, const fpo_output_writing *y)
{
    return x->recipe == y->recipe && x->scale == y->scale && x->inverted == y->inverted && x->written == y->written &&
           x->read == y->read && x->nibbles_swapped == y->nibbles_swapped;
}

static bool same_scalars(const fpo_edited *x, const fpo_edited *y)
{
    const fpo_gemm_problem *p = &x->problem, *q = &y->problem;
    const float a[] = {p->alpha, p->beta, p->d_scale, x->part_factor},
                b[] = {q->alpha, q->beta, q->d_scale, y->part_factor};
    return memcmp(a, b, sizeof a) == 0 && p->m == q->m && p->n == q->n && p->k == q->k && x->map == y->map &&
           x->amount == y->amount && x->code == y->code && same_writing(&x->writing, &y->writing) &&
           x->part_row == y->part_row && x->part_column == y->part_column;
}

bool fpo_edited_same(const fpo_edited *x, const fpo_edited *y)
{
    const fpo_gemm_problem *p = &x->problem, *q = &y->problem;
    return same_scalars(x, y) &&
           memcmp(&x->spec.accumulation, &y->spec.accumulation, sizeof x->spec.accumulation) == 0 &&
           memcmp(&x->spec.epilogue, &y->spec.epilogue, sizeof x->spec.epilogue) == 0 && p->c_bytes == q->c_bytes &&
           same_bytes(p->c, q->c, p->c_bytes) && p->bias_bytes == q->bias_bytes &&
           same_bytes(p->bias, q->bias, p->bias_bytes) &&
           same_operand(&x->spec.a, &p->a, &y->spec.a, &q->a, p->m, p->k) &&
           same_operand(&x->spec.b, &p->b, &y->spec.b, &q->b, p->n, p->k);
}
