/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the parts of the safetensors reader share. */
#ifndef FP4ORACLE_VECTORS_SAFETENSORS_FILE_H
#define FP4ORACLE_VECTORS_SAFETENSORS_FILE_H

#include "safetensors.h"

#include <jansson.h>

struct fpo_safetensors {
    char *path;
    void *map; /* NULL if the bytes are the caller's */
    size_t map_size;
    json_t *header;      /* owns the names and the metadata's strings */
    fpo_tensor *tensors; /* by name */
    size_t count;
};

/* Fills header, tensors and count from the whole file. */
fpo_status fpo_safetensors_header(fpo_safetensors *file, const char *bytes, size_t size, fpo_error *error);

/* For qsort and bsearch. */
int fpo_tensor_by_name(const void *x, const void *y);

#endif
