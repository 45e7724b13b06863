/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* docs/recipe-differences.md: which recipes give the same bytes, and the simplest input that shows two others apart. */
#ifndef FP4ORACLE_TESTS_RECIPE_DIFFERENCES_H
#define FP4ORACLE_TESTS_RECIPE_DIFFERENCES_H

#include "recipe_probe.h"

#include <stdio.h>

/* Recipes that make the same kind of operand from the same kind of input. */
typedef struct fpo_family {
    fpo_operand_view view;
    fpo_recipe recipes[FPO_RECIPE_COUNT];
    size_t count;
} fpo_family;

/* The family that recipe `first` begins in the registry's order; false if an earlier one has it, or if it is not
 * compared: it rounds with random bits, or takes fp8 and not numbers. */
bool fpo_family_of(fpo_recipe first, fpo_family *family);

/* What tells two recipes apart: above the diagonal the first probe in order of simplicity, below it the first ordinary
 * one, and -1 where there is none. */
typedef struct fpo_family_table {
    fpo_family family;
    fpo_probes probes;
    fpo_outcome *outcomes;             /* [recipe][probe] */
    size_t class_of[FPO_RECIPE_COUNT]; /* of each recipe of the family, numbered in the order of the registry */
    size_t classes;
    int64_t *bytes_apart;              /* [class][class] */
    size_t group_of[FPO_RECIPE_COUNT]; /* the same by the tensor's multiplier alone */
    size_t groups;
    int64_t *multiplier_apart; /* [group][group] */
} fpo_family_table;

void fpo_family_table_make(const fpo_family *family, fpo_family_table *table);
void fpo_family_table_free(fpo_family_table *table);

/* The document. */
void fpo_differences_write(FILE *file);

#endif
