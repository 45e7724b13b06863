/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The instructions recorded on an H200 (tests/data/h200), and a virtual sm90 with their PTX. */
#ifndef FP4ORACLE_TESTS_H200_H
#define FP4ORACLE_TESTS_H200_H

#include "recorded.h"

#include <jansson.h>
#include <vgpu.h>

enum { FPO_H200_ROWS = 2048 };

typedef struct fpo_h200 {
    fpo_recorded recorded;
    json_t *json;
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
} fpo_h200;

/* Ends the running Check test if anything fails. */
void fpo_h200_open(fpo_h200 *h200, uint64_t seed);
void fpo_h200_close(fpo_h200 *h200);

/* "k17/D" and the like; NULL if it was not recorded. */
const fpo_tensor *fpo_h200_find(const fpo_h200 *h200, const char *format, ...) FPO_PRINTF(2, 3);
/* A copy in the GPU's memory. */
void *fpo_h200_upload(fpo_h200 *h200, const void *bytes, size_t size);
/* Launches `kernel`; each argument is a pointer to a parameter. */
fpo_status fpo_h200_run(fpo_h200 *h200, const char *kernel, uint32_t grid, uint32_t block, const void *const *arguments,
                        fpo_error *error);

void fpo_sha256(const void *bytes, size_t size, uint8_t digest[32]);

#endif
