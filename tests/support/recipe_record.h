/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Results of libraries' quantisers (tests/data/recipes), and how they are compared with a recipe's. */
#ifndef FP4ORACLE_TESTS_RECIPE_RECORD_H
#define FP4ORACLE_TESTS_RECIPE_RECORD_H

#include "safetensors.h"

#include <fp4oracle/quantize.h>

/* How a file's tensors are to be taken. */
typedef enum fpo_record_how {
    HOW_PLAIN = 0,
    HOW_G_ROWS = 1,       /* g.CASE holds the library's tensor scale of each row: rows are quantised one by one */
    HOW_G_TENSOR = 2,     /* g.CASE holds the library's tensor scale, [1] */
    HOW_GIVEN = 4,        /* the number behind the name in the table is the library's tensor scale */
    HOW_ROW_SCALE = 8,    /* ts.CASE holds the scale of each row, besides the block scales */
    HOW_UNPACKED = 16,    /* 4-bit codes one a byte */
    HOW_GGML_16 = 32,     /* nibbles in ggml's order: low element j, high element j + 8 of 16 */
    HOW_GGML_32 = 64,     /* the same with j + 16 of 32 */
    HOW_TRANSPOSED = 128, /* the recipe takes x transposed */
    HOW_TS_GIVEN = 256,   /* ts.CASE is given to the library, not computed by it */
    HOW_FP6_DENSE = 512,  /* 6-bit codes, 4 in 3 bytes */
    HOW_BLOCKS = 1024,    /* ggml's blocks: scale bytes, then codes */
    /* A NaN has no code, or one that depends on its payload: blocks with a NaN scale are left out, and zeros where the
     * multiplier is infinite. */
    HOW_NO_NAN = 4096,
    HOW_NAN_SIGN = 8192,   /* in blocks with a NaN or an infinity, codes 7 and F are the same */
    HOW_SCALE_F32 = 16384, /* the recorded scales are F32, whatever the recipe's format */
    HOW_SEED = 32768,      /* seed.CASE holds the seed of stochastic rounding, one U64 */
    HOW_X8 = 2048,         /* the input is x8.CASE, e4m3 codes */
} fpo_record_how;

typedef struct fpo_recipe_record {
    const char *file;   /* without the dtype and .safetensors */
    const char *dtypes; /* "bf16 f32" */
    const char *recipe;
    const char *codes, *scale, *tensor_scale; /* tensors' names in front of .CASE; NULL: not recorded */
    unsigned how;
    float given;
} fpo_recipe_record;

extern const fpo_recipe_record fpo_recipe_records[];
extern const size_t fpo_recipe_record_count;

typedef struct fpo_record_result {
    int64_t bytes, different; /* of codes, scales and tensor scales; NaN sign bits aside */
    int cases;
    char first[256]; /* the first difference, for people */
} fpo_record_result;

/* Compares all cases of one table entry and dtype. `folder` has recipes/ and recipes_cuda/. */
void fpo_record_check(const char *folder, const fpo_recipe_record *entry, const char *dtype, fpo_record_result *result);

#endif
