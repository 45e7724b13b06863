/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Recorded results that the repo carries: tests/data/NAME.zst, a compressed safetensors file. */
#ifndef FP4ORACLE_TESTS_RECORDED_H
#define FP4ORACLE_TESTS_RECORDED_H

#include <safetensors.h>

typedef struct fpo_recorded {
    void *bytes;
    size_t size;
    fpo_safetensors *file;
} fpo_recorded;

/* Decompresses a whole file; the caller frees *bytes. */
fpo_status fpo_read_zstd(const char *path, void **bytes, size_t *size, fpo_error *error);

/* `name` without the ".zst", relative to tests/data. On failure there is nothing to close. */
fpo_status fpo_recorded_open(const char *name, fpo_recorded *recorded, fpo_error *error);
void fpo_recorded_close(fpo_recorded *recorded);

#endif
