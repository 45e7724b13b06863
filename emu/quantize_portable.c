/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of a recipe on any processor. */
#include "quantize_kernels.h"
#include "quantize_loops.h"

const fpo_quantize_kernels fpo_quantize_portable = {step,          step_of_blocks, round_randomly, random_words,
                                                    random_blocks, encode,         encode_nibbles, nibbles_of_step,
                                                    block_amax,    join_amax,      error_sums,     spread};
