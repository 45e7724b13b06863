/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Outputs of launches side by side. */
#include "checks_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes that an element takes in D; a pair of 4-bit elements counts as one. */
size_t fpo_check_element_bytes(const fpo_checking *c)
{
    return fpo_format_describe(c->stage->kernel->d.format)->storage_bytes;
}

void fpo_check_add_element(const fpo_checking *c, size_t index, fpo_region *region)
{
    bool pairs = fpo_format_describe(c->stage->kernel->d.format)->bits == 4;
    int64_t n = c->stage->problem->n, columns = pairs ? n / 2 + n % 2 : n;
    int64_t row = (int64_t)index / columns, column = (int64_t)index % columns;
    if (region->elements == 0) {
        *region = (fpo_region){0, row, row, INT64_MAX, 0};
    }
    int64_t first = pairs ? 2 * column : column, last = pairs && 2 * column + 1 < n ? 2 * column + 1 : first;
    region->elements += last - first + 1;
    region->last_row = row;
    region->first_column = first < region->first_column ? first : region->first_column;
    region->last_column = last > region->last_column ? last : region->last_column;
}

/* Elements in which two launches differ; in the scales of D, where D's codes are the same. */
bool fpo_check_same(const fpo_checking *c, const fpo_outputs *x, const fpo_outputs *y, fpo_region *region)
{
    size_t size = fpo_check_element_bytes(c);
    *region = (fpo_region){0};
    for (size_t i = 0; i < c->checks->d_bytes / size; i++) {
        if (memcmp(x->d + i * size, y->d + i * size, size) != 0) {
            fpo_check_add_element(c, i, region);
        }
    }
    return region->elements == 0 &&
           (x->d_scale == NULL || memcmp(x->d_scale, y->d_scale, c->checks->d_scale_bytes) == 0);
}

void fpo_region_text(const fpo_region *region, char *text, size_t size)
{
    if (region->elements == 0) {
        snprintf(text, size, "in the scales of D");
    } else {
        snprintf(text, size,
                 "in %" PRId64 " elements within rows %" PRId64 "-%" PRId64 ", columns %" PRId64 "-%" PRId64,
                 region->elements, region->first_row, region->last_row, region->first_column, region->last_column);
    }
}
