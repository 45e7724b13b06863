/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of mma_tile.h for one instruction set: included once by each of mma_portable.c, mma_avx2.c and
 * mma_avx512.c, which define the vectors of 8 columns (words, floats, doubles) and their operations.
 *
 * A term is a product of exact numbers, times 2^(fraction_bits - e), cut to an integer: e is the largest exponent, of C
 * or of any group (any product) that is not zero. Sums of these integers are exact in a double; cutting such a sum to
 * the result's bits and multiplying by 2^(e - fraction_bits) is the step's one rounding, toward zero, as long as the
 * result is a normal number. */
#include "mma_tile.h"

enum { GROUPS = FPO_MMA_K / FPO_FAST_GROUP, QUADS = FPO_MMA_K / 8, SINGLE_K = 32 };

/* ---- C and D ---- */

/* Exponents of C, FPO_FAST_ABSENT for zero; *special: those that are infinite or NaN. */
static inline words exponents_of(words c, words *special)
{
    words field = w_and(w_shift_right(c, 23), w_set1(255));
    words zero = w_equal(w_and(c, w_set1(0x7FFFFFFF)), w_set1(0));
    *special = w_equal(field, w_set1(255));
    return w_select(zero, w_set1(FPO_FAST_ABSENT), w_sub(w_max(field, w_set1(1)), w_set1(127)));
}

/* The result of a row. `sum` counts in units of 2^-scale. Returns the columns whose result it is not. */
static inline unsigned finish(const fpo_step *step, doubles sum, words scale, words special, uint32_t *d)
{
    words outside;
    doubles kept = d_keep(sum, step->result_bits);
    words result = d_to_floats(d_mul(kept, d_power(w_sub(w_set1(0), scale))), &outside);
    words left = w_or(special, outside);
    w_store(d, w_select(left, w_load(d), result));
    return w_mask(left);
}

static inline doubles cut_c(words c, words scale)
{
    return d_cut(d_mul(d_from_floats(c), d_power(scale)));
}

/* ---- groups of 16 elements of FP4 ----
 *
 * Words of 8 elements are split into their even and odd nibbles: four elements of a byte each, in the same order in A
 * and in B, which is all that a sum of products needs. */

typedef struct group_sides {
    _Alignas(64) int8_t a[FPO_TILE_ROWS][2][32]; /* even and odd elements of each word, in halves */
    _Alignas(64) uint8_t b[QUADS][2][32];        /* 8 columns of four elements, in halves, plus 12 */
    int32_t correction[FPO_TILE_ROWS][GROUPS];   /* what the 12 adds, negated */
    uint32_t a_any[FPO_TILE_ROWS][GROUPS];       /* bits: elements of a group that are not zero */
    double a_factor[FPO_TILE_ROWS][GROUPS];
    int32_t a_exponent[FPO_TILE_ROWS][GROUPS];
    _Alignas(64) double b_factor[GROUPS][FPO_TILE_COLUMNS];
    _Alignas(64) int32_t b_exponent[GROUPS][FPO_TILE_COLUMNS];
    _Alignas(64) uint32_t b_any[GROUPS][FPO_TILE_COLUMNS];
    _Alignas(32) int32_t special_columns[FPO_TILE_COLUMNS]; /* all bits: has a NaN or an infinity */
    bool special_rows[FPO_TILE_ROWS];
} group_sides;

/* Bit 0 of each nibble: the element is not zero. */
static inline uint32_t nonzero_nibbles(uint32_t word)
{
    return (word | word >> 1 | word >> 2) & 0x11111111;
}

static inline void load_groups_a(const fpo_mma_tile *tile, group_sides *s)
{
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        const uint32_t *first = tile->a[m / 8] + m % 8 * 4, *second = tile->a[m / 8 + 2] + m % 8 * 4;
        unpack_row(first, second, s->a[m][0], s->a[m][1], s->correction[m]);
        for (int g = 0; g < GROUPS; g++) {
            const uint32_t *word = (g < 2 ? first : second) + g % 2 * 2;
            s->a_any[m][g] = nonzero_nibbles(word[0]) | nonzero_nibbles(word[1]) << 1;
        }
    }
}

static inline void load_groups_b(const fpo_mma_tile *tile, group_sides *s)
{
    _Alignas(32) uint32_t turned[QUADS][FPO_TILE_COLUMNS];
    for (int q = 0; q < QUADS; q++)
        for (int n = 0; n < FPO_TILE_COLUMNS; n++)
            turned[q][n] = tile->b[q / 4][4 * n + q % 4];
    for (int q = 0; q < QUADS; q++)
        unpack_columns(turned[q], s->b[q][0], s->b[q][1]);
    for (int g = 0; g < GROUPS; g++)
        for (int n = 0; n < FPO_TILE_COLUMNS; n++)
            s->b_any[g][n] = nonzero_nibbles(turned[2 * g][n]) | nonzero_nibbles(turned[2 * g + 1][n]) << 1;
}

static inline void load_group_scales(const fpo_mma_unit *unit, const fpo_mma_tile *tile, group_sides *s)
{
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        s->special_rows[m] = false;
        for (int g = 0; g < GROUPS; g++) {
            const fpo_tile_scale *x = &unit->tile_scale[tile->a_scale[m][g * unit->scales / GROUPS]];
            s->a_factor[m][g] = x->factor;
            s->a_exponent[m][g] = x->exponent;
            s->special_rows[m] |= x->special;
        }
    }
    for (int n = 0; n < FPO_TILE_COLUMNS; n++) {
        s->special_columns[n] = 0;
        for (int g = 0; g < GROUPS; g++) {
            const fpo_tile_scale *x = &unit->tile_scale[tile->b_scale[n][g * unit->scales / GROUPS]];
            s->b_factor[g][n] = x->factor;
            s->b_exponent[g][n] = x->exponent;
            s->special_columns[n] |= -(int32_t)x->special;
        }
    }
}

/* Exponent of the largest group of a row in each column, of C and of the floor. */
static inline words largest_group(const group_sides *s, int m, words least)
{
    for (int g = 0; g < GROUPS; g++) {
        words exponent = w_add(w_load(s->b_exponent[g]), w_set1(s->a_exponent[m][g]));
        words common = w_and(w_load(s->b_any[g]), w_set1((int32_t)s->a_any[m][g]));
        words absent = w_equal(common, w_set1(0));
        least = w_max(least, w_select(absent, w_set1(FPO_FAST_ABSENT), exponent));
    }
    return least;
}

void TILE_GROUPS(const fpo_mma_unit *unit, fpo_mma_tile *tile)
{
    group_sides s;
    load_groups_a(tile, &s);
    load_groups_b(tile, &s);
    load_group_scales(unit, tile, &s);
    const fpo_step *step = unit->step;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        tile->left[m] = 0xFF;
        if (s.special_rows[m])
            continue;
        words special, c = w_load(tile->d[m]), exponent = exponents_of(c, &special);
        words e = largest_group(&s, m, w_max(exponent, w_set1(step->e_zero)));
        words scale = w_sub(w_set1(step->fraction_bits), e);
        doubles sum = d_add(d_set1(0), cut_c(c, scale));
        doubles power = d_power(w_sub(scale, w_set1(2))); /* products of halves */
#pragma GCC unroll 4
        for (int g = 0; g < GROUPS; g++) {
            words dot = dot_group(s.b[2 * g][0], &s.a[m][0][8 * g], &s.a[m][1][8 * g], s.correction[m][g]);
            doubles factor = d_mul(d_mul(d_load(s.b_factor[g]), d_set1(s.a_factor[m][g])), power);
            sum = d_add(sum, d_cut(d_mul(d_from_words(dot), factor)));
        }
        tile->left[m] = (uint8_t)finish(step, sum, scale, w_or(special, w_load(s.special_columns)), tile->d[m]);
    }
}

/* ---- one sum of 32 elements of up to 8 bits ---- */

typedef struct single_sides {
    _Alignas(64) uint8_t a_bytes[FPO_TILE_ROWS][SINGLE_K], b_bytes[SINGLE_K][FPO_TILE_COLUMNS];
    _Alignas(64) int8_t a_exponent[FPO_TILE_ROWS][SINGLE_K], b_exponent[SINGLE_K][FPO_TILE_COLUMNS];
    _Alignas(64) float a[FPO_TILE_ROWS][SINGLE_K], b[SINGLE_K][FPO_TILE_COLUMNS];
    uint8_t a_special[FPO_TILE_ROWS * SINGLE_K], b_special[SINGLE_K * FPO_TILE_COLUMNS];
    int32_t a_scale[FPO_TILE_ROWS];
    _Alignas(32) int32_t b_scale[FPO_TILE_COLUMNS], special_columns[FPO_TILE_COLUMNS];
    bool special_rows[FPO_TILE_ROWS];
} single_sides;

enum { NO_EXPONENT = -128 }; /* of a zero: with any other, far below those of products */

/* Exponents of elements, and which are NaN or infinite. */
static inline void decode_exponents(const fpo_tile_element *how, const uint8_t *bytes, int count, int8_t *exponent,
                                    uint8_t *special)
{
    for (int i = 0; i < count; i++) {
        uint8_t magnitude = (uint8_t)(bytes[i] >> how->shift) & how->magnitude;
        uint8_t field = (uint8_t)(magnitude >> how->mantissa_bits);
        int8_t e = (int8_t)((field > 1 ? field : 1) - how->bias);
        exponent[i] = magnitude == 0 ? NO_EXPONENT : e;
        special[i] = magnitude >= how->special;
    }
}

/* Finite elements as floats: the significand as an integer, times a power of two. */
static inline void decode_values(const fpo_tile_element *how, const uint8_t *bytes, int count, float *value)
{
    for (int i = 0; i < count; i++) {
        int32_t code = bytes[i] >> how->shift, magnitude = code & how->magnitude;
        int32_t field = magnitude >> how->mantissa_bits, one = 1 << how->mantissa_bits;
        int32_t significand = (magnitude & (one - 1)) | (field != 0 ? one : 0);
        int32_t exponent = (field > 1 ? field : 1) - how->bias - how->mantissa_bits;
        union {
            int32_t bits;
            float number;
        } power = {(exponent + 127) << 23};
        value[i] = (float)(code & how->sign ? -significand : significand) * power.number;
    }
}

static inline void load_single_a(const fpo_tile_element *how, const fpo_mma_tile *tile, single_sides *s)
{
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        memcpy(s->a_bytes[m], tile->a[m / 8] + m % 8 * 4, 16);
        memcpy(s->a_bytes[m] + 16, tile->a[m / 8 + 2] + m % 8 * 4, 16);
    }
    decode_exponents(how, s->a_bytes[0], FPO_TILE_ROWS * SINGLE_K, s->a_exponent[0], s->a_special);
    decode_values(how, s->a_bytes[0], FPO_TILE_ROWS * SINGLE_K, s->a[0]);
}

static inline void load_single_b(const fpo_tile_element *how, const fpo_mma_tile *tile, single_sides *s)
{
    for (int q = 0; q < SINGLE_K / 4; q++) {
        _Alignas(32) uint32_t turned[FPO_TILE_COLUMNS];
        for (int n = 0; n < FPO_TILE_COLUMNS; n++)
            turned[n] = tile->b[q / 4][4 * n + q % 4];
        turn_bytes(turned, s->b_bytes[4 * q]);
    }
    decode_exponents(how, s->b_bytes[0], FPO_TILE_COLUMNS * SINGLE_K, s->b_exponent[0], s->b_special);
    decode_values(how, s->b_bytes[0], FPO_TILE_COLUMNS * SINGLE_K, s->b[0]);
}

static inline void find_special(const fpo_mma_unit *unit, const fpo_mma_tile *tile, single_sides *s)
{
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        const fpo_tile_scale *x = &unit->tile_scale[tile->a_scale[m][0]];
        uint8_t any = scaled && x->special;
        for (int k = 0; k < SINGLE_K; k++)
            any |= s->a_special[m * SINGLE_K + k];
        s->special_rows[m] = any != 0;
        s->a_scale[m] = scaled ? x->exponent : 0;
    }
    for (int n = 0; n < FPO_TILE_COLUMNS; n++) {
        const fpo_tile_scale *x = &unit->tile_scale[tile->b_scale[n][0]];
        s->special_columns[n] = -(int32_t)(scaled && x->special);
        s->b_scale[n] = scaled ? x->exponent : 0;
    }
    for (int k = 0; k < SINGLE_K; k++)
        for (int n = 0; n < FPO_TILE_COLUMNS; n++)
            s->special_columns[n] |= -(int32_t)s->b_special[k * FPO_TILE_COLUMNS + n];
}

/* Sums of 16 terms below 2^27 each: two sums. */
static inline doubles add_products(const single_sides *s, int m, floats power)
{
    words sum[2] = {w_set1(0), w_set1(0)};
    for (int half = 0; half < 2; half++) {
#pragma GCC unroll 16
        for (int k = 0; k < SINGLE_K / 2; k++) {
            int at = half * SINGLE_K / 2 + k;
            floats product = f_mul(f_mul(f_set1(s->a[m][at]), f_load(s->b[at])), power);
            sum[half] = w_add(sum[half], w_from_floats(product));
        }
    }
    return d_add(d_from_words(sum[0]), d_from_words(sum[1]));
}

void TILE_SINGLE(const fpo_mma_unit *unit, fpo_mma_tile *tile)
{
    enum { LEAST_PRODUCT = -100, LEAST_POWER = -127, MOST_POWER = 100 };
    single_sides s;
    load_single_a(&unit->tile_element[0], tile, &s);
    load_single_b(&unit->tile_element[1], tile, &s);
    find_special(unit, tile, &s);
    const fpo_step *step = unit->step;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        tile->left[m] = 0xFF;
        if (s.special_rows[m])
            continue;
        words special, c = w_load(tile->d[m]), exponent = exponents_of(c, &special);
        words factor = w_add(w_load(s.b_scale), w_set1(s.a_scale[m]));
        words largest = largest_product(s.a_exponent[m], s.b_exponent[0]);
        words absent = w_less(largest, w_set1(LEAST_PRODUCT));
        words e = w_max(w_max(exponent, w_set1(step->e_zero)),
                        w_select(absent, w_set1(FPO_FAST_ABSENT), w_add(largest, factor)));
        words scale = w_sub(w_set1(step->fraction_bits), e);
        /* Below the least power nothing is left of a product; where there are none, any power will do. */
        words power = w_min(w_max(w_add(scale, factor), w_set1(LEAST_POWER)), w_set1(MOST_POWER));
        doubles sum = d_add(cut_c(c, scale), add_products(&s, m, f_power(power)));
        sum = d_add(sum, d_set1(0));
        tile->left[m] = (uint8_t)finish(step, sum, scale, w_or(special, w_load(s.special_columns)), tile->d[m]);
    }
}
