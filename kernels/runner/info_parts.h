/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Fields of the worker's JSON. */
#ifndef FP4ORACLE_RUNNER_INFO_PARTS_H
#define FP4ORACLE_RUNNER_INFO_PARTS_H

#include "info.h"

/* NULL, `otherwise` or 0 where there is no such member. */
const char *fpo_info_text(const json_t *object, const char *key);
const char *fpo_info_text_or(const json_t *object, const char *key, const char *otherwise);
int64_t fpo_info_number(const json_t *object, const char *key);
fpo_kernel_order fpo_info_order(const json_t *json);

#endif
