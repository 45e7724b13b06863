/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Accumulators of a whole FP8 GEMM for crosscheck_mmaemu.py, which builds this against libfp4oracle. */
#include <fp4oracle/fp4oracle.h>

#include <stdio.h>

/* A is m x k, B n x k, D m x n: the accumulators, before any epilogue. parts <= 1: no split. 0, or the failed status.
 */
__attribute__((visibility("default"))) int crosscheck_gemm(const char *model_name, int a_e5m2, int b_e5m2, int split,
                                                           int parts, int tile_k, int reduction, long m, long n, long k,
                                                           const void *a, const void *b, float *d)
{
    const fpo_model *model = fpo_model_by_name(model_name);
    fpo_gemm_spec spec;
    fpo_error error = {0};
    if (model == NULL)
        return FPO_ERR_ARGUMENT;
    fpo_status status = fpo_spec_init(&spec, a_e5m2 ? FPO_BLOCK_PLAIN_E5M2 : FPO_BLOCK_PLAIN_E4M3,
                                      b_e5m2 ? FPO_BLOCK_PLAIN_E5M2 : FPO_BLOCK_PLAIN_E4M3, model, FPO_F32, &error);
    spec.epilogue.steps[0].op = FPO_EPI_END;
    if (parts > 1) {
        spec.accumulation.schedule.split = (fpo_split_kind)split;
        spec.accumulation.schedule.parts = parts;
        spec.accumulation.schedule.tile_k = tile_k;
        spec.accumulation.schedule.quantum = 1;
        spec.accumulation.schedule.reduction = (fpo_reduction)reduction;
    }
    fpo_gemm_problem problem = {.m = m, .n = n, .k = k, .alpha = 1, .d_scale = 1};
    problem.a = (fpo_operand){.codes = a, .codes_bytes = (size_t)(m * k), .tensor_scale = 1};
    problem.b = (fpo_operand){.codes = b, .codes_bytes = (size_t)(n * k), .tensor_scale = 1};
    fpo_gemm_output output = {.d = d, .d_bytes = (size_t)(m * n) * sizeof *d};
    fpo_execution execution = {.threads = 1};
    if (status == FPO_OK)
        status = fpo_gemm(&spec, &problem, &output, &execution, &error);
    if (status != FPO_OK)
        fprintf(stderr, "%s: %s\n", model_name, error.message);
    return (int)status;
}
