/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The parts of docs/recipes.md that are the registries: vocabulary and table of recipes. */
#ifndef FP4ORACLE_TESTS_RECIPE_DOCUMENT_H
#define FP4ORACLE_TESTS_RECIPE_DOCUMENT_H

#include <stdio.h>

/* Copies a document; what stands between the lines "<!-- vocabulary -->" or "<!-- recipes -->" and "<!-- end -->"
 * becomes what the registries have now. */
void fpo_recipe_document(FILE *from, FILE *to);

#endif
