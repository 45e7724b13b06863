/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Faults planted in real kernels' PTX are caught: by a check that names the instruction, by a fault, by the deadlock
 * detector, or by the comparison with the model. The unmodified kernel raises nothing. CUTLASS NVFP4 -> f32 with its
 * own host code (skipped unless tests/vgpu/build_cutlass.sh has compiled it). */
#include "gemm_case.h"
#include "gemm_data.h"
#include "ptx_edit.h"
#include "ptx_library.h"
#include "suite.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct mutation {
    const char *what;
    ptx_edit edit;
    const char *seed;   /* configuration beside check=1 */
    const char *caught; /* words of the message, or "outputs differ" */
} mutation;

#define MMA "mma.sync.aligned.kind::mxf4nvf4"
#define LOAD3 "cp.async.bulk.tensor.3d.shared::cta.global"
#define LOAD4 "cp.async.bulk.tensor.4d.shared::cta.global"
#define STORE "cp.async.bulk.tensor.3d.global.shared::cta"
#define WAIT "mbarrier.try_wait.parity"
#define PASS "setp.eq.u32 P1, 0, 0; //"
#define ZEROS "{0f00000000, 0f00000000, 0f00000000, 0f00000000}"

static const mutation mutations[] = {
    {"none", {EDIT_REPLACE, ".target", 1, NULL, ".target", ".target"}, "seed=3", ""},
    {"scale selector: byte of A", {EDIT_SET, MMA, 1, NULL, "5", "{1, 0}"}, "seed=0", "scale selectors"},
    /* CUTLASS has a row's scales in every lane that could be selected: these two change nothing, and nothing is caught.
     */
    {"scale selector: thread of A", {EDIT_SET, MMA, 2, NULL, "5", "{0, 1}"}, "seed=0", ""},
    {"scale selector: thread of B", {EDIT_SET, MMA, 2, NULL, "7", "{0, 2}"}, "seed=0", ""},
    {"scales of B for A", {EDIT_COPY, MMA, 1, NULL, "6", "4"}, "seed=0", "outputs differ"},
    {"scales of A for B", {EDIT_COPY, MMA, 3, NULL, "4", "6"}, "seed=0", "outputs differ"},
    {"accumulator starts again", {EDIT_SET, MMA, 17, NULL, "3", ZEROS}, "seed=0", "outputs differ"},
    {"last K step dropped", {EDIT_SET, MMA, 64, NULL, "1", ZEROS}, "seed=0", "outputs differ"},
    {"fragment of A in the wrong rows", {EDIT_REPLACE, "ldmatrix", 1, NULL, "]", "+16]"}, "seed=0", "outputs differ"},
    {"fragment of B shifted by a row", {EDIT_REPLACE, "ldmatrix", 3, NULL, "]", "+64]"}, "seed=0", "outputs differ"},
    {"fragment misaligned", {EDIT_REPLACE, "ldmatrix", 2, NULL, "]", "+8]"}, "seed=0", "not aligned"},
    {"fragment out of bounds", {EDIT_REPLACE, "ldmatrix", 2, NULL, "]", "+131072]"}, "seed=0", "outside"},
    {"A's tile in B's place",
     {EDIT_SET, LOAD3, 2, NULL, "1", "[%rd110, {%r2376, %r2135, %r2392}]"},
     "seed=0",
     "outputs differ"},
    {"scale tiles exchanged",
     {EDIT_SET, LOAD4, 1, NULL, "1", "[%rd116, {%r2150, %r2375, %r2400, %r2392}]"},
     "seed=0",
     "outputs differ"},
    {"tile to a shifted place", {EDIT_REPLACE, LOAD3, 1, NULL, "], [", "+16], ["}, "seed=0", "not aligned to 128"},
    {"no bytes announced",
     {EDIT_DELETE, "mbarrier.arrive.expect_tx.shared::cta.b64", 1, NULL, NULL, NULL},
     "seed=0",
     "deadlock"},
    {"a barrier misses an arrival", {EDIT_REPLACE, "mbarrier.init", 1, NULL, ", %r485", ", 2"}, "seed=0", "deadlock"},
    {"no wait for the tiles", {EDIT_REPLACE, WAIT, -1, "ldmatrix", WAIT, PASS}, "seed=3", "copy has not arrived"},
    {"no wait for an empty stage", {EDIT_REPLACE, WAIT, -1, LOAD3, WAIT, PASS}, "seed=3", "arrivals at an mbarrier"},
    {"stage never released",
     {EDIT_DELETE, "mbarrier.arrive.shared::cluster.b64", -1, STORE, NULL, NULL},
     "seed=0",
     "deadlock"},
    {"no proxy fence",
     {EDIT_DELETE, "fence.proxy.async.shared::cta", 0, NULL, NULL, NULL},
     "seed=0",
     "without a proxy fence"},
    {"no wait for stores",
     {EDIT_DELETE, "cp.async.bulk.wait_group", 0, NULL, NULL, NULL},
     "seed=3",
     "store has still to read"},
    {"stores never committed",
     {EDIT_DELETE, "cp.async.bulk.commit_group", 0, NULL, NULL, NULL},
     "seed=3",
     "store has still to read"},
    {"no barrier before the store", {EDIT_DELETE, "bar.sync", -1, STORE, NULL, NULL}, "seed=5", "shared memory that"},
    {"store to a negative place",
     {EDIT_SET, STORE, 1, NULL, "0", "[%rd13, {-4, %r299, %r2418}]"},
     "seed=0",
     "coordinate"},
    {"store of another tile",
     {EDIT_SET, STORE, 1, NULL, "0", "[%rd13, {%r300, 64, %r2418}]"},
     "seed=0",
     "outputs differ"},
    {"alpha left out", {EDIT_REPLACE, "mul.f32", 1, NULL, "mul.f32", "max.f32"}, "seed=0", "outputs differ"},
    {"a trap", {EDIT_REPLACE, "ldmatrix", 1, NULL, "ldmatrix", "trap; //"}, "seed=0", "trap"},
    {"an instruction that does not exist",
     {EDIT_REPLACE, "ldmatrix", 1, NULL, ".shared", ".local"},
     "seed=0",
     "is not supported"},
};

static char kernel_path[1024];

static bool find_kernel(void)
{
    FILE *pipe = popen("bash " FPO_SOURCE_DIR "/tests/vgpu/build_cutlass.sh 1", "r");
    bool any = pipe != NULL && fgets(kernel_path, sizeof kernel_path, pipe) != NULL;
    if (pipe != NULL)
        pclose(pipe);
    kernel_path[strcspn(kernel_path, "\n")] = '\0';
    return any && kernel_path[0] == '/';
}

typedef int (*gemm_function)(int, int, int, const void *, const void *, const void *, const void *, void *, float);

static uint8_t *place_scales(int (*allocate)(void **, size_t), const fpo_operand *operand, int rows, int columns)
{
    void *memory;
    int groups = (columns + 3) / 4;
    ck_assert_int_eq(allocate(&memory, (size_t)(rows + 127) / 128 * (size_t)groups * 512), 0);
    uint8_t *scales = memory;
    for (int row = 0; row < rows; row++)
        for (int s = 0; s < columns; s++)
            scales[(row / 128 * groups + s / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + s % 4] =
                ((const uint8_t *)operand->scales)[row * columns + s];
    return scales;
}

/* Runs the kernel; what the virtual GPU said, or "outputs differ", goes to `message`. */
static void run(char *message, size_t size)
{
    enum { M = 128, N = 128, K = 1024 };
    char log[] = "/tmp/fp4oracle_mutation_XXXXXX";
    int descriptor = mkstemp(log), old = dup(STDERR_FILENO);
    dup2(descriptor, STDERR_FILENO);
    void *runtime = dlopen(FPO_BINARY_DIR "/lib/vgpu/libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
    void *library = runtime != NULL ? dlopen(kernel_path, RTLD_NOW) : NULL;
    ck_assert_msg(library != NULL, "%s", dlerror());
    int (*allocate)(void **, size_t);
    gemm_function gemm;
    *(void **)&allocate = dlsym(runtime, "cudaMalloc");
    *(void **)&gemm = dlsym(library, "cutlass_gemm");
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, M, N, K, FPO_F32);
    gemm_random random = {{31, 0}, 0};
    gemm_data_fill(x, DATA_FINITE, &random);
    x->problem.alpha = 0.3f;
    x->spec.accumulation = fpo_model_by_name("sm120_mxf4nvf4")->accumulation;
    gemm_case_run(x, NULL);
    void *a, *b, *d;
    allocate(&a, x->problem.a.codes_bytes);
    allocate(&b, x->problem.b.codes_bytes);
    allocate(&d, x->d_bytes);
    memcpy(a, x->problem.a.codes, x->problem.a.codes_bytes);
    memcpy(b, x->problem.b.codes, x->problem.b.codes_bytes);
    int code = gemm(M, N, K, a, b, place_scales(allocate, &x->problem.a, M, K / 16),
                    place_scales(allocate, &x->problem.b, N, K / 16), d, 0.3f);
    bool differ = code == 0 && memcmp(d, x->d, x->d_bytes) != 0;
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    lseek(descriptor, 0, SEEK_SET);
    ssize_t length = read(descriptor, message, size - 32);
    message[length > 0 ? length : 0] = '\0';
    if (differ)
        strcat(message, "outputs differ");
    close(descriptor);
    unlink(log);
    gemm_case_free(x);
}

START_TEST(is_caught)
{
    const mutation *m = &mutations[_i];
    char *ptx = ptx_of_library(kernel_path, ""), *edited = ptx_edited(ptx, &m->edit);
    char path[] = "/tmp/fp4oracle_ptx_XXXXXX", configuration[128];
    static char message[1 << 16];
    FILE *file = fdopen(mkstemp(path), "w");
    fputs(edited, file);
    fclose(file);
    snprintf(configuration, sizeof configuration, "check=1,max_instructions=3000000,%s", m->seed);
    setenv("FP4ORACLE_VGPU", configuration, 1);
    setenv("FP4ORACLE_VGPU_PTX", path, 1);
    run(message, sizeof message);
    unlink(path);
    if (m->caught[0] == '\0')
        ck_assert_msg(message[0] == '\0', "%s: %.400s", m->what, message);
    else
        ck_assert_msg(strstr(message, m->caught) != NULL, "%s: `%s` is not in: %.400s", m->what, m->caught, message);
    free(ptx);
    free(edited);
}
END_TEST

Suite *fpo_suite(void)
{
    if (!find_kernel()) {
        printf("CUTLASS case 1 is not compiled (FPO_BUILD_KERNELS=1 does it)\n");
        exit(77);
    }
    Suite *suite = suite_create("vgpu_mutations");
    TCase *tests = tcase_create("cutlass");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, is_caught, 0, sizeof mutations / sizeof mutations[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
