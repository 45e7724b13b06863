/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A production compiler's kernels on the virtual SM120: Triton's tl.dot_scaled for NVFP4, MXFP4 and MXFP8, all output
 * bits against the GEMM-level model, for kinds of data that break accumulators, two models and several seeds. */
#include "gemm_case.h"
#include "gemm_data.h"
#include "ptx_file.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kernel_case {
    const char *file;
    fpo_block_format format;
    const char *model;
    fpo_vgpu_mma mma;
    int capability;
    uint32_t shared; /* dynamic, bytes */
} kernel_case;

static const kernel_case kernels[] = {
    {"triton/nvfp4.ptx", FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", FPO_VGPU_MXF4NVF4, 120, 32768},
    {"triton/mxfp4.ptx", FPO_BLOCK_MXFP4, "sm120_mxf4", FPO_VGPU_MXF4, 120, 32768},
    {"triton/mxfp8.ptx", FPO_BLOCK_MXFP8_E4M3, "sm120_mxf8f6f4", FPO_VGPU_MXF8F6F4, 120, 32768},
    {"triton/sm100_nvfp4.ptx", FPO_BLOCK_NVFP4, "sm100_mxf4nvf4", FPO_VGPU_TCGEN05_MXF4NVF4, 100, 65536},
    {"triton/sm100_mxfp4.ptx", FPO_BLOCK_MXFP4, "sm100_mxf4", FPO_VGPU_TCGEN05_MXF4, 100, 65536},
    {"triton/sm100_mxfp8.ptx", FPO_BLOCK_MXFP8_E4M3, "sm100_mxf8f6f4", FPO_VGPU_TCGEN05_MXF8F6F4, 100, 65536},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* The kernel's model (0), or one with eight fraction bits less (1), which is another GPU's arithmetic. */
static fpo_model model_of(const kernel_case *kernel, int which)
{
    const fpo_model *found = fpo_model_by_name(kernel->model);
    ck_assert_ptr_nonnull(found);
    fpo_model model = *found;
    if (which == 1) {
        model.name = "fewer fraction bits";
        model.accumulation.step.fraction_bits -= 8;
    }
    return model;
}

static void run_kernel(const kernel_case *kernel, gemm_case *x, uint64_t seed, const char *what, const fpo_model *model)
{
    fpo_vgpu_config config = {.capability = kernel->capability, .multiprocessors = 3, .seed = seed, .check = true};
    config.models[kernel->mma] = model;
    fpo_vgpu_function *function;
    fpo_vgpu *gpu = fpo_test_gpu(&config, kernel->file, "scaled_gemm", &function);
    const fpo_gemm_problem *p = &x->problem;
    void *memory[7];
    const void *from[] = {p->a.codes, p->a.scales, p->b.codes, p->b.scales};
    const size_t sizes[] = {p->a.codes_bytes, p->a.scales_bytes, p->b.codes_bytes, p->b.scales_bytes};
    for (int i = 0; i < 4; i++) {
        memory[i] = fpo_vgpu_allocate(gpu, sizes[i]);
        memcpy(memory[i], from[i], sizes[i]);
    }
    memory[4] = fpo_vgpu_allocate(gpu, x->d_bytes);
    memory[5] = memory[6] = NULL; /* scratch that the kernel does not use */
    int32_t shape[3] = {(int32_t)p->m, (int32_t)p->n, (int32_t)p->k};
    int32_t lines[3] = {(int32_t)(p->a.codes_bytes / (size_t)p->m), (int32_t)(p->b.codes_bytes / (size_t)p->n),
                        (int32_t)p->n};
    const void *arguments[14] = {&memory[0], &memory[1], &memory[2], &memory[3], &memory[4], &p->alpha,  &shape[0],
                                 &shape[1],  &shape[2],  &lines[0],  &lines[1],  &lines[2],  &memory[5], &memory[6]};
    fpo_vgpu_launch launch = {.grid = {(uint32_t)(p->m + 127) / 128, (uint32_t)(p->n + 127) / 128, 1},
                              .block = {128, 1, 1},
                              .dynamic_shared = kernel->shared,
                              .arguments = arguments};
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_statistics statistics;
    ck_assert_msg(fpo_vgpu_run(function, &launch, &statistics, &error) == FPO_OK, "%s: %s", what, error.message);
    ck_assert_uint_gt(statistics.mmas, 0);
    ck_assert_msg(statistics.reports == 0, "%s: the checks find something", what);
    size_t differences = 0;
    for (size_t i = 0; i < x->d_bytes; i += 4)
        differences += memcmp((const char *)memory[4] + i, x->d + i, 4) != 0;
    ck_assert_msg(differences == 0, "%s, %s, seed %llu, model %s: %zu of %zu outputs differ", kernel->file, what,
                  (unsigned long long)seed, model->name, differences, x->d_bytes / 4);
    fpo_vgpu_free(gpu);
}

static void run_shape(const kernel_case *kernel, int64_t m, int64_t n, int64_t k, gemm_data data, bool both_models,
                      uint64_t seeds)
{
    gemm_case *x = gemm_case_new(kernel->format, kernel->format, m, n, k, FPO_F32);
    gemm_random random = {{17, (uint64_t)data}, 0};
    gemm_data_fill(x, data, &random);
    x->problem.alpha = m % 128 != 0 ? 0.3f : 1.0f;
    char what[64];
    snprintf(what, sizeof what, "%dx%dx%d data %d", (int)m, (int)n, (int)k, (int)data);
    for (int i = 0; i < (both_models ? 2 : 1); i++) {
        fpo_model model = model_of(kernel, i);
        x->spec.accumulation = model.accumulation;
        gemm_case_run(x, NULL);
        for (uint64_t seed = 0; seed < seeds; seed++)
            run_kernel(kernel, x, seed, what, &model);
    }
    gemm_case_free(x);
}

START_TEST(every_kind_of_data)
{
    for (int data = 0; data < DATA_KINDS; data++)
        run_shape(&kernels[_i], 128, 128, 256, (gemm_data)data, data == DATA_FINITE || data == DATA_CANCEL, 1);
}
END_TEST

START_TEST(several_tiles_and_seeds)
{
    run_shape(&kernels[_i], 256, 128, 128, DATA_FINITE, false, 5);
}
END_TEST

START_TEST(ragged_with_alpha)
{
    run_shape(&kernels[_i], 77, 131, 128, DATA_FINITE, false, 1);
}
END_TEST

/* The two models differ on this data, so that the comparison can tell them apart. */
START_TEST(models_differ)
{
    const kernel_case *kernel = &kernels[_i];
    gemm_case *x = gemm_case_new(kernel->format, kernel->format, 128, 128, 256, FPO_F32);
    gemm_random random = {{17, DATA_FINITE}, 0};
    gemm_data_fill(x, DATA_FINITE, &random);
    unsigned char *first = NULL;
    for (int i = 0; i < 2; i++) {
        x->spec.accumulation = model_of(kernel, i).accumulation;
        gemm_case_run(x, NULL);
        if (i == 0) {
            first = malloc(x->d_bytes);
            memcpy(first, x->d, x->d_bytes);
        }
    }
    ck_assert_int_ne(memcmp(first, x->d, x->d_bytes), 0);
    free(first);
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_triton");
    TCase *tests = tcase_create("triton");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, every_kind_of_data, 0, KERNELS);
    tcase_add_loop_test(tests, several_tiles_and_seeds, 0, KERNELS);
    tcase_add_loop_test(tests, ragged_with_alpha, 0, KERNELS);
    tcase_add_loop_test(tests, models_differ, 0, KERNELS);
    suite_add_tcase(suite, tests);
    return suite;
}
