/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Faults planted in Triton's kernels for SM120, located: the first mma.sync whose operands do not belong together, with
 * its PTX line, warp, K step and what is in the wrong place. The unmodified kernels have none. */
#include "gemm_case.h"
#include "gemm_data.h"
#include "ptx_edit.h"
#include "ptx_file.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 128, N = 128, K = 512, SHARED = 32768 };

typedef struct located {
    const char *what, *file;
    fpo_block_format format;
    ptx_edit edit;
    int occurrence;    /* the mma.sync, in the text's order, that is named; 0: none */
    const char *words; /* of the finding */
} located;

#define MMA "mma.sync.aligned"
#define ZERO4 "{ 0, 0, 0, 0 }"
#define NONE                                                                                                           \
    {                                                                                                                  \
        EDIT_REPLACE, ".target", 1, NULL, ".target", ".target"                                                         \
    }

static const located cases[] = {
    {"NVFP4", "triton/nvfp4.ptx", FPO_BLOCK_NVFP4, NONE, 0, ""},
    {"MXFP4", "triton/mxfp4.ptx", FPO_BLOCK_MXFP4, NONE, 0, ""},
    {"MXFP8", "triton/mxfp8.ptx", FPO_BLOCK_MXFP8_E4M3, NONE, 0, ""},
    {"scales of B for A",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_COPY, MMA, 5, NULL, "6", "4"},
     5,
     "scale 0 of A is no scale of the problem"},
    {"scales of other rows",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_SET, MMA, 3, NULL, "4", "%r629"},
     3,
     "scale 0 of A is"},
    {"scale selector",
     "triton/mxfp8.ptx",
     FPO_BLOCK_MXFP8_E4M3,
     {EDIT_SET, MMA, 9, NULL, "5", "{ 1, 0 }"},
     9,
     "scale 0 of A is"},
    {"another fragment of A",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_SET, MMA, 2, NULL, "1", "{ %r624, %r625, %r626, %r627 }"},
     2,
     "scale 0 of A is row"},
    {"a fragment of A that is nothing",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_SET, MMA, 6, NULL, "1", ZERO4},
     6,
     "of the fragment of A is no row of it"},
    {"scales of another type",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_REPLACE, MMA, 4, NULL, ".ue4m3", ".ue8m0"},
     4,
     "it reads scales of A as ue8m0, and they are ue4m3"},
    {"codes of another type",
     "triton/mxfp8.ptx",
     FPO_BLOCK_MXFP8_E4M3,
     {EDIT_REPLACE, MMA, 4, NULL, ".e4m3.e4m3", ".e4m3.e5m2"},
     4,
     "it reads elements of B as e5m2, and they are e4m3"},
    {"codes that are changed",
     "triton/mxfp8.ptx",
     FPO_BLOCK_MXFP8_E4M3,
     {EDIT_AFTER, "ldmatrix", 1, NULL, NULL, "and.b32 $0.0, $0.0, 2139062143;"},
     1,
     "has other bits than row"},
    {"ldmatrix shifted by a row",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_REPLACE, "ldmatrix", 1, NULL, "]", "+64]"},
     1,
     "row 1 of the fragment of A is no row of it"},
    {"A of another K step",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_SET, MMA, 7, NULL, "1", "{ %r647, %r648, %r649, %r650 }"},
     7,
     "A holds K"},
    {"the accumulator starts again",
     "triton/nvfp4.ptx",
     FPO_BLOCK_NVFP4,
     {EDIT_SET, MMA, 40, NULL, "3", ZERO4},
     40,
     "the accumulator starts here"},
};

/* As if scales were applied to sums of 128: this kernel's sums go on. */
static const located goes_on = {"sums that do not end", "triton/mxfp8.ptx", FPO_BLOCK_MXFP8_E4M3, NONE, 0, ""};

static uint32_t line_of(const char *ptx, int occurrence)
{
    const char *at = ptx;
    for (int i = 0; i < occurrence; i++)
        at = strstr(at + (i > 0), MMA);
    uint32_t line = 1;
    for (const char *p = ptx; p < at; p++)
        line += *p == '\n';
    return line;
}

/* Linear scales: a byte's row and K block. */
static int32_t (*places_of(int64_t rows, int64_t blocks))[2]
{
    int32_t(*places)[2] = malloc((size_t)(rows * blocks) * sizeof *places);
    for (int64_t i = 0; i < rows * blocks; i++) {
        places[i][0] = (int32_t)(i / blocks);
        places[i][1] = (int32_t)(i % blocks);
    }
    return places;
}

static void run(const char *ptx, const located *l, int interval, fpo_vgpu_trace *trace)
{
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 120};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, ptx, strlen(ptx), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "scaled_gemm", &function, &error) == FPO_OK, "%s", error.message);
    gemm_case *x = gemm_case_new(l->format, l->format, M, N, K, FPO_F32);
    gemm_random random = {{31, 0}, 0};
    gemm_data_fill(x, DATA_FINITE, &random);
    const fpo_gemm_problem *p = &x->problem;
    const void *from[] = {p->a.codes, p->a.scales, p->b.codes, p->b.scales};
    const size_t sizes[] = {p->a.codes_bytes, p->a.scales_bytes, p->b.codes_bytes, p->b.scales_bytes};
    void *memory[7] = {NULL};
    for (int i = 0; i < 4; i++)
        memcpy(memory[i] = fpo_vgpu_allocate(gpu, sizes[i]), from[i], sizes[i]);
    memory[4] = fpo_vgpu_allocate(gpu, (size_t)M * N * 4);
    int block = l->format == FPO_BLOCK_NVFP4 ? 16 : 32, bits = l->format == FPO_BLOCK_MXFP8_E4M3 ? 8 : 4;
    int32_t(*places)[2] = places_of(M > N ? M : N, K / block);
    fpo_format element = x->spec.a.read.element, scale = x->spec.a.read.scale.format;
    *trace = (fpo_vgpu_trace){.a = {memory[0], sizes[0], K * bits / 8, bits, memory[1], sizes[1],
                                    (const int32_t(*)[2])places, block, element, scale},
                              .b = {memory[2], sizes[2], K * bits / 8, bits, memory[3], sizes[3],
                                    (const int32_t(*)[2])places, block, element, scale},
                              .k = K,
                              .interval = interval};
    fpo_vgpu_set_trace(gpu, trace);
    int32_t shape[3] = {M, N, K};
    int32_t lines[3] = {K * bits / 8, K * bits / 8, N};
    const void *arguments[14] = {&memory[0], &memory[1], &memory[2], &memory[3], &memory[4], &p->alpha,  &shape[0],
                                 &shape[1],  &shape[2],  &lines[0],  &lines[1],  &lines[2],  &memory[5], &memory[6]};
    fpo_vgpu_launch launch = {
        .grid = {M / 128, N / 128, 1}, .block = {128, 1, 1}, .dynamic_shared = SHARED, .arguments = arguments};
    ck_assert_msg(fpo_vgpu_run(function, &launch, NULL, &error) == FPO_OK, "%s", error.message);
    free(places);
    gemm_case_free(x);
    fpo_vgpu_free(gpu);
}

START_TEST(is_located)
{
    const located *l = &cases[_i];
    fpo_vgpu_trace trace;
    char *ptx = fpo_test_ptx(l->file), *edited = ptx_edited(ptx, &l->edit), line[32];
    run(edited, l, 0, &trace);
    if (l->occurrence == 0) {
        ck_assert_msg(trace.finding[0] == '\0', "%s: %s", l->what, trace.finding);
    } else {
        snprintf(line, sizeof line, "PTX line %u,", line_of(edited, l->occurrence));
        ck_assert_msg(strstr(trace.finding, line) != NULL && strstr(trace.finding, l->words) != NULL,
                      "%s: %s and `%s` are not in: %s", l->what, line, l->words, trace.finding);
    }
    free(ptx);
    free(edited);
}
END_TEST

START_TEST(sums_end_where_blocks_do)
{
    fpo_vgpu_trace trace;
    char *ptx = fpo_test_ptx(goes_on.file);
    run(ptx, &goes_on, 128, &trace);
    ck_assert_msg(strstr(trace.finding, "the accumulator goes on at K 128, where another block of 128") != NULL, "%s",
                  trace.finding);
    run(ptx, &goes_on, K, &trace);
    ck_assert_str_eq(trace.finding, "");
    free(ptx);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_locate");
    TCase *tests = tcase_create("triton");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, is_located, 0, sizeof cases / sizeof cases[0]);
    tcase_add_test(tests, sums_end_where_blocks_do);
    suite_add_tcase(suite, tests);
    return suite;
}
