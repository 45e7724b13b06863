/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* mma_loops.h in plain C. */
#include "mma_tile.h"

#include <math.h>

enum { LANES = FPO_TILE_COLUMNS };

typedef struct words {
    int32_t x[LANES];
} words;
typedef struct doubles {
    double x[LANES];
} doubles;

#define EACH(expression)                                                                                               \
    for (int i = 0; i < LANES; i++)                                                                                    \
    r.x[i] = (expression)
#define WORDS_OF(name, arguments, expression)                                                                          \
    static inline words name arguments                                                                                 \
    {                                                                                                                  \
        words r;                                                                                                       \
        EACH(expression);                                                                                              \
        return r;                                                                                                      \
    }
#define DOUBLES_OF(name, arguments, expression)                                                                        \
    static inline doubles name arguments                                                                               \
    {                                                                                                                  \
        doubles r;                                                                                                     \
        EACH(expression);                                                                                              \
        return r;                                                                                                      \
    }

WORDS_OF(w_set1, (int32_t a), a)
WORDS_OF(w_load, (const void *p), ((const int32_t *)p)[i])
WORDS_OF(w_add, (words a, words b), a.x[i] + b.x[i])
WORDS_OF(w_sub, (words a, words b), a.x[i] - b.x[i])
WORDS_OF(w_and, (words a, words b), a.x[i] & b.x[i])
WORDS_OF(w_or, (words a, words b), a.x[i] | b.x[i])
WORDS_OF(w_max, (words a, words b), a.x[i] > b.x[i] ? a.x[i] : b.x[i])
WORDS_OF(w_min, (words a, words b), a.x[i] < b.x[i] ? a.x[i] : b.x[i])
WORDS_OF(w_equal, (words a, words b), -(a.x[i] == b.x[i]))
WORDS_OF(w_less, (words a, words b), -(a.x[i] < b.x[i]))
WORDS_OF(w_select, (words which, words a, words b), which.x[i] != 0 ? a.x[i] : b.x[i])
WORDS_OF(w_shift_right, (words a, int by), (int32_t)((uint32_t)a.x[i] >> by))
DOUBLES_OF(d_sub, (doubles a, doubles b), a.x[i] - b.x[i])
DOUBLES_OF(d_set1, (double a), a)
DOUBLES_OF(d_load, (const double *p), p[i])
DOUBLES_OF(d_mul, (doubles a, doubles b), a.x[i] * b.x[i])
DOUBLES_OF(d_add, (doubles a, doubles b), a.x[i] + b.x[i])
DOUBLES_OF(d_add_product, (doubles sum, doubles a, doubles b), sum.x[i] + a.x[i] * b.x[i])
DOUBLES_OF(d_from_words, (words a), a.x[i])
DOUBLES_OF(d_cut, (doubles a), fabs(a.x[i]) < 0x1p62 ? (double)(int64_t)a.x[i] : a.x[i])

static inline void w_store(void *p, words a)
{
    memcpy(p, &a, sizeof a);
}

static inline words w_load_halves(const void *low, const void *high)
{
    words r;
    memcpy(r.x, low, sizeof r / 2);
    memcpy(r.x + LANES / 2, high, sizeof r / 2);
    return r;
}

static inline unsigned w_mask(words a)
{
    unsigned mask = 0;
    for (int i = 0; i < LANES; i++)
        mask |= (unsigned)(a.x[i] < 0) << i;
    return mask;
}

static inline int32_t w_least(words a)
{
    int32_t least = a.x[0];
    for (int i = 1; i < LANES; i++)
        least = a.x[i] < least ? a.x[i] : least;
    return least;
}

/* Bit k: a[k] + b[k] < limit, of 32. */
static inline uint32_t below(const int8_t *a, const int8_t *b, int limit)
{
    uint32_t bits = 0;
    for (int k = 0; k < 32; k++)
        bits |= (uint32_t)(a[k] + b[k] < limit) << k;
    return bits;
}

static inline doubles d_power(words exponent)
{
    doubles r;
    for (int i = 0; i < LANES; i++) {
        uint64_t bits = (uint64_t)(int64_t)(exponent.x[i] + 1023) << 52;
        memcpy(&r.x[i], &bits, sizeof bits);
    }
    return r;
}

static inline doubles d_from_floats(words a)
{
    doubles r;
    for (int i = 0; i < LANES; i++) {
        float f;
        memcpy(&f, &a.x[i], sizeof f);
        r.x[i] = f;
    }
    return r;
}

/* The sign, the exponent and the first `bits` of the mantissa. */
static inline doubles d_keep(doubles a, int bits)
{
    doubles r;
    for (int i = 0; i < LANES; i++) {
        uint64_t word;
        memcpy(&word, &a.x[i], sizeof word);
        word &= ~(uint64_t)0 << (52 - bits);
        memcpy(&r.x[i], &word, sizeof word);
    }
    return r;
}

/* Rounded, where d_to_floats would say that a number is outside. */
static inline words d_round_to_floats(doubles a)
{
    words r;
    for (int i = 0; i < LANES; i++) {
        float f = (float)a.x[i];
        memcpy(&r.x[i], &f, sizeof f);
    }
    return r;
}

/* Bits of numbers that a f32 holds; *outside: those beyond its normal range, but for zero. */
static inline words d_to_floats(doubles a, words *outside)
{
    words r;
    for (int i = 0; i < LANES; i++) {
        double size = fabs(a.x[i]);
        bool inside = size == 0 || (size >= 0x1p-126 && size < 0x1p128);
        float f = inside ? (float)a.x[i] : 0;
        memcpy(&r.x[i], &f, sizeof f);
        outside->x[i] = -!inside;
    }
    return r;
}

static const int8_t halves[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static inline void unpack_row(const uint32_t *first, const uint32_t *second, int8_t *even, int8_t *odd,
                              int32_t correction[4])
{
    memset(correction, 0, 4 * sizeof *correction);
    for (int i = 0; i < 32; i++) {
        uint32_t byte = (i < 16 ? first[i / 4] : second[i / 4 - 4]) >> (i % 4 * 8) & 255;
        even[i] = halves[byte & 15];
        odd[i] = halves[byte >> 4];
        correction[i / 8] -= 12 * (even[i] + odd[i]);
    }
}

static inline void unpack_columns(words column, uint8_t *even, uint8_t *odd)
{
    for (int i = 0; i < 32; i++) {
        uint32_t byte = (uint32_t)column.x[i / 4] >> (i % 4 * 8) & 255;
        even[i] = (uint8_t)(halves[byte & 15] + 12);
        odd[i] = (uint8_t)(halves[byte >> 4] + 12);
    }
}

/* Two words of 8 elements: `b` has even and odd elements of the first for 8 columns, then of the second. */
static inline words dot_group(const uint8_t *b, const int8_t *even, const int8_t *odd, int32_t correction)
{
    words r;
    for (int n = 0; n < LANES; n++) {
        int32_t sum = correction;
        for (int word = 0; word < 2; word++)
            for (int i = 0; i < 4; i++)
                sum +=
                    b[64 * word + 4 * n + i] * even[4 * word + i] + b[64 * word + 32 + 4 * n + i] * odd[4 * word + i];
        r.x[n] = sum;
    }
    return r;
}

/* Four words of each of 8 columns: row i has word i of all, the even columns first. */
static inline void turn_words(const uint32_t *columns, words rows[4])
{
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < LANES; n++)
            rows[i].x[n] = (int32_t)columns[4 * fpo_tile_column(n) + i];
}

/* Four bytes of 8 columns to 8 bytes of four rows. */
static inline words turn_bytes(words columns)
{
    uint8_t rows[32];
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < LANES; n++)
            rows[8 * i + n] = (uint8_t)((uint32_t)columns.x[n] >> (8 * i));
    words r;
    memcpy(&r, rows, sizeof r);
    return r;
}

typedef struct decoder {
    const fpo_tile_numbers *numbers;
} decoder;

static inline decoder decoder_of(const fpo_tile_numbers *numbers)
{
    return (decoder){numbers};
}

/* 32 elements. */
static inline void decode(const decoder *how, words elements, double *value, int8_t *exponent, int8_t *least)
{
    uint8_t bytes[32];
    memcpy(bytes, &elements, sizeof bytes);
    for (int i = 0; i < 32; i++) {
        value[i] = how->numbers->value[bytes[i]];
        exponent[i] = how->numbers->exponent[bytes[i]];
        least[i] = exponent[i] == FPO_TILE_ZERO ? FPO_TILE_NO_LEAST : exponent[i];
    }
}

static inline void least_of_eights(const int8_t *rows, int8_t *least)
{
    for (int r = 0; r < 4; r++) {
        least[r] = rows[8 * r];
        for (int n = 1; n < LANES; n++)
            least[r] = rows[8 * r + n] < least[r] ? rows[8 * r + n] : least[r];
    }
}

static inline words largest_product(const int8_t *a, const int8_t *b)
{
    words r = w_set1(INT32_MIN);
    for (int k = 0; k < 32; k++)
        for (int n = 0; n < LANES; n++)
            r.x[n] = a[k] + b[8 * k + n] > r.x[n] ? a[k] + b[8 * k + n] : r.x[n];
    return r;
}

/* Largest of 32 elements of each of 8 columns. */
static inline words largest_of_columns(const int8_t *rows)
{
    words r = w_set1(INT8_MIN);
    for (int i = 0; i < 32 * LANES; i++)
        r.x[i % LANES] = rows[i] > r.x[i % LANES] ? rows[i] : r.x[i % LANES];
    return r;
}

/* The least of a[k] + b[k], plus a number. */
static inline void limits_of(const int8_t (*a)[32], const int8_t *b, const int32_t *plus, int32_t *limit)
{
    int least = INT8_MAX;
    for (int k = 0; k < 32; k++)
        least = (*a)[k] + b[k] < least ? (*a)[k] + b[k] : least;
    *limit = *plus + least;
}

#define ROWS_AT_ONCE 1
#define TILE_GROUPS fpo_tile_groups_portable
#define TILE_SINGLE fpo_tile_single_portable
#define CUT_ROWS cut_rows_one_by_one
#include "mma_loops.h"
