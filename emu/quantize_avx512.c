/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of a recipe for processors with AVX-512. */
#include "quantize_kernels.h"
#include "quantize_loops.h"

const fpo_quantize_kernels fpo_quantize_avx512 = {
    .step = step,
    .step_of_blocks = step_of_blocks,
    .round_randomly = round_randomly,
    .random_words = random_words,
    .random_blocks = random_blocks,
    .draw_bits = draw_bits,
    .draw_numbers = draw_numbers,
    .encode = encode,
    .nibbles_of_step = nibbles_of_step,
    .block_amax = block_amax,
    .join_amax = join_amax,
    .error_sums = error_sums,
    .spread = spread,
};
