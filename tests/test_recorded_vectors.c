/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vectors that hold what a GPU returned (vectors/data/h200): computed again, every byte the same. */
#include "suite.h"

#include "vector_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of D that differ from the recorded ones under `spec`. */
static int64_t differing(const fpo_vector *vector, const fpo_gemm_spec *spec)
{
    const fpo_expected *expected = &vector->expected[0];
    unsigned char *d = malloc(expected->d_bytes);
    fpo_error error = {FPO_OK, ""};
    fpo_gemm_output output = {.d = d, .d_bytes = expected->d_bytes};
    int64_t count = 0;
    if (d == NULL || fpo_gemm(spec, &vector->problem, &output, NULL, &error) != FPO_OK)
        ck_abort_msg("%s", error.message);
    for (size_t i = 0; i < expected->d_bytes; i++)
        count += d[i] != ((const unsigned char *)expected->d)[i];
    free(d);
    return count;
}

/* What the models claim, broken in one place each: how many of the recorded vectors notice. */
typedef struct neighbour {
    const char *name;
    int noticed;
} neighbour;

enum { FRACTION_14, FRACTION_12, NO_PROMOTION, OTHER_PROMOTION, NO_C, ALPHA_LAST, NEIGHBOURS };

/* An archive of vectors/data/h200, unpacked. */
static const struct recording {
    const char *folder;
    int vectors;
    unsigned noticed; /* the neighbours that some vector of it must notice, by bit */
} recordings[] = {
    {FPO_BINARY_DIR "/tests/h200/cublaslt/record", 801, (1u << NEIGHBOURS) - 1},
    {FPO_BINARY_DIR "/tests/h200/kernels/record", 264,
     1u << FRACTION_14 | 1u << FRACTION_12 | 1u << NO_PROMOTION | 1u << OTHER_PROMOTION | 1u << NO_C},
};
enum { RECORDINGS = sizeof recordings / sizeof recordings[0] };

static fpo_gemm_spec edited(fpo_gemm_spec spec, int which)
{
    fpo_step *step = &spec.accumulation.step;
    fpo_schedule *schedule = &spec.accumulation.schedule;
    switch (which) {
    case FRACTION_14: step->fraction_bits++; break;
    case FRACTION_12: step->fraction_bits--; break;
    case NO_PROMOTION:
        if (schedule->promotion == FPO_PROMOTE_ADD)
            schedule->promote_k = schedule->inner_k = 0;
        break;
    case OTHER_PROMOTION:
        if (schedule->promotion == FPO_PROMOTE_FMA_AB)
            schedule->promotion = FPO_PROMOTE_MUL_AB_ADD;
        else if (schedule->promotion == FPO_PROMOTE_FMA_B_THEN_A)
            schedule->promotion = FPO_PROMOTE_FMA_A_THEN_B;
        break;
    case NO_C: spec.epilogue.c = FPO_FORMAT_NONE; break;
    case ALPHA_LAST:
        for (int i = 0; i < FPO_EPILOGUE_STEPS; i++)
            if (spec.epilogue.steps[i].op == FPO_EPI_FMA_COEF_BETA_C)
                spec.epilogue.steps[i].op = FPO_EPI_MUL_COEF;
        break;
    default: break;
    }
    return spec;
}

START_TEST(every_recorded_vector)
{
    neighbour neighbours[NEIGHBOURS] = {{"14 fraction bits", 0}, {"12 fraction bits", 0},
                                        {"no promotion", 0},     {"other order of scales", 0},
                                        {"C never added", 0},    {"C lost in the epilogue", 0}};
    const struct recording *recording = &recordings[_i];
    DIR *directory = opendir(recording->folder);
    int vectors = 0;
    if (directory == NULL)
        ck_abort_msg("no folder %s", recording->folder);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[1024];
        fpo_vector *vector = NULL;
        fpo_error error;
        if (strstr(entry->d_name, ".safetensors") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", recording->folder, entry->d_name);
        if (fpo_vector_read(path, &vector, &error) != FPO_OK)
            ck_abort_msg("%s: %s", path, error.message);
        fpo_gemm_spec spec = fpo_vector_spec(vector, &vector->expected[0]);
        int64_t different = differing(vector, &spec);
        if (different != 0)
            ck_abort_msg("%s: %lld bytes differ", path, (long long)different);
        for (int i = 0; i < NEIGHBOURS; i++) {
            fpo_gemm_spec other = edited(spec, i);
            neighbours[i].noticed += differing(vector, &other) != 0;
        }
        fpo_vector_free(vector);
        vectors++;
    }
    closedir(directory);
    printf("%s: %d recorded vectors, 0 bytes differ\n", recording->folder, vectors);
    ck_assert_int_eq(vectors, recording->vectors);
    for (int i = 0; i < NEIGHBOURS; i++) {
        printf("%s: noticed by %d\n", neighbours[i].name, neighbours[i].noticed);
        ck_assert(neighbours[i].noticed > 0 || (recording->noticed >> i & 1) == 0);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recorded vectors");
    TCase *cases = tcase_create("h200");
    tcase_set_timeout(cases, 600);
    tcase_add_loop_test(cases, every_recorded_vector, 0, RECORDINGS);
    suite_add_tcase(suite, cases);
    return suite;
}
