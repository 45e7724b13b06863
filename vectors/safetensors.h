/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* safetensors files: a reader that maps the file and trusts nothing in it, and a writer of deterministic bytes.
 * Format: huggingface/safetensors, README.md and safetensors/src/tensor.rs (24b0b28, version 0.8).
 *
 * Strictness: as the format demands, the header starts with '{', names are unique, __metadata__ holds strings alone,
 * and the tensors cover the data without holes or overlaps, to the last byte. Members of a tensor's entry other than
 * dtype, shape and data_offsets are ignored, as the reference implementation does. */
#ifndef FP4ORACLE_VECTORS_SAFETENSORS_H
#define FP4ORACLE_VECTORS_SAFETENSORS_H

#include "dtype.h"

enum { FPO_TENSOR_RANK = 16 }; /* more dimensions than anything has; the format itself sets no limit */

typedef struct fpo_tensor {
    const char *name;
    fpo_dtype dtype;
    size_t rank;
    int64_t shape[FPO_TENSOR_RANK]; /* in elements, for sub-byte types too */
    int64_t elements;
    const void *data; /* little endian, rows contiguous; NOT always aligned to the element: use memcpy or
                         fpo_load_code. Sub-byte: element 0 in the low bits of the first byte */
    size_t bytes;
} fpo_tensor;

typedef struct fpo_safetensors fpo_safetensors;

/* Maps `path`. The file must not be truncated while it is open: the system answers that with SIGBUS. */
fpo_status fpo_safetensors_open(const char *path, fpo_safetensors **file, fpo_error *error);
/* The same on bytes in memory, which must outlive `file`; `label` names them in messages. */
fpo_status fpo_safetensors_parse(const void *bytes, size_t size, const char *label, fpo_safetensors **file,
                                 fpo_error *error);
void fpo_safetensors_close(fpo_safetensors *file); /* NULL is fine */

const char *fpo_safetensors_path(const fpo_safetensors *file);
size_t fpo_safetensors_count(const fpo_safetensors *file);
const fpo_tensor *fpo_safetensors_at(const fpo_safetensors *file, size_t index); /* by name; NULL beyond the end */
const fpo_tensor *fpo_safetensors_find(const fpo_safetensors *file, const char *name); /* NULL if there is none */
/* The value of a key of __metadata__, NULL if there is none. */
const char *fpo_safetensors_metadata(const fpo_safetensors *file, const char *key);

typedef struct fpo_metadata {
    const char *key, *value;
} fpo_metadata;

/* Writes a file. The same tensors and metadata give the same bytes, in whatever order they come: metadata by key,
 * tensors by descending dtype, then name, which is the reference implementation's order. `elements` is not looked at;
 * `bytes` must be what dtype and shape say. On failure no file is left, and an existing one is untouched. */
fpo_status fpo_safetensors_write(const char *path, const fpo_tensor *tensors, size_t count,
                                 const fpo_metadata *metadata, size_t metadata_count, fpo_error *error);

#endif
