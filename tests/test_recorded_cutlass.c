/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Whole FP8 GEMMs of CUTLASS and DeepGEMM on an H200, by the digest of their output (tests/data/cutlass/PROVENANCE).
 * The operands are made again by the generator that made them there. FPO_LONG=1 runs all 270, otherwise those of up to
 * 128 x 128 x 128, and one long one of each kernel. */
#include "gemm_case.h"
#include "suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    char kernel[32], kind[8], element[8], output[8];
    long m, n, k;
    int data;
    uint64_t digest;
} run;

/* Kinds of data of the recording. */
enum { RANDOM_CODES, SMALL_INTEGERS, LADDERS, BLOCK_CANCELLATION, SPECIALS };

static const long shapes[][3] = {{128, 128, 128}, {256, 256, 256}, {200, 264, 320}, {128, 128, 4096}, {512, 768, 2048}};

/* ---- the generator ---- */

typedef struct generator {
    uint64_t state;
    bool e5m2; /* A; B is e4m3 */
    long m, n, k;
    uint8_t *a, *b;
} generator;

static uint32_t next(generator *g)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)(g->state >> 16);
}

static bool special(bool e5m2, uint8_t code)
{
    return e5m2 ? (code & 0x7C) == 0x7C : (code & 0x7F) == 0x7F;
}

static uint8_t finite_code(generator *g, bool e5m2)
{
    uint8_t code;
    do
        code = (uint8_t)(next(g) >> 3);
    while (special(e5m2, code));
    return code;
}

static uint8_t mostly_finite_code(generator *g, bool e5m2)
{
    uint8_t code = (uint8_t)(next(g) >> 3);
    if (special(e5m2, code) && next(g) % 64 != 0)
        code ^= 0x50;
    return code;
}

static uint8_t integer(bool e5m2, int value)
{
    return (uint8_t)fpo_encode_double(e5m2 ? FPO_E5M2 : FPO_E4M3, value, fpo_cast_describe(FPO_CAST_PTX));
}

/* Exponents that walk with k; the partner of an element in K carries the negated product, but for a unit now and then.
 */
static void make_ladders(generator *g)
{
    int mantissa = g->e5m2 ? 2 : 3, exponents = g->e5m2 ? 30 : 15;
    for (long n = 0; n < g->n; n++)
        for (long k = 0; k < g->k; k++)
            g->b[n * g->k + k] = (uint8_t)(((k / 2 * 5 + n * 3) % 15 + 1) << 3 | (next(g) & 7)) & 0x7F;
    for (long i = 0; i < g->n * g->k; i++)
        g->b[i] ^= special(false, g->b[i]) ? 1 : 0;
    for (long m = 0; m < g->m; m++)
        for (long k = 0; k < g->k; k++) {
            long exponent = 1 + (k / 2 * 7 + m * 11 + k / 64) % exponents;
            uint8_t code = (uint8_t)(exponent << mantissa | (next(g) & ((1u << mantissa) - 1)));
            if (special(g->e5m2, code))
                code = g->e5m2 ? code & ~4 : code ^ 1;
            g->a[m * g->k + k] = code;
        }
    for (long k = 0; k < g->k; k++) {
        long apart = k / 128 % 2 != 0 ? 32 : 1;
        if ((k & apart) == 0)
            continue;
        for (long n = 0; n < g->n; n++)
            g->b[n * g->k + k] = g->b[n * g->k + k - apart];
        for (long m = 0; m < g->m; m++) {
            uint8_t code = g->a[m * g->k + k - apart] ^ 0x80;
            if ((next(g) & 3) == 0)
                code ^= 1;
            if (!g->e5m2 && special(false, code))
                code ^= 2;
            g->a[m * g->k + k] = code;
        }
    }
}

/* Odd blocks of 128 undo the block before, but for one element of A. */
static void make_block_cancellation(generator *g)
{
    for (long k = 128; k < g->k; k++) {
        if (k / 128 % 2 == 0)
            continue;
        for (long m = 0; m < g->m; m++)
            g->a[m * g->k + k] = g->a[m * g->k + k - 128] ^ 0x80;
        for (long n = 0; n < g->n; n++)
            g->b[n * g->k + k] = g->b[n * g->k + k - 128];
    }
    for (long m = 0; m < g->m; m++)
        g->a[m * g->k + 7] = integer(g->e5m2, 1);
}

static void make_operands(generator *g, int data)
{
    if (data == SMALL_INTEGERS) {
        for (long i = 0; i < g->m * g->k; i++)
            g->a[i] = integer(g->e5m2, (int)(next(g) % 7) - 3);
        for (long i = 0; i < g->n * g->k; i++)
            g->b[i] = integer(false, (int)(next(g) % 7) - 3);
        return;
    }
    if (data >= LADDERS) /* the others below follow it in the stream of random numbers */
        make_ladders(g);
    if (data == LADDERS)
        return;
    for (long i = 0; i < g->m * g->k; i++)
        g->a[i] = data == SPECIALS ? mostly_finite_code(g, g->e5m2) : finite_code(g, g->e5m2);
    for (long i = 0; i < g->n * g->k; i++)
        g->b[i] = data == SPECIALS ? mostly_finite_code(g, false) : finite_code(g, false);
    if (data == BLOCK_CANCELLATION)
        make_block_cancellation(g);
}

static uint32_t scale(generator *g, int data)
{
    if (data == SMALL_INTEGERS)
        return (127 - 4 + next(g) % 9) << 23;
    uint32_t field = 127 - 10 + next(g) % 17;
    uint32_t bits = field << 23 | (next(g) & 0x7FFFFF);
    return data == LADDERS && (next(g) & 1) != 0 ? bits | 0x80000000 : bits;
}

/* rows x blocks scales each; with block cancellation those of odd blocks are within 3 units of those before. */
static void make_scales(generator *g, int data, long blocks, uint32_t *sa, long a_rows, uint32_t *sb, long b_rows)
{
    for (long i = 0; i < a_rows * blocks; i++)
        sa[i] = scale(g, data);
    for (long i = 0; i < b_rows * blocks; i++)
        sb[i] = scale(g, data);
    for (long k = 1; k < blocks && data == BLOCK_CANCELLATION; k += 2) {
        for (long m = 0; m < a_rows; m++)
            sa[m * blocks + k] = sa[m * blocks + k - 1] + next(g) % 7 - 3;
        for (long n = 0; n < b_rows; n++)
            sb[n * blocks + k] = sb[n * blocks + k - 1] + next(g) % 7 - 3;
    }
}

/* ---- the runs ---- */

static const char *model_name(const run *r)
{
    if (strcmp(r->kind, "fast") == 0)
        return "sm90_wgmma_fp8";
    return strcmp(r->kind, "plain") == 0 ? "sm90_fp8_promote128" : "sm90_fp8_blockwise";
}

static bool block_scaled(const run *r)
{
    return strcmp(r->kind, "bw") == 0 || strcmp(r->kind, "dg") == 0;
}

static gemm_case *load(const run *r)
{
    bool e5m2 = strcmp(r->element, "e5m2") == 0, scaled = block_scaled(r);
    fpo_block_format a = scaled ? e5m2 ? FPO_BLOCK_FP8_E5M2_1X128 : FPO_BLOCK_FP8_1X128
                         : e5m2 ? FPO_BLOCK_PLAIN_E5M2
                                : FPO_BLOCK_PLAIN_E4M3;
    gemm_case *x = gemm_case_new(a, scaled ? FPO_BLOCK_FP8_128X128 : FPO_BLOCK_PLAIN_E4M3, r->m, r->n, r->k,
                                 strcmp(r->output, "bf16") == 0 ? FPO_BF16 : FPO_F32);
    uint64_t shape = 0;
    while (shapes[shape][0] != r->m || shapes[shape][1] != r->n || shapes[shape][2] != r->k)
        shape++;
    generator g = {.e5m2 = e5m2, .m = r->m, .n = r->n, .k = r->k, .a = x->codes[SIDE_A], .b = x->codes[SIDE_B]};
    g.state = UINT64_C(88172645463325252) + shape * 1000003 + (uint64_t)r->data * 7919 + (e5m2 ? 31 : 0);
    for (int i = 0; i < 20; i++)
        next(&g);
    make_operands(&g, r->data);
    if (scaled)
        make_scales(&g, r->data, (r->k + 127) / 128, (uint32_t *)(void *)x->scales[SIDE_A], r->m,
                    (uint32_t *)(void *)x->scales[SIDE_B], (r->n + 127) / 128);
    x->problem.alpha = strcmp(r->kind, "dg") == 0 ? 1.0f : 0.3f;
    return x;
}

static bool reproduced(const run *r, const char *model)
{
    gemm_case *x = load(r);
    x->spec.accumulation = fpo_model_by_name(model)->accumulation;
    const fpo_epilogue_info *program = fpo_epilogue_describe(FPO_EPILOGUE_CUTLASS);
    memcpy(x->spec.epilogue.steps, program->steps, sizeof program->steps);
    gemm_case_run(x, NULL);
    uint64_t digest = UINT64_C(1469598103934665603);
    for (size_t i = 0; i < x->d_bytes; i++)
        digest = (digest ^ x->d[i]) * UINT64_C(1099511628211);
    gemm_case_free(x);
    return digest == r->digest;
}

static bool wanted(const run *r)
{
    return getenv("FPO_LONG") != NULL || r->m * r->n * r->k <= 128 * 128 * 128 ||
           (r->k == 320 && r->data == BLOCK_CANCELLATION);
}

START_TEST(test_runs)
{
    FILE *file = fopen(FPO_SOURCE_DIR "/tests/data/cutlass/gemm_hashes_h200.txt", "r");
    ck_assert_ptr_nonnull(file);
    run r;
    int runs = 0, lines = 0;
    int64_t outputs = 0;
    while (fscanf(file, "%31s %7s %7s %7s %ldx%ldx%ld data %d %" SCNx64, r.kernel, r.kind, r.element, r.output, &r.m,
                  &r.n, &r.k, &r.data, &r.digest) == 9) {
        lines++;
        if (!wanted(&r))
            continue;
        ck_assert_msg(reproduced(&r, model_name(&r)), "%s %s %s %ldx%ldx%ld data %d: another output under %s", r.kernel,
                      r.element, r.output, r.m, r.n, r.k, r.data, model_name(&r));
        runs++;
        outputs += r.m * r.n;
    }
    fclose(file);
    printf("%d of %d runs, %lld outputs: the recorded bytes\n", runs, lines, (long long)outputs);
    ck_assert_int_eq(lines, 270);
    ck_assert_int_ge(runs, 78);
}
END_TEST

/* The digests tell the entries apart: no other accumulation gives them, nor the other kinds of scaling. */
START_TEST(test_others_fail)
{
    static const struct {
        run r;
        const char *model;
    } others[] = {
        {{"e4f", "plain", "e4m3", "f32", 256, 256, 256, LADDERS, 0x5ec0fbd9e542337c}, "sm90_wgmma_fp8"},
        {{"e4f", "plain", "e4m3", "f32", 256, 256, 256, LADDERS, 0x5ec0fbd9e542337c}, "sm89_fp8_promote128"},
        {{"e4f", "plain", "e4m3", "f32", 256, 256, 256, LADDERS, 0x5ec0fbd9e542337c}, "sm120_fp8_promote128"},
    };
    ck_assert(reproduced(&others[0].r, "sm90_fp8_promote128"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(!reproduced(&others[i].r, others[i].model), "%s too", others[i].model);
    FILE *file = fopen(FPO_SOURCE_DIR "/tests/data/cutlass/gemm_hashes_h200.txt", "r");
    ck_assert_ptr_nonnull(file);
    run r;
    int checked = 0;
    while (fscanf(file, "%31s %7s %7s %7s %ldx%ldx%ld data %d %" SCNx64, r.kernel, r.kind, r.element, r.output, &r.m,
                  &r.n, &r.k, &r.data, &r.digest) == 9) {
        if (strcmp(r.kind, "bw") != 0 || strcmp(r.output, "f32") != 0 || r.k != 128 || r.data != RANDOM_CODES)
            continue;
        ck_assert(!reproduced(&r, "sm90_fp8_blockwise_b_then_a"));
        ck_assert(!reproduced(&r, "sm90_fp8_blockwise_a_then_b"));
        ck_assert(reproduced(&r, "sm90_fp8_blockwise"));
        checked++;
    }
    fclose(file);
    ck_assert_int_eq(checked, 2);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recorded CUTLASS");
    TCase *c = tcase_create("runs");
    tcase_add_test(c, test_runs);
    tcase_add_test(c, test_others_fail);
    suite_add_tcase(suite, c);
    return suite;
}
