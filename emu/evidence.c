/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How much a wrong output proves to whoever reproduces it. */
#include <fp4oracle/sign.h>
#include <math.h>

enum { PAIRS = 256, REPEATS = 16 };

typedef struct pair {
    uint32_t expected, observed;
} pair;

typedef struct tally {
    pair pairs[PAIRS];
    int64_t pair_count, repeats, nan;
    double bits;
} tally;

static void count_pair(fpo_format format, pair p, tally *t)
{
    for (int64_t i = 0; i < t->pair_count; i++) {
        if (t->pairs[i].expected == p.expected && t->pairs[i].observed == p.observed) {
            t->repeats++;
            return;
        }
    }
    t->pairs[t->pair_count++] = p;
    t->bits += log2(1 + fabs((double)fpo_code_steps(format, p.expected, p.observed)));
}

/* log2 of the ways to choose `part` of `whole`. */
static double choice_bits(int64_t whole, int64_t part)
{
    return (lgamma((double)whole + 1) - lgamma((double)part + 1) - lgamma((double)(whole - part) + 1)) / log(2);
}

/* Which rows and columns are NaN, where all of them are; else which elements. */
static double nan_bits(const fpo_wrong_output *w, int64_t nan)
{
    fpo_part part;
    if (nan == 0 || fpo_part_find_nan(w->format, w->part.m, w->part.n, w->observed, &part, NULL) != FPO_OK ||
        part.kind == FPO_PART_NONE) /* NaN was expected, and is nowhere */
        return 0;
    if (part.wrong < part.elements)
        return choice_bits(part.m * part.n, part.wrong);
    return choice_bits(part.m, fpo_index_set_size(&part.rows)) + choice_bits(part.n, fpo_index_set_size(&part.columns));
}

fpo_evidence fpo_evidence_weigh(const fpo_wrong_output *w)
{
    tally t = {.bits = 0};
    int64_t wrong = 0;
    for (int64_t i = 0; i < w->part.m * w->part.n; i++) {
        int64_t row = i / w->part.n, column = i % w->part.n;
        pair p = {fpo_load_element(w->format, w->expected, w->part.n, row, column),
                  fpo_load_element(w->format, w->observed, w->part.n, row, column)};
        if (p.expected == p.observed)
            continue;
        wrong++;
        if (fpo_code_steps(w->format, p.expected, p.observed) == INT64_MAX)
            t.nan++;
        else if (t.pair_count < PAIRS)
            count_pair(w->format, p, &t);
    }
    t.bits += (double)(t.repeats < REPEATS ? t.repeats : REPEATS) + nan_bits(w, t.nan);
    return (fpo_evidence){wrong, t.pair_count, t.bits};
}

double fpo_evidence_needed(size_t hypotheses)
{
    static const double margin = 10; /* bits: one accusation in 2^10 such cases */
    return log2((double)hypotheses + 1) + margin;
}
