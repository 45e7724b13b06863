/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The quantisation that a checkpoint's configuration declares, as loaders read it. */
#ifndef FP4ORACLE_VECTORS_HF_CONFIG_H
#define FP4ORACLE_VECTORS_HF_CONFIG_H

#include "hf_checkpoint.h"

/* A scheme's method and key (schemes.inc). */
typedef struct fpo_hf_key {
    char method[32], key[128];
} fpo_hf_key;

/* Reads config.json, and hf_quant_config.json where the first declares nothing. An empty method: neither does, so that
 * the tensors' names decide. */
fpo_status fpo_hf_config_read(const char *folder, fpo_hf_key *key, fpo_error *error);

#endif
