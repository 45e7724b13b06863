/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual GPU against an H200: ldmatrix, stmatrix, mma.sync and wgmma, the recorded tiles, byte for byte. */
#include "h200.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_at(const json_t *c, size_t index)
{
    return json_string_value(json_array_get(c, index));
}

static void compare(const fpo_tensor *wanted, const void *got, const char *name, size_t *differences)
{
    const uint8_t *w = wanted->data, *g = got;
    for (size_t i = 0; i < wanted->bytes; i++) {
        if (w[i] == g[i])
            continue;
        if ((*differences)++ == 0)
            printf("%s: byte %zu is 0x%02x, the H200 has 0x%02x\n", name, i, g[i], w[i]);
        return;
    }
}

/* Inputs and one output, all uploaded; runs and compares. */
static void run_tensors(fpo_h200 *h200, const char *kernel, const char *name, const fpo_tensor *const *inputs,
                        size_t count, const fpo_tensor *output, uint32_t grid, uint32_t block, const void *const *more,
                        size_t more_count, size_t *differences)
{
    void *memory[5];
    const void *arguments[12];
    for (size_t i = 0; i < count; i++)
        memory[i] = fpo_h200_upload(h200, inputs[i]->data, inputs[i]->bytes);
    memory[count] = fpo_vgpu_allocate(h200->gpu, output->bytes);
    memset(memory[count], 0xEE, output->bytes);
    for (size_t i = 0; i <= count; i++)
        arguments[i] = &memory[i];
    for (size_t i = 0; i < more_count; i++)
        arguments[count + 1 + i] = more[i];
    fpo_error error = {FPO_OK, ""};
    ck_assert_msg(fpo_h200_run(h200, kernel, grid, block, arguments, &error) == FPO_OK, "%s: %s", name, error.message);
    compare(output, memory[count], name, differences);
    for (size_t i = 0; i <= count; i++)
        fpo_vgpu_release(h200->gpu, memory[i]);
}

START_TEST(fragments)
{
    fpo_h200 h200;
    fpo_h200_open(&h200, 0);
    size_t index, differences = 0, cases = 0;
    json_t *c;
    json_array_foreach(json_object_get(h200.json, "cases"), index, c)
    {
        const char *kind = text_at(c, 1), *kernel = text_at(c, 0);
        if (strcmp(kind, "ldm") != 0 && strcmp(kind, "stm") != 0)
            continue;
        const fpo_tensor *inputs[] = {fpo_h200_find(&h200, "%s/img", kernel), fpo_h200_find(&h200, "%s/rows", kernel)};
        const fpo_tensor *output = fpo_h200_find(&h200, "%s/out", kernel);
        ck_assert(inputs[0] != NULL && inputs[1] != NULL && output != NULL);
        run_tensors(&h200, kernel, text_at(c, 2), inputs, 2, output, (uint32_t)(inputs[0]->bytes / 2048), 32, NULL, 0,
                    &differences);
        cases++;
    }
    ck_assert_uint_eq(cases, 12);
    ck_assert_uint_eq(differences, 0);
    fpo_h200_close(&h200);
}
END_TEST

START_TEST(mma_sync)
{
    fpo_h200 h200;
    fpo_h200_open(&h200, 0);
    size_t index, differences = 0, cases = 0;
    json_t *c;
    json_array_foreach(json_object_get(h200.json, "cases"), index, c)
    {
        const char *kernel = text_at(c, 0);
        if (strcmp(text_at(c, 1), "mma") != 0)
            continue;
        const fpo_tensor *inputs[] = {fpo_h200_find(&h200, "%s/A", kernel), fpo_h200_find(&h200, "%s/B", kernel),
                                      fpo_h200_find(&h200, "%s/C", kernel)};
        const fpo_tensor *output = fpo_h200_find(&h200, "%s/D", kernel);
        ck_assert(inputs[0] != NULL && inputs[1] != NULL && inputs[2] != NULL && output != NULL);
        run_tensors(&h200, kernel, text_at(c, 2), inputs, 3, output, (uint32_t)output->shape[0], 32, NULL, 0,
                    &differences);
        cases++;
    }
    ck_assert_uint_eq(cases, 12);
    ck_assert_uint_eq(differences, 0);
    fpo_h200_close(&h200);
}
END_TEST

static uint64_t number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 0) : (uint64_t)json_integer_value(value);
}

START_TEST(wgmma)
{
    fpo_h200 h200;
    fpo_h200_open(&h200, 0);
    size_t index, differences = 0, cases = 0;
    json_t *c;
    json_array_foreach(json_object_get(h200.json, "cases"), index, c)
    {
        const char *kernel = text_at(c, 0), *name = text_at(c, 2);
        if (strcmp(text_at(c, 1), "wg") != 0)
            continue;
        char variant[64];
        snprintf(variant, sizeof variant, "%s", strstr(name, " v") + 1);
        for (char *p = variant; *p != '\0'; p++)
            if (*p == ' ')
                *p = '_';
        const fpo_tensor *inputs[] = {fpo_h200_find(&h200, "%s/%s/img", kernel, variant),
                                      fpo_h200_find(&h200, "%s/%s/C", kernel, variant)};
        const fpo_tensor *output = fpo_h200_find(&h200, "%s/%s/D", kernel, variant);
        if (output == NULL)
            continue; /* its CTAs were not kept */
        const json_t *parameters = json_array_get(c, 3);
        uint64_t descriptor[2] = {number_at(parameters, "descA"), number_at(parameters, "descB")};
        uint32_t numbers[4] = {(uint32_t)number_at(parameters, "offA"), (uint32_t)number_at(parameters, "offB"),
                               (uint32_t)number_at(parameters, "image_bytes"),
                               (uint32_t)number_at(parameters, "scale_d")};
        const void *more[] = {&descriptor[0], &descriptor[1], &numbers[0], &numbers[1], &numbers[2], &numbers[3]};
        /* Images are kept without the unused end of each CTA's. */
        ck_assert(inputs[0] != NULL && inputs[1] != NULL);
        int n = atoi(strstr(name, "m64n") + 4),
            half = strstr(name, ".f16.f16.f16") != NULL || strstr(name, "k32.f16.") != NULL;
        uint32_t registers = (uint32_t)n / (half ? 4 : 2), ctas = (uint32_t)(output->bytes / (registers * 512));
        uint32_t kept = (uint32_t)inputs[0]->bytes / ctas;
        uint8_t *images = calloc(ctas, numbers[2]);
        for (uint32_t i = 0; i < ctas; i++)
            memcpy(images + i * numbers[2], (const uint8_t *)inputs[0]->data + i * kept, kept);
        fpo_tensor padded = *inputs[0];
        padded.data = images;
        padded.bytes = (size_t)ctas * numbers[2];
        inputs[0] = &padded;
        run_tensors(&h200, kernel, name, inputs, 2, output, ctas, 128, more, 6, &differences);
        free(images);
        cases++;
    }
    printf("wgmma: %zu cases, %zu differ\n", cases, differences);
    ck_assert_uint_eq(cases, 38);
    ck_assert_uint_eq(differences, 0);
    fpo_h200_close(&h200);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_h200_matrix");
    TCase *tests = tcase_create("matrix");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, fragments);
    tcase_add_test(tests, mma_sync);
    tcase_add_test(tests, wgmma);
    suite_add_tcase(suite, tests);
    return suite;
}
