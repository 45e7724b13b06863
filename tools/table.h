/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Columns aligned for the eye. Cells are copied; the last column wraps at the terminal's width. */
#ifndef FP4ORACLE_TOOLS_TABLE_H
#define FP4ORACLE_TOOLS_TABLE_H

#include <fp4oracle/api.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct fpo_table fpo_table;

/* NULL without memory; every other function then does nothing. */
fpo_table *fpo_table_new(size_t columns);
/* The next cell, row by row. The first row is the heading. */
void fpo_table_add(fpo_table *table, const char *format, ...) FPO_PRINTF(2, 3);
/* Numbers stand at the right edge of their column. */
void fpo_table_align_right(fpo_table *table, size_t column);
/* A line under the row that is complete now. */
void fpo_table_note(fpo_table *table, const char *text);
/* Prints on stdout, each line after `indent` blanks, and frees the table. */
void fpo_table_print(fpo_table *table, int indent);
/* The same without a heading: the first row is a row like the others. */
void fpo_table_print_plain(fpo_table *table, int indent);

/* Frees a table that is not printed. */
void fpo_table_free(fpo_table *table);

/* Text from `column` on, wrapped at the terminal's width with further lines at the same column. */
void fpo_print_wrapped(int column, const char *text);

#endif
