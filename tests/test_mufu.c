/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The multi-function unit against digests of what an H200 returned for all 2^32 arguments (tests/data/h200/mufu.txt,
 * tools/mufu_on_gpu.cu): a sample of all signs and exponents, and all mantissas of exponents that between them use
 * every segment with every d. FPO_LONG=1 takes all 2^32 arguments of all instructions. */
#include "mufu.h"
#include "step.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANTISSAS = 1 << 23, EXPONENTS = 512, SAMPLE = 499 };

static uint64_t mix(uint64_t n)
{
    n = (n + 1) * 0x9E3779B97F4A7C15u;
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
    n = (n ^ n >> 27) * 0x94D049BB133111EBu;
    return n ^ n >> 31;
}

typedef struct instruction {
    fpo_mufu_function function;
    bool ftz, f16, bf16;
} instruction;

/* ex2.approx.ftz.f32 */
static instruction parse(const char *opcode)
{
    static const char *const names[] = {
#define FPO_MUFU(ID, name) #name,
#include "mufu.inc"
#undef FPO_MUFU
    };
    instruction ins = {FPO_MUFU_COUNT, strstr(opcode, ".ftz.") != NULL, strstr(opcode, ".f16") != NULL,
                       strstr(opcode, ".bf16") != NULL};
    for (int f = 0; f < FPO_MUFU_COUNT; f++)
        if (strlen(names[f]) == strcspn(opcode, ".") && strncmp(names[f], opcode, strlen(names[f])) == 0)
            ins.function = (fpo_mufu_function)f;
    ck_assert_msg(ins.function != FPO_MUFU_COUNT, "%s is not known", opcode);
    return ins;
}

static uint64_t digest_of(const instruction *ins, uint32_t x)
{
    float y = fpo_approx(ins->function, fpo_float_of_bits(x), ins->ftz);
    return mix((uint64_t)x << 32 | fpo_bits_of_float(y));
}

static uint64_t digest_of_exponent(const instruction *ins, uint32_t exponent)
{
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (uint32_t m = 0; m < MANTISSAS; m++)
        sum += digest_of(ins, exponent << 23 | m);
    return sum;
}

static uint64_t digest_of_sample(const instruction *ins)
{
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (uint32_t e = 0; e < EXPONENTS; e++)
        for (uint32_t m = 0; m < MANTISSAS; m += SAMPLE)
            sum += digest_of(ins, e << 23 | m);
    return sum;
}

static uint64_t digest_of_codes(const instruction *ins)
{
    uint64_t sum = 0;
    for (uint32_t x = 0; x < 1 << 16; x++) {
        uint16_t code = (uint16_t)x,
                 y = ins->bf16 ? fpo_approx_bf16(ins->function, code) : fpo_approx_f16(ins->function, code);
        sum += mix((uint64_t)x << 32 | y);
    }
    return sum;
}

/* In what follows the instructions without .ftz do the same as those with it. tanh has segments in all its exponents.
 */
static bool is_decisive(const instruction *ins, uint32_t exponent)
{
    switch (ins->function) {
    case FPO_MUFU_RCP:
    case FPO_MUFU_COS: return ins->ftz && exponent == 127;
    case FPO_MUFU_RSQRT:
    case FPO_MUFU_SQRT: return ins->ftz && (exponent == 127 || exponent == 128);
    case FPO_MUFU_LG2: return ins->ftz && (exponent == 126 || exponent == 127);
    case FPO_MUFU_EX2: return ins->ftz && (exponent == 127 || exponent == (256 | 126));
    case FPO_MUFU_SIN: return ins->ftz && (exponent == 126 || exponent == (256 | 127));
    case FPO_MUFU_TANH: return exponent >= 119 && exponent <= 129;
    default: return false;
    }
}

/* The digests' upper halves. */
static int compare(const char *opcode, const uint32_t *digests)
{
    instruction ins = parse(opcode);
    if (ins.f16 || ins.bf16) {
        ck_assert_msg((uint32_t)(digest_of_codes(&ins) >> 32) == digests[0], "%s", opcode);
        return 1;
    }
    bool all = getenv("FPO_LONG") != NULL;
    int compared = 0;
    for (uint32_t e = 0; e < EXPONENTS; e++) {
        if (!all && !is_decisive(&ins, e))
            continue;
        ck_assert_msg((uint32_t)(digest_of_exponent(&ins, e) >> 32) == digests[1 + e], "%s, sign %u, exponent field %u",
                      opcode, e >> 8, e & 0xFF);
        compared++;
    }
    ck_assert_msg((uint32_t)(digest_of_sample(&ins) >> 32) == digests[0], "%s: the sample", opcode);
    return compared;
}

START_TEST(recorded)
{
    static char line[8192];
    int lines = 0, exponents = 0;
    FILE *file = fopen(FPO_SOURCE_DIR "/tests/data/h200/mufu.txt", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#')
            continue;
        uint32_t digests[1 + EXPONENTS];
        int count = 0;
        char *opcode = strtok(line, " \n"), *word;
        while (count < 1 + EXPONENTS && (word = strtok(NULL, " \n")) != NULL)
            digests[count++] = (uint32_t)strtoul(word, NULL, 16);
        ck_assert_msg(count == (strstr(opcode, "f16") != NULL ? 1 : 1 + EXPONENTS), "%s", opcode);
        exponents += compare(opcode, digests);
        lines++;
    }
    fclose(file);
    printf("%d instructions, all mantissas of %d exponents or all codes\n", lines, exponents);
    ck_assert_int_eq(lines, 19);
    ck_assert_int_ge(exponents, 4 + 23);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("mufu");
    TCase *tests = tcase_create("H200");
    tcase_set_timeout(tests, 7200);
    tcase_add_test(tests, recorded);
    suite_add_tcase(suite, tests);
    return suite;
}
