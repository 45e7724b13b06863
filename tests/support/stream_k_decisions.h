/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What CUTLASS 4.2 itself decided about Stream-K in 800 problems (tools/record_stream_k.sh). */
#ifndef FP4ORACLE_TESTS_STREAM_K_DECISIONS_H
#define FP4ORACLE_TESTS_STREAM_K_DECISIONS_H

#include <fp4oracle/model.h>

/* The decisions as text; free it. */
char *stream_k_decisions(void);

typedef struct stream_k_counts {
    long problems, tiles, parts, split_tiles, wrong;
} stream_k_counts;

/* Compares the parts of every output tile; the wave of `schedule` is replaced by each problem's. exchanged: as a kernel
 * that computes the transpose. */
stream_k_counts stream_k_compare(const char *decisions, const fpo_schedule *schedule, bool exchanged);

#endif
