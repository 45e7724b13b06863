/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A counter-based generator: Philox4x32-10, key seed, counter (index, stream), so that any element can be made
 * on its own and by any thread. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef FP4ORACLE_RANDOM_H
#define FP4ORACLE_RANDOM_H

#include <fp4oracle/api.h>
#include <stdint.h>

FPO_BEGIN_DECLS

typedef struct fpo_random {
    uint64_t seed;
    uint64_t stream;
} fpo_random;

FPO_API void fpo_random_block(fpo_random random, uint64_t index, uint32_t words[4]);
FPO_API uint64_t fpo_random_bits(fpo_random random, uint64_t index); /* the first two words of the block */
/* 0 <= result < bound; bound >= 1. Not exactly uniform: probabilities differ by up to 2^-64. */
FPO_API uint64_t fpo_random_below(fpo_random random, uint64_t index, uint64_t bound);
/* About standard normal: a multiple of 2^-21 within +-6, the sum of 12 uniform integers (exact arithmetic, no libm),
 * the same on every machine. Uses blocks 2*index and 2*index+1. */
FPO_API float fpo_random_normal(fpo_random random, uint64_t index);

FPO_END_DECLS

#endif
