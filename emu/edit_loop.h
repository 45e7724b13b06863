/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* K in another order. */
#ifndef FP4ORACLE_EMU_EDIT_LOOP_H
#define FP4ORACLE_EMU_EDIT_LOOP_H

#include <fp4oracle/edit.h>

/* Tiles of `tile` elements of K in descending order; refused where K is no whole number of them. */
void fpo_edited_reverse_k(fpo_edited *edited, int64_t tile);
/* Elements [k0, k1) of K left out, by its simplest name: the first, the last, or a range. */
fpo_edit fpo_edit_range_dropped(int64_t k, int64_t k0, int64_t k1);

#endif
