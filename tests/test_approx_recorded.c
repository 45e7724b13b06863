/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Divisions and reciprocals against what tools/approx_on_gpu.cu recorded on an H200: digests of 16,384 quotients for
 * each pair of classes of operands (tests/data/h200/quotients.txt), and where lg2.approx rounds up (borders.txt). */
#include "mufu.h"
#include "recipe.h"
#include "suite.h"

#include <fp4oracle/cast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t n)
{
    n = (n + 1) * 0x9E3779B97F4A7C15u;
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
    n = (n ^ n >> 27) * 0x94D049BB133111EBu;
    return n ^ n >> 31;
}

static const char *const instructions[] = {"div.full.f32", "div.full.ftz.f32", "div.approx.f32", "div.approx.ftz.f32",
                                           "rcp.approx.f32"};
static const char *const classes[] = {"any",          "ordinary",      "subnormal", "tiny", "huge",
                                      "around_2^126", "around_2^-126", "special",   "short"};

static int place_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    ck_abort_msg("%s is not known", name);
    return -1;
}

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The generator of approx_on_gpu.cu. */
static float operand(int kind, uint64_t n)
{
    static const uint32_t special[16] = {0,          0x7F800000, 0x7FC00000, 0x7F800001, 0x3F800000, 0x40C00000,
                                         0x43E00000, 0x45280000, 0x7F7FFFFF, 0x00800000, 0x00000001, 0x007FFFFF,
                                         0x7E800000, 0x3E2AAAAB, 0x33D6BF95, 0x38D1B717};
    uint64_t noise = mix(n);
    uint32_t bits = (uint32_t)noise, sign = bits & 0x80000000, mantissa = bits & 0x7FFFFF,
             more = (uint32_t)(noise >> 32);
    switch (kind) {
    case 1: return from_bits(sign | (87 + more % 81) << 23 | mantissa);
    case 2: return from_bits(sign | mantissa);
    case 3: return from_bits(sign | (more & 3) << 23 | mantissa);
    case 4: return from_bits(sign | (250 + more % 6) << 23 | mantissa);
    case 5: return from_bits(sign | (0x7E800000 - 16 + (more & 31)));
    case 6: return from_bits(sign | (0x00800000 - 16 + (more & 31)));
    case 7: return from_bits(sign | special[more & 15]);
    case 8: return from_bits(sign | (87 + more % 81) << 23 | (mantissa & 0x780000));
    default: return from_bits(bits);
    }
}

static float result(int kind, float a, float b)
{
    return kind == 4 ? fpo_approx(FPO_MUFU_RCP, b, false) : fpo_div_approx(a, b, kind < 2, kind % 2 == 1);
}

static FILE *open_recorded(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/h200/%s", FPO_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    return file;
}

START_TEST(quotients)
{
    char line[256], instruction[32], a_class[32], b_class[32];
    unsigned long long digest, differing;
    int count = 0;
    FILE *file = open_recorded("quotients.txt");
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%31s %31s %31s %llx %llu", instruction, a_class, b_class, &digest, &differing) != 5 ||
            line[0] == '#')
            continue;
        int kind = place_of(instruction, instructions, 5), a = place_of(a_class, classes, 9),
            b = place_of(b_class, classes, 9);
        uint64_t seed = 0x51DE + ((uint64_t)kind << 48) + ((uint64_t)a << 40) + ((uint64_t)b << 36), sum = 0;
        for (uint64_t i = 0; i < 1 << 14; i++) {
            float y = result(kind, operand(a, seed + 2 * i), operand(b, seed + 2 * i + 1));
            uint32_t bits;
            memcpy(&bits, &y, sizeof bits);
            sum += mix(i << 32 | bits);
        }
        ck_assert_msg(sum == digest, "%s of %s and %s numbers: digest %016llx, the H200's is %016llx", instruction,
                      a_class, b_class, (unsigned long long)sum, digest);
        ck_assert_uint_eq(differing, 0);
        count++;
    }
    fclose(file);
    ck_assert_int_eq(count, 4 * 81 + 9);
}
END_TEST

static float rint_lg2(uint32_t exponent, uint32_t mantissa)
{
    fpo_recipe_step step = {.function = FPO_FN_RINT_LG2};
    return (float)fpo_recipe_apply(&step, (double)from_bits(exponent << 23 | mantissa), 0, 0);
}

/* The first mantissa of each exponent whose lg2.approx is at least, and is above, exponent + 1/2; from there on all
 * are. */
START_TEST(borders)
{
    static uint32_t from[255], above[255];
    static char line[8192];
    FILE *file = open_recorded("borders.txt");
    while (fgets(line, sizeof line, file) != NULL) {
        uint32_t *to = strncmp(line, "lg2_from_half ", 14) == 0    ? from
                       : strncmp(line, "lg2_above_half ", 15) == 0 ? above
                                                                   : NULL;
        unsigned exponent, mantissa;
        int fallen;
        for (char *at = strchr(line, ' '); to != NULL && at != NULL; at = strchr(at + 1, ' '))
            if (sscanf(at, " %u:%x:%d", &exponent, &mantissa, &fallen) == 3 && exponent < 255) {
                to[exponent] = mantissa;
                ck_assert_int_eq(fallen, 0);
            }
    }
    fclose(file);
    for (uint32_t e = 1; e < 255; e++) {
        float low = (float)e - 127, high = low + 1, tie = (e - 127) % 2 == 0 ? low : high;
        ck_assert_msg(rint_lg2(e, from[e] - 1) == low && rint_lg2(e, above[e]) == high, "exponent field %u", e);
        ck_assert(rint_lg2(e, 0) == low && rint_lg2(e, 0x7FFFFF) == high);
        for (uint32_t m = from[e]; m < above[e]; m++)
            ck_assert_msg(rint_lg2(e, m) == tie, "exponent field %u, mantissa %06x", e, m);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("approx_recorded");
    TCase *tests = tcase_create("H200");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, quotients);
    tcase_add_test(tests, borders);
    suite_add_tcase(suite, tests);
    return suite;
}
