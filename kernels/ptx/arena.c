/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Memory that is freed all at once: see arena.h. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { CHUNK = 256 * 1024, ALIGN = 16 };

typedef struct chunk {
    struct chunk *next;
    size_t size, used;
    _Alignas(16) unsigned char bytes[];
} chunk;

struct fpo_ptx_arena {
    chunk *chunks;
};

fpo_ptx_arena *fpo_ptx_arena_new(void)
{
    return calloc(1, sizeof(fpo_ptx_arena));
}

void *fpo_ptx_arena_take(fpo_ptx_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(chunk) - ALIGN)
        return NULL;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    chunk *c = arena->chunks;
    if (c == NULL || c->size - c->used < bytes) {
        size_t size = bytes > CHUNK ? bytes : CHUNK;
        c = calloc(1, sizeof(chunk) + size);
        if (c == NULL)
            return NULL;
        c->size = size;
        c->next = arena->chunks;
        arena->chunks = c;
    }
    void *result = c->bytes + c->used;
    c->used += bytes;
    return result;
}

void fpo_ptx_arena_free(fpo_ptx_arena *arena)
{
    if (arena == NULL)
        return;
    for (chunk *c = arena->chunks; c != NULL;) {
        chunk *next = c->next;
        free(c);
        c = next;
    }
    free(arena);
}
