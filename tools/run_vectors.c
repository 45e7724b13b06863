/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vectors by name, by folder or by suite. */
#include "run_vectors.h"

#include "arguments.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fpo_status add(fpo_run_vectors *vectors, const fpo_run_vector *vector, fpo_error *error)
{
    fpo_run_vector *list = realloc(vectors->list, (vectors->count + 1) * sizeof *list);
    vectors->list = list != NULL ? list : vectors->list;
    if (list == NULL || vector->path == NULL) {
        free(vector->path);
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for the names of %zu vectors", vectors->count + 1);
    }
    list[vectors->count++] = *vector;
    return FPO_OK;
}

static fpo_status add_file(fpo_run_vectors *vectors, const char *folder, const char *name, fpo_error *error)
{
    size_t size = (folder != NULL ? strlen(folder) + 1 : 0) + strlen(name) + 1;
    fpo_run_vector vector = {.path = malloc(size)};
    if (vector.path != NULL) {
        snprintf(vector.path, size, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "", name);
    }
    return add(vectors, &vector, error);
}

/* "nvfp4", or "fp8_1x128,fp8_128x128". */
static void format_name(const fpo_suite_target *target, char *name, size_t size)
{
    snprintf(name, size, "%s%s%s", fpo_block_format_describe(target->a)->name, target->a != target->b ? "," : "",
             target->a != target->b ? fpo_block_format_describe(target->b)->name : "");
}

static fpo_status add_registered(fpo_run_vectors *vectors, fpo_vector_suite suite, const fpo_suite_vector *only,
                                 const fpo_suite_target *target, fpo_error *error)
{
    fpo_status status = FPO_OK;
    const fpo_suite_vector *entry;
    char format[96];
    format_name(target, format, sizeof format);
    for (size_t i = 0; status == FPO_OK && (entry = fpo_suite_vector_at(i)) != NULL; i++) {
        if (!fpo_suite_has(suite, entry) || (only != NULL && only != entry)) {
            continue;
        }
        fpo_run_vector vector = {.path = malloc(256), .entry = entry, .suite = suite, .target = *target};
        if (vector.path != NULL) {
            snprintf(vector.path, 256, "%s/%s-%s", fpo_suite_name(suite), entry->name, format);
        }
        status = add(vectors, &vector, error);
    }
    return status;
}

static fpo_status add_suite(fpo_run_vectors *vectors, fpo_vector_suite suite, const fpo_suite_vector *only,
                            const char *format, fpo_error *error)
{
    fpo_suite_target target = {.d = FPO_FORMAT_NONE};
    if (format != NULL) {
        fpo_status status = fpo_parse_block_formats(format, &target.a, &target.b, error);
        return status == FPO_OK ? add_registered(vectors, suite, only, &target, error) : status;
    }
    const fpo_suite_format *tested;
    fpo_status status = FPO_OK;
    for (size_t i = 0; status == FPO_OK && (tested = fpo_suite_format_at(i)) != NULL; i++) {
        target.a = tested->a;
        target.b = tested->b;
        status = add_registered(vectors, suite, only, &target, error);
    }
    return status;
}

static int is_vector(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(".safetensors");
    return entry->d_name[0] != '.' && length > ending && strcmp(entry->d_name + length - ending, ".safetensors") == 0;
}

static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name); /* alphasort would depend on the locale */
}

static fpo_status add_folder(fpo_run_vectors *vectors, const char *folder, fpo_error *error)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_vector, by_name);
    if (count < 0) {
        return fpo_fail(error, FPO_ERR_ARGUMENT,
                        "there is no suite '%s' (`fp4oracle list suites`), and as a folder: %s", folder,
                        strerror(errno));
    }
    fpo_status status =
        count > 0 ? FPO_OK : fpo_fail(error, FPO_ERR_ARGUMENT, "the folder %s has no *.safetensors", folder);
    for (int i = 0; i < count; i++) {
        status = status == FPO_OK ? add_file(vectors, folder, entries[i]->d_name, error) : status;
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* SUITE or SUITE/VECTOR; false if there is no such suite. A vector that the suite does not have is an error. */
static bool find_suite(const char *text, fpo_vector_suite *suite, const fpo_suite_vector **only, fpo_status *status,
                       fpo_error *error)
{
    char name[64];
    size_t length = strcspn(text, "/");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *suite = length < sizeof name ? fpo_suite_by_name(name) : FPO_SUITE_COUNT;
    *only = NULL;
    if (*suite == FPO_SUITE_COUNT) {
        return false;
    }
    if (text[length] == '/') {
        *only = fpo_suite_vector_by_name(text + length + 1);
        if (*only == NULL || !fpo_suite_has(*suite, *only)) {
            *status = fpo_fail(error, FPO_ERR_ARGUMENT, "the suite %s has no vector '%s'; for a folder write ./%s",
                               name, text + length + 1, text);
        }
    }
    return true;
}

fpo_status fpo_run_vectors_find(const char *suite, const char *format, char *const *named, size_t named_count,
                                fpo_run_vectors *vectors, fpo_error *error)
{
    *vectors = (fpo_run_vectors){0};
    fpo_vector_suite registered;
    const fpo_suite_vector *only;
    fpo_status status = FPO_OK;
    if (suite != NULL && find_suite(suite, &registered, &only, &status, error)) {
        status = status == FPO_OK ? add_suite(vectors, registered, only, format, error) : status;
    } else if (format != NULL) {
        status = fpo_fail(error, FPO_ERR_ARGUMENT, "--format: files say their own; it belongs to a registered --suite");
    } else if (suite != NULL) {
        status = add_folder(vectors, suite, error);
    }
    for (size_t i = 0; i < named_count && status == FPO_OK; i++) {
        status = add_file(vectors, NULL, named[i], error);
    }
    return status;
}

void fpo_run_vectors_free(fpo_run_vectors *vectors)
{
    for (size_t i = 0; i < vectors->count; i++) {
        free(vectors->list[i].path);
        fpo_vector_free(vectors->list[i].made);
    }
    free(vectors->list);
    *vectors = (fpo_run_vectors){0};
}

static fpo_suite_target target_of(const fpo_run_vector *source, const fpo_kernel_info *kernel)
{
    fpo_suite_target target = source->target;
    target.d = kernel->d.format;
    target.has_addends = true;
    target.c = kernel->c.format;
    target.bias = kernel->bias;
    return target;
}

static bool same_operand(const fpo_operand_view *x, const fpo_operand_view *y)
{
    return x->element == y->element && x->scale.format == y->scale.format &&
           (x->scale.format == FPO_FORMAT_NONE ||
            (x->scale.block_rows == y->scale.block_rows && x->scale.block_k == y->scale.block_k));
}

bool fpo_run_vector_suits(const fpo_run_vector *source, const fpo_kernel_info *kernel)
{
    if (source->entry == NULL) {
        return true;
    }
    fpo_suite_target target = target_of(source, kernel);
    return fpo_suite_applies(source->entry, &target) &&
           same_operand(&kernel->a.view, &fpo_block_format_describe(target.a)->view) &&
           same_operand(&kernel->b.view, &fpo_block_format_describe(target.b)->view);
}

fpo_status fpo_run_vector_open(fpo_run_vector *source, const fpo_kernel_info *kernel, fpo_vector **vector,
                               fpo_error *error)
{
    if (source->entry == NULL) {
        return fpo_vector_read(source->path, vector, error);
    }
    fpo_suite_target target = target_of(source, kernel);
    fpo_status status = FPO_OK;
    if (memcmp(&source->made_for, &target, sizeof target) != 0) {
        fpo_vector_free(source->made);
        source->made = NULL;
        source->made_for = target;
    }
    if (source->made == NULL) {
        status = fpo_suite_generate(source->entry, &target, &source->made, error);
    }
    *vector = source->made;
    return status;
}

void fpo_run_vector_close(fpo_run_vector *source, fpo_vector *vector)
{
    if (source->entry == NULL) {
        fpo_vector_free(vector);
    }
}

int fpo_run_vector_arguments(const fpo_run_vector *source, char text[2][128], char *words[FPO_RUN_VECTOR_WORDS])
{
    static char suite_option[] = "--suite", format_option[] = "--format";
    if (source->entry == NULL) {
        words[0] = source->path;
        return 1;
    }
    snprintf(text[0], 128, "%s/%s", fpo_suite_name(source->suite), source->entry->name);
    format_name(&source->target, text[1], 128);
    words[0] = suite_option;
    words[1] = text[0];
    words[2] = format_option;
    words[3] = text[1];
    return FPO_RUN_VECTOR_WORDS;
}
