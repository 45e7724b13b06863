/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Random recipes: texts that no library has, for what an engine does with steps in an order nobody thought of. */
#ifndef FP4ORACLE_TESTS_RECIPE_WRITER_H
#define FP4ORACLE_TESTS_RECIPE_WRITER_H

#include <fp4oracle/quantize.h>
#include <fp4oracle/random.h>

enum { FPO_WRITTEN_TEXT = 4096 };

/* A recipe whose text lies beside it: info.text points into the same struct, which therefore stays where it is. */
typedef struct fpo_written_recipe {
    fpo_recipe_info info;
    char text[FPO_WRITTEN_TEXT];
} fpo_written_recipe;

/* The same recipe for the same number, on every machine. A few do not compile: a step that only suits elements got
 * constants alone. */
void fpo_write_recipe(uint64_t number, fpo_written_recipe *recipe);

#endif
