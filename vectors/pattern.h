/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Both operands filled by one rule: what the generators of purposeful data share. */
#ifndef FP4ORACLE_VECTORS_PATTERN_H
#define FP4ORACLE_VECTORS_PATTERN_H

#include "operand_fill.h"

typedef struct fpo_pattern {
    uint64_t seed;
    bool is_b;
    const fpo_operand_view *view;
    const fpo_format_info *element; /* of view->element */
    int64_t rows, k, scale_columns;
    int64_t chunk; /* elements of K that one scale covers; where that is all of K, 32 */
    fpo_finite_codes elements;
    uint64_t context; /* of the generator */
} fpo_pattern;

/* `element` and `scale` get an fpo_pattern as their context. */
fpo_status fpo_pattern_fill(fpo_vector *vector, const fpo_generate *wanted, fpo_code_at element, fpo_code_at scale,
                            uint64_t context, fpo_error *error);

/* Elements of at most 8 bits alone. */
fpo_status fpo_pattern_narrow(const fpo_generate *wanted, const char *kind, fpo_error *error);

/* Random bits of an element or of a scale. */
uint64_t fpo_pattern_element_bits(const fpo_pattern *pattern, int64_t row, int64_t column);
uint64_t fpo_pattern_scale_bits(const fpo_pattern *pattern, int64_t row, int64_t column);

/* A finite element code: any; any but the zeros; the same without its sign. */
uint32_t fpo_pattern_any(const fpo_pattern *pattern, uint64_t bits);
uint32_t fpo_pattern_nonzero(const fpo_pattern *pattern, uint64_t bits);
uint32_t fpo_pattern_positive(const fpo_pattern *pattern, uint64_t bits);
uint32_t fpo_pattern_negated(const fpo_pattern *pattern, uint32_t code);

/* The scale code of number `index`: consecutive ones differ, as far as the format has codes whose products no output
 * format overflows on (ue4m3 113, ue8m0 31, f32 all). A and B go through them in different orders. */
uint32_t fpo_pattern_unique_scale(const fpo_pattern *pattern, int64_t row, int64_t column);
/* 2^exponent and, where the scale format has a mantissa, some of it. */
uint32_t fpo_pattern_scale_near(const fpo_pattern *pattern, int exponent, uint64_t bits);

#endif
