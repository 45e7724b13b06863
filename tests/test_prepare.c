/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Prepared operands: codes and scales as the kernel reads them, bits beyond a format gone, rows with NaN or infinity
 * known, rows that nobody wants left out. */
#include "engine.h"
#include "gemm_data.h"
#include "suite.h"

#include <string.h>

static void prepare(const gemm_case *x, gemm_side side, const bool *wanted, fpo_prepared *p)
{
    fpo_error error;
    const fpo_operand_spec *spec = side == SIDE_A ? &x->spec.a : &x->spec.b;
    const fpo_operand *operand = side == SIDE_A ? &x->problem.a : &x->problem.b;
    ck_assert_msg(fpo_prepare(spec, operand, gemm_case_rows(x, side), x->problem.k, "a", wanted, p, &error) == FPO_OK,
                  "%s", error.message);
}

START_TEST(canonical)
{
    gemm_random r = {{20261130, 13}, 0};
    for (int format = 0; format < FPO_BLOCK_COUNT; format++) {
        gemm_case *x = gemm_case_new((fpo_block_format)format, (fpo_block_format)format, 5, 1, 37, FPO_F32);
        const fpo_operand_view *view = &x->spec.a.read;
        gemm_data_fill(x, DATA_ANY, &r);
        fpo_prepared p;
        prepare(x, SIDE_A, NULL, &p);
        for (int64_t row = 0; row < 5; row++) {
            unsigned classes = 0;
            for (int64_t k = 0; k < 37; k++) {
                uint32_t code = gemm_case_element(x, SIDE_A, row, k);
                ck_assert_uint_eq(fpo_load_code(view->element, p.codes, (size_t)(row * 37 + k)), code);
                fpo_class kind = fpo_decode(view->element, code).kind;
                classes |= kind == FPO_NAN ? 1u : kind == FPO_INFINITE ? 2u : 0u;
                if (view->scale.format == FPO_FORMAT_NONE || view->scale.block_k == 0)
                    continue;
                code = fpo_load_code(view->scale.format, p.scales, (size_t)fpo_scale_index(&p, row, k));
                ck_assert_uint_eq(code, gemm_case_scale(x, SIDE_A,
                                                        row / (view->scale.block_rows > 0 ? view->scale.block_rows : 5),
                                                        k / view->scale.block_k));
                kind = fpo_decode(view->scale.format, code).kind;
                classes |= kind == FPO_NAN ? 1u : kind == FPO_INFINITE ? 2u : 0u;
            }
            ck_assert_uint_eq(p.row_classes[row], classes);
        }
        fpo_prepared_free(&p);
        ck_assert_ptr_null(p.codes);
        gemm_case_free(x);
    }
}
END_TEST

START_TEST(bits_beyond_the_format)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP6_E2M3, FPO_BLOCK_NVFP4, 2, 2, 20, FPO_F32);
    fpo_prepared p;
    memset(x->codes[SIDE_A], 0xDF, x->problem.a.codes_bytes);
    prepare(x, SIDE_A, NULL, &p);
    for (size_t i = 0; i < 40; i++)
        ck_assert_uint_eq(((uint8_t *)p.codes)[i], 0x1F);
    fpo_prepared_free(&p);
    memset(x->scales[SIDE_B], 0xB8, x->problem.b.scales_bytes);
    prepare(x, SIDE_B, NULL, &p);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(((uint8_t *)p.scales)[i], 0x38);
    fpo_prepared_free(&p);
    x->spec.b.stored.packing = FPO_PACKING_NIBBLES_SWAPPED; /* the other way through */
    x->spec.a.read.element = FPO_E3M2;
    x->spec.a.stored.element = FPO_E4M3;
    prepare(x, SIDE_A, NULL, &p);
    for (size_t i = 0; i < 40; i++)
        ck_assert_uint_eq(((uint8_t *)p.codes)[i], 0x1F);
    fpo_prepared_free(&p);
    gemm_case_free(x);
}
END_TEST

START_TEST(wanted_rows)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 4, 1, 18, FPO_F32);
    const bool wanted[] = {false, true, false, true};
    for (int other = 0; other < 2; other++) {
        fpo_prepared p;
        prepare(x, SIDE_A, wanted, &p);
        for (int row = 0; row < 4; row++) {
            for (int k = 0; k < 18 && wanted[row]; k++) /* nobody looks at the others */
                ck_assert_uint_eq(((uint8_t *)p.codes)[row * 18 + k], 2);
        }
        fpo_prepared_free(&p);
        x->spec.a.read.packing = FPO_PACKING_NIBBLES_SWAPPED;
    }
    gemm_case_free(x);
}
END_TEST

START_TEST(no_room)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 1, 16, FPO_F32);
    fpo_prepared p;
    fpo_error error;
    fpo_operand operand = x->problem.a;
    ck_assert_int_eq(fpo_prepare(&x->spec.a, &operand, INT64_MAX / 4, 16, "a", NULL, &p, &error), FPO_ERR_MEMORY);
    ck_assert_ptr_nonnull(strstr(error.message, "a: no memory for codes of 2305843009213693951 x 16"));
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("prepare");
    TCase *tests = tcase_create("prepare");
    tcase_add_test(tests, canonical);
    tcase_add_test(tests, bits_beyond_the_format);
    tcase_add_test(tests, wanted_rows);
    tcase_add_test(tests, no_room);
    suite_add_tcase(suite, tests);
    return suite;
}
