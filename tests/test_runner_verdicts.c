/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every way in which a kernel can go wrong is told from every other, and the next kernel runs as if nothing happened.
 */
#include "gemm_data.h"
#include "runner.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM FPO_BINARY_DIR "/bin/fp4oracle"
#define MISBEHAVE FPO_BINARY_DIR "/lib/test_plugins/misbehave.so"

static const struct {
    const char *kernel;
    fpo_outcome outcome;
    const char *text; /* in the reason */
    const char *log;  /* in what it printed; NULL: nothing */
} misdeeds[] = {
    {"behaves", FPO_OUTCOME_MATCH, "", NULL},
    {"speaks", FPO_OUTCOME_MATCH, "", NULL},
    {"crashes", FPO_OUTCOME_CRASHED, "ended by signal 11 (Segmentation fault)", NULL},
    {"aborts", FPO_OUTCOME_ABORTED, "ended by signal 6 (Aborted)", NULL},
    {"exits", FPO_OUTCOME_EXITED, "ended with exit status 5", NULL},
    {"exits_with_0", FPO_OUTCOME_EXITED, "ended with exit status 0", NULL},
    {"is_killed", FPO_OUTCOME_CRASHED, "ended by signal 9 (Killed)", NULL},
    {"hangs", FPO_OUTCOME_TIMED_OUT, "no answer within", NULL},
    {"closes_everything", FPO_OUTCOME_TIMED_OUT, "no answer within", NULL},
    {"last_words", FPO_OUTCOME_ABORTED, "signal 6", "kernel: assertion failed: tile_k == 128\n"},
    {"runs_out_of_memory", FPO_OUTCOME_OUT_OF_MEMORY, "no 137438953472 bytes on the device", NULL},
    {"wants_too_much", FPO_OUTCOME_OUT_OF_MEMORY, "bytes", NULL},
    {"fails", FPO_OUTCOME_FAILED, "launch failed: error 719", NULL},
    {"fails_in_silence", FPO_OUTCOME_FAILED, "no reason given", NULL},
    {"loses_the_device", FPO_OUTCOME_DEVICE_LOST, "an illegal memory access was encountered", NULL},
    {"is_unsupported", FPO_OUTCOME_UNSUPPORTED, "K = 96 is more than 16", NULL},
    {"is_unsupported_at_launch", FPO_OUTCOME_UNSUPPORTED, "no algorithm for 24 columns", NULL},
    {"misses_a_tile", FPO_OUTCOME_NEVER_WRITTEN,
     "240 of 960 elements were never written, within rows 20-39, columns 12-23", NULL},
    {"writes_nothing", FPO_OUTCOME_NEVER_WRITTEN, "nothing was written", NULL},
    {"writes_before", FPO_OUTCOME_OUT_OF_BOUNDS, "wrote 1 bytes before the start of D, the nearest 8 before it", NULL},
    {"writes_after", FPO_OUTCOME_OUT_OF_BOUNDS, "wrote 32 bytes beyond the end of D, the first at 16 bytes", NULL},
    {"writes_between_lines", FPO_OUTCOME_OUT_OF_BOUNDS,
     "wrote 1 bytes between two lines of D, the first at offset 100 (line 0, byte 100)", NULL},
    {"writes_workspace_end", FPO_OUTCOME_OUT_OF_BOUNDS, "wrote 1 bytes beyond the end of workspace", NULL},
    {"changes_input", FPO_OUTCOME_INPUT_CHANGED, "changed 1 bytes of B, which is an input, the first at offset 3",
     NULL},
    {"changes_scales", FPO_OUTCOME_INPUT_CHANGED, "changed 1 bytes of A's scales", NULL},
    {"one_bit_wrong", FPO_OUTCOME_MISMATCH, "1 of 960 elements differ from fma_f32", NULL},
    {"races", FPO_OUTCOME_NONDETERMINISTIC, "identical launches differ in 1 elements within rows 1-1, columns 2-2",
     NULL},
    {"reads_padding", FPO_OUTCOME_READS_PADDING,
     "filled with 38 instead of 00 changes the output in 1 elements within rows 0-0, columns 1-1", NULL},
    {"needs_numbers", FPO_OUTCOME_MATCH, "", NULL},
    {"needs_zeros", FPO_OUTCOME_MATCH, "", NULL},
    {"needs_numbers_in_silence", FPO_OUTCOME_READS_PADDING, "filled with FF instead of 00", NULL},
    {"needs_zeros_tells_less", FPO_OUTCOME_READS_PADDING, "filled with 38 instead of 00", NULL},
    {"reads_beyond_a", FPO_OUTCOME_READS_OUTSIDE,
     "depends on bytes outside its buffers, in 1 elements within rows 2-2, columns 0-0", NULL},
    {"reads_workspace", FPO_OUTCOME_READS_OUTPUT,
     "depends on what D and the workspace held before, in 1 elements within rows 1-1, columns 1-1", NULL},
    {"adds_to_output", FPO_OUTCOME_READS_OUTPUT, "within rows 1-1, columns 0-23", NULL},
    {"keeps_old_scales", FPO_OUTCOME_STALE_DATA, "after new data were put into the same buffers", NULL},
    {"keeps_first_scales", FPO_OUTCOME_STALE_DATA, "it keeps what it saw first", NULL},
    {"does_not_wait", FPO_OUTCOME_STALE_DATA, "right behind a launch with other data", NULL},
};
enum { MISDEEDS = sizeof misdeeds / sizeof misdeeds[0] };

typedef struct seen {
    int results;
    fpo_outcome outcome;
    char text[FPO_MESSAGE_SIZE], log[1024], model[64];
    fpo_comparison comparison;
} seen;

static void remember(void *context, const fpo_kernel_info *kernel, const fpo_run_result *result)
{
    seen *s = context;
    (void)kernel;
    s->results++;
    s->outcome = result->outcome;
    snprintf(s->text, sizeof s->text, "%s", result->text);
    snprintf(s->log, sizeof s->log, "%s", result->log);
    if (result->judged) {
        snprintf(s->model, sizeof s->model, "%s", result->judgement->model);
        s->comparison = result->judgement->comparison;
    }
}

static fpo_runner runner;
static gemm_case *small;

static void open_runner(void)
{
    fpo_runner_options options = {.plugin = MISBEHAVE, .program = PROGRAM, .time_limit = 2};
    fpo_error error;
    ck_assert_msg(fpo_runner_open(&runner, &options, &error) == FPO_OK, "%s", error.message);
    gemm_random random = {{5, 1}, 0};
    small = gemm_case_new(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, 40, 24, 96, FPO_F32);
    gemm_data_fill(small, DATA_FINITE, &random);
    for (int row = 0; row < 40; row++) { /* near 1, so that no product vanishes */
        gemm_case_fill_scales(small, SIDE_A, row, 120 + (uint32_t)row % 11);
        gemm_case_fill_scales(small, SIDE_B, row % 24, 118 + (uint32_t)row % 7);
    }
}

static void close_runner(void)
{
    fpo_error error;
    gemm_case_free(small);
    ck_assert_msg(fpo_runner_close(&runner, &error) == FPO_OK, "%s", error.message);
}

static seen run(const char *name)
{
    seen s = {0};
    fpo_vector vector = {.spec = small->spec, .problem = small->problem, .purpose = "", .data = ""};
    const fpo_kernel_info *kernel = fpo_plugin_info_find(&runner.plugin, name);
    ck_assert_msg(kernel != NULL, "there is no kernel %s", name);
    fpo_runner_run(&runner, kernel, &vector, remember, &s);
    ck_assert_int_eq(s.results, 1);
    return s;
}

static void check(size_t i)
{
    seen s = run(misdeeds[i].kernel);
    ck_assert_msg(s.outcome == misdeeds[i].outcome, "%s: %s (%s), not %s", misdeeds[i].kernel,
                  fpo_outcome_name(s.outcome), s.text, fpo_outcome_name(misdeeds[i].outcome));
    ck_assert_msg(strstr(s.text, misdeeds[i].text) != NULL, "%s: %s", misdeeds[i].kernel, s.text);
    ck_assert_msg(misdeeds[i].log == NULL || strcmp(s.log, misdeeds[i].log) == 0, "%s printed: %s", misdeeds[i].kernel,
                  s.log);
}

START_TEST(each_alone)
{
    check((size_t)_i);
}
END_TEST

/* In one runner, a right kernel after each: it must not suffer. */
START_TEST(all_in_a_row)
{
    for (size_t i = 0; i < MISDEEDS; i++) {
        if (misdeeds[i].outcome != FPO_OUTCOME_TIMED_OUT) {
            check(i);
            seen s = run("behaves");
            ck_assert_msg(s.outcome == FPO_OUTCOME_MATCH, "after %s: %s", misdeeds[i].kernel, s.text);
            ck_assert_str_eq(s.model, "fma_f32");
        }
    }
}
END_TEST

/* The list above has them all. */
START_TEST(none_is_forgotten)
{
    for (size_t i = 0; i < runner.plugin.count; i++) {
        bool found = false;
        for (size_t j = 0; j < MISDEEDS; j++) {
            found = found || strcmp(runner.plugin.kernels[i].name, misdeeds[j].kernel) == 0;
        }
        ck_assert_msg(found, "%s is not tested", runner.plugin.kernels[i].name);
    }
}
END_TEST

/* A kernel that keeps what it saw with another vector is right when it is run alone. */
START_TEST(wrong_only_after_others)
{
    seen s = run("keeps_old_scales");
    ck_assert_int_eq(s.outcome, FPO_OUTCOME_STALE_DATA);
    fpo_child_stop(&runner.child, true);
    runner.running = false;
    runner.options.once = true;
    s = run("keeps_first_scales");
    ck_assert_int_eq(s.outcome, FPO_OUTCOME_MATCH); /* one launch cannot tell */
    gemm_case_fill_scales(small, SIDE_B, 3, 127);
    s = run("keeps_first_scales");
    ck_assert_int_eq(s.outcome, FPO_OUTCOME_STALE_DATA);
    ck_assert_ptr_nonnull(strstr(s.text, "right in a process of its own"));
    s = run("one_bit_wrong"); /* is wrong in any process */
    ck_assert_int_eq(s.outcome, FPO_OUTCOME_MISMATCH);
}
END_TEST

START_TEST(one_bit_is_located)
{
    seen s = run("one_bit_wrong");
    ck_assert_int_eq(s.comparison.different, 1);
    ck_assert_int_eq(s.comparison.first[0].row, 1);
    ck_assert_int_eq(s.comparison.first[0].column, 2);
    ck_assert_int_eq(s.comparison.first[0].expected ^ s.comparison.first[0].observed, 1);
}
END_TEST

START_TEST(all_zero_is_not_stale)
{
    for (int64_t row = 0; row < 40; row++) {
        gemm_case_fill_row(small, SIDE_A, row, 0);
    }
    ck_assert_int_eq(run("behaves").outcome, FPO_OUTCOME_MATCH);
    ck_assert_int_eq(run("keeps_old_scales").outcome, FPO_OUTCOME_MATCH); /* nobody could tell */
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("runner_verdicts");
    TCase *tests = tcase_create("verdicts");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, open_runner, close_runner);
    tcase_add_loop_test(tests, each_alone, 0, MISDEEDS);
    tcase_add_test(tests, all_in_a_row);
    tcase_add_test(tests, none_is_forgotten);
    tcase_add_test(tests, wrong_only_after_others);
    tcase_add_test(tests, one_bit_is_located);
    tcase_add_test(tests, all_zero_is_not_stale);
    suite_add_tcase(suite, tests);
    return suite;
}
