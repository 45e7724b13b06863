/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table of docs/models.md is the registry: every entry once, in its order, with its provenance and source. */
#include "suite.h"

#include <fp4oracle/model.h>

#include <stdio.h>
#include <string.h>

START_TEST(test_table)
{
    FILE *file = fopen(FPO_SOURCE_DIR "/docs/models.md", "r");
    ck_assert_ptr_nonnull(file);
    char line[1024], wanted[1024];
    size_t rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "| `", 3) != 0)
            continue;
        const fpo_model *model = fpo_model_at(rows++);
        ck_assert_msg(model != NULL, "a line beyond the registry: %s", line);
        snprintf(wanted, sizeof wanted, "| `%s` | %s | %s |\n", model->name, fpo_provenance_name(model->provenance),
                 model->source);
        ck_assert_msg(strcmp(line, wanted) == 0, "docs/models.md has\n%swhere the registry has\n%s", line, wanted);
    }
    fclose(file);
    ck_assert_msg(fpo_model_at(rows) == NULL, "docs/models.md has no line for %s", fpo_model_at(rows)->name);
}
END_TEST

/* What is assumed or contested is spoken of by name, or by its family. */
START_TEST(test_assumptions_are_listed)
{
    char text[65536];
    FILE *file = fopen(FPO_SOURCE_DIR "/docs/models.md", "r");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *table = strstr(text, "## The entries");
    ck_assert_ptr_nonnull(table);
    *table = '\0';
    for (size_t i = 0; fpo_model_at(i) != NULL; i++) {
        const fpo_model *model = fpo_model_at(i);
        if (model->provenance != FPO_ASSUMED && model->provenance != FPO_CONTESTED)
            continue;
        bool named = strstr(text, model->name) != NULL;
        /* "_f25" stands for sm120_mxf4nvf4_f25: the end of the name in back quotes. */
        for (const char *end = strchr(model->name, '_'); end != NULL && !named; end = strchr(end + 1, '_')) {
            char quoted[64];
            snprintf(quoted, sizeof quoted, "`%s`", end);
            named = strstr(text, quoted) != NULL;
            snprintf(quoted, sizeof quoted, "*%s`", end);
            named = named || strstr(text, quoted) != NULL;
        }
        ck_assert_msg(named, "docs/models.md does not speak of %s", model->name);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("models.md");
    TCase *c = tcase_create("document");
    tcase_add_test(c, test_table);
    tcase_add_test(c, test_assumptions_are_listed);
    suite_add_tcase(suite, c);
    return suite;
}
