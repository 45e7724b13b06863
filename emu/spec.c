/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The registry of block formats, and the spec of a right kernel for a pair of them. */
#include <fp4oracle/spec.h>

#include <string.h>

/* Registry rows name formats without their prefix; "no scales" is FORMAT_NONE, which the prefix completes too. */
static const fpo_block_format_info block_formats[FPO_BLOCK_COUNT] = {
#define FPO_BLOCK_FORMAT(ID, name, element, scale, rows, k, tensor_scale, summary)                                     \
    [FPO_BLOCK_##ID] = {name,                                                                                          \
                        summary,                                                                                       \
                        {FPO_##element, FPO_PACKING_CANONICAL, {FPO_##scale, rows, k, FPO_LAYOUT_LINEAR}},             \
                        tensor_scale},
#include <fp4oracle/block_formats.inc>
#undef FPO_BLOCK_FORMAT
};

const fpo_block_format_info *fpo_block_format_describe(fpo_block_format format)
{
    return (unsigned)format < FPO_BLOCK_COUNT ? &block_formats[format] : NULL;
}

fpo_block_format fpo_block_format_by_name(const char *name)
{
    int format = 0;
    while (format < FPO_BLOCK_COUNT && strcmp(block_formats[format].name, name) != 0)
        format++;
    return (fpo_block_format)format;
}

static int64_t blocks(int64_t n, int64_t block)
{
    return block > 0 ? n / block + (n % block != 0) : 1;
}

int64_t fpo_scale_rows(const fpo_scale_view *view, int64_t rows)
{
    return view->format == FPO_FORMAT_NONE ? 0 : blocks(rows, view->block_rows);
}

int64_t fpo_scale_columns(const fpo_scale_view *view, int64_t k)
{
    return view->format == FPO_FORMAT_NONE ? 0 : blocks(k, view->block_k);
}

/* Scales that span all of K are factors of the epilogue. */
static bool scale_in_epilogue(const fpo_block_format_info *info)
{
    return info->view.scale.format != FPO_FORMAT_NONE && info->view.scale.block_k == 0;
}

static fpo_status init_epilogue(fpo_epilogue *epilogue, const fpo_block_format_info *a, const fpo_block_format_info *b,
                                fpo_format d, fpo_error *error)
{
    size_t count = 0;
    bool a_row = scale_in_epilogue(a) && a->view.scale.block_rows > 0;
    bool b_row = scale_in_epilogue(b) && b->view.scale.block_rows > 0;
    fpo_epilogue_step *steps = epilogue->steps;

    if (a_row)
        steps[count++] = (fpo_epilogue_step){FPO_EPI_MUL, FPO_EPI_A_SCALE};
    if (b_row)
        steps[count++] = (fpo_epilogue_step){FPO_EPI_MUL, FPO_EPI_B_SCALE};
    if (scale_in_epilogue(a) && !a_row)
        steps[count++] = (fpo_epilogue_step){FPO_EPI_COEF_MUL, FPO_EPI_A_SCALE};
    if (a->tensor_scale)
        steps[count++] = (fpo_epilogue_step){FPO_EPI_COEF_MUL, FPO_EPI_A_TENSOR_SCALE};
    steps[count++] = (fpo_epilogue_step){FPO_EPI_COEF_MUL, FPO_EPI_ALPHA};
    if (scale_in_epilogue(b) && !b_row)
        steps[count++] = (fpo_epilogue_step){FPO_EPI_COEF_MUL, FPO_EPI_B_SCALE};
    if (b->tensor_scale)
        steps[count++] = (fpo_epilogue_step){FPO_EPI_COEF_MUL, FPO_EPI_B_TENSOR_SCALE};
    steps[count++] = (fpo_epilogue_step){FPO_EPI_MUL_COEF, FPO_EPI_NOTHING};
    steps[count++] = (fpo_epilogue_step){FPO_EPI_FMA_BETA_C, FPO_EPI_NOTHING};
    steps[count++] = (fpo_epilogue_step){FPO_EPI_ADD_BIAS, FPO_EPI_NOTHING};

    epilogue->d = d;
    switch (d) {
    case FPO_F32:
    case FPO_BF16:
    case FPO_F16: epilogue->d_cast = *fpo_cast_describe(FPO_CAST_IEEE); break;
    case FPO_E4M3:
    case FPO_E5M2: epilogue->d_cast = *fpo_cast_describe(FPO_CAST_PTX); break;
    case FPO_E2M1:
        epilogue->d_cast = *fpo_cast_describe(FPO_CAST_PTX);
        epilogue->d_scale = FPO_UE4M3;
        break;
    default: {
        const fpo_format_info *info = fpo_format_describe(d);
        return fpo_fail(error, FPO_ERR_ARGUMENT, "D cannot be %s: it is f32, bf16, f16, e4m3, e5m2 or e2m1",
                        info != NULL ? info->name : "of an unknown format");
    }
    }
    /* A scaled narrow output: cuBLASLt multiplies by scaleD right before the conversion. */
    if (d == FPO_E4M3 || d == FPO_E5M2 || d == FPO_E2M1)
        steps[count++] = (fpo_epilogue_step){FPO_EPI_MUL, FPO_EPI_D_SCALE};
    return FPO_OK;
}

fpo_status fpo_spec_init(fpo_gemm_spec *spec, fpo_block_format a, fpo_block_format b, const fpo_model *model,
                         fpo_format d, fpo_error *error)
{
    const fpo_block_format_info *a_info = fpo_block_format_describe(a);
    const fpo_block_format_info *b_info = fpo_block_format_describe(b);
    fpo_gemm_spec result = {0};

    if (a_info == NULL || b_info == NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "no such block format: %d", a_info == NULL ? (int)a : (int)b);
    if (model == NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "no accumulation model is given");
    result.a = (fpo_operand_spec){a_info->view, a_info->view, FPO_TENSOR_SCALE_MULTIPLY};
    result.b = (fpo_operand_spec){b_info->view, b_info->view, FPO_TENSOR_SCALE_MULTIPLY};
    result.accumulation = model->accumulation;
    fpo_status status = init_epilogue(&result.epilogue, a_info, b_info, d, error);
    if (status == FPO_OK)
        *spec = result;
    return status;
}
