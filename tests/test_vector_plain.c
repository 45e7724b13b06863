/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Plain files: what somebody dumped, with the format given by the caller; and tensors taken as numbers. */
#include "checkpoint.h"
#include "safetensors.h"
#include "scratch.h"
#include "spec_fields.h"
#include "suite.h"
#include "vector_samples.h"

#include <math.h>

static fpo_scratch scratch;
static fpo_error error;
static fpo_tensor tensors[16];
static size_t count;

static void begin(void)
{
    fpo_scratch_open(&scratch);
    count = 0;
}

static void end(void)
{
    fpo_scratch_close(&scratch);
}

static const char *write_tensors(void)
{
    const char *path = fpo_scratch_path(&scratch, "plain");
    ck_assert_msg(fpo_safetensors_write(path, tensors, count, NULL, 0, &error) == FPO_OK, "%s", error.message);
    return path;
}

static void add(const char *name, fpo_dtype dtype, size_t rank, int64_t rows, int64_t columns, const void *data)
{
    fpo_tensor *tensor = &tensors[count++];
    *tensor = (fpo_tensor){.name = name, .dtype = dtype, .rank = rank, .shape = {rows, columns}, .data = data};
    tensor->bytes = (size_t)((rank > 0 ? rows : 1) * (rank > 1 ? columns : 1) * fpo_dtype_bits(dtype) / 8);
}

/* The operands of a sample, as a framework would dump them. */
static void add_operands(const fpo_vector *v, fpo_dtype codes, int64_t columns, fpo_dtype scales)
{
    const fpo_gemm_problem *p = &v->problem;
    add("a", codes, 2, p->m, columns, p->a.codes);
    add("b", codes, 2, p->n, columns, p->b.codes);
    add("a_scale", scales, 2, p->m, fpo_scale_columns(&v->spec.a.stored.scale, p->k), p->a.scales);
    add("b_scale", scales, 2, p->n, fpo_scale_columns(&v->spec.b.stored.scale, p->k), p->b.scales);
}

static void same_result(const fpo_vector *x, const fpo_vector *y)
{
    ck_assert(fpo_record_equal(&fpo_record_gemm_spec, &x->spec, &y->spec));
    ck_assert_uint_eq(x->expected_count, 1);
    ck_assert_uint_eq(y->expected_count, 1);
    ck_assert_str_eq(x->expected[0].d_digest.hex, y->expected[0].d_digest.hex);
}

START_TEST(a_dump_gives_the_same_result_as_its_vector)
{
    fpo_sample sample = {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_BF16, FPO_F16, FPO_F32, false, 6, 9, 64};
    fpo_vector *vector = fpo_sample_vector(&sample), *plain;
    fpo_sample_compute(vector, "exact");
    add_operands(vector, FPO_DTYPE_U8, 32, FPO_DTYPE_F8_E4M3);
    add("a_tensor_scale", FPO_DTYPE_F32, 0, 1, 1, &vector->problem.a.tensor_scale);
    add("alpha", FPO_DTYPE_F32, 1, 1, 1, &vector->problem.alpha);
    add("beta", FPO_DTYPE_F32, 1, 1, 1, &vector->problem.beta);
    add("c", FPO_DTYPE_F16, 2, 6, 9, vector->problem.c);
    add("bias", FPO_DTYPE_F32, 1, 9, 1, vector->problem.bias);
    add("out", FPO_DTYPE_BF16, 2, 6, 9, vector->expected[0].d); /* somebody's output: not an operand */
    fpo_plain options = {
        FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_BF16, FPO_FORMAT_NONE, fpo_model_by_name("exact"), 0, NULL};
    ck_assert_msg(fpo_vector_from_plain(write_tensors(), &options, &plain, &error) == FPO_OK, "%s", error.message);
    ck_assert_int_eq(plain->problem.k, 64);
    ck_assert_ptr_nonnull(strstr(plain->data, "/plain"));
    fpo_sample_compute(plain, "exact");
    same_result(vector, plain);
    fpo_vector_free(plain);
    fpo_vector_free(vector);
}
END_TEST

START_TEST(k_comes_from_the_tensors_or_the_caller)
{
    fpo_sample sample = {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, 0, 0, false, 2, 3, 31};
    fpo_vector *vector = fpo_sample_vector(&sample), *plain;
    fpo_plain options = {
        FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, FPO_FORMAT_NONE, fpo_model_by_name("exact"), 0, NULL};
    add_operands(vector, FPO_DTYPE_U8, 16, FPO_DTYPE_F8_E4M3);
    const char *path = write_tensors();
    ck_assert_int_eq(fpo_vector_from_plain(path, &options, &plain, &error), FPO_OK);
    ck_assert_int_eq(plain->problem.k, 32);
    fpo_vector_free(plain);
    options.k = 31;
    ck_assert_int_eq(fpo_vector_from_plain(path, &options, &plain, &error), FPO_OK);
    ck_assert_int_eq(plain->problem.k, 31);
    fpo_vector_free(plain);
    options.k = 30;
    ck_assert_int_eq(fpo_vector_from_plain(path, &options, &plain, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_nonnull(
        strstr(error.message, "a has K = 32 and b has K = 32, which is not the K that was asked for"));
    fpo_vector_free(vector);

    /* A mixed pair: the operand with one code a byte knows. */
    count = 0;
    fpo_sample mixed = {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP8_E4M3, FPO_F32, 0, 0, false, 2, 3, 33};
    vector = fpo_sample_vector(&mixed);
    add_operands(vector, FPO_DTYPE_U8, 17, FPO_DTYPE_U8);
    tensors[1].shape[1] = 33;
    tensors[1].bytes = 3 * 33;
    options = (fpo_plain){
        FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP8_E4M3, FPO_F32, FPO_FORMAT_NONE, fpo_model_by_name("exact"), 0, NULL};
    ck_assert_msg(fpo_vector_from_plain(write_tensors(), &options, &plain, &error) == FPO_OK, "%s", error.message);
    ck_assert_int_eq(plain->problem.k, 33);
    fpo_vector_free(plain);
    fpo_vector_free(vector);
}
END_TEST

/* Dtypes that frameworks use: F4 with its shape in elements, F8_E8M0 scales, uint8 for everything. */
START_TEST(dtypes_of_frameworks_are_taken)
{
    fpo_sample sample = {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, FPO_F32, 0, 0, false, 2, 3, 64};
    fpo_vector *vector = fpo_sample_vector(&sample), *plain;
    fpo_sample_compute(vector, "exact");
    fpo_plain options = {
        FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, FPO_F32, FPO_FORMAT_NONE, fpo_model_by_name("exact"), 0, NULL};
    for (int form = 0; form < 2; form++) {
        count = 0;
        if (form == 0)
            add_operands(vector, FPO_DTYPE_F4, 64, FPO_DTYPE_F8_E8M0);
        else
            add_operands(vector, FPO_DTYPE_U8, 32, FPO_DTYPE_U8);
        add("a_tensor_scale", FPO_DTYPE_F32, 1, 1, 1, &vector->problem.a.tensor_scale);
        add("alpha", FPO_DTYPE_F32, 1, 1, 1, &vector->problem.alpha);
        ck_assert_msg(fpo_vector_from_plain(write_tensors(), &options, &plain, &error) == FPO_OK, "%s", error.message);
        fpo_sample_compute(plain, "exact");
        same_result(vector, plain);
        fpo_vector_free(plain);
    }
    fpo_vector_free(vector);
}
END_TEST

START_TEST(a_bias_by_row_is_told_by_its_length)
{
    fpo_sample sample = {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, FPO_F32, 0, FPO_BF16, true, 2, 3, 32};
    fpo_vector *vector = fpo_sample_vector(&sample), *plain;
    fpo_plain options = {
        FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, FPO_F32, FPO_FORMAT_NONE, fpo_model_by_name("exact"), 0, NULL};
    add_operands(vector, FPO_DTYPE_F8_E4M3, 32, FPO_DTYPE_U8);
    add("bias", FPO_DTYPE_BF16, 1, 2, 1, vector->problem.bias);
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_OK);
    ck_assert(plain->spec.epilogue.bias_per_row);
    fpo_vector_free(plain);
    tensors[count - 1].shape[0] = 4;
    tensors[count - 1].bytes = 8;
    tensors[count - 1].data = vector->problem.a.codes;
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_nonnull(strstr(error.message, "tensor bias is BF16 [4], but 1 x 3 codes of bf16"));
    fpo_vector_free(vector);
}
END_TEST

/* How much of C is added is said, in the file or by the caller, and never guessed. */
START_TEST(c_without_beta_is_refused)
{
    fpo_sample sample = {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, FPO_F32, 0, false, 6, 9, 64};
    fpo_vector *vector = fpo_sample_vector(&sample), *plain;
    fpo_plain options = {
        FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, FPO_FORMAT_NONE, fpo_model_by_name("exact"), 0, NULL};
    fpo_sample_compute(vector, "exact");
    add_operands(vector, FPO_DTYPE_U8, 32, FPO_DTYPE_F8_E4M3);
    add("a_tensor_scale", FPO_DTYPE_F32, 0, 1, 1, &vector->problem.a.tensor_scale);
    add("alpha", FPO_DTYPE_F32, 1, 1, 1, &vector->problem.alpha);
    options.beta = &vector->problem.beta;
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "beta is given, but the file has no tensor c"));
    add("c", FPO_DTYPE_F32, 2, 6, 9, vector->problem.c);
    const char *path = write_tensors();
    ck_assert(vector->problem.beta != 0);
    ck_assert_msg(fpo_vector_from_plain(path, &options, &plain, &error) == FPO_OK, "%s", error.message);
    fpo_sample_compute(plain, "exact");
    same_result(vector, plain);
    fpo_vector_free(plain);
    options.beta = NULL;
    ck_assert_int_eq(fpo_vector_from_plain(path, &options, &plain, &error), FPO_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "there is a tensor c, but no beta"));
    ck_assert_ptr_nonnull(strstr(error.message, "--beta"));
    add("beta", FPO_DTYPE_F32, 1, 1, 1, &vector->problem.beta);
    path = write_tensors();
    ck_assert_int_eq(fpo_vector_from_plain(path, &options, &plain, &error), FPO_OK);
    fpo_vector_free(plain);
    options.beta = &vector->problem.beta;
    ck_assert_int_eq(fpo_vector_from_plain(path, &options, &plain, &error), FPO_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "beta is given twice"));
    fpo_vector_free(vector);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    fpo_sample sample = {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, 0, 0, false, 2, 3, 64};
    fpo_vector *vector = fpo_sample_vector(&sample), *plain;
    fpo_plain options = {
        FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32, FPO_FORMAT_NONE, fpo_model_by_name("exact"), 0, NULL};
    add("x", FPO_DTYPE_U8, 2, 1, 1, "x");
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(error.message, "no tensor a (the tensors of a plain file are a, b, a_scale"));
    add_operands(vector, FPO_DTYPE_U8, 32, FPO_DTYPE_F8_E4M3);
    options.a = options.b = FPO_BLOCK_MXFP4; /* the wrong format is seen by the shape of the scales */
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_nonnull(
        strstr(error.message, "tensor a_scale is F8_E4M3 [2, 4], but 2 x 2 codes of ue8m0 are U8 [2, 2]"));
    options.a = options.b = FPO_BLOCK_NVFP4;
    options.d = FPO_UE8M0;
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_ERR_ARGUMENT);
    options.d = FPO_F32;
    tensors[1].rank = 1;
    tensors[1].shape[0] = 64;
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_nonnull(strstr(error.message, "tensor a: no matrix"));
    tensors[1].rank = 2;
    tensors[1].shape[0] = 2;
    add("c", FPO_DTYPE_I32, 2, 1, 1, "1234");
    ck_assert_int_eq(fpo_vector_from_plain(write_tensors(), &options, &plain, &error), FPO_ERR_UNSUPPORTED);
    ck_assert_ptr_null(plain);
    fpo_vector_free(vector);
}
END_TEST

START_TEST(tensors_become_floats_exactly)
{
    static uint16_t halves[1 << 16];
    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
        halves[i] = (uint16_t)i;
    static const fpo_dtype dtypes[2] = {FPO_DTYPE_F16, FPO_DTYPE_BF16};
    for (int d = 0; d < 2; d++) {
        fpo_tensor tensor = {.name = "x",
                             .dtype = dtypes[d],
                             .rank = 3,
                             .shape = {4, 64, 256},
                             .elements = 1 << 16,
                             .data = halves,
                             .bytes = sizeof(halves)};
        int64_t rows, k;
        float *values;
        ck_assert_int_eq(fpo_tensor_rows(&tensor, &rows, &k, &values, &error), FPO_OK);
        ck_assert_int_eq(rows, 256);
        ck_assert_int_eq(k, 256);
        for (uint32_t code = 0; code < 1 << 16; code++) {
            /* By the definition of the formats. */
            int field = d ? code >> 7 & 0xFF : code >> 10 & 0x1F, mantissa = (int)(d ? code & 0x7F : code & 0x3FF);
            int top = d ? 0xFF : 0x1F, bits = d ? 7 : 10, bias = d ? 127 : 15;
            double magnitude = ldexp(field ? mantissa + (1 << bits) : mantissa, (field ? field : 1) - bias - bits);
            if (field == top)
                magnitude = mantissa ? NAN : INFINITY;
            double expected = code >> 15 ? -magnitude : magnitude;
            ck_assert(isnan(expected)
                          ? isnan(values[code])
                          : (double)values[code] == expected && !signbit(values[code]) == !signbit(expected));
        }
        free(values);
    }
    float numbers[3] = {1.5f, -0.0f, 3e-45f}, *values;
    int64_t rows, k;
    fpo_tensor tensor = {.name = "x", .dtype = FPO_DTYPE_F32, .elements = 1, .data = numbers, .bytes = 4};
    ck_assert_int_eq(fpo_tensor_rows(&tensor, &rows, &k, &values, &error), FPO_OK);
    ck_assert(rows == 1 && k == 1 && values[0] == 1.5f);
    free(values);
    tensor.rank = 1, tensor.shape[0] = tensor.elements = 3, tensor.bytes = 12;
    ck_assert_int_eq(fpo_tensor_rows(&tensor, &rows, &k, &values, &error), FPO_OK);
    ck_assert(rows == 1 && k == 3);
    ck_assert_mem_eq(values, numbers, 12);
    free(values);
    tensor.dtype = FPO_DTYPE_F64;
    ck_assert_int_eq(fpo_tensor_rows(&tensor, &rows, &k, &values, &error), FPO_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.message, "tensor x is F64: only F32, F16 and BF16 are taken as numbers (convert it first)");
    tensor.dtype = FPO_DTYPE_F32, tensor.shape[0] = tensor.elements = 0;
    ck_assert_int_eq(fpo_tensor_rows(&tensor, &rows, &k, &values, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_null(values);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("plain files");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, begin, end);
    tcase_add_test(files, a_dump_gives_the_same_result_as_its_vector);
    tcase_add_test(files, k_comes_from_the_tensors_or_the_caller);
    tcase_add_test(files, dtypes_of_frameworks_are_taken);
    tcase_add_test(files, a_bias_by_row_is_told_by_its_length);
    tcase_add_test(files, c_without_beta_is_refused);
    tcase_add_test(files, what_does_not_fit_is_refused);
    tcase_add_test(files, tensors_become_floats_exactly);
    suite_add_tcase(suite, files);
    return suite;
}
