/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the parts of hf_*.c share. */
#ifndef FP4ORACLE_VECTORS_HF_LAYER_H
#define FP4ORACLE_VECTORS_HF_LAYER_H

#include "hf_checkpoint.h"

struct fpo_hf {
    char *folder;
    fpo_checkpoint *tensors;
    fpo_scheme scheme;
    char **layers; /* in the order of the tensors */
    size_t layer_count;
};

/* Multipliers, and what a library is given, of the scales that are stored. */
void fpo_hf_layer_scale(const fpo_scheme_info *scheme, fpo_hf_layer *layer);

/* One tensor holds all experts: [experts, rows, blocks, 16]. */
static inline bool fpo_hf_has_experts(fpo_scheme scheme)
{
    return scheme == FPO_SCHEME_GPT_OSS_MXFP4 || scheme == FPO_SCHEME_GPT_OSS_ORIGINAL;
}

#endif
