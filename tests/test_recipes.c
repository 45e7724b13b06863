/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every recipe of a library against what that library returned: 0 differing bytes. Each test names the recipe.
 * FPO_VERBOSE=1 prints the bytes compared for each, FPO_RECIPE=x takes those alone whose name has an x. */
#include "recipe_record.h"
#include "suite.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = FPO_BINARY_DIR "/tests/recorded";

START_TEST(recorded)
{
    const fpo_recipe_record *entry = &fpo_recipe_records[_i];
    const char *wanted = getenv("FPO_RECIPE");
    if (wanted != NULL && strstr(entry->recipe, wanted) == NULL)
        return;
    char dtypes[32];
    snprintf(dtypes, sizeof dtypes, "%s", entry->dtypes);
    char *rest = NULL;
    for (char *dtype = strtok_r(dtypes, " ", &rest); dtype != NULL; dtype = strtok_r(NULL, " ", &rest)) {
        fpo_record_result result = {.first = ""};
        fpo_record_check(folder, entry, dtype, &result);
        if (getenv("FPO_VERBOSE") != NULL)
            printf("%-40s %s.%s %s: %lld of %lld bytes differ %s\n", entry->recipe, entry->file, dtype,
                   entry->codes ? entry->codes : entry->scale, (long long)result.different, (long long)result.bytes,
                   result.first);
        ck_assert_msg(result.different == 0, "%s is not %s.%s: %lld of %lld bytes differ: %s", entry->recipe,
                      entry->file, dtype, (long long)result.different, (long long)result.bytes, result.first);
    }
}
END_TEST

static bool begins(const char *name, const char *prefix)
{
    return prefix != NULL && strncmp(name, prefix, strlen(prefix)) == 0 &&
           (name[strlen(prefix)] == '\0' || name[strlen(prefix)] == '.');
}

/* Inputs, what the test itself derives, and what is not bytes of a quantiser: values that a library's own
 * dequantisation gave, and the float scale before it was stored. */
static bool is_no_result(const char *name)
{
    static const char *const others[] = {"x", "x8", "g", "seed", "dequant", "qf", "scale_float"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(name, others[i]))
            return true;
    return false;
}

static bool is_compared(const char *file, const char *dtype, const char *tensor)
{
    for (size_t i = 0; i < fpo_recipe_record_count; i++) {
        const fpo_recipe_record *entry = &fpo_recipe_records[i];
        if (strcmp(entry->file, file) == 0 && strstr(entry->dtypes, dtype) != NULL &&
            (begins(tensor, entry->codes) || begins(tensor, entry->scale) || begins(tensor, entry->tensor_scale) ||
             (entry->how & HOW_TS_GIVEN && begins(tensor, "ts"))))
            return true;
    }
    return false;
}

/* The scales that a library stored in its 128x4 layout beside the linear ones: sf_128x4.CASE, sf128x4_RULE. */
static bool is_swizzled(const fpo_safetensors *file, const fpo_tensor *swizzled)
{
    char name[128];
    bool suffix = strncmp(swizzled->name, "sf_128x4", 8) == 0;
    if (!suffix && strncmp(swizzled->name, "sf128x4_", 8) != 0)
        return false;
    snprintf(name, sizeof name, "sf%s%s", suffix ? "" : "_", swizzled->name + 8);
    const fpo_tensor *linear = fpo_safetensors_find(file, name);
    ck_assert_msg(linear != NULL && linear->rank == 2, "no %s", name);
    int64_t size = fpo_layout_size(FPO_LAYOUT_128X4, linear->shape[0], linear->shape[1]);
    ck_assert_int_eq(size, swizzled->elements);
    uint8_t *stored = malloc((size_t)size);
    fpo_layout_apply(FPO_LAYOUT_128X4, linear->shape[0], linear->shape[1], 1, linear->data, stored, 0);
    ck_assert_msg(memcmp(stored, swizzled->data, (size_t)size) == 0, "%s is not %s in 128x4", swizzled->name, name);
    free(stored);
    return true;
}

static void check_file(const char *sub, const char *name)
{
    char path[1024], stem[256];
    snprintf(path, sizeof path, "%s/%s/%s", folder, sub, name);
    snprintf(stem, sizeof stem, "%s", name);
    *strstr(stem, ".safetensors") = '\0';
    char *dot = strrchr(stem, '.');
    *dot = '\0';
    fpo_safetensors *file;
    ck_assert_int_eq(fpo_safetensors_open(path, &file, NULL), FPO_OK);
    for (size_t i = 0; i < fpo_safetensors_count(file); i++) {
        const fpo_tensor *tensor = fpo_safetensors_at(file, i);
        ck_assert_msg(is_no_result(tensor->name) || is_compared(stem, dot + 1, tensor->name) ||
                          is_swizzled(file, tensor),
                      "nothing is compared with %s of %s", tensor->name, name);
    }
    fpo_safetensors_close(file);
}

/* No recorded result is left out. casts.* are the business of test_cast. */
START_TEST(complete)
{
    static const char *const subs[] = {"recipes", "recipes_cuda"};
    int files = 0;
    for (int i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, subs[i]);
        DIR *list = opendir(path);
        ck_assert_ptr_nonnull(list);
        for (struct dirent *entry; (entry = readdir(list)) != NULL;)
            if (strstr(entry->d_name, ".safetensors") != NULL && strncmp(entry->d_name, "casts.", 6) != 0) {
                check_file(subs[i], entry->d_name);
                files++;
            }
        closedir(list);
    }
    ck_assert_int_ge(files, 250);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recipes");
    TCase *tests = tcase_create("recorded");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, complete);
    tcase_add_loop_test(tests, recorded, 0, (int)fpo_recipe_record_count);
    suite_add_tcase(suite, tests);
    return suite;
}
