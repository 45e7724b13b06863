/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Generated data: that it is the same everywhere and for ever, and that each kind does what it is for. */
#include "generate.h"

#include "spec_fields.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static fpo_error error;

static fpo_vector *generate(fpo_data_kind kind, fpo_block_format a, fpo_block_format b, fpo_format d, int64_t m,
                            int64_t n, int64_t k, uint64_t seed)
{
    fpo_generate wanted = {.a = a, .b = b, .d = d, .m = m, .n = n, .k = k, .kind = kind, .seed = seed};
    fpo_vector *vector;
    ck_assert_msg(fpo_generate_vector(&wanted, &vector, &error) == FPO_OK, "%s", error.message);
    ck_assert_str_eq(vector->data, fpo_data_kind_name(kind));
    return vector;
}

/* One digest of everything that was generated. */
static fpo_digest digest_of(const fpo_vector *vector)
{
    const fpo_gemm_problem *p = &vector->problem;
    char text[400];
    snprintf(text, sizeof(text), "%s %s %s %s %a %a %a", fpo_digest_of(p->a.codes, p->a.codes_bytes).hex,
             fpo_digest_of(p->b.codes, p->b.codes_bytes).hex, fpo_digest_of(p->a.scales, p->a.scales_bytes).hex,
             fpo_digest_of(p->b.scales, p->b.scales_bytes).hex, p->a.tensor_scale, p->b.tensor_scale, p->beta);
    return fpo_digest_of(text, strlen(text));
}

/* Unpacked codes of an operand. */
static void unpack(const fpo_operand_view *view, const fpo_operand *operand, int64_t rows, int64_t k, uint8_t *codes)
{
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    for (int64_t r = 0; r < rows; r++)
        fpo_unpack_row(FPO_PACKING_CANONICAL, view->element, k, (const uint8_t *)operand->codes + r * row_bytes,
                       codes + r * k);
}

/* The value of element (row, column) with its scale, by the definition of the formats. */
static double value_of(const fpo_operand_view *view, const fpo_operand *operand, int64_t k, int64_t row, int64_t column)
{
    const fpo_scale_view *s = &view->scale;
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    const uint8_t *codes = (const uint8_t *)operand->codes + row * row_bytes;
    uint32_t code = view->element == FPO_E2M1 ? codes[column / 2] >> (column % 2 * 4) & 15
                                              : fpo_load_code(view->element, codes, (size_t)column);
    double value = fpo_decode_double(view->element, code) * operand->tensor_scale;
    if (s->format == FPO_FORMAT_NONE)
        return value;
    int64_t scale_row = s->block_rows ? row / s->block_rows : 0, scale_column = s->block_k ? column / s->block_k : 0;
    size_t index = (size_t)(scale_row * fpo_scale_columns(s, k) + scale_column);
    return value * fpo_decode_double(s->format, fpo_load_code(s->format, operand->scales, index));
}

/* Exact where the sum has at most 53 bits, as in everything below. */
static double sum_of(const fpo_vector *vector, int64_t row, int64_t column)
{
    const fpo_gemm_problem *p = &vector->problem;
    double sum = 0;
    for (int64_t i = 0; i < p->k; i++)
        sum += value_of(&vector->spec.a.stored, &p->a, p->k, row, i) *
               value_of(&vector->spec.b.stored, &p->b, p->k, column, i);
    return sum;
}

START_TEST(names_are_known)
{
    for (int kind = 0; kind < FPO_DATA_COUNT; kind++) {
        ck_assert_int_eq(fpo_data_kind_by_name(fpo_data_kind_name((fpo_data_kind)kind)), kind);
        ck_assert_ptr_nonnull(fpo_data_kind_summary((fpo_data_kind)kind));
    }
    ck_assert_int_eq(fpo_data_kind_by_name("no such"), FPO_DATA_COUNT);
    ck_assert_ptr_null(fpo_data_kind_name(FPO_DATA_COUNT));
}
END_TEST

START_TEST(every_kind_fills_every_format)
{
    for (int kind = 0; kind < FPO_DATA_COUNT; kind++)
        for (int format = 0; format < FPO_BLOCK_COUNT; format++) {
            bool narrow = kind == FPO_DATA_TIES && (format == FPO_BLOCK_PLAIN_E2M1 || format == FPO_BLOCK_PLAIN_E2M3);
            fpo_format d = narrow ? FPO_E5M2 : FPO_BF16;
            fpo_block_format f = (fpo_block_format)format;
            fpo_vector *vector = generate((fpo_data_kind)kind, f, f, d, 5, 6, 130, 1);
            fpo_vector *again = generate((fpo_data_kind)kind, f, f, d, 5, 6, 130, 1);
            fpo_vector *other = generate((fpo_data_kind)kind, f, f, d, 5, 6, 130, 2);
            ck_assert_str_eq(digest_of(vector).hex, digest_of(again).hex);
            ck_assert_str_ne(digest_of(vector).hex, digest_of(other).hex);
            /* Finite operands, and the padding nibble is 0 by construction of the packing. */
            for (int64_t i = 0; i < 130; i++)
                for (int64_t r = 0; r < 5; r++) {
                    ck_assert(isfinite(value_of(&vector->spec.a.stored, &vector->problem.a, 130, r, i)));
                    ck_assert(isfinite(value_of(&vector->spec.b.stored, &vector->problem.b, 130, r, i)));
                }
            ck_assert_msg(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error) == FPO_OK, "%s",
                          error.message);
            fpo_vector_free(vector);
            fpo_vector_free(again);
            fpo_vector_free(other);
        }
}
END_TEST

/* Recorded when the generator was written: vectors must be the same on every machine and in every later version. */
START_TEST(data_never_change)
{
    static const struct {
        fpo_data_kind kind;
        fpo_block_format a, b;
        const char *digest;
    } recorded[] = {
        {FPO_DATA_UNIFORM, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "983bab733510ae1e37b680f90ee03f1d"},
        {FPO_DATA_UNIFORM, FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, "78b88d118a6a406def42b3dddb8f4ced"},
        {FPO_DATA_UNIFORM, FPO_BLOCK_PLAIN_BF16, FPO_BLOCK_PLAIN_F16, "18475f34003f6ebbafbcafc5ea68bb5f"},
        {FPO_DATA_GAUSSIAN, FPO_BLOCK_PLAIN_F32, FPO_BLOCK_PLAIN_E4M3, "5a5c4a68484e9d6adf4a3f1139934a94"},
        {FPO_DATA_CODES, FPO_BLOCK_NVFP4, FPO_BLOCK_MXFP8_E5M2, "fb3a3b326c96c6167d594aa99a5ffd5d"},
        {FPO_DATA_TIES, FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP6_E3M2, "678db4182d85571134551e9fe0f88f7a"},
        {FPO_DATA_POWERS, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "c4f8a27e42f3255929e656a3835d81be"},
        {FPO_DATA_LADDER, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "1ecd6a20bfaa664e9e39b266cdac87e4"},
    };
    for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
        fpo_vector *vector = generate(recorded[i].kind, recorded[i].a, recorded[i].b, FPO_BF16, 9, 7, 257, 20261130);
        ck_assert_msg(strcmp(digest_of(vector).hex, recorded[i].digest) == 0, "%zu: %s", i, digest_of(vector).hex);
        fpo_vector_free(vector);
    }
}
END_TEST

START_TEST(uniform_has_every_finite_code)
{
    enum { ROWS = 64, K = 1024 };
    static uint8_t codes[ROWS * K];
    static const fpo_block_format formats[] = {FPO_BLOCK_NVFP4, FPO_BLOCK_MXFP6_E2M3, FPO_BLOCK_MXFP8_E4M3,
                                               FPO_BLOCK_MXFP8_E5M2};
    for (size_t f = 0; f < 4; f++) {
        fpo_vector *vector = generate(FPO_DATA_UNIFORM, formats[f], formats[f], FPO_F32, ROWS, 1, K, 5);
        const fpo_operand_view *view = &vector->spec.a.stored;
        int count[256] = {0};
        unpack(view, &vector->problem.a, ROWS, K, codes);
        for (size_t i = 0; i < sizeof(codes); i++)
            count[codes[i]]++;
        for (uint32_t code = 0; code < 256; code++) {
            bool finite = code <= fpo_format_describe(view->element)->code_mask &&
                          isfinite(fpo_decode_double(view->element, code));
            ck_assert_msg(finite == (count[code] > 0), "%u", code);
        }
        if (formats[f] == FPO_BLOCK_NVFP4) {
            int scales[256] = {0};
            for (size_t i = 0; i < vector->problem.a.scales_bytes; i++)
                scales[((const uint8_t *)vector->problem.a.scales)[i]]++;
            for (int code = 0; code < 256; code++)
                ck_assert((code < 0x7F) == (scales[code] > 0));
        }
        fpo_vector_free(vector);
    }
}
END_TEST

START_TEST(codes_bring_every_pair_together)
{
    enum { M = 4, K = 600 };
    static uint8_t a[M * K], b[256 * K];
    static bool met[256][256], scale_seen[256];
    static const fpo_block_format formats[] = {FPO_BLOCK_NVFP4, FPO_BLOCK_MXFP6_E2M3, FPO_BLOCK_MXFP6_E3M2,
                                               FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E5M2};
    for (size_t f = 0; f < 5; f++) {
        memset(met, 0, sizeof(met));
        memset(scale_seen, 0, sizeof(scale_seen));
        fpo_vector *vector = generate(FPO_DATA_CODES, formats[f], formats[f], FPO_F32, M, 256, K, 77);
        const fpo_operand_view *view = &vector->spec.a.stored;
        unpack(view, &vector->problem.a, M, K, a);
        unpack(view, &vector->problem.b, 256, K, b);
        for (int64_t n = 0; n < 256; n++)
            for (int64_t i = 0; i < K; i++)
                met[a[i]][b[n * K + i]] = true;
        for (size_t i = 0; i < vector->problem.b.scales_bytes; i++)
            scale_seen[((const uint8_t *)vector->problem.b.scales)[i]] = true;
        for (uint32_t x = 0; x <= fpo_format_describe(view->element)->code_mask; x++)
            for (uint32_t y = 0; y <= fpo_format_describe(view->element)->code_mask; y++) {
                bool finite =
                    isfinite(fpo_decode_double(view->element, x)) && isfinite(fpo_decode_double(view->element, y));
                ck_assert_msg(met[x][y] == finite, "%zu: %u %u", f, x, y);
            }
        for (uint32_t code = 0; code < 256; code++) {
            bool finite = code <= fpo_format_describe(view->scale.format)->code_mask &&
                          isfinite(fpo_decode_double(view->scale.format, code));
            ck_assert_msg(scale_seen[code] == finite, "%zu: scale %u", f, code);
        }
        fpo_vector_free(vector);
    }
}
END_TEST

/* Every model that takes the operands gives the same bits for powers, whatever its accumulator and its order. */
START_TEST(powers_are_exact_in_every_model)
{
    static const int64_t depths[] = {1, 64, 100, 1000, 5000};
    int models = 0;
    for (int format = 0; format < FPO_BLOCK_COUNT; format++)
        for (size_t depth = 0; depth < 5; depth++) {
            fpo_block_format f = (fpo_block_format)format;
            fpo_vector *vector = generate(FPO_DATA_POWERS, f, f, FPO_F32, 3, 3, depths[depth], 11);
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
    fpo_vector *vector = generate(FPO_DATA_TIES, a, b, d, M, N, k, 3);
    ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error), FPO_OK);
    int up = 0, down = 0;
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
            double y = sum_of(vector, m, n), below, above;
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
    fpo_vector *vector = generate(FPO_DATA_LADDER, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, 160, 3, 128, 1);
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
        double big = sum_of(vector, 0, 0) - sum_of(vector, 1, 0), y = sum_of(vector, m, 0);
        double small = ldexp(big, -1 - (int)(m / 4));
        if (m % 4 == 2)
            ck_assert(y < -small && y > -2 * small && 2 * small + y < ldexp(big, -30));
        else
            ck_assert(y == (m % 4 == 0 ? big + small : m % 4 == 1 ? small : 2 * small));
    }
    fpo_vector_free(vector);
}
END_TEST

START_TEST(addends_and_tensors_are_taken)
{
    fpo_generate wanted = {.a = FPO_BLOCK_NVFP4,
                           .b = FPO_BLOCK_NVFP4,
                           .d = FPO_BF16,
                           .c = FPO_BF16,
                           .bias = FPO_F32,
                           .m = 4,
                           .n = 5,
                           .k = 16,
                           .kind = FPO_DATA_GAUSSIAN,
                           .seed = 1};
    fpo_vector *vector;
    ck_assert_int_eq(fpo_generate_vector(&wanted, &vector, &error), FPO_OK);
    ck_assert(vector->problem.beta == 0.5f);
    ck_assert_uint_eq(vector->problem.c_bytes, 40);
    ck_assert_uint_eq(vector->problem.bias_bytes, 20);
    ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error), FPO_OK);
    /* 6 and tensor scale: amax 6 * 448, so that all scales are 1 or 448 exactly. */
    float values[32] = {6, -4, 0.5f};
    values[16] = 6 * 448;
    fpo_float_matrix matrix = {values, 1, 32, FPO_F32};
    fpo_operand operand = {.tensor_scale = 1};
    ck_assert_int_eq(fpo_quantize_operand(vector, FPO_BLOCK_NVFP4, FPO_RECIPE_COUNT, &matrix, &operand, &error),
                     FPO_OK);
    const uint8_t codes[16] = {0xE7, 0x01, 0, 0, 0, 0, 0, 0, 0x07}, scales[2] = {0x38, 0x7E};
    ck_assert_mem_eq(operand.codes, codes, 16);
    ck_assert_mem_eq(operand.scales, scales, 2);
    ck_assert(operand.tensor_scale == 1);
    ck_assert_int_eq(
        fpo_quantize_operand(vector, FPO_BLOCK_MXFP4, fpo_recipe_default(FPO_BLOCK_NVFP4), &matrix, &operand, &error),
        FPO_ERR_ARGUMENT);
    ck_assert_int_eq(fpo_quantize_operand(vector, FPO_BLOCK_PLAIN_BF16, FPO_RECIPE_COUNT, &matrix, &operand, &error),
                     FPO_OK);
    ck_assert_uint_eq(operand.codes_bytes, 64);
    ck_assert_uint_eq(fpo_load_code(FPO_BF16, operand.codes, 1), 0xC080);
    fpo_vector_free(vector);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("generated vectors");
    TCase *data = tcase_create("data");
    tcase_set_timeout(data, 120);
    tcase_add_test(data, names_are_known);
    tcase_add_test(data, every_kind_fills_every_format);
    tcase_add_test(data, data_never_change);
    tcase_add_test(data, uniform_has_every_finite_code);
    tcase_add_test(data, codes_bring_every_pair_together);
    tcase_add_test(data, powers_are_exact_in_every_model);
    tcase_add_test(data, ties_are_ties);
    tcase_add_test(data, ladders_tell_accumulators_apart);
    tcase_add_test(data, addends_and_tensors_are_taken);
    suite_add_tcase(suite, data);
    return suite;
}
