/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The measured reciprocals (data/README.md), 2^21 bytes, decompressed at build time. */
    .section .rodata
    .globl fpo_rcp_table, fpo_rcp_words
    .hidden fpo_rcp_table, fpo_rcp_words
    .type fpo_rcp_table, @object
    .type fpo_rcp_words, @object
    .balign 64
fpo_rcp_table:
fpo_rcp_words:
    .incbin FPO_RCP_TABLE
    .size fpo_rcp_table, . - fpo_rcp_table
    .size fpo_rcp_words, . - fpo_rcp_words
    .section .note.GNU-stack, "", @progbits
