/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Functions, branches by index, clocks, printf and assertions, as compilers write them. */
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <vgpu.h>

static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".global .align 1 .b8 format[20] = {120,61,37,100,32,121,61,37,46,50,102,32,37,115,10};\n"
                           ".global .align 1 .b8 word[4] = {111,107};\n"
                           ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                           ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
                           ".param .b64 e) .noreturn;\n";

/* square(x) = x * x; sum(x, n) = x^2 + (x + 1)^2 + ... of n terms, 7 for n = 0; swap gives two words back in a struct.
 */
static const char functions[] =
    ".func (.param .b32 ret0) square(.param .b32 square_0)\n{\n.reg .b32 %r<4>; ld.param.u32 %r1, [square_0]; "
    "mul.lo.u32 "
    "%r2, %r1, %r1; st.param.b32 [ret0+0], %r2; ret;\n}\n"
    ".func (.param .b32 ret0) sum(.param .b32 sum_0, .param .b32 sum_1)\n{\n.reg .b32 %r<9>; .reg .pred %p<3>; "
    "ld.param.u32 %r1, [sum_0]; ld.param.u32 %r2, [sum_1]; mov.u32 %r3, 0; setp.ne.u32 %p1, %r2, 0; @%p1 bra LOOP; "
    "mov.u32 %r4, 7; st.param.b32 [ret0+0], %r4; ret;\n"
    "LOOP: { .param .b32 param0; .param .b32 retval0; st.param.b32 [param0+0], %r1; call.uni (retval0), square, "
    "(param0); ld.param.b32 %r5, [retval0+0]; }\n"
    "add.u32 %r3, %r3, %r5; add.u32 %r1, %r1, 1; sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra LOOP; "
    "st.param.b32 [ret0+0], %r3; ret;\n}\n"
    ".func (.param .align 8 .b8 ret0[8]) swap(.param .align 8 .b8 swap_0[8])\n{\n.reg .b32 %r<4>; ld.param.v2.u32 "
    "{%r1, "
    "%r2}, [swap_0]; st.param.v2.b32 [ret0], {%r2, %r1}; ret;\n}\n";

static fpo_status run(const char *body, uint32_t *out, uint64_t instructions, fpo_error *error)
{
    static char text[16384];
    snprintf(text, sizeof text, "%s%s.visible .entry k(.param .u64 out)\n{\n%s\nret;\n}\n", head, functions, body);
    fpo_vgpu_config config = {.capability = 90, .max_instructions = instructions};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function = NULL;
    *error = (fpo_error){FPO_OK, ""};
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, error), FPO_OK);
    uint32_t *memory = fpo_vgpu_allocate(gpu, 4096);
    memset(memory, 0, 4096);
    const void *arguments[] = {&memory};
    fpo_vgpu_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .arguments = arguments};
    fpo_status status = fpo_vgpu_load(gpu, text, strlen(text), &module, error);
    if (status == FPO_OK)
        status = fpo_vgpu_get_function(module, "k", &function, error);
    if (status == FPO_OK)
        status = fpo_vgpu_run(function, &launch, NULL, error);
    memcpy(out, memory, 4096);
    fpo_vgpu_free(gpu);
    return status;
}

#define PLACE                                                                                                          \
    ".reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<9>; .reg .f64 %fd<3>; ld.param.u64 %rd1, [out]; mov.u32 %r1, "  \
    "%tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"

START_TEST(calls)
{
    /* Lanes call with different arguments; the odd ones call twice, under a guard. */
    static const char body[] =
        PLACE "and.b32 %r2, %r1, 3; { .param .b32 param0; .param .b32 param1; .param .b32 retval0; st.param.b32 "
              "[param0+0], %r1; st.param.b32 [param1+0], %r2; call.uni (retval0), sum, (param0, param1); ld.param.b32 "
              "%r3, [retval0+0]; }\n"
              "and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 1; { .param .b32 param0; .param .b32 retval0; st.param.b32 "
              "[param0], %r1; st.param.b32 [retval0], %r1; @%p1 call (retval0), square, (param0); ld.param.b32 %r5, "
              "[retval0+0]; }\n"
              "{ .param .align 8 .b8 param0[8]; .param .align 8 .b8 retval0[8]; st.param.v2.b32 [param0], {%r3, %r5}; "
              "call.uni (retval0), swap, (param0); ld.param.v2.b32 {%r6, %r7}, [retval0+0]; }\n"
              "st.global.u32 [%rd3], %r7; st.global.u32 [%rd3+128], %r6;\n";
    uint32_t out[1024];
    fpo_error error;
    ck_assert_msg(run(body, out, 0, &error) == FPO_OK, "%s", error.message);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t sum = i % 4 == 0 ? 7 : 0;
        for (uint32_t k = 0; k < i % 4; k++)
            sum += (i + k) * (i + k);
        ck_assert_uint_eq(out[i], sum);
        ck_assert_uint_eq(out[32 + i], i % 2 == 1 ? i * i : i);
    }
}
END_TEST

START_TEST(branch_lists)
{
    static const char body[] = PLACE
        "and.b32 %r2, %r1, 3; LIST: .branchtargets A, B, C, A; brx.idx %r2, LIST;\n"
        "A: mov.u32 %r3, 100; bra STORE; B: mov.u32 %r3, 200; bra STORE; C: mov.u32 %r3, 300; STORE: st.global.u32 "
        "[%rd3], %r3;\n";
    uint32_t out[1024];
    fpo_error error;
    ck_assert_msg(run(body, out, 0, &error) == FPO_OK, "%s", error.message);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(out[i], i % 4 == 1 ? 200 : i % 4 == 2 ? 300 : 100);
}
END_TEST

/* A loop that waits for a time ends, and clocks do not go back. */
START_TEST(clocks)
{
    static const char body[] = PLACE
        "mov.u64 %rd4, %clock64; mov.u32 %r5, %clock; LOOP: mov.u64 %rd5, %globaltimer; sub.u64 %rd6, %rd5, %rd4; "
        "setp.lt.u64 %p1, %rd6, 100000; @%p1 bra LOOP;\n"
        "mov.u32 %r6, %clock; sub.u32 %r7, %r6, %r5; st.global.u32 [%rd3], %r7;\n";
    uint32_t out[1024];
    fpo_error error;
    ck_assert_msg(run(body, out, 1000000, &error) == FPO_OK, "%s", error.message);
    ck_assert_uint_ge(out[0], 100000);
    ck_assert_uint_eq(out[0], out[31]);
}
END_TEST

START_TEST(messages)
{
    static const char print[] =
        PLACE ".local .align 8 .b8 values[24]; setp.ne.u32 %p1, %r1, 0; @%p1 ret; mov.u64 %rd4, values; cvta.local.u64 "
              "%rd5, %rd4; mov.u32 %r2, -5; st.local.u32 [%rd4], %r2; mov.f64 %fd1, 0d4004000000000000; st.local.f64 "
              "[%rd4+8], %fd1;\n"
              "mov.u64 %rd6, word; cvta.global.u64 %rd6, %rd6; st.local.u64 [%rd4+16], %rd6; mov.u64 %rd7, format; "
              "cvta.global.u64 %rd7, %rd7;\n"
              "{ .param .b64 param0; st.param.b64 [param0+0], %rd7; .param .b64 param1; st.param.b64 [param1+0], %rd5; "
              ".param .b32 retval0; call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r3, [retval0+0]; }\n";
    static const char assertion[] = PLACE
        "mov.u64 %rd6, word; cvta.global.u64 %rd6, %rd6; mov.u32 %r2, 42; mov.u64 %rd7, 1;\n"
        "{ .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4; st.param.b64 [p0], %rd6; "
        "st.param.b64 [p1], %rd6; st.param.b32 [p2], %r2; st.param.b64 [p3], %rd6; st.param.b64 [p4], %rd7; "
        "call.uni __assertfail, (p0, p1, p2, p3, p4); }\n";
    uint32_t out[1024];
    fpo_error error;
    char text[64] = "";
    int saved = dup(1), pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    fflush(stdout);
    dup2(pipes[1], 1);
    fpo_status status = run(print, out, 0, &error);
    fflush(stdout);
    dup2(saved, 1);
    close(pipes[1]);
    ssize_t length = status == FPO_OK ? read(pipes[0], text, sizeof text - 1) : 0;
    close(pipes[0]);
    close(saved);
    ck_assert_msg(status == FPO_OK, "%s", error.message);
    ck_assert_int_gt((int)length, 0);
    ck_assert_str_eq(text, "x=-5 y=2.50 ok\n");
    ck_assert_int_eq(run(assertion, out, 0, &error), FPO_ERR_KERNEL);
    ck_assert_msg(strstr(error.message, "assertion `ok` failed, ok:42") != NULL, "%s", error.message);
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"{ .param .b32 p; call.uni (p), malloc, (p); }", "a call of malloc, which the module does not have"},
        {"{ .param .b64 p; call.uni (p), square, (p); }", "a call of square with other parameters than it has"},
        {".reg .b64 %rd<2>; { .param .b32 p; mov.u64 %rd1, square; call.uni (p), %rd1, (p), proto; }",
         "square is neither"},
        {".reg .b32 %r<2>; brx.idx %r1, NOWHERE;", "brx.idx  with `NOWHERE`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t out[1024];
        fpo_error error;
        ck_assert_int_eq(run(cases[i].body, out, 0, &error), i == 1 ? FPO_ERR_FILE : FPO_ERR_UNSUPPORTED);
        ck_assert_msg(strstr(error.message, cases[i].says) != NULL, "case %zu: %s", i, error.message);
    }
    fpo_error error;
    fpo_vgpu_config config = {.capability = 90};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    static const char endless[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.func f();\n.func f() { call.uni f; ret; }\n"
        ".visible .entry k() { call.uni f; ret; }\n";
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_int_eq(fpo_vgpu_load(gpu, endless, strlen(endless), &module, &error), FPO_OK);
    ck_assert_int_eq(fpo_vgpu_get_function(module, "k", &function, &error), FPO_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(error.message, "recursion") != NULL, "%s", error.message);
    fpo_vgpu_free(gpu);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_call");
    TCase *tests = tcase_create("call");
    tcase_add_test(tests, calls);
    tcase_add_test(tests, branch_lists);
    tcase_add_test(tests, clocks);
    tcase_add_test(tests, messages);
    tcase_add_test(tests, refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
