/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Between the parts of the checks. */
#ifndef FP4ORACLE_RUNNER_CHECKS_PARTS_H
#define FP4ORACLE_RUNNER_CHECKS_PARTS_H

#include "checks.h"

/* Outputs of one launch. */
typedef struct fpo_outputs {
    uint8_t *d, *d_scale;
} fpo_outputs;

typedef struct fpo_checking {
    fpo_stage *stage;
    fpo_checks *checks;
    fpo_outputs first, second, now;
    fpo_error *error;
    bool damaged; /* said already */
} fpo_checking;

/* The launch that all others are compared with. */
extern const fpo_launch fpo_plain_launch;

/* One launch; damage is noted once. */
fpo_status fpo_check_launch(fpo_checking *c, const fpo_launch *how, const fpo_outputs *to);
/* Whether two launches gave the same; else in which elements of D not (none: in its scales). */
bool fpo_check_same(const fpo_checking *c, const fpo_outputs *x, const fpo_outputs *y, fpo_region *region);
/* Element `index` of D (a pair of 4-bit ones counts as one here) becomes part of the region. */
void fpo_check_add_element(const fpo_checking *c, size_t index, fpo_region *region);
/* Bytes that an element takes in D; a pair of 4-bit elements counts as one. */
size_t fpo_check_element_bytes(const fpo_checking *c);

/* Other data in the same buffers, then the first again; the other data elsewhere, which must give the same as before;
 * and the first data right behind them. */
fpo_status fpo_check_stale(fpo_checking *c);

#endif
