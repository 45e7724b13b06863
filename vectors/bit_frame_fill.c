/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands from a frame of bits. */
#include "bit_frame.h"

#include <fp4oracle/random.h>
#include <stdlib.h>
#include <string.h>

enum { NOWHERE = -1, BIG = FPO_FRAME_BITS };

/* Which bit an element of K is for, or the big number, and which of its places it is. */
typedef struct filling {
    const fpo_frame *frame;
    const fpo_operand_view *view;
    uint64_t seed;
    int64_t k;
    int8_t *bit_at, *place_at; /* by k */
    fpo_frame_choose choose;
    const void *context;
    /* The number of the row that was asked for last. */
    struct {
        int64_t row;
        fpo_frame_number number;
    } * current;
} filling;

static const fpo_frame_bit *find(const filling *f, int bit)
{
    return bit == BIG ? &f->frame->big : &f->frame->bit[bit];
}

static uint32_t a_element(const void *context, int64_t row, int64_t column)
{
    const filling *f = context;
    if (f->current->row != row) {
        memset(&f->current->number, 0, sizeof(f->current->number));
        f->choose(f->frame, f->seed, row, f->context, &f->current->number);
        f->current->row = row;
    }
    int bit = f->bit_at[column], place = f->place_at[column];
    const fpo_frame_number *number = &f->current->number;
    int digit = bit == NOWHERE ? 0 : bit == BIG ? number->big[place] : number->digits[place][bit];
    return digit == 0 ? 0 : fpo_code_of_power(f->view->element, digit < 0, find(f, bit)->a);
}

static uint32_t b_element(const void *context, int64_t row, int64_t column)
{
    const filling *f = context;
    int bit = f->bit_at[column];
    if (bit != NOWHERE)
        return fpo_code_of_power(f->view->element, row % 2 != 0, find(f, bit)->b);
    uint64_t random = fpo_random_bits((fpo_random){f->seed, FPO_STREAM_B}, (uint64_t)(row * f->k + column));
    return fpo_code_of_power(f->view->element, random & 1, (int)(random >> 1 & 1));
}

/* Exponent of the scale of a block of K, where scales are by block. */
static int chunk_scale(const filling *f, const int *scales, int64_t column)
{
    int64_t chunk = column * f->view->scale.block_k / f->frame->chunk;
    return f->view->scale.block_k > 0 && chunk < f->frame->chunks ? scales[chunk] : 0;
}

static uint32_t a_scale(const void *context, int64_t row, int64_t column)
{
    (void)row;
    const filling *f = context;
    return fpo_code_of_power(f->view->scale.format, false, chunk_scale(f, f->frame->a_scale, column));
}

static uint32_t b_scale(const void *context, int64_t row, int64_t column)
{
    const filling *f = context;
    int shift = f->frame->shifts && f->view->scale.block_rows > 0 ? (int)(row % 3) - 1 : 0;
    return fpo_code_of_power(f->view->scale.format, false, chunk_scale(f, f->frame->b_scale, column) + shift);
}

static void mark(const filling *f, const fpo_frame_bit *bit, int number)
{
    for (int p = 0; p < 2; p++)
        if (bit->place[p] >= 0) {
            f->bit_at[bit->place[p]] = (int8_t)number;
            f->place_at[bit->place[p]] = (int8_t)p;
        }
}

fpo_status fpo_frame_fill(fpo_vector *vector, const fpo_frame *frame, fpo_frame_choose choose, const void *context,
                          fpo_error *error)
{
    fpo_gemm_problem *problem = &vector->problem;
    filling f = {frame, NULL, vector->seed, problem->k, NULL, NULL, choose, context, NULL};
    f.bit_at = malloc((size_t)problem->k);
    f.place_at = calloc((size_t)problem->k, 1);
    f.current = malloc(sizeof(*f.current));
    fpo_status status = FPO_OK;
    if (!f.bit_at || !f.place_at || !f.current)
        status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a row of %lld", (long long)problem->k);
    if (status == FPO_OK) {
        memset(f.bit_at, NOWHERE, (size_t)problem->k);
        for (int i = 0; i < frame->bits; i++)
            mark(&f, &frame->bit[i], i);
        mark(&f, &frame->big, BIG);
        f.current->row = -1;
        f.view = &vector->spec.a.stored;
        status = fpo_fill_operand(vector, f.view, problem->m, problem->k, a_element, a_scale, &f, &problem->a, error);
    }
    if (status == FPO_OK) {
        f.view = &vector->spec.b.stored;
        status = fpo_fill_operand(vector, f.view, problem->n, problem->k, b_element, b_scale, &f, &problem->b, error);
    }
    free(f.bit_at);
    free(f.place_at);
    free(f.current);
    return status;
}
