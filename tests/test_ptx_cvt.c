/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Conversions of the PTX table that no GPU at hand has (FP4, FP6, UE8M0, PTX 9.1 and 9.2), and those that it has,
 * against the emulator's casts, which share no code with the table: every bf16 and f16 pattern, every small code with
 * every scale, and random f32. */
#include "suite.h"

#include <fp4oracle/cast.h>
#include <fp4oracle/random.h>
#include <math.h>
#include <ptx.h>
#include <row_text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The function of a pure row by opcode. */
static fpo_ptx_lanes find(const char *opcode)
{
    for (size_t f = 0; f < fpo_ptx_family_count(); f++) {
        const fpo_ptx_family *family = fpo_ptx_family_at(f);
        for (size_t r = 0; r < family->count; r++) {
            fpo_row_groups groups;
            int choice[FPO_ROW_GROUPS], index = 0;
            if (family->rows[r].lanes == NULL || !fpo_row_parse_groups(family->rows[r].pattern, &groups) ||
                !fpo_row_match(family->rows[r].pattern, &groups, opcode, choice))
                continue;
            for (int g = 0; g < groups.count; g++)
                index = index * groups.size[g] + choice[g];
            return family->rows[r].lanes[index];
        }
    }
    ck_abort_msg("no row has %s", opcode);
    return NULL;
}

/* Runs one lane: up to two sources of `bytes` each. */
static uint32_t convert(fpo_ptx_lanes lanes, uint32_t a, uint32_t b, unsigned source_bytes, unsigned result_bytes,
                        unsigned sources)
{
    uint32_t d[FPO_PTX_WARP] = {0}, x[FPO_PTX_WARP] = {0}, y[FPO_PTX_WARP] = {0};
    memcpy(x, &a, source_bytes);
    memcpy(y, &b, source_bytes);
    void *operands[] = {d, x, y};
    const uint8_t bytes[] = {(uint8_t)result_bytes, (uint8_t)source_bytes, (uint8_t)source_bytes};
    (void)sources;
    lanes(operands, bytes, 1);
    uint32_t result = 0;
    memcpy(&result, d, result_bytes);
    return result;
}

typedef struct narrow {
    const char *opcode;
    fpo_format format;
    fpo_cast_preset cast;
    unsigned bits; /* of a result in its place: 4 or 8 */
} narrow;

static const narrow narrow_casts[] = {
    {"cvt.rn.satfinite.e2m1x2.f32", FPO_E2M1, FPO_CAST_PTX, 4},
    {"cvt.rn.satfinite.e2m3x2.f32", FPO_E2M3, FPO_CAST_PTX, 8},
    {"cvt.rn.satfinite.e3m2x2.f32", FPO_E3M2, FPO_CAST_PTX, 8},
    {"cvt.rn.satfinite.e4m3x2.f32", FPO_E4M3, FPO_CAST_PTX, 8},
    {"cvt.rn.satfinite.e5m2x2.f32", FPO_E5M2, FPO_CAST_PTX, 8},
    {"cvt.rp.satfinite.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_PTX_RP, 8},
    {"cvt.rz.satfinite.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_PTX_RZ, 8},
    {"cvt.rp.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_CUDA_RP_NOSAT, 8},
    {"cvt.rz.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_CUDA_RZ_NOSAT, 8},
};

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_pair(const narrow *n, fpo_ptx_lanes lanes, uint32_t a, uint32_t b)
{
    const fpo_cast *cast = fpo_cast_describe(n->cast);
    uint32_t high = fpo_encode(n->format, fpo_value_from_float(float_of(a)), cast, 0);
    uint32_t low = fpo_encode(n->format, fpo_value_from_float(float_of(b)), cast, 0);
    uint32_t got = convert(lanes, a, b, 4, n->bits == 4 ? 1 : 2, 2);
    ck_assert_msg(got == (high << n->bits | low), "%s of 0x%08x, 0x%08x: 0x%x, the emulator has 0x%x 0x%x", n->opcode,
                  a, b, got, high, low);
}

/* Every upper half of an f32 with five lower halves (ties and their neighbours), then random pairs. */
START_TEST(narrowing)
{
    static const uint32_t lower[] = {0, 1, 0x7FFF, 0x8000, 0x8001};
    const narrow *n = &narrow_casts[_i];
    fpo_ptx_lanes lanes = find(n->opcode);
    for (uint32_t upper = 0; upper < 0x10000; upper++)
        for (int i = 0; i < 5; i++)
            check_pair(n, lanes, upper << 16 | lower[i], (upper * 40503u & 0xFFFF) << 16 | lower[4 - i]);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t r = fpo_random_bits((fpo_random){3, (uint64_t)_i}, i);
        check_pair(n, lanes, (uint32_t)r, (uint32_t)(r >> 32));
    }
}
END_TEST

typedef struct widen {
    const char *opcode;
    fpo_format from, to;
    unsigned bits;
} widen;

static const widen widening_casts[] = {
    {"cvt.rn.f16x2.e2m1x2", FPO_E2M1, FPO_F16, 4}, {"cvt.rn.f16x2.e2m3x2", FPO_E2M3, FPO_F16, 8},
    {"cvt.rn.f16x2.e3m2x2", FPO_E3M2, FPO_F16, 8}, {"cvt.rn.f16x2.e4m3x2", FPO_E4M3, FPO_F16, 8},
    {"cvt.rn.f16x2.e5m2x2", FPO_E5M2, FPO_F16, 8}, {"cvt.rn.bf16x2.ue8m0x2", FPO_UE8M0, FPO_BF16, 8},
};

START_TEST(widening)
{
    const widen *w = &widening_casts[_i];
    fpo_ptx_lanes lanes = find(w->opcode);
    for (uint32_t codes = 0; codes < (w->bits == 4 ? 256u : 65536u); codes++) {
        uint32_t low = codes & ((1u << w->bits) - 1), high = codes >> w->bits;
        const fpo_cast *cast = fpo_cast_describe(FPO_CAST_IEEE);
        uint32_t want = fpo_encode(w->to, fpo_decode(w->from, low), cast, 0) |
                        fpo_encode(w->to, fpo_decode(w->from, high), cast, 0) << 16;
        uint32_t got = convert(lanes, codes, 0, w->bits == 4 ? 1 : 2, 4, 1);
        ck_assert_msg(got == want, "%s of 0x%04x: 0x%08x, the emulator has 0x%08x", w->opcode, codes, got, want);
    }
}
END_TEST

/* ue8m0 of bf16 pairs: every pattern. */
START_TEST(scales_of_bf16)
{
    static const narrow casts[] = {{"cvt.rp.satfinite.ue8m0x2.bf16x2", FPO_UE8M0, FPO_CAST_PTX_RP, 8},
                                   {"cvt.rz.satfinite.ue8m0x2.bf16x2", FPO_UE8M0, FPO_CAST_PTX_RZ, 8}};
    for (int c = 0; c < 2; c++) {
        fpo_ptx_lanes lanes = find(casts[c].opcode);
        for (uint32_t x = 0; x < 0x10000; x++) {
            uint32_t y = (x * 40503u + 7) & 0xFFFF;
            const fpo_cast *cast = fpo_cast_describe(casts[c].cast);
            uint32_t want = fpo_encode(FPO_UE8M0, fpo_decode(FPO_BF16, x), cast, 0) |
                            fpo_encode(FPO_UE8M0, fpo_decode(FPO_BF16, y), cast, 0) << 8;
            ck_assert_uint_eq(convert(lanes, x | y << 16, 0, 4, 2, 1), want);
        }
    }
}
END_TEST

static const char *const smalls[] = {"e2m1x2", "e2m3x2", "e3m2x2", "e4m3x2", "e5m2x2"};
static const fpo_format small_formats[] = {FPO_E2M1, FPO_E2M3, FPO_E3M2, FPO_E4M3, FPO_E5M2};

static unsigned width_of(fpo_format format)
{
    return format == FPO_E2M1 ? 4 : 8;
}

/* .relu on a code: negative ones become +0, a NaN stays. */
static uint32_t without_negative(fpo_format format, uint32_t code, bool relu)
{
    const fpo_format_info *info = fpo_format_describe(format);
    bool negative = code >> (info->bits - 1) & 1;
    return relu && negative ? 0 : code;
}

/* Two f16 or bf16, as PTX 9.1 has it for all five: every pattern. */
START_TEST(narrowing_halves)
{
    static const char *const from[] = {"f16x2", "bf16x2"};
    const fpo_format source[] = {FPO_F16, FPO_BF16}, to = small_formats[_i];
    unsigned width = width_of(to);
    for (int s = 0; s < 2; s++)
        for (int relu = 0; relu < 2; relu++) {
            char opcode[96];
            snprintf(opcode, sizeof opcode, "cvt.rn.satfinite%s.%s.%s", relu ? ".relu" : "", smalls[_i], from[s]);
            fpo_ptx_lanes lanes = find(opcode);
            const fpo_cast *cast = fpo_cast_describe(FPO_CAST_PTX);
            for (uint32_t x = 0; x < 0x10000; x++) {
                uint32_t y = (x * 40503u + 7) & 0xFFFF;
                uint32_t low = without_negative(to, fpo_encode(to, fpo_decode(source[s], x), cast, 0), relu);
                uint32_t high = without_negative(to, fpo_encode(to, fpo_decode(source[s], y), cast, 0), relu);
                uint32_t got = convert(lanes, x | y << 16, 0, 4, width == 4 ? 1 : 2, 1);
                ck_assert_msg(got == (low | high << width), "%s of 0x%04x, 0x%04x: 0x%x", opcode, x, y, got);
            }
        }
}
END_TEST

/* One code to bf16 with a scale, as the emulator has it: exact in a double, rounded once. */
static uint32_t scaled_bf16(fpo_format from, uint32_t code, uint32_t scale, bool saturate)
{
    fpo_cast cast = *fpo_cast_describe(FPO_CAST_IEEE);
    if (saturate)
        cast.overflow = cast.infinity = FPO_SATURATE;
    double x = fpo_decode_double(from, code) * fpo_decode_double(FPO_UE8M0, scale);
    return isnan(x) ? 0x7FFF : fpo_encode_double(FPO_BF16, x, &cast);
}

/* To bf16, PTX 9.2: every code, with and without every scale, in both halves. */
START_TEST(widening_to_bf16)
{
    static const char *const mods[] = {"", ".relu", ".satfinite", ".relu.satfinite", ".satfinite.relu"};
    fpo_format from = small_formats[_i];
    unsigned width = width_of(from), codes = 1u << fpo_format_describe(from)->bits;
    for (int m = 0; m < 5; m++)
        for (int scales = 0; scales < 2; scales++) {
            char opcode[96];
            snprintf(opcode, sizeof opcode, "cvt.rn%s%s.bf16x2.%s", mods[m], scales ? ".scaled::n2::ue8m0" : "",
                     smalls[_i]);
            fpo_ptx_lanes lanes = find(opcode);
            bool relu = strstr(mods[m], "relu") != NULL, saturate = strstr(mods[m], "satfinite") != NULL;
            for (uint32_t code = 0; code < codes; code++)
                for (uint32_t scale = scales ? 0 : 127; scale < (scales ? 256u : 128u); scale++) {
                    uint32_t other = (code * 37 + scale) % codes, other_scale = scales ? (scale * 91 + 5) & 255 : 127;
                    uint32_t low = without_negative(FPO_BF16, scaled_bf16(from, code, scale, saturate), relu);
                    uint32_t high = without_negative(FPO_BF16, scaled_bf16(from, other, other_scale, saturate), relu);
                    uint32_t d[FPO_PTX_WARP] = {0}, x[FPO_PTX_WARP] = {code | other << width};
                    uint32_t y[FPO_PTX_WARP] = {scale | other_scale << 8};
                    void *operands[] = {d, x, y};
                    const uint8_t bytes[] = {4, width == 4 ? 1 : 2, 2};
                    lanes(operands, bytes, 1);
                    ck_assert_msg(d[0] == (low | high << 16),
                                  "%s of 0x%x, 0x%x with scales 0x%02x, 0x%02x: 0x%08x, not 0x%08x", opcode, code,
                                  other, scale, other_scale, d[0], low | high << 16);
                }
        }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("ptx_cvt");
    TCase *tests = tcase_create("cvt");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, narrowing, 0, sizeof narrow_casts / sizeof narrow_casts[0]);
    tcase_add_loop_test(tests, widening, 0, sizeof widening_casts / sizeof widening_casts[0]);
    tcase_add_test(tests, scales_of_bf16);
    tcase_add_loop_test(tests, narrowing_halves, 0, sizeof smalls / sizeof smalls[0]);
    tcase_add_loop_test(tests, widening_to_bf16, 0, sizeof smalls / sizeof smalls[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
