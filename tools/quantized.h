/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A tensor of a file as numbers, and what a recipe makes of it: for quantize, and for gen's operands. */
#ifndef FP4ORACLE_TOOLS_QUANTIZED_H
#define FP4ORACLE_TOOLS_QUANTIZED_H

#include <fp4oracle/fp4oracle.h>
#include <jansson.h>

typedef struct fpo_tensor_numbers {
    int64_t rows, k;
    float *values;
    fpo_format dtype; /* f32, f16 or bf16: what the library would be fed */
} fpo_tensor_numbers;

/* FILE[:TENSOR] of f32, f16 or bf16, of which the last dimension is K; or DIR:LAYER of a quantised checkpoint, which is
 * dequantised to f32. */
fpo_status fpo_tensor_numbers_read(const char *argument, fpo_tensor_numbers *numbers, fpo_error *error);
void fpo_tensor_numbers_free(fpo_tensor_numbers *numbers);

typedef struct fpo_quantized_tensor {
    fpo_recipe recipe;
    fpo_operand_view view;
    int64_t rows, k;
    fpo_quantized data;
    bool has_tensor_scale; /* the recipe has one, or the format does */
} fpo_quantized_tensor;

/* "nvfp4"; "e2m1/ue4m3 1x16" for an operand format without a name. */
typedef struct fpo_format_text {
    char text[48];
} fpo_format_text;

fpo_format_text fpo_recipe_format_text(const fpo_recipe_info *recipe);

/* library_scale: the tensor scale as the library keeps it; NULL for what the recipe computes from the tensor. seed: of
 * stochastic rounding. */
fpo_status fpo_quantize_tensor(fpo_recipe recipe, const fpo_tensor_numbers *numbers, const float *library_scale,
                               uint64_t seed, fpo_quantized_tensor *result, fpo_error *error);
void fpo_quantized_tensor_free(fpo_quantized_tensor *tensor);

/* codes, scale, tensor_scale and row_scale where there are such; `source` is named in the metadata. */
fpo_status fpo_quantized_write(const char *path, const fpo_quantized_tensor *tensor, fpo_layout layout,
                               const char *source, fpo_error *error);

/* What became of the numbers. */
typedef struct fpo_quantized_summary {
    int64_t elements, zeros, largest, clipped,
        nans; /* codes that are 0, of the largest magnitude, smaller than x, NaN */
    int64_t scales, zero_scales;
    uint32_t least_scale, most_scale;          /* codes, of the scales that are numbers */
    double mean_square_error, signal_to_noise; /* decibel */
} fpo_quantized_summary;

fpo_quantized_summary fpo_quantized_summarise(const fpo_quantized_tensor *tensor, const fpo_tensor_numbers *numbers);
json_t *fpo_quantized_summary_json(const fpo_quantized_tensor *tensor, const fpo_quantized_summary *summary,
                                   const char *output);
int fpo_quantized_summary_print(const fpo_quantized_tensor *tensor, const fpo_quantized_summary *summary,
                                const char *input, const char *output);

#endif
