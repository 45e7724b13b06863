/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Data with a purpose: ties are ties, powers add exactly in every model, and ladders tell accumulators apart. */
#include "generated.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static fpo_error error;

/* Every model that takes the operands gives the same bits for powers, whatever its accumulator and its order. */
START_TEST(powers_are_exact_in_every_model)
{
    static const int64_t depths[] = {1, 64, 100, 1000, 5000};
    int models = 0;
    for (int format = 0; format < FPO_BLOCK_COUNT; format++)
        for (size_t depth = 0; depth < 5; depth++) {
            fpo_block_format f = (fpo_block_format)format;
            fpo_vector *vector = fpo_generated(FPO_DATA_POWERS, f, f, FPO_F32, 3, 3, depths[depth], 11);
            ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error), FPO_OK);
            const fpo_model *model;
            for (size_t i = 0; (model = fpo_model_at(i)) != NULL; i++) {
                /* An f16 accumulator keeps 11 bits. cuBLASLt's split loses the tail of some K (facts.md 6.5b). */
                bool differs = model->accumulation.step.accumulator == FPO_F16 ||
                               model->accumulation.schedule.split == FPO_SPLIT_CUBLASLT;
                if (strcmp(model->name, "exact") == 0 || differs ||
                    !fpo_model_takes(model, &vector->spec.a.read, &vector->spec.b.read))
                    continue;
                ck_assert_msg(fpo_vector_compute(vector, model, NULL, &error) == FPO_OK, "%s: %s", model->name,
                              error.message);
                const fpo_expected *made = &vector->expected[vector->expected_count - 1];
                ck_assert_msg(fpo_digest_equal(&made->d_digest, &vector->expected[0].d_digest), "%s: %s, K = %d",
                              fpo_block_format_describe(f)->name, model->name, (int)depths[depth]);
                models++;
            }
            fpo_vector_free(vector);
        }
    ck_assert_int_gt(models, 100);
}
END_TEST

/* The two neighbours in `d` between which |y| lies. */
static void neighbours(fpo_format d, double y, double *below, double *above)
{
    uint32_t code = fpo_encode_double(d, fabs(y), fpo_cast_describe(FPO_CAST_IEEE));
    double value = fpo_decode_double(d, code);
    *below = value <= fabs(y) ? value : fpo_decode_double(d, code - 1);
    *above = value <= fabs(y) ? fpo_decode_double(d, code + 1) : value;
}

static void check_ties(fpo_block_format a, fpo_block_format b, fpo_format d, int64_t k)
{
    enum { M = 40, N = 6 };
    fpo_vector *vector = fpo_generated(FPO_DATA_TIES, a, b, d, M, N, k, 3);
    ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error), FPO_OK);
    int up = 0, down = 0;
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
            double y = fpo_sum_value(vector, m, n), below, above;
            ck_assert((y < 0) == (n % 2 == 1));
            neighbours(d, y, &below, &above);
            double middle = below + (above - below) / 2, distance = (fabs(y) - middle) / (above - below);
            double observed = fpo_decode_double(d, fpo_load_code(d, vector->expected[0].d, (size_t)(m * N + n)));
            ck_assert_msg(m % 4 >= 2 || distance == 0, "row %d: %a between %a and %a", (int)m, y, below, above);
            if (m % 4 == 2)
                ck_assert(distance >= 0 && distance < 0.25);
            if (m % 4 == 3)
                ck_assert(distance <= 0 && distance > -0.25);
            ck_assert(fabs(observed) == below || fabs(observed) == above);
            up += fabs(observed) == above;
            down += fabs(observed) == below;
            if (distance > 0)
                ck_assert(fabs(observed) == above);
            if (distance < 0)
                ck_assert(fabs(observed) == below);
        }
    ck_assert_int_ge(up, M * N / 4);
    ck_assert_int_ge(down, M * N / 4);
    fpo_vector_free(vector);
}

START_TEST(ties_are_ties)
{
    static const fpo_format outputs[] = {FPO_F32, FPO_BF16, FPO_F16, FPO_E4M3, FPO_E5M2};
    for (size_t d = 0; d < 5; d++) {
        check_ties(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, outputs[d], 80);
        check_ties(FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, outputs[d], 256);
        check_ties(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP4, outputs[d], 200);
        check_ties(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E5M2, outputs[d], 64);
        check_ties(FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, outputs[d], 128);
        check_ties(FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_ROW, outputs[d], 50);
        check_ties(FPO_BLOCK_PLAIN_F16, FPO_BLOCK_PLAIN_F16, outputs[d], 64);
    }
    fpo_generate wanted = {
        .a = FPO_BLOCK_NVFP4, .b = FPO_BLOCK_NVFP4, .d = FPO_F32, .m = 1, .n = 1, .k = 32, .kind = FPO_DATA_TIES};
    fpo_vector *vector;
    ck_assert_int_eq(fpo_generate_vector(&wanted, &vector, &error), FPO_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.message, "ties of f32 need a sum of 25 bits; K = 32 of nvfp4 and nvfp4 can only have 14");
    ck_assert_ptr_null(vector);
}
END_TEST

/* Models that differ in the bits they keep differ in the ladder, which usual data do not show. */
START_TEST(ladders_tell_accumulators_apart)
{
    static const char *const pairs[][2] = {
        {"exact", "fma_f32"},
        {"exact", "sm120_mxf4nvf4"},
        {"sm120_mxf4nvf4", "fma_f32"},
    };
    fpo_vector *vector = fpo_generated(FPO_DATA_LADDER, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, 160, 3, 128, 1);
    for (size_t i = 0; i < 3; i++)
        for (int side = 0; side < 2; side++)
            if (!fpo_vector_expected(vector, pairs[i][side]))
                ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name(pairs[i][side]), NULL, &error), FPO_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_ne(fpo_vector_expected(vector, pairs[i][0])->d_digest.hex,
                         fpo_vector_expected(vector, pairs[i][1])->d_digest.hex);
    /* Every neighbouring number of fraction bits, too. */
    fpo_model model = *fpo_model_by_name("sm120_mxf4nvf4");
    char names[2][16] = {"more", "fewer"};
    for (int change = 0; change < 2; change++) {
        model.name = names[change];
        model.accumulation.step.fraction_bits = (int16_t)(35 + (change ? -1 : 1));
        ck_assert_int_eq(fpo_vector_compute(vector, &model, NULL, &error), FPO_OK);
        ck_assert_str_ne(fpo_vector_expected(vector, names[change])->d_digest.hex,
                         fpo_vector_expected(vector, "sm120_mxf4nvf4")->d_digest.hex);
    }
    /* The exact sums are what the rows say: a big term and small ones. */
    for (int64_t m = 0; m < 8; m++) {
        double big = fpo_sum_value(vector, 0, 0) - fpo_sum_value(vector, 1, 0), y = fpo_sum_value(vector, m, 0);
        double small = ldexp(big, -1 - (int)(m / 4));
        if (m % 4 == 2)
            ck_assert(y < -small && y > -2 * small && 2 * small + y < ldexp(big, -30));
        else
            ck_assert(y == (m % 4 == 0 ? big + small : m % 4 == 1 ? small : 2 * small));
    }
    fpo_vector_free(vector);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("data with a purpose");
    TCase *data = tcase_create("data");
    tcase_set_timeout(data, 120);
    tcase_add_test(data, powers_are_exact_in_every_model);
    tcase_add_test(data, ties_are_ties);
    tcase_add_test(data, ladders_tell_accumulators_apart);
    suite_add_tcase(suite, data);
    return suite;
}
