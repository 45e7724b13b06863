/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What `fp4oracle run` found out, as JSON: what --json prints and what the JUnit file is made of. */
#ifndef FP4ORACLE_TOOLS_RUN_RECORDS_H
#define FP4ORACLE_TOOLS_RUN_RECORDS_H

#include "runner.h"

#include <jansson.h>

/* Which plug-in on which device. */
json_t *fpo_run_header_json(const fpo_runner *runner);
/* What a kernel takes, and how it computes there. `runner` may have no device open: then `arithmetic` is left out. */
json_t *fpo_kernel_json(const fpo_runner *runner, const fpo_kernel_info *kernel, bool device_open);
json_t *fpo_device_json(const fpo_runner *runner, const fpo_device_info *device);

/* `vector`: its name in reports; `reproduce`: the command that shows the result again. */
json_t *fpo_run_result_json(const fpo_kernel_info *kernel, const fpo_run_result *result, const char *vector,
                            const char *reproduce);

/* {matched, diverged, failed, unusable, unsupported} */
json_t *fpo_run_summary_json(const json_t *results);
/* The exit status for these results: the worst; 2 if nothing was compared at all. */
int fpo_run_exit_status(const json_t *results);

/* The document as JUnit XML, whole or not at all. */
fpo_status fpo_run_write_junit(const char *path, const json_t *document, fpo_error *error);

#endif
