/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How far reciprocals are from rounded ones (recipe.h), 2^21 bytes, computed at build time. */
    .section .rodata
    .globl fpo_rcp_words
    .hidden fpo_rcp_words
    .type fpo_rcp_words, @object
    .balign 64
fpo_rcp_words:
    .incbin FPO_RCP_TABLE
    .size fpo_rcp_words, . - fpo_rcp_words
    .section .note.GNU-stack, "", @progbits
