/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of recipes, for each instruction set, against one value at a time (recipe_eval.c, fpo_encode), and whole
 * recipes across instruction sets and threads. FPO_LONG=1 takes all f32 patterns through the roundings. */
#include "engine.h"
#include "quantizer.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fpo_quantize_kernels *const tables[] = {
    &fpo_quantize_portable,
#ifdef __x86_64__
    &fpo_quantize_avx2,
    &fpo_quantize_avx512,
#endif
};
static const fpo_isa isas[] = {FPO_ISA_PORTABLE, FPO_ISA_AVX2, FPO_ISA_AVX512};

enum { TABLES = sizeof tables / sizeof *tables };

static bool runs(int table)
{
    return fpo_isa_resolve(isas[table]) == isas[table];
}

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Halfway cases and neighbours of many formats, signed zeros, subnormals, infinities, NaN, and noise. */
static float value(uint64_t index)
{
    static const uint32_t special[] = {0,          1,          0x7FFFFF,   0x800000,   0x3E800000, 0x3F400000,
                                       0x3FA00000, 0x3FE00000, 0x40200000, 0x40600000, 0x40A00000, 0x40C00000,
                                       0x43E00000, 0x43E80000, 0x47600000, 0x477FF000, 0x7F000000, 0x7F7FFFFF,
                                       0x7F800000, 0x7FC00000, 0x400000,   0x400001,   0x3F800000, 0x3C800000,
                                       0x3A800000, 0x437F8000, 0x437E0000, 0x7F7F8000};
    fpo_random random = {5, 5};
    uint64_t noise = fpo_random_bits(random, index);
    uint32_t bits = (uint32_t)noise;
    switch (noise >> 60) {
    case 0:
    case 1:
    case 2:
    case 3: bits = special[(noise >> 32) % (sizeof special / sizeof *special)] + (uint32_t)(noise >> 40) % 3 - 1; break;
    case 4:
    case 5:
    case 6:
    case 7: bits = (110 + (bits & 31)) << 23 | (bits >> 8 & 7) << 20 | (bits & 0x80000000u); break; /* few bits */
    case 8: bits = bits_of((float)((int)(noise & 511) - 128)); break;                               /* integers */
    default: break;
    }
    /* Quiet: the comparison goes through double, which does not keep signalling NaN. */
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        bits |= 0x400000u;
    return from_bits(bits ^ (uint32_t)(noise >> 45 & 1) << 31);
}

static bool same(float a, float b)
{
    return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

static const struct {
    const char *name;
    int arity;
} functions[] = {
#define FPO_FUNCTION(ID, name, arity, summary) {name, arity},
#include "recipe_functions.inc"
#undef FPO_FUNCTION
};

START_TEST(steps)
{
    enum { COUNT = 1000 };
    static float a[COUNT], b[COUNT], c[COUNT], got[COUNT];
    fpo_function function = (fpo_function)_i;
    if (function == FPO_FN_HADAMARD)
        return;
    for (int round = 0; round < 20; round++)
        for (int ftz = 0; ftz < 2; ftz++) {
            fpo_recipe_step step = {.function = (uint8_t)function, .ftz = ftz, .format = FPO_E4M3};
            step.cast = *fpo_cast_describe(FPO_CAST_PTX);
            if (function == FPO_FN_CODE) {
                step.format = round % 2 ? FPO_UE8M0 : FPO_UE4M3;
                step.cast = *fpo_scale_cast();
            }
            for (int i = 0; i < 3; i++)
                step.argument[i] = (int16_t)(i < functions[_i].arity ? i : FPO_NO_REGISTER);
            for (int i = 0; i < COUNT; i++) {
                uint64_t index = (uint64_t)(round * COUNT + i) * 4;
                a[i] = value(index);
                /* Equal and nearly equal arguments, and conditions that are 0. */
                b[i] = i % 7 == 0 ? a[i] : i % 11 == 0 ? -a[i] : value(index + 1);
                c[i] = value(index + 2);
                if (function == FPO_FN_ADDBITS)
                    b[i] = (float)(1 << (i % 24));
                if (function == FPO_FN_SELECT && i % 3 == 0)
                    a[i] = i % 2 ? 0.0f : -0.0f;
            }
            for (int t = 0; t < TABLES; t++) {
                if (!runs(t))
                    continue;
                tables[t]->step(&step, a, b, c, got, COUNT);
                for (int i = 0; i < COUNT; i++) {
                    float want = (float)fpo_recipe_apply(&step, (double)a[i], (double)b[i], (double)c[i]);
                    ck_assert_msg(same(want, got[i]), "%s%s of %a, %a, %a: %a instead of %a, instruction set %d",
                                  functions[_i].name, ftz ? " ftz" : "", (double)a[i], (double)b[i], (double)c[i],
                                  (double)got[i], (double)want, t);
                }
            }
        }
}
END_TEST

static const fpo_format formats[] = {FPO_E2M1, FPO_E2M3,  FPO_E3M2, FPO_E4M3, FPO_E5M2,
                                     FPO_F16,  FPO_UE4M3, FPO_BF16, FPO_UE8M0};

/* A function of an element and its block's value: as with the value spread. */
START_TEST(steps_of_blocks)
{
    enum { COUNT = 1000 };
    static const int64_t blocks[] = {1, 16, 32, 48, 128, COUNT};
    static float a[COUNT], b[COUNT], spread[COUNT], wanted[COUNT], got[COUNT];
    int64_t block = blocks[_i];
    int loops = 0;
    for (int function = 0; function < FPO_FN_COUNT; function++)
        for (int round = 0; round < 20 && functions[function].arity == 2; round++) {
            fpo_recipe_step step = {.function = (uint8_t)function, .ftz = round % 2 != 0, .format = FPO_E4M3};
            for (int i = 0; i < 3; i++)
                step.argument[i] = (int16_t)(i < 2 ? i : FPO_NO_REGISTER);
            for (int i = 0; i < COUNT; i++) {
                a[i] = value((uint64_t)(round * COUNT + i) + UINT64_C(0x500000000));
                b[i] = value((uint64_t)(round * COUNT + i) + UINT64_C(0x600000000));
                if (round % 4 == 3) /* powers of two: those with a normal reciprocal, and all */
                    b[i] = ldexpf(i % 2 ? -1 : 1, round < 10 ? i % 253 - 126 : i % 277 - 149);
            }
            for (int i = 0; i < COUNT; i++)
                spread[i] = b[i / block];
            for (int t = 0; t < TABLES; t++) {
                if (!runs(t) || !(fpo_has_blocks(&step) || (block == COUNT && fpo_has_constant(&step))))
                    continue;
                tables[t]->step_of_blocks(&step, a, b, block, got, COUNT);
                loops++;
                tables[t]->step(&step, a, spread, spread, wanted, COUNT);
                for (int i = 0; i < COUNT; i++)
                    ck_assert_msg(same(got[i], wanted[i]),
                                  "%s%s(%a, %a) in blocks of %d: %a, not %a, instruction set %d",
                                  functions[function].name, step.ftz ? " ftz" : "", (double)a[i], (double)spread[i],
                                  (int)block, (double)got[i], (double)wanted[i], t);
            }
        }
    ck_assert_int_gt(loops, 0);
}
END_TEST

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
    static uint8_t codes[FPO_CHUNK], packed[FPO_CHUNK];
    static float values[FPO_CHUNK];
    fpo_recipe_step step = {.function = FPO_FN_ENCODE, .format = format, .cast = *cast, .argument = {0, -1, -1}};
    const fpo_coder coder = fpo_coder_of(format, cast);
    bool bytes = fpo_format_describe(format)->bits <= 8;
    tables[t]->step(&step, x, x, x, values, count);
    if (bytes)
        tables[t]->encode(&coder, x, codes, count);
    if (format == FPO_E2M1)
        tables[t]->encode_nibbles(&coder, x, packed, count);
    for (int i = 0; i < count; i++) {
        uint32_t code = fpo_encode(format, fpo_value_from_float(x[i]), cast, 0);
        /* A ue4m3 with bit 7 set is no value that a recipe goes on with. */
        bool right = format == FPO_UE4M3 || same(values[i], (float)fpo_recipe_apply(&step, (double)x[i], 0, 0));
        right = right && (!bytes || codes[i] == code);
        if (format == FPO_E2M1)
            right = right && (packed[i / 2] >> i % 2 * 4 & 15) == (int)code;
        ck_assert_msg(right, "%s, rounding %d, of %a (%08x): code %x, value %a, instead of %x, instruction set %d",
                      fpo_format_describe(format)->name, (int)cast->rounding, (double)x[i], bits_of(x[i]),
                      bytes ? codes[i] : 0u, (double)values[i], code, t);
    }
    if (format == FPO_E2M1 && count % 2 != 0)
        ck_assert_uint_eq(packed[count / 2] >> 4, 0);
}

/* Under the sanitizers memory is looked at, for which fewer numbers do; that all bits are equal is seen without them.
 */
#ifdef __SANITIZE_ADDRESS__
enum { ROUNDS = 6, RECIPE_ROWS = 7, RECIPE_DTYPES = 1 };
#else
enum { ROUNDS = 40, RECIPE_ROWS = 37, RECIPE_DTYPES = 3 };
#endif

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
                x[other * 37] = from_bits(others[other - 1]);
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
            uint32_t bits = bits_of(middle) + (uint32_t)(index / 17 % 3) - (middle != 0 ? 1 : 0);
            a[i] = from_bits(bits ^ (uint32_t)(index / 51 & 1) << 31);
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
                x[count++] = from_bits((uint32_t)at);
            } else {
                double low = fpo_decode_double(format, (uint32_t)at),
                       high = fpo_decode_double(format, (uint32_t)at + 1);
                for (int i = -1; i <= 1; i++) {
                    x[count++] = from_bits(bits_of((float)low) + (uint32_t)(low > 0 ? i : 0));
                    x[count++] = -from_bits(bits_of((float)((low + high) / 2)) + (uint32_t)i);
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

START_TEST(blocks)
{
    static float x[3000], amax[3000], spread[3000];
    for (int i = 0; i < 3000; i++) {
        x[i] = value((uint64_t)i + 7000);
        x[i] = isnan(x[i]) ? 1 : x[i];
    }
    static const int sizes[] = {1, 2, 3, 16, 32, 48, 64, 128, 1000, 3000}, counts[] = {1, 15, 16, 17, 1000, 1024, 3000};
    for (int t = 0; t < TABLES; t++)
        for (size_t s = 0; runs(t) && s < sizeof sizes / sizeof *sizes; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                int size = sizes[s], count = counts[c];
                tables[t]->block_amax(x, count, size, amax);
                tables[t]->spread(amax, size, spread, count);
                if (size == 1) { /* joined to what is there */
                    float joined[2] = {2, INFINITY};
                    tables[t]->join_amax(x, joined, 2);
                    ck_assert(joined[0] == fmaxf(2, fabsf(x[0])) && isinf(joined[1]));
                }
                for (int at = 0; at < count; at += size) {
                    float largest = 0;
                    for (int i = at; i < at + size && i < count; i++)
                        largest = fmaxf(largest, fabsf(x[i]));
                    ck_assert(same(amax[at / size], largest));
                    for (int i = at; i < at + size && i < count; i++)
                        ck_assert(same(spread[i], largest));
                }
                for (int i = 0; i < count; i += 5) { /* a NaN anywhere is seen */
                    float kept = x[i];
                    x[i] = from_bits(i % 2 ? 0xFFC00001u : 0x7F800001u);
                    tables[t]->block_amax(x, count, size, amax);
                    ck_assert(isnan(amax[i / size]));
                    x[i] = kept;
                    if (i > 60)
                        i += 97;
                }
            }
}
END_TEST

/* Sums in order of plus or minus x/4, signs by the formula of the Hadamard matrix. */
START_TEST(transform)
{
    enum { COUNT = 1003 }; /* zeros follow */
    static const int signs[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
    static float x[COUNT], got[COUNT];
    fpo_recipe_step step = {.function = FPO_FN_HADAMARD, .argument = {0, -1, -1}};
    for (int i = 0; i < COUNT; i++)
        x[i] = value((uint64_t)i + UINT64_C(0x700000000));
    for (int t = 0; t < TABLES; t++) {
        if (!runs(t))
            continue;
        tables[t]->step(&step, x, x, x, got, COUNT);
        for (int at = 0; at < COUNT; at++) {
            float sum = 0;
            for (int i = 0; i < 16; i++) {
                int bits = 0;
                for (int bit = 0; bit < 4; bit++)
                    bits += (i >> bit) & (at % 16 >> bit) & 1;
                float sign = (float)signs[i] * (bits % 2 ? -0.25f : 0.25f);
                sum += sign * (at / 16 * 16 + i < COUNT ? x[at / 16 * 16 + i] : 0);
            }
            ck_assert_msg(same(got[at], sum), "element %d: %a, not %a, instruction set %d", at, (double)got[at],
                          (double)sum, t);
        }
    }
}
END_TEST

START_TEST(stochastic)
{
    static float x[FPO_CHUNK], got[FPO_CHUNK];
    static uint32_t bits[FPO_CHUNK];
    fpo_format format = formats[_i];
    fpo_cast cast = *fpo_cast_describe(_i % 2 ? FPO_CAST_IEEE : FPO_CAST_PTX);
    cast.rounding = FPO_STOCHASTIC;
    fpo_recipe_step step = {.function = FPO_FN_ENCODE, .format = format, .cast = cast};
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < FPO_CHUNK; i++) {
            uint64_t index = (uint64_t)(round * FPO_CHUNK + i);
            x[i] = value(index + UINT64_C(0x800000000));
            bits[i] = (uint32_t)fpo_random_bits((fpo_random){6, 6}, index);
            bits[i] = round % 4 == 0 ? bits[i] << 24 : round % 4 == 1 ? bits[i] | 0xFFFFFF00u : bits[i];
        }
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t) || !tables[t]->round_randomly(&step, bits, x, got, FPO_CHUNK))
                continue;
            for (int i = 0; i < FPO_CHUNK; i++) {
                uint32_t code = fpo_encode(format, fpo_value_from_float(x[i]), &cast, bits[i]);
                float want = (float)fpo_decode_double(format, code);
                ck_assert_msg(same(got[i], want), "%s of %a with %08x: %a, not %a, instruction set %d",
                              fpo_format_describe(format)->name, (double)x[i], bits[i], (double)got[i], (double)want,
                              t);
            }
        }
    }
    bool loop = tables[0]->round_randomly(&step, bits, x, got, 1);
    ck_assert(loop == (format != FPO_UE4M3 && format != FPO_BF16 && format != FPO_UE8M0));
}
END_TEST

/* The generator's blocks, many at once: counters beyond 2^32 in both halves, all bits of the key. */
START_TEST(random_bits)
{
    static uint32_t got[4 * FPO_CHUNK], want[4];
    static uint64_t streams[FPO_CHUNK], indices[FPO_CHUNK];
    for (int round = 0; round < 16; round++) {
        uint64_t first = round % 2 ? UINT64_C(0xFFFFFFF0) : UINT64_C(0x123456789ABC) * (uint64_t)round;
        uint64_t seed = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(round + 1);
        for (int i = 0; i < FPO_CHUNK; i++) {
            streams[i] = fpo_random_bits((fpo_random){1, 1}, (uint64_t)i) >> round * 4;
            indices[i] = fpo_random_bits((fpo_random){1, 2}, (uint64_t)i) >> (60 - round * 4);
        }
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t))
                continue;
            tables[t]->random_words(seed, first, got, FPO_CHUNK);
            for (int i = 0; i < FPO_CHUNK; i++) {
                fpo_random_block((fpo_random){.seed = seed}, first + (uint64_t)i, want);
                ck_assert_uint_eq(got[i], want[0]);
            }
            tables[t]->random_blocks(seed, streams, indices, got, FPO_CHUNK - round);
            for (int i = 0; i < FPO_CHUNK - round; i++) {
                fpo_random_block((fpo_random){seed, streams[i]}, indices[i], want);
                ck_assert_mem_eq(got + 4 * i, want, sizeof want);
            }
        }
    }
}
END_TEST

/* Sums of errors of many blocks at once, against those of one. */
START_TEST(errors)
{
    static const int sizes[] = {2, 10, 16, 32}, chunks[] = {0, 1, 2, 4, 8, 5};
    static float e[37 * 32], sums[37];
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        e[i] = value(i + UINT64_C(0x900000000));
    int sums_seen = 0;
    for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
            for (int how = 0; how < 4; how++)
                for (int t = 0; t < TABLES; t++) {
                    fpo_program program = {.error_chunk = chunks[c], .error_ftz = how % 2, .error_fma = how / 2};
                    if (!runs(t) || !tables[t]->error_sums(&program, e, sizes[b], 37, sums))
                        continue;
                    for (int i = 0; i < 37; i++, sums_seen++)
                        ck_assert(same(sums[i], fpo_error_sum(&program, e + i * sizes[b], sizes[b])));
                }
    ck_assert_int_gt(sums_seen, 0);
}
END_TEST

/* Blocks of many rows: a tensor of three strips, by several threads, is its strips one after the other. */
START_TEST(strips)
{
    enum { ROWS = 300, K = 272 };
    const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)_i);
    const fpo_scale_view *scale = &info->view.scale;
    if (scale->block_rows < 2 || scale->block_rows > 128)
        return;
    static float x[ROWS * K];
    for (int i = 0; i < ROWS * K; i++)
        x[i] = i % 4099 == 0 ? NAN : fpo_random_normal((fpo_random){9, 0}, (uint64_t)i) * (float)(1 + i % 7);
    size_t codes = fpo_operand_codes_bytes(&info->view, ROWS, K), row_codes = codes / ROWS;
    size_t scales = fpo_operand_scales_bytes(&info->view, ROWS, K);
    size_t strip_scales = fpo_operand_scales_bytes(&info->view, scale->block_rows, K);
    fpo_quantized all = {
        .codes = malloc(codes), .codes_bytes = codes, .scales = malloc(scales), .scales_bytes = scales};
    fpo_quantized part = {.codes = malloc(codes), .scales = malloc(scales)};
    fpo_execution threads = {.threads = 5}, one = {.threads = 1};
    ck_assert(fpo_quantize((fpo_recipe)_i, x, ROWS, K, &all, &threads, NULL) == FPO_OK);
    for (int64_t row = 0; row < ROWS; row += scale->block_rows) {
        int64_t rows = ROWS - row < scale->block_rows ? ROWS - row : scale->block_rows;
        part.codes_bytes = fpo_operand_codes_bytes(&info->view, rows, K);
        part.scales_bytes = fpo_operand_scales_bytes(&info->view, rows, K);
        ck_assert(fpo_quantize((fpo_recipe)_i, x + row * K, rows, K, &part, &one, NULL) == FPO_OK);
        ck_assert_mem_eq((uint8_t *)all.codes + (size_t)row * row_codes, part.codes, part.codes_bytes);
        ck_assert_mem_eq((uint8_t *)all.scales + (size_t)(row / scale->block_rows) * strip_scales, part.scales,
                         part.scales_bytes);
    }
    free(all.codes), free(all.scales), free(part.codes), free(part.scales);
}
END_TEST

/* All recipes: the same bytes from every instruction set and number of threads, on values of all kinds. */
START_TEST(recipes)
{
    const int64_t rows = RECIPE_ROWS, k = 1296; /* more than one chunk, no multiple of 128, groups of 16 */
    static const fpo_format dtypes[] = {FPO_F32, FPO_BF16, FPO_F16};
    const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)_i);
    float *x = malloc((size_t)(rows * k) * sizeof *x);
    for (int round = 0; round < RECIPE_DTYPES; round++) {
        int d = (_i + round) % 3;
        for (int64_t i = 0; i < rows * k; i++) {
            float noise = fpo_random_normal((fpo_random){3, (uint64_t)d}, (uint64_t)i) * (float)(1 + i / k * 3);
            x[i] = i / k % 5 == 4 ? value((uint64_t)i) : noise;
            uint32_t code = fpo_encode(dtypes[d], fpo_value_from_float(x[i]), fpo_cast_describe(FPO_CAST_IEEE), 0);
            x[i] = (float)fpo_decode_double(dtypes[d], code);
        }
        fpo_quantized first = {0};
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t))
                continue;
            fpo_quantized now = {.dtype = dtypes[d], .library_scale = 0.37f, .given_library_scale = true};
            fpo_execution execution = {.isa = isas[t], .threads = 1 + t};
            now.codes = malloc(now.codes_bytes = fpo_operand_codes_bytes(&info->view, rows, k));
            now.scales = malloc(now.scales_bytes = fpo_operand_scales_bytes(&info->view, rows, k));
            now.row_scales = calloc((size_t)rows, sizeof(float));
            fpo_error error;
            ck_assert_msg(fpo_quantize((fpo_recipe)_i, x, rows, k, &now, &execution, &error) == FPO_OK, "%s",
                          error.message);
            if (first.codes != NULL) {
                ck_assert_msg(memcmp(first.codes, now.codes, now.codes_bytes) == 0, "codes of %s, instruction set %d",
                              info->name, t);
                ck_assert_msg(memcmp(first.scales, now.scales, now.scales_bytes) == 0,
                              "scales of %s, instruction set %d", info->name, t);
                ck_assert_mem_eq(first.row_scales, now.row_scales, (size_t)rows * sizeof(float));
                free(now.codes), free(now.scales), free(now.row_scales);
            } else {
                first = now;
            }
        }
        free(first.codes), free(first.scales), free(first.row_scales);
    }
    free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("quantize_kernels");
    TCase *tests = tcase_create("loops");
    int count = (int)(sizeof formats / sizeof *formats);
    tcase_set_timeout(tests, 7200);
    tcase_add_loop_test(tests, steps, 0, FPO_FN_COUNT);
    tcase_add_loop_test(tests, roundings, 0, count);
    tcase_add_loop_test(tests, steps_of_blocks, 0, 6);
    tcase_add_test(tests, powers);
    tcase_add_loop_test(tests, codes_of_steps, 0, 2);
    tcase_add_loop_test(tests, all_codes, 0, count);
    tcase_add_test(tests, blocks);
    tcase_add_test(tests, transform);
    tcase_add_loop_test(tests, stochastic, 0, count);
    tcase_add_test(tests, random_bits);
    tcase_add_test(tests, errors);
    tcase_add_loop_test(tests, strips, 0, FPO_RECIPE_COUNT);
    tcase_add_loop_test(tests, recipes, 0, FPO_RECIPE_COUNT);
    suite_add_tcase(suite, tests);
    return suite;
}
