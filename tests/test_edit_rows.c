/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits that rewrite an operand's elements, one by one against their formulas; and edits of which a sample needs some
 * rows alone, in pairs: what is left out is read by nothing. */
#include "suite.h"

#include "edit_parts.h"
#include "gemm_data.h"

#include <fp4oracle/fp4oracle.h>
#include <stdlib.h>
#include <string.h>

static const fpo_block_format formats[] = {FPO_BLOCK_NVFP4, FPO_BLOCK_MXFP6_E2M3, FPO_BLOCK_MXFP8_E4M3};

/* Where the element (r, k) of the edited operand comes from, or what its code becomes. */
static uint32_t expected(const fpo_edit *edit, const fpo_code_matrix *m, int64_t r, int64_t k)
{
    const fpo_format_info *info = fpo_format_describe(m->format);
    uint32_t code = fpo_code_at(m, r, k), sign = 1u << (info->bits - 1);
    int64_t from = 0;
    switch (edit->kind) {
    case FPO_EDIT_OPERAND_TRANSPOSED: from = k * m->rows + r; break;
    case FPO_EDIT_ROW_STRIDE: from = r * edit->to + k; break;
    case FPO_EDIT_K_OFFSET: from = r * m->k + k + edit->to; break;
    case FPO_EDIT_ELEMENT_SHIFTED: return (edit->to > 0 ? code << edit->to : code >> -edit->to) & info->code_mask;
    case FPO_EDIT_ELEMENT_SIGN_LOST: return code & (sign - 1);
    default: /* subnormals flushed */ return (code & (sign - 1)) < 1u << info->mantissa_bits ? code & sign : code;
    }
    return from >= 0 && from < m->rows * m->k ? fpo_code_at(m, from / m->k, from % m->k) : 0;
}

static const struct {
    int64_t rows, k;
} shapes[] = {{5, 7}, {9, 4}, {3, 64}, {70, 3}, {4, 1}, {1, 33}};

START_TEST(elements_follow_their_formulas)
{
    static const fpo_edit edits[] = {
        {FPO_EDIT_OPERAND_TRANSPOSED, 1, 0, 0, 0}, {FPO_EDIT_ROW_STRIDE, 1, 0, 3, 0},
        {FPO_EDIT_ROW_STRIDE, 1, 0, 80, 0},        {FPO_EDIT_K_OFFSET, 1, 0, 1, 0},
        {FPO_EDIT_K_OFFSET, 1, 0, -1, 0},          {FPO_EDIT_K_OFFSET, 1, 0, 19, 0},
        {FPO_EDIT_K_OFFSET, 1, 0, -64, 0},         {FPO_EDIT_ELEMENT_SHIFTED, 1, 0, 1, 0},
        {FPO_EDIT_ELEMENT_SHIFTED, 1, 0, -2, 0},   {FPO_EDIT_ELEMENT_SIGN_LOST, 1, 0, 0, 0},
        {FPO_EDIT_ELEMENT_FLUSHED, 1, 0, 0, 0}};
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        int64_t rows = shapes[shape].rows, k = shapes[shape].k;
        gemm_case *x = gemm_case_new(formats[_i], formats[_i], rows, 2, k, FPO_F32);
        gemm_random random = {{81, (uint64_t)_i}, 0};
        gemm_data_fill(x, DATA_FINITE, &random);
        for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
            fpo_edited before, e;
            ck_assert(fpo_edited_open(&x->spec, &x->problem, NULL, 0, &before, NULL) == FPO_OK);
            ck_assert(fpo_edited_open(&x->spec, &x->problem, &edits[i], 1, &e, NULL) == FPO_OK);
            fpo_edit_target from = fpo_edit_target_of(&before, FPO_OPERAND_A),
                            to = fpo_edit_target_of(&e, FPO_OPERAND_A);
            fpo_code_matrix m = fpo_code_matrix_of(&from), edited = fpo_code_matrix_of(&to);
            for (int64_t at = 0; at < rows * k; at++)
                ck_assert_msg(fpo_code_at(&edited, at / k, at % k) == expected(&edits[i], &m, at / k, at % k),
                              "%s to %d: element (%d, %d) of %d x %d", fpo_edit_describe(edits[i].kind)->name,
                              edits[i].to, (int)(at / k), (int)(at % k), (int)rows, (int)k);
            fpo_edited_close(&e);
            fpo_edited_close(&before);
        }
        gemm_case_free(x);
    }
}
END_TEST

/* An element by a pair of edits that was told which rows are wanted, and by one that was not. */
static bool same_element(const gemm_case *x, const fpo_edit *pair, fpo_element at)
{
    bool rows[16] = {false}, columns[16] = {false};
    rows[at.row] = columns[at.column] = true;
    fpo_edited whole, part = {.spec = x->spec, .problem = x->problem};
    if (fpo_edited_open(&x->spec, &x->problem, pair, 2, &whole, NULL) != FPO_OK)
        return false;
    uint32_t wanted = 0, code = 0;
    if (fpo_edits_apply(&part, pair, 2, rows, columns, NULL) != FPO_OK) {
        fpo_edited_close(&whole);
        ck_abort_msg("%s and %s", fpo_edit_describe(pair[0].kind)->name, fpo_edit_describe(pair[1].kind)->name);
    }
    bool done = fpo_edited_elements(&whole, &at, 1, &wanted, NULL, NULL) == FPO_OK;
    if (done) {
        ck_assert(fpo_edited_elements(&part, &at, 1, &code, NULL, NULL) == FPO_OK);
        ck_assert_msg(code == wanted, "%s and %s: %08x, not %08x", fpo_edit_describe(pair[0].kind)->name,
                      fpo_edit_describe(pair[1].kind)->name, code, wanted);
    }
    fpo_edited_close(&whole);
    fpo_edited_close(&part);
    return done;
}

START_TEST(rows_left_out_are_not_read)
{
    enum { M = 13, N = 11, K = 128, EDITS = 4096, PAIRS = 1500 };
    static fpo_edit edits[EDITS];
    gemm_case *x = gemm_case_new(formats[_i], formats[_i], M, N, K, FPO_F32);
    gemm_random random = {{82, (uint64_t)_i}, 0};
    gemm_data_fill(x, DATA_FINITE, &random);
    x->problem.a.tensor_scale = x->spec.a.tensor_scale != FPO_TENSOR_SCALE_IGNORE ? 0.3f : 1;
    size_t count = fpo_edit_enumerate(&x->spec, &x->problem, edits, EDITS);
    while (count > 0 && edits[count - 1].kind >= FPO_EDIT_OUTPUT_FORMAT)
        count--; /* a search wants all rows for these */
    int compared = 0;
    for (uint64_t i = 0; i < PAIRS; i++) {
        uint64_t bits = fpo_random_bits((fpo_random){83, (uint64_t)_i}, i);
        size_t first = bits % count,
               second = (bits >> 16) % count; /* in the registry's order, as a search applies them */
        fpo_edit pair[2] = {edits[first < second ? first : second], edits[first < second ? second : first]};
        if (pair[0].kind < FPO_EDIT_OUTPUT_FORMAT && pair[1].kind < FPO_EDIT_OUTPUT_FORMAT && first != second)
            compared += same_element(x, pair, (fpo_element){(int64_t)(bits >> 40) % M, (int64_t)(bits >> 52) % N});
    }
    ck_assert_int_ge(compared, PAIRS / 3);
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("edit rows");
    TCase *cases = tcase_create("rows");
    int all = (int)(sizeof formats / sizeof *formats);
    tcase_add_loop_test(cases, elements_follow_their_formulas, 0, all);
    tcase_add_loop_test(cases, rows_left_out_are_not_read, 0, all);
    suite_add_tcase(suite, cases);
    return suite;
}
