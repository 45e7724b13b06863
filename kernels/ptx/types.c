/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Names of types and of the words in a row's arguments. */
#include "ptx.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes;
} types[] = {
#define FPO_PTX_TYPE(ID, name, bytes, ctype) {name, bytes},
#include "types.inc"
#undef FPO_PTX_TYPE
};

static const char *const values[] = {
#define FPO_PTX_VALUE(ID, name) name,
#include "values.inc"
#undef FPO_PTX_VALUE
};

fpo_ptx_type fpo_ptx_type_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < FPO_PTX_TYPE_COUNT; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return (fpo_ptx_type)i;
    return FPO_PTX_TYPE_COUNT;
}

const char *fpo_ptx_type_name(fpo_ptx_type type)
{
    return type < FPO_PTX_TYPE_COUNT ? types[type].name : "?";
}

unsigned fpo_ptx_type_bytes(fpo_ptx_type type)
{
    return type < FPO_PTX_TYPE_COUNT ? types[type].bytes : 0;
}

const char *fpo_ptx_value_name(fpo_ptx_value value)
{
    return value < FPO_PTX_VALUE_COUNT ? values[value] : "?";
}
