/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Faults planted in the PTX of FlashInfer's GEMMs for SM120, run with their own host code through the runner: the
 * verdict names the cause, and the runner the first mma that is given what the model does not give it. Where no entry
 * of the catalogue describes the fault nobody is accused, and the place is named all the same. The unmodified kernels
 * match. (Skipped unless the plug-in flashinfer_sm120 is built.) */
#include "ptx_edit.h"
#include "ptx_library.h"
#include "runner.h"
#include "suite.h"

#include <generate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN FPO_BINARY_DIR "/lib/flashinfer_sm120.so"

/* A kernel and what tells its PTX from that of the plug-in's other modules. */
typedef struct subject {
    const char *kernel, *model, *word;
    fpo_block_format a, b;
    fpo_format d;
} subject;

static const subject subjects[] = {
    {"fp4/f32", "sm120_mxf4nvf4", "kind::mxf4nvf4", FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_F32},
    {"fp4/bf16", "sm120_mxf4nvf4", "kind::mxf4nvf4", FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, FPO_BF16},
    {"mxfp8/f32", "sm120_mxf8f6f4", "kind::mxf8f6f4", FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, FPO_F32},
    {"groupwise/f32", "sm120_fp8_blockwise", ".kind::f8f6f4", FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, FPO_F32},
};
enum { FP4, FP4_BF16, MXFP8, GROUPWISE };

typedef struct planted {
    const char *what;
    int subject;
    int64_t m, n, k;
    ptx_edit edit;
    int until;         /* 0, or to which line with the pattern it is made */
    int fragments_of;  /* FPO_OPERAND_A, _B: it is made behind every ldmatrix of that operand */
    const char *cause; /* the edit that is named, with its parameters; NULL: a match, "": nobody is accused */
    const char *words; /* of the place; NULL: none is looked for */
    int mma;           /* that is named, the n-th of the text; 0: none */
} planted;

/* What a K step loads: two fragments of A, then four of B. */
enum { OF_A = 2, OF_B = 4 };

#define MMA "mma.sync.aligned"
#define LOAD3 "cp.async.bulk.tensor.3d.shared::cta.global"
#define LOAD4 "cp.async.bulk.tensor.4d.shared::cta.global"
#define FRAGMENT "ldmatrix.sync"
#define ZERO4 "{ 0, 0, 0, 0 }"
#define NO_SUM "{ 0f00000000, 0f00000000, 0f00000000, 0f00000000 }"
#define EVERY_MMA_RIGHT "every mma gets rows, columns, scales and accumulators that belong together"
#define EVERY_SUM_RIGHT "block scales are applied outside of it and are not traced: look at these"

/* Something done to each of the four registers of a fragment. */
#define EACH(x) "{ .reg .b32 t; " x("$0.0") x("$0.1") x("$0.2") x("$0.3") "}"
#define SWAP(r)                                                                                                        \
    "shr.u32 t, " r ", 4; and.b32 t, t, 252645135; shl.b32 " r ", " r ", 4; and.b32 " r ", " r                         \
    ", -252645136; or.b32 " r ", " r ", t; "
#define NO_SIGN_4(r) "and.b32 " r ", " r ", 2004318071; "
#define NO_SIGN_8(r) "and.b32 " r ", " r ", 2139062143; "

static const planted faults[] = {
    {"nothing", FP4, 128, 128, 256, {EDIT_REPLACE, ".target", 1, NULL, ".target", ".target"}, 0, 0, NULL, NULL, 0},
    {"nibbles of A",
     FP4,
     128,
     128,
     128,
     {EDIT_AFTER, FRAGMENT, 0, NULL, NULL, EACH(SWAP)},
     0,
     FPO_OPERAND_A,
     "nibble_order operand=A",
     "of the fragment of A is no row of it",
     33},
    {"nibbles of B",
     FP4_BF16,
     128,
     128,
     128,
     {EDIT_AFTER, FRAGMENT, 0, NULL, NULL, EACH(SWAP)},
     0,
     FPO_OPERAND_B,
     "nibble_order operand=B",
     "of the fragment of B is no row of it",
     161},
    {"signs of A",
     FP4,
     128,
     128,
     128,
     {EDIT_AFTER, FRAGMENT, 0, NULL, NULL, EACH(NO_SIGN_4)},
     0,
     FPO_OPERAND_A,
     "element_sign_lost operand=A",
     "of the fragment of A has other bits than row",
     33},
    {"signs of B",
     MXFP8,
     128,
     128,
     128,
     {EDIT_AFTER, FRAGMENT, 0, NULL, NULL, EACH(NO_SIGN_8)},
     0,
     FPO_OPERAND_B,
     "element_sign_lost operand=B",
     "of the fragment of B has other bits than row",
     65},
    {"the type of A",
     MXFP8,
     128,
     128,
     128,
     {EDIT_REPLACE, MMA, 0, NULL, ".e4m3.e4m3", ".e5m2.e4m3"},
     0,
     0,
     "element_format operand=A,from=e4m3,to=e5m2",
     "it reads elements of A as e5m2, and they are e4m3",
     65},
    {"the type of B",
     GROUPWISE,
     128,
     128,
     128,
     {EDIT_REPLACE, MMA, 0, NULL, ".e4m3.e4m3", ".e4m3.e5m2"},
     0,
     0,
     "element_format operand=B,from=e4m3,to=e5m2",
     "it reads elements of B as e5m2, and they are e4m3",
     65},
    {"the type of the scales",
     FP4,
     128,
     128,
     128,
     {EDIT_REPLACE, MMA, 0, NULL, "ue4m3", "ue8m0"},
     0,
     0,
     "scale_format operand=A and B,from=ue4m3,to=ue8m0",
     "it reads scales of A as ue8m0, and they are ue4m3",
     33},
    {"the K coordinate of A's scales",
     FP4,
     128,
     128,
     256,
     {EDIT_SET, LOAD4, 1, NULL, "1", "[%rd155, {%r1236, 0, %r1328, %r1326}]"},
     0,
     0,
     "scale_k_wrapped operand=A,to=8",
     "K block 8 belongs",
     33},
    {"the row coordinate of A's scales",
     FP4,
     256,
     128,
     128,
     {EDIT_SET, LOAD4, 1, NULL, "1", "[%rd155, {%r1236, %r1329, 0, %r1326}]"},
     0,
     0,
     "scale_rows_wrapped operand=A,to=128",
     "where row 128, K block 0 belongs",
     33},
    {"the row coordinate of A",
     FP4,
     256,
     128,
     128,
     {EDIT_SET, LOAD3, 1, NULL, "1", "[%rd151, {%r1330, 0, %r1326}]"},
     0,
     0,
     "rows_wrapped operand=A,to=128",
     "scale 0 of A is row 128, K block 0",
     33},
    {"the K coordinate of B's scales",
     MXFP8,
     128,
     128,
     256,
     {EDIT_SET, LOAD4, 2, NULL, "1", "[%rd55, {%r2120, %r2341, 0, %r2328}]"},
     0,
     0,
     "scale_k_wrapped operand=B,to=4",
     "K block 4 belongs",
     65},
    {"the accumulator starts again",
     FP4,
     128,
     128,
     128,
     {EDIT_SET, MMA, 1, NULL, "3", NO_SUM},
     64,
     0,
     "k_first_dropped to=64",
     "the accumulator starts here, K 64 and not 0",
     49},
    {"the last K step",
     FP4,
     128,
     128,
     256,
     {EDIT_SET, MMA, 49, NULL, "1", ZERO4},
     64,
     0,
     "k_last_dropped to=64",
     "of the fragment of A is no row of it",
     49},
    {"the last K step",
     MXFP8,
     128,
     128,
     256,
     {EDIT_SET, MMA, 113, NULL, "1", ZERO4},
     128,
     0,
     "k_last_dropped to=32",
     "of the fragment of A is no row of it",
     113},
    {"partial sums that do not join",
     GROUPWISE,
     128,
     128,
     256,
     {EDIT_SET, "fma.rn.f32", 1, NULL, "3", "0f00000000"},
     128,
     0,
     "k_first_dropped to=128",
     EVERY_SUM_RIGHT,
     0},
    {"scales of the partial sums",
     GROUPWISE,
     128,
     128,
     256,
     {EDIT_SET, "fma.rn.f32", 1, NULL, "2", "0f3F800000"},
     128,
     0,
     "scales_ignored operand=A and B",
     EVERY_SUM_RIGHT,
     0},
    {"a fragment of A that is nothing, and scales outside",
     GROUPWISE,
     128,
     128,
     256,
     {EDIT_SET, MMA, 9, NULL, "1", ZERO4},
     0,
     0,
     "k_first_dropped to=32",
     "of the fragment of A is no row of it",
     9},
    {"the accumulator starts again within a block",
     GROUPWISE,
     128,
     128,
     256,
     {EDIT_SET, MMA, 33, NULL, "3", NO_SUM},
     0,
     0,
     "k_first_dropped to=64",
     "the accumulator starts here, K",
     33},
    {"alpha",
     FP4,
     128,
     128,
     128,
     {EDIT_SET, "mul.f32", 0, NULL, "1", "0f3F800000"},
     0,
     0,
     "alpha_dropped ",
     EVERY_MMA_RIGHT,
     0},
    {"the rounding of D",
     FP4_BF16,
     128,
     128,
     128,
     {EDIT_REPLACE, "cvt.rn.bf16x2", 0, NULL, ".rn.", ".rz."},
     0,
     0,
     "output_rounding to=toward zero",
     EVERY_MMA_RIGHT,
     0},
    {"a relu",
     FP4_BF16,
     128,
     128,
     128,
     {EDIT_REPLACE, "cvt.rn.bf16x2", 0, NULL, ".rn.", ".rn.relu."},
     0,
     0,
     "relu_added ",
     EVERY_MMA_RIGHT,
     0},
    /* No entry of the catalogue: rows of a fragment with the scales of the rows 16 further on, in one mma of many; a
     * fragment of A from 16 bytes further on in a swizzled tile. */
    {"scales of another fragment",
     FP4,
     128,
     128,
     128,
     {EDIT_COPY, MMA, 33, NULL, "4", "6"},
     0,
     0,
     "",
     "scale 0 of B is no scale of the problem",
     33},
    {"a fragment that is shifted",
     FP4,
     128,
     128,
     128,
     {EDIT_REPLACE, FRAGMENT, 1, NULL, "]", "+16]"},
     0,
     0,
     "",
     "PTX line",
     33},
};

/* What remains of a result, which lasts as long as its report. */
typedef struct seen {
    fpo_outcome outcome;
    fpo_verdict verdict;
    int causes;
    char named[2048], place[FPO_MESSAGE_SIZE];
} seen;

static void take(void *context, const fpo_kernel_info *kernel, const fpo_run_result *result)
{
    seen *s = context;
    (void)kernel;
    s->outcome = result->outcome;
    snprintf(s->place, sizeof s->place, "%s", result->text);
    for (size_t i = 0; i < result->finding_count && i < FPO_FINDINGS; i++)
        if (strstr(result->findings[i].text, "mma") != NULL)
            snprintf(s->place, sizeof s->place, "%s", result->findings[i].text);
    if (!result->judged || !result->judgement->diagnosed)
        return;
    const fpo_diagnosis *d = &result->judgement->diagnosis;
    s->verdict = d->verdict;
    s->causes = (int)d->cause_count;
    for (size_t i = 0; i < d->cause_count; i++) {
        char parameters[256];
        size_t length = strlen(s->named);
        fpo_edit_parameters(&d->causes[i].edits[0], parameters, sizeof parameters);
        snprintf(s->named + length, sizeof s->named - length, "[%s %s]%s",
                 fpo_edit_describe(d->causes[i].edits[0].kind)->name, parameters,
                 d->causes[i].edit_count > 1 ? " and more" : "");
    }
}

static char *plant(const planted *f, const char *ptx)
{
    bool of_b = f->fragments_of == FPO_OPERAND_B;
    if (f->fragments_of == 0)
        return ptx_edited_until(ptx, &f->edit, f->until);
    int loads = 0;
    for (const char *p = strstr(ptx, FRAGMENT); p != NULL; p = strstr(p + 1, FRAGMENT))
        loads++;
    ck_assert_int_eq(loads % (OF_A + OF_B), 0);
    char *text = strdup(ptx);
    for (int first = 1; first <= loads; first += OF_A + OF_B) {
        ptx_edit edit = f->edit;
        edit.occurrence = of_b ? first + OF_A : first;
        char *next = ptx_edited_until(text, &edit, edit.occurrence + (of_b ? OF_B : OF_A) - 1);
        free(text);
        text = next;
    }
    return text;
}

static int line_of(const char *ptx, int mma)
{
    const char *at = strstr(ptx, MMA);
    for (int i = 1; i < mma; i++)
        at = strstr(at + 1, MMA);
    int line = 1;
    for (const char *p = ptx; p < at; p++)
        line += *p == '\n';
    return line;
}

static fpo_vector *problem_of(const planted *f)
{
    const subject *s = &subjects[f->subject];
    fpo_vector *vector = NULL;
    fpo_generate wanted = {
        .a = s->a, .b = s->b, .d = s->d, .m = f->m, .n = f->n, .k = f->k, .kind = FPO_DATA_GAUSSIAN, .seed = 7};
    ck_assert(fpo_generate_vector(&wanted, &vector, NULL) == FPO_OK);
    if (s->a == FPO_BLOCK_NVFP4)
        vector->problem.alpha = 0.3F;
    vector->spec.accumulation = fpo_model_by_name(s->model)->accumulation;
    return vector;
}

static void run_edited(const planted *f, seen *result)
{
    fpo_runner_options options = {.plugin = PLUGIN,
                                  .device = "virtual:sm120",
                                  .program = FPO_BINARY_DIR "/bin/fp4oracle",
                                  .time_limit = 200,
                                  .once = true,
                                  .judge = {.diagnose = true}};
    fpo_runner runner;
    fpo_error error;
    char name[64];
    fpo_vector *vector = problem_of(f);
    ck_assert_msg(fpo_runner_open(&runner, &options, &error) == FPO_OK, "%s", error.message);
    snprintf(name, sizeof name, "flashinfer/%s", subjects[f->subject].kernel);
    for (size_t i = 0; i < runner.plugin.count; i++)
        if (strcmp(runner.plugin.kernels[i].name, name) == 0)
            fpo_runner_run(&runner, &runner.plugin.kernels[i], vector, take, result);
    ck_assert_msg(fpo_runner_close(&runner, &error) == FPO_OK, "%s", error.message);
    fpo_vector_free(vector);
}

static void check(const planted *f, const char *ptx, const seen *s)
{
    char wanted[256];
    if (f->cause == NULL) {
        ck_assert_msg(s->outcome == FPO_OUTCOME_MATCH, "%s: %s", f->what, s->place);
        return;
    }
    ck_assert_msg(s->outcome == FPO_OUTCOME_MISMATCH, "%s: %s, %s", f->what, fpo_outcome_name(s->outcome), s->place);
    snprintf(wanted, sizeof wanted, "[%s]", f->cause);
    bool named = f->cause[0] != '\0' ? s->verdict == FPO_VERDICT_FAULT && strstr(s->named, wanted) != NULL
                                     : s->verdict == FPO_VERDICT_UNEXPLAINED && s->causes == 0;
    ck_assert_msg(named, "%s: %s is not named, but (%s): %s", f->what, wanted, fpo_verdict_name(s->verdict), s->named);
    ck_assert_msg(f->words == NULL || strstr(s->place, f->words) != NULL, "%s: `%s` is not in: %s", f->what, f->words,
                  s->place);
    if (f->mma > 0) {
        snprintf(wanted, sizeof wanted, "PTX line %d, ", line_of(ptx, f->mma));
        ck_assert_msg(strstr(s->place, wanted) != NULL, "%s: mma %d, %sis not in: %s", f->what, f->mma, wanted,
                      s->place);
    }
}

START_TEST(is_named)
{
    const planted *f = &faults[_i];
    char *ptx = ptx_of_library(PLUGIN, subjects[f->subject].word), *edited = plant(f, ptx);
    char path[] = "/tmp/fp4oracle_ptx_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fputs(edited, file);
    fclose(file);
    setenv("FP4ORACLE_VGPU_PTX", path, 1);
    seen result = {.outcome = FPO_OUTCOME_COUNT};
    run_edited(f, &result);
    unlink(path);
    free(ptx);
    if (getenv("FPO_SHOW") != NULL)
        printf("%s (%s): %s\n    %s\n", f->what, subjects[f->subject].kernel, result.named, result.place);
    check(f, edited, &result);
    free(edited);
}
END_TEST

Suite *fpo_suite(void)
{
    if (access(PLUGIN, R_OK) != 0) {
        printf("the plug-in flashinfer_sm120 is not built (tools/fetch_packages flashinfer-python; "
               "-DFPO_BUILD_KERNELS=ON)\n");
        exit(77);
    }
    Suite *suite = suite_create("vgpu_causes");
    TCase *tests = tcase_create("flashinfer");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, is_named, 0, sizeof faults / sizeof faults[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
