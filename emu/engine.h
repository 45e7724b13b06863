/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Inside fpo_gemm: operands prepared once, then tiles of D computed by an accumulator and finished by the epilogue.
 *
 *   prepare (prepare.c)  operand bytes, as stored and as read  -> codes and scales, linear
 *   accumulate           exact (exact*.c) or modelled (step*.c, schedule.c) -> one accumulator an element
 *   epilogue (epilogue.c)                                                  -> codes of D
 */
#ifndef FP4ORACLE_EMU_ENGINE_H
#define FP4ORACLE_EMU_ENGINE_H

#include <fp4oracle/gemm.h>

/* An operand as the kernel reads it. */
typedef struct fpo_prepared {
    int64_t rows, k;
    fpo_format element;
    void *codes;          /* rows x k, unpacked: fpo_load_code(element, codes, row * k + column); bits beyond the format
                             are zero */
    fpo_scale_view scale; /* as read; layout is linear here */
    int64_t scale_rows, scale_columns;
    void *scales;         /* scale_rows x scale_columns, unpacked; NULL if there are none */
    float tensor_scale;   /* after tensor_scale use: inverted, 1, squared where the spec says so */
    uint8_t *row_classes; /* for each (wanted) row: FPO_ROW_* of what it feeds into the accumulation */
} fpo_prepared;

/* Whether a row has NaN or infinite codes, among its elements or its scales per K block. Most rows have none. */
enum { FPO_ROW_NAN = 1, FPO_ROW_INFINITE = 2 };

/* `name` ("a", "b") is for error messages. On failure nothing is allocated. `wanted`: NULL, or for each row whether it
 * will be looked at; the codes of other rows may be missing. */
fpo_status fpo_prepare(const fpo_operand_spec *spec, const fpo_operand *operand, int64_t rows, int64_t k,
                       const char *name, const bool *wanted, fpo_prepared *prepared, fpo_error *error);
void fpo_prepared_free(fpo_prepared *prepared);

/* Index of the scale of element (row, column). */
static inline int64_t fpo_scale_index(const fpo_prepared *p, int64_t row, int64_t column)
{
    int64_t r = p->scale.block_rows > 0 ? row / p->scale.block_rows : 0;
    int64_t c = p->scale.block_k > 0 ? column / p->scale.block_k : 0;
    return r * p->scale_columns + c;
}

typedef struct fpo_gemm_context {
    const fpo_gemm_spec *spec;
    const fpo_gemm_problem *problem;
    fpo_prepared a, b;
    fpo_isa isa;             /* never FPO_ISA_BEST, and no more than the processor has */
    struct fpo_nvfp4 *nvfp4; /* operands repacked for the vector paths, or NULL */
} fpo_gemm_context;

/* The largest tile that fpo_gemm asks for. A multiple of 16 columns: the output quantiser's groups are never cut. */
enum { FPO_TILE_M = 64, FPO_TILE_N = 64 };

/* Rows [m0, m1) and columns [n0, n1) of D. */
typedef struct fpo_tile {
    int64_t m0, m1, n0, n1;
} fpo_tile;

/* FPO_OK if the instruction can be given such operands, right or wrong ones, and the schedule uses their scales. A
 * model takes fewer (fpo_model_takes): a fault may read what no kernel would. */
fpo_status fpo_accumulation_check_operands(const fpo_accumulation *accumulation, const fpo_operand_view *a,
                                           const fpo_operand_view *b, fpo_error *error);

/* Modelled accumulators of a tile (FPO_STEP_FMA and FPO_STEP_FUSED): acc[(m - m0) * (n1 - n0) + n - n0], before the
 * epilogue. An f16 accumulator is held exactly in the float. Every tile can be computed on its own, by any thread;
 * the result of an element depends on (m, n) and the spec alone. */
fpo_status fpo_accumulate_tile(const fpo_gemm_context *context, fpo_tile tile, float *acc, fpo_error *error);

/* Exact: accumulation and epilogue in one, since there is a single rounding. codes as acc above. With d_scale in the
 * epilogue the codes are f32 bits of y, which the output quantiser takes. */
fpo_status fpo_exact_tile(const fpo_gemm_context *context, fpo_tile tile, uint32_t *codes, fpo_error *error);

/* The epilogue's program on one modelled accumulator: the code of D (or f32 bits of y with d_scale). */
uint32_t fpo_epilogue_apply(const fpo_gemm_context *context, float acc, int64_t m, int64_t n);
/* The same for a tile of accumulators, which `codes` has the layout of. */
void fpo_epilogue_tile(const fpo_gemm_context *context, fpo_tile tile, const float *acc, uint32_t *codes);

/* What the program comes to where it only multiplies by scalars: y times each factor in turn, rounded to f32 each time,
 * or, exactly, times `product`. */
typedef struct fpo_scaling {
    bool applies;
    int count;
    float factors[FPO_EPILOGUE_STEPS];
    int scalars;    /* of the problem, in ... */
    double product; /* ... their product; each multiplication may have rounded it */
} fpo_scaling;

fpo_scaling fpo_epilogue_scaling(const fpo_gemm_context *context);

/* What the program's operations read. All are exact in f32. */
float fpo_epilogue_operand_value(const fpo_gemm_context *context, fpo_epilogue_operand operand, int64_t m, int64_t n);
/* Whether C counts: the spec has one and beta is not 0. */
bool fpo_epilogue_reads_c(const fpo_gemm_context *context);
float fpo_epilogue_c(const fpo_gemm_context *context, int64_t m, int64_t n);
float fpo_epilogue_bias(const fpo_gemm_context *context, int64_t m, int64_t n);

/* The output quantiser (spec.h) on `count` <= 32 numbers of a row, given as f32 bits: their codes replace them. Returns
 * the code of the scale. */
uint32_t fpo_quantize_output(const fpo_epilogue *epilogue, uint32_t *y, int count);

/* Shapes, sizes and pointers of a problem against its spec. `output` may be NULL. */
fpo_status fpo_problem_check(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_gemm_output *output,
                             fpo_error *error);

/* One modelled instruction chain on decoded operands, the unit that recorded rows check. a and b: step->k codes each,
 * one per storage unit of the element format; sa, sb: scale codes, step->k / block_k of them, or NULL. c and the result
 * are f32 bits (f16 bits for an f16 accumulator). */
typedef struct fpo_step_operands {
    fpo_format a_element, b_element;
    fpo_format a_scale, b_scale; /* UE8M0, UE4M3 or FPO_FORMAT_NONE */
    int block_k;
    const void *a, *b, *sa, *sb;
} fpo_step_operands;

uint32_t fpo_step_run(const fpo_step *step, const fpo_step_operands *operands, uint32_t c);

/* What the processor and this build have. */
fpo_isa fpo_isa_resolve(fpo_isa wanted);

#endif
