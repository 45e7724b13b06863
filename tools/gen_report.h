/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a vector is, for people and for machines. */
#ifndef FP4ORACLE_TOOLS_GEN_REPORT_H
#define FP4ORACLE_TOOLS_GEN_REPORT_H

#include "vector_file.h"

#include <jansson.h>

void fpo_gen_report_print(const fpo_vector *vector, const char *path);
json_t *fpo_gen_report_json(const fpo_vector *vector, const char *path);

/* "nvfp4", or "e2m1/ue4m3 1x16" for what has no name. */
const char *fpo_operand_name(const fpo_operand_view *view);

#endif
