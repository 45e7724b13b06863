/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A folder for the files that a test writes, removed when its process ends well. */
#ifndef FP4ORACLE_TESTS_SCRATCH_H
#define FP4ORACLE_TESTS_SCRATCH_H

#include "assertions.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fpo_scratch {
    char folder[256];
    char path[512];
} fpo_scratch;

static inline void fpo_scratch_open(fpo_scratch *scratch)
{
    const char *base = getenv("TMPDIR");
    snprintf(scratch->folder, sizeof(scratch->folder), "%s/fpo_test_XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(scratch->folder));
}

/* The path of `name` in the folder, valid until the next call. */
static inline const char *fpo_scratch_path(fpo_scratch *scratch, const char *name)
{
    snprintf(scratch->path, sizeof(scratch->path), "%s/%s", scratch->folder, name);
    return scratch->path;
}

static inline void fpo_scratch_file(fpo_scratch *scratch, const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(fpo_scratch_path(scratch, name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* Number of entries in the folder. */
static inline int fpo_scratch_count(const fpo_scratch *scratch)
{
    int count = 0;
    DIR *folder = opendir(scratch->folder);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static inline void fpo_scratch_close(fpo_scratch *scratch)
{
    DIR *folder = opendir(scratch->folder);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(fpo_scratch_path(scratch, entry->d_name));
    closedir(folder);
    rmdir(scratch->folder);
}

#endif
