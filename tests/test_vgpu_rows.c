/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every pure row of the PTX table that an H200 has, in every combination of its alternatives, over 8192 adversarial
 * operands: the hash of all results equals what the H200 returned (tests/data/h200/rows.txt, tests/vgpu/record_rows.c).
 */
#include "row_kernel.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

typedef struct expectation {
    char opcode[256], answer[32];
} expectation;

static expectation *read_expectations(size_t *count)
{
    FILE *file = fopen(FPO_SOURCE_DIR "/tests/data/h200/rows.txt", "r");
    ck_assert_ptr_nonnull(file);
    expectation *list = malloc(10000 * sizeof *list);
    *count = 0;
    while (*count < 10000 && fscanf(file, "%255s %31s%*[^\n]", list[*count].opcode, list[*count].answer) == 2)
        ++*count;
    fclose(file);
    return list;
}

static fpo_status run(fpo_vgpu *gpu, const fpo_row_kernel *kernel, void *in, uint64_t *out, fpo_error *error)
{
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    fpo_status status = fpo_vgpu_load(gpu, kernel->ptx, strlen(kernel->ptx), &module, error);
    if (status == FPO_OK)
        status = fpo_vgpu_get_function(module, "k", &function, error);
    if (status != FPO_OK)
        return status;
    memset(out, 0, FPO_ROW_RESULTS * FPO_ROW_CASES * 8);
    const void *arguments[] = {&in, &out};
    fpo_vgpu_launch launch = {.grid = {FPO_ROW_CASES / 128, 1, 1}, .block = {128, 1, 1}, .arguments = arguments};
    return fpo_vgpu_run(function, &launch, NULL, error);
}

/* FPO_ROWS_DUMP=OPCODE writes that kernel's results to a file, to be compared with record_rows' dump. */
static void dump(const fpo_row_kernel *kernel, const uint64_t *out)
{
    const char *wanted = getenv("FPO_ROWS_DUMP");
    if (wanted == NULL || strcmp(wanted, kernel->opcode) != 0)
        return;
    FILE *file = fopen("rows_dump.bin", "wb");
    fwrite(out, 8, (size_t)kernel->results * FPO_ROW_CASES, file);
    fclose(file);
}

START_TEST(every_row)
{
    static fpo_row_kernel kernel;
    size_t count, at = 0, equal = 0, refused = 0, different = 0, unrecorded = 0;
    expectation *list = read_expectations(&count);
    fpo_vgpu_config config = {.capability = 90};
    fpo_vgpu *gpu;
    fpo_error error = {FPO_OK, ""};
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    uint64_t *in = fpo_vgpu_allocate(gpu, fpo_row_input_bytes());
    uint64_t *out = fpo_vgpu_allocate(gpu, FPO_ROW_RESULTS * FPO_ROW_CASES * 8);
    fpo_row_inputs(in);
    for (size_t f = 0; f < fpo_ptx_family_count(); f++) {
        const fpo_ptx_family *family = fpo_ptx_family_at(f);
        for (size_t r = 0; r < family->count; r++) {
            for (int k = 0; k < fpo_row_kernel_count(&family->rows[r]); k++) {
                if (!fpo_row_kernel_write(&family->rows[r], k, "sm_90a", &kernel))
                    continue;
                ck_assert_msg(at < count && strcmp(list[at].opcode, kernel.opcode) == 0,
                              "row %s is not recorded at its place: record_rows has to run again", kernel.opcode);
                const char *answer = list[at++].answer;
                ck_assert_msg(run(gpu, &kernel, in, out, &error) == FPO_OK, "%s: %s", kernel.opcode, error.message);
                dump(&kernel, out);
                char hash[32];
                snprintf(hash, sizeof hash, "%016llx", (unsigned long long)fpo_row_hash(out, kernel.results));
                if (strcmp(answer, "refused") == 0)
                    refused++;
                else if (strcmp(answer, "unrecorded") == 0)
                    unrecorded++;
                else if (strcmp(answer, hash) == 0)
                    equal++;
                else if (different++ < 400)
                    printf("differs: %s\n", kernel.opcode);
            }
        }
    }
    printf("%zu instructions equal, %zu differ; %zu that sm_90 does not have; %zu not recorded yet\n", equal, different,
           refused, unrecorded);
    ck_assert_uint_eq(unrecorded, 0); /* otherwise record_rows has to run again */
    ck_assert_uint_eq(at, count);
    ck_assert_uint_eq(different, 0);
    ck_assert_uint_gt(equal, 1000);
    fpo_vgpu_free(gpu);
    free(list);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_rows");
    TCase *tests = tcase_create("rows");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, every_row);
    suite_add_tcase(suite, tests);
    return suite;
}
