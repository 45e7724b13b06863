/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Rounding ties of the output, and ladders for the accumulator: sums whose bits are chosen (bit_frame.h). Tensor scales
 * and alpha are 1. */
#include "bit_frame.h"

#include <fp4oracle/random.h>

/* Ties: a random significand of the output's format, then
 *   row % 4 = 0, 1   the tie bit and nothing below; the significand's last bit is row % 2, so that nearest-even goes
 * down and up row % 4 = 2      the tie bit and the lowest bit there is: just above row % 4 = 3      no tie bit and all
 * bits below: just below */
static void choose_tie(const fpo_frame *frame, uint64_t seed, int64_t row, const void *context,
                       fpo_frame_number *number)
{
    int mantissa_bits = *(const int *)context;
    int tie = frame->bits - 2 - mantissa_bits; /* below the leading 1 and the mantissa */
    uint64_t random = fpo_random_bits((fpo_random){seed, FPO_STREAM_ROWS}, (uint64_t)row);
    int8_t *digits = number->digits[0];
    for (int i = tie + 1; i < frame->bits - 1; i++)
        digits[i] = (int8_t)(random >> i & 1);
    digits[frame->bits - 1] = 1;
    bool on_tie = row % 4 < 2 || tie == 0;
    if (on_tie && mantissa_bits > 0)
        digits[tie + 1] = (int8_t)(row % 2);
    digits[tie] = on_tie || row % 4 == 2;
    for (int i = 0; i < tie && !on_tie; i++)
        digits[i] = row % 4 == 3 || i == 0;
}

fpo_status fpo_generate_ties(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    enum { BELOW = 8 };
    const fpo_format_info *d = fpo_format_describe(vector->spec.epilogue.d);
    if (vector->spec.epilogue.d_scale != FPO_FORMAT_NONE)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "ties: an output with block scales has no fixed ties");
    fpo_frame frame;
    int mantissa_bits = d->mantissa_bits, needed = mantissa_bits + 2;
    /* Three binades of room: the leading bit, the shift of B's rows, and what rounds up. */
    int highest = d->max_exponent - 3 < 20 ? d->max_exponent - 3 : 20;
    fpo_frame_plan plan = {
        &vector->spec.a.stored, &vector->spec.b.stored, wanted->k, needed + BELOW, highest, false, true};
    fpo_frame_build(&plan, &frame);
    if (frame.bits < needed)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "ties of %s need a sum of %d bits; K = %lld of %s and %s can only have %d", d->name, needed,
                        (long long)wanted->k, fpo_block_format_describe(wanted->a)->name,
                        fpo_block_format_describe(wanted->b)->name, frame.bits);
    return fpo_frame_fill(vector, &frame, choose_tie, &mantissa_bits, error);
}

/* Ladders: a big term, and t = 1, 2, ... bits below it (four rows each)
 *   row % 4 = 0   one small term
 *   row % 4 = 1   the same, and the big one taken away again: what is left is the small term or nothing
 *   row % 4 = 2   the same with all terms from the small one down, subtracted
 *   row % 4 = 3   the same with two equal small terms
 * The big one comes after the small ones in K, and is taken away in a block of its own where K has three blocks. */
static void choose_rung(const fpo_frame *frame, uint64_t seed, int64_t row, const void *context,
                        fpo_frame_number *number)
{
    (void)seed;
    (void)context;
    int small = frame->bits - 1 - (int)(row / 4 % frame->bits);
    number->big[0] = 1;
    number->big[1] = row % 4 == 0 ? 0 : -1;
    number->digits[0][small] = 1;
    for (int i = 0; i <= small && row % 4 == 2; i++)
        number->digits[0][i] = -1;
    number->digits[1][small] = row % 4 == 3;
}

fpo_status fpo_generate_ladder(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    const fpo_format_info *d = fpo_format_describe(vector->spec.epilogue.d);
    fpo_frame frame;
    fpo_frame_plan plan = {&vector->spec.a.stored,
                           &vector->spec.b.stored,
                           wanted->k,
                           FPO_FRAME_BITS,
                           d->max_exponent < 20 ? d->max_exponent - 1 : 20,
                           true,
                           false};
    fpo_frame_build(&plan, &frame);
    if (frame.bits < 1)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "ladder: K = %lld has room for one term", (long long)wanted->k);
    return fpo_frame_fill(vector, &frame, choose_rung, NULL, error);
}
