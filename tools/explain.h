/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The topics of fp4oracle explain, one file each. */
#ifndef FP4ORACLE_TOOLS_EXPLAIN_H
#define FP4ORACLE_TOOLS_EXPLAIN_H

#include "arguments.h"

#include <fp4oracle/layout.h>
#include <jansson.h>

typedef struct fpo_explain_options {
    const char *program;        /* "fp4oracle explain" */
    const char *model;          /* NULL: exact */
    const char *dtype;          /* of a recipe's input; NULL: f32 */
    const float *library_scale; /* a recipe's tensor scale as the library keeps it; NULL: computed */
    const char *groups;         /* rows of the groups whose scales lie behind one another; NULL: one matrix */
    int64_t blocks;             /* of K shown in detail */
    bool json;
    int argc; /* the whole command line */
    char **argv;
} fpo_explain_options;

int fpo_explain_code(const fpo_explain_options *options, int count, char **arguments);
int fpo_explain_scale(const fpo_explain_options *options, int count, char **arguments);
int fpo_explain_output(const fpo_explain_options *options, int count, char **arguments);
int fpo_explain_recipe(const fpo_explain_options *options, int count, char **arguments);
int fpo_explain_layout(const fpo_explain_options *options, int count, char **arguments);
/* What layout does with --groups; `rows` of all groups, or -1 where nobody said. */
int fpo_explain_groups(const fpo_explain_options *options, fpo_layout layout, int64_t rows, int64_t columns);
int fpo_explain_packing(const fpo_explain_options *options, int count, char **arguments);

/* Parts that code and scale share (explain_fields.c, explain_neighbours.c). */

/* Sign, exponent and mantissa of a code, the formula and the exact value. */
void fpo_explain_fields(fpo_format format, uint32_t code);
/* {"hex", "sign", "exponent", "mantissa", "class", "value", "significand", "power"} */
json_t *fpo_explain_fields_json(fpo_format format, uint32_t code);
/* The codes next to it, the midpoints, and what each cast policy makes of them. */
void fpo_explain_neighbours(fpo_format format, uint32_t code);
json_t *fpo_explain_neighbours_json(fpo_format format, uint32_t code);
/* The same bits under other formats of the same width in memory. */
void fpo_explain_misreadings(fpo_format format, uint32_t code);
json_t *fpo_explain_misreadings_json(fpo_format format, uint32_t code);

#endif
