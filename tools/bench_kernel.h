/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#ifndef FP4ORACLE_TOOLS_BENCH_KERNEL_H
#define FP4ORACLE_TOOLS_BENCH_KERNEL_H

#include <fp4oracle/fp4oracle.h>

typedef struct fpo_bench_kernel {
    const char *kernel, *device; /* PLUGIN:NAME; NULL: the plug-in's first device */
    fpo_block_format format;
    int64_t m, n, k, threads, repeat;
    bool json;
} fpo_bench_kernel;

/* Launches one kernel `repeat` times, with all bits compared each time, and prints how long a launch takes. Returns the
 * program's exit status. */
int fpo_bench_run_kernel(const char *program, const fpo_bench_kernel *wanted);

#endif
