/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The random bits of the elements of a span, as recipe_random.c has them of one. */
#include "quantizer.h"

#include <string.h>

enum { GROUPS = FPO_CHUNK / FPO_DRAW_GROUP + 1 };

/* The bytes of the blocks' words in the order of the elements that take them. */
static void share_out(fpo_draw_rule rule, uint32_t (*words)[4], const bool *upper_first, int groups)
{
    int shifts[4];
    bool in_order = true;
    for (int j = 0; j < 4; j++) {
        shifts[j] = 8 * fpo_draw_byte(rule, j);
        in_order = in_order && shifts[j] == 8 * j;
    }
    for (int group = 0; group < groups; group++) {
        uint32_t *w = words[group], lower[2] = {w[0], w[1]};
        if (upper_first[group]) {
            memcpy(w, w + 2, sizeof lower);
            memcpy(w + 2, lower, sizeof lower);
        }
        for (int i = 0; i < 4 && !in_order; i++) {
            uint32_t word = w[i];
            w[i] = 0;
            for (int j = 0; j < 4; j++)
                w[i] |= (word >> shifts[j] & 0xFF) << 8 * j;
        }
    }
}

void fpo_span_bits(const fpo_quantizer *q, const fpo_span *span, uint32_t *bits)
{
    fpo_draws draws = {q->program->draw_rule, q->result->seed, q->rows, q->k};
    if (draws.rule == FPO_DRAW_INDEX) {
        q->kernels->random_words(draws.seed, (uint64_t)(span->row * q->k + span->begin), bits, span->count);
        return;
    }
    uint64_t streams[GROUPS], indices[GROUPS];
    uint32_t words[GROUPS][4];
    bool upper_first[GROUPS];
    int64_t first = span->begin / FPO_DRAW_GROUP, end = span->begin + span->count;
    int groups = (int)((end + FPO_DRAW_GROUP - 1) / FPO_DRAW_GROUP - first);
    for (int i = 0; i < groups; i++) {
        fpo_draw_block block = fpo_draw_block_of(&draws, span->row, first + i);
        streams[i] = block.stream;
        indices[i] = block.index;
        upper_first[i] = block.upper_first;
    }
    q->kernels->random_blocks(draws.seed, streams, indices, words[0], groups);
    share_out(draws.rule, words, upper_first, groups);
    q->kernels->draw_bits((const uint8_t *)words + span->begin % FPO_DRAW_GROUP, bits, span->count);
}

void fpo_load_random(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span)
{
    int r = q->program->random;
    if (!fpo_uses(q, r))
        return;
    uint32_t bits[FPO_CHUNK];
    fpo_span_bits(q, span, bits);
    q->kernels->draw_numbers(bits, lane->values[r], span->count);
}
