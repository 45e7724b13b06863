/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands filled code by code. */
#ifndef FP4ORACLE_VECTORS_OPERAND_FILL_H
#define FP4ORACLE_VECTORS_OPERAND_FILL_H

#include "generate.h"

/* The code of element (row, column), or of the scale there. */
typedef uint32_t (*fpo_code_at)(const void *context, int64_t row, int64_t column);

/* Allocates and fills the codes, and the scales where the view has them. */
fpo_status fpo_fill_operand(fpo_vector *vector, const fpo_operand_view *view, int64_t rows, int64_t k, fpo_code_at code,
                            fpo_code_at scale, const void *context, fpo_operand *operand, fpo_error *error);

/* The finite codes of a format of at most 8 bits, in order. */
typedef struct fpo_finite_codes {
    int count;
    uint8_t codes[256];
} fpo_finite_codes;

void fpo_list_finite_codes(fpo_format format, fpo_finite_codes *list);

/* The code of (-1)^negative * 2^exponent, which the format must have. */
uint32_t fpo_code_of_power(fpo_format format, bool negative, int exponent);
/* The smallest and largest exponent whose power of two the format has, within -64 to 64. */
void fpo_power_range(fpo_format format, int *smallest, int *largest);

/* Streams of random numbers, so that nothing depends on how much of another is drawn. */
enum {
    FPO_STREAM_A = 1,
    FPO_STREAM_A_SCALE,
    FPO_STREAM_A_TENSOR_SCALE,
    FPO_STREAM_B = 11,
    FPO_STREAM_B_SCALE,
    FPO_STREAM_B_TENSOR_SCALE,
    FPO_STREAM_C = 21,
    FPO_STREAM_BIAS,
    FPO_STREAM_ROWS = 31
};

/* The kinds of data, each in a file of its own: they fill both operands of a vector whose spec and shape are there. */
fpo_status fpo_generate_uniform(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_gaussian(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_codes(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_powers(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_ties(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_ladder(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_one_hot(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_unique(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_scale_codes(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_cancellation(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_step(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_zeros(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_floor(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);
fpo_status fpo_generate_special(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error);

#endif
