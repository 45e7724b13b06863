/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands as written bound to the operands of a row. */
#ifndef FP4ORACLE_KERNELS_PTX_BIND_H
#define FP4ORACLE_KERNELS_PTX_BIND_H

#include "parse.h"
#include "row_text.h"

typedef struct fpo_ptx_bind {
    fpo_ptx_builder *builder;
    const fpo_ptx_node *nodes;
    uint32_t node_count;
    uint32_t line;
    bool pure;    /* every operand of the row must be an array: what is missing gets a register nobody reads */
    bool matched; /* some row had the opcode */
    fpo_ptx_operand *operands;
    uint32_t count;
    char reason[160]; /* why the last row did not take the operands */
} fpo_ptx_bind;

/* False, with a reason, if the operands are not those of the row. */
bool fpo_ptx_bind_operands(fpo_ptx_bind *bind, const fpo_row_operand *row, int row_count);

bool fpo_ptx_parse_semantics(const char *text, fpo_ptx_instruction *instruction);

#endif
