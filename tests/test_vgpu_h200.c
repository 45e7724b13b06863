/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual GPU against an H200: every recorded case of one thread's or one warp's instructions, byte for byte. */
#include "h200.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 8 };

/* A recorded result of `width` bytes a row, which may be kept as bytes. */
static uint64_t recorded_row(const fpo_tensor *t, size_t row)
{
    size_t width = t->bytes / FPO_H200_ROWS;
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)t->data + row * width, width);
    return value;
}

static size_t count_differences(const fpo_tensor *wanted, const uint8_t *got, size_t width, const char *name)
{
    size_t differences = 0;
    for (size_t row = 0; row < FPO_H200_ROWS; row++) {
        uint64_t value = 0;
        memcpy(&value, got + row * width, width);
        if (value == recorded_row(wanted, row))
            continue;
        if (differences++ == 0)
            printf("%s: row %zu is 0x%llx, the H200 has 0x%llx\n", name, row, (unsigned long long)value,
                   (unsigned long long)recorded_row(wanted, row));
    }
    return differences;
}

typedef struct tally {
    size_t cases, results, differing_cases, differences;
} tally;

static void run_case(fpo_h200 *h200, const json_t *c, tally *total)
{
    const char *kernel = json_string_value(json_array_get(c, 0)), *kind = json_string_value(json_array_get(c, 1));
    const char *name = json_string_value(json_array_get(c, 2));
    const json_t *columns = json_array_get(c, 3);
    size_t width = (size_t)json_integer_value(json_array_get(c, 4)), used = 0;
    bool atomic = strcmp(kind, "atom") == 0, trapped = width == 0;
    if (trapped)
        width = 4;
    void *memory[MAX_COLUMNS + 2];
    const void *arguments[MAX_COLUMNS + 3];
    for (; used < json_array_size(columns); used++) {
        const fpo_tensor *column = fpo_h200_find(h200, "col/%s", json_string_value(json_array_get(columns, used)));
        ck_assert_ptr_nonnull(column);
        memory[used] = fpo_h200_upload(h200, column->data, column->bytes);
    }
    size_t out = used;
    for (int k = 0; k < (atomic ? 2 : 1); k++) {
        memory[used] = fpo_vgpu_allocate(h200->gpu, width * FPO_H200_ROWS);
        memset(memory[used++], 0xEE, width * FPO_H200_ROWS);
    }
    uint32_t rows = FPO_H200_ROWS;
    for (size_t i = 0; i < used; i++)
        arguments[i] = &memory[i];
    arguments[used] = &rows;
    fpo_error error = {FPO_OK, ""};
    fpo_status status = fpo_h200_run(h200, kernel, FPO_H200_ROWS / 128, 128, arguments, &error);
    if (trapped) {
        ck_assert_msg(status == FPO_ERR_KERNEL, "%s trapped on the H200", name);
    } else {
        ck_assert_msg(status == FPO_OK, "%s: %s", name, error.message);
        const fpo_tensor *result = fpo_h200_find(h200, "res/%s", kernel),
                         *after = fpo_h200_find(h200, "mem/%s", kernel);
        /* Where an atomic returned what operand 0 had put there, the result was not kept. */
        const fpo_tensor *first = fpo_h200_find(h200, "col/%s", json_string_value(json_array_get(columns, 0)));
        if (result == NULL && atomic && strncmp(name, "red", 3) != 0)
            result = first;
        size_t differences = 0;
        if (result != NULL)
            differences += count_differences(result, memory[out], width, name);
        if (after != NULL)
            differences += count_differences(after, memory[out + 1], width, name);
        ck_assert_msg(result != NULL || after != NULL, "%s was not recorded", name);
        total->cases++;
        total->results += ((result != NULL) + (after != NULL)) * (size_t)FPO_H200_ROWS;
        total->differences += differences;
        total->differing_cases += differences != 0;
    }
    for (size_t i = 0; i < used; i++)
        fpo_vgpu_release(h200->gpu, memory[i]);
}

START_TEST(one_thread_and_one_warp)
{
    fpo_h200 h200;
    fpo_h200_open(&h200, (uint64_t)_i);
    tally t = {0};
    size_t index;
    json_t *c;
    json_array_foreach(json_object_get(h200.json, "cases"), index, c)
    {
        const char *kind = json_string_value(json_array_get(c, 1));
        if (strcmp(kind, "alu") == 0 || strcmp(kind, "atom") == 0)
            run_case(&h200, c, &t);
    }
    printf("seed %d: %zu cases; %zu results, %zu differ in %zu cases\n", _i, t.cases, t.results, t.differences,
           t.differing_cases);
    ck_assert_uint_gt(t.cases, 460);
    ck_assert_uint_eq(t.differences, 0);
    fpo_h200_close(&h200);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_h200");
    TCase *tests = tcase_create("instructions");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, one_thread_and_one_warp, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
