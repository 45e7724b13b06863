/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every accumulation model of the registry against the reference twin, with every pair of operand formats that it
 * takes, on random and adversarial data, K beyond a step and no multiple of it. */
#include "gemm_data.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

static const fpo_format d_formats[] = {FPO_F32, FPO_F32, FPO_BF16, FPO_F16, FPO_E4M3};

static void check_one(const fpo_model *model, int a, int b, gemm_data kind, int64_t k, gemm_random *r)
{
    char what[200];
    int64_t m = 1 + (int64_t)gemm_random_below(r, 2), n = 1 + (int64_t)gemm_random_below(r, 3);
    gemm_case *x = gemm_case_new((fpo_block_format)a, (fpo_block_format)b, m, n, k, d_formats[gemm_random_below(r, 5)]);
    fpo_error error;
    x->spec.accumulation = model->accumulation;
    if (gemm_random_below(r, 2) != 0) {
        gemm_case_add_c(x, gemm_random_below(r, 2) != 0 ? FPO_F32 : FPO_BF16);
        gemm_case_add_bias(x, FPO_F32, gemm_random_below(r, 2) != 0);
    }
    gemm_data_fill(x, kind, r);
    if (gemm_random_below(r, 2) != 0)
        gemm_data_fill_epilogue(x, r, 6);
    snprintf(what, sizeof what, "%s, %s x %s, K = %lld, data %d", model->name,
             fpo_block_format_describe((fpo_block_format)a)->name, fpo_block_format_describe((fpo_block_format)b)->name,
             (long long)k, (int)kind);
    ck_assert_msg(fpo_spec_check(&x->spec, &error) == FPO_OK, "%s: %s", what, error.message);
    gemm_case_check_twin(x, what);
    gemm_case_free(x);
}

static int check_model(const fpo_model *model, gemm_random *r)
{
    int pairs = 0, repeats = getenv("FPO_LONG") != NULL ? 20 : 1;
    for (int a = 0; a < FPO_BLOCK_COUNT; a++) {
        for (int b = 0; b < FPO_BLOCK_COUNT; b++) {
            if (!fpo_model_takes(model, &fpo_block_format_describe((fpo_block_format)a)->view,
                                 &fpo_block_format_describe((fpo_block_format)b)->view))
                continue;
            pairs++;
            check_one(model, a, b, DATA_TINY, 1 + (int64_t)gemm_random_below(r, 70), r);
            for (int i = 0; i < repeats; i++)
                check_one(model, a, b, (gemm_data)gemm_random_below(r, DATA_KINDS),
                          1 + (int64_t)gemm_random_below(r, 140), r);
            if (a == b && model->accumulation.schedule.promote_k + model->accumulation.schedule.tile_k > 0)
                check_one(model, a, b, DATA_FINITE, 300 + (int64_t)gemm_random_below(r, 700), r);
        }
    }
    return pairs;
}

START_TEST(all_models)
{
    gemm_random r = {{20261130, 3}, 0};
    const fpo_model *model;
    int models = 0;
    for (size_t i = 0; (model = fpo_model_at(i)) != NULL; i++) {
        if (model->accumulation.schedule.split == FPO_SPLIT_STREAM_K)
            continue;
        ck_assert_msg(check_model(model, &r) > 0, "%s takes no pair of formats", model->name);
        models++;
    }
    ck_assert_int_gt(models, 50);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("twin and models");
    TCase *tests = tcase_create("twin and models");
    tcase_set_timeout(tests, 800);
    tcase_add_test(tests, all_models);
    suite_add_tcase(suite, tests);
    return suite;
}
