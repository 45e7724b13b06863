/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The measured reciprocals (data/README.md), 2^21 bytes, decompressed at build time. */
    .section .rodata
    .globl fpo_rcp_table
    .hidden fpo_rcp_table
    .type fpo_rcp_table, @object
    .balign 64
fpo_rcp_table:
    .incbin FPO_RCP_TABLE
    .size fpo_rcp_table, . - fpo_rcp_table
    .section .note.GNU-stack, "", @progbits
