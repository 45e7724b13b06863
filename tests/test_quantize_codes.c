/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Roundings and codes that the loops of recipes make, for each instruction set, against fpo_encode and recipe_eval.c
 * one value at a time. FPO_LONG=1 takes all f32 patterns through the roundings. */
#include "loops.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <stdlib.h>

/* The policies that recipes have, and one that the loops leave to fpo_encode. */
static fpo_cast policy(fpo_format format, int which)
{
    fpo_cast cast = *fpo_cast_describe(format == FPO_F16 || format == FPO_BF16 ? FPO_CAST_IEEE : FPO_CAST_PTX);
    if (format == FPO_UE4M3)
        cast = *fpo_scale_cast();
    if (format == FPO_UE8M0)
        cast.rounding = which % 2 ? FPO_AWAY_FROM_ZERO : FPO_TOWARD_ZERO;
    else if (which == 1)
        cast.rounding = FPO_NEAREST_AWAY;
    else if (which == 2)
        cast.rounding = FPO_NEAREST_TOWARD_ZERO;
    else if (which == 3)
        cast.drop_negative_zero = true;
    else if (which == 4)
        cast.overflow = cast.infinity = FPO_NON_FINITE;
    else if (which == 5)
        cast.rounding = FPO_TOWARD_ZERO;
    else if (which == 6)
        cast.no_nan = FPO_NO_NAN_ZERO;
    else if (which == 7)
        cast.no_nan = FPO_NO_NAN_LARGEST_SIGNED;
    else if (which == 8) {
        cast.no_nan = FPO_NO_NAN_ZERO_SIGNED;
        cast.rounding = FPO_NEAREST_TOWARD_ZERO;
    } else if (which == 9) {
        cast.overflow = cast.infinity = FPO_NON_FINITE;
        cast.rounding = FPO_NEAREST_AWAY;
    }
    return cast;
}

static void check_rounding(int t, fpo_format format, const fpo_cast *cast, const float *x, int count)
{
    static uint8_t codes[FPO_CHUNK];
    static float values[FPO_CHUNK];
    fpo_recipe_step step = {.function = FPO_FN_ENCODE, .format = format, .cast = *cast, .argument = {0, -1, -1}};
    const fpo_coder coder = fpo_coder_of(format, cast);
    bool bytes = fpo_format_describe(format)->bits <= 8;
    tables[t]->step(&step, x, x, x, values, count);
    if (bytes)
        tables[t]->encode(&coder, x, codes, count);
    for (int i = 0; i < count; i++) {
        uint32_t code = fpo_encode(format, fpo_value_from_float(x[i]), cast, 0);
        uint32_t got = !bytes ? code : coder.nibbles ? codes[i / 2] >> i % 2 * 4 & 15 : codes[i];
        /* A ue4m3 with bit 7 set is no value that a recipe goes on with. */
        bool right = format == FPO_UE4M3 || same(values[i], (float)fpo_recipe_apply(&step, (double)x[i], 0, 0));
        ck_assert_msg(right && got == code,
                      "%s, rounding %d, of %a (%08x): code %x, value %a, instead of %x, instruction set %d",
                      fpo_format_describe(format)->name, (int)cast->rounding, (double)x[i], fpo_bits_of(x[i]), got,
                      (double)values[i], code, t);
    }
    if (coder.nibbles && count % 2 != 0)
        ck_assert_uint_eq(codes[count / 2] >> 4, 0);
}

START_TEST(roundings)
{
    static float x[FPO_CHUNK];
    fpo_format format = formats[_i];
    for (int which = 0; which < 10; which++) {
        fpo_cast cast = policy(format, which);
        for (int round = 0; round < ROUNDS; round++) {
            int count = round == 0 ? 1 : round == 1 ? 999 : FPO_CHUNK;
            for (int i = 0; i < count; i++)
                x[i] = value((uint64_t)(round * FPO_CHUNK + i) + ((uint64_t)which << 32));
            for (int t = 0; t < TABLES; t++)
                if (runs(t))
                    check_rounding(t, format, &cast, x, count);
        }
    }
}
END_TEST

/* Scales of ue8m0 as they are stored: all powers at once, and with one other number among them, which is rounded. */
START_TEST(powers)
{
    static float x[FPO_CHUNK];
    static uint8_t codes[FPO_CHUNK];
    static const uint32_t others[] = {0,          1,          0x3FFFFF,   0x400001,   0x7FFFFF,   0x800001,
                                      0x3FFFFFFF, 0x3FC00000, 0x7F000001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000,
                                      0x80000000, 0x80400000, 0xBF800000, 0xFF000000, 0xFF800000};
    for (size_t other = 0; other <= sizeof others / sizeof *others; other++)
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t))
                continue;
            for (int i = 0; i < FPO_CHUNK; i++)
                x[i] = (float)fpo_decode_double(FPO_UE8M0, (uint32_t)i % 255);
            if (other > 0)
                x[other * 37] = fpo_float_of(others[other - 1]);
            const fpo_coder coder = fpo_coder_of(FPO_UE8M0, fpo_scale_cast());
            tables[t]->encode(&coder, x, codes, FPO_CHUNK);
            for (int i = 0; i < FPO_CHUNK; i++)
                ck_assert_msg(codes[i] == fpo_encode(FPO_UE8M0, fpo_value_from_float(x[i]), fpo_scale_cast(), 0),
                              "ue8m0 of %a: code %x, instruction set %d", (double)x[i], codes[i], t);
        }
}
END_TEST

enum { SCALE_KINDS = 7 };

/* Of ue4m3, a power of two, few bits, all bits, subnormal, huge, any number. */
static float some_scale(int kind, uint64_t index)
{
    uint64_t noise = fpo_random_bits((fpo_random){8, 8}, index);
    switch (kind) {
    case 0: return (float)fpo_decode_double(FPO_UE4M3, 1 + noise % 126);
    case 1: return ldexpf(noise & 1 ? 1 : -1, (int)(noise >> 8 & 63) - 32);
    case 2: return ldexpf((float)(noise >> 8 & 0x1FFFFF), -20);
    case 3: return ldexpf((float)(noise >> 8 & 0xFFFFFF), -20);
    case 4: return ldexpf((float)(noise >> 8 & 0xFF), -149);
    case 5: return ldexpf((float)(8 + (noise >> 8 & 7)), 118 + (int)(noise & 7));
    default: return value(index);
    }
}

/* Steps whose results are stored as codes at once, beside the codes of their results one at a time. The second argument
 * is a scale, and the first is a midpoint of it or beside one; `odd`: or something else, which goes another way. */
START_TEST(codes_of_steps)
{
    enum { COUNT = FPO_CHUNK - 1 };
    static const float midpoints[] = {0, .25f, .5f, .75f, 1, 1.25f, 1.5f, 1.75f, 2, 2.5f, 3, 3.5f, 4, 5, 6, 8, 100};
    static float a[COUNT], b[COUNT];
    static uint8_t packed[FPO_CHUNK / 2];
    fpo_function function = _i == 0 ? FPO_FN_WRAP : FPO_FN_NEAREST;
    fpo_recipe_step step = {.function = (uint8_t)function, .argument = {0, _i == 0 ? -1 : 1, -1}};
    ck_assert(fpo_has_codes(&step));
    for (int round = 0; round < ROUNDS; round++) {
        int kind = round % SCALE_KINDS, odd = round / SCALE_KINDS % 3;
        for (int i = 0; i < COUNT; i++) {
            uint64_t index = (uint64_t)(round * COUNT + i) + UINT64_C(0x900000000);
            b[i] = some_scale(kind, index);
            float middle = midpoints[index % (sizeof midpoints / sizeof *midpoints)] * b[i];
            uint32_t bits = fpo_bits_of(middle) + (uint32_t)(index / 17 % 3) - (middle != 0 ? 1 : 0);
            a[i] = fpo_float_of(bits ^ (uint32_t)(index / 51 & 1) << 31);
            if (!isfinite(a[i]))
                a[i] = 0;
            if (odd == 1 && i == round * 25) /* all distances are the same */
                a[i] = b[i] * 0x1p26f;
            if (odd == 2 && i % 5 == 0)
                a[i] = value(index);
        }
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t))
                continue;
            tables[t]->nibbles_of_step(&step, a, b, packed, COUNT);
            for (int i = 0; i < COUNT; i++) {
                float want = (float)fpo_recipe_apply(&step, (double)a[i], (double)b[i], 0);
                uint32_t code = fpo_encode(FPO_E2M1, fpo_value_from_float(want), fpo_cast_describe(FPO_CAST_PTX), 0);
                uint32_t got = packed[i / 2] >> i % 2 * 4 & 15;
                ck_assert_msg(got == code, "%s of %a, %a: code %x, not %x, instruction set %d",
                              functions[function].name, (double)a[i], (double)b[i], got, code, t);
            }
            ck_assert_uint_eq(packed[COUNT / 2] >> 4, 0);
        }
    }
}
END_TEST

/* Every exponent, every boundary: each code's value and each midpoint, and their neighbours. With FPO_LONG, every f32.
 */
START_TEST(all_codes)
{
    static float x[FPO_CHUNK];
    fpo_format format = formats[_i];
    const fpo_format_info *info = fpo_format_describe(format);
    bool all = getenv("FPO_LONG") != NULL;
    for (int which = 0; which < (all ? 2 : 4); which++) {
        fpo_cast cast = policy(format, which);
        int count = 0;
        uint64_t end = all ? UINT64_C(1) << 32 : (uint64_t)info->max_finite;
        for (uint64_t at = 0; at < end; at++) {
            if (all) {
                x[count++] = fpo_float_of((uint32_t)at);
            } else {
                double low = fpo_decode_double(format, (uint32_t)at),
                       high = fpo_decode_double(format, (uint32_t)at + 1);
                for (int i = -1; i <= 1; i++) {
                    x[count++] = fpo_float_of(fpo_bits_of((float)low) + (uint32_t)(low > 0 ? i : 0));
                    x[count++] = -fpo_float_of(fpo_bits_of((float)((low + high) / 2)) + (uint32_t)i);
                }
            }
            if (count + 6 > FPO_CHUNK || at + 1 == end) {
                int best = TABLES - 1;
                while (!runs(best))
                    best--;
                for (int t = all ? best : 0; t < TABLES; t++)
                    if (runs(t))
                        check_rounding(t, format, &cast, x, count);
                count = 0;
            }
        }
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("quantize_codes");
    TCase *tests = tcase_create("codes");
    tcase_set_timeout(tests, 7200);
    tcase_add_loop_test(tests, roundings, 0, FORMATS);
    tcase_add_test(tests, powers);
    tcase_add_loop_test(tests, codes_of_steps, 0, 2);
    tcase_add_loop_test(tests, all_codes, 0, FORMATS);
    suite_add_tcase(suite, tests);
    return suite;
}
