/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensors by name, wherever they are: a safetensors file, an index of shards ("model.safetensors.index.json" with its
 * "weight_map"), or a folder with an index or with safetensors files. */
#ifndef FP4ORACLE_VECTORS_CHECKPOINT_H
#define FP4ORACLE_VECTORS_CHECKPOINT_H

#include "safetensors.h"

typedef struct fpo_checkpoint fpo_checkpoint;

/* A name that ends in .json is an index. In a folder, its one *.index.json is used; without one, all of its
 * *.safetensors files are, and a tensor that two of them have is an error. */
fpo_status fpo_checkpoint_open(const char *path, fpo_checkpoint **checkpoint, fpo_error *error);
void fpo_checkpoint_close(fpo_checkpoint *checkpoint); /* NULL is fine */

size_t fpo_checkpoint_count(const fpo_checkpoint *checkpoint);
const char *fpo_checkpoint_name(const fpo_checkpoint *checkpoint, size_t index); /* in order; NULL beyond the end */
bool fpo_checkpoint_has(const fpo_checkpoint *checkpoint, const char *name);

/* Opens the shard if it is not open yet, and checks that it has the tensor: shards that are missing matter only to who
 * asks for their tensors. Not for several threads at a time. The tensor lives as long as the checkpoint. */
fpo_status fpo_checkpoint_tensor(fpo_checkpoint *checkpoint, const char *name, const fpo_tensor **tensor,
                                 fpo_error *error);

/* The value of a key of __metadata__ of the file that has the tensor `name`; NULL if there is none. */
const char *fpo_checkpoint_metadata(fpo_checkpoint *checkpoint, const char *name, const char *key);

/* "FILE[:TENSOR]": FILE is anything that fpo_checkpoint_open takes; without TENSOR it must have exactly one. Both parts
 * may contain ':' (the longest part that exists is the file). */
typedef struct fpo_tensor_source {
    fpo_checkpoint *checkpoint;
    const fpo_tensor *tensor;
} fpo_tensor_source;

fpo_status fpo_tensor_open(const char *argument, fpo_tensor_source *source, fpo_error *error);
void fpo_tensor_close(fpo_tensor_source *source);

/* A tensor as a matrix of floats: F32, F16 and BF16 are exact; other types are refused, because their values would
 * have to be rounded or scaled first. The last dimension is K, all others together are rows. The caller frees
 * `values`. */
fpo_status fpo_tensor_rows(const fpo_tensor *tensor, int64_t *rows, int64_t *k, float **values, fpo_error *error);

#endif
