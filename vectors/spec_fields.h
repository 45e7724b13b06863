/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A gemm spec as a table of named fields, for whoever walks over all of them: files, differences, edits. */
#ifndef FP4ORACLE_VECTORS_SPEC_FIELDS_H
#define FP4ORACLE_VECTORS_SPEC_FIELDS_H

#include <fp4oracle/spec.h>

/* The kinds of fields: integers first, then bool, then one kind an enumeration. */
typedef enum fpo_field_kind {
    FPO_KIND_INT16,
    FPO_KIND_INT32,
    FPO_KIND_UINT32,
    FPO_KIND_BOOL,
    FPO_KIND_FORMAT,
    FPO_KIND_LAYOUT,
    FPO_KIND_PACKING,
    FPO_KIND_TENSOR_SCALE_USE,
    FPO_KIND_ROUNDING,
    FPO_KIND_OVERFLOW,
    FPO_KIND_NAN_POLICY,
    FPO_KIND_NO_NAN_POLICY,
    FPO_KIND_NEGATIVE_POLICY,
    FPO_KIND_NO_ZERO_POLICY,
    FPO_KIND_STEP_KIND,
    FPO_KIND_PROMOTION,
    FPO_KIND_SPLIT_KIND,
    FPO_KIND_REDUCTION,
    FPO_KIND_EPILOGUE_OP,
    FPO_KIND_EPILOGUE_OPERAND,
    FPO_KIND_COUNT
} fpo_field_kind;

/* The name of a value of an enumeration: "nearest_even", "128x4"; NULL if it has no such value. The values of every
 * enumeration are 0, 1, 2, ... */
const char *fpo_choice_name(fpo_field_kind kind, int64_t value);
/* False if there is none of that name. */
bool fpo_choice_by_name(fpo_field_kind kind, const char *name, int64_t *value);
/* "rounding", "format": what an enumeration is a choice of, for messages. NULL for numbers and bool. */
const char *fpo_choice_what(fpo_field_kind kind);

typedef struct fpo_record fpo_record;

typedef struct fpo_field {
    const char *name;
    size_t offset, size;
    fpo_field_kind kind;      /* where `record` is NULL */
    const fpo_record *record; /* a struct of its own, or the struct of each entry of a list */
    size_t length;            /* of a list, else 0 */
} fpo_field;

struct fpo_record {
    const char *name;
    size_t size;
    const fpo_field *fields;
    size_t count;
};

extern const fpo_record fpo_record_gemm_spec, fpo_record_accumulation;

/* The value of a field that is no record, in the struct at `record`. */
int64_t fpo_field_get(const fpo_field *field, const void *record);
/* False if the value does not fit the field; enumerations must have it. */
bool fpo_field_set(const fpo_field *field, void *record, int64_t value);

/* Whether a list ends before this entry of it. */
bool fpo_list_ended(const fpo_field *list, const void *entry);

/* Whether the fields are equal; padding bytes and what follows the end of a list do not count. */
bool fpo_record_equal(const fpo_record *type, const void *x, const void *y);

#endif
