/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Scales that no two blocks near each other share, with
 *   one_hot  one element of each row of A that is not zero, row m's at k = m (further rows begin again; with fewer rows
 *            than K also at m + rows, and so on): an output is one element of A times one of B and their two scales,
 * and every element of B is read. The codes of A go through all but zero, those of B are random unique   positive
 * elements everywhere, so that nothing cancels: every scale reaches every output of its row */
#include "pattern.h"

static uint32_t one_hot_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    if (p->is_b)
        return fpo_pattern_nonzero(p, fpo_pattern_element_bits(p, row, column));
    int64_t period = p->rows < p->k ? p->rows : p->k;
    uint64_t number = (uint64_t)(row + column / period) + p->seed;
    /* Both signs of a code follow one another; an odd step goes through all magnitudes, out of order. */
    return row % period == column % period ? fpo_pattern_nonzero(p, number % 2 | number / 2 * 5 << 1) : 0;
}

static uint32_t positive_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    return fpo_pattern_positive(p, fpo_pattern_element_bits(p, row, column));
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    return fpo_pattern_unique_scale(context, row, column);
}

fpo_status fpo_generate_one_hot(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "one_hot", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, one_hot_at, scale_at, 0, error) : status;
}

fpo_status fpo_generate_unique(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "unique", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, positive_at, scale_at, 0, error) : status;
}
