/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Whether a spec makes sense: every enumeration in range, every size a size, and no field that contradicts another. */
#include "engine.h"

static const char *format_name(fpo_format format)
{
    const fpo_format_info *info = fpo_format_describe(format);
    return info != NULL ? info->name : "unknown";
}

static bool is_format(fpo_format format)
{
    return (unsigned)format < FPO_FORMAT_COUNT && format != FPO_FORMAT_NONE;
}

static fpo_status check_view(const fpo_operand_view *view, const char *operand, const char *which, fpo_error *error)
{
    const fpo_scale_view *scale = &view->scale;

    if (!is_format(view->element))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s.%s.element: %d is no number format", operand, which,
                        (int)view->element);
    if ((unsigned)view->packing >= FPO_PACKING_COUNT)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s.%s.packing: %d is no packing", operand, which, (int)view->packing);
    if ((unsigned)scale->format >= FPO_FORMAT_COUNT)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s.%s.scale.format: %d is no number format", operand, which,
                        (int)scale->format);
    if ((unsigned)scale->layout >= FPO_LAYOUT_COUNT)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s.%s.scale.layout: %d is no layout", operand, which,
                        (int)scale->layout);
    if (scale->block_rows < 0 || scale->block_k < 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s.%s.scale: a block of %d rows by %d elements of K", operand, which,
                        scale->block_rows, scale->block_k);
    return FPO_OK;
}

static fpo_status check_operand(const fpo_operand_spec *spec, const char *name, fpo_error *error)
{
    fpo_status status = check_view(&spec->stored, name, "stored", error);
    if (status == FPO_OK)
        status = check_view(&spec->read, name, "read", error);
    if (status != FPO_OK)
        return status;
    if (spec->read.scale.format != FPO_FORMAT_NONE && spec->stored.scale.format == FPO_FORMAT_NONE)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s.read has %s scales, %s.stored has none", name,
                        format_name(spec->read.scale.format), name);
    if ((unsigned)spec->tensor_scale > FPO_TENSOR_SCALE_TWICE)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s.tensor_scale: %d is no use of a tensor scale", name,
                        (int)spec->tensor_scale);
    return FPO_OK;
}

static fpo_status check_steps(const fpo_gemm_spec *spec, fpo_error *error)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS && spec->epilogue.steps[i].op != FPO_EPI_END; i++) {
        fpo_epilogue_step step = spec->epilogue.steps[i];
        const fpo_epilogue_op_info *op = fpo_epilogue_op_describe(step.op);
        if (op == NULL || (unsigned)step.operand > FPO_EPI_D_SCALE)
            return fpo_fail(error, FPO_ERR_ARGUMENT, "epilogue.steps[%d]: no operation %d with operand %d", i,
                            (int)step.op, (int)step.operand);
        if (op->takes_operand != (step.operand != FPO_EPI_NOTHING))
            return fpo_fail(error, FPO_ERR_ARGUMENT, "epilogue.steps[%d]: %s %s an operand", i, op->name,
                            op->takes_operand ? "needs" : "does not take");
        if (step.operand != FPO_EPI_A_SCALE && step.operand != FPO_EPI_B_SCALE)
            continue;
        bool is_a = step.operand == FPO_EPI_A_SCALE;
        const fpo_scale_view *scale = is_a ? &spec->a.read.scale : &spec->b.read.scale;
        if (scale->format == FPO_FORMAT_NONE || scale->block_k != 0)
            return fpo_fail(error, FPO_ERR_ARGUMENT,
                            "epilogue.steps[%d]: the scales of %c do not span K (format %s, block of %d), so they are "
                            "no factor of the epilogue",
                            i, is_a ? 'a' : 'b', format_name(scale->format), scale->block_k);
    }
    return FPO_OK;
}

static fpo_status check_cast(const fpo_cast *cast, fpo_error *error)
{
    if ((unsigned)cast->rounding >= FPO_STOCHASTIC)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "epilogue.d_cast.rounding: %d cannot round D", (int)cast->rounding);
    if ((unsigned)cast->overflow > FPO_NON_FINITE || (unsigned)cast->infinity > FPO_NON_FINITE ||
        (unsigned)cast->nan > FPO_NAN_IEEE || (unsigned)cast->no_nan > FPO_NO_NAN_ZERO_OPPOSITE ||
        (unsigned)cast->negative > FPO_NEGATIVE_KEEP_BIT7 || (unsigned)cast->no_zero > FPO_NO_ZERO_NAN)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "epilogue.d_cast: no such policy");
    return FPO_OK;
}

static bool is_wide_float(fpo_format format)
{
    return format == FPO_F32 || format == FPO_BF16 || format == FPO_F16;
}

static fpo_status check_epilogue(const fpo_gemm_spec *spec, fpo_error *error)
{
    const fpo_epilogue *e = &spec->epilogue;

    if (e->c != FPO_FORMAT_NONE && !is_wide_float(e->c))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "epilogue.c: C is f32, bf16 or f16, not %s", format_name(e->c));
    if (e->bias != FPO_FORMAT_NONE && !is_wide_float(e->bias))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "epilogue.bias: a bias is f32, bf16 or f16, not %s",
                        format_name(e->bias));
    bool fp8 = e->d == FPO_E4M3 || e->d == FPO_E5M2;
    bool nvfp4 = e->d == FPO_E2M1 && e->d_scale == FPO_UE4M3, mxfp8 = fp8 && e->d_scale == FPO_UE8M0;
    if (e->d_scale != FPO_FORMAT_NONE ? !nvfp4 && !mxfp8 : !fp8 && !is_wide_float(e->d))
        return fpo_fail(error, FPO_ERR_ARGUMENT,
                        "epilogue: D in %s with block scales in %s; D is f32, bf16, f16, e4m3 or e5m2, e2m1 with ue4m3 "
                        "scales, or e4m3 or e5m2 with ue8m0 scales",
                        format_name(e->d), format_name(e->d_scale));
    fpo_status status = check_cast(&e->d_cast, error);
    return status == FPO_OK ? check_steps(spec, error) : status;
}

fpo_status fpo_spec_check(const fpo_gemm_spec *spec, fpo_error *error)
{
    fpo_status status = check_operand(&spec->a, "a", error);
    if (status == FPO_OK)
        status = check_operand(&spec->b, "b", error);
    if (status == FPO_OK)
        status = check_epilogue(spec, error);
    if (status == FPO_OK)
        status = fpo_accumulation_check(&spec->accumulation, error);
    return status == FPO_OK ? fpo_accumulation_check_operands(&spec->accumulation, &spec->a.read, &spec->b.read, error)
                            : status;
}
