/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Element packings against what each is in words: which bits of which byte hold code k. */
#include "suite.h"

#include <fp4oracle/layout.h>
#include <stdlib.h>
#include <string.h>

/* Bits are numbered through a row, byte by byte from the low end. */
typedef int64_t place(int64_t k);

static int64_t low_first(int64_t k)
{
    return 4 * k;
}

static int64_t high_first(int64_t k)
{
    return k / 2 * 8 + (k % 2 == 0 ? 4 : 0);
}

static int64_t ggml32(int64_t k)
{
    return (k / 32 * 16 + k % 16) * 8 + (k % 32 < 16 ? 0 : 4);
}

static int64_t ggml16(int64_t k)
{
    return (k / 16 * 8 + k % 8) * 8 + (k % 16 < 8 ? 0 : 4);
}

static int64_t ggml32_blocks(int64_t k)
{
    return (k / 32 * 17 + 1 + k % 16) * 8 + (k % 32 < 16 ? 0 : 4);
}

static int64_t ggml16_blocks(int64_t k)
{
    return (k / 64 * 36 + 4 + k % 64 / 16 * 8 + k % 8) * 8 + (k % 16 < 8 ? 0 : 4);
}

static int64_t dense6(int64_t k)
{
    return 6 * k;
}

static int64_t padded6(int64_t k)
{
    return k / 16 * 128 + k % 16 * 6;
}

static int64_t padded4(int64_t k)
{
    return k / 16 * 128 + k % 16 * 4;
}

static int64_t byte_low(int64_t k)
{
    return 8 * k;
}

static int64_t byte_shifted(int64_t k)
{
    return 8 * k + 2;
}

static const struct {
    fpo_packing packing;
    fpo_format format;
    place *bit;
    int64_t group, bytes; /* codes and bytes of a group */
} packings[] = {
    {FPO_PACKING_CANONICAL, FPO_E2M1, low_first, 2, 1},
    {FPO_PACKING_CANONICAL, FPO_E2M3, byte_low, 1, 1},
    {FPO_PACKING_CANONICAL, FPO_E4M3, byte_low, 1, 1},
    {FPO_PACKING_NIBBLES_SWAPPED, FPO_E2M1, high_first, 2, 1},
    {FPO_PACKING_GGML_MXFP4, FPO_E2M1, ggml32, 32, 16},
    {FPO_PACKING_GGML_NVFP4, FPO_E2M1, ggml16, 16, 8},
    {FPO_PACKING_GGML_MXFP4_BLOCKS, FPO_E2M1, ggml32_blocks, 32, 17},
    {FPO_PACKING_GGML_NVFP4_BLOCKS, FPO_E2M1, ggml16_blocks, 64, 36},
    {FPO_PACKING_FP6_DENSE, FPO_E2M3, dense6, 4, 3},
    {FPO_PACKING_FP6_DENSE, FPO_E3M2, dense6, 4, 3},
    {FPO_PACKING_FP6_16_PADDED, FPO_E3M2, padded6, 16, 16},
    {FPO_PACKING_FP4_16_PADDED, FPO_E2M1, padded4, 16, 16},
    {FPO_PACKING_FP4_BYTES, FPO_E2M1, byte_low, 1, 1},
    {FPO_PACKING_FP4_BYTES_SHIFTED, FPO_E2M1, byte_shifted, 1, 1},
    {FPO_PACKING_FP4_BYTES_SHIFTED, FPO_E5M2, byte_low, 1, 1}, /* other widths as they are */
};

START_TEST(places)
{
    fpo_packing packing = packings[_i].packing;
    fpo_format format = packings[_i].format;
    int bits = fpo_format_describe(format)->bits;
    for (int64_t k = 1; k <= 130; k++) {
        int64_t bytes = (k + packings[_i].group - 1) / packings[_i].group * packings[_i].bytes;
        ck_assert_int_eq(fpo_packing_row_bytes(packing, format, k), bytes);
        uint8_t codes[130], expected[300] = {0}, got[300], back[130];
        for (int64_t i = 0; i < k; i++) {
            codes[i] = (uint8_t)(((uint64_t)(i + k) * 0x9E3779B97F4A7C15u >> 33) & ((1u << bits) - 1));
            for (int b = 0; b < bits; b++) {
                int64_t bit = packings[_i].bit(i) + b;
                expected[bit / 8] |= (uint8_t)((codes[i] >> b & 1) << bit % 8);
            }
        }
        memset(got, 0xEE, sizeof got);
        fpo_pack_row(packing, format, k, codes, got);
        ck_assert_msg(memcmp(expected, got, (size_t)bytes) == 0, "%s of %lld %s codes", fpo_packing_name(packing),
                      (long long)k, fpo_format_describe(format)->name);
        ck_assert_uint_eq(got[bytes], 0xEE);
        fpo_unpack_row(packing, format, k, got, back);
        ck_assert_mem_eq(codes, back, (size_t)k);
    }
}
END_TEST

/* A packing that is added to the registry needs a description above. */
START_TEST(all_described)
{
    for (int packing = 0; packing < FPO_PACKING_COUNT; packing++) {
        bool found = false;
        for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
            found |= (int)packings[i].packing == packing;
        ck_assert_msg(found, "%s has no independent description", fpo_packing_name((fpo_packing)packing));
    }
}
END_TEST

/* Padding is not read, and bits beyond a code are not packed. */
START_TEST(stray_bits)
{
    uint8_t packed[16], codes[16];
    memset(packed, 0xFF, sizeof packed);
    fpo_unpack_row(FPO_PACKING_FP6_16_PADDED, FPO_E2M3, 16, packed, codes);
    for (int i = 0; i < 16; i++)
        ck_assert_uint_eq(codes[i], 63);
    memset(codes, 0xFF, sizeof codes);
    fpo_pack_row(FPO_PACKING_FP6_16_PADDED, FPO_E2M3, 16, codes, packed);
    for (int i = 0; i < 16; i++)
        ck_assert_uint_eq(packed[i], i < 12 ? 0xFF : 0);
    fpo_pack_row(FPO_PACKING_FP4_BYTES_SHIFTED, FPO_E2M1, 1, codes, packed);
    ck_assert_uint_eq(packed[0], 0x3C);
}
END_TEST

/* Two-byte codes are words. */
START_TEST(words)
{
    uint16_t codes[3] = {0x1234, 0x5678, 0x9ABC}, packed[3], back[3];
    ck_assert_int_eq(fpo_packing_row_bytes(FPO_PACKING_CANONICAL, FPO_BF16, 3), 6);
    fpo_pack_row(FPO_PACKING_NIBBLES_SWAPPED, FPO_BF16, 3, codes, packed);
    ck_assert_mem_eq(codes, packed, sizeof codes);
    fpo_unpack_row(FPO_PACKING_NIBBLES_SWAPPED, FPO_BF16, 3, packed, back);
    ck_assert_mem_eq(codes, back, sizeof codes);
}
END_TEST

START_TEST(sizes_and_names)
{
    for (int packing = 0; packing < FPO_PACKING_COUNT; packing++) {
        ck_assert_int_eq(fpo_packing_by_name(fpo_packing_name((fpo_packing)packing)), packing);
        ck_assert_int_eq(fpo_packing_row_bytes((fpo_packing)packing, FPO_E2M1, 0), 0);
        ck_assert_int_eq(fpo_packing_row_bytes((fpo_packing)packing, FPO_F32, INT64_MAX / 2), -1);
    }
    ck_assert_int_eq(fpo_packing_by_name("nope"), FPO_PACKING_COUNT);
    ck_assert_ptr_null(fpo_packing_describe(FPO_PACKING_COUNT));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("packing");
    TCase *tests = tcase_create("elements");
    tcase_add_loop_test(tests, places, 0, (int)(sizeof packings / sizeof *packings));
    tcase_add_test(tests, all_described);
    tcase_add_test(tests, stray_bits);
    tcase_add_test(tests, words);
    tcase_add_test(tests, sizes_and_names);
    suite_add_tcase(suite, tests);
    return suite;
}
