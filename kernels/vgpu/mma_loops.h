/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of mma_tile.h for one instruction set: included once by each of mma_portable.c, mma_avx2.c and
 * mma_avx512.c, which define the vectors of 8 columns (words, doubles) and their operations. Here is what is common,
 * and FP4 in groups.
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
                           const fpo_tile_scales *scales)
{
    uint32_t bits = 0;
    for (int r = 0; r < count; r++)
        bits |= differ(key->registers[r], registers[r], FPO_PTX_WARP);
    if (scales->lanes != NULL)
        bits |= differ(key->scales, scales->lanes, FPO_PTX_WARP);
    if (bits == 0 && key->unit == unit && key->thread == scales->thread && key->shift == scales->shift)
        return true;
    key->unit = unit;
    key->thread = scales->thread;
    key->shift = scales->shift;
    for (int r = 0; r < count; r++)
        memcpy(key->registers[r], registers[r], sizeof key->registers[r]);
    if (scales->lanes != NULL)
        memcpy(key->scales, scales->lanes, sizeof key->scales);
    return false;
}

/* ---- C and D ---- */

/* What the loops use of a step, in registers: stores of vectors could change what a pointer points to. */
typedef struct constants {
    words fraction_bits, e_zero;
    int result_bits;
} constants;

static inline constants constants_of(const fpo_step *step)
{
    return (constants){w_set1(step->fraction_bits), w_set1(step->e_zero), step->result_bits};
}

/* Row first + r, of the same 8 as row `first`. */
static inline words load_c(const fpo_mma_tile *tile, int first, int r)
{
    const uint32_t *const *half = &tile->c[first / 8 * 2];
    const uint32_t *even = half[0] + first % 8 * 4, *odd = half[1] + first % 8 * 4;
    return w_load_halves(even + 4 * r, odd + 4 * r);
}

/* Exponents of C, FPO_FAST_ABSENT for zero; *special: those that are infinite or NaN. */
static inline words exponents_of(words c, words *special)
{
    words field = w_and(w_shift_right(c, 23), w_set1(255));
    words zero = w_equal(w_and(c, w_set1(0x7FFFFFFF)), w_set1(0));
    *special = w_equal(field, w_set1(255));
    return w_select(zero, w_set1(FPO_FAST_ABSENT), w_sub(w_max(field, w_set1(1)), w_set1(127)));
}

/* The result of a row. `sum` counts in units of 2^-scale. Returns the columns whose result it is not. */
static inline unsigned finish(const constants *step, doubles sum, words scale, words special, words c, uint32_t *d)
{
    words outside;
    doubles kept = d_keep(sum, step->result_bits);
    words result = d_to_floats(d_mul(kept, d_power(w_sub(w_set1(0), scale))), &outside);
    words left = w_or(special, outside);
    w_store(d, w_select(left, c, result));
    return w_mask(left);
}

static inline void leave_row(fpo_mma_tile *tile, int m, words c)
{
    w_store(tile->d[m], c);
    tile->left[m] = 0xFF;
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
    if (is_kept(&a->key, unit, tile->a, 4, &tile->a_scales))
        return a;
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        const uint32_t *first = tile->a[m / 8] + m % 8 * 4, *second = tile->a[m / 8 + 2] + m % 8 * 4;
        unpack_row(first, second, a->elements[m][0], a->elements[m][1], a->correction[m]);
        a->special[m] = false;
        for (int g = 0; g < GROUPS; g++) {
            const uint32_t *word = (g < 2 ? first : second) + g % 2 * 2;
            a->any[m][g] = nonzero_nibbles(word[0]) | nonzero_nibbles(word[1]) << 1;
            const fpo_tile_scale *x = &unit->tile_scale[fpo_tile_scale_a(tile, m, g * unit->scales / GROUPS)];
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
    if (is_kept(&b->key, unit, tile->b, 2, &tile->b_scales))
        return b;
    _Alignas(32) uint32_t turned[QUADS][FPO_TILE_COLUMNS];
    for (int half = 0; half < 2; half++) {
        words column[4];
        turn_words(tile->b[half], column);
        for (int i = 0; i < 4; i++) {
            int q = 4 * half + i;
            w_store(turned[q], column[i]);
            unpack_columns(column[i], b->elements[q][0], b->elements[q][1]);
        }
    }
    memset(b->special, 0, sizeof b->special);
    for (int g = 0; g < GROUPS; g++) {
        for (int n = 0; n < FPO_TILE_COLUMNS; n++) {
            b->any[g][n] = nonzero_nibbles(turned[2 * g][n]) | nonzero_nibbles(turned[2 * g + 1][n]) << 1;
            const fpo_tile_scale *x = &unit->tile_scale[fpo_tile_scale_b(tile, n, g * unit->scales / GROUPS)];
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
    const constants step = constants_of(unit->step);
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        words special, c = load_c(tile, m, 0), exponent = exponents_of(c, &special);
        if (a->special[m]) {
            leave_row(tile, m, c);
            continue;
        }
        words e = largest_group(a, m, b, w_max(exponent, step.e_zero));
        words scale = w_sub(step.fraction_bits, e);
        doubles sum = d_add(d_set1(0), cut_c(c, scale));
        doubles power = d_power(w_sub(scale, w_set1(2))); /* products of halves */
#pragma GCC unroll 4
        for (int g = 0; g < GROUPS; g++) {
            words dot = dot_group(b->elements[2 * g][0], &a->elements[m][0][8 * g], &a->elements[m][1][8 * g],
                                  a->correction[m][g]);
            doubles factor = d_mul(d_mul(d_load(b->factor[g]), d_set1(a->factor[m][g])), power);
            sum = d_add(sum, d_cut(d_mul(d_from_words(dot), factor)));
        }
        tile->left[m] = (uint8_t)finish(&step, sum, scale, w_or(special, w_load(b->special)), c, tile->d[m]);
    }
}

#include "mma_loops_single.h"
