/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The random bits of the elements of a span, as recipe_random.c has them of one. */
#include "quantizer.h"

#include <string.h>

enum { GROUPS = FPO_CHUNK / FPO_DRAW_GROUP + 1 };

/* The bytes of a block's four words, each to the top of an element's bits. */
static void share_out(const fpo_draws *draws, const uint32_t *words, const bool *upper_first, uint32_t *bits,
                      int groups)
{
    int shifts[4];
    for (int j = 0; j < 4; j++)
        shifts[j] = 8 * fpo_draw_byte(draws->rule, j);
    for (int group = 0; group < groups; group++)
        for (int i = 0; i < FPO_DRAW_GROUP; i += 4) {
            uint32_t word = words[4 * group + (i / 4 ^ (upper_first[group] ? 2 : 0))];
            for (int j = 0; j < 4; j++)
                bits[FPO_DRAW_GROUP * group + i + j] = word >> shifts[j] << 24;
        }
}

void fpo_span_bits(const fpo_quantizer *q, const fpo_span *span, uint32_t *bits)
{
    fpo_draws draws = {q->program->draw_rule, q->result->seed, q->rows, q->k};
    if (draws.rule == FPO_DRAW_INDEX) {
        q->kernels->random_words(draws.seed, (uint64_t)(span->row * q->k + span->begin), bits, span->count);
        return;
    }
    uint64_t streams[GROUPS] = {0}, indices[GROUPS] = {0};
    uint32_t words[4 * GROUPS], shared[FPO_DRAW_GROUP * GROUPS];
    bool upper_first[GROUPS];
    int64_t first = span->begin / FPO_DRAW_GROUP, end = span->begin + span->count;
    int groups = (int)((end + FPO_DRAW_GROUP - 1) / FPO_DRAW_GROUP - first);
    for (int i = 0; i < groups; i++) {
        fpo_draw_block block = fpo_draw_block_of(&draws, span->row, first + i);
        streams[i] = block.stream;
        indices[i] = block.index;
        upper_first[i] = block.upper_first;
    }
    q->kernels->random_blocks(draws.seed, streams, indices, words, groups);
    share_out(&draws, words, upper_first, shared, groups);
    memcpy(bits, shared + span->begin % FPO_DRAW_GROUP, (size_t)span->count * sizeof *bits);
}

void fpo_load_random(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span)
{
    int r = q->program->random;
    if (r == FPO_NO_REGISTER || !q->used[r])
        return;
    uint32_t bits[FPO_CHUNK];
    fpo_span_bits(q, span, bits);
    for (int i = 0; i < span->count; i++)
        lane->values[r][i] = fpo_draw_number(bits[i]);
}
