/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The PTX front end: scopes, declarations, refusals that name what they refuse, registers that nothing defines, and the
 * table of instructions itself. */
#include "describe.h"
#include "ptx.h"
#include "row_text.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 9.4\n.target sm_120a\n.address_size 64\n"

/* Wraps statements into a kernel; the first statement stands on line 6. */
static fpo_status decode_body(const char *body, fpo_ptx_module **module, fpo_ptx_kernel **kernel, fpo_error *error)
{
    char text[4096];
    int length = snprintf(text, sizeof text,
                          HEAD ".visible .entry k(.param .u64 a, .param .align 4 .b8 b[12])\n{\n%s\n}\n", body);
    ck_assert_int_lt(length, (int)sizeof text);
    fpo_status status = fpo_ptx_module_load(text, (size_t)length, module, error);
    if (status != FPO_OK)
        return status;
    status = fpo_ptx_kernel_decode(*module, "k", kernel, error);
    if (status != FPO_OK)
        fpo_ptx_module_free(*module);
    return status;
}

static void accept(const char *body, uint32_t instructions, uint32_t undefined)
{
    fpo_ptx_module *module;
    fpo_ptx_kernel *kernel;
    fpo_error error;
    fpo_status status = decode_body(body, &module, &kernel, &error);
    ck_assert_msg(status == FPO_OK, "%s", error.message);
    ck_assert_uint_eq(kernel->code_count, instructions + 1); /* and the exit at the end */
    ck_assert_uint_eq(kernel->undefined_count, undefined);
    fpo_ptx_kernel_free(kernel);
    fpo_ptx_module_free(module);
}

/* The message must have all of `words`. */
static void refuse(const char *body, const char *words)
{
    fpo_ptx_module *module;
    fpo_ptx_kernel *kernel;
    fpo_error error;
    ck_assert_int_ne(decode_body(body, &module, &kernel, &error), FPO_OK);
    char copy[256];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, "|"); word != NULL; word = strtok(NULL, "|"))
        ck_assert_msg(strstr(error.message, word) != NULL, "`%s` is not in: %s", word, error.message);
}

START_TEST(scopes)
{
    accept(
        ".reg .b32 %r<3>; mov.u32 %r1, 1; { .reg .pred p; setp.eq.u32 p, %r1, 1; @p bra DONE; mov.u32 %r2, 2; DONE: }"
        "{ .reg .pred p; setp.ne.u32 p, %r1, 2; @!p bra DONE; mov.u32 %r2, 3; DONE: } ret;",
        8, 0);
    accept(".reg.b32 x; mov.b32 x, 5; { .reg.pred p; setp.eq.u32 p, x, 1; }", 2, 0);
    refuse(".reg.b33 x;", "registers of type `.b33`|line 6");
    accept(".reg .b32 x; mov.b32 x, 5; { .reg .b64 x; mov.b64 x, 5; } add.s32 x, x, 1;", 3, 0);
    refuse("{ .reg .pred p; setp.eq.u32 p, 1, 1; } @p bra OUT; OUT:", "line 6|p");
    refuse("{ IN: } bra IN;", "no label IN|line 6");
    refuse("A: A: ret;", "label A is there twice");
}
END_TEST

START_TEST(exact_rows)
{
    accept(".reg .b16 h<4>; mov.b16 h1, 3; mul.hi.u16 h2, h1, h1; mul.lo.u16 h3, h1, h2;", 3, 0);
    refuse(".reg .f64 d<3>; mov.f64 d1, 0d3FF0000000000000; add.ftz.f64 d2, d1, d1;", "add.ftz.f64|line 6|kernel k");
    refuse(".reg .f32 f<3>; mov.f32 f1, 0f3F800000;\nadd.sat.ftz.f32 f2, f1, f1;", "add.sat.ftz.f32|line 7|kernel k");
    refuse("tcgen05.mma.sp.cta_group::1.kind::f16;", "tcgen05.mma.sp.cta_group::1.kind::f16");
    refuse(".reg .b32 r<3>; add.s32 r2, 1;", "add.s32|operand 3 is missing");
    refuse(".reg .b32 r<3>; add.s32 r2, 1, 2, 3;", "too many");
    refuse(".reg .b32 r<3>; .reg .b64 d; mov.b64 d, 1; add.s32 r2, d, 2;", "add.s32|8 bytes");
    refuse(".reg .f32 f<3>; add.f32 f2, 1, 2;", "add.f32|a number stands where f32 is wanted");
    accept(".reg .f32 f<3>; .reg .b64 d; ld.param.u64 d, [a]; mov.f32 f1, 0f3F800000; atom.global.gpu.acq_rel.add.f32 "
           "f2, [d], f1; "
           "red.global.sys.relaxed.add.noftz.bf16x2 [d], 1;",
           4, 0);
    refuse(".reg .b32 r; mov.u32 r, %pm0;", "%pm0");
    accept(".reg .b32 r; mov.u32 r, %clock;", 2, 0);
    refuse(".reg .b32 r; mov.u32 r, nowhere;", "nowhere");
    accept(".reg .b32 r; .reg .b64 d; ld.param.u64 d, [a]; ld.param.u32 r, [b+8]; cvt.u64.u32 d, %tid.x; "
           "ld.global.v4.f32 {r, _, _, r}, [d+-16];",
           4, 0);
}
END_TEST

START_TEST(undefined_registers)
{
    accept(".reg .b32 r<4>; mov.u32 r1, 1; add.s32 r2, r1, r3;", 2, 1);
    /* A guarded definition leaves the other lanes undefined. */
    accept(".reg .b32 r<4>; .reg .pred p; setp.eq.u32 p, %tid.x, 1; @p mov.u32 r1, 1; add.s32 r2, r1, r1;", 3, 1);
    /* Defined on one path only. */
    accept(".reg .b32 r<4>; .reg .pred p; setp.eq.u32 p, %tid.x, 1; @p bra L; mov.u32 r1, 1; L: add.s32 r2, r1, r1;", 4,
           1);
    fpo_ptx_module *module;
    fpo_ptx_kernel *kernel;
    fpo_error error;
    ck_assert_int_eq(decode_body(".reg .b32 %r<9>;\nadd.s32 %r7, %r8, 1;", &module, &kernel, &error), FPO_OK);
    ck_assert_uint_eq(kernel->undefined_count, 1);
    ck_assert_str_eq(kernel->undefined[0].name, "%r8");
    ck_assert_uint_eq(kernel->undefined[0].line, 7);
    ck_assert(kernel->undefined[0].never);
    fpo_ptx_kernel_free(kernel);
    fpo_ptx_module_free(module);
}
END_TEST

START_TEST(declarations)
{
    static const char text[] = HEAD ".file 1 \"x.cu\"\n.global .align 4 .u32 table[3] = {1, 0x20, -1};\n"
                                    ".const .align 8 .f64 pi = 0d400921FB54442D18;\n"
                                    ".extern .shared .align 128 .b8 dynamic[];\n.func helper() { ret; }\n"
                                    ".entry one(.param .u8 a, .param .u64 b, .param .align 64 .b8 c[128])\n"
                                    ".maxntid 384, 1, 1\n.minnctapersm 1\n{ .shared .align 8 .b8 fixed[24]; "
                                    ".loc 1 2 3\n ret; }\n.section .debug_info { .b8 1 }\n.entry two() { ret; }\n";
    fpo_ptx_module *module;
    fpo_error error;
    ck_assert_msg(fpo_ptx_module_load(text, sizeof text, &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_uint_eq(fpo_ptx_kernel_count(module), 2);
    ck_assert_str_eq(fpo_ptx_target(module), "sm_120a");
    ck_assert_str_eq(fpo_ptx_kernel_name(module, 1), "two");
    uint32_t table[3];
    ck_assert_int_eq(fpo_ptx_variable_initialise(fpo_ptx_variable_at(module, 0), (uint8_t *)table, &error), FPO_OK);
    ck_assert_uint_eq(table[1], 0x20);
    ck_assert_uint_eq(table[2], 0xFFFFFFFF);
    double pi;
    ck_assert_int_eq(fpo_ptx_variable_initialise(fpo_ptx_variable_at(module, 1), (uint8_t *)&pi, &error), FPO_OK);
    ck_assert(pi == 0x1.921fb54442d18p1);
    fpo_ptx_kernel *kernel;
    ck_assert_msg(fpo_ptx_kernel_decode(module, "one", &kernel, &error) == FPO_OK, "%s", error.message);
    ck_assert_uint_eq(kernel->params[1].offset, 8);
    ck_assert_uint_eq(kernel->params[2].offset, 64);
    ck_assert_uint_eq(kernel->param_bytes, 192);
    ck_assert_uint_eq(kernel->max_threads, 384);
    ck_assert_uint_eq(kernel->shared_bytes, 24);
    ck_assert_uint_eq(kernel->shared_align, 128);
    fpo_ptx_kernel_free(kernel);
    ck_assert_int_eq(fpo_ptx_kernel_decode(module, "three", &kernel, &error), FPO_ERR_ARGUMENT);
    fpo_ptx_module_free(module);
}
END_TEST

/* Truncated and damaged text ends with an error or a module, never otherwise. */
/* Directives have their effect or are refused by name; what is skipped changes no result. */
static const struct {
    const char *text, *says; /* NULL: taken */
} directives[] = {
    {".target sm_90a, debug\n.address_size 64\n.entry k() { ret; }", NULL},
    {".target sm_90a, texmode_independent\n.entry k() { ret; }", NULL},
    {".target sm_90a, map_f64_to_f32\n.entry k() { ret; }", "target option `map_f64_to_f32`"},
    {".target sm_90a\n.address_size 32\n.entry k() { ret; }", "addresses of 32 bits"},
    {".target sm_90a\n.pragma \"nounroll\";\n.entry k() .maxnreg 64 .minnctapersm 2 { .pragma \"nounroll\"; ret; }",
     NULL},
    {".target sm_90a\n.alias a, b;\n.entry k() { ret; }", "directive `.alias`"},
    {".target sm_90a\n.entry k() .maxthreads 3 { ret; }", "kernel k: directive `.maxthreads`"},
    {".target sm_90a\n.entry k() .blocksareclusters { ret; }", ".blocksareclusters without .reqntid"},
    {".target sm_90a\n.entry k() .reqntid 32 .reqnctapercluster 2 .blocksareclusters { ret; }", NULL},
    {".target sm_90a\n.func f() .noreturn;\n.func g() .abi_preserve 8 .unique { ret; }\n.entry k() { ret; }", NULL},
    {".target sm_90a\n.func f() .inline { ret; }\n.entry k() { ret; }", "function f: directive `.inline`"},
    {".target sm_90a\n.entry k(.param .u64 .ptr .global .align 16 a) { ret; }", NULL},
    {".target sm_90a\n.entry k(.param .u64 .ptr .noalias a) { ret; }", "the name of a variable expected at `.noalias`"},
    {".target sm_90a\n.global .attribute(.managed) .b32 x;\n.entry k() { ret; }", "`.attribute`"},
    {".target sm_90a\n.entry k() { P: .callprototype _ (.param .b32 a); ret; }", "directive `.callprototype`"},
    {".target sm_90a\n.entry k() { .reg .v4 .f32 x; ret; }", "registers of type `.v4`"},
};

START_TEST(every_directive_counts)
{
    char text[512];
    snprintf(text, sizeof text, ".version 9.0\n%s\n", directives[_i].text);
    fpo_ptx_module *module;
    fpo_ptx_kernel *kernel = NULL;
    fpo_error error = {FPO_OK, ""};
    fpo_status status = fpo_ptx_module_load(text, strlen(text), &module, &error);
    if (status == FPO_OK) {
        status = fpo_ptx_kernel_decode(module, "k", &kernel, &error);
        fpo_ptx_kernel_free(kernel);
        fpo_ptx_module_free(module);
    }
    ck_assert_msg((status == FPO_OK) == (directives[_i].says == NULL), "%s: %s", text, error.message);
    ck_assert_msg(directives[_i].says == NULL || strstr(error.message, directives[_i].says) != NULL,
                  "`%s` is not in: %s", directives[_i].says, error.message);
}
END_TEST

START_TEST(damaged_text)
{
    static const char text[] =
        HEAD ".global .b8 g[4] = {1,2};\n.visible .entry k(.param .u64 a)\n{ .reg .b32 %r<3>; "
             "{ mov.b32 %r1, {%rs1, 0}; } @%p1 bra L; L: ld.global.v2.f32 {%r1, %r2}, [%rd1+4]; }\n";
    char copy[sizeof text];
    for (size_t cut = 0; cut < sizeof text; cut++) {
        for (int replacement = 0; replacement < 4; replacement++) {
            memcpy(copy, text, sizeof text);
            size_t length = sizeof text - 1;
            if (replacement == 0)
                length = cut;
            else
                copy[cut] = "{\"]"[replacement - 1];
            fpo_ptx_module *module;
            fpo_ptx_kernel *kernel;
            fpo_error error = {FPO_OK, ""};
            if (fpo_ptx_module_load(copy, length, &module, &error) == FPO_OK) {
                if (fpo_ptx_kernel_count(module) > 0 &&
                    fpo_ptx_kernel_decode(module, fpo_ptx_kernel_name(module, 0), &kernel, &error) == FPO_OK)
                    fpo_ptx_kernel_free(kernel);
                else if (fpo_ptx_kernel_count(module) > 0)
                    ck_assert_uint_gt(strlen(error.message), 0);
                fpo_ptx_module_free(module);
            } else {
                ck_assert_uint_gt(strlen(error.message), 0);
            }
        }
    }
}
END_TEST

/* No opcode may be in two rows with equal operands: the first would hide the second. */
START_TEST(rows_are_distinct)
{
    for (size_t f = 0; f < fpo_ptx_family_count(); f++) {
        const fpo_ptx_family *family = fpo_ptx_family_at(f);
        for (size_t r = 0; r < family->count; r++) {
            const fpo_ptx_row *row = &family->rows[r];
            fpo_row_groups groups, other_groups;
            ck_assert_msg(fpo_row_parse_groups(row->pattern, &groups), "%s", row->pattern);
            int first[FPO_ROW_GROUPS] = {0}, last[FPO_ROW_GROUPS], choice[FPO_ROW_GROUPS];
            for (int g = 0; g < groups.count; g++)
                last[g] = groups.size[g] - 1;
            char opcode[FPO_ROW_TEXT], end[FPO_ROW_TEXT];
            char *texts[] = {opcode, end};
            /* The pattern's first and last opcodes, written by putting the groups' names into it. */
            for (int k = 0; k < 2; k++) {
                char *out = texts[k];
                int g = 0;
                for (const char *p = row->pattern; *p != '\0'; p++) {
                    if (*p != '{') {
                        *out++ = *p;
                        continue;
                    }
                    const fpo_row_choice *c = &groups.choices[g][k == 0 ? first[g] : last[g]];
                    memcpy(out, c->name, c->name_length);
                    out += c->name_length;
                    g++;
                    p = strchr(p, '}');
                }
                *out = '\0';
                ck_assert_msg(fpo_row_match(row->pattern, &groups, texts[k], choice), "%s", texts[k]);
                for (size_t q = r + 1; q < family->count; q++) {
                    const fpo_ptx_row *other = &family->rows[q];
                    if (fpo_row_parse_groups(other->pattern, &other_groups) &&
                        fpo_row_match(other->pattern, &other_groups, texts[k], choice))
                        ck_assert_msg(strcmp(row->operands, other->operands) != 0, "%s twice: %s", texts[k],
                                      row->operands);
                }
            }
        }
    }
    ck_assert_uint_gt(fpo_ptx_count_instructions(), 10000);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("ptx");
    TCase *tests = tcase_create("ptx");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, scopes);
    tcase_add_test(tests, exact_rows);
    tcase_add_test(tests, undefined_registers);
    tcase_add_test(tests, declarations);
    tcase_add_loop_test(tests, every_directive_counts, 0, sizeof directives / sizeof directives[0]);
    tcase_add_test(tests, damaged_text);
    tcase_add_test(tests, rows_are_distinct);
    suite_add_tcase(suite, tests);
    return suite;
}
