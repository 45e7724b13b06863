/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Stored numbers as floats, all codes, against the decoder of single ones; from any address. */
#include "suite.h"
#include "widen.h"

#include <fp4oracle/format.h>
#include <string.h>

static const fpo_format formats[] = {FPO_F16,  FPO_BF16, FPO_E4M3,  FPO_E5M2, FPO_E2M1,
                                     FPO_E2M3, FPO_E3M2, FPO_UE4M3, FPO_UE8M0};

START_TEST(all_codes)
{
    static unsigned char bytes[2 * 65536 + 1];
    static float got[65536];
    fpo_format format = formats[_i];
    const fpo_format_info *info = fpo_format_describe(format);
    int64_t count = info->storage_bytes == 1 ? 256 : 65536;
    for (int64_t i = 0; i < count; i++)
        fpo_store_code(format, bytes + 1, (size_t)i, (uint32_t)i);
    fpo_widen(format, bytes + 1, count, got);
    for (int64_t i = 0; i < count; i++) {
        float want = (float)fpo_decode_double(format, (uint32_t)i);
        ck_assert_msg(memcmp(&got[i], &want, sizeof want) == 0, "%s %04x: %a, not %a", info->name, (unsigned)i,
                      (double)got[i], (double)want);
    }
}
END_TEST

START_TEST(f32_is_copied)
{
    static const unsigned char bytes[] = {9, 1, 0, 0x80, 0x7F, 0, 0, 0x80, 0x3F}; /* a signalling NaN, 1 */
    float got[2];
    fpo_widen(FPO_F32, bytes + 1, 2, got);
    ck_assert_mem_eq(got, bytes + 1, sizeof got);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("widen");
    TCase *tests = tcase_create("numbers");
    tcase_add_loop_test(tests, all_codes, 0, (int)(sizeof formats / sizeof *formats));
    tcase_add_test(tests, f32_is_copied);
    suite_add_tcase(suite, tests);
    return suite;
}
