/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a kernel returned, kept as a vector file. */
#ifndef FP4ORACLE_TOOLS_RUN_RECORD_H
#define FP4ORACLE_TOOLS_RUN_RECORD_H

#include "runner.h"

/* Makes the folder if it is not there (its parent must be), and sees to it that files can be written into it. */
fpo_status fpo_run_record_folder(const char *folder, fpo_error *error);

/* Writes folder/VECTOR.KERNEL.N.safetensors (N counts the variants): the operands, the spec under the model that
 * matches (or was compared with), and the observed output as d.MODEL. The purpose says device, software, kernel and
 * variant, and whether the model reproduces the output. Nothing is written for a result without an output. */
fpo_status fpo_run_record(const char *folder, const fpo_runner *runner, const fpo_kernel_info *kernel,
                          const fpo_run_result *result, const char *vector_path, size_t number, fpo_error *error);

#endif
