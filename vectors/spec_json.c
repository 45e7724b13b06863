/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A gemm spec as JSON, from the table of its fields. */
#include "spec_json.h"

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 160 };

/* "spec.epilogue" and "d" to "spec.epilogue.d". */
static void extend(char *to, const char *path, const char *name)
{
    snprintf(to, PATH_SIZE, "%.100s.%.40s", path, name);
}

/* "spec.epilogue.steps" and 2 to "spec.epilogue.steps[2]". */
static void extend_list(char *to, const char *path, size_t index)
{
    snprintf(to, PATH_SIZE, "%.100s[%zu]", path, index);
}

static fpo_status number_to_json(const fpo_field *field, const void *record, const char *path, json_t **value,
                                 fpo_error *error)
{
    int64_t number = fpo_field_get(field, record);
    if (!fpo_choice_what(field->kind)) {
        *value = field->kind == FPO_KIND_BOOL ? json_boolean(number != 0) : json_integer(number);
        return FPO_OK;
    }
    const char *name = fpo_choice_name(field->kind, number);
    if (!name)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: no %s has the number %lld", path, fpo_choice_what(field->kind),
                        (long long)number);
    *value = json_string(name);
    return FPO_OK;
}

static fpo_status list_to_json(const fpo_field *field, const void *record, const char *path, json_t **value,
                               fpo_error *error)
{
    const char *entry = (const char *)record + field->offset;
    *value = json_array();
    for (size_t i = 0; i < field->length && !fpo_list_ended(field, entry); i++, entry += field->record->size) {
        char inner[PATH_SIZE];
        json_t *object;
        extend_list(inner, path, i);
        fpo_status status = fpo_record_to_json(field->record, entry, inner, &object, error);
        if (status != FPO_OK)
            return status;
        json_array_append_new(*value, object);
    }
    return FPO_OK;
}

fpo_status fpo_record_to_json(const fpo_record *type, const void *record, const char *path, json_t **object,
                              fpo_error *error)
{
    *object = json_object();
    fpo_status status = FPO_OK;
    for (size_t i = 0; i < type->count && status == FPO_OK; i++) {
        const fpo_field *field = &type->fields[i];
        char inner[PATH_SIZE];
        json_t *value = NULL;
        extend(inner, path, field->name);
        if (field->length)
            status = list_to_json(field, record, inner, &value, error);
        else if (field->record)
            status = fpo_record_to_json(field->record, (const char *)record + field->offset, inner, &value, error);
        else
            status = number_to_json(field, record, inner, &value, error);
        if (status != FPO_OK)
            json_decref(value);
        else if (json_object_set_new(*object, field->name, value) != 0)
            status = fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", inner);
    }
    if (status != FPO_OK) {
        json_decref(*object);
        *object = NULL;
    }
    return status;
}

/* "linear, 128x4": the choices there are, as far as a message has room. */
static void list_choices(fpo_field_kind kind, char *list, size_t size)
{
    size_t at = 0;
    const char *name;
    list[0] = 0;
    for (int64_t i = 0; (name = fpo_choice_name(kind, i)) != NULL && at + strlen(name) + 3 < size; i++)
        at += (size_t)snprintf(list + at, size - at, "%s%s", at ? ", " : "", name);
}

static fpo_status number_from_json(const fpo_field *field, const json_t *value, const char *path, void *record,
                                   fpo_error *error)
{
    const char *what = fpo_choice_what(field->kind);
    int64_t number = 0;
    if (what) {
        if (!json_is_string(value))
            return fpo_fail(error, FPO_ERR_FILE, "%s: no string, but a %s is a name", path, what);
        if (!fpo_choice_by_name(field->kind, json_string_value(value), &number)) {
            char list[FPO_MESSAGE_SIZE / 2];
            list_choices(field->kind, list, sizeof(list));
            return fpo_fail(error, FPO_ERR_FILE, "%s: no such %s: %s (there are %s)", path, what,
                            fpo_shown(json_string_value(value)).text, list);
        }
    } else if (field->kind == FPO_KIND_BOOL) {
        if (!json_is_boolean(value))
            return fpo_fail(error, FPO_ERR_FILE, "%s: neither true nor false", path);
        number = json_is_true(value);
    } else if (!json_is_integer(value))
        return fpo_fail(error, FPO_ERR_FILE, "%s: no integer", path);
    else
        number = json_integer_value(value);
    if (!fpo_field_set(field, record, number))
        return fpo_fail(error, FPO_ERR_FILE, "%s: %lld does not fit its %zu bytes", path, (long long)number,
                        field->size);
    return FPO_OK;
}

static fpo_status fill(const fpo_record *type, const json_t *object, const char *path, char *record, fpo_error *error);

static fpo_status list_from_json(const fpo_field *field, const json_t *value, const char *path, char *entries,
                                 fpo_error *error)
{
    if (!json_is_array(value))
        return fpo_fail(error, FPO_ERR_FILE, "%s: no array", path);
    if (json_array_size(value) > field->length)
        return fpo_fail(error, FPO_ERR_FILE, "%s: %zu entries, more than %zu", path, json_array_size(value),
                        field->length);
    for (size_t i = 0; i < json_array_size(value); i++) {
        char inner[PATH_SIZE], *entry = entries + i * field->record->size;
        extend_list(inner, path, i);
        fpo_status status = fill(field->record, json_array_get(value, i), inner, entry, error);
        if (status != FPO_OK)
            return status;
        if (fpo_list_ended(field, entry))
            return fpo_fail(error, FPO_ERR_FILE, "%s.%s: would end the list", inner, field->record->fields[0].name);
    }
    return FPO_OK;
}

static bool has_field(const fpo_record *type, const char *name)
{
    for (size_t i = 0; i < type->count; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return true;
    return false;
}

static fpo_status fill(const fpo_record *type, const json_t *object, const char *path, char *record, fpo_error *error)
{
    char inner[PATH_SIZE];
    if (!json_is_object(object))
        return fpo_fail(error, FPO_ERR_FILE, "%s: no object", path);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        if (!has_field(type, name))
            return fpo_fail(error, FPO_ERR_FILE, "%s.%s: there is no such field", path, fpo_shown(name).text);
    }
    for (size_t i = 0; i < type->count; i++) {
        const fpo_field *field = &type->fields[i];
        extend(inner, path, field->name);
        value = json_object_get(object, field->name);
        if (!value)
            return fpo_fail(error, FPO_ERR_FILE, "%s: is missing", inner);
        fpo_status status = field->length   ? list_from_json(field, value, inner, record + field->offset, error)
                            : field->record ? fill(field->record, value, inner, record + field->offset, error)
                                            : number_from_json(field, value, inner, record, error);
        if (status != FPO_OK)
            return status;
    }
    return FPO_OK;
}

fpo_status fpo_record_from_json(const fpo_record *type, const json_t *object, const char *path, void *record,
                                fpo_error *error)
{
    char *filled = calloc(1, type->size);
    if (!filled)
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
    fpo_status status = fill(type, object, path, filled, error);
    if (status == FPO_OK)
        memcpy(record, filled, type->size);
    free(filled);
    return status;
}

fpo_status fpo_spec_to_json(const fpo_gemm_spec *spec, const char *model, json_t **document, fpo_error *error)
{
    fpo_status status = fpo_record_to_json(&fpo_record_gemm_spec, spec, "spec", document, error);
    if (status == FPO_OK && model && json_object_set_new(*document, "model", json_string(model)) != 0) {
        json_decref(*document);
        *document = NULL;
        status = fpo_fail(error, FPO_ERR_MEMORY, "spec.model: out of memory, or no valid UTF-8");
    }
    return status;
}

fpo_status fpo_spec_from_json(const json_t *document, fpo_gemm_spec *spec, fpo_error *error)
{
    json_t *model = json_object_get(document, "model");
    if (!model)
        return fpo_record_from_json(&fpo_record_gemm_spec, document, "spec", spec, error);
    if (!json_is_string(model))
        return fpo_fail(error, FPO_ERR_FILE, "spec.model: no string");
    json_t *numbers = json_copy((json_t *)document);
    if (!numbers)
        return fpo_fail(error, FPO_ERR_MEMORY, "spec: out of memory");
    json_object_del(numbers, "model");
    fpo_status status = fpo_record_from_json(&fpo_record_gemm_spec, numbers, "spec", spec, error);
    json_decref(numbers);
    return status;
}
