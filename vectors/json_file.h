/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* JSON documents in files of their own. */
#ifndef FP4ORACLE_VECTORS_JSON_FILE_H
#define FP4ORACLE_VECTORS_JSON_FILE_H

#include <fp4oracle/status.h>
#include <jansson.h>

/* Reads a regular file of at most 100 MB; duplicate keys are errors. The caller owns `document`. */
fpo_status fpo_json_read(const char *path, json_t **document, fpo_error *error);

#endif
