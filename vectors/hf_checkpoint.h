/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Quantised checkpoints in Hugging Face folders: which scheme they have, which layers are quantised, and a layer's
 * weight as an operand. The folder is not trusted: what does not fit is an error that names the tensor. */
#ifndef FP4ORACLE_VECTORS_HF_CHECKPOINT_H
#define FP4ORACLE_VECTORS_HF_CHECKPOINT_H

#include "checkpoint.h"

#include <fp4oracle/quantize.h>

typedef enum fpo_scheme {
#define FPO_SCHEME(ID, ...) FPO_SCHEME_##ID,
#include "schemes.inc"
#undef FPO_SCHEME
    FPO_SCHEME_COUNT
} fpo_scheme;

typedef enum fpo_stored_scale {
    FPO_STORED_NOTHING,
    FPO_STORED_MULTIPLIER, /* modelopt: amax/2688 */
    FPO_STORED_DIVISOR     /* compressed-tensors: 2688/amax */
} fpo_stored_scale;

typedef struct fpo_scheme_info {
    const char *name, *summary;
    const char *method, *key; /* what of config.json leads here */
    fpo_block_format weight;
    /* Behind the name of a layer; "" where there is none. */
    const char *codes, *scale, *tensor_scale, *input_scale;
    fpo_stored_scale meaning; /* of the tensor scale, and of the input scale */
    fpo_block_format activations;
    fpo_recipe recipe;        /* of the activations */
    fpo_recipe static_recipe; /* where the layer has an input scale; FPO_RECIPE_COUNT if none ever has */
} fpo_scheme_info;

const fpo_scheme_info *fpo_scheme_describe(fpo_scheme scheme); /* NULL for what is none */

typedef struct fpo_hf fpo_hf;

/* A folder with config.json and safetensors files. */
fpo_status fpo_hf_open(const char *folder, fpo_hf **hf, fpo_error *error);
void fpo_hf_close(fpo_hf *hf); /* NULL is fine */
/* Whether there is a folder of this name with a config.json in it: then fpo_hf_open is worth a try. */
bool fpo_hf_is(const char *folder);

fpo_scheme fpo_hf_scheme(const fpo_hf *hf);
/* The quantised layers, in order: "model.layers.0.mlp.down_proj"; an expert of gpt-oss has its number behind the name,
 * "model.layers.0.mlp.experts.down_proj.3". NULL beyond the end. */
const char *fpo_hf_layer_name(const fpo_hf *hf, size_t index);
size_t fpo_hf_layer_count(const fpo_hf *hf);

typedef struct fpo_hf_layer {
    fpo_block_format format;
    int64_t rows, k;
    fpo_operand weight; /* canonical; the tensor scale is a multiplier, RN(1/stored) where a divisor is stored */
    float stored_tensor_scale;
    bool has_tensor_scale, has_input_scale;
    float stored_input_scale;
    float input_scale;   /* a multiplier, as the tensor scale */
    float library_scale; /* what the static recipe is given: for nvfp4 RN(1/multiplier) or the stored divisor, for fp8
                            the multiplier */
    void *scales;        /* owned; the codes are the file's, */
    void *codes;         /* but owned where layers were fused */
} fpo_hf_layer;

/* The layer lives until it is freed, and not longer than the checkpoint. */
fpo_status fpo_hf_layer_read(fpo_hf *hf, const char *name, fpo_hf_layer *layer, fpo_error *error);
/* The layers PREFIX.PART of a list "q_proj,k_proj,v_proj" as one, rows after rows, with one tensor scale and one input
 * scale: where they differ the largest that is stored, as servers take it. */
fpo_status fpo_hf_fused_read(fpo_hf *hf, const char *prefix, const char *list, fpo_hf_layer *fused, fpo_error *error);
void fpo_hf_layer_free(fpo_hf_layer *layer);

/* code * scale * tensor scale, rounded once: rows x k numbers. */
void fpo_hf_layer_dequantise(const fpo_hf_layer *layer, float *values);

/* "DIR:LAYER": the layer as rows x k numbers. The caller frees `values`. *matches: `argument` names a folder with a
 * config.json; where it is false nothing else is done. */
fpo_status fpo_hf_source_rows(const char *argument, bool *matches, int64_t *rows, int64_t *k, float **values,
                              fpo_error *error);

#endif
