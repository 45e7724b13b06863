/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What `fp4oracle run` says to people, while it runs. */
#ifndef FP4ORACLE_TOOLS_RUN_TEXT_H
#define FP4ORACLE_TOOLS_RUN_TEXT_H

#include "runner.h"

#include <jansson.h>

/* The first lines: what runs where. */
void fpo_run_print_header(const fpo_runner *runner);
void fpo_run_print_kernel(const fpo_runner *runner, const fpo_kernel_info *kernel);
/* One line, and what belongs to it. */
void fpo_run_print_result(const fpo_run_result *result, const char *vector, const char *reproduce);
void fpo_run_print_summary(const json_t *summary, size_t kernels_left_out);

/* The kernels of a plug-in as a table. */
void fpo_run_print_list(const fpo_runner *runner);

#endif
