/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Other libraries that quantise the same numbers in the same run: a Python process, asked recipe by recipe. */
#ifndef FP4ORACLE_TOOLS_BENCH_PEERS_H
#define FP4ORACLE_TOOLS_BENCH_PEERS_H

#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
#include <sys/types.h>

enum { FPO_PEERS = 3 };
extern const char *const fpo_peer_names[FPO_PEERS]; /* ml_dtypes, torch, torchao */

typedef struct fpo_peers {
    pid_t pid; /* 0: none */
    int socket;
    FILE *answers;
    char libraries[128]; /* those that are there, with their versions; else why there are none */
    bool present;
} fpo_peers;

/* The interpreter is that of the environment variable FPO_PYTHON, else python3. Never fails: without a peer `present`
 * is false. */
void fpo_peers_open(fpo_peers *peers, const float *values, int64_t rows, int64_t k, int threads);
/* Seconds of each peer, 0 where it has no such quantiser. */
void fpo_peers_time(fpo_peers *peers, const fpo_recipe_info *recipe, int64_t repeat, double seconds[FPO_PEERS]);
void fpo_peers_close(fpo_peers *peers);

#endif
