/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which units the loops of mma_loops.h can serve, and what they read of a unit. */
#include "mma_tile.h"

#include <math.h>
#include <stdlib.h>

/* Cut toward zero to a f32, with C inside the one sum. */
static bool has_common_result(const fpo_step *s)
{
    return s->kind == FPO_STEP_FUSED && s->fused == s->k && s->operand_format == FPO_FORMAT_NONE && !s->dequantised &&
           !s->c_late && !s->interleaved && s->accumulator == FPO_F32 && s->result_bits <= 23 &&
           s->result_rounding == FPO_TOWARD_ZERO && s->result_quantum == -126 - s->result_bits;
}

/* A group counts up to 2^12 above its exponent: with 35 bits below, sums are below 2^50. */
static bool is_groups(const fpo_mma_unit *unit)
{
    enum { MOST_BITS = 36 };
    return unit->path.kind == FPO_FAST_GROUPS && unit->nibbles && unit->scales > 0 &&
           unit->step->fraction_bits <= MOST_BITS;
}

/* 16 terms, each below 2^(2 + fraction_bits), must fit 31 bits. */
static bool is_single(const fpo_mma_unit *unit)
{
    enum { K = 32, MOST_BITS = 25 };
    return unit->path.kind == FPO_FAST_NARROW && unit->step->k == K && unit->step->fraction_bits <= MOST_BITS &&
           unit->scales <= 1 && fpo_format_describe(unit->element[0])->bits <= 8 &&
           fpo_format_describe(unit->element[1])->bits <= 8;
}

fpo_tile_function *fpo_mma_tile_for(const fpo_mma_unit *unit, fpo_isa isa)
{
    bool groups = is_groups(unit);
    if (!has_common_result(unit->step) || (!groups && !is_single(unit)))
        return NULL;
#ifdef FPO_X86
    if (isa == FPO_ISA_AVX512)
        return groups ? fpo_tile_groups_avx512 : fpo_tile_single_avx512;
    if (isa == FPO_ISA_AVX2)
        return groups ? fpo_tile_groups_avx2 : fpo_tile_single_avx2;
#endif
    (void)isa;
    return groups ? fpo_tile_groups_portable : fpo_tile_single_portable;
}

static fpo_tile_element element_of(const fpo_mma_unit *unit, int which)
{
    const fpo_format_info *f = fpo_format_describe(unit->element[which]);
    unsigned magnitude_bits = (unsigned)f->bits - f->sign_bits;
    fpo_tile_element e = {.shift = unit->element[which] == FPO_E2M1 ? 2 : 0,
                          .sign = (uint8_t)(1u << magnitude_bits),
                          .magnitude = (uint8_t)((1u << magnitude_bits) - 1),
                          .mantissa_bits = f->mantissa_bits,
                          .special = 255,
                          .bias = (int8_t)f->bias};
    for (unsigned code = 1u << magnitude_bits; code-- > 0;)
        if (unit->table[which][code].special)
            e.special = (uint8_t)code;
    return e;
}

void fpo_mma_tile_prepare(fpo_mma_unit *unit)
{
    if (unit->tile == NULL)
        return;
    for (int which = 0; which < 2; which++)
        unit->tile_element[which] = element_of(unit, which);
    for (int code = 0; code < 256 && unit->scale != FPO_FORMAT_NONE; code++) {
        fpo_digits x = unit->scale_table[code];
        bool special = x.exponent >= FPO_EXPONENT_INFINITY, zero = special || x.significand == 0;
        unit->tile_scale[code] = (fpo_tile_scale){
            .factor = zero ? 0 : ldexp((double)x.significand, x.exponent - fpo_step_fraction(unit->scale)),
            .exponent = zero ? FPO_FAST_ABSENT : x.exponent,
            .special = special,
        };
    }
}

fpo_tile_kept *fpo_tile_kept_new(void)
{
    fpo_tile_kept *kept = aligned_alloc(64, sizeof *kept);
    if (kept != NULL)
        memset(kept, 0, sizeof *kept); /* no unit: no entry is valid */
    return kept;
}
