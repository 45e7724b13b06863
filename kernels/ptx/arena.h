/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Memory that is freed all at once. */
#ifndef FP4ORACLE_KERNELS_PTX_ARENA_H
#define FP4ORACLE_KERNELS_PTX_ARENA_H

#include <stddef.h>

typedef struct fpo_ptx_arena fpo_ptx_arena;

fpo_ptx_arena *fpo_ptx_arena_new(void);                       /* NULL: out of memory */
void *fpo_ptx_arena_take(fpo_ptx_arena *arena, size_t bytes); /* zeroed, aligned to 16; NULL: out of memory */
void fpo_ptx_arena_free(fpo_ptx_arena *arena);

#endif
