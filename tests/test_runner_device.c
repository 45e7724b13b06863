/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Everything that a kernel can declare, and everything that a device can do, on a device that is none. */
#include "gemm_data.h"
#include "runner.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fpo_runner runner;
static const fpo_execution one_thread = {.threads = 1};

static fpo_status open_on(const char *device, fpo_error *error)
{
    fpo_runner_options options = {.plugin = FPO_BINARY_DIR "/lib/test_plugins/fake_device.so",
                                  .program = FPO_BINARY_DIR "/bin/fp4oracle",
                                  .device = device,
                                  .time_limit = 20,
                                  .judge = {.execution = &one_thread}};
    return fpo_runner_open(&runner, &options, error);
}

static void open_first(void)
{
    fpo_error error;
    ck_assert_msg(open_on(NULL, &error) == FPO_OK, "%s", error.message);
}

static void close_runner(void)
{
    fpo_error error;
    ck_assert_msg(fpo_runner_close(&runner, &error) == FPO_OK, "%s", error.message);
}

typedef struct seen {
    int results;
    struct {
        fpo_outcome outcome;
        char text[FPO_MESSAGE_SIZE], variant[64], model[64];
        bool golden;
        size_t models_tried;
    } result[4];
} seen;

static void take(void *context, const fpo_kernel_info *kernel, const fpo_run_result *result)
{
    seen *s = context;
    (void)kernel;
    ck_assert_int_lt(s->results, 4);
    s->result[s->results].outcome = result->outcome;
    snprintf(s->result[s->results].text, FPO_MESSAGE_SIZE, "%s", result->text);
    snprintf(s->result[s->results].variant, 64, "%s", result->variant);
    if (result->judged) {
        snprintf(s->result[s->results].model, 64, "%s", result->judgement->model);
        s->result[s->results].golden = result->judgement->golden;
        s->result[s->results].models_tried = result->judgement->models_tried;
    }
    s->results++;
}

static seen run(const char *name, const gemm_case *x)
{
    seen s = {0};
    fpo_vector vector = {.spec = x->spec, .problem = x->problem, .purpose = "", .data = ""};
    const fpo_kernel_info *kernel = fpo_plugin_info_find(&runner.plugin, name);
    ck_assert_msg(kernel != NULL, "there is no kernel %s", name);
    fpo_runner_run(&runner, kernel, &vector, take, &s);
    return s;
}

static gemm_case *mxfp8(int64_t m, int64_t n, int64_t k)
{
    gemm_random random = {{21, (uint64_t)(m * n)}, 0};
    gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, m, n, k, FPO_F32);
    gemm_data_fill(x, DATA_FINITE, &random);
    for (int64_t row = 0; row < m; row++) {
        gemm_case_fill_scales(x, SIDE_A, row, 120 + (uint32_t)row % 13);
    }
    for (int64_t row = 0; row < n; row++) {
        gemm_case_fill_scales(x, SIDE_B, row, 122 + (uint32_t)row % 9);
    }
    return x;
}

static void expect(const char *kernel, const gemm_case *x, fpo_outcome outcome, const char *text)
{
    seen s = run(kernel, x);
    ck_assert_int_eq(s.results, 1);
    ck_assert_msg(s.result[0].outcome == outcome, "%s: %s: %s", kernel, fpo_outcome_name(s.result[0].outcome),
                  s.result[0].text);
    ck_assert_msg(strstr(s.result[0].text, text) != NULL, "%s: %s", kernel, s.result[0].text);
}

START_TEST(declared_forms)
{
    gemm_case *x = mxfp8(21, 10, 96);
    expect("fake/mxfp8", x, FPO_OUTCOME_MATCH, "");
    expect("fake/mxfp8/workspace", x, FPO_OUTCOME_MATCH, "");
    gemm_case_add_c(x, FPO_F32);
    gemm_case_add_bias(x, FPO_F32, true);
    gemm_random random = {{22, 0}, 0};
    gemm_data_fill_epilogue(x, &random, 3);
    expect("fake/mxfp8/column", x, FPO_OUTCOME_MATCH, "");
    expect("fake/mxfp8", x, FPO_OUTCOME_UNSUPPORTED, "the kernel takes no alpha, the vector has");
    expect("fake/mxfp8/mn_major", x, FPO_OUTCOME_UNSUPPORTED, "the kernel takes C in none without beta");
    gemm_case_free(x);
    x = mxfp8(130, 7, 40);
    x->problem.alpha = 0.3f;
    expect("fake/mxfp8/mn_major", x, FPO_OUTCOME_MATCH, "");
    gemm_case_free(x);
}
END_TEST

START_TEST(scalars)
{
    gemm_random random = {{23, 0}, 0};
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 33, 9, 75, FPO_F32);
    gemm_data_fill(x, DATA_FINITE, &random);
    x->problem.alpha = 0.7f;
    x->problem.a.tensor_scale = 0.1f;
    x->problem.b.tensor_scale = 3.3f;
    expect("fake/nvfp4/folded", x, FPO_OUTCOME_MATCH, "");
    expect("fake/nvfp4/device_scales", x, FPO_OUTCOME_MATCH, "");
    gemm_case_free(x);
}
END_TEST

/* The kernel's own epilogue replaces the vector's; without it the bits would differ. */
START_TEST(epilogue_of_its_own)
{
    gemm_random random = {{24, 0}, 0};
    gemm_case *x = gemm_case_new(FPO_BLOCK_FP8_ROW, FPO_BLOCK_FP8_ROW, 24, 24, 64, FPO_F32);
    gemm_data_fill(x, DATA_FINITE, &random);
    for (int64_t row = 0; row < 24; row++) {
        union {
            float x;
            uint32_t bits;
        } a = {1.0f / (float)(3 + row)}, b = {1.0f / (float)(7 + row)};
        gemm_case_set_scale(x, SIDE_A, row, 0, a.bits);
        gemm_case_set_scale(x, SIDE_B, row, 0, b.bits);
    }
    x->problem.alpha = 0.7f;
    expect("fake/fp8_row/b_first", x, FPO_OUTCOME_MATCH, "");
    runner.plugin.kernels[fpo_plugin_info_find(&runner.plugin, "fake/fp8_row/b_first")->index].order.epilogue = NULL;
    seen s = run("fake/fp8_row/b_first", x);
    ck_assert_int_eq(s.result[0].outcome, FPO_OUTCOME_MATCH); /* what the variant says counts */
    gemm_case_free(x);
}
END_TEST

START_TEST(variants)
{
    gemm_case *x = mxfp8(12, 12, 160);
    seen s = run("fake/mxfp8/split", x);
    ck_assert_int_eq(s.results, 2);
    ck_assert_str_eq(s.result[0].variant, "split 1");
    ck_assert_str_eq(s.result[1].variant, "split 2");
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(s.result[i].outcome == FPO_OUTCOME_MATCH, "%s: %s", s.result[i].variant, s.result[i].text);
    }
    gemm_case_free(x);
}
END_TEST

START_TEST(models)
{
    gemm_case *x = mxfp8(16, 16, 160);
    seen s = run("fake/mxfp8/unknown_order", x);
    ck_assert_int_eq(s.result[0].outcome, FPO_OUTCOME_MATCH);
    ck_assert_str_eq(s.result[0].model, "fma_f32");
    ck_assert_uint_ge(s.result[0].models_tried, 2); /* found, not assumed: exact comes first */
    s = run("fake/mxfp8/two_models", x);
    ck_assert_str_eq(s.result[0].model, "fma_f32");
    ck_assert_uint_eq(s.result[0].models_tried, 2);
    runner.options.judge.model = fpo_model_by_name("exact");
    s = run("fake/mxfp8", x);
    ck_assert_int_eq(s.result[0].outcome, FPO_OUTCOME_MISMATCH);
    ck_assert_ptr_nonnull(strstr(s.result[0].text, "elements differ from exact"));
    gemm_case_free(x);
}
END_TEST

/* What the vector stores counts, if the kernel computes the same: a golden output is not computed again. */
START_TEST(golden)
{
    gemm_case *x = mxfp8(16, 16, 64);
    const fpo_model *model = fpo_model_by_name("fma_f32");
    x->spec.accumulation = model->accumulation;
    gemm_case_run(x, &one_thread);
    fpo_expected expected = {.model = "fma_f32",
                             .accumulation = model->accumulation,
                             .d = x->d,
                             .d_bytes = x->d_bytes,
                             .d_digest = fpo_digest_of(x->d, x->d_bytes)};
    fpo_vector vector = {.spec = x->spec, .problem = x->problem, .expected = &expected, .expected_count = 1};
    const fpo_kernel_info *kernel = fpo_plugin_info_find(&runner.plugin, "fake/mxfp8");
    seen s = {0};
    fpo_runner_run(&runner, kernel, &vector, take, &s);
    ck_assert_int_eq(s.result[0].outcome, FPO_OUTCOME_MATCH);
    ck_assert(s.result[0].golden);
    expected.d = NULL; /* the digest alone */
    fpo_runner_run(&runner, kernel, &vector, take, &s);
    ck_assert_int_eq(s.result[1].outcome, FPO_OUTCOME_MATCH);
    ck_assert(s.result[1].golden);
    expected.d = x->d;
    x->d[17] ^= 4; /* a golden output is believed */
    fpo_runner_run(&runner, kernel, &vector, take, &s);
    ck_assert_int_eq(s.result[2].outcome, FPO_OUTCOME_MISMATCH);
    gemm_case_free(x);
}
END_TEST

START_TEST(refusals)
{
    gemm_case *x = mxfp8(8, 12, 64);
    expect("fake/mxfp8/tiles", x, FPO_OUTCOME_UNSUPPORTED, "needs N to be a multiple of 8, it is 12");
    expect("fake/mxfp8/sm90", x, FPO_OUTCOME_UNSUPPORTED, "needs compute capability 9.0, the device has 12.0");
    expect("fake/mxfp8/strange_layout", x, FPO_OUTCOME_UNSUPPORTED, "A has the scale layout '17x5', which this runner");
    expect("fake/mxfp8/strange_element", x, FPO_OUTCOME_UNSUPPORTED, "B has the element format 'e9m9', which this");
    expect("fake/mxfp8/strange_epilogue", x, FPO_OUTCOME_UNSUPPORTED, "step 2 of the kernel's epilogue makes no sense");
    expect("fake/mxfp8/strange_model", x, FPO_OUTCOME_UNSUPPORTED, "the kernel's model is 'sm999_quantum'");
    gemm_case_free(x);
}
END_TEST

START_TEST(device_errors)
{
    gemm_case *x = mxfp8(8, 8, 64);
    expect("fake/mxfp8/illegal_access", x, FPO_OUTCOME_DEVICE_LOST,
           "an illegal memory access was encountered (sticky)");
    expect("fake/mxfp8", x, FPO_OUTCOME_MATCH, "");
    expect("fake/mxfp8/on_host", x, FPO_OUTCOME_CRASHED, "signal 11");
    expect("fake/mxfp8", x, FPO_OUTCOME_MATCH, "");
    gemm_case_free(x);
    x = mxfp8(9000, 9000, 32); /* D has 324 MB, the device 256 */
    expect("fake/mxfp8", x, FPO_OUTCOME_OUT_OF_MEMORY, "of 268435456 are free");
    gemm_case_free(x);
}
END_TEST

START_TEST(arithmetic_is_told)
{
    const char *native = fpo_runner_arithmetic(&runner, fpo_plugin_info_find(&runner.plugin, "fake/mxfp8"));
    const char *emulated =
        fpo_runner_arithmetic(&runner, fpo_plugin_info_find(&runner.plugin, "fake/mxfp8/retargeted"));
    ck_assert_str_eq(native, "the device's own matrix instructions");
    ck_assert_ptr_nonnull(strstr(emulated, "EMULATED"));
    fpo_runner_close(&runner, NULL);
    ck_assert_int_eq(open_on("gpu:2", NULL), FPO_OK);
    ck_assert_ptr_nonnull(
        strstr(fpo_runner_arithmetic(&runner, fpo_plugin_info_find(&runner.plugin, "fake/mxfp8/sm90")), "VIRTUAL"));
}
END_TEST

START_TEST(choice_of_device)
{
    const struct {
        const char *device, *message;
    } cases[] = {{"gpu:1", "gpu:1 cannot be used: its driver 1.1 is older than 1.2"},
                 {"gpu:3", "has no device 'gpu:3'; it has gpu:0 to gpu:2"},
                 {"gpu:", "has no device 'gpu:'"},
                 {"gpu:-1", "has no device"},
                 {"cpu", "has no device 'cpu'"},
                 {"gpu:0x1", "has no device"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fpo_error error;
        ck_assert_int_ne(open_on(cases[i].device, &error), FPO_OK);
        ck_assert_msg(strstr(error.message, cases[i].message) != NULL, "%s: %s", cases[i].device, error.message);
    }
    fpo_error error;
    ck_assert_int_eq(open_on("gpu:0", &error), FPO_OK);
    ck_assert_int_eq(fpo_runner_close(&runner, &error), FPO_OK);
    setenv("FAKE_NO_DEVICES", "1", 1);
    ck_assert_int_eq(open_on(NULL, &error), FPO_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.message, "fake_device has no device here: the fake driver is not loaded");
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("runner_device");
    TCase *tests = tcase_create("device"), *choice = tcase_create("choice");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, open_first, close_runner);
    tcase_add_test(tests, declared_forms);
    tcase_add_test(tests, scalars);
    tcase_add_test(tests, epilogue_of_its_own);
    tcase_add_test(tests, variants);
    tcase_add_test(tests, models);
    tcase_add_test(tests, golden);
    tcase_add_test(tests, refusals);
    tcase_add_test(tests, device_errors);
    tcase_add_test(tests, arithmetic_is_told);
    suite_add_tcase(suite, tests);
    tcase_add_test(choice, choice_of_device);
    suite_add_tcase(suite, choice);
    return suite;
}
