/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A recipe compiled: text (include/fp4oracle/recipes/) to a list of steps over registers.
 *
 *   recipe_parse.c  text -> program
 *   recipe_eval.c   the meaning of one step, on one value
 *   recipe_random.c the random bits of an element
 *   recipe_trace.c  the program over one block, one value at a time, with the text of each step (recipe_expression.c)
 *   quantize*.c     the program over a tensor: scope by scope, many values at a time */
#ifndef FP4ORACLE_EMU_RECIPE_H
#define FP4ORACLE_EMU_RECIPE_H

#include <fp4oracle/quantize.h>

typedef enum fpo_function {
#define FPO_FUNCTION(ID, name, arity, summary) FPO_FN_##ID,
#include "recipe_functions.inc"
#undef FPO_FUNCTION
    FPO_FN_COUNT
} fpo_function;

/* How often a value changes: once a tensor, ..., once an element. A step runs in the widest scope that its arguments
 * allow. SCOPE_INPUT is the element before any amax is taken. */
typedef enum fpo_scope {
    FPO_SCOPE_TENSOR,
    FPO_SCOPE_ROW,
    FPO_SCOPE_INPUT,
    FPO_SCOPE_BLOCK,
    FPO_SCOPE_TRY,
    FPO_SCOPE_ELEMENT,
    FPO_SCOPE_ERROR,
    FPO_SCOPE_COUNT
} fpo_scope;

/* Which elements an amax skips. */
typedef enum fpo_amax_rule {
    FPO_AMAX_NAN_WINS,  /* a NaN makes it NaN (torch, max.NaN) */
    FPO_AMAX_NAN_LOSES, /* NaN is skipped; NaN only where all are (fmaxf, PTX max, hmax2) */
    FPO_AMAX_EVEN_ODD,  /* even and odd elements apart, as above, then even > odd ? even : odd (FlashInfer) */
    FPO_AMAX_NAN_ZERO   /* NaN is skipped, and 0 where all are (fmaxf from a start of 0) */
} fpo_amax_rule;

/* Which bits of the generator an element's rounding takes. */
typedef enum fpo_draw_rule {
    FPO_DRAW_INDEX,       /* the first word of the block with the element's index */
    FPO_DRAW_TE_ROWS,     /* a byte, as TransformerEngine's kernel draws it that quantises rows */
    FPO_DRAW_TE_BOTH,     /* rows, where the kernel makes the transposed copy, too */
    FPO_DRAW_TE_COLUMNS,  /* that copy: x is the transposed tensor */
    FPO_DRAW_TE_ROWS_CVT, /* rows; the bytes of a word go to elements as cvt.rs takes them */
    FPO_DRAW_COUNT
} fpo_draw_rule;

/* What random bits depend on besides the element's place. */
typedef struct fpo_draws {
    fpo_draw_rule rule;
    uint64_t seed;
    int64_t rows, k; /* of the tensor */
} fpo_draws;

/* The block of the generator whose 16 bytes 16 elements of a row share, by TransformerEngine's rules. */
typedef struct fpo_draw_block {
    uint64_t stream, index;
    bool upper_first; /* words 2 and 3 are for the first eight elements */
} fpo_draw_block;

enum { FPO_DRAW_GROUP = 16 };

/* Of elements [16 * group, 16 * group + 16) of a row; not of FPO_DRAW_INDEX. */
fpo_draw_block fpo_draw_block_of(const fpo_draws *draws, int64_t row, int64_t group);
/* Which byte of its word an element takes, 0 the lowest. */
int fpo_draw_byte(fpo_draw_rule rule, int element);
/* 32 random bits of one element; where a rule gives fewer, they are the leading ones and zeros follow. */
uint32_t fpo_draw_bits(const fpo_draws *draws, int64_t row, int64_t column);
/* The leading 24 of them as a number from 0 to below 1: `random` of a recipe. */
static inline float fpo_draw_number(uint32_t bits)
{
    return (float)(int32_t)(bits >> 8) * 0x1p-24f;
}

enum { FPO_REGISTERS = 96, FPO_RECIPE_STEPS = 96, FPO_TRIES = 8, FPO_NO_REGISTER = -1 };

typedef struct fpo_register {
    const char *name; /* points into the text; NULL: an unnamed intermediate value */
    uint8_t name_length;
    uint8_t scope;
    bool constant;
    double number; /* of a constant */
} fpo_register;

typedef struct fpo_recipe_step {
    uint8_t function; /* fpo_function */
    uint8_t scope;
    bool ftz;
    bool f64; /* computed and kept in double: Python numbers; tensor scope only */
    int16_t to, argument[3];
    fpo_format format; /* of FPO_FN_ENCODE and FPO_FN_CODE */
    fpo_cast cast;
} fpo_recipe_step;

typedef struct fpo_program {
    fpo_register registers[FPO_REGISTERS];
    int register_count;
    fpo_recipe_step steps[FPO_RECIPE_STEPS];
    int step_count;
    fpo_amax_rule amax_rule[FPO_SCOPE_COUNT]; /* of the tensor's, a row's, a block's amax */
    int amax_rows, amax_k; /* region of an amax where it is larger than a block of scales: 16x16; else 0 */
    fpo_draw_rule draw_rule;
    float tries[FPO_TRIES]; /* candidates of a search, in order; the first smallest error wins */
    int try_count;          /* 0: no search */
    bool error_max;         /* the largest error counts, not the sum */
    bool error_fma;         /* errors are squared and added in one: fma(e, e, sum) */
    bool error_ftz;         /* sums of errors flush subnormals */
    int error_chunk; /* errors are added in order in chunks of this many, then the chunks pairwise; 0: in order */
    /* Registers that the engine fills in or takes out; FPO_NO_REGISTER if the text does not name them. */
    int16_t tensor_amax, row_amax, amax, raw_x, x, random, attempt;
    int16_t tensor_scale, row_scale, multiplier, row_multiplier, scale, code, error;
} fpo_program;

/* `view` gives the scale format, `dtype` (F32, BF16, F16, E4M3, E5M2) is what D() rounds to. The message of an error
 * names the place in the text. */
fpo_status fpo_recipe_compile(const char *text, const fpo_operand_view *view, fpo_format dtype, fpo_program *program,
                              fpo_error *error);

/* How scale bytes are made of scale values: exactly, and a negative one keeps its sign in bit 7, as the e4m3
 * conversions that all libraries use for ue4m3 do. */
const fpo_cast *fpo_scale_cast(void);

/* How codes are made of the values of `code`: exactly, for they are numbers of the element's format. */
const fpo_cast *fpo_code_cast(fpo_format element);

/* One step on scalars: f32 values, or doubles where the step is f64. FPO_FN_HADAMARD is not one. */
double fpo_recipe_apply(const fpo_recipe_step *step, double a, double b, double c);

/* A subnormal number is a zero of its sign. */
float fpo_flush(float x);
/* rcp.approx.ftz.f32 of an H200 (mufu.h) for loops over many numbers: two bits a mantissa, 16 mantissas a word, the
 * lowest bits first; 0, 1, 2 for one unit below, at, above the correctly rounded reciprocal. */
extern const uint32_t fpo_rcp_words[1 << 19];
/* What an H200 has for div.full.f32, div.approx.f32 and their .ftz. */
float fpo_div_approx(float a, float b, bool full, bool ftz);

#endif
