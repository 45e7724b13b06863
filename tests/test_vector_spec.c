/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The spec as JSON: every field makes the round trip with every value it can have, and what is not a spec is refused by
 * the name of its place. That spec_fields.inc is complete is proved at compile time (vectors/spec_complete.c). */
#include "spec_json.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static fpo_error error;
static uint64_t state;

static uint64_t draw(void) /* xorshift64 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int64_t choices(fpo_field_kind kind)
{
    int64_t count = 0;
    while (fpo_choice_name(kind, count))
        count++;
    return count;
}

static int64_t random_value(const fpo_field *field, bool not_zero)
{
    int64_t value;
    do {
        switch (field->kind) {
        case FPO_KIND_INT16: value = (int16_t)draw(); break;
        case FPO_KIND_INT32: value = (int32_t)draw(); break;
        case FPO_KIND_UINT32: value = (uint32_t)draw(); break;
        case FPO_KIND_BOOL: value = (int64_t)(draw() % 2); break;
        default: value = (int64_t)(draw() % (uint64_t)choices(field->kind)); break;
        }
    } while (not_zero && value == 0);
    return value;
}

static void randomise(const fpo_record *type, void *record, bool in_list)
{
    for (size_t i = 0; i < type->count; i++) {
        const fpo_field *field = &type->fields[i];
        char *at = (char *)record + field->offset;
        if (!field->record)
            ck_assert(fpo_field_set(field, record, random_value(field, in_list && i == 0)));
        size_t entries = field->length ? (size_t)(draw() % (field->length + 1)) : field->record ? 1 : 0;
        for (size_t e = 0; e < entries; e++)
            randomise(field->record, at + e * field->record->size, field->length != 0);
    }
}

/* Through text, as a file has it. */
static void round_trip(const fpo_gemm_spec *spec)
{
    json_t *document;
    fpo_gemm_spec back;
    memset(&back, 0x5A, sizeof(back));
    ck_assert_msg(fpo_spec_to_json(spec, "some_model", &document, &error) == FPO_OK, "%s", error.message);
    char *text = json_dumps(document, 0);
    json_decref(document);
    document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(fpo_spec_from_json(document, &back, &error) == FPO_OK, "%s: %s", error.message, text);
    ck_assert_mem_eq(&back, spec, sizeof(back)); /* padding included: both were zeroed */
    ck_assert(fpo_record_equal(&fpo_record_gemm_spec, spec, &back));
    json_decref(document);
    free(text);
}

START_TEST(random_specs_round_trip)
{
    state = 0x9E3779B97F4A7C15;
    for (int turn = 0; turn < 2000; turn++) {
        fpo_gemm_spec spec;
        memset(&spec, 0, sizeof(spec));
        randomise(&fpo_record_gemm_spec, &spec, false);
        round_trip(&spec);
    }
}
END_TEST

/* Every value of every enumeration and the ends of every integer's range, one field at a time; and each change is seen
 * by fpo_record_equal. Fields of list entries are set in the last entry. */
static void sweep(const fpo_record *type, size_t offset, const fpo_gemm_spec *base, int *swept)
{
    for (size_t i = 0; i < type->count; i++) {
        const fpo_field *field = &type->fields[i];
        if (field->record) {
            size_t last = field->length ? field->length - 1 : 0;
            sweep(field->record, offset + field->offset + last * field->record->size, base, swept);
            continue;
        }
        int64_t values[64], count = 0;
        switch (field->kind) {
        case FPO_KIND_INT16: values[0] = INT16_MIN, values[1] = INT16_MAX, count = 2; break;
        case FPO_KIND_INT32: values[0] = INT32_MIN, values[1] = INT32_MAX, count = 2; break;
        case FPO_KIND_UINT32: values[0] = INT32_MAX, values[1] = UINT32_MAX, count = 2; break;
        case FPO_KIND_BOOL: values[0] = 1, count = 1; break;
        default:
            for (count = 0; count < choices(field->kind); count++)
                values[count] = count;
        }
        for (int64_t v = 0; v < count; v++) {
            fpo_gemm_spec spec = *base;
            char *record = (char *)&spec + offset;
            int64_t before = fpo_field_get(field, record);
            ck_assert(fpo_field_set(field, record, values[v]));
            ck_assert_int_eq(fpo_field_get(field, record), values[v]);
            ck_assert(fpo_record_equal(&fpo_record_gemm_spec, &spec, base) == (before == values[v]));
            round_trip(&spec);
            ++*swept;
        }
    }
}

START_TEST(every_value_of_every_field_round_trips)
{
    fpo_gemm_spec base;
    memset(&base, 0, sizeof(base));
    for (int i = 0; i < FPO_EPILOGUE_STEPS; i++)
        base.epilogue.steps[i].op = FPO_EPI_MUL;
    int swept = 0;
    sweep(&fpo_record_gemm_spec, 0, &base, &swept);
    ck_assert_int_gt(swept, 250);
}
END_TEST

/* Kinds say how many bytes are read and written: they must be the field's. */
static void check_sizes(const fpo_record *type)
{
    size_t end = 0;
    for (size_t i = 0; i < type->count; i++) {
        const fpo_field *field = &type->fields[i];
        size_t expected = field->record                   ? field->record->size * (field->length ? field->length : 1)
                          : field->kind == FPO_KIND_INT16 ? sizeof(int16_t)
                          : field->kind == FPO_KIND_BOOL  ? sizeof(bool)
                                                          : sizeof(int32_t);
        ck_assert_msg(field->size == expected, "%s.%s", type->name, field->name);
        ck_assert_msg(field->offset >= end && field->offset - end < sizeof(int32_t), "%s.%s", type->name, field->name);
        end = field->offset + field->size;
        if (field->record)
            check_sizes(field->record);
    }
    ck_assert_uint_lt(type->size - end, sizeof(int32_t));
}

START_TEST(kinds_have_the_size_of_their_fields)
{
    check_sizes(&fpo_record_gemm_spec);
}
END_TEST

START_TEST(names_are_unique_and_known)
{
    for (int kind = FPO_KIND_FORMAT; kind < FPO_KIND_COUNT; kind++) {
        ck_assert_ptr_nonnull(fpo_choice_what((fpo_field_kind)kind));
        ck_assert_int_gt(choices((fpo_field_kind)kind), 1);
        for (int64_t value = 0; value < choices((fpo_field_kind)kind); value++) {
            int64_t back = -1;
            ck_assert(fpo_choice_by_name((fpo_field_kind)kind, fpo_choice_name((fpo_field_kind)kind, value), &back));
            ck_assert_int_eq(back, value);
        }
        ck_assert_ptr_null(fpo_choice_name((fpo_field_kind)kind, -1));
        ck_assert_ptr_null(fpo_choice_name((fpo_field_kind)kind, INT64_MAX));
        ck_assert_ptr_null(fpo_choice_name((fpo_field_kind)kind, INT64_C(1) << 32));
    }
    for (int kind = 0; kind < FPO_KIND_FORMAT; kind++)
        ck_assert_ptr_null(fpo_choice_what((fpo_field_kind)kind));
}
END_TEST

/* `edit` is a jansson path-like list of keys to the member that is replaced by `text` (deleted if NULL). */
typedef struct damage {
    const char *keys;
    const char *text;
    const char *message;
} damage;

static const damage damages[] = {
    {"a read scale layout", "\"128x5\"", "spec.a.read.scale.layout: no such layout: 128x5 (there are linear, 128x4"},
    {"a read scale layout", "3", "spec.a.read.scale.layout: no string"},
    {"b stored element", "\"e2m7\"", "spec.b.stored.element: no such format: e2m7"},
    {"b stored element", NULL, "spec.b.stored.element: is missing"},
    {"b stored", "[]", "spec.b.stored: no object"},
    {"b stored extra", "1", "spec.b.stored.extra: there is no such field"},
    {"extra", "1", "spec.extra: there is no such field"},
    {"model", "1", "spec.model: no string"},
    {"a read scale block_k", "2147483648", "spec.a.read.scale.block_k: 2147483648 does not fit its 4 bytes"},
    {"a read scale block_k", "16.0", "spec.a.read.scale.block_k: no integer"},
    {"a read scale block_k", "\"16\"", "spec.a.read.scale.block_k: no integer"},
    {"accumulation step k", "32768", "spec.accumulation.step.k: 32768 does not fit its 2 bytes"},
    {"accumulation step e_zero", "-32769", "spec.accumulation.step.e_zero: -32769 does not fit its 2 bytes"},
    {"accumulation step c_late", "1", "spec.accumulation.step.c_late: neither true nor false"},
    {"accumulation step c_late", "null", "spec.accumulation.step.c_late: neither true nor false"},
    {"accumulation schedule split", "\"NONE\"", "spec.accumulation.schedule.split: no such split: NONE"},
    {"epilogue steps", "{}", "spec.epilogue.steps: no array"},
    {"epilogue steps", "[{\"op\": \"end\", \"operand\": \"nothing\"}]",
     "spec.epilogue.steps[0].op: would end the list"},
    {"epilogue steps", "[{\"op\": \"mul\"}]", "spec.epilogue.steps[0].operand: is missing"},
    {"epilogue steps", "[7]", "spec.epilogue.steps[0]: no object"},
    {"epilogue steps", "[{},{},{},{},{},{},{},{},{},{},{},{},{}]", "spec.epilogue.steps: 13 entries, more than 12"},
    {"epilogue d_cast", "\"ptx\"", "spec.epilogue.d_cast: no object"},
};

static void apply(json_t *document, const damage *change)
{
    char keys[80], *next = keys;
    snprintf(keys, sizeof(keys), "%s", change->keys);
    for (char *space; (space = strchr(next, ' ')); next = space + 1) {
        *space = 0;
        document = json_object_get(document, next);
        ck_assert_ptr_nonnull(document);
    }
    if (change->text)
        json_object_set_new(document, next, json_loads(change->text, JSON_DECODE_ANY, NULL));
    else
        ck_assert_int_eq(json_object_del(document, next), 0);
}

START_TEST(damaged_specs_are_refused)
{
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        fpo_gemm_spec spec, kept;
        memset(&spec, 0, sizeof(spec));
        json_t *document;
        ck_assert_int_eq(fpo_spec_to_json(&spec, NULL, &document, &error), FPO_OK);
        ck_assert_ptr_null(json_object_get(document, "model"));
        apply(document, &damages[i]);
        memset(&spec, 0x5A, sizeof(spec));
        kept = spec;
        ck_assert_int_eq(fpo_spec_from_json(document, &spec, &error), FPO_ERR_FILE);
        ck_assert_msg(strncmp(error.message, damages[i].message, strlen(damages[i].message)) == 0, "%s: %s",
                      damages[i].message, error.message);
        ck_assert_mem_eq(&spec, &kept, sizeof(spec));
        json_decref(document);
    }
    json_t *none = json_null();
    fpo_gemm_spec spec;
    ck_assert_int_eq(fpo_spec_from_json(none, &spec, &error), FPO_ERR_FILE);
    ck_assert_str_eq(error.message, "spec: no object");
}
END_TEST

START_TEST(values_without_a_name_are_not_written)
{
    fpo_gemm_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.b.read.scale.layout = (fpo_layout)1000;
    json_t *document;
    ck_assert_int_eq(fpo_spec_to_json(&spec, NULL, &document, &error), FPO_ERR_ARGUMENT);
    ck_assert_str_eq(error.message, "spec.b.read.scale.layout: no layout has the number 1000");
    ck_assert_ptr_null(document);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("spec as JSON");
    TCase *json = tcase_create("json");
    tcase_set_timeout(json, 60);
    tcase_add_test(json, random_specs_round_trip);
    tcase_add_test(json, every_value_of_every_field_round_trips);
    tcase_add_test(json, kinds_have_the_size_of_their_fields);
    tcase_add_test(json, names_are_unique_and_known);
    tcase_add_test(json, damaged_specs_are_refused);
    tcase_add_test(json, values_without_a_name_are_not_written);
    suite_add_tcase(suite, json);
    return suite;
}
