/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The fields of a gemm spec as tables, made from spec_fields.inc. */
#include "spec_fields.h"

#include <string.h>

#define SIZE_OF(type, member) sizeof(((type *)NULL)->member)
#define FPO_FIELD(name, kind) {#name, offsetof(TYPE, name), SIZE_OF(TYPE, name), FPO_KIND_##kind, NULL, 0},
#define FPO_RECORD(name, type) {#name, offsetof(TYPE, name), SIZE_OF(TYPE, name), FPO_KIND_COUNT, &record_##type, 0},
#define FPO_LIST(name, type, length)                                                                                   \
    {#name, offsetof(TYPE, name), SIZE_OF(TYPE, name), FPO_KIND_COUNT, &record_##type, length},
#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

#define TYPE fpo_scale_view
static const fpo_field scale_view[] = {
#define FPO_FIELDS_SCALE_VIEW
#include "spec_fields.inc"
};
static const fpo_record record_SCALE_VIEW = {"scale_view", sizeof(TYPE), scale_view, COUNT(scale_view)};
#undef TYPE

#define TYPE fpo_operand_view
static const fpo_field operand_view[] = {
#define FPO_FIELDS_OPERAND_VIEW
#include "spec_fields.inc"
};
static const fpo_record record_OPERAND_VIEW = {"operand_view", sizeof(TYPE), operand_view, COUNT(operand_view)};
#undef TYPE

#define TYPE fpo_operand_spec
static const fpo_field operand_spec[] = {
#define FPO_FIELDS_OPERAND_SPEC
#include "spec_fields.inc"
};
static const fpo_record record_OPERAND_SPEC = {"operand_spec", sizeof(TYPE), operand_spec, COUNT(operand_spec)};
#undef TYPE

#define TYPE fpo_step
static const fpo_field step[] = {
#define FPO_FIELDS_STEP
#include "spec_fields.inc"
};
static const fpo_record record_STEP = {"step", sizeof(TYPE), step, COUNT(step)};
#undef TYPE

#define TYPE fpo_schedule
static const fpo_field schedule[] = {
#define FPO_FIELDS_SCHEDULE
#include "spec_fields.inc"
};
static const fpo_record record_SCHEDULE = {"schedule", sizeof(TYPE), schedule, COUNT(schedule)};
#undef TYPE

#define TYPE fpo_accumulation
static const fpo_field accumulation[] = {
#define FPO_FIELDS_ACCUMULATION
#include "spec_fields.inc"
};
const fpo_record fpo_record_accumulation = {"accumulation", sizeof(TYPE), accumulation, COUNT(accumulation)};
#define record_ACCUMULATION fpo_record_accumulation
#undef TYPE

#define TYPE fpo_epilogue_step
static const fpo_field epilogue_step[] = {
#define FPO_FIELDS_EPILOGUE_STEP
#include "spec_fields.inc"
};
static const fpo_record record_EPILOGUE_STEP = {"epilogue_step", sizeof(TYPE), epilogue_step, COUNT(epilogue_step)};
#undef TYPE

#define TYPE fpo_cast
static const fpo_field cast[] = {
#define FPO_FIELDS_CAST
#include "spec_fields.inc"
};
static const fpo_record record_CAST = {"cast", sizeof(TYPE), cast, COUNT(cast)};
#undef TYPE

#define TYPE fpo_epilogue
static const fpo_field epilogue[] = {
#define FPO_FIELDS_EPILOGUE
#include "spec_fields.inc"
};
static const fpo_record record_EPILOGUE = {"epilogue", sizeof(TYPE), epilogue, COUNT(epilogue)};
#undef TYPE

#define TYPE fpo_gemm_spec
static const fpo_field gemm_spec[] = {
#define FPO_FIELDS_GEMM_SPEC
#include "spec_fields.inc"
};
const fpo_record fpo_record_gemm_spec = {"gemm_spec", sizeof(TYPE), gemm_spec, COUNT(gemm_spec)};
#undef TYPE

int64_t fpo_field_get(const fpo_field *field, const void *record)
{
    const char *at = (const char *)record + field->offset;
    int16_t int16;
    int32_t int32;
    uint32_t uint32;
    switch (field->kind) {
    case FPO_KIND_INT16: memcpy(&int16, at, sizeof(int16)); return int16;
    case FPO_KIND_INT32: memcpy(&int32, at, sizeof(int32)); return int32;
    case FPO_KIND_BOOL: return *(const bool *)at;
    default: memcpy(&uint32, at, sizeof(uint32)); return uint32; /* an enumeration is an unsigned int */
    }
}

bool fpo_field_set(const fpo_field *field, void *record, int64_t value)
{
    char *at = (char *)record + field->offset;
    int16_t int16 = (int16_t)value;
    int32_t int32 = (int32_t)value;
    uint32_t uint32 = (uint32_t)value;
    switch (field->kind) {
    case FPO_KIND_INT16: memcpy(at, &int16, sizeof(int16)); return int16 == value;
    case FPO_KIND_INT32: memcpy(at, &int32, sizeof(int32)); return int32 == value;
    case FPO_KIND_BOOL: *(bool *)at = value != 0; return value == 0 || value == 1;
    case FPO_KIND_UINT32: memcpy(at, &uint32, sizeof(uint32)); return uint32 == value;
    default: memcpy(at, &uint32, sizeof(uint32)); return fpo_choice_name(field->kind, value) != NULL;
    }
}

bool fpo_list_ended(const fpo_field *list, const void *entry)
{
    return fpo_field_get(&list->record->fields[0], entry) == 0;
}

static bool equal_lists(const fpo_field *list, const char *x, const char *y)
{
    for (size_t i = 0; i < list->length; i++, x += list->record->size, y += list->record->size) {
        if (fpo_list_ended(list, x) && fpo_list_ended(list, y))
            return true;
        if (!fpo_record_equal(list->record, x, y))
            return false;
    }
    return true;
}

bool fpo_record_equal(const fpo_record *type, const void *x, const void *y)
{
    for (size_t i = 0; i < type->count; i++) {
        const fpo_field *field = &type->fields[i];
        const char *in_x = (const char *)x + field->offset, *in_y = (const char *)y + field->offset;
        bool equal = field->length   ? equal_lists(field, in_x, in_y)
                     : field->record ? fpo_record_equal(field->record, in_x, in_y)
                                     : fpo_field_get(field, x) == fpo_field_get(field, y);
        if (!equal)
            return false;
    }
    return true;
}
