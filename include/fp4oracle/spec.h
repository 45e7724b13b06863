/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The gemm spec: everything that decides the bits of a kernel's output, as plain data. A bug is another value of this
 * struct. The problem holds the operands; (spec, problem) -> output is fpo_gemm in gemm.h.
 *
 *   D[m,n] = epilogue( sum_k  sfA(m,k) * A[m,k] * sfB(n,k) * B[n,k] )       A is M x K, B is N x K, D is M x N
 *
 * Scales that span all of K (block_k = 0: per tensor, per row) are factors of the epilogue (FPO_EPI_A_SCALE, _B_SCALE);
 * scales per K block belong to the accumulation: inside the instruction (ue8m0, ue4m3), or where a partial sum joins
 * the total (f32; fpo_promotion). */
#ifndef FP4ORACLE_SPEC_H
#define FP4ORACLE_SPEC_H

#include <fp4oracle/layout.h>
#include <fp4oracle/model.h>

FPO_BEGIN_DECLS

typedef struct fpo_scale_view {
    fpo_format format;  /* UE4M3, UE8M0, F32, or FPO_FORMAT_NONE */
    int32_t block_rows; /* rows that one scale covers, 0: all */
    int32_t block_k;    /* elements of K that one scale covers, 0: all */
    fpo_layout layout;
} fpo_scale_view;

/* How bytes are taken for numbers. */
typedef struct fpo_operand_view {
    fpo_format element;
    fpo_packing packing;
    fpo_scale_view scale;
} fpo_operand_view;

typedef enum fpo_tensor_scale_use {
    FPO_TENSOR_SCALE_MULTIPLY,
    FPO_TENSOR_SCALE_DIVIDE, /* fault: taken for its inverse */
    FPO_TENSOR_SCALE_IGNORE,
    FPO_TENSOR_SCALE_TWICE
} fpo_tensor_scale_use;

typedef struct fpo_operand_spec {
    fpo_operand_view stored; /* what the bytes that reach the kernel are */
    fpo_operand_view read;   /* what the kernel takes them for: the same in a kernel that is right */
    fpo_tensor_scale_use tensor_scale;
} fpo_operand_spec;

/* The epilogue is a short program over y (f32, starts as the accumulator) and a coefficient (f32, starts as 1). Each
 * operation rounds to nearest f32 unless it says otherwise. Under the exact model the same program is one exact
 * expression, rounded once at the end, and the ROUND operations do nothing. */
typedef enum fpo_epilogue_op {
    FPO_EPI_END = 0,
    FPO_EPI_COEF_MUL, /* coef = RN(coef * operand) */
    FPO_EPI_MUL,      /* y = RN(y * operand) */
    FPO_EPI_MUL_COEF, /* y = RN(y * coef) */
    FPO_EPI_FMA_COEF_ZERO, /* y = fma(coef, y, +0): turns -0 into +0 */
    FPO_EPI_FMA_COEF_BETA_C, /* y = fma(coef, y, RN(beta*C)); as FPO_EPI_FMA_COEF_ZERO where beta is 0 */
    FPO_EPI_FMA_BETA_C, /* y = fma(beta, C, y); nothing where beta is 0 */
    FPO_EPI_ADD_BIAS, /* y = RN(y + bias) */
    FPO_EPI_RELU,     /* NaN kept, else y > 0 ? y : +0 */
    FPO_EPI_ROUND_F16, /* y = f16(y), overflow to infinity */
    FPO_EPI_ROUND_BF16
} fpo_epilogue_op;

typedef enum fpo_epilogue_operand {
    FPO_EPI_NOTHING = 0,
    FPO_EPI_ALPHA,
    FPO_EPI_A_TENSOR_SCALE,
    FPO_EPI_B_TENSOR_SCALE,
    FPO_EPI_A_SCALE, /* f32 scales per tensor or per row that are not part of the accumulation */
    FPO_EPI_B_SCALE,
    FPO_EPI_D_SCALE /* reciprocal of the output's scale */
} fpo_epilogue_operand;

typedef struct fpo_epilogue_step {
    fpo_epilogue_op op;
    fpo_epilogue_operand operand;
} fpo_epilogue_step;

enum { FPO_EPILOGUE_STEPS = 12 };

typedef struct fpo_epilogue {
    fpo_epilogue_step steps[FPO_EPILOGUE_STEPS]; /* ends at FPO_EPI_END or when full */
    fpo_format c;           /* format of C, FPO_FORMAT_NONE if there is none */
    fpo_format bias;        /* format of the bias, FPO_FORMAT_NONE if there is none */
    bool bias_per_row;      /* one bias per row of D (M) instead of per column (N) */
    fpo_format d;           /* F32, BF16, F16, E4M3, E5M2; E2M1 with d_scale UE4M3 for an nvfp4 output */
    fpo_format d_scale;     /* FPO_FORMAT_NONE, or UE4M3: D is quantised per 16 columns of a row */
    fpo_cast d_cast;        /* how the final y becomes D */
} fpo_epilogue;

typedef struct fpo_gemm_spec {
    fpo_operand_spec a, b;
    fpo_accumulation accumulation;
    fpo_epilogue epilogue;
} fpo_gemm_spec;

/* Operand formats by name (block_formats.inc). */
typedef enum fpo_block_format {
#define FPO_BLOCK_FORMAT(ID, name, element, scale, rows, k, tensor_scale, summary) FPO_BLOCK_##ID,
#include <fp4oracle/block_formats.inc>
#undef FPO_BLOCK_FORMAT
    FPO_BLOCK_COUNT
} fpo_block_format;

typedef struct fpo_block_format_info {
    const char *name;
    const char *summary;
    fpo_operand_view view; /* canonical packing, linear layout */
    bool tensor_scale;     /* the format has an f32 tensor scale of its own */
} fpo_block_format_info;

FPO_API const fpo_block_format_info *fpo_block_format_describe(fpo_block_format format);
FPO_API fpo_block_format fpo_block_format_by_name(const char *name); /* FPO_BLOCK_COUNT if there is none */

/* The spec of a right kernel for this pair: canonical views, the given model, D in format d, and the epilogue
 * y*alpha (+ beta*C + bias) with every tensor scale in the coefficient. */
FPO_API fpo_status fpo_spec_init(fpo_gemm_spec *spec, fpo_block_format a, fpo_block_format b, const fpo_model *model,
                                 fpo_format d, fpo_error *error);
/* FPO_OK if the spec makes sense; otherwise the error names the field. */
FPO_API fpo_status fpo_spec_check(const fpo_gemm_spec *spec, fpo_error *error);
/* Whether the model's instruction takes these operand formats (types, scale formats, block sizes). */
FPO_API bool fpo_model_takes(const fpo_model *model, const fpo_operand_view *a, const fpo_operand_view *b);

/* Operands are always in canonical form: rows x K, codes as FPO_PACKING_CANONICAL packs each row (e2m1: 2 codes a byte,
 * ceil(K/2) bytes a row; formats of 5 to 8 bits: one a byte; f16, bf16: 2 bytes; f32, tf32: 4 bytes), scales linear,
 * [ceil(rows/block_rows), ceil(K/block_k)]. The library converts them to what `stored` says and reads them as `read`
 * says. Nothing is owned: the caller keeps all buffers alive during the call. */
typedef struct fpo_operand {
    const void *codes;
    size_t codes_bytes;
    const void *scales; /* NULL where the view has no scales */
    size_t scales_bytes;
    float tensor_scale; /* 1 where there is none */
} fpo_operand;

typedef struct fpo_gemm_problem {
    int64_t m, n, k;
    fpo_operand a, b;
    float alpha, beta; /* 1 and 0 where the caller has none */
    float d_scale;     /* FPO_EPI_D_SCALE, and the tensor scale of an nvfp4 output; 1 where there is none */
    const void *c;     /* M x N in epilogue.c, or NULL */
    const void *bias;  /* N (or M) in epilogue.bias, or NULL */
} fpo_gemm_problem;

/* Number of scales of an operand of `rows` rows and `k` columns: rows and columns of its scale matrix. */
FPO_API int64_t fpo_scale_rows(const fpo_scale_view *view, int64_t rows);
FPO_API int64_t fpo_scale_columns(const fpo_scale_view *view, int64_t k);

FPO_END_DECLS

#endif
