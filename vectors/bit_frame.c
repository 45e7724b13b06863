/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where the bits of a chosen sum go. */
#include "bit_frame.h"

#include <string.h>

enum { EXPONENT_LIMIT = 24 }; /* wider ranges are of no use: sums stay far from what f32 cannot hold */

/* What an operand can do: powers of two of its elements, and of scales that differ by block of K. */
typedef struct reach {
    int least, most;
    int scale_least, scale_most;
    int64_t block; /* 0: no scales by block */
} reach;

static int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* The number in [least, most] that is nearest to x. */
static int nearest(int x, int least, int most)
{
    return (int)smaller(larger(x, least), most);
}

static void power_range(fpo_format format, int *least, int *most)
{
    fpo_power_range(format, least, most);
    *least = (int)larger(*least, -EXPONENT_LIMIT);
    *most = (int)smaller(*most, EXPONENT_LIMIT);
}

static reach reach_of(const fpo_operand_view *view, bool shifts)
{
    reach r = {0};
    power_range(view->element, &r.least, &r.most);
    if (view->scale.format != FPO_FORMAT_NONE && view->scale.block_k > 0) {
        r.block = view->scale.block_k;
        power_range(view->scale.format, &r.scale_least, &r.scale_most);
        r.scale_least += shifts; /* by one either way */
        r.scale_most -= shifts;
    }
    return r;
}

/* The exponents of two elements whose product is 2^product. */
static void split_product(const reach *a, const reach *b, int product, fpo_frame_bit *bit)
{
    bit->a = nearest(product, (int)larger(a->least, product - b->most), (int)smaller(a->most, product - b->least));
    bit->b = product - bit->a;
}

/* The scales of the next chunk, together 2^shift or, where that cannot be, the nearest that can. */
static int place_chunk(const reach *a, const reach *b, int shift, fpo_frame *frame)
{
    int a_shift = nearest(shift / 2, a->scale_least, a->scale_most);
    int b_shift = nearest(shift - a_shift, b->scale_least, b->scale_most);
    a_shift = nearest(shift - b_shift, a->scale_least, a->scale_most);
    frame->a_scale[frame->chunks] = a_shift;
    frame->b_scale[frame->chunks] = b_shift;
    frame->chunks++;
    return a_shift + b_shift;
}

/* The bits, from the highest that is at most 2^highest down, in the first `k` elements. */
static void place_bits(const reach *a, const reach *b, int64_t k, int bits, int highest, fpo_frame *frame)
{
    int least = a->least + b->least, most = a->most + b->most; /* of a product without scales */
    int width = (int)smaller(most - least + 1, smaller(frame->chunk, k));
    int64_t chunks = k / frame->chunk + (k % frame->chunk >= width);
    int top = (int)smaller(highest, most + a->scale_most + b->scale_most);
    int bottom = least + a->scale_least + b->scale_least, shift = 0;
    frame->bits =
        (int)smaller(smaller(bits, FPO_FRAME_BITS), smaller(smaller(chunks, FPO_FRAME_BITS) * width, top - bottom + 1));
    frame->lowest = top - frame->bits + 1;
    for (int i = 0; i < frame->bits; i++) {
        int exponent = frame->lowest + i, in_chunk = i % width;
        if (in_chunk == 0) { /* scales as near to 1 as the bits of the chunk allow */
            int last = (int)smaller(exponent + width - 1, top);
            shift = place_chunk(a, b, nearest(0, last - most, exponent - least), frame);
        }
        int64_t begin = (frame->chunks - 1) * frame->chunk, end = smaller(begin + frame->chunk, k);
        fpo_frame_bit *bit = &frame->bit[i];
        split_product(a, b, exponent - shift, bit);
        bit->place[0] = begin + in_chunk;
        bit->place[1] = begin + in_chunk + width < end ? begin + in_chunk + width : -1;
    }
}

/* Two more chunks, each with one product, the smallest there is, under the largest scales: a hardware step that takes a
 * term's exponent from its scales aligns everything else as far above it as it can. */
static void place_big(const reach *a, const reach *b, int highest, fpo_frame *frame)
{
    int least = a->least + b->least, shift = 0;
    for (int i = 0; i < 2; i++) {
        frame->big.place[i] = frame->chunks * frame->chunk;
        shift = place_chunk(a, b, highest - least, frame);
    }
    frame->big_exponent = (int)smaller(highest, a->most + b->most + shift);
    split_product(a, b, frame->big_exponent - shift, &frame->big);
}

void fpo_frame_build(const fpo_frame_plan *plan, fpo_frame *frame)
{
    reach a = reach_of(plan->a, plan->shifts), b = reach_of(plan->b, plan->shifts);
    memset(frame, 0, sizeof(*frame));
    bool scaled = a.block || b.block;
    frame->chunk = scaled ? larger(a.block, b.block) : plan->k;
    frame->shifts = plan->shifts;
    frame->big.place[0] = frame->big.place[1] = -1;
    if (plan->big && plan->k >= 3 * frame->chunk) {
        int largest = a.least + b.least + a.scale_most + b.scale_most;
        int big = (int)smaller(plan->highest, largest);
        place_bits(&a, &b, plan->k - 2 * frame->chunk, plan->bits, big - 1, frame);
        place_big(&a, &b, big, frame);
        return;
    }
    place_bits(&a, &b, plan->k, plan->bits, plan->highest, frame);
    if (plan->big && frame->bits > 0) { /* the highest bit serves */
        frame->bits--;
        frame->big = frame->bit[frame->bits];
        frame->big_exponent = frame->lowest + frame->bits;
    }
}
