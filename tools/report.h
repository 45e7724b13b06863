/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the subcommands say and how: colour on a terminal only, errors on stderr, JSON on stdout, progress. */
#ifndef FP4ORACLE_TOOLS_REPORT_H
#define FP4ORACLE_TOOLS_REPORT_H

#include "command.h"

#include <fp4oracle/status.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum fpo_style_kind { FPO_PLAIN, FPO_BOLD, FPO_DIM, FPO_GOOD, FPO_BAD, FPO_WARN } fpo_style_kind;

/* The escape sequence, or "" where `out` is no terminal, TERM is dumb or NO_COLOR is set (https://no-color.org). */
const char *fpo_style(FILE *out, fpo_style_kind kind);

/* Columns of the terminal behind `out`; 0 where it is none. */
int fpo_terminal_width(FILE *out);

/* "fp4oracle gen: MESSAGE" on stderr; the exit status that belongs to the error. */
int fpo_report_error(const char *program, const fpo_error *error);
/* The same with exit status 2 and a message of its own. */
int fpo_report_unusable(const char *program, const char *format, ...) FPO_PRINTF(2, 3);

/* A heading in bold, on stdout. */
void fpo_heading(const char *format, ...) FPO_PRINTF(1, 2);
/* The same after an empty line. */
void fpo_section(const char *format, ...) FPO_PRINTF(1, 2);

/* Prints `object` on stdout, indented, keys in the order of insertion, and releases it. */
int fpo_print_json(json_t *object);
/* A number as JSON has it; NaN and infinities, which JSON has not, as the strings "nan", "inf", "-inf". */
json_t *fpo_json_number(double x);

/* Text that may come from a file name: bytes that are no UTF-8, which JSON has not, become U+FFFD. */
json_t *fpo_json_text(const char *text);

/* The command line as a shell takes it, quoted where needed, for "reproduce with"; free it. NULL without memory. */
char *fpo_command_line(int argc, char *const *argv);

/* What the terminal shows of long work: nothing in the first third of a second, then a line of text that is renewed a
 * few times a second; nothing at all where stderr is no terminal. Zero-initialise but for the label. */
typedef struct fpo_progress_line {
    const char *label;
    bool searching;        /* fractions come from many small parts and say nothing about the whole */
    double started, shown; /* seconds; 0: not yet */
} fpo_progress_line;

/* For fpo_execution.progress; its context is an fpo_progress_line. */
void fpo_progress(void *context, double fraction_done);
void fpo_progress_end(const fpo_progress_line *line);

#endif
