/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Runs a fuzz target without libFuzzer: over every file of the folders given, and over systematic damage of each: cut
 * off everywhere, and every byte replaced by those that mean something. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 200 }; /* of damage in a file: more are taken at even distances */

static long runs;

/* A copy that ends where its allocation ends, so that a sanitizer sees the first byte too far. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    runs++;
}

static void damage(uint8_t *bytes, size_t size)
{
    static const uint8_t replacements[] = {0, '"', '{', ']', ',', '-', '9', 0x7F, 0xFF};
    size_t stride = size / PLACES + 1;
    for (size_t i = 0; i < size; i += stride)
        run(bytes, i);
    for (size_t i = 0; i < size; i += stride) {
        uint8_t kept = bytes[i];
        for (size_t r = 0; r < sizeof(replacements); r++) {
            bytes[i] = replacements[r];
            run(bytes, size);
        }
        bytes[i] = kept ^ 1;
        run(bytes, size);
        bytes[i] = kept;
    }
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    long size = ftell(file);
    rewind(file);
    uint8_t *bytes = malloc((size_t)size + 1);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: cannot read %ld bytes\n", path, size);
        return 1;
    }
    fclose(file);
    run(bytes, (size_t)size);
    damage(bytes, (size_t)size);
    free(bytes);
    return 0;
}

static int run_folder(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort), failed = count < 0, files = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.') {
            failed |= run_file(path);
            files++;
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    if (files == 0)
        fprintf(stderr, "%s: no files\n", folder);
    return failed || files == 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++)
        failed |= run_folder(argv[i]);
    printf("%ld inputs\n", runs);
    return failed;
}
