/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Philox4x32-10 and what is drawn from it. */
#include <fp4oracle/random.h>

enum { ROUNDS = 10 };

void fpo_random_block(fpo_random random, uint64_t index, uint32_t words[4])
{
    /* Multipliers and key increments of the paper. */
    const uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
    const uint32_t increment0 = 0x9E3779B9, increment1 = 0xBB67AE85;
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32);
    uint32_t c2 = (uint32_t)random.stream, c3 = (uint32_t)(random.stream >> 32);
    uint32_t key0 = (uint32_t)random.seed, key1 = (uint32_t)(random.seed >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t product0 = multiplier0 * c0, product1 = multiplier1 * c2;
        c0 = (uint32_t)(product1 >> 32) ^ c1 ^ key0;
        c2 = (uint32_t)(product0 >> 32) ^ c3 ^ key1;
        c1 = (uint32_t)product1;
        c3 = (uint32_t)product0;
        key0 += increment0;
        key1 += increment1;
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
}

uint64_t fpo_random_bits(fpo_random random, uint64_t index)
{
    uint32_t words[4];
    fpo_random_block(random, index, words);
    return words[0] | (uint64_t)words[1] << 32;
}

/* Upper half of the 128-bit product. */
static uint64_t multiply_high(uint64_t x, uint64_t y)
{
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32);
    uint64_t carry = ((uint32_t)middle + x0 * y1) >> 32;
    return x1 * y1 + (middle >> 32) + carry;
}

uint64_t fpo_random_below(fpo_random random, uint64_t index, uint64_t bound)
{
    return multiply_high(fpo_random_bits(random, index), bound);
}

float fpo_random_normal(fpo_random random, uint64_t index)
{
    /* The sum of 12 integers below 2^21 has the variance 2^42 - 1, whatever their distribution's shape: a standard
     * normal is that sum, centred, over 2^21. Centred it stays below 2^24, so the float is exact. */
    enum { TERMS = 12, BITS = 21, MASK = (1 << BITS) - 1 };
    int32_t sum = -(TERMS / 2) * MASK;
    for (unsigned block = 0; block < 2; block++) {
        uint32_t w[4];
        fpo_random_block(random, 2 * index + block, w);
        /* 6 pieces of 21 bits out of 128 */
        uint64_t low = w[0] | (uint64_t)w[1] << 32, high = w[2] | (uint64_t)w[3] << 32;
        for (int piece = 0; piece < 3; piece++) {
            sum += (int32_t)(low >> BITS * piece & MASK);
            sum += (int32_t)(high >> BITS * piece & MASK);
        }
    }
    return (float)sum / (float)(1 << BITS);
}
