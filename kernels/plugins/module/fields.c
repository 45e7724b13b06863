/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Reading JSON that anybody may have written. */
#include "fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool field_fail(field_errors *errors, const char *format, ...)
{
    if (errors->text[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(errors->text, sizeof errors->text, format, arguments);
        va_end(arguments);
        for (char *c = errors->text; *c != '\0'; c++) /* what somebody wrote goes to a terminal */
            *c = (unsigned char)*c < 0x20 || *c == 0x7F ? '?' : *c;
    }
    return false;
}

static const char *type_of(const json_t *value)
{
    static const char *const names[] = {"an object", "an array", "text",  "a number",
                                        "a number",  "true",     "false", "null"};
    return names[json_typeof(value)];
}

/* The value if it is there; of the wrong type: an error and NULL. */
static const json_t *value_of(const fields *f, const char *name, json_type type, const char *wanted)
{
    const json_t *value = json_object_get(f->object, name);
    if (value != NULL && json_typeof(value) != type) {
        field_fail(f->errors, "%s.%s is %s, not %s", f->path, name, type_of(value), wanted);
        return NULL;
    }
    return value;
}

const char *field_text(const fields *f, const char *name, const char *otherwise)
{
    const json_t *value = value_of(f, name, JSON_STRING, "text");
    return value != NULL ? json_string_value(value) : otherwise;
}

const char *field_wanted_text(const fields *f, const char *name)
{
    const char *text = field_text(f, name, NULL);
    if (text == NULL || text[0] == '\0')
        field_fail(f->errors, "%s.%s is missing", f->path, name);
    return text != NULL ? text : "";
}

int64_t field_number(const fields *f, const char *name, int64_t least, int64_t most, int64_t otherwise)
{
    const json_t *value = value_of(f, name, JSON_INTEGER, "a whole number");
    if (value == NULL)
        return otherwise;
    int64_t number = json_integer_value(value);
    if (number < least || number > most)
        field_fail(f->errors, "%s.%s is %" PRId64 ", not within %" PRId64 " to %" PRId64, f->path, name, number, least,
                   most);
    return number;
}

int field_choice(const fields *f, const char *name, const char *const *choices, int otherwise)
{
    const char *text = field_text(f, name, NULL);
    char list[160] = "";
    for (int i = 0; text != NULL && choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0)
            return i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", choices[i]);
    }
    if (text != NULL)
        field_fail(f->errors, "%s.%s is \"%.64s\", not one of %s", f->path, name, text, list);
    return otherwise;
}

const json_t *field_object(const fields *f, const char *name)
{
    return value_of(f, name, JSON_OBJECT, "an object");
}

const json_t *field_array(const fields *f, const char *name)
{
    return value_of(f, name, JSON_ARRAY, "an array");
}

void field_names(const fields *f, const char *const *names)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)f->object, key, value)
    {
        int i = 0;
        while (names[i] != NULL && strcmp(names[i], key) != 0)
            i++;
        if (names[i] == NULL)
            field_fail(f->errors, "%s has a field \"%.64s\" that nobody reads", f->path, key);
    }
}
