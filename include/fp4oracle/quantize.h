/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Quantisation: a tensor to codes, block scales and tensor scale, by a named recipe, bit for bit as the library that it
 * is named after does it. A recipe is a short text (docs/recipes.md); one engine runs them all. */
#ifndef FP4ORACLE_QUANTIZE_H
#define FP4ORACLE_QUANTIZE_H

#include <fp4oracle/gemm.h>

FPO_BEGIN_DECLS

typedef enum fpo_recipe {
#define FPO_RECIPE(ID, name, operand, standing, library, source, summary, text) FPO_RECIPE_##ID,
#include <fp4oracle/recipes.inc>
#undef FPO_RECIPE
    FPO_RECIPE_COUNT
} fpo_recipe;

typedef enum fpo_recipe_standing {
    FPO_RECIPE_DEFINED,   /* this project's own, or a standard's */
    FPO_RECIPE_VERIFIED,  /* equal to what that library's own code returned, byte for byte (tests/test_recipes*.c) */
    FPO_RECIPE_UNVERIFIED /* read in the library's source; its code was not executed */
} fpo_recipe_standing;

typedef struct fpo_recipe_info {
    const char *name;
    const char *summary;
    const char *library; /* whose recipe it is, with the versions that it was checked against */
    const char *source;  /* where the library does it */
    fpo_recipe_standing standing;
    fpo_operand_view view;   /* canonical packing, linear scales */
    fpo_block_format format; /* the operand format of this view; FPO_BLOCK_COUNT if it has no name */
    const char *text;        /* the steps */
    const char *reason;      /* why it is unverified; NULL for the others */
} fpo_recipe_info;

FPO_API const fpo_recipe_info *fpo_recipe_describe(fpo_recipe recipe); /* NULL for what is no recipe */
FPO_API fpo_recipe fpo_recipe_by_name(const char *name);               /* FPO_RECIPE_COUNT if there is none */
FPO_API const char *fpo_recipe_standing_name(fpo_recipe_standing standing);
/* The recipe used where only the operand format is named; FPO_RECIPE_COUNT if the format has none (plain formats). */
FPO_API fpo_recipe fpo_recipe_default(fpo_block_format format);

typedef struct fpo_quantized {
    void *codes; /* canonical: rows x fpo_packing_row_bytes(CANONICAL, element, k) */
    size_t codes_bytes;
    void *scales; /* linear */
    size_t scales_bytes;
    /* Where the recipe has a scale per row besides the block scales, rows of them or NULL: what a GEMM multiplies the
     * row by, and the number as the library keeps it. */
    float *row_scales, *library_row_scales;
    float tensor_scale; /* out: what a GEMM multiplies this operand by; 1 where there is no tensor scale */
    /* The tensor scale as the library keeps it: modelopt the multiplier, FlashInfer its inverse, TransformerEngine the
     * amax. In: used if given_library_scale, else computed from x. Out: what was used. */
    float library_scale;
    bool given_library_scale;
    /* In: the dtype that the library is fed; x holds its values exactly. FPO_FORMAT_NONE: f32. Some libraries compute
     * in this dtype. */
    fpo_format dtype;
    uint64_t seed; /* in: of recipes that round stochastically */
} fpo_quantized;

/* x: rows x k, f32, rows contiguous. */
FPO_API fpo_status fpo_quantize(fpo_recipe recipe, const float *x, int64_t rows, int64_t k, fpo_quantized *result,
                                const fpo_execution *execution, fpo_error *error);
/* The same by a recipe of the caller's: info->view, info->text and info->name are used. */
FPO_API fpo_status fpo_quantize_by(const fpo_recipe_info *info, const float *x, int64_t rows, int64_t k,
                                   fpo_quantized *result, const fpo_execution *execution, fpo_error *error);

/* Sizes of the result. */
FPO_API size_t fpo_operand_codes_bytes(const fpo_operand_view *view, int64_t rows, int64_t k);
FPO_API size_t fpo_operand_scales_bytes(const fpo_operand_view *view, int64_t rows, int64_t k);

FPO_END_DECLS

#endif
