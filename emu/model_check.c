/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Whether the numbers of an accumulation make sense and leave the arithmetic room. */
#include "step.h"

/* 62 bits for a sum: a product under scales has 4 bits above its exponent, and at most 129 terms are added. Groups depend
 * on the elements: fpo_step_takes_element. */
enum { MOST_FRACTION_BITS = 41 };

static fpo_status bad(fpo_error *error, const char *field, long long value, const char *wanted)
{
    return fpo_fail(error, FPO_ERR_ARGUMENT, "accumulation: %s is %lld, must be %s", field, value, wanted);
}

static bool divides(int64_t divisor, int64_t number)
{
    return divisor > 0 && number > 0 && number % divisor == 0;
}

static fpo_status check_result(const fpo_step *step, fpo_error *error)
{
    if (step->accumulator != FPO_F32 && step->accumulator != FPO_F16)
        return bad(error, "accumulator", step->accumulator, "f32 or f16");
    const fpo_format_info *info = fpo_format_describe(step->accumulator);
    if (step->result_bits < 1 || step->result_bits > info->mantissa_bits)
        return bad(error, "result_bits", step->result_bits, "from 1 to the accumulator's mantissa bits");
    if (step->result_quantum < info->quantum || step->result_quantum > info->min_exponent)
        return bad(error, "result_quantum", step->result_quantum, "within the accumulator's subnormal range");
    if (step->overflow != FPO_NON_FINITE && step->overflow != FPO_SATURATE)
        return bad(error, "overflow", step->overflow, "non_finite or saturate");
    if (step->result_rounding == FPO_STOCHASTIC || step->term_rounding == FPO_STOCHASTIC)
        return bad(error, "rounding", FPO_STOCHASTIC, "a deterministic one");
    return FPO_OK;
}

static fpo_status check_fused(const fpo_step *step, fpo_error *error)
{
    if (step->k < 1 || step->k > FPO_STEP_MAX_K)
        return bad(error, "step k", step->k, "from 1 to 128");
    if (!divides(step->fused, step->k))
        return bad(error, "fused", step->fused, "a divisor of the step's k");
    if (!divides(step->group, step->fused))
        return bad(error, "group", step->group, "a divisor of fused");
    if (step->interleaved && (2 * step->fused != step->k || step->k % 4 != 0 || step->group != 1))
        return bad(error, "interleaved", 1, "used with two sums of single products only");
    if (step->fraction_bits < 1 || step->fraction_bits > MOST_FRACTION_BITS)
        return bad(error, "fraction_bits", step->fraction_bits, "from 1 to 41");
    if (step->e_zero < -400 || step->e_zero > 127)
        return bad(error, "e_zero", step->e_zero, "from -400 to 127");
    if (step->operand_format != FPO_FORMAT_NONE && step->operand_format != FPO_F16 &&
        step->operand_format != FPO_BF16 && step->operand_format != FPO_TF32)
        return bad(error, "operand_format", step->operand_format, "none, f16, bf16 or tf32");
    if (step->dequantised && step->operand_format == FPO_FORMAT_NONE)
        return bad(error, "dequantised", 1, "used with an operand_format");
    return check_result(step, error);
}

static fpo_status check_promotion(const fpo_step *step, const fpo_schedule *schedule, fpo_error *error)
{
    if (schedule->promote_k == 0)
        return schedule->inner_k == 0 ? FPO_OK : bad(error, "inner_k", schedule->inner_k, "0 without promotion");
    if (!divides(step->k, schedule->promote_k))
        return bad(error, "promote_k", schedule->promote_k, "a multiple of the step's k");
    if (schedule->inner_k != 0 &&
        (!divides(step->k, schedule->inner_k) || !divides(schedule->inner_k, schedule->promote_k)))
        return bad(error, "inner_k", schedule->inner_k, "a multiple of the step's k that divides promote_k");
    if (schedule->promotion > FPO_PROMOTE_MUL_B_A_ADD)
        return bad(error, "promotion", schedule->promotion, "one of fpo_promotion");
    if (schedule->promotion != FPO_PROMOTE_ADD && schedule->split == FPO_SPLIT_INTERLEAVED &&
        schedule->tile_k % schedule->promote_k != 0)
        return bad(error, "tile_k", schedule->tile_k, "a multiple of promote_k, so that a partial sum has one scale");
    return FPO_OK;
}

static fpo_status check_stream_k(const fpo_schedule *schedule, fpo_error *error)
{
    if (schedule->tile_m < 1)
        return bad(error, "tile_m", schedule->tile_m, "at least 1");
    if (schedule->tile_n < 1)
        return bad(error, "tile_n", schedule->tile_n, "at least 1");
    if (schedule->wave < 1 || schedule->wave > 65535)
        return bad(error, "wave", schedule->wave, "from 1 to 65535");
    if (schedule->min_k_tiles < 1)
        return bad(error, "min_k_tiles", schedule->min_k_tiles, "at least 1");
    if (schedule->max_groups < 1)
        return bad(error, "max_groups", schedule->max_groups, "at least 1");
    return FPO_OK;
}

static fpo_status check_split(const fpo_step *step, const fpo_schedule *schedule, fpo_error *error)
{
    if (schedule->split == FPO_SPLIT_NONE)
        return FPO_OK;
    if (schedule->split > FPO_SPLIT_STREAM_K)
        return bad(error, "split", schedule->split, "one of fpo_split_kind");
    if (!divides(step->k, schedule->tile_k))
        return bad(error, "tile_k", schedule->tile_k, "a multiple of the step's k");
    if (schedule->reduction > FPO_REDUCE_LAST_ADDS)
        return bad(error, "reduction", schedule->reduction, "one of fpo_reduction");
    if (schedule->split == FPO_SPLIT_STREAM_K)
        return check_stream_k(schedule, error);
    if (schedule->parts < 1 || schedule->parts > 65535)
        return bad(error, "parts", schedule->parts, "from 1 to 65535");
    if (schedule->quantum < 0)
        return bad(error, "quantum", schedule->quantum, "0 or more");
    return FPO_OK;
}

fpo_status fpo_accumulation_check(const fpo_accumulation *accumulation, fpo_error *error)
{
    const fpo_step *step = &accumulation->step;
    fpo_status status = FPO_OK;
    switch (step->kind) {
    case FPO_STEP_EXACT: return FPO_OK;
    case FPO_STEP_FMA:
        if (step->k != 1 || step->operand_format != FPO_F32 || !step->dequantised || step->accumulator != FPO_F32)
            return bad(error, "fma step k", step->k, "1, with operands dequantised to f32");
        break;
    case FPO_STEP_FUSED: status = check_fused(step, error); break;
    default: return bad(error, "step kind", step->kind, "one of fpo_step_kind");
    }
    if (status == FPO_OK)
        status = check_promotion(step, &accumulation->schedule, error);
    return status == FPO_OK ? check_split(step, &accumulation->schedule, error) : status;
}
