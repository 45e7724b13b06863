/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The part of mma_loops.h for one sum of 32 elements of up to 8 bits.
 *
 * The exact sum of all products fits a double. Most rows lose no bit at all, neither of C nor of a product: that sum
 * and C then are the result, in any units, and the largest exponent need not be known. Else what cutting takes from the
 * few products whose lowest bit is below what counts is subtracted, exactly too; where it is many products, each is cut
 * before the sum. */

static inline const fpo_single_a *single_a(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_single_a *a = &kept->single_a[place_of(tile->a[0])];
    if (is_kept(&a->key, unit, tile->a, 4, &tile->a_scales))
        return a;
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    const decoder how = decoder_of(&unit->tile_numbers[0]);
    for (int m = 0; m < FPO_TILE_ROWS; m++) {
        words bytes = w_load_halves(tile->a[m / 8] + m % 8 * 4, tile->a[m / 8 + 2] + m % 8 * 4);
        decode(&how, bytes, a->value[m], a->exponent[m], a->least[m]);
        int8_t most = FPO_TILE_ZERO;
        for (int k = 0; k < SINGLE_K; k++)
            most = a->exponent[m][k] > most ? a->exponent[m][k] : most;
        const fpo_tile_scale *x = scaled ? &unit->tile_scale[fpo_tile_scale_a(tile, m, 0)] : NULL;
        a->special[m] = most == FPO_TILE_SPECIAL || (scaled && x->special);
        a->scale[m] = scaled ? x->exponent : 0;
        a->reach[m] = a->special[m]           ? FPO_TILE_REACH_SPECIAL
                      : most == FPO_TILE_ZERO ? FPO_TILE_REACH_ZERO
                                              : most + a->scale[m] + 127;
        a->whole[m] = unit->step->fraction_bits + 127 - unit->tile_product_bits + a->scale[m];
        a->factor[m] = scaled ? x->factor : 1;
    }
    return a;
}

static inline const fpo_single_b *single_b(const fpo_mma_unit *unit, const fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    fpo_single_b *b = &kept->single_b[place_of(tile->b[0])];
    if (is_kept(&b->key, unit, tile->b, 2, &tile->b_scales))
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
    _Alignas(32) int32_t scale[FPO_TILE_COLUMNS] = {0}, special_scale[FPO_TILE_COLUMNS] = {0};
    for (int n = 0; n < FPO_TILE_COLUMNS && scaled; n++) {
        const fpo_tile_scale *x = &unit->tile_scale[fpo_tile_scale_b(tile, n, 0)];
        scale[n] = x->exponent;
        special_scale[n] = -(int32_t)x->special;
        b->factor[n] = x->factor;
    }
    for (int n = 0; n < FPO_TILE_COLUMNS && !scaled; n++)
        b->factor[n] = 1;
    words most = largest_of_columns(b->exponent[0]);
    words special = w_or(w_equal(most, w_set1(FPO_TILE_SPECIAL)), w_load(special_scale));
    words reach =
        w_select(w_equal(most, w_set1(FPO_TILE_ZERO)), w_set1(FPO_TILE_REACH_ZERO), w_add(most, w_load(scale)));
    w_store(b->scale, w_load(scale));
    w_store(b->special, special);
    w_store(b->reach, w_select(special, w_set1(FPO_TILE_REACH_SPECIAL), reach));
    return b;
}

/* The exact sums of the products of `rows` rows, a constant. */
static inline void add_exactly(const fpo_single_a *a, int first, int rows, const fpo_single_b *b, doubles *sum)
{
    doubles s[ROWS_AT_ONCE];
    const double *value = a->value[first];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
        s[r] = d_set1(0);
#pragma GCC unroll 32
    for (int k = 0; k < SINGLE_K; k++) {
        doubles column = d_load(b->value[k]);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            s[r] = d_add_product(s[r], d_set1(value[SINGLE_K * r + k]), column);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
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

/* Numbers that the rows of a tile use. A function that is not inline has them from memory for nothing: to make one
 * takes three instructions. */
typedef struct numbers {
    words fraction_bits, e_zero, absent;
    words spare; /* how far below the largest exponent C loses no bit */
    words floor; /* of the largest exponent, with its bias */
    words zero, one, two, bias, field, most_normal, magnitude;
    words least_product, least_power, most_power;
    int result_bits;
} numbers;

static inline numbers numbers_of(const fpo_step *step)
{
    enum { BIAS = 127, LEAST_PRODUCT = -100, LEAST_POWER = -900, MOST_POWER = 900 };
    return (numbers){.fraction_bits = w_set1(step->fraction_bits),
                     .e_zero = w_set1(step->e_zero),
                     .absent = w_set1(FPO_FAST_ABSENT),
                     .spare = w_set1(step->fraction_bits - 23),
                     .floor = w_set1(step->e_zero + BIAS),
                     .zero = w_set1(0),
                     .one = w_set1(1),
                     .two = w_set1(2),
                     .bias = w_set1(BIAS),
                     .field = w_set1(255),
                     .most_normal = w_set1(254),
                     .magnitude = w_set1(0x7FFFFFFF),
                     .least_product = w_set1(LEAST_PRODUCT),
                     .least_power = w_set1(LEAST_POWER),
                     .most_power = w_set1(MOST_POWER),
                     .result_bits = step->result_bits};
}

/* C's exponents with their bias; that of zero is as of a subnormal number. */
static inline words own_exponents(const numbers *x, words c)
{
    return w_max(w_and(w_shift_right(c, 23), x->field), x->one);
}

static inline words is_not_zero(const numbers *x, words c)
{
    return w_less(x->zero, w_and(c, x->magnitude));
}

/* The largest exponents of a row's sums. What A and B reach bounds those of products; where C is no less, C decides. */
static inline words largest_exponent(const numbers *x, words c, const fpo_single_a *a, int m, const fpo_single_b *b,
                                     words factor)
{
    words own = own_exponents(x, c), reach = w_add(w_load(b->reach), w_set1(a->reach[m])), e = w_sub(own, x->bias);
    words decides = w_and(is_not_zero(x, c), w_less(w_max(reach, x->floor), w_add(own, x->one)));
    if (w_mask(decides) == 0xFF)
        return e;
    words largest = largest_product(a->exponent[m], b->exponent[0]), none = w_less(largest, x->least_product);
    words others = w_max(x->e_zero, w_select(none, x->absent, w_add(largest, factor)));
    return w_max(others, w_select(is_not_zero(x, c), e, x->absent));
}

/* Numbers to f32, which holds their bits. *outside: those that are neither normal numbers nor zero. No result is -0. */
static inline words to_normal_floats(const numbers *x, doubles a, words *outside)
{
    words result = d_round_to_floats(a), field = w_and(w_shift_right(result, 23), x->field);
    /* The smallest normal number may be a rounded subnormal one. */
    *outside = w_or(w_less(field, x->two), w_less(x->most_normal, field));
    return w_mask(*outside) == 0 ? result : d_to_floats(d_add(a, d_set1(0)), outside);
}

/* A row whose bits are cut, or which is left. `sum` is what add_exactly makes of it, or NULL: not computed. Returns the
 * columns that are left. Not inline: rows of the common case are to have the registers. */
static __attribute__((noinline)) unsigned finish_cut(const fpo_mma_unit *unit, const numbers *x, const fpo_single_a *a,
                                                     int m, const fpo_single_b *b, words c, const doubles *sum,
                                                     uint32_t *d)
{
    enum { FEW = 8 };
    if (a->special[m]) {
        w_store(d, c);
        return 0xFF;
    }
    words factor = w_add(w_load(b->scale), w_set1(a->scale[m])), e = largest_exponent(x, c, a, m, b, factor);
    words scale = w_sub(x->fraction_bits, e);
    /* With the least power nothing is left of a product; where there are none, any power will do. */
    words shift = w_min(w_max(w_add(scale, factor), x->least_power), x->most_power);
    doubles power = d_power(shift), products;
    uint32_t cut = below(a->least[m], b->least, unit->tile_product_bits - w_least(shift));
    if (cut == 0 || (unit->tile_sums_are_exact && __builtin_popcount(cut) <= FEW)) {
        doubles own = d_set1(0);
        if (sum == NULL) {
            add_exactly(a, m, 1, b, &own);
            sum = &own;
        }
        products = d_sub(d_mul(*sum, power), add_rests(a, m, b, power, cut));
    } else {
        products = add_cut(a, m, b, power);
    }
    doubles all = d_keep(d_add(cut_c(c, scale), products), x->result_bits);
    words outside, result = to_normal_floats(x, d_mul(all, d_power(w_sub(x->zero, scale))), &outside);
    outside = w_or(outside, w_load(b->special));
    w_store(d, w_select(outside, c, result));
    return w_mask(outside);
}

/* Bits of the rows from `first` on that lose a bit, of C or of a product, if the largest exponent is as large as it
 * could be. `whole` is the largest, less the scale of B, with which no product of a row does. No branches: what follows
 * would wait for them. */
static inline uint32_t CUT_ROWS(const numbers *x, const fpo_mma_tile *tile, const fpo_single_a *a, int first,
                                const fpo_single_b *b, const int32_t *whole);

static inline uint32_t cut_rows_one_by_one(const numbers *x, const fpo_mma_tile *tile, const fpo_single_a *a, int first,
                                           const fpo_single_b *b, const int32_t *whole)
{
    uint32_t rows = 0;
#pragma GCC unroll 8
    for (int r = 0; r < ROWS_AT_ONCE; r++) {
        words c = load_c(tile, first, r), own = own_exponents(x, c);
        words e = w_max(w_max(own, x->floor), w_add(w_load(b->reach), w_set1(a->reach[first + r])));
        words c_cut = w_and(is_not_zero(x, c), w_less(x->spare, w_sub(e, own)));
        words products_cut = w_less(w_set1(whole[r]), w_sub(e, w_load(b->scale)));
        rows |= (uint32_t)(w_mask(w_or(c_cut, products_cut)) != 0) << r;
    }
    return rows;
}

/* A row that loses none, in any units: its sum is exact. False if there is a result that has to be left. */
static inline bool finish_whole(const numbers *x, words c, doubles products, doubles factor, uint32_t *d)
{
    words outside;
    doubles sum = d_add_product(d_from_floats(c), products, factor);
    w_store(d, to_normal_floats(x, d_keep(sum, x->result_bits), &outside));
    return w_mask(outside) == 0;
}

void TILE_SINGLE(const fpo_mma_unit *unit, fpo_mma_tile *tile, fpo_tile_kept *kept)
{
    enum { ALL = (1 << ROWS_AT_ONCE) - 1 };
    const fpo_single_a *a = single_a(unit, tile, kept);
    const fpo_single_b *b = single_b(unit, tile, kept);
    const numbers x = numbers_of(unit->step);
    for (int first = 0; first < FPO_TILE_ROWS; first += ROWS_AT_ONCE) {
        _Alignas(32) int32_t whole[ROWS_AT_ONCE];
        doubles sums[ROWS_AT_ONCE];
        limits_of(&a->least[first], b->least, &a->whole[first], whole);
        uint32_t cut = CUT_ROWS(&x, tile, a, first, b, whole);
        if (cut != ALL)
            add_exactly(a, first, ROWS_AT_ONCE, b, sums);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS_AT_ONCE; r++) {
            int m = first + r;
            words c = load_c(tile, first, r);
            doubles factor = d_mul(d_load(b->factor), d_set1(a->factor[m]));
            tile->left[m] = 0;
            if ((cut >> r & 1) != 0 || !finish_whole(&x, c, sums[r], factor, tile->d[m]))
                tile->left[m] = (uint8_t)finish_cut(unit, &x, a, m, b, c, cut != ALL ? &sums[r] : NULL, tile->d[m]);
        }
    }
}
