/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A kernel for every row of the PTX table that works on values alone, in every combination of its alternatives: reads
 * operands from columns of adversarial values, executes the one instruction, writes its results. The same text runs on
 * a GPU and on the virtual one. */
#ifndef FP4ORACLE_TESTS_ROW_KERNEL_H
#define FP4ORACLE_TESTS_ROW_KERNEL_H

#include <ptx.h>

enum { FPO_ROW_CASES = 8192, FPO_ROW_KINDS = 6, FPO_ROW_SOURCES = 4, FPO_ROW_RESULTS = 4, FPO_ROW_PTX = 8192 };

typedef struct fpo_row_kernel {
    char opcode[256];
    char ptx[FPO_ROW_PTX]; /* one entry, `k(.param .u64 in, .param .u64 out)`, 128 threads a CTA */
    int results;           /* columns of FPO_ROW_CASES 64-bit words in `out` */
} fpo_row_kernel;

/* Combinations of a row that can be written: of a pure row, and of an approximate instruction. */
int fpo_row_kernel_count(const fpo_ptx_row *row);

/* Combination `index` of such a row, for `target` ("sm_90a"). False: it cannot be written (registers of 8 bits in
 * vectors). */
bool fpo_row_kernel_write(const fpo_ptx_row *row, int index, const char *target, fpo_row_kernel *kernel);

/* in[(kind * FPO_ROW_SOURCES + operand) * FPO_ROW_CASES + case]; 64-bit words, of which an operand takes the low bytes.
 */
size_t fpo_row_input_bytes(void);
void fpo_row_inputs(uint64_t *in);

/* FNV-1a of a kernel's result columns. */
uint64_t fpo_row_hash(const uint64_t *out, int results);

#endif
