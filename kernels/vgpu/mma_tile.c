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

/* C and 32 terms, each below 2^(2 + fraction_bits): their sum is to be exact in a double. */
static bool is_single(const fpo_mma_unit *unit)
{
    enum { K = 32, MOST_BITS = 44 };
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

static void fill_numbers(fpo_mma_unit *unit, int which)
{
    enum { HALF_SIGN = 15, HALF_MANTISSA = 10, HALF_BIAS = 15 };
    fpo_format format = unit->element[which];
    const fpo_format_info *f = fpo_format_describe(format);
    unsigned shift = format == FPO_E2M1 ? 2 : 0, sign = shift + f->bits - 1u;
    fpo_tile_numbers *numbers = &unit->tile_numbers[which];
    *numbers = (fpo_tile_numbers){.sign = (uint8_t)(1u << sign),
                                  .magnitude = (uint8_t)((1u << sign) - (1u << shift)),
                                  .sign_shift = (uint8_t)(HALF_SIGN - sign),
                                  .half_shift = (uint8_t)(HALF_MANTISSA - f->mantissa_bits - shift),
                                  .power = ldexpf(1, HALF_BIAS - f->bias),
                                  .field_shift = (uint8_t)(f->mantissa_bits + shift),
                                  .bias = (uint8_t)f->bias,
                                  .special = 255};
    for (unsigned byte = 256; byte-- > 0;) {
        const fpo_mma_number *n = &unit->table[which][byte >> shift & ((1u << f->bits) - 1)];
        numbers->value[byte] = n->nonzero ? (double)n->value : 0;
        numbers->exponent[byte] = n->special ? FPO_TILE_SPECIAL : n->nonzero ? (int8_t)n->number : FPO_TILE_ZERO;
        if (n->special && byte < numbers->sign)
            numbers->special = (uint8_t)byte;
    }
}

void fpo_mma_tile_prepare(fpo_mma_unit *unit)
{
    enum { SUM_BITS = 5, DOUBLE_BITS = 53 };
    if (unit->tile == NULL)
        return;
    int span = 0; /* bits of a product, of any exponents */
    for (int which = 0; which < 2; which++) {
        const fpo_format_info *f = fpo_format_describe(unit->element[which]);
        fill_numbers(unit, which);
        unit->tile_product_bits += f->mantissa_bits;
        span += (1 << f->exponent_bits) + f->mantissa_bits + 1;
    }
    unit->tile_sums_are_exact = span + SUM_BITS <= DOUBLE_BITS;
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
