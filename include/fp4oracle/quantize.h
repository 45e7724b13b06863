/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Quantisation: a tensor to codes, block scales and tensor scale, by a named recipe, bit for bit. */
#ifndef FP4ORACLE_QUANTIZE_H
#define FP4ORACLE_QUANTIZE_H

#include <fp4oracle/gemm.h>

FPO_BEGIN_DECLS

typedef enum fpo_recipe {
#define FPO_RECIPE(ID, name, block_format, library, summary) FPO_RECIPE_##ID,
#include <fp4oracle/recipes.inc>
#undef FPO_RECIPE
    FPO_RECIPE_COUNT
} fpo_recipe;

typedef struct fpo_recipe_info {
    const char *name;
    const char *summary;
    const char *library; /* whose recipe it is, with the versions that it was checked against */
    fpo_block_format format;
} fpo_recipe_info;

FPO_API const fpo_recipe_info *fpo_recipe_describe(fpo_recipe recipe);
FPO_API fpo_recipe fpo_recipe_by_name(const char *name); /* FPO_RECIPE_COUNT if there is none */
/* The recipe used where only the operand format is named; FPO_RECIPE_COUNT if the format has none (plain formats). */
FPO_API fpo_recipe fpo_recipe_default(fpo_block_format format);

typedef struct fpo_quantized {
    void *codes; /* canonical: rows x fpo_packing_row_bytes(CANONICAL, element, k) */
    size_t codes_bytes;
    void *scales; /* linear */
    size_t scales_bytes;
    float tensor_scale; /* in: used if given_tensor_scale; out: what was used (1 where the format has none) */
    bool given_tensor_scale;
} fpo_quantized;

/* x: rows x k, f32 (f16 and bf16 inputs are exact in it), rows contiguous. */
FPO_API fpo_status fpo_quantize(fpo_recipe recipe, const float *x, int64_t rows, int64_t k, fpo_quantized *result,
                                const fpo_execution *execution, fpo_error *error);

/* Sizes of the result. */
FPO_API size_t fpo_operand_codes_bytes(const fpo_operand_view *view, int64_t rows, int64_t k);
FPO_API size_t fpo_operand_scales_bytes(const fpo_operand_view *view, int64_t rows, int64_t k);

FPO_END_DECLS

#endif
