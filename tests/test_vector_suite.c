/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Suites: the registry holds together, vectors are the same everywhere, and their outputs do not depend on threads. */
#include "suite.h"
#include "vector_suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fpo_error error;

START_TEST(names_are_unique_and_every_suite_has_vectors)
{
    size_t in_suite[FPO_SUITE_COUNT] = {0};
    const fpo_suite_vector *vector;
    for (size_t i = 0; (vector = fpo_suite_vector_at(i)) != NULL; i++) {
        ck_assert_ptr_eq(fpo_suite_vector_by_name(vector->name), vector);
        ck_assert(strspn(vector->name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(vector->name));
        ck_assert(vector->purpose[0] != '\0');
        ck_assert(fpo_suite_has(FPO_SUITE_FULL, vector));
        for (int s = 0; s < FPO_SUITE_COUNT; s++)
            in_suite[s] += fpo_suite_has((fpo_vector_suite)s, vector);
    }
    for (int s = 0; s < FPO_SUITE_COUNT; s++) {
        ck_assert_int_eq(fpo_suite_by_name(fpo_suite_name((fpo_vector_suite)s)), s);
        ck_assert_uint_ge(in_suite[s], 3);
    }
    ck_assert_int_eq(fpo_suite_by_name("none"), FPO_SUITE_COUNT);
    ck_assert_ptr_null(fpo_suite_vector_by_name("none"));
}
END_TEST

START_TEST(every_format_has_a_model_that_takes_it)
{
    const fpo_suite_format *f;
    for (size_t i = 0; (f = fpo_suite_format_at(i)) != NULL; i++) {
        const fpo_model *model = fpo_suite_model(f->a, f->b);
        ck_assert_ptr_nonnull(model);
        ck_assert_str_eq(model->name, f->model);
        ck_assert(
            fpo_model_takes(model, &fpo_block_format_describe(f->a)->view, &fpo_block_format_describe(f->b)->view));
    }
    ck_assert_ptr_nonnull(fpo_suite_model(FPO_BLOCK_PLAIN_BF16, FPO_BLOCK_PLAIN_BF16));
}
END_TEST

/* Everything that a vector is before its outputs. */
static fpo_digest digest_of(const fpo_vector *vector)
{
    const fpo_gemm_problem *p = &vector->problem;
    const float scalars[] = {p->alpha, p->beta, p->a.tensor_scale, p->b.tensor_scale, p->d_scale};
    const void *parts[] = {p->a.codes, p->a.scales, p->b.codes, p->b.scales, p->c, p->bias, scalars};
    const size_t sizes[] = {p->a.codes_bytes, p->a.scales_bytes, p->b.codes_bytes, p->b.scales_bytes,
                            p->c_bytes,       p->bias_bytes,     sizeof scalars};
    char text[7 * 33] = "";
    for (size_t i = 0; i < 7; i++)
        if (sizes[i] > 0)
            strcat(text, fpo_digest_of(parts[i], sizes[i]).hex);
    return fpo_digest_of(text, strlen(text));
}

static void format_name(const fpo_suite_format *format, char *name, size_t size)
{
    snprintf(name, size, "%s%s%s", fpo_block_format_describe(format->a)->name, format->a != format->b ? "," : "",
             format->a != format->b ? fpo_block_format_describe(format->b)->name : "");
}

/* The digests of all vectors for all formats, one a line. */
static char *all_digests(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const fpo_suite_format *format;
    for (size_t f = 0; (format = fpo_suite_format_at(f)) != NULL; f++) {
        const fpo_suite_vector *entry;
        char name[96];
        format_name(format, name, sizeof name);
        for (size_t i = 0; (entry = fpo_suite_vector_at(i)) != NULL; i++) {
            fpo_suite_target target = {.a = format->a, .b = format->b};
            fpo_vector *vector = NULL;
            fpo_status status = fpo_suite_generate(entry, &target, &vector, &error);
            ck_assert_msg(status == FPO_OK || status == FPO_ERR_UNSUPPORTED, "%s, %s: %s", name, entry->name,
                          error.message);
            fprintf(out, "%s %s %s\n", name, entry->name, status == FPO_OK ? digest_of(vector).hex : "-");
            fpo_vector_free(vector);
        }
    }
    fclose(out);
    return text;
}

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size = 0, got;
    char buffer[4096];
    FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    while (in != NULL && (got = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, got, out);
    if (in != NULL)
        fclose(in);
    fclose(out);
    return text;
}

START_TEST(vectors_have_the_recorded_digests)
{
    char *now = all_digests(), *recorded = read_text(FPO_SOURCE_DIR "/tests/data/suites/digests.txt");
    if (strcmp(now, recorded) != 0) {
        FILE *out = fopen(FPO_BINARY_DIR "/suite_digests.txt", "w");
        ck_assert_ptr_nonnull(out);
        fputs(now, out);
        fclose(out);
    }
    ck_assert_msg(
        strcmp(now, recorded) == 0,
        "vectors are others than recorded; if that is meant: cp %s/suite_digests.txt tests/data/suites/digests.txt",
        FPO_BINARY_DIR);
    free(now);
    free(recorded);
}
END_TEST

START_TEST(another_seed_gives_another_vector_and_outputs_do_not_depend_on_threads)
{
    const fpo_suite_vector *entry = fpo_suite_vector_by_name("cancellation");
    fpo_suite_target target = {.a = FPO_BLOCK_NVFP4, .b = FPO_BLOCK_NVFP4};
    fpo_digest seen[2];
    for (int i = 0; i < 2; i++) {
        fpo_vector *vector;
        target.seed = (uint64_t)i;
        ck_assert_int_eq(fpo_suite_generate(entry, &target, &vector, &error), FPO_OK);
        seen[i] = digest_of(vector);
        const fpo_model *models[] = {fpo_model_by_name("exact"), fpo_model_by_name("sm120_mxf4nvf4")};
        for (int m = 0; m < 2; m++) {
            fpo_digest outputs[2];
            for (int threads = 1; threads <= 2; threads++) {
                fpo_gemm_spec spec = vector->spec;
                spec.accumulation = models[m]->accumulation;
                fpo_gemm_output output = {.d_bytes = fpo_output_bytes(&spec, entry->m, entry->n)};
                output.d = malloc(output.d_bytes);
                fpo_execution execution = {.threads = threads};
                ck_assert_int_eq(fpo_gemm(&spec, &vector->problem, &output, &execution, &error), FPO_OK);
                outputs[threads - 1] = fpo_digest_of(output.d, output.d_bytes);
                free(output.d);
            }
            ck_assert(fpo_digest_equal(&outputs[0], &outputs[1]));
        }
        fpo_vector_free(vector);
    }
    ck_assert(!fpo_digest_equal(&seen[0], &seen[1]));
}
END_TEST

/* What cancels is zero exactly, and is not in a tensor core. */
START_TEST(cancellation_leaves_rounding_alone)
{
    const fpo_suite_format *format;
    for (size_t f = 0; (format = fpo_suite_format_at(f)) != NULL; f++) {
        fpo_suite_target target = {.a = format->a, .b = format->b};
        fpo_vector *vector;
        ck_assert_int_eq(fpo_suite_generate(fpo_suite_vector_by_name("cancellation"), &target, &vector, &error),
                         FPO_OK);
        ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error), FPO_OK);
        ck_assert_int_eq(fpo_vector_compute(vector, fpo_suite_model(format->a, format->b), NULL, &error), FPO_OK);
        const uint32_t *exact = vector->expected[0].d, *model = vector->expected[1].d;
        size_t count = (size_t)(vector->problem.m * vector->problem.n), left = 0;
        for (size_t i = 0; i < count; i++) {
            ck_assert_uint_eq(exact[i] << 1, 0);
            left += model[i] << 1 != 0;
        }
        ck_assert_msg(left > count / 4, "%s: %zu of %zu", fpo_block_format_describe(format->a)->name, left, count);
        fpo_vector_free(vector);
    }
}
END_TEST

/* An output of one_hot is an element of A times one of B times their scales, and that once more, added in double. */
START_TEST(one_hot_outputs_are_single_products)
{
    fpo_suite_target target = {.a = FPO_BLOCK_MXFP8_E4M3, .b = FPO_BLOCK_MXFP8_E4M3};
    fpo_vector *vector;
    ck_assert_int_eq(fpo_suite_generate(fpo_suite_vector_by_name("one_hot"), &target, &vector, &error), FPO_OK);
    ck_assert_int_eq(fpo_vector_compute(vector, fpo_model_by_name("exact"), NULL, &error), FPO_OK);
    const fpo_gemm_problem *p = &vector->problem;
    const uint8_t *a = p->a.codes, *b = p->b.codes, *sa = p->a.scales, *sb = p->b.scales;
    for (int64_t m = 0; m < p->m; m++)
        for (int64_t n = 0; n < p->n; n++) {
            double y = 0;
            for (int64_t at = m; at < p->k; at += p->m) { /* two of them */
                int64_t block = at / 32, blocks = p->k / 32;
                double product =
                    fpo_decode_double(FPO_E4M3, a[m * p->k + at]) * fpo_decode_double(FPO_E4M3, b[n * p->k + at]);
                ck_assert(product != 0);
                y += ldexp(product, sa[m * blocks + block] + sb[n * blocks + block] - 254);
            }
            ck_assert((float)y == ((const float *)vector->expected[0].d)[m * p->n + n]);
        }
    fpo_vector_free(vector);
}
END_TEST

START_TEST(a_target_decides_what_belongs_to_it)
{
    const fpo_suite_vector *bf16 = fpo_suite_vector_by_name("ties_bf16"), *any = fpo_suite_vector_by_name("ties");
    fpo_suite_target open = {.a = FPO_BLOCK_NVFP4, .b = FPO_BLOCK_NVFP4}, closed = open;
    closed.d = FPO_BF16;
    ck_assert(fpo_suite_applies(bf16, &open) && fpo_suite_applies(any, &open));
    ck_assert(!fpo_suite_applies(bf16, &closed) && fpo_suite_applies(any, &closed));
    fpo_vector *vector;
    ck_assert_int_eq(fpo_suite_generate(any, &closed, &vector, &error), FPO_OK);
    ck_assert_int_eq(vector->spec.epilogue.d, FPO_BF16);
    fpo_vector_free(vector);
    closed.has_addends = true; /* a kernel without C: nothing to subtract from */
    ck_assert_int_eq(fpo_suite_generate(fpo_suite_vector_by_name("residual"), &closed, &vector, &error),
                     FPO_ERR_UNSUPPORTED);
    ck_assert_int_eq(fpo_suite_generate(fpo_suite_vector_by_name("scalars"), &closed, &vector, &error), FPO_OK);
    ck_assert_ptr_null(vector->problem.c);
    ck_assert(vector->problem.beta == 0);
    fpo_vector_free(vector);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vector_suite");
    TCase *tests = tcase_create("vector_suite");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, names_are_unique_and_every_suite_has_vectors);
    tcase_add_test(tests, every_format_has_a_model_that_takes_it);
    tcase_add_test(tests, vectors_have_the_recorded_digests);
    tcase_add_test(tests, another_seed_gives_another_vector_and_outputs_do_not_depend_on_threads);
    tcase_add_test(tests, cancellation_leaves_rounding_alone);
    tcase_add_test(tests, one_hot_outputs_are_single_products);
    tcase_add_test(tests, a_target_decides_what_belongs_to_it);
    suite_add_tcase(suite, tests);
    return suite;
}
