/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* FP8 matmuls of cuDNN 9.19 recorded on an H200, by engine: accumulation, order of the scales, scaled FP8 output. No
 * other engine's accumulation gives an output of engine 7, and the other way round. tests/data/cudnn/PROVENANCE */
#include "gemm_case.h"
#include "recorded.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 64, K = 2048 };

typedef struct output {
    const char *tensor, *model;
    bool scaled;
    fpo_epilogue_preset epilogue;
    fpo_format d;
} output;

static const output outputs[] = {
    {"cudnn/raw_g0", "sm90_cudnn_fp8_eng7", false, FPO_EPILOGUE_COUNT, FPO_F32},
    {"cudnn/raw_g1", "sm90_fp8_promote128", false, FPO_EPILOGUE_COUNT, FPO_F32},      /* engine 4 */
    {"cudnn/ab_g0", "sm90_fp8_promote128", true, FPO_EPILOGUE_CUDNN_FP8_AB, FPO_F32}, /* engine 0 */
    {"cudnn/ab_g1", "sm90_cudnn_fp8_eng7", true, FPO_EPILOGUE_CUDNN_FP8_A_THEN_B, FPO_F32},
    {"cudnn/ab_g2", "sm90_fp8_promote128", true, FPO_EPILOGUE_CUDNN_FP8_A_THEN_B, FPO_F32}, /* engine 4 */
    {"cudnn/ab_bf16_g0", "sm90_fp8_promote128", true, FPO_EPILOGUE_CUDNN_FP8_AB, FPO_BF16}, /* engines 0 and 4 */
    {"cudnn/ab_bf16_g1", "sm90_cudnn_fp8_eng7", true, FPO_EPILOGUE_CUDNN_FP8_A_THEN_B, FPO_BF16},
    {"cudnn/ab_f8_g0", "sm90_cudnn_fp8_eng7", true, FPO_EPILOGUE_CUDNN_FP8_A_THEN_B, FPO_E4M3},
    {"cudnn/ab_f8_g1", "sm90_fp8_promote128", true, FPO_EPILOGUE_CUDNN_FP8_A_THEN_B, FPO_E4M3}, /* engine 4 */
};
enum { OUTPUTS = sizeof outputs / sizeof outputs[0] };

static const fpo_tensor *tensor(const fpo_recorded *recorded, const char *name, size_t bytes)
{
    const fpo_tensor *found = fpo_safetensors_find(recorded->file, name);
    ck_assert_msg(found != NULL && found->bytes == bytes, "%s", name);
    return found;
}

static gemm_case *load(const fpo_recorded *recorded, fpo_format d)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_TENSOR, ROWS, COLUMNS, K, d);
    memcpy(x->codes[SIDE_A], tensor(recorded, "cudnn/a", ROWS * K)->data, ROWS * K);
    memcpy(x->codes[SIDE_B], tensor(recorded, "cudnn/b", COLUMNS * K)->data, COLUMNS * K);
    memcpy(x->scales[SIDE_A], tensor(recorded, "cudnn/sa", 4)->data, 4);
    memcpy(x->scales[SIDE_B], tensor(recorded, "cudnn/sb", 4)->data, 4);
    memcpy(&x->problem.d_scale, tensor(recorded, "cudnn/sd", 4)->data, 4);
    return x;
}

/* Differing outputs under a model; the epilogue is that of the recording. */
static int64_t differing(const fpo_recorded *recorded, const output *o, const char *model)
{
    gemm_case *x = load(recorded, o->d);
    x->spec.accumulation = fpo_model_by_name(model)->accumulation;
    memset(x->spec.epilogue.steps, 0, sizeof x->spec.epilogue.steps);
    if (o->scaled)
        memcpy(x->spec.epilogue.steps, fpo_epilogue_describe(o->epilogue)->steps, sizeof x->spec.epilogue.steps);
    if (o->d == FPO_E4M3)
        ck_assert(fpo_epilogue_append(&x->spec.epilogue, FPO_EPI_MUL, FPO_EPI_D_SCALE));
    gemm_case_run(x, NULL);
    const unsigned char *wanted = tensor(recorded, o->tensor, x->d_bytes)->data;
    size_t width = x->d_bytes / (ROWS * COLUMNS);
    int64_t count = 0;
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        count += memcmp(wanted + i * width, x->d + i * width, width) != 0;
    gemm_case_free(x);
    return count;
}

START_TEST(test_engines)
{
    fpo_recorded recorded;
    fpo_error error = {0};
    ck_assert_msg(fpo_recorded_open("cudnn/cudnn_fp8_h200_open.safetensors", &recorded, &error) == FPO_OK, "%s",
                  error.message);
    for (size_t i = 0; i < OUTPUTS; i++) {
        const output *o = &outputs[i];
        bool seven = strcmp(o->model, "sm90_cudnn_fp8_eng7") == 0;
        int64_t own = differing(&recorded, o, o->model);
        int64_t other = differing(&recorded, o, seven ? "sm90_fp8_promote128" : "sm90_cudnn_fp8_eng7");
        int64_t fast = differing(&recorded, o, seven ? "sm90_mma_fp8" : "sm90_wgmma_fp8");
        printf("%-18s %s: %lld of %d differ; the other engine %lld, without promotion %lld\n", o->tensor, o->model,
               (long long)own, ROWS * COLUMNS, (long long)other, (long long)fast);
        ck_assert_int_eq(own, 0);
        ck_assert_int_gt(other, 0);
        ck_assert_int_gt(fast, 0);
    }
    fpo_recorded_close(&recorded);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recorded cuDNN");
    TCase *c = tcase_create("engines");
    tcase_add_test(c, test_engines);
    suite_add_tcase(suite, c);
    return suite;
}
