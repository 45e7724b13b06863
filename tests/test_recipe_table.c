/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* docs/recipe-differences.md is what the recipes give. FPO_UPDATE=1 writes it. */
#include "recipe_differences.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static const char path[] = FPO_SOURCE_DIR "/docs/recipe-differences.md";

START_TEST(document)
{
    char *text = NULL, line[4096];
    size_t size = 0, at = 0;
    FILE *made = open_memstream(&text, &size);
    fpo_differences_write(made);
    fclose(made);
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
                      "docs/recipe-differences.md is not what the recipes give now; if that is right, "
                      "FPO_UPDATE=1 %s\nThere: %sNow:   %.200s",
                      "build/ci/bin/test_recipe_table", line, text + (at < size ? at : size));
        at += length;
    }
    ck_assert_uint_eq(at, size);
    fclose(file);
    free(text);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recipe table");
    TCase *tests = tcase_create("document");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, document);
    suite_add_tcase(suite, tests);
    return suite;
}
