/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Fields of a JSON object, each read once, with errors that name it. */
#ifndef FP4ORACLE_PLUGINS_MODULE_FIELDS_H
#define FP4ORACLE_PLUGINS_MODULE_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first error counts; "" is none. */
typedef struct field_errors {
    char text[512];
} field_errors;

bool field_fail(field_errors *errors, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An object that is being read: `path` is "kernels[0].a". */
typedef struct fields {
    const json_t *object;
    const char *path;
    field_errors *errors;
} fields;

/* Each returns what is there, or the default if nothing is; something of another type or range is an error. */
const char *field_text(const fields *f, const char *name, const char *otherwise);
const char *field_wanted_text(const fields *f, const char *name);
int64_t field_number(const fields *f, const char *name, int64_t least, int64_t most, int64_t otherwise);
/* The index of the text in a list that ends with NULL. */
int field_choice(const fields *f, const char *name, const char *const *choices, int otherwise);
/* An object or array, or NULL. */
const json_t *field_object(const fields *f, const char *name);
const json_t *field_array(const fields *f, const char *name);
/* An error for a field that is in none of the names, which end with NULL. */
void field_names(const fields *f, const char *const *names);

#endif
