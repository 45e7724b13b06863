/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The vector paths of NVFP4 against the portable ones, which are checked against twin, MPFR and recorded rows: the same
 * bytes for every instruction set, over data that stays on the fast step and data that leaves it. */
#include "suite.h"

#include "exact.h"

#include <fp4oracle/fp4oracle.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CUT_GROUP: every odd step is one smallest product, which a C of the right size cuts away. */
typedef enum data_kind { UNIFORM, ORDINARY, CANCELLING, SPARSE, EXTREME, CUT_GROUP, DATA_KINDS } data_kind;

static uint32_t draw(uint64_t seed, uint64_t index)
{
    return (uint32_t)fpo_random_bits((fpo_random){seed, 5}, index);
}

/* Scale codes: all 256 of them (NaN and bit 7 included); those of ordinary layers; very small and very large ones. */
static uint8_t scale_code(data_kind kind, uint32_t bits)
{
    switch (kind) {
    case UNIFORM: return bits % 61 == 0 ? (uint8_t)(bits >> 8) : (uint8_t)(bits >> 8) & 0x3F;
    case SPARSE: return bits % 3 == 0 ? 0 : 0x50 + (bits >> 8) % 0x20;
    case EXTREME: return bits & 1 ? 0x7E - (bits >> 8) % 8 : (bits >> 8) % 16;
    default: return 0x60 + (bits >> 8) % 0x1F;
    }
}

static void fill_cut_group(uint64_t seed, int64_t rows, int64_t k, bool turned, uint8_t *codes, uint8_t *scales)
{
    int64_t row_bytes = (k + 1) / 2;
    int64_t blocks = (k + 15) / 16;
    for (int64_t i = 0; i < rows * row_bytes; i++) {
        bool odd = i % row_bytes / 32 % 2 == 1;
        if (odd)
            codes[i] = i % row_bytes % 32 == 0 ? (turned ? 0x09 : 0x01) : 0;
        else
            codes[i] = (uint8_t)(draw(seed, (uint64_t)i) >> 7) & 0x77;
    }
    for (int64_t i = 0; i < rows * blocks; i++) {
        bool odd = i % blocks / 4 % 2 == 1;
        scales[i] = (uint8_t)(odd ? 1 : 0x20 + i / blocks % 8 * 8 + draw(seed + 1, (uint64_t)i) % 8);
    }
}

/* The second half of K repeats the first with the signs of B turned: sums come back to (nearly) zero. */
static void fill(data_kind kind, uint64_t seed, int64_t rows, int64_t k, bool turned, uint8_t *codes, uint8_t *scales)
{
    int64_t row_bytes = (k + 1) / 2;
    int64_t blocks = (k + 15) / 16;
    if (kind == CUT_GROUP) {
        fill_cut_group(seed, rows, k, turned, codes, scales);
        return;
    }
    for (int64_t i = 0; i < rows * row_bytes; i++) {
        int64_t at = i % row_bytes;
        bool again = kind == CANCELLING && at >= row_bytes / 2 && k % 64 == 0;
        codes[i] = again ? codes[i - row_bytes / 2] ^ (turned ? 0x88 : 0) : (uint8_t)(draw(seed, (uint64_t)i) >> 7);
        if (kind == SPARSE && draw(seed, (uint64_t)i) % 5 != 0)
            codes[i] = 0;
    }
    for (int64_t i = 0; i < rows * blocks; i++) {
        int64_t at = i % blocks;
        bool again = kind == CANCELLING && at >= blocks / 2 && k % 64 == 0 && draw(seed, (uint64_t)i) % 50 != 0;
        scales[i] = again ? scales[i - blocks / 2] : scale_code(kind, draw(seed + 1, (uint64_t)i));
    }
}

typedef struct case_data {
    uint8_t *a, *b, *sa, *sb;
    fpo_gemm_problem problem;
} case_data;

static case_data make_case(data_kind kind, uint64_t seed, int64_t m, int64_t n, int64_t k)
{
    case_data c;
    size_t row_bytes = (size_t)(k + 1) / 2;
    size_t blocks = (size_t)(k + 15) / 16;
    c.a = malloc((size_t)m * row_bytes);
    c.b = malloc((size_t)n * row_bytes);
    c.sa = malloc((size_t)m * blocks);
    c.sb = malloc((size_t)n * blocks);
    ck_assert(c.a != NULL && c.b != NULL && c.sa != NULL && c.sb != NULL);
    fill(kind, seed, m, k, false, c.a, c.sa);
    fill(kind, kind == CANCELLING ? seed : seed + 100, n, k, true, c.b, c.sb);
    c.problem = (fpo_gemm_problem){.m = m,
                                   .n = n,
                                   .k = k,
                                   .a = {c.a, (size_t)m * row_bytes, c.sa, (size_t)m * blocks, 0.37f},
                                   .b = {c.b, (size_t)n * row_bytes, c.sb, (size_t)n * blocks, 1.0f},
                                   .alpha = seed % 2 == 0 ? 1.0f : -0.3f,
                                   .beta = 0.0f,
                                   .d_scale = 1.0f};
    return c;
}

static void free_case(case_data *c)
{
    free(c->a);
    free(c->b);
    free(c->sa);
    free(c->sb);
}

static void run(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, fpo_isa isa, int threads, void *d)
{
    fpo_error error = {FPO_OK, ""};
    fpo_gemm_output output = {.d = d, .d_bytes = fpo_output_bytes(spec, problem->m, problem->n)};
    fpo_execution execution = {.isa = isa, .threads = threads};
    ck_assert_msg(fpo_gemm(spec, problem, &output, &execution, &error) == FPO_OK, "%s", error.message);
}

static void same_on_every_isa(const fpo_model *model, fpo_format d, data_kind kind, uint64_t seed, int64_t m, int64_t n,
                              int64_t k)
{
    fpo_gemm_spec spec;
    case_data c = make_case(kind, seed, m, n, k);
    ck_assert(fpo_spec_init(&spec, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, model, d, NULL) == FPO_OK);
    size_t bytes = fpo_output_bytes(&spec, m, n);
    unsigned char *expected = malloc(bytes);
    unsigned char *observed = malloc(bytes);
    ck_assert(expected != NULL && observed != NULL);
    run(&spec, &c.problem, FPO_ISA_PORTABLE, 1, expected);
    for (int isa = FPO_ISA_AVX2; isa <= FPO_ISA_AVX512; isa++)
        for (int threads = 1; threads <= 3; threads += 2) {
            memset(observed, 0xA5, bytes);
            run(&spec, &c.problem, (fpo_isa)isa, threads, observed);
            fpo_comparison difference;
            fpo_compare(d, m, n, expected, observed, &difference);
            ck_assert_msg(memcmp(expected, observed, bytes) == 0,
                          "%s, data %d, %lld x %lld x %lld, isa %d: %lld differ, first (%lld, %lld) %08x not %08x",
                          model->name, (int)kind, (long long)m, (long long)n, (long long)k, isa,
                          (long long)difference.different, (long long)difference.first[0].row,
                          (long long)difference.first[0].column, difference.first[0].observed,
                          difference.first[0].expected);
        }
    free(expected);
    free(observed);
    free_case(&c);
}

static const int64_t shapes[][3] = {{1, 1, 1},    {3, 5, 17},    {4, 16, 64},   {5, 17, 130},
                                    {66, 70, 96}, {64, 64, 256}, {9, 33, 1024}, {70, 130, 77}};

START_TEST(exact_sums)
{
    static const fpo_format outputs[] = {FPO_F32, FPO_BF16, FPO_F16, FPO_E4M3};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        same_on_every_isa(fpo_model_by_name("exact"), outputs[s % 4], (data_kind)_i, s + 10, shapes[s][0], shapes[s][1],
                          shapes[s][2]);
}
END_TEST

/* Every model of the registry that takes NVFP4, and fraction bits on both sides of what the vector path serves. */
START_TEST(modelled_chains)
{
    for (size_t i = 0; fpo_model_at(i) != NULL; i++) {
        fpo_gemm_spec spec;
        const fpo_model *model = fpo_model_at(i);
        if (fpo_spec_init(&spec, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, model, FPO_F32, NULL) != FPO_OK ||
            !fpo_model_takes(model, &spec.a.read, &spec.b.read) || strcmp(model->name, "exact") == 0)
            continue;
        /* Models of the instruction itself on every shape, the rest on a few. */
        size_t stride = strstr(model->name, "mxf4nvf4") != NULL ? 1 : 4;
        for (size_t s = i % stride; s < sizeof shapes / sizeof *shapes; s += stride)
            same_on_every_isa(model, FPO_F32, (data_kind)_i, s + 20, shapes[s][0], shapes[s][1], shapes[s][2]);
    }
    for (int fraction_bits = 29; fraction_bits <= 37; fraction_bits++) {
        fpo_model model = *fpo_model_by_name("sm120_mxf4nvf4");
        model.accumulation.step.fraction_bits = (int16_t)fraction_bits;
        same_on_every_isa(&model, FPO_F32, (data_kind)_i, 30 + (uint64_t)fraction_bits, 66, 33, 192);
    }
}
END_TEST

__extension__ typedef unsigned __int128 wide_product;

/* Products that lie one unit above or below a tie of the result, 2^-69 or so away relative: no double tells them from
 * the tie. The quick epilogue must leave them to the exact one, or happen to be right. */
START_TEST(quick_epilogue_near_ties)
{
    int undecided = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        const int low_bits = 38 + (int)(i % 8); /* of the product, below the 24 bits of the result */
        uint64_t modulus = (uint64_t)1 << low_bits;
        uint64_t factor = (draw(77, i) & 0xFFFFFF) | 0x800001; /* odd, 24 bits: alpha's significand */
        uint64_t inverse = factor;
        for (int n = 0; n < 6; n++)
            inverse *= 2 - factor * inverse; /* Newton: modulo 2^64 */
        bool above = i & 8;
        uint64_t sum = (modulus / 2 + (above ? 1 : UINT64_MAX)) * inverse & (modulus - 1);
        wide_product product = (wide_product)sum * factor;
        int bits = 0;
        while (product >> bits != 0)
            bits++;
        if (bits != low_bits + 24)
            continue;
        uint32_t kept = (uint32_t)(product >> low_bits) + (above ? 1 : 0);
        uint32_t code;
        float expected = ldexpf((float)kept, low_bits - 20), result;
        fpo_quick_epilogue quick = {true, ldexp((double)factor, -20)};
        if (!fpo_quick_code(&quick, FPO_F32, (int64_t)sum, &code)) {
            undecided++;
            continue;
        }
        memcpy(&result, &code, sizeof result);
        ck_assert_msg(result == expected, "sum %llu times %llu", (unsigned long long)sum, (unsigned long long)factor);
    }
    ck_assert_int_gt(undecided, 100);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("instruction sets");
    TCase *cases = tcase_create("nvfp4");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, exact_sums, 0, DATA_KINDS);
    tcase_add_loop_test(cases, modelled_chains, 0, DATA_KINDS);
    tcase_add_test(cases, quick_epilogue_near_ties);
    suite_add_tcase(suite, cases);
    return suite;
}
