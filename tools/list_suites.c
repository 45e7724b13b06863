/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Suites as entries of `fp4oracle list`. */
#include "list.h"
#include "vector_suite.h"

#include <stdio.h>

/* Products per second of one core of the machine that this was written on, generic fused steps: for the seconds that a
 * suite takes for one format and model. */
static const double PRODUCTS_A_SECOND = 25e6;

typedef struct totals {
    int64_t vectors;
    double products, bytes;
} totals;

static json_t *vector_json(const fpo_suite_vector *vector)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)vector->m, (long long)vector->n, (long long)vector->k);
    return json_pack("{s:s, s:s, s:s, s:s}", "data", fpo_data_kind_name(vector->kind), "shape", shape, "d",
                     vector->d != FPO_FORMAT_NONE ? fpo_format_describe(vector->d)->name : "any", "purpose",
                     vector->purpose);
}

static void add(totals *t, const fpo_suite_vector *vector)
{
    double m = (double)vector->m, n = (double)vector->n, k = (double)vector->k;
    t->vectors++;
    t->products += m * n * k;
    t->bytes += (m + n) * k + m * n * (vector->c ? 8 : 4); /* elements of 8 bits, D of f32 */
}

json_t *fpo_list_suite(size_t index)
{
    if (index >= FPO_SUITE_COUNT)
        return NULL;
    totals t = {0};
    json_t *vectors = json_object();
    const fpo_suite_vector *vector;
    for (size_t i = 0; (vector = fpo_suite_vector_at(i)) != NULL; i++)
        if (fpo_suite_has((fpo_vector_suite)index, vector)) {
            add(&t, vector);
            json_object_set_new(vectors, vector->name, vector_json(vector));
        }
    char size[32], time[32];
    snprintf(size, sizeof size, "%.1f MB", t.bytes / 1e6);
    snprintf(time, sizeof time, "%.0f s", t.products / PRODUCTS_A_SECOND + 0.5);
    return json_pack("{s:s, s:I, s:s, s:s, s:s, s:o}", "name", fpo_suite_name((fpo_vector_suite)index), "vectors",
                     (json_int_t)t.vectors, "size", size, "time", time, "summary",
                     fpo_suite_summary((fpo_vector_suite)index), "of", vectors);
}
