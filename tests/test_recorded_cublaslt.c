/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Whole FP8 GEMMs of cuBLASLt 13.1 recorded on an H200, with every scale mode, epilogue and number of K splits that it
 * has: the emulator's outputs under the epilogues of the registry are the recorded ones. tests/data/cublaslt/PROVENANCE
 */
#include "gemm_case.h"
#include "recorded.h"
#include "suite.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OUTPUTS = 9 };

typedef struct mode {
    const char *name;
    fpo_block_format a, b; /* with e4m3 elements */
    fpo_promotion promotion;
    int32_t quantum; /* of a part of a split K, in tiles */
    fpo_epilogue_preset whole, split;
} mode;

static const mode modes[] = {
    {"SCALAR_32F", FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_TENSOR, FPO_PROMOTE_ADD, 1, FPO_EPILOGUE_CUBLASLT_FP8_TENSOR,
     FPO_EPILOGUE_CUBLASLT_FP8_TENSOR_SPLIT},
    {"OUTER_VEC_32F", FPO_BLOCK_FP8_ROW, FPO_BLOCK_FP8_ROW, FPO_PROMOTE_ADD, 1, FPO_EPILOGUE_CUBLASLT_FP8_ROW,
     FPO_EPILOGUE_CUBLASLT_FP8_ROW_SPLIT},
    {"VEC128_32F x VEC128_32F", FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_1X128, FPO_PROMOTE_FMA_B_THEN_A, 1,
     FPO_EPILOGUE_CUBLASLT_FP8_BLOCK, FPO_EPILOGUE_CUBLASLT_FP8_BLOCK_SPLIT},
    {"VEC128_32F x BLK128x128_32F", FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, FPO_PROMOTE_FMA_AB, 4,
     FPO_EPILOGUE_CUBLASLT_FP8_BLOCK, FPO_EPILOGUE_CUBLASLT_FP8_BLOCK_SPLIT},
    {"BLK128x128_32F x VEC128_32F", FPO_BLOCK_FP8_128X128, FPO_BLOCK_FP8_1X128, FPO_PROMOTE_FMA_AB, 4,
     FPO_EPILOGUE_CUBLASLT_FP8_BLOCK, FPO_EPILOGUE_CUBLASLT_FP8_BLOCK_SPLIT},
};

typedef struct recording {
    const fpo_safetensors *file;
    json_t *test;
} recording;

static const char *text(const recording *r, const char *key)
{
    return json_string_value(json_object_get(r->test, key));
}

static const fpo_tensor *tensor(const recording *r, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s", text(r, "test"), key);
    return fpo_safetensors_find(r->file, name);
}

static fpo_format format_of(const char *name)
{
    fpo_format format = fpo_format_by_name(name);
    ck_assert_int_ne(format, FPO_FORMAT_COUNT);
    return format;
}

/* The transpose of a rows x columns matrix of `bytes` wide elements. */
static void transpose(const unsigned char *from, int64_t rows, int64_t columns, size_t bytes, unsigned char *to)
{
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++)
            memcpy(to + (size_t)(c * rows + r) * bytes, from + (size_t)(r * columns + c) * bytes, bytes);
    }
}

static void copy_operand(const recording *r, gemm_case *x, gemm_side side)
{
    const fpo_tensor *codes = tensor(r, side == SIDE_A ? "a" : "b"), *scales = tensor(r, side == SIDE_A ? "sa" : "sb");
    fpo_operand *operand = side == SIDE_A ? &x->problem.a : &x->problem.b;
    fpo_operand_spec *spec = side == SIDE_A ? &x->spec.a : &x->spec.b;
    const char *type = text(r, side == SIDE_A ? "a" : "b");
    spec->stored.element = spec->read.element = strcmp(type, "F8_E5M2") == 0 ? FPO_E5M2 : FPO_E4M3;
    ck_assert_uint_eq(codes->bytes, operand->codes_bytes);
    memcpy(x->codes[side], codes->data, codes->bytes);
    ck_assert_uint_eq(scales->bytes, operand->scales_bytes);
    memcpy(x->scales[side], scales->data, scales->bytes);
}

static const mode *mode_of(const recording *r)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, text(r, "mode")) == 0)
            return &modes[i];
    }
    ck_abort_msg("unknown mode %s", text(r, "mode"));
    return NULL;
}

static gemm_case *load(const recording *r)
{
    const mode *how = mode_of(r);
    int64_t m = json_integer_value(json_object_get(r->test, "M")),
            n = json_integer_value(json_object_get(r->test, "N"));
    gemm_case *x =
        gemm_case_new(how->a, how->b, m, n, json_integer_value(json_object_get(r->test, "K")), format_of(text(r, "d")));
    copy_operand(r, x, SIDE_A);
    copy_operand(r, x, SIDE_B);
    x->problem.alpha = (float)json_number_value(json_object_get(r->test, "alpha"));
    const fpo_tensor *c = tensor(r, "c"), *bias = tensor(r, "bias"), *scale_d = tensor(r, "scale_d");
    if (c != NULL) { /* column-major, as D */
        gemm_case_add_c(x, format_of(text(r, "c")));
        ck_assert_uint_eq(c->bytes, x->problem.c_bytes);
        transpose(c->data, n, m, c->bytes / (size_t)(m * n), x->c);
    }
    x->problem.beta = (float)json_number_value(json_object_get(r->test, "beta"));
    if (bias != NULL) {
        gemm_case_add_bias(x, bias->dtype == FPO_DTYPE_F16 ? FPO_F16 : FPO_BF16, true);
        ck_assert_uint_eq(bias->bytes, x->problem.bias_bytes);
        memcpy(x->bias, bias->data, bias->bytes);
    }
    if (scale_d != NULL)
        memcpy(&x->problem.d_scale, scale_d->data, sizeof x->problem.d_scale);
    return x;
}

static void set_spec(const recording *r, gemm_case *x, int parts)
{
    const mode *how = mode_of(r);
    fpo_accumulation *a = &x->spec.accumulation;
    *a = fpo_model_by_name("sm90_wgmma_fp8")->accumulation;
    if (json_integer_value(json_object_get(r->test, "fast_accum")) == 0) {
        a->schedule.promote_k = 128;
        a->schedule.promotion = how->promotion;
    }
    if (parts > 1) {
        a->schedule.split = FPO_SPLIT_CUBLASLT;
        a->schedule.parts = parts;
        a->schedule.tile_k = 128;
        a->schedule.quantum = how->quantum;
    }
    const fpo_epilogue_info *program = fpo_epilogue_describe(parts > 1 ? how->split : how->whole);
    memcpy(x->spec.epilogue.steps, program->steps, sizeof program->steps);
    if (strstr(text(r, "epilogue"), "relu") != NULL)
        ck_assert(fpo_epilogue_append(&x->spec.epilogue, FPO_EPI_RELU, FPO_EPI_NOTHING));
    if (tensor(r, "scale_d") != NULL)
        ck_assert(fpo_epilogue_append(&x->spec.epilogue, FPO_EPI_FMA_ZERO, FPO_EPI_D_SCALE));
}

/* Which of the recorded outputs this is; -1 if none. */
static int which_output(const recording *r, const gemm_case *x)
{
    int64_t m = x->problem.m, n = x->problem.n;
    unsigned char *transposed = malloc(x->d_bytes);
    int found = -1;
    transpose(x->d, m, n, x->d_bytes / (size_t)(m * n), transposed);
    for (int i = 0; i < MOST_OUTPUTS && found < 0; i++) {
        char key[8];
        snprintf(key, sizeof key, "d%d", i);
        const fpo_tensor *d = tensor(r, key);
        if (d != NULL && d->bytes == x->d_bytes && memcmp(d->data, transposed, d->bytes) == 0)
            found = i;
    }
    free(transposed);
    return found;
}

/* Every number of splits that ran gives a recorded output, and every recorded output is given by one. */
static void check(const recording *r, int64_t *outputs)
{
    gemm_case *x = load(r);
    bool seen[MOST_OUTPUTS] = {false};
    bool done[65] = {false};
    size_t index;
    json_t *algorithm;
    json_array_foreach(json_object_get(r->test, "algos"), index, algorithm)
    {
        int parts = (int)json_integer_value(json_object_get(algorithm, "splitk"));
        if (done[parts])
            continue;
        done[parts] = true;
        set_spec(r, x, parts);
        gemm_case_run(x, NULL);
        int output = which_output(r, x);
        ck_assert_msg(output >= 0, "%s (%s, %s), %d parts: no recorded output", text(r, "test"), text(r, "mode"),
                      text(r, "epilogue"), parts);
        *outputs += seen[output] ? 0 : x->problem.m * x->problem.n;
        seen[output] = true;
    }
    for (int i = 0; i < MOST_OUTPUTS; i++) {
        char key[8];
        snprintf(key, sizeof key, "d%d", i);
        ck_assert_msg(seen[i] == (tensor(r, key) != NULL), "%s: output d%d is nobody's", text(r, "test"), i);
    }
    gemm_case_free(x);
}

START_TEST(cublaslt)
{
    fpo_recorded recorded;
    fpo_error error;
    ck_assert_msg(fpo_recorded_open("cublaslt/cublaslt_fp8_h200_open.safetensors", &recorded, &error) == FPO_OK, "%s",
                  error.message);
    json_t *tests = json_loads(fpo_safetensors_metadata(recorded.file, "tests"), 0, NULL);
    ck_assert_uint_eq(json_array_size(tests), 134);
    int64_t outputs = 0;
    for (size_t i = 0; i < json_array_size(tests); i++) {
        recording r = {recorded.file, json_array_get(tests, i)};
        check(&r, &outputs);
    }
    printf("%lld recorded outputs reproduced\n", (long long)outputs);
    json_decref(tests);
    fpo_recorded_close(&recorded);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recorded cuBLASLt");
    TCase *tests = tcase_create("recorded cuBLASLt");
    tcase_add_test(tests, cublaslt);
    suite_add_tcase(suite, tests);
    return suite;
}
