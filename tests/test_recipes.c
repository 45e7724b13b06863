/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every recipe of a library against what that library returned: 0 differing bytes. Each test names the recipe.
 * FPO_VERBOSE=1 prints the bytes compared for each, FPO_RECIPE=x takes those alone whose name has an x. */
#include "recipe_record.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        fpo_record_check(FPO_BINARY_DIR "/tests/recorded", entry, dtype, &result);
        if (getenv("FPO_VERBOSE") != NULL)
            printf("%-40s %s.%s %s: %lld of %lld bytes differ %s\n", entry->recipe, entry->file, dtype,
                   entry->codes ? entry->codes : entry->scale, (long long)result.different, (long long)result.bytes,
                   result.first);
        ck_assert_msg(result.different == 0, "%s is not %s.%s: %lld of %lld bytes differ: %s", entry->recipe,
                      entry->file, dtype, (long long)result.different, (long long)result.bytes, result.first);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recipes");
    TCase *tests = tcase_create("recorded");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, recorded, 0, (int)fpo_recipe_record_count);
    suite_add_tcase(suite, tests);
    return suite;
}
