/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The closed formulas of layouts and packings, written out from the registry's numbers. */
#ifndef FP4ORACLE_TOOLS_LAYOUT_TEXT_H
#define FP4ORACLE_TOOLS_LAYOUT_TEXT_H

#include <fp4oracle/layout.h>

typedef struct fpo_formula {
    char text[160];
} fpo_formula;

/* Divisions are of integers, as C has them; % and / and * from left to right. */
fpo_formula fpo_layout_formula(const fpo_layout_info *info); /* of scale (m, s) of R x S, in scale elements */
fpo_formula fpo_layout_size_formula(const fpo_layout_info *info);
fpo_formula fpo_layout_padding_text(const fpo_layout_info *info); /* "rows to 128, scales to 4" */
fpo_formula fpo_packing_formula(const fpo_packing_info *info);    /* the lowest bit of code k of a row */

#endif
