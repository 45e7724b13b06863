/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The text of a row of the table: alternatives of a pattern, references to them, operand lists. Shared by the build
 * step that makes functions of the rows and by the decoder, so that both read a row in the same way. */
#ifndef FP4ORACLE_KERNELS_PTX_ROW_TEXT_H
#define FP4ORACLE_KERNELS_PTX_ROW_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { FPO_ROW_TEXT = 1024, FPO_ROW_GROUPS = 9, FPO_ROW_CHOICES = 40, FPO_ROW_OPERANDS = 24 };

/* {name:text:more,...}: what the opcode has there ($), and two texts for the semantics (@ and #). */
typedef struct fpo_row_choice {
    const char *name, *text, *more;
    unsigned name_length, text_length, more_length;
} fpo_row_choice;

typedef struct fpo_row_groups {
    int count;
    int size[FPO_ROW_GROUPS];
    fpo_row_choice choices[FPO_ROW_GROUPS][FPO_ROW_CHOICES];
} fpo_row_groups;

bool fpo_row_parse_groups(const char *pattern, fpo_row_groups *groups);

/* Replaces $n, @n and #n by what the choice of group n has; false if there is no such group or no room. */
bool fpo_row_substitute(const char *text, const fpo_row_groups *groups, const int *choice, char *result, size_t size);

/* Whether `opcode` is exactly one of the pattern's strings, and which. */
bool fpo_row_match(const char *pattern, const fpo_row_groups *groups, const char *opcode, int *choice);

/* One operand of a row: NAME:TYPE, with `+` (the register may be wider), `*N` (a vector of N registers), `?` (may be
 * missing). `p|q` stands for one or two predicates, `d|p` after a type for an optional second result. `[a]` is an
 * address, `[a,c*N]` a tensor map and N coordinates, `imm32` an immediate, `label` a label. Operands whose names begin
 * with d, e, g, h, p, q are results, x is read and written. Inside `{ }` the operands are written as a vector. */
typedef struct fpo_row_operand {
    char name[8];
    char type[16];
    int vector; /* N of *N, 0: one register */
    bool written, read;
    bool wider;
    bool optional;
    bool address;
    bool tensor; /* coordinates follow the address in the same brackets */
    bool pair;   /* stands after `|` */
    int brace;   /* number of the `{ }` that it stands in, 0: none */
} fpo_row_operand;

/* Number of operands, -1 if the text is malformed. */
int fpo_row_parse_operands(const char *text, fpo_row_operand *operands);

#endif
