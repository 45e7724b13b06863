/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A recipe watched while it runs: every step over the first block of one row, with its text and what came out. */
#ifndef FP4ORACLE_RECIPE_TRACE_H
#define FP4ORACLE_RECIPE_TRACE_H

#include <fp4oracle/quantize.h>

FPO_BEGIN_DECLS

/* What an event is about, in the order in which they come; of a scope that a recipe does not have there are none. */
typedef enum fpo_trace_scope {
    FPO_TRACE_TENSOR,    /* once a tensor: one value */
    FPO_TRACE_ROW,       /* once a row: one value */
    FPO_TRACE_INPUT,     /* an element before any amax is taken: a value for each element of the block */
    FPO_TRACE_BLOCK,     /* once a block: one value */
    FPO_TRACE_CANDIDATE, /* of a search: two values, the candidate and its error */
    FPO_TRACE_ELEMENT,   /* a value for each element */
    FPO_TRACE_SCALE,     /* the block's scale code, as fpo_quantize stores it: one value */
    FPO_TRACE_CODES      /* the elements' codes, likewise: a value for each element */
} fpo_trace_scope;

typedef struct fpo_trace_event {
    fpo_trace_scope scope;
    /* "s = amax / (6 * tensor_scale)"; of what the recipe is given (tensor_amax, row_amax, amax, x) the name. Gone when
     * the watcher returns, as the values are. */
    const char *text;
    const double *values; /* f32 numbers, or doubles where the recipe computes in double; of codes whole numbers */
    int64_t count;
    bool chosen; /* of a candidate: the one that the recipe takes */
} fpo_trace_event;

typedef void fpo_trace_watcher(void *context, const fpo_trace_event *event);

/* x: a row of k numbers, the whole tensor. dtype: what the library is fed (f32, bf16 or f16), whose values x holds.
 * library_scale: the tensor scale as the library keeps it, instead of what the recipe computes; or NULL.
 * The steps run one value at a time, apart from fpo_quantize's loops, and their scale and codes are compared with its:
 * FPO_ERR_UNSUPPORTED if they differ, which is a defect of this library. */
FPO_API fpo_status fpo_recipe_trace(const fpo_recipe_info *recipe, const float *x, int64_t k, fpo_format dtype,
                                    const float *library_scale, fpo_trace_watcher *watch, void *context,
                                    fpo_error *error);

FPO_END_DECLS

#endif
