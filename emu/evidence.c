/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How much a wrong output proves to whoever reproduces it. */
#include <fp4oracle/sign.h>
#include <math.h>
#include <stdlib.h>

enum { PAIRS = 256, SLOTS = 4 * PAIRS, REPEATS = 16 };

typedef struct pair {
    uint32_t expected, observed;
    double bits; /* of the steps between the two */
} pair;

typedef struct tally {
    pair pairs[SLOTS]; /* by hash, at the first free place; expected == observed: free */
    int64_t pair_count, repeats;
} tally;

/* NaN, infinity, zero and the largest number are what many different mistakes end in. */
static bool is_special(fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    fpo_class kind = fpo_decode(format, code).kind;
    uint32_t sign = info->sign_bits != 0 ? 1U << (info->bits - 1) : 0;
    return kind != FPO_FINITE || (code & ~sign) == info->max_finite;
}

static void count_pair(fpo_format format, pair p, tally *t)
{
    size_t slot = (p.expected * 2654435761U ^ p.observed * 2246822519U) >> 16 & (SLOTS - 1);
    while (t->pairs[slot].expected != t->pairs[slot].observed) {
        if (t->pairs[slot].expected == p.expected && t->pairs[slot].observed == p.observed) {
            t->repeats++;
            return;
        }
        slot = (slot + 1) % SLOTS;
    }
    int64_t steps = fpo_code_steps(format, p.expected, p.observed);
    p.bits = steps == INT64_MAX ? 1 : log2(1 + fabs((double)steps));
    t->pairs[slot] = p;
    t->pair_count++;
}

static int by_observed(const void *x, const void *y)
{
    const pair *p = x, *q = y;
    if (p->observed != q->observed)
        return p->observed < q->observed ? -1 : 1;
    return (p->bits < q->bits) - (p->bits > q->bits);
}

/* An output of few numbers proves little by each: a number that was there before, which of them it is, and no more. */
static double pair_bits(tally *t)
{
    pair *pairs = t->pairs;
    int64_t count = 0, numbers = 0;
    for (int i = 0; i < SLOTS; i++)
        if (pairs[i].expected != pairs[i].observed)
            pairs[count++] = pairs[i];
    qsort(pairs, (size_t)count, sizeof *pairs, by_observed);
    for (int64_t i = 0; i < count; i++)
        numbers += i == 0 || pairs[i].observed != pairs[i - 1].observed;
    double bits = 0, again = numbers > 2 ? log2((double)numbers) : 1;
    for (int64_t i = 0; i < count; i++) {
        bool first = i == 0 || pairs[i].observed != pairs[i - 1].observed;
        bits += first || pairs[i].bits < again ? pairs[i].bits : again;
    }
    return bits;
}

/* log2 of the ways to choose `part` of `whole`. */
static double choice_bits(int64_t whole, int64_t part)
{
    return (lgamma((double)whole + 1) - lgamma((double)part + 1) - lgamma((double)(whole - part) + 1)) / log(2);
}

typedef struct places {
    int64_t count, columns, rows, last_row;
    bool *column;
} places;

static void count_place(places *p, int64_t row, int64_t column)
{
    p->count++;
    p->rows += row != p->last_row;
    p->last_row = row;
    if (p->column != NULL && !p->column[column]) {
        p->column[column] = true;
        p->columns++;
    }
}

/* Which rows and columns are special, where all of their elements are; else which elements, a bit each at most. */
static double place_bits(const places *p, int64_t m, int64_t n)
{
    if (p->count == p->rows * p->columns)
        return choice_bits(m, p->rows) + choice_bits(n, p->columns);
    double bits = choice_bits(m * n, p->count);
    return bits < (double)p->count ? bits : (double)p->count;
}

enum { NAN_PLACES, INFINITE_PLACES, OTHER_PLACES, KINDS };

static int kind_of_place(fpo_format format, uint32_t code)
{
    fpo_class kind = fpo_decode(format, code).kind;
    return kind == FPO_NAN ? NAN_PLACES : kind == FPO_INFINITE ? INFINITE_PLACES : OTHER_PLACES;
}

/* Where NaN are, where infinities are. If together they are everywhere, the last of them follows from the others. */
static double all_place_bits(const places *special, int64_t m, int64_t n)
{
    double bits = 0, largest = 0;
    int64_t count = 0;
    for (int i = 0; i < KINDS; i++) {
        double own = special[i].count > 0 ? place_bits(&special[i], m, n) : 0;
        bits += own;
        largest = own > largest ? own : largest;
        count += special[i].count;
    }
    return count == m * n ? bits - largest : bits;
}

fpo_evidence fpo_evidence_weigh(const fpo_wrong_output *w)
{
    tally t = {.pair_count = 0};
    places special[KINDS];
    for (int i = 0; i < KINDS; i++)
        special[i] = (places){.last_row = -1, .column = calloc((size_t)w->part.n, sizeof(bool))};
    int64_t wrong = 0;
    for (int64_t i = 0; i < w->part.m * w->part.n; i++) {
        int64_t row = i / w->part.n, column = i % w->part.n;
        pair p = {.expected = fpo_load_element(w->format, w->expected, w->part.n, row, column),
                  .observed = fpo_load_element(w->format, w->observed, w->part.n, row, column)};
        if (p.expected == p.observed)
            continue;
        wrong++;
        if (is_special(w->format, p.observed))
            count_place(&special[kind_of_place(w->format, p.observed)], row, column);
        else if (t.pair_count < PAIRS)
            count_pair(w->format, p, &t);
    }
    double bits = pair_bits(&t) + (double)(t.repeats < REPEATS ? t.repeats : REPEATS) +
                  all_place_bits(special, w->part.m, w->part.n);
    for (int i = 0; i < KINDS; i++)
        free(special[i].column);
    return (fpo_evidence){wrong, t.pair_count, bits};
}

double fpo_evidence_needed(size_t hypotheses)
{
    static const double margin = 10; /* bits: one accusation in 2^10 such cases */
    return log2((double)hypotheses + 1) + margin;
}
