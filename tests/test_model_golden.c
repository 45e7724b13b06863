/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every model against what is on file for it, which the reference twin computed (golden.h). FPO_RECORD_GOLDEN=FILE
 * writes the file anew, by the twin. */
#include "suite.h"

#include "golden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = FPO_SOURCE_DIR "/vectors/data/models/golden.txt";

/* The line of this model, kind ("rows", "gemm") and index; false if there is none. */
static bool on_file(FILE *file, const char *model, const char *kind, size_t index, uint64_t *digest)
{
    char name[64], line_kind[8];
    size_t line_index;
    rewind(file);
    while (fscanf(file, "%63s %7s %zu %" SCNx64, name, line_kind, &line_index, digest) == 4)
        if (strcmp(name, model) == 0 && strcmp(line_kind, kind) == 0 && line_index == index)
            return true;
    return false;
}

static int check_rows(FILE *file, FILE *record, const fpo_model *model, golden_rows *rows)
{
    golden_pair pair;
    int count = 0;
    for (size_t i = 0; golden_pair_at(model, i, &pair); i++, count++) {
        uint64_t digest;
        golden_rows_make(&pair, rows);
        if (record != NULL) {
            fprintf(record, "%s rows %zu %016" PRIx64 "\n", model->name, i,
                    golden_rows_twin(rows, &model->accumulation.step));
            continue;
        }
        ck_assert_msg(on_file(file, model->name, "rows", i, &digest), "%s, rows %zu: not on file", model->name, i);
        ck_assert_msg(golden_rows_engine(rows, &model->accumulation.step) == digest,
                      "%s, rows %zu: not what is on file", model->name, i);
    }
    return count;
}

static int check_gemms(FILE *file, FILE *record, const fpo_model *model)
{
    golden_gemm *gemm;
    int count = 0;
    for (size_t i = 0; (gemm = golden_gemm_make(model, i)) != NULL; i++, count++) {
        uint64_t digest, made;
        if (record != NULL) {
            fprintf(record, "%s gemm %zu %016" PRIx64 "\n", model->name, i,
                    golden_gemm_twin(gemm, &model->accumulation));
        } else {
            ck_assert_msg(on_file(file, model->name, "gemm", i, &digest), "%s, gemm %zu: not on file", model->name, i);
            ck_assert_msg(golden_gemm_engine(gemm, &model->accumulation, &made), "%s", model->name);
            ck_assert_msg(made == digest, "%s, gemm %zu: not what is on file", model->name, i);
        }
        golden_gemm_free(gemm);
    }
    return count;
}

START_TEST(test_on_file)
{
    const char *to = getenv("FPO_RECORD_GOLDEN");
    FILE *record = to != NULL ? fopen(to, "w") : NULL, *file = to == NULL ? fopen(path, "r") : NULL;
    ck_assert_msg(record != NULL || file != NULL, "cannot open %s", to != NULL ? to : path);
    golden_rows *rows = malloc(sizeof *rows);
    ck_assert_ptr_nonnull(rows);
    int sets = 0, gemms = 0, models = 0;
    for (; fpo_model_at((size_t)models) != NULL; models++) {
        const fpo_model *model = fpo_model_at((size_t)models);
        sets += check_rows(file, record, model, rows);
        gemms += check_gemms(file, record, model);
    }
    free(rows);
    printf("%d models: %d sets of %d rows, %d GEMMs%s\n", models, sets, GOLDEN_ROWS, gemms,
           record != NULL ? " recorded by the twin" : "");
    ck_assert_int_eq(fclose(record != NULL ? record : file), 0);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("golden models");
    TCase *c = tcase_create("golden");
    tcase_add_test(c, test_on_file);
    suite_add_tcase(suite, c);
    return suite;
}
