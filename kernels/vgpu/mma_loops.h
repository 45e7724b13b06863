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

enum { GROUPS = FPO_TILE_GROUPS, QUADS = FPO_TILE_WORDS, SINGLE_K = FPO_TILE_SINGLE_K };

/* ---- what is kept ---- */

static inline unsigned place_of(const uint32_t *registers)
{
    return (unsigned)((uintptr_t)registers / (FPO_PTX_WARP * sizeof *registers) % FPO_TILE_KEPT);
}

static inline uint32_t differ(const uint32_t *restrict x, const uint32_t *restrict y, int count)
{
    uint32_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= x[i] ^ y[i];
    return bits;
}

/* True if the entry is of these fragments; else its key is set to them. */
static inline bool is_kept(fpo_tile_key *key, const fpo_mma_unit *unit, const uint32_t *const *registers, int count,
                           const uint8_t (*scale)[FPO_TILE_SCALES], int rows)
{
    uint32_t codes[FPO_TILE_ROWS];
    memcpy(codes, scale, (size_t)rows * sizeof *scale);
    uint32_t bits = differ(key->scale, codes, rows);
    for (int r = 0; r < count; r++)
        bits |= differ(key->registers[r], registers[r], FPO_PTX_WARP);
    if (bits == 0 && key->unit == unit)
        return true;
    key->unit = unit;
    memcpy(key->scale, codes, (size_t)rows * sizeof *codes);
    for (int r = 0; r < count; r++)
        memcpy(key->registers[r], registers[r], sizeof key->registers[r]);
    return false;
}

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

/* Bit 0 of each nibble: the element is not zero. */
static inline uint32_t nonzero_nibbles(uint32_t word)
{
    return (word | word >> 1 | word >> 2) & 0x11111111;
}

static inline const fpo_groups_a *groups_a(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_groups_a *a = &kept->groups_a[place_of(tile->a[0])];
    if (is_kept(&a->key, unit, tile->a, 4, tile->a_scale, FPO_TILE_ROWS))
        return a;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        const uint32_t *first = tile->a[m / 8] + m % 8 * 4, *second = tile->a[m / 8 + 2] + m % 8 * 4;
        unpack_row(first, second, a->elements[m][0], a->elements[m][1], a->correction[m]);
        a->special[m] = false;
        for (int g = 0; g < GROUPS; g++) {
            const uint32_t *word = (g < 2 ? first : second) + g % 2 * 2;
            a->any[m][g] = nonzero_nibbles(word[0]) | nonzero_nibbles(word[1]) << 1;
            const fpo_tile_scale *x = &unit->tile_scale[tile->a_scale[m][g * unit->scales / GROUPS]];
            a->factor[m][g] = x->factor;
            a->exponent[m][g] = x->exponent;
            a->special[m] |= x->special;
        }
    }
    return a;
}

static inline const fpo_groups_b *groups_b(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_groups_b *b = &kept->groups_b[place_of(tile->b[0])];
    if (is_kept(&b->key, unit, tile->b, 2, tile->b_scale, FPO_TILE_COLUMNS))
        return b;
    _Alignas(32) uint32_t turned[QUADS][FPO_TILE_COLUMNS];
    for (int q = 0; q < QUADS; q++)
        for (int n = 0; n < FPO_TILE_COLUMNS; n++)
            turned[q][n] = tile->b[q / 4][4 * n + q % 4];
    for (int q = 0; q < QUADS; q++)
        unpack_columns(turned[q], b->elements[q][0], b->elements[q][1]);
    memset(b->special, 0, sizeof b->special);
    for (int g = 0; g < GROUPS; g++) {
        for (int n = 0; n < FPO_TILE_COLUMNS; n++) {
            b->any[g][n] = nonzero_nibbles(turned[2 * g][n]) | nonzero_nibbles(turned[2 * g + 1][n]) << 1;
            const fpo_tile_scale *x = &unit->tile_scale[tile->b_scale[n][g * unit->scales / GROUPS]];
            b->factor[g][n] = x->factor;
            b->exponent[g][n] = x->exponent;
            b->special[n] |= -(int32_t)x->special;
        }
    }
    return b;
}

/* Exponent of the largest group of a row in each column, of C and of the floor. */
static inline words largest_group(const fpo_groups_a *a, int m, const fpo_groups_b *b, words least)
{
#pragma GCC unroll 4
    for (int g = 0; g < GROUPS; g++) {
        words exponent = w_add(w_load(b->exponent[g]), w_set1(a->exponent[m][g]));
        words common = w_and(w_load(b->any[g]), w_set1((int32_t)a->any[m][g]));
        words absent = w_equal(common, w_set1(0));
        least = w_max(least, w_select(absent, w_set1(FPO_FAST_ABSENT), exponent));
    }
    return least;
}

void TILE_GROUPS(const fpo_mma_unit *unit, fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    const fpo_groups_a *a = groups_a(unit, tile, kept);
    const fpo_groups_b *b = groups_b(unit, tile, kept);
    const fpo_step *step = unit->step;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        tile->left[m] = 0xFF;
        if (a->special[m])
            continue;
        words special, c = w_load(tile->d[m]), exponent = exponents_of(c, &special);
        words e = largest_group(a, m, b, w_max(exponent, w_set1(step->e_zero)));
        words scale = w_sub(w_set1(step->fraction_bits), e);
        doubles sum = d_add(d_set1(0), cut_c(c, scale));
        doubles power = d_power(w_sub(scale, w_set1(2))); /* products of halves */
#pragma GCC unroll 4
        for (int g = 0; g < GROUPS; g++) {
            words dot = dot_group(b->elements[2 * g][0], &a->elements[m][0][8 * g], &a->elements[m][1][8 * g],
                                  a->correction[m][g]);
            doubles factor = d_mul(d_mul(d_load(b->factor[g]), d_set1(a->factor[m][g])), power);
            sum = d_add(sum, d_cut(d_mul(d_from_words(dot), factor)));
        }
        tile->left[m] = (uint8_t)finish(step, sum, scale, w_or(special, w_load(b->special)), tile->d[m]);
    }
}

/* ---- one sum of 32 elements of up to 8 bits ---- */

enum { NO_EXPONENT = -128 }; /* of a zero: with any other, far below those of products */

/* Exponents of elements, and which are NaN or infinite. */
static inline void decode_exponents(fpo_tile_element how, const uint8_t *restrict bytes, int count,
                                    int8_t *restrict exponent, uint8_t *restrict special)
{
    for (int i = 0; i < count; i++) {
        uint8_t magnitude = (uint8_t)(bytes[i] >> how.shift) & how.magnitude;
        uint8_t field = (uint8_t)(magnitude >> how.mantissa_bits);
        int8_t e = (int8_t)((field > 1 ? field : 1) - how.bias);
        exponent[i] = magnitude == 0 ? NO_EXPONENT : e;
        special[i] = magnitude >= how.special;
    }
}

/* Finite elements as floats: the significand as an integer, times a power of two. */
static inline void decode_values(fpo_tile_element how, const uint8_t *restrict bytes, int count, float *restrict value)
{
    for (int i = 0; i < count; i++) {
        int32_t code = bytes[i] >> how.shift, magnitude = code & how.magnitude;
        int32_t field = magnitude >> how.mantissa_bits, one = 1 << how.mantissa_bits;
        int32_t significand = (magnitude & (one - 1)) | (field != 0 ? one : 0);
        int32_t exponent = (field > 1 ? field : 1) - how.bias - how.mantissa_bits;
        union {
            int32_t bits;
            float number;
        } power = {(exponent + 127) << 23};
        value[i] = (float)(code & how.sign ? -significand : significand) * power.number;
    }
}

static inline const fpo_single_a *single_a(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_single_a *a = &kept->single_a[place_of(tile->a[0])];
    if (is_kept(&a->key, unit, tile->a, 4, tile->a_scale, FPO_TILE_ROWS))
        return a;
    fpo_tile_element how = unit->tile_element[0];
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        uint8_t bytes[SINGLE_K], special[SINGLE_K];
        memcpy(bytes, tile->a[m / 8] + m % 8 * 4, SINGLE_K / 2);
        memcpy(bytes + SINGLE_K / 2, tile->a[m / 8 + 2] + m % 8 * 4, SINGLE_K / 2);
        decode_exponents(how, bytes, SINGLE_K, a->exponent[m], special);
        decode_values(how, bytes, SINGLE_K, a->value[m]);
        const fpo_tile_scale *x = &unit->tile_scale[tile->a_scale[m][0]];
        uint8_t any = scaled && x->special;
        for (int k = 0; k < SINGLE_K; k++)
            any |= special[k];
        a->special[m] = any != 0;
        a->scale[m] = scaled ? x->exponent : 0;
    }
    return a;
}

static inline const fpo_single_b *single_b(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_single_b *b = &kept->single_b[place_of(tile->b[0])];
    if (is_kept(&b->key, unit, tile->b, 2, tile->b_scale, FPO_TILE_COLUMNS))
        return b;
    fpo_tile_element how = unit->tile_element[1];
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    _Alignas(32) uint8_t bytes[SINGLE_K][FPO_TILE_COLUMNS], special[SINGLE_K][FPO_TILE_COLUMNS];
    for (int q = 0; q < SINGLE_K / 4; q++) {
        _Alignas(32) uint32_t turned[FPO_TILE_COLUMNS];
        for (int n = 0; n < FPO_TILE_COLUMNS; n++)
            turned[n] = tile->b[q / 4][4 * n + q % 4];
        turn_bytes(turned, bytes[4 * q]);
    }
    decode_exponents(how, bytes[0], FPO_TILE_COLUMNS * SINGLE_K, b->exponent[0], special[0]);
    decode_values(how, bytes[0], FPO_TILE_COLUMNS * SINGLE_K, b->value[0]);
    for (int n = 0; n < FPO_TILE_COLUMNS; n++) {
        const fpo_tile_scale *x = &unit->tile_scale[tile->b_scale[n][0]];
        b->special[n] = -(int32_t)(scaled && x->special);
        b->scale[n] = scaled ? x->exponent : 0;
    }
    for (int k = 0; k < SINGLE_K; k++)
        for (int n = 0; n < FPO_TILE_COLUMNS; n++)
            b->special[n] |= -(int32_t)special[k][n];
    return b;
}

/* Sums of 16 terms below 2^27 each: two sums. */
static inline doubles add_products(const float *a, const fpo_single_b *b, floats power)
{
    words sum[2] = {w_set1(0), w_set1(0)};
    for (int half = 0; half < 2; half++) {
#pragma GCC unroll 16
        for (int k = 0; k < SINGLE_K / 2; k++) {
            int at = half * SINGLE_K / 2 + k;
            floats product = f_mul(f_mul(f_set1(a[at]), f_load(b->value[at])), power);
            sum[half] = w_add(sum[half], w_from_floats(product));
        }
    }
    return d_add(d_from_words(sum[0]), d_from_words(sum[1]));
}

void TILE_SINGLE(const fpo_mma_unit *unit, fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    enum { LEAST_PRODUCT = -100, LEAST_POWER = -127, MOST_POWER = 100 };
    const fpo_single_a *a = single_a(unit, tile, kept);
    const fpo_single_b *b = single_b(unit, tile, kept);
    const fpo_step *step = unit->step;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        tile->left[m] = 0xFF;
        if (a->special[m])
            continue;
        words special, c = w_load(tile->d[m]), exponent = exponents_of(c, &special);
        words factor = w_add(w_load(b->scale), w_set1(a->scale[m]));
        words largest = largest_product(a->exponent[m], b->exponent[0]);
        words absent = w_less(largest, w_set1(LEAST_PRODUCT));
        words e = w_max(w_max(exponent, w_set1(step->e_zero)),
                        w_select(absent, w_set1(FPO_FAST_ABSENT), w_add(largest, factor)));
        words scale = w_sub(w_set1(step->fraction_bits), e);
        /* Below the least power nothing is left of a product; where there are none, any power will do. */
        words power = w_min(w_max(w_add(scale, factor), w_set1(LEAST_POWER)), w_set1(MOST_POWER));
        doubles sum = d_add(cut_c(c, scale), add_products(a->value[m], b, f_power(power)));
        sum = d_add(sum, d_set1(0)); /* no -0 */
        tile->left[m] = (uint8_t)finish(step, sum, scale, w_or(special, w_load(b->special)), tile->d[m]);
    }
}
