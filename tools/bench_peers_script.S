/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* bench_peers.py as a string: the program needs no file beside it. */
    .section .rodata
    .globl fpo_bench_peers_script
    .hidden fpo_bench_peers_script
    .type fpo_bench_peers_script, @object
fpo_bench_peers_script:
    .incbin FPO_BENCH_PEERS
    .byte 0
    .size fpo_bench_peers_script, . - fpo_bench_peers_script
    .section .note.GNU-stack, "", @progbits
