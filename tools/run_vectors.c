/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vector files by name or by folder. */
#include "run_vectors.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fpo_status add(fpo_run_vectors *vectors, const char *folder, const char *name, fpo_error *error)
{
    fpo_run_vector *list = realloc(vectors->list, (vectors->count + 1) * sizeof *list);
    size_t size = (folder != NULL ? strlen(folder) + 1 : 0) + strlen(name) + 1;
    char *path = malloc(size);
    vectors->list = list != NULL ? list : vectors->list;
    if (list == NULL || path == NULL) {
        free(path);
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for the names of %zu vectors", vectors->count + 1);
    }
    snprintf(path, size, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "", name);
    list[vectors->count++].path = path;
    return FPO_OK;
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
        return fpo_fail(error, FPO_ERR_ARGUMENT, "there is no suite '%s': %s", folder, strerror(errno));
    }
    fpo_status status =
        count > 0 ? FPO_OK : fpo_fail(error, FPO_ERR_ARGUMENT, "the folder %s has no *.safetensors", folder);
    for (int i = 0; i < count; i++) {
        status = status == FPO_OK ? add(vectors, folder, entries[i]->d_name, error) : status;
        free(entries[i]);
    }
    free(entries);
    return status;
}

fpo_status fpo_run_vectors_find(const char *suite, char *const *named, size_t named_count, fpo_run_vectors *vectors,
                                fpo_error *error)
{
    *vectors = (fpo_run_vectors){0};
    fpo_status status = suite != NULL ? add_folder(vectors, suite, error) : FPO_OK;
    for (size_t i = 0; i < named_count && status == FPO_OK; i++) {
        status = add(vectors, NULL, named[i], error);
    }
    return status;
}

void fpo_run_vectors_free(fpo_run_vectors *vectors)
{
    for (size_t i = 0; i < vectors->count; i++) {
        free(vectors->list[i].path);
    }
    free(vectors->list);
    *vectors = (fpo_run_vectors){0};
}
