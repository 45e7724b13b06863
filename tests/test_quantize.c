/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The plain recipes against MPFR: f32 operations by mpfr at 24 bits, rounding to a format by search over its numbers.
 */
#include "recipe.h"
#include "suite.h"

#include <fp4oracle/quantize.h>
#include <fp4oracle/random.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

typedef struct minifloat {
    int exponent_bits, mantissa_bits, bias, codes; /* codes: finite magnitudes */
} minifloat;

static const minifloat e2m1 = {2, 1, 1, 8}, e2m3 = {2, 3, 1, 32}, e3m2 = {3, 2, 3, 32}, e4m3 = {4, 3, 7, 127},
                       e5m2 = {5, 2, 15, 124};

static double magnitude(const minifloat *f, int code)
{
    int mantissa = code & ((1 << f->mantissa_bits) - 1), field = code >> f->mantissa_bits;
    int exponent = field > 0 ? field : 1;
    return ldexp(mantissa + (field > 0 ? 1 << f->mantissa_bits : 0), exponent - f->bias - f->mantissa_bits);
}

/* The nearest number of the format, the even code of two equally near; saturates. NaN: largest code + 1 if the format
 * has one, else the largest. */
static unsigned nearest(const minifloat *f, double x)
{
    unsigned sign = signbit(x) ? 1u << (f->exponent_bits + f->mantissa_bits) : 0;
    if (isnan(x))
        return f == &e4m3 || f == &e5m2 ? 0x7F : (unsigned)f->codes - 1;
    if (fabs(x) >= magnitude(f, f->codes - 1))
        return sign | ((unsigned)f->codes - 1);
    int best = 0;
    for (int code = 1; code < f->codes; code++) {
        double now = fabs(fabs(x) - magnitude(f, code)), before = fabs(fabs(x) - magnitude(f, best));
        if (now < before || (now == before && code % 2 == 0))
            best = code;
    }
    return sign | (unsigned)best;
}

/* f32 quotients and products, rounded once, subnormals included. */
static float f32_op(float a, float b, bool divide)
{
    mpfr_t x, y, z;
    mpfr_inits2(24, x, y, z, (mpfr_ptr)0);
    mpfr_set_flt(x, a, MPFR_RNDN);
    mpfr_set_flt(y, b, MPFR_RNDN);
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
    int inexact = divide ? mpfr_div(z, x, y, MPFR_RNDN) : mpfr_mul(z, x, y, MPFR_RNDN);
    inexact = mpfr_check_range(z, inexact, MPFR_RNDN);
    mpfr_subnormalize(z, inexact, MPFR_RNDN);
    float result = mpfr_get_flt(z, MPFR_RNDN);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_clears(x, y, z, (mpfr_ptr)0);
    return result;
}

static float largest(const float *x, int64_t count)
{
    float amax = 0;
    for (int64_t i = 0; i < count; i++)
        if (isnan(x[i]) || !(fabsf(x[i]) <= amax))
            amax = isnan(amax) ? amax : fabsf(x[i]);
    return amax;
}

typedef struct expected {
    const minifloat *element;
    int block;
    bool nvfp4;   /* else a power of two */
    int emax;     /* of the element */
    float fp8max; /* not 0: an f32 scale amax/fp8max */
} expected;

/* One block by the recipe's text in summary. */
static void reference_block(const expected *e, const float *x, int count, float tensor_scale, uint32_t *scale,
                            uint8_t *codes)
{
    float amax = largest(x, count);
    if (e->nvfp4) {
        *scale = nearest(&e4m3, f32_op(f32_op(amax, 6, true), tensor_scale, true));
        float s = *scale == 0x7F ? NAN : (float)magnitude(&e4m3, (int)*scale);
        float divisor = f32_op(s, tensor_scale, false);
        for (int i = 0; i < count; i++)
            codes[i] = (uint8_t)nearest(e->element, s == 0 ? 0 : f32_op(x[i], divisor, true));
    } else if (e->fp8max != 0) {
        float s = amax > 0 ? f32_op(amax, e->fp8max, true) : 1;
        memcpy(scale, &s, sizeof s);
        for (int i = 0; i < count; i++)
            codes[i] = (uint8_t)nearest(e->element, f32_op(x[i], s, true));
    } else {
        int exponent = amax > 0 && isfinite(amax) ? ilogb(amax) : -1000;
        int code = !isfinite(amax) ? 255 : exponent - e->emax + 127 < 0 ? 0 : exponent - e->emax + 127;
        *scale = (uint32_t)code;
        for (int i = 0; i < count; i++)
            codes[i] = (uint8_t)nearest(e->element, code == 255 ? NAN : ldexp(x[i], 127 - code));
    }
}

static float ulps(float x, int n)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += n;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Blocks whose amax lies at a boundary between scale codes, and elements at boundaries between codes, both within one
 * ulp; zeros, subnormals, huge numbers; in some rows NaN and infinity. */
static void directed(const expected *e, fpo_random random, float *x, int64_t rows, int64_t k, float tensor_scale)
{
    int64_t blocks = (k + e->block - 1) / e->block;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t b = 0; b < blocks; b++) {
            uint64_t index = (uint64_t)(row * blocks + b) * 64;
            int code = (int)fpo_random_below(random, index, (uint64_t)e4m3.codes - 1);
            double s = (magnitude(&e4m3, code) + magnitude(&e4m3, code + 1)) / 2;
            int kind = (int)fpo_random_below(random, index + 1, 8);
            float unit =
                e->nvfp4 ? (float)s * tensor_scale : ldexpf(1, (int)fpo_random_below(random, index + 2, 240) - 120);
            float amax = ulps(unit * (float)magnitude(e->element, e->element->codes - 1), kind % 3 - 1);
            if (kind == 7)
                amax = ldexpf(1, -140), unit = ldexpf(1, -145);
            for (int64_t i = 0; i < e->block && b * e->block + i < k; i++) {
                uint64_t at = index + 3 + (uint64_t)i;
                int c = (int)fpo_random_below(random, at, (uint64_t)e->element->codes - 1);
                double middle = (magnitude(e->element, c) + magnitude(e->element, c + 1)) / 2;
                float y = ulps(unit * (float)middle, (int)fpo_random_below(random, at + (1u << 30), 3) - 1);
                y = i == 0 ? amax : fminf(y, fabsf(amax));
                if (kind == 6 && row % 4 == 1)
                    y = i == 3 ? NAN : i == 5 ? INFINITY : y;
                if (kind == 5 && row % 4 == 2)
                    y = 0;
                x[row * k + b * e->block + i] = fpo_random_below(random, at + (2u << 30), 2) ? -y : y;
            }
        }
}

static const struct {
    fpo_recipe recipe;
    expected e;
} cases[] = {
    {FPO_RECIPE_NVFP4_DIVIDE, {&e2m1, 16, true, 2, 0}},
    {FPO_RECIPE_OCP_FLOOR_MXFP4, {&e2m1, 32, false, 2, 0}},
    {FPO_RECIPE_OCP_FLOOR_MXFP6_E2M3, {&e2m3, 32, false, 2, 0}},
    {FPO_RECIPE_OCP_FLOOR_MXFP6_E3M2, {&e3m2, 32, false, 4, 0}},
    {FPO_RECIPE_OCP_FLOOR_MXFP8_E4M3, {&e4m3, 32, false, 8, 0}},
    {FPO_RECIPE_OCP_FLOOR_MXFP8_E5M2, {&e5m2, 32, false, 15, 0}},
    {FPO_RECIPE_FP8_1X128, {&e4m3, 128, false, 8, 448}},
    {FPO_RECIPE_FP8_E5M2_1X128, {&e5m2, 128, false, 15, 57344}},
};

static void compare(int which, int64_t rows, int64_t k, uint64_t seed)
{
    const fpo_recipe_info *info = fpo_recipe_describe(cases[which].recipe);
    const expected *e = &cases[which].e;
    float tensor_scale = e->nvfp4 ? 0.0123f : 1;
    float *x = malloc((size_t)(rows * k) * sizeof *x);
    directed(e, (fpo_random){seed, (uint64_t)which}, x, rows, k, tensor_scale);

    size_t row_bytes = (size_t)fpo_packing_row_bytes(FPO_PACKING_CANONICAL, info->view.element, k);
    size_t scale_columns = (size_t)((k + e->block - 1) / e->block);
    fpo_quantized got = {.codes_bytes = row_bytes * (size_t)rows, .library_scale = tensor_scale};
    got.given_library_scale = e->nvfp4;
    got.scales_bytes = scale_columns * (size_t)rows * fpo_format_describe(info->view.scale.format)->storage_bytes;
    got.codes = malloc(got.codes_bytes);
    got.scales = malloc(got.scales_bytes);
    fpo_error error;
    ck_assert_msg(fpo_quantize(cases[which].recipe, x, rows, k, &got, NULL, &error) == FPO_OK, "%s", error.message);

    uint8_t *codes = malloc((size_t)k), *row_codes = malloc((size_t)k);
    for (int64_t row = 0; row < rows; row++) {
        fpo_unpack_row(FPO_PACKING_CANONICAL, info->view.element, k, (uint8_t *)got.codes + (size_t)row * row_bytes,
                       row_codes);
        for (int64_t b = 0; b < (int64_t)scale_columns; b++) {
            int count = (int)(k - b * e->block < e->block ? k - b * e->block : e->block);
            uint32_t scale;
            reference_block(e, x + row * k + b * e->block, count, tensor_scale, &scale, codes);
            uint32_t have = fpo_load_code(info->view.scale.format, got.scales, (size_t)row * scale_columns + (size_t)b);
            float value;
            memcpy(&value, &scale, sizeof value);
            bool nan = info->view.scale.format == FPO_F32 && isnan(value);
            ck_assert_msg(have == scale || (nan && (have & 0x7FFFFFFF) > 0x7F800000),
                          "%s: scale %08x, expected %08x in row %lld block %lld", info->name, have, scale,
                          (long long)row, (long long)b);
            for (int i = 0; i < count; i++)
                ck_assert_msg(row_codes[b * e->block + i] == codes[i],
                              "%s: code %02x, expected %02x for %a in row %lld block %lld", info->name,
                              row_codes[b * e->block + i], codes[i], (double)x[row * k + b * e->block + i],
                              (long long)row, (long long)b);
        }
    }
    free(x), free(codes), free(row_codes), free(got.codes), free(got.scales);
}

START_TEST(against_mpfr)
{
    static const int64_t widths[] = {1, 15, 17, 64, 130, 1024, 1100};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        compare(_i, 5, widths[i], 100 + i);
}
END_TEST

/* Blocks that span rows, or all of a row: the scale of each is that of a block by itself. */
START_TEST(wide_blocks)
{
    static const struct {
        fpo_recipe recipe;
        int64_t rows, k; /* of a block, 0: all */
    } wide[] = {{FPO_RECIPE_FP8_TENSOR, 0, 0}, {FPO_RECIPE_FP8_ROW, 1, 0}, {FPO_RECIPE_FP8_128X128, 128, 128}};
    const int64_t rows = 150, k = 2500;
    float *x = malloc((size_t)(rows * k) * sizeof *x);
    for (int64_t i = 0; i < rows * k; i++)
        x[i] = fpo_random_normal((fpo_random){7, 7}, (uint64_t)i) * (float)(1 + i % 97);
    for (size_t w = 0; w < sizeof wide / sizeof *wide; w++) {
        int64_t block_rows = wide[w].rows > 0 ? wide[w].rows : rows, block_k = wide[w].k > 0 ? wide[w].k : k;
        int64_t across = (k + block_k - 1) / block_k, down = (rows + block_rows - 1) / block_rows;
        fpo_quantized got = {.codes_bytes = (size_t)(rows * k), .scales_bytes = (size_t)(across * down) * 4};
        got.codes = malloc(got.codes_bytes);
        got.scales = malloc(got.scales_bytes);
        ck_assert_int_eq(fpo_quantize(wide[w].recipe, x, rows, k, &got, NULL, NULL), FPO_OK);
        for (int64_t b = 0; b < across * down; b++) {
            int64_t r0 = b / across * block_rows, c0 = b % across * block_k;
            int64_t r1 = r0 + block_rows < rows ? r0 + block_rows : rows, c1 = c0 + block_k < k ? c0 + block_k : k;
            float amax = 0;
            for (int64_t r = r0; r < r1; r++)
                amax = fmaxf(amax, largest(x + r * k + c0, c1 - c0));
            float s = f32_op(amax, 448, true), have;
            memcpy(&have, (char *)got.scales + b * 4, 4);
            ck_assert(have == s);
            for (int64_t r = r0; r < r1; r += 7)
                for (int64_t c = c0; c < c1; c += 3)
                    ck_assert_uint_eq(((uint8_t *)got.codes)[r * k + c], nearest(&e4m3, f32_op(x[r * k + c], s, true)));
        }
        free(got.codes), free(got.scales);
    }
    free(x);
}
END_TEST

/* The same bits for any number of threads. */
START_TEST(threads)
{
    const int64_t rows = 67, k = 1111;
    float *x = malloc((size_t)(rows * k) * sizeof *x);
    for (int64_t i = 0; i < rows * k; i++)
        x[i] = fpo_random_normal((fpo_random){8, 8}, (uint64_t)i);
    for (int recipe = 0; recipe <= FPO_RECIPE_FP8_128X128; recipe++) {
        const fpo_operand_view *view = &fpo_recipe_describe((fpo_recipe)recipe)->view;
        fpo_quantized result[2];
        for (int i = 0; i < 2; i++) {
            fpo_execution execution = {.threads = i == 0 ? 1 : 5};
            result[i] = (fpo_quantized){.codes_bytes = fpo_operand_codes_bytes(view, rows, k),
                                        .scales_bytes = fpo_operand_scales_bytes(view, rows, k)};
            result[i].codes = malloc(result[i].codes_bytes);
            result[i].scales = malloc(result[i].scales_bytes);
            ck_assert_int_eq(fpo_quantize((fpo_recipe)recipe, x, rows, k, &result[i], &execution, NULL), FPO_OK);
        }
        ck_assert_mem_eq(result[0].codes, result[1].codes, result[0].codes_bytes);
        ck_assert_mem_eq(result[0].scales, result[1].scales, result[0].scales_bytes);
        ck_assert(result[0].tensor_scale == result[1].tensor_scale);
        for (int i = 0; i < 2; i++)
            free(result[i].codes), free(result[i].scales);
    }
    free(x);
}
END_TEST

#ifdef __SSE__
/* A program that flushes subnormals or rounds upward gets the same bytes, and keeps its ways. */
START_TEST(environment)
{
    float x[64];
    for (int i = 0; i < 64; i++)
        x[i] = ldexpf((float)(i - 20) / 7, -126 - i % 3);
    uint8_t codes[2][32], scales[2][4];
    float scale[2];
    unsigned before = _mm_getcsr();
    for (int i = 0; i < 2; i++) {
        fpo_quantized result = {.codes = codes[i], .codes_bytes = 32, .scales = scales[i], .scales_bytes = 4};
        fpo_execution execution = {.threads = 2};
        unsigned odd = before | 0x8040u | 0x4000u; /* flush, zero, toward +infinity */
        _mm_setcsr(i == 0 ? before : odd);
        ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, 1, 64, &result, &execution, NULL), FPO_OK);
        ck_assert_uint_eq(_mm_getcsr() & ~0x3Fu, (i == 0 ? before : odd) & ~0x3Fu);
        _mm_setcsr(before);
        scale[i] = result.tensor_scale;
    }
    ck_assert_mem_eq(codes[0], codes[1], 32);
    ck_assert_mem_eq(scales[0], scales[1], 4);
    ck_assert_mem_eq(&scale[0], &scale[1], 4);
    ck_assert_uint_ne(scales[0][0], 0);
}
END_TEST
#endif

/* faults.md, ties: nearest even, and the tensor scale is taken as given. */
START_TEST(ties)
{
    static const float x[16] = {.25f, -.25f, .75f, -.75f, 1.25f, -1.25f, 1.75f, -1.75f,
                                2.5f, -2.5f, 3.5f, -3.5f, 5,     -5,     6,     -6};
    static const uint8_t expected_codes[8] = {0x80, 0xA2, 0xA2, 0xC4, 0xC4, 0xE6, 0xE6, 0xF7};
    uint8_t codes[8], scale;
    fpo_quantized result = {.codes = codes, .codes_bytes = 8, .scales = &scale, .scales_bytes = 1};
    result.library_scale = 1;
    result.given_library_scale = true;
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, 1, 16, &result, NULL, NULL), FPO_OK);
    ck_assert_uint_eq(scale, 0x38);
    ck_assert_mem_eq(codes, expected_codes, 8);
    ck_assert(result.tensor_scale == 1);
    result.given_library_scale = false;
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, 1, 16, &result, NULL, NULL), FPO_OK);
    ck_assert(result.tensor_scale == 6.0f / 2688);
    ck_assert_uint_eq(scale, 0x7E);
}
END_TEST

/* faults.md, zero rows. */
START_TEST(zero_row)
{
    float x[128] = {0};
    for (int i = 0; i < 64; i++)
        x[i] = 1;
    uint8_t codes[64], scales[8];
    fpo_quantized result = {.codes = codes, .codes_bytes = 64, .scales = scales, .scales_bytes = 8};
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, 2, 64, &result, NULL, NULL), FPO_OK);
    for (int i = 32; i < 64; i++)
        ck_assert_uint_eq(codes[i], 0);
    memset(x, 0, sizeof x);
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, 2, 64, &result, NULL, NULL), FPO_OK);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_eq(codes[i], 0);
    ck_assert(result.tensor_scale == 1);
}
END_TEST

/* A tensor scale that is given decides the multiplier, whatever the numbers are. */
START_TEST(a_given_scale_decides)
{
    static float x[2][64];
    int decided = 0;
    for (int i = 0; i < 64; i++) {
        x[0][i] = (float)(i % 13) - 6.25f;
        x[1][i] = 11 * x[0][63 - i];
    }
    for (int recipe = 0; recipe < FPO_RECIPE_COUNT; recipe++) {
        const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)recipe);
        uint8_t codes[256], scales[256];
        float row_scales[2], multiplier[2];
        for (int i = 0; i < 2; i++) {
            fpo_quantized q = {.codes = codes,
                               .codes_bytes = fpo_operand_codes_bytes(&info->view, 1, 64),
                               .scales = scales,
                               .scales_bytes = fpo_operand_scales_bytes(&info->view, 1, 64),
                               .row_scales = row_scales,
                               .library_scale = 3.0f,
                               .given_library_scale = true};
            ck_assert_int_eq(fpo_quantize((fpo_recipe)recipe, x[i], 1, 64, &q, NULL, NULL), FPO_OK);
            multiplier[i] = q.tensor_scale;
        }
        ck_assert_msg(multiplier[0] == multiplier[1], "%s: %g and %g", info->name, (double)multiplier[0],
                      (double)multiplier[1]);
        decided += multiplier[0] != 1.0f;
    }
    ck_assert_int_ge(decided, 40);
}
END_TEST

/* Stochastic rounding: the bits of (seed, element) alone decide, whatever the threads, and the mean is the value.
 * `draws` says which bits these are. */
static void round_stochastically(const char *draws, fpo_draw_rule rule)
{
    enum { ROWS = 40, K = 1600 };
    static float x[ROWS * K];
    static uint8_t codes[3][ROWS * K / 2], scales[ROWS * K / 16];
    for (int i = 0; i < ROWS * K; i++)
        x[i] = i % 16 == 0 ? 6 : (float)(i % 16) * 0.37f;
    char text[128];
    snprintf(text, sizeof text, "%s block: scale = e4m3(amax / 6); element: code = e2m1.rs(x / scale);", draws);
    fpo_recipe_info info = *fpo_recipe_describe(FPO_RECIPE_NVFP4_DIVIDE);
    info.text = text;
    for (int i = 0; i < 3; i++) {
        fpo_quantized result = {.codes = codes[i], .codes_bytes = sizeof codes[i], .scales = scales};
        fpo_execution execution = {.threads = i == 1 ? 3 : 1};
        result.scales_bytes = sizeof scales;
        result.seed = i == 2 ? 8 : 7;
        ck_assert_int_eq(fpo_quantize_by(&info, x, ROWS, K, &result, &execution, NULL), FPO_OK);
    }
    ck_assert_mem_eq(codes[0], codes[1], sizeof codes[0]);
    ck_assert(memcmp(codes[0], codes[2], sizeof codes[0]) != 0);
    fpo_cast cast = *fpo_cast_describe(FPO_CAST_PTX);
    cast.rounding = FPO_STOCHASTIC;
    fpo_draws how = {.rule = rule, .seed = 7, .rows = ROWS, .k = K};
    double sums[16] = {0};
    for (int i = 0; i < ROWS * K; i++) {
        unsigned code = codes[0][i / 2] >> i % 2 * 4 & 15;
        uint32_t bits = fpo_draw_bits(&how, i / K, i % K);
        if (rule == FPO_DRAW_INDEX)
            ck_assert_uint_eq(bits, (uint32_t)fpo_random_bits((fpo_random){7, 0}, (uint64_t)i));
        ck_assert_uint_eq(code, fpo_encode(FPO_E2M1, fpo_value_from_float(x[i]), &cast, bits));
        sums[i % 16] += fpo_decode_double(FPO_E2M1, code);
    }
    for (int i = 1; i < 16; i++) {
        double mean = sums[i] / (ROWS * K / 16), deviation = 1 / sqrt(ROWS * K / 16); /* steps of at most 2 */
        ck_assert_msg(fabs(mean - (double)x[i]) < 5 * deviation, "mean %g of %g", mean, (double)x[i]);
    }
}

START_TEST(stochastic)
{
    static const char *const draws[FPO_DRAW_COUNT] = {"", "te_row_bits;", "te_row_bits_of_both;", "te_column_bits;",
                                                      "te_row_bits_cvt;"};
    round_stochastically(draws[_i], (fpo_draw_rule)_i);
}
END_TEST

START_TEST(registry)
{
    for (int recipe = 0; recipe < FPO_RECIPE_COUNT; recipe++) {
        const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)recipe);
        ck_assert_int_eq(fpo_recipe_by_name(info->name), recipe);
    }
    ck_assert_int_eq(fpo_recipe_default(FPO_BLOCK_NVFP4), FPO_RECIPE_NVFP4_DIVIDE);
    ck_assert_int_eq(fpo_recipe_default(FPO_BLOCK_PLAIN_BF16), FPO_RECIPE_COUNT);
    ck_assert_int_eq(fpo_recipe_by_name("none such"), FPO_RECIPE_COUNT);
}
END_TEST

START_TEST(refusals)
{
    float x[32] = {0};
    uint8_t codes[16], scales[2];
    fpo_quantized result = {.codes = codes, .codes_bytes = 16, .scales = scales, .scales_bytes = 3};
    fpo_error error;
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, 1, 32, &result, NULL, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_nonnull(strstr(error.message, "take 2 bytes, not 3"));
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, 0, 32, &result, NULL, &error), FPO_ERR_SHAPE);
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_NVFP4_DIVIDE, x, INT64_MAX / 2, 32, &result, NULL, &error), FPO_ERR_SHAPE);
    ck_assert_int_eq(fpo_quantize(FPO_RECIPE_COUNT, x, 1, 32, &result, NULL, &error), FPO_ERR_ARGUMENT);
    static float wide[2000];
    static uint8_t many[1000];
    fpo_recipe_info row = {.name = "wide", .text = "even_odd; block: scale = amax; element: code = e2m1(x / scale);"};
    row.view = (fpo_operand_view){.element = FPO_E2M1, .packing = FPO_PACKING_CANONICAL};
    row.view.scale = (fpo_scale_view){FPO_UE4M3, 1, 0, FPO_LAYOUT_LINEAR};
    result = (fpo_quantized){.codes = many, .codes_bytes = sizeof many, .scales = scales, .scales_bytes = 1};
    ck_assert_int_eq(fpo_quantize_by(&row, wide, 1, 2000, &result, NULL, &error), FPO_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "even_odd over blocks of more than 1024"));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("quantize");
    TCase *tests = tcase_create("recipes of no library");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, against_mpfr, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tests, wide_blocks);
    tcase_add_test(tests, threads);
#ifdef __SSE__
    tcase_add_test(tests, environment);
#endif
    tcase_add_test(tests, ties);
    tcase_add_test(tests, zero_row);
    tcase_add_loop_test(tests, stochastic, 0, FPO_DRAW_COUNT);
    tcase_add_test(tests, a_given_scale_decides);
    tcase_add_test(tests, registry);
    tcase_add_test(tests, refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
