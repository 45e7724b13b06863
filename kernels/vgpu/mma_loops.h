/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of mma_tile.h for one instruction set: included once by each of mma_portable.c, mma_avx2.c and
 * mma_avx512.c, which define the vectors of 8 columns (words, doubles) and their operations.
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

/* What the loops use of a step, in registers: stores of vectors could change what a pointer points to. */
typedef struct constants {
    words fraction_bits, e_zero, absent;
    words spare; /* how far below the largest exponent C loses no bit */
    int result_bits;
} constants;

static inline constants constants_of(const fpo_step *step)
{
    return (constants){w_set1(step->fraction_bits), w_set1(step->e_zero), w_set1(FPO_FAST_ABSENT),
                       w_set1(step->fraction_bits - 23), step->result_bits};
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
static inline unsigned finish(const constants *step, doubles sum, words scale, words special, uint32_t *d)
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
    const constants step = constants_of(unit->step);
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        tile->left[m] = 0xFF;
        if (a->special[m])
            continue;
        words special, c = w_load(tile->d[m]), exponent = exponents_of(c, &special);
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
        tile->left[m] = (uint8_t)finish(&step, sum, scale, w_or(special, w_load(b->special)), tile->d[m]);
    }
}

/* ---- one sum of 32 elements of up to 8 bits ----
 *
 * The exact sum of all products fits a double. What cutting takes from the few products whose lowest bit is below what
 * counts is subtracted from it, exactly too; where it is many products, each is cut before the sum. */

static inline const fpo_single_a *single_a(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_single_a *a = &kept->single_a[place_of(tile->a[0])];
    if (is_kept(&a->key, unit, tile->a, 4, tile->a_scale, FPO_TILE_ROWS))
        return a;
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    const decoder how = decoder_of(&unit->tile_numbers[0]);
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        words bytes = w_load_halves(tile->a[m / 8] + m % 8 * 4, tile->a[m / 8 + 2] + m % 8 * 4);
        decode(&how, bytes, a->value[m], a->exponent[m], a->least[m]);
        int8_t most = FPO_TILE_ZERO;
        for (int k = 0; k < SINGLE_K; k++)
            most = a->exponent[m][k] > most ? a->exponent[m][k] : most;
        const fpo_tile_scale *x = &unit->tile_scale[tile->a_scale[m][0]];
        a->special[m] = most == FPO_TILE_SPECIAL || (scaled && x->special);
        a->scale[m] = scaled ? x->exponent : 0;
        a->most[m] = most;
    }
    return a;
}

static inline const fpo_single_b *single_b(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_single_b *b = &kept->single_b[place_of(tile->b[0])];
    if (is_kept(&b->key, unit, tile->b, 2, tile->b_scale, FPO_TILE_COLUMNS))
        return b;
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    const decoder how = decoder_of(&unit->tile_numbers[1]);
    for (int half = 0; half < 2; half++) {
        words column[4]; /* each: four k of a column */
        turn_words(tile->b[half], column);
        for (int i = 0; i < 4; i++) {
            int k = 16 * half + 4 * i;
            _Alignas(32) int8_t least[4 * FPO_TILE_COLUMNS];
            decode(&how, turn_bytes(column[i]), b->value[k], b->exponent[k], least);
            least_of_eights(least, &b->least[k]);
        }
    }
    const int8_t *exponent = b->exponent[0];
    int8_t most[4 * FPO_TILE_COLUMNS];
    memset(most, FPO_TILE_ZERO, sizeof most);
    for (int at = 0; at < SINGLE_K * FPO_TILE_COLUMNS; at += 4 * FPO_TILE_COLUMNS)
        for (int i = 0; i < 4 * FPO_TILE_COLUMNS; i++)
            most[i] = exponent[at + i] > most[i] ? exponent[at + i] : most[i];
    for (int n = 0; n < FPO_TILE_COLUMNS; n++) {
        int8_t largest = FPO_TILE_ZERO;
        for (int i = n; i < 4 * FPO_TILE_COLUMNS; i += FPO_TILE_COLUMNS)
            largest = most[i] > largest ? most[i] : largest;
        bool special = largest == FPO_TILE_SPECIAL;
        const fpo_tile_scale *x = &unit->tile_scale[tile->b_scale[n][0]];
        b->special[n] = -(int32_t)(special || (scaled && x->special));
        b->scale[n] = scaled ? x->exponent : 0;
        b->most[n] = largest;
    }
    return b;
}

/* The exact sums of the products of some rows. */
static inline void add_exactly(const fpo_single_a *a, int first, const fpo_single_b *b, doubles *sum)
{
    doubles s[ROWS_AT_ONCE];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS_AT_ONCE; r++)
        s[r] = d_set1(0);
#pragma GCC unroll 8
    for (int k = 0; k < SINGLE_K; k++) {
        doubles column = d_load(b->value[k]);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS_AT_ONCE; r++)
            s[r] = d_add_product(s[r], d_set1(a->value[first + r][k]), column);
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS_AT_ONCE; r++)
        sum[r] = s[r];
}

static inline doubles product(const fpo_single_a *a, int m, const fpo_single_b *b, int k, doubles power)
{
    return d_mul(d_mul(d_set1(a->value[m][k]), d_load(b->value[k])), power);
}

/* What is below 1 of the products whose bits are set in `which`, after `power`. */
static inline doubles add_rests(const fpo_single_a *a, int m, const fpo_single_b *b, doubles power, uint32_t which)
{
    doubles sum = d_set1(0);
    for (; which != 0; which &= which - 1) {
        doubles p = product(a, m, b, __builtin_ctz(which), power);
        sum = d_add(sum, d_sub(p, d_cut(p)));
    }
    return sum;
}

/* Every product cut to a multiple of 1 after `power`. */
static inline doubles add_cut(const fpo_single_a *a, int m, const fpo_single_b *b, doubles power)
{
    doubles sum = d_set1(0);
#pragma GCC unroll 4
    for (int k = 0; k < SINGLE_K; k++)
        sum = d_add(sum, d_cut(product(a, m, b, k, power)));
    return sum;
}

/* What is known of a row before its products are. */
typedef struct single_row {
    words e, special, scale, shift; /* sums count in units of 2^-scale; products are to be multiplied by 2^shift */
    uint32_t cut;                   /* the k of products that may have bits below 1 */
    bool exact;                     /* few of them */
} single_row;

/* Units of the sums if `largest` is the exponent of the largest product of each column, and what is cut then. */
static inline void set_units(const fpo_mma_unit *unit, const constants *step, const fpo_single_a *a, int m,
                             const fpo_single_b *b, words others, words largest, single_row *row)
{
    enum { LEAST_PRODUCT = -100, LEAST_POWER = -900, MOST_POWER = 900 };
    words factor = w_add(w_load(b->scale), w_set1(a->scale[m]));
    words absent = w_less(largest, w_set1(LEAST_PRODUCT));
    row->e = w_max(others, w_select(absent, step->absent, w_add(largest, factor)));
    row->scale = w_sub(step->fraction_bits, row->e);
    /* With the least power nothing is left of a product; where there are none, any power will do. */
    row->shift = w_min(w_max(w_add(row->scale, factor), w_set1(LEAST_POWER)), w_set1(MOST_POWER));
    row->cut = below(a->least[m], b->least, unit->tile_product_bits - w_least(row->shift));
}

/* The largest exponents of a row and of a column bound that of their products. Where C reaches the bound, it decides;
 * and where even units by the bound cut nothing, neither of C nor of a product, the sum is the same in any. Only the
 * columns that are neither want the largest product itself. */
static inline void look_at_row(const fpo_mma_unit *unit, const constants *step, const fpo_single_a *a, int m,
                               const fpo_single_b *b, const uint32_t *c, single_row *row)
{
    enum { FEW = 8 };
    words special, exponent = exponents_of(w_load(c), &special);
    words others = w_max(exponent, step->e_zero);
    set_units(unit, step, a, m, b, others, w_add(w_load(b->most), w_set1(a->most[m])), row);
    words open = w_less(others, row->e);
    if (row->cut == 0) {
        words absent = w_equal(exponent, step->absent);
        words whole = w_sub(row->e, step->spare);
        open = w_and(open, w_select(absent, w_set1(0), w_less(exponent, whole)));
    }
    if (w_mask(open) != 0)
        set_units(unit, step, a, m, b, others, largest_product(a->exponent[m], b->exponent[0]), row);
    row->special = w_or(special, w_load(b->special));
    row->exact = row->cut == 0 || (unit->tile_sums_are_exact && __builtin_popcount(row->cut) <= FEW);
}

static inline doubles single_products(const fpo_single_a *a, int m, const fpo_single_b *b, const single_row *row,
                                      doubles sum)
{
    doubles power = d_power(row->shift);
    if (!row->exact)
        return add_cut(a, m, b, power);
    sum = d_mul(sum, power);
    return row->cut == 0 ? sum : d_sub(sum, add_rests(a, m, b, power, row->cut));
}

void TILE_SINGLE(const fpo_mma_unit *unit, fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    const fpo_single_a *a = single_a(unit, tile, kept);
    const fpo_single_b *b = single_b(unit, tile, kept);
    const constants step = constants_of(unit->step);
    for (int first = 0; first < FPO_TILE_ROWS; first += ROWS_AT_ONCE) {
        single_row rows[ROWS_AT_ONCE];
        doubles sums[ROWS_AT_ONCE];
        bool any = false;
        for (int r = 0; r < ROWS_AT_ONCE; r++) {
            look_at_row(unit, &step, a, first + r, b, tile->d[first + r], &rows[r]);
            any |= rows[r].exact;
        }
        if (any)
            add_exactly(a, first, b, sums);
        else
            memset(sums, 0, sizeof sums);
        for (int r = 0; r < ROWS_AT_ONCE; r++) {
            int m = first + r;
            tile->left[m] = 0xFF;
            if (a->special[m])
                continue;
            const single_row *row = &rows[r];
            doubles products = single_products(a, m, b, row, sums[r]);
            doubles sum = d_add(d_add(cut_c(w_load(tile->d[m]), row->scale), products), d_set1(0)); /* no -0 */
            tile->left[m] = (uint8_t)finish(&step, sum, row->scale, row->special, tile->d[m]);
        }
    }
}
