/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vector files: what is written is what is read, for every operand format and every part that a vector can have. */
#include "safetensors.h"
#include "scratch.h"
#include "spec_fields.h"
#include "suite.h"
#include "vector_samples.h"

static fpo_scratch scratch;
static fpo_error error;

static void begin(void)
{
    fpo_scratch_open(&scratch);
}

static void end(void)
{
    fpo_scratch_close(&scratch);
}

static void same_bytes(const void *x, size_t x_bytes, const void *y, size_t y_bytes)
{
    ck_assert_uint_eq(x_bytes, y_bytes);
    ck_assert((x == NULL) == (y == NULL));
    if (x)
        ck_assert_mem_eq(x, y, x_bytes);
}

static void same_operand(const fpo_operand *x, const fpo_operand *y)
{
    same_bytes(x->codes, x->codes_bytes, y->codes, y->codes_bytes);
    same_bytes(x->scales, x->scales_bytes, y->scales, y->scales_bytes);
    ck_assert_mem_eq(&x->tensor_scale, &y->tensor_scale, sizeof(float));
}

static void same_vector(const fpo_vector *x, const fpo_vector *y, bool outputs)
{
    ck_assert(fpo_record_equal(&fpo_record_gemm_spec, &x->spec, &y->spec));
    const fpo_gemm_problem *p = &x->problem, *q = &y->problem;
    ck_assert(p->m == q->m && p->n == q->n && p->k == q->k);
    same_operand(&p->a, &q->a);
    same_operand(&p->b, &q->b);
    same_bytes(p->c, p->c_bytes, q->c, q->c_bytes);
    same_bytes(p->bias, p->bias_bytes, q->bias, q->bias_bytes);
    ck_assert_mem_eq(&p->alpha, &q->alpha, 3 * sizeof(float)); /* alpha, beta, d_scale */
    ck_assert_str_eq(x->purpose, y->purpose);
    ck_assert_str_eq(x->data, y->data);
    ck_assert_str_eq(x->program, y->program);
    ck_assert(x->seed == y->seed);
    ck_assert_uint_eq(x->expected_count, y->expected_count);
    for (size_t i = 0; i < x->expected_count; i++) {
        const fpo_expected *e = &x->expected[i], *f = &y->expected[i];
        ck_assert_str_eq(e->model, f->model);
        ck_assert(fpo_record_equal(&fpo_record_accumulation, &e->accumulation, &f->accumulation));
        ck_assert_str_eq(e->d_digest.hex, f->d_digest.hex);
        ck_assert_str_eq(e->d_scale_digest.hex, f->d_scale_digest.hex);
        same_bytes(e->d, e->d_bytes, outputs ? f->d : e->d, f->d_bytes);
        same_bytes(e->d_scale, e->d_scale_bytes, outputs ? f->d_scale : e->d_scale, f->d_scale_bytes);
        ck_assert(outputs || (!f->d && !f->d_scale));
    }
}

static size_t file_bytes(const char *name, char *bytes, size_t size)
{
    FILE *file = fopen(fpo_scratch_path(&scratch, name), "rb");
    size_t length = fread(bytes, 1, size, file);
    fclose(file);
    ck_assert_uint_lt(length, size);
    return length;
}

/* Written, read, written again: the same vector, then the same bytes. */
static void round_trip(const fpo_vector *vector)
{
    static char first[1 << 20], again[1 << 20];
    for (int digests_only = 0; digests_only < 2; digests_only++) {
        fpo_vector *back;
        const char *path = fpo_scratch_path(&scratch, "first");
        ck_assert_msg(fpo_vector_write(path, vector, digests_only, &error) == FPO_OK, "%s", error.message);
        ck_assert_msg(fpo_vector_read(path, &back, &error) == FPO_OK, "%s", error.message);
        same_vector(vector, back, !digests_only);
        path = fpo_scratch_path(&scratch, "again");
        ck_assert_msg(fpo_vector_write(path, back, false, &error) == FPO_OK, "%s", error.message);
        size_t size = file_bytes("first", first, sizeof(first));
        ck_assert_uint_eq(file_bytes("again", again, sizeof(again)), size);
        ck_assert_mem_eq(first, again, size);
        fpo_vector_free(back);
    }
}

START_TEST(every_block_format_round_trips)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {3, 5, 33}, {130, 2, 256}, {2, 129, 64}};
    for (int format = 0; format < FPO_BLOCK_COUNT; format++)
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
            fpo_sample sample = {(fpo_block_format)format,
                                 (fpo_block_format)format,
                                 FPO_F32,
                                 FPO_FORMAT_NONE,
                                 FPO_FORMAT_NONE,
                                 false,
                                 shapes[s][0],
                                 shapes[s][1],
                                 shapes[s][2]};
            fpo_vector *vector = fpo_sample_vector(&sample);
            fpo_sample_compute(vector, "exact");
            round_trip(vector);
            fpo_vector_free(vector);
        }
}
END_TEST

START_TEST(every_output_format_round_trips)
{
    static const fpo_format outputs[] = {FPO_F32, FPO_BF16, FPO_F16, FPO_E4M3, FPO_E5M2, FPO_E2M1};
    static const fpo_format addends[] = {FPO_FORMAT_NONE, FPO_F32, FPO_BF16, FPO_F16};
    for (size_t d = 0; d < sizeof(outputs) / sizeof(outputs[0]); d++)
        for (size_t c = 0; c < 4; c++)
            for (size_t bias = 0; bias < 4; bias++) {
                fpo_sample sample = {FPO_BLOCK_NVFP4,
                                     FPO_BLOCK_NVFP4,
                                     outputs[d],
                                     addends[c],
                                     addends[bias],
                                     (c + bias) % 2 == 0,
                                     7,
                                     19,
                                     48};
                fpo_vector *vector = fpo_sample_vector(&sample);
                vector->problem.d_scale = 3;
                fpo_sample_compute(vector, "exact");
                round_trip(vector);
                fpo_vector_free(vector);
            }
}
END_TEST

START_TEST(several_models_round_trip)
{
    fpo_sample sample = {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, 0, 0, false, 9, 8, 128};
    fpo_vector *vector = fpo_sample_vector(&sample);
    fpo_sample_compute(vector, "sm120_mxf4nvf4");
    fpo_sample_compute(vector, "exact");
    fpo_sample_compute(vector, "fma_f32");
    ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error), FPO_ERR_ARGUMENT);
    ck_assert_uint_eq(vector->expected_count, 3);
    round_trip(vector);
    const fpo_expected *exact = fpo_vector_expected(vector, "exact");
    ck_assert_ptr_eq(exact, &vector->expected[1]);
    ck_assert_ptr_null(fpo_vector_expected(vector, "exac"));
    /* The spec under each model computes that model's output. */
    for (size_t i = 0; i < 3; i++) {
        fpo_gemm_spec spec = fpo_vector_spec(vector, &vector->expected[i]);
        float d[9 * 8];
        fpo_gemm_output output = {.d = d, .d_bytes = sizeof(d)};
        ck_assert_int_eq(fpo_gemm(&spec, &vector->problem, &output, NULL, &error), FPO_OK);
        ck_assert_mem_eq(d, vector->expected[i].d, sizeof(d));
    }
    fpo_vector_free(vector);
}
END_TEST

/* The names, dtypes and shapes of docs/vector-format.md. */
START_TEST(tensors_are_the_documented_ones)
{
    fpo_sample sample = {FPO_BLOCK_NVFP4, FPO_BLOCK_MXFP8_E4M3, FPO_E2M1, FPO_BF16, FPO_F16, false, 6, 20, 33};
    fpo_vector *vector = fpo_sample_vector(&sample);
    fpo_sample_compute(vector, "exact");
    const char *path = fpo_scratch_path(&scratch, "x");
    ck_assert_msg(fpo_vector_write(path, vector, false, &error) == FPO_OK, "%s", error.message);
    static const struct {
        const char *name;
        fpo_dtype dtype;
        size_t rank;
        int64_t rows, columns;
    } expected[] = {
        {"a", FPO_DTYPE_U8, 2, 6, 17},
        {"a_scale", FPO_DTYPE_F8_E4M3, 2, 6, 3},
        {"b", FPO_DTYPE_F8_E4M3, 2, 20, 33},
        {"b_scale", FPO_DTYPE_U8, 2, 20, 2},
        {"a_tensor_scale", FPO_DTYPE_F32, 1, 1, 0},
        {"alpha", FPO_DTYPE_F32, 1, 1, 0},
        {"beta", FPO_DTYPE_F32, 1, 1, 0},
        {"c", FPO_DTYPE_BF16, 2, 6, 20},
        {"bias", FPO_DTYPE_F16, 1, 20, 0},
        {"d.exact", FPO_DTYPE_U8, 2, 6, 10},
        {"d_scale.exact", FPO_DTYPE_F8_E4M3, 2, 6, 2},
    };
    fpo_safetensors *file;
    ck_assert_int_eq(fpo_safetensors_open(path, &file, &error), FPO_OK);
    ck_assert_uint_eq(fpo_safetensors_count(file), sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const fpo_tensor *tensor = fpo_safetensors_find(file, expected[i].name);
        ck_assert_msg(tensor != NULL, "%s", expected[i].name);
        ck_assert_int_eq(tensor->dtype, expected[i].dtype);
        ck_assert_uint_eq(tensor->rank, expected[i].rank);
        ck_assert_int_eq(tensor->shape[0], expected[i].rows);
        ck_assert_int_eq(tensor->shape[1], expected[i].columns);
    }
    fpo_safetensors_close(file);
    fpo_vector_free(vector);
}
END_TEST

START_TEST(digests_are_xxh3_128)
{
    /* `printf '' | xxhsum -H128`, `printf abc | xxhsum -H128` */
    ck_assert_str_eq(fpo_digest_of("", 0).hex, "99aa06d3014798d86001c324468d497f");
    ck_assert_str_eq(fpo_digest_of("abc", 3).hex, "06b05ab6733a618578af5f94892f3950");
    fpo_digest digest;
    ck_assert(fpo_digest_parse("06b05ab6733a618578af5f94892f3950", &digest));
    fpo_digest abc = fpo_digest_of("abc", 3), abd = fpo_digest_of("abd", 3);
    ck_assert(fpo_digest_equal(&digest, &abc));
    ck_assert(!fpo_digest_equal(&digest, &abd));
    ck_assert(!fpo_digest_parse("06b05ab6733a618578af5f94892f395", &digest));
    ck_assert(!fpo_digest_parse("06b05ab6733a618578af5f94892f39500", &digest));
    ck_assert(!fpo_digest_parse("06B05ab6733a618578af5f94892f3950", &digest));
}
END_TEST

START_TEST(what_makes_no_vector_is_not_written)
{
    fpo_sample sample = {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, FPO_F32, 0, 0, false, 2, 2, 32};
    fpo_vector *vector = fpo_sample_vector(&sample);
    const char *path = fpo_scratch_path(&scratch, "x");
    ck_assert_int_eq(fpo_vector_write(path, vector, false, &error), FPO_ERR_ARGUMENT);
    float d[4] = {0};
    ck_assert_int_eq(fpo_vector_add(vector, "", &vector->spec.accumulation, d, NULL, &error), FPO_ERR_ARGUMENT);
    ck_assert_int_eq(fpo_vector_add(vector, "a/b", &vector->spec.accumulation, d, NULL, &error), FPO_ERR_ARGUMENT);
    ck_assert_int_eq(fpo_vector_add(vector, "exact", &vector->spec.accumulation, d, NULL, &error), FPO_OK);
    vector->problem.b.scales_bytes--;
    ck_assert_int_eq(fpo_vector_write(path, vector, false, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_nonnull(strstr(error.message, "b_scale: 1 bytes, but 2 x 1 codes of ue8m0 take 2"));
    vector->problem.b.scales_bytes++;
    vector->purpose = "\xFF";
    ck_assert_int_eq(fpo_vector_write(path, vector, false, &error), FPO_ERR_ARGUMENT);
    vector->purpose = "";
    vector->spec.epilogue.bias = FPO_F32;
    ck_assert_int_eq(fpo_vector_write(path, vector, false, &error), FPO_ERR_SHAPE);
    ck_assert_int_eq(fpo_scratch_count(&scratch), 0);
    fpo_vector_free(vector);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vector files");
    TCase *files = tcase_create("files");
    tcase_set_timeout(files, 120);
    tcase_add_checked_fixture(files, begin, end);
    tcase_add_test(files, every_block_format_round_trips);
    tcase_add_test(files, every_output_format_round_trips);
    tcase_add_test(files, several_models_round_trip);
    tcase_add_test(files, tensors_are_the_documented_ones);
    tcase_add_test(files, digests_are_xxh3_128);
    tcase_add_test(files, what_makes_no_vector_is_not_written);
    suite_add_tcase(suite, files);
    return suite;
}
