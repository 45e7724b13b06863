/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The PTX in a shared library that nvcc has made: fat binaries are found by their magic number. */
#include "ptx_library.h"

#include "assertions.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernels/vgpu/cuda/fatbin.h"

typedef struct search {
    const char *word;
    char *found;
} search;

static int keep(void *context, const char *text, size_t length)
{
    search *s = context;
    char *copy = malloc(length + 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, length);
    copy[length] = '\0';
    bool wanted = s->found == NULL && strstr(copy, s->word) != NULL;
    if (wanted)
        s->found = copy;
    else
        free(copy);
    return 1;
}

char *ptx_of_library(const char *path, const char *word)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    rewind(file);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    fclose(file);
    search s = {word, NULL};
    const char *problem;
    for (size_t i = 0; i + 16 < size && s.found == NULL; i += 8)
        if (memcmp(bytes + i, "\x50\xed\x55\xba", 4) == 0)
            fpo_fatbin_each(bytes + i, keep, &s, &problem);
    free(bytes);
    ck_assert_msg(s.found != NULL, "no PTX in %s has '%s'", path, word);
    return s.found;
}

/* The next kernel's declaration in a text, or its end. */
static const char *next_entry(const char *text)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, ".entry ", 7) == 0 || strncmp(line, ".visible .entry ", 16) == 0)
            return line;
    return text + strlen(text);
}

char *ptx_of_kernel(const char *module, const char *word)
{
    const char *first = next_entry(module), *end = first;
    for (const char *entry = first; *entry != '\0'; entry = end) {
        const char *found = strstr(entry, word);
        end = next_entry(entry + 1);
        if (found == NULL || found >= entry + strcspn(entry, "("))
            continue;
        char *text = malloc((size_t)(first - module) + (size_t)(end - entry) + 1);
        ck_assert_ptr_nonnull(text);
        sprintf(text, "%.*s%.*s", (int)(first - module), module, (int)(end - entry), entry);
        return text;
    }
    ck_abort_msg("no kernel has '%s'", word);
}
