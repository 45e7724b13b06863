/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A gemm spec as JSON: every field under its name, enumerations by name, nothing left out. Reading is strict: members
 * that are unknown, missing, of another type or out of range are errors that name their place
 * ("spec.a.read.scale.layout: no such layout: 128x5"). */
#ifndef FP4ORACLE_VECTORS_SPEC_JSON_H
#define FP4ORACLE_VECTORS_SPEC_JSON_H

#include "spec_fields.h"

#include <jansson.h>

/* `path` is what messages call the record: "spec". The caller owns `*object`. */
fpo_status fpo_record_to_json(const fpo_record *type, const void *record, const char *path, json_t **object,
                              fpo_error *error);
/* Fills the whole struct; padding and what follows the end of a list become 0. Untouched on failure. */
fpo_status fpo_record_from_json(const fpo_record *type, const json_t *object, const char *path, void *record,
                                fpo_error *error);

/* A document of its own: the spec, and under "model" the name of its accumulation if `model` is not NULL. That name is
 * for people; the numbers count. */
fpo_status fpo_spec_to_json(const fpo_gemm_spec *spec, const char *model, json_t **document, fpo_error *error);
fpo_status fpo_spec_from_json(const json_t *document, fpo_gemm_spec *spec, fpo_error *error);

#endif
