/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS GEMMs, compiled by nvcc with their own host code, on the virtual SM120 through the stand-in libcudart: all
 * output bits against the GEMM-level model. Kernels come from tests/vgpu/build_cutlass.sh, which keeps what it
 * compiled; without any, and without FPO_BUILD_KERNELS=1, the test is skipped. */
#include "gemm_case.h"
#include "gemm_data.h"
#include "suite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*gemm_function)(int m, int n, int k, const void *a, const void *b, const void *sfa, const void *sfb,
                             void *d, float alpha);
typedef int (*allocate_function)(void **memory, size_t bytes);
typedef int (*free_function)(void *memory);
typedef const char *(*message_function)(int code);

typedef struct plugin {
    gemm_function gemm;
    allocate_function allocate;
    free_function release;
    message_function message;
} plugin;

typedef struct kernel_case {
    int number; /* of tests/vgpu/cutlass_sm120.cu */
    fpo_block_format format;
    fpo_format d;
    const char *model, *key; /* the model's name in FP4ORACLE_VGPU */
} kernel_case;

static const kernel_case kernels[] = {
    {1, FPO_BLOCK_NVFP4, FPO_F32, "sm120_mxf4nvf4", "mxf4nvf4"},
    {2, FPO_BLOCK_NVFP4, FPO_BF16, "sm120_mxf4nvf4", "mxf4nvf4"},
    {3, FPO_BLOCK_MXFP8_E4M3, FPO_F32, "sm120_mxf8f6f4", "mxf8f6f4"},
    {4, FPO_BLOCK_NVFP4, FPO_F32, "sm120_mxf4nvf4", "mxf4nvf4"},
    {5, FPO_BLOCK_MXFP4, FPO_F32, "sm120_mxf4", "mxf4"},
    {6, FPO_BLOCK_NVFP4, FPO_F32, "sm120_mxf4nvf4_stream_k_170", "mxf4nvf4"},
};

/* The kernel's shared object, or NULL: not compiled. */
static char *find_kernel(int number)
{
    static char path[1024];
    char command[1200];
    snprintf(command, sizeof command, "bash %s/tests/vgpu/build_cutlass.sh %d", FPO_SOURCE_DIR, number);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        return NULL;
    bool any = fgets(path, sizeof path, pipe) != NULL;
    pclose(pipe);
    path[strcspn(path, "\n")] = '\0';
    return any && path[0] == '/' ? path : NULL;
}

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    ck_assert_msg(address != NULL, "%s", name);
    return address;
}

/* The stand-in is loaded first: the kernel's libcudart.so.13 is then this one. */
static void load(const kernel_case *kernel, const char *configuration, plugin *p)
{
    const char *path = find_kernel(kernel->number);
    ck_assert_ptr_nonnull(path);
    setenv("FP4ORACLE_VGPU", configuration, 1);
    void *runtime = dlopen(FPO_BINARY_DIR "/lib/vgpu/libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
    ck_assert_msg(runtime != NULL, "%s", dlerror());
    void *library = dlopen(path, RTLD_NOW);
    ck_assert_msg(library != NULL, "%s", dlerror());
    *(void **)&p->gemm = symbol(library, "cutlass_gemm");
    *(void **)&p->allocate = symbol(runtime, "cudaMalloc");
    *(void **)&p->release = symbol(runtime, "cudaFree");
    *(void **)&p->message = symbol(runtime, "cudaGetErrorString");
}

/* The 128x4 layout in closed form (facts.md 3), padding filled with NaN, which must not be used. */
static void *place_scales(const plugin *p, const fpo_operand *operand, int64_t rows, int64_t columns, uint8_t padding)
{
    int64_t groups = (columns + 3) / 4, bytes = (rows + 127) / 128 * groups * 512;
    uint8_t *scales;
    ck_assert_int_eq(p->allocate((void **)&scales, (size_t)bytes), 0);
    memset(scales, padding, (size_t)bytes);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t s = 0; s < columns; s++)
            scales[(row / 128 * groups + s / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + s % 4] =
                ((const uint8_t *)operand->scales)[row * columns + s];
    return scales;
}

static void *place(const plugin *p, const void *bytes, size_t size)
{
    void *memory;
    ck_assert_int_eq(p->allocate(&memory, size), 0);
    memcpy(memory, bytes, size);
    return memory;
}

static void run(const plugin *p, const kernel_case *kernel, const fpo_model *model, int m, int n, int k, gemm_data data,
                float alpha)
{
    gemm_case *x = gemm_case_new(kernel->format, kernel->format, m, n, k, kernel->d);
    gemm_random random = {{23, (uint64_t)data}, 0};
    gemm_data_fill(x, data, &random);
    x->problem.alpha = alpha;
    x->spec.accumulation = model->accumulation;
    gemm_case_run(x, NULL);
    const fpo_gemm_problem *q = &x->problem;
    int block = kernel->format == FPO_BLOCK_NVFP4 ? 16 : 32;
    int64_t columns = (k + block - 1) / block;
    void *a = place(p, q->a.codes, q->a.codes_bytes), *b = place(p, q->b.codes, q->b.codes_bytes);
    /* Scale bytes past K are read with zero elements; a NaN there would show. */
    void *sfa = place_scales(p, &q->a, m, columns, 0), *sfb = place_scales(p, &q->b, n, columns, 0), *d;
    ck_assert_int_eq(p->allocate(&d, x->d_bytes), 0);
    int code = p->gemm(m, n, k, a, b, sfa, sfb, d, alpha);
    ck_assert_msg(code == 0, "case %d, %dx%dx%d: the kernel's host code answers %d: %s", kernel->number, m, n, k, code,
                  p->message(code));
    size_t width = x->d_bytes / ((size_t)m * (size_t)n), differences = 0, first = 0;
    for (size_t i = 0; i < (size_t)m * (size_t)n; i++) {
        if (memcmp((const char *)d + i * width, x->d + i * width, width) == 0)
            continue;
        if (differences++ == 0)
            first = i;
    }
    ck_assert_msg(differences == 0, "case %d, %dx%dx%d data %d: %zu of %d outputs differ, the first at (%d, %d)",
                  kernel->number, m, n, k, (int)data, differences, m * n, (int)first / n, (int)first % n);
    void *const all[] = {a, b, sfa, sfb, d};
    for (int i = 0; i < 5; i++)
        p->release(all[i]);
    gemm_case_free(x);
}

/* Each in a process of its own: the stand-in reads its configuration once. */
static void run_kernel(int index, const char *configuration, const fpo_model *model, bool wide)
{
    plugin p;
    const kernel_case *kernel = &kernels[index];
    load(kernel, configuration, &p);
    for (int data = 0; data < DATA_KINDS; data++)
        run(&p, kernel, model, 128, 128, 256, (gemm_data)data, 1.0f);
    run(&p, kernel, model, 200, 264, 320, DATA_FINITE, 0.3f);
    if (wide)
        run(&p, kernel, model, 128, 128, 4096, DATA_FINITE, 1.0f);
}

/* The kernel's model on a GPU of so many SMs, which Stream-K's order depends on. */
static fpo_model model_of(int index, int sms)
{
    const fpo_model *found = fpo_model_by_name(kernels[index].model);
    ck_assert_ptr_nonnull(found);
    fpo_model model = *found;
    if (model.accumulation.schedule.split == FPO_SPLIT_STREAM_K)
        model.accumulation.schedule.wave = sms;
    return model;
}

START_TEST(every_kind_of_data)
{
    fpo_model model = model_of(_i, 3);
    run_kernel(_i, "sms=3", &model, true);
}
END_TEST

START_TEST(another_seed)
{
    fpo_model model = model_of(_i, 2);
    run_kernel(_i, "sms=2,seed=5", &model, kernels[_i].number == 6);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_cutlass");
    TCase *tests = tcase_create("cutlass");
    tcase_set_timeout(tests, 300);
    int present = 0;
    for (int i = 0; i < (int)(sizeof kernels / sizeof kernels[0]); i++) {
        if (find_kernel(kernels[i].number) == NULL) {
            printf("CUTLASS case %d is not compiled (FPO_BUILD_KERNELS=1 does it)\n", kernels[i].number);
            continue;
        }
        present++;
        tcase_add_loop_test(tests, every_kind_of_data, i, i + 1);
        tcase_add_loop_test(tests, another_seed, i, i + 1);
    }
    if (present == 0)
        exit(77);
    suite_add_tcase(suite, tests);
    return suite;
}
