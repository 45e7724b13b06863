/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Generated data: that it is the same everywhere and for ever, that it has every code that it should have, and operands
 * from tensors. What ties, powers and ladders are for is tested in test_vector_purpose.c. */
#include "generated.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static fpo_error error;

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
            bool not_finite = kind == FPO_DATA_SCALE_CODES || kind == FPO_DATA_SPECIAL; /* on purpose */
            int bits = fpo_format_describe(fpo_block_format_describe(f)->view.element)->bits;
            if (kind >= FPO_DATA_ONE_HOT && bits > 8) {
                fpo_generate wanted = {.a = f, .b = f, .d = d, .m = 5, .n = 6, .k = 130, .kind = (fpo_data_kind)kind};
                fpo_vector *none;
                ck_assert_int_eq(fpo_generate_vector(&wanted, &none, &error), FPO_ERR_UNSUPPORTED);
                continue;
            }
            fpo_vector *vector = fpo_generated((fpo_data_kind)kind, f, f, d, 5, 6, 130, 1);
            fpo_vector *again = fpo_generated((fpo_data_kind)kind, f, f, d, 5, 6, 130, 1);
            fpo_vector *other = fpo_generated((fpo_data_kind)kind, f, f, d, 5, 6, 130, 2);
            ck_assert_str_eq(digest_of(vector).hex, digest_of(again).hex);
            ck_assert_str_ne(digest_of(vector).hex, digest_of(other).hex);
            /* Finite operands, and the padding nibble is 0 by construction of the packing. */
            for (int64_t i = 0; i < 130 && !not_finite; i++)
                for (int64_t r = 0; r < 5; r++) {
                    ck_assert(isfinite(fpo_element_value(&vector->spec.a.stored, &vector->problem.a, 130, r, i)));
                    ck_assert(isfinite(fpo_element_value(&vector->spec.b.stored, &vector->problem.b, 130, r, i)));
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
        fpo_vector *vector =
            fpo_generated(recorded[i].kind, recorded[i].a, recorded[i].b, FPO_BF16, 9, 7, 257, 20261130);
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
        fpo_vector *vector = fpo_generated(FPO_DATA_UNIFORM, formats[f], formats[f], FPO_F32, ROWS, 1, K, 5);
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
        fpo_vector *vector = fpo_generated(FPO_DATA_CODES, formats[f], formats[f], FPO_F32, M, 256, K, 77);
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
    tcase_add_test(data, addends_and_tensors_are_taken);
    suite_add_tcase(suite, data);
    return suite;
}
