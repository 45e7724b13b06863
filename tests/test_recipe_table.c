/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* docs/recipe-differences.md and the tables of docs/recipes.md are what the registry gives. FPO_UPDATE=1 writes them.
 */
#include "recipe_differences.h"
#include "recipe_document.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

/* The document is `text`; with FPO_UPDATE it becomes that. */
static void check_document(const char *name, const char *text, size_t size)
{
    char path[1024], line[4096];
    size_t at = 0;
    snprintf(path, sizeof path, "%s/docs/%s", FPO_SOURCE_DIR, name);
    if (getenv("FPO_UPDATE") != NULL) {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_eq(fwrite(text, 1, size, file), size);
        fclose(file);
    }
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(line);
        ck_assert_msg(at + length <= size && strncmp(text + at, line, length) == 0,
                      "docs/%s is not what the recipes give now; if that is right, FPO_UPDATE=1 "
                      "build/ci/bin/test_recipe_table\nThere: %sNow:   %.200s",
                      name, line, text + (at < size ? at : size));
        at += length;
    }
    ck_assert_uint_eq(at, size);
    fclose(file);
}

START_TEST(differences)
{
    char *text = NULL;
    size_t size = 0;
    FILE *made = open_memstream(&text, &size);
    fpo_differences_write(made);
    fclose(made);
    check_document("recipe-differences.md", text, size);
    free(text);
}
END_TEST

START_TEST(registries)
{
    char *text = NULL;
    size_t size = 0;
    FILE *made = open_memstream(&text, &size);
    FILE *file = fopen(FPO_SOURCE_DIR "/docs/recipes.md", "r");
    ck_assert_ptr_nonnull(file);
    fpo_recipe_document(file, made);
    fclose(file);
    fclose(made);
    ck_assert_ptr_nonnull(strstr(text, "| `nvfp4_divide` |"));
    ck_assert_ptr_nonnull(strstr(text, "| `rcpa` |"));
    check_document("recipes.md", text, size);
    free(text);
}
END_TEST

/* What is not verified says why. */
START_TEST(reasons)
{
    for (int r = 0; r < FPO_RECIPE_COUNT; r++) {
        const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)r);
        ck_assert_msg((info->standing == FPO_RECIPE_UNVERIFIED) == (info->reason != NULL && info->reason[0] != '\0'),
                      "%s is %s, and the reason is %s", info->name, fpo_recipe_standing_name(info->standing),
                      info->reason != NULL ? info->reason : "missing");
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recipe table");
    TCase *tests = tcase_create("document");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, differences);
    tcase_add_test(tests, registries);
    tcase_add_test(tests, reasons);
    suite_add_tcase(suite, tests);
    return suite;
}
