/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Instructions that no GPU here has run (sm_100 and up, or several threads'): each beside instructions that an H200 was
 * recorded to execute as the machine does (test_vgpu_rows), or plainer ones, which must give the same bits over all
 * pairs and triples of difficult numbers. */
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <vgpu.h>

enum { THREADS = 256, CTAS = 16, COUNT = THREADS * CTAS, IN = 4 };

/* f32 a, b, c and d; f16 h and k in their low halves; pairs ab and cd. What is compared: x and y. */
#define HEAD                                                                                                           \
    ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"          \
    ".shared .align 16 .b8 tile[4096];\n.reg .f32 a, b, c, d, x, y, t, u;\n.reg .b64 i, o, w, ab, cd, xy;\n"           \
    ".reg .b16 h, k;\n.reg .b32 n, m, lane, at, back, v, z;\n.reg .pred p, q;\nmov.u32 n, %ctaid.x;\n"                 \
    "mov.u32 m, %tid.x;\nand.b32 lane, m, 31;\nmad.lo.u32 n, n, 256, m;\nmul.wide.u32 w, n, 16;\n"                     \
    "ld.param.u64 i, [in];\nadd.s64 i, i, w;\nld.global.v4.f32 {a, b, c, d}, [i];\nmul.wide.u32 w, n, 8;\n"            \
    "ld.param.u64 o, [out];\nadd.s64 o, o, w;\nmov.b64 ab, {a, b};\nmov.b64 cd, {c, d};\nmov.b32 v, a;\n"              \
    "cvt.u16.u32 h, v;\nmov.b32 z, b;\ncvt.u16.u32 k, z;\nmov.f32 x, 0f00000000;\nmov.f32 y, x;\n"
#define TAIL "st.global.v2.f32 [o], {x, y};\nret;\n}\n"
#define PAIR "mov.b64 {x, y}, xy;\n"

#define PAIRS(op, mode)                                                                                                \
    {                                                                                                                  \
        op mode ".f32x2 xy, ab, cd;\n" PAIR, op mode ".f32 x, a, c;\n" op mode ".f32 y, b, d;\n"                       \
    }
#define THREE(op, mode)                                                                                                \
    {                                                                                                                  \
        op mode ".f32 x, a, b, c;\n" op mode ".abs.f32 y, b, c, d;\n", op mode                                         \
            ".f32 t, b, c;\n" op mode ".f32 x, a, t;\nabs.f32 t, b;\nabs.f32 u, c;\n" op mode ".f32 t, t, u;\n"        \
            "abs.f32 u, d;\n" op mode ".f32 y, t, u;\n"                                                                \
    }
#define MIXED(op, mode, type)                                                                                          \
    {                                                                                                                  \
        op mode ".f32." type " x, h, c;\n" op mode ".sat.f32." type " y, k, d;\n",                                     \
            "cvt.f32." type " t, h;\n" op mode ".f32 x, t, c;\ncvt.f32." type " t, k;\n" op mode ".sat.f32 y, t, d;\n" \
    }
#define FUSED(mode, type)                                                                                              \
    {                                                                                                                  \
        "fma" mode ".f32." type " x, h, k, c;\n"                                                                       \
        "fma" mode ".sat.f32." type " y, k, k, d;\n",                                                                  \
            "cvt.f32." type " t, h;\ncvt.f32." type " u, k;\nfma" mode ".f32 x, t, u, c;\nfma" mode                    \
            ".sat.f32 y, u, u, d;\n"                                                                                   \
    }
/* A reduction over all lanes by shuffles, each with all others' values in turn. */
#define STEP(op, by) "shfl.sync.bfly.b32 u, t, " by ", 31, -1;\n" op ".f32 t, t, u;\n"
#define REDUCE(op, form, before)                                                                                       \
    {                                                                                                                  \
        "redux.sync." form ".f32 x, a, -1;\n", "mov.f32 t, a;\n" before STEP(op, "1") STEP(op, "2") STEP(op, "4")      \
                                                   STEP(op, "8") STEP(op, "16") "mov.f32 x, t;\n"                      \
    }
#define SIZE "abs.f32 t, t;\n"
/* Counts over a CTA: each thread adds to a word of shared memory. */
#define COUNTED                                                                                                        \
    "setp.gt.f32 p, a, b;\nmov.u32 at, tile;\nmov.u32 z, 0;\nst.shared.u32 [at], z;\nbar.sync 0;\nselp.u32 z, 1, 0, "  \
    "p;\natom.shared.add.u32 v, [at], z;\nbar.sync 0;\nld.shared.u32 v, [at];\n"

static const struct {
    const char *with, *without;
} rows[] = {
    PAIRS("add", ""),
    PAIRS("add", ".rz.ftz"),
    PAIRS("add", ".rm"),
    PAIRS("sub", ""),
    PAIRS("sub", ".rp.ftz"),
    PAIRS("sub", ".rz"),
    PAIRS("mul", ".rn.ftz"),
    PAIRS("mul", ".rm"),
    PAIRS("mul", ".rp"),
    {"fma.rz.ftz.f32x2 xy, ab, cd, ab;\n" PAIR, "fma.rz.ftz.f32 x, a, c, a;\nfma.rz.ftz.f32 y, b, d, b;\n"},
    {"fma.rn.f32x2 xy, ab, cd, cd;\n" PAIR, "fma.rn.f32 x, a, c, c;\nfma.rn.f32 y, b, d, d;\n"},
    THREE("min", ""),
    THREE("min", ".ftz"),
    THREE("min", ".NaN"),
    THREE("max", ""),
    THREE("max", ".ftz.NaN"),
    MIXED("add", "", "f16"),
    MIXED("add", ".rz", "bf16"),
    MIXED("sub", ".rm", "f16"),
    MIXED("sub", "", "bf16"),
    FUSED(".rn", "f16"),
    FUSED(".rp", "bf16"),
    REDUCE("min", "min", ""),
    REDUCE("max", "max", ""),
    REDUCE("min.NaN", "min.NaN", ""),
    REDUCE("max", "max.abs", SIZE),
    REDUCE("max.NaN", "max.abs.NaN", SIZE),
    REDUCE("min", "min.abs", SIZE),
    {"setp.gt.f32 p, a, b;\nbarrier.cta.red.popc.u32 v, 0, p;\nmov.b32 x, v;\nbar.red.popc.u32 v, 3, 256, !p;\n"
     "mov.b32 y, v;\n",
     COUNTED "mov.b32 x, v;\nsub.u32 v, 256, v;\nmov.b32 y, v;\n"},
    {"setp.gt.f32 p, a, b;\nbar.red.or.pred q, 0, p;\nselp.f32 x, 0f3F800000, 0f00000000, q;\n"
     "bar.red.and.pred q, 1, p;\nselp.f32 y, 0f3F800000, 0f00000000, q;\n",
     COUNTED "setp.ne.u32 q, v, 0;\nselp.f32 x, 0f3F800000, 0f00000000, q;\nsetp.eq.u32 q, v, 256;\n"
             "selp.f32 y, 0f3F800000, 0f00000000, q;\n"},
    /* Through shared memory: rows are written, columns read. */
    {"movmatrix.sync.aligned.m8n8.trans.b16 v, v;\nmov.b32 x, v;\n",
     "mov.u32 at, tile;\nshl.b32 z, m, 4;\nand.b32 z, z, 3584;\nadd.u32 at, at, z;\nshl.b32 z, lane, 2;\nadd.u32 back, "
     "at, z;\nst.shared.b32 [back], v;\nbar.warp.sync -1;\nand.b32 z, lane, 7;\nshl.b32 z, z, 4;\nadd.u32 back, at, "
     "z;\n"
     "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {v}, [back];\nmov.b32 x, v;\n"},
    {"mov.u32 at, tile;\nshl.b32 z, m, 4;\nadd.u32 at, at, z;\nst.shared.v4.f32 [at], {a, b, c, d};\nbar.sync 0;\n"
     "ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {v, z}, [at];\nmov.b32 x, v;\nmov.b32 y, z;\n",
     "mov.u32 at, tile;\nshl.b32 z, m, 4;\nadd.u32 at, at, z;\nst.shared.v4.f32 [at], {a, b, c, d};\nbar.sync 0;\n"
     "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {v, z}, [at];\nmov.b32 x, v;\nmov.b32 y, z;\n"},
    /* Elements times their scales, to bf16 at once and by way of f32. */
    {"cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 v, h, k;\nmov.b32 x, v;\ncvt.rn.bf16x2.e5m2x2 v, k;\nmov.b32 y, v;\n",
     "{\n.reg .b16 lo, hi;\n.reg .f32 e, s, r, f;\ncvt.rn.f16x2.e4m3x2 v, h;\nmov.b32 {lo, hi}, v;\ncvt.f32.f16 e, "
     "lo;\n"
     "cvt.f32.f16 f, hi;\ncvt.rn.bf16x2.ue8m0x2 z, k;\nmov.b32 {lo, hi}, z;\ncvt.f32.bf16 s, lo;\nmul.f32 e, e, s;\n"
     "cvt.f32.bf16 s, hi;\nmul.f32 f, f, s;\ncvt.rn.bf16x2.f32 v, f, e;\nmov.b32 x, v;\ncvt.rn.f16x2.e5m2x2 v, k;\n"
     "mov.b32 {lo, hi}, v;\ncvt.f32.f16 e, lo;\ncvt.f32.f16 f, hi;\ncvt.rn.bf16x2.f32 v, f, e;\nmov.b32 y, v;\n}\n"},
    /* A copy with a policy, and with fewer bytes and a policy. */
    {"mov.u32 at, tile;\nshl.b32 z, m, 4;\nadd.u32 at, at, z;\ncreatepolicy.fractional.L2::evict_first.b64 w;\n"
     "cp.async.cg.shared.global.L2::cache_hint [at], [i], 16, w;\ncp.async.wait_all;\nld.shared.f32 x, [at+12];\n"
     "cp.async.cg.shared.global.L2::cache_hint.L2::128B [at], [i], 16, 4, w;\ncp.async.wait_all;\nld.shared.f32 y, "
     "[at+12];\n",
     "mov.f32 x, d;\n"},
};

/* Zeros, ends, subnormals, NaNs, numbers near 1 and near each other, and halves that are each of these as f16 and bf16.
 */
static uint32_t number(uint32_t i)
{
    static const uint32_t list[] = {0,          0x80000000, 0x3F800000, 0xBF800000, 0x3F800001, 0x7F800000,
                                    0xFF800000, 0x7FC00000, 0xFF812345, 1,          0x807FFFFF, 0x00800000,
                                    0x7F7FFFFF, 0xFF7FFFFF, 0x33800000, 0x4B000001, 0x3F003C00, 0x3C003F80,
                                    0x7C007F81, 0x04007BFF, 0xC2F68001, 0x34000000, 0x3EAAAAAB, 0x00000400};
    return list[i % (sizeof list / sizeof list[0])] + (i / 24 % 5 == 4 ? i : 0);
}

/* One CTA in four has positive numbers in `a`, one negative ones, so that all of its threads or none have a > b. */
static uint32_t input(uint32_t i, uint32_t k)
{
    uint32_t kind = i / THREADS % 4;
    if (k < 2 && kind != 0 && kind != 3)
        return k == 1 ? 0x3F000000 : (kind == 1 ? 0x40000000 : 0xC0000000) + i * 12345 % 0x700000;
    return number(k == 0 ? i : k == 1 ? i / 24 : k == 2 ? i / 7 + i / 576 : i * 5 + 3);
}

static void run(const char *body, uint64_t seed, uint32_t *out)
{
    static char text[8192];
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 100, .seed = seed};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, text, strlen(text), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s: %s", body, error.message);
    uint32_t *in = fpo_vgpu_allocate(gpu, COUNT * IN * sizeof *in),
             *result = fpo_vgpu_allocate(gpu, COUNT * 2 * sizeof *in);
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t k = 0; k < IN; k++)
            in[IN * i + k] = input(i, k);
    const void *arguments[] = {&in, &result};
    fpo_vgpu_launch launch = {.grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}, .arguments = arguments};
    ck_assert_msg(fpo_vgpu_run(function, &launch, NULL, &error) == FPO_OK, "%s: %s", body, error.message);
    memcpy(out, result, COUNT * 2 * sizeof *in);
    fpo_vgpu_free(gpu);
}

START_TEST(equal_to_plainer_ones)
{
    static uint32_t with[2 * COUNT], without[2 * COUNT];
    run(rows[_i].without, 0, without);
    size_t values = 0;
    for (size_t i = 2; i < 2 * COUNT; i++)
        values += without[i] != without[i - 2];
    ck_assert_msg(values > 4, "%s: all results are one value", rows[_i].with);
    for (uint64_t seed = 0; seed < 2; seed++) {
        run(rows[_i].with, seed, with);
        for (size_t i = 0; i < 2 * COUNT; i++)
            ck_assert_msg(with[i] == without[i], "%s, thread %zu: 0x%08x, not 0x%08x", rows[_i].with, i / 2, with[i],
                          without[i]);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_newer_rows");
    TCase *tests = tcase_create("rows");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, equal_to_plainer_ones, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
