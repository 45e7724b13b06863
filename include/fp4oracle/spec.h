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

/* How bytes are taken for numbers. Where `read` differs from `stored`, it is the bytes of the whole stored buffer
 * (codes: rows one after the other; scales: as the stored layout places them, padding 0x00) that are taken again, by
 * the read view's own shape, packing, layout and formula. Bytes beyond the stored buffer read as 0x00. */
typedef struct fpo_operand_view {
    fpo_format element;
    fpo_packing packing;
    fpo_scale_view scale;
} fpo_operand_view;

typedef enum fpo_tensor_scale_use {
    FPO_TENSOR_SCALE_MULTIPLY,
    FPO_TENSOR_SCALE_DIVIDE, /* fault: RN(1/s) in its place */
    FPO_TENSOR_SCALE_IGNORE, /* fault: 1 */
    FPO_TENSOR_SCALE_TWICE   /* fault: RN(s*s) */
} fpo_tensor_scale_use;

typedef struct fpo_operand_spec {
    fpo_operand_view stored; /* what the bytes that reach the kernel are */
    fpo_operand_view read;   /* what the kernel takes them for: the same in a kernel that is right */
    fpo_tensor_scale_use tensor_scale;
} fpo_operand_spec;

/* The epilogue is a short program over y (f32, starts as the accumulator) and a coefficient (f32, starts as 1). Each
 * operation rounds to nearest f32 unless it says otherwise; a NaN that it makes is 0x7FFFFFFF. */
typedef enum fpo_epilogue_op {
#define FPO_EPILOGUE_OP(ID, name, takes_operand, summary) FPO_EPI_##ID,
#include <fp4oracle/epilogue_ops.inc>
#undef FPO_EPILOGUE_OP
} fpo_epilogue_op;

typedef struct fpo_epilogue_op_info {
    const char *name;
    const char *summary;
    bool takes_operand;
} fpo_epilogue_op_info;

FPO_API const fpo_epilogue_op_info *fpo_epilogue_op_describe(fpo_epilogue_op op); /* NULL if there is none */

typedef enum fpo_epilogue_operand {
    FPO_EPI_NOTHING = 0,
    FPO_EPI_ALPHA,
    FPO_EPI_A_TENSOR_SCALE,
    FPO_EPI_B_TENSOR_SCALE,
    FPO_EPI_A_SCALE, /* f32 scales per tensor or per row that are not part of the accumulation */
    FPO_EPI_B_SCALE,
    FPO_EPI_D_SCALE, /* multiplies the result before it is narrowed (cuBLASLt's scaleD): the reciprocal of what a reader
                        of D multiplies by */
} fpo_epilogue_operand;

/* What the exact model (FPO_STEP_EXACT) means by the same program:
 *  - acc = +0 + the sum of all sfA*A*sfB*B as a real number; every operation is exact, but for the ROUND operations,
 * which round the exact number. A program without them rounds once, by d_cast, when y becomes D (with d_scale: to
 * nearest f32, which the output quantiser takes).
 *  - NaN and infinities follow IEEE 754 for every product of four and for every sum: a NaN code anywhere, a scale
 *    included, makes NaN even where all products with it are zero; Inf*0 and Inf-Inf are NaN.
 *  - A zero acc is +0, as in every kernel whose accumulator starts at +0. A product with zero has the product of the
 *    signs; an exact sum that is zero is +0 unless both terms are -0.
 *  - A number that is not zero but rounds to zero keeps its sign. */

typedef struct fpo_epilogue_step {
    fpo_epilogue_op op;
    fpo_epilogue_operand operand;
} fpo_epilogue_step;

enum { FPO_EPILOGUE_STEPS = 12 };

typedef struct fpo_epilogue {
    fpo_epilogue_step steps[FPO_EPILOGUE_STEPS]; /* ends at FPO_EPI_END or when full */
    fpo_format c;                                /* format of C, FPO_FORMAT_NONE if there is none */
    fpo_format bias;                             /* format of the bias, FPO_FORMAT_NONE if there is none */
    bool bias_per_row;                           /* one bias per row of D (M) instead of per column (N) */
    fpo_format d;       /* F32, BF16, F16, E4M3, E5M2; E2M1 with d_scale UE4M3 for an nvfp4 output */
    fpo_format d_scale; /* FPO_FORMAT_NONE; UE4M3 (D in E2M1) or UE8M0 (D in E4M3 or E5M2: mxfp8): D is quantised per 16
                           or 32 columns of a row, see below */
    fpo_cast d_cast;    /* how the final y becomes D; not stochastic */
} fpo_epilogue;

/* Programs that libraries are known to run, by name (epilogues.inc). */
typedef enum fpo_epilogue_preset {
#define FPO_EPILOGUE(ID, name, summary, ...) FPO_EPILOGUE_##ID,
#include <fp4oracle/epilogues.inc>
#undef FPO_EPILOGUE
    FPO_EPILOGUE_COUNT
} fpo_epilogue_preset;

typedef struct fpo_epilogue_info {
    const char *name;
    const char *summary;
    fpo_epilogue_step steps[FPO_EPILOGUE_STEPS];
} fpo_epilogue_info;

FPO_API const fpo_epilogue_info *fpo_epilogue_describe(fpo_epilogue_preset preset);
FPO_API fpo_epilogue_preset fpo_epilogue_by_name(const char *name); /* FPO_EPILOGUE_COUNT if there is none */
/* One more step at the end of the program; false if it is full. */
FPO_API bool fpo_epilogue_append(fpo_epilogue *epilogue, fpo_epilogue_op op, fpo_epilogue_operand operand);

/* The output quantiser (cuBLAS, "output quantizer"): per 16 consecutive columns of a row (the last group may be short),
 *   amax = the largest |y|, NaN if any y is NaN;    S = ue4m3(RN(amax / 6)), to nearest even, saturating
 *   R = RN(1 / S), and 0 where S is 0;              D = e2m1(RN(y * R)) by d_cast
 * all in f32. For an mxfp8 output the same per 32 columns, with 448 (e5m2: 57344) for 6 and S = ue8m0 of the quotient,
 * away from zero, saturating. The program's last operation is where a tensor scale of the output goes
 * (FPO_EPI_D_SCALE). */

/* Columns of a row of D that share a scale; 0 for outputs without. */
FPO_API int64_t fpo_output_block(const fpo_epilogue *epilogue);
/* Scales of a row of `n` columns of D. */
FPO_API int64_t fpo_output_scale_columns(const fpo_epilogue *epilogue, int64_t n);

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
 * y = y*coef, + beta*C, + bias, with coef = RN(RN(sA*alpha)*sB) over the scales that span a whole tensor, after
 * y = RN(RN(y*sA[m])*sB[n]) for scales per row (both as cuBLASLt has them). C and bias are NONE: set their formats to
 * use them. d = E2M1 makes an nvfp4 output. */
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
    float tensor_scale;  /* 1 where there is none */
    const float *source; /* rows x K: the numbers that were quantised, or NULL; edits of the quantisation need them */
    fpo_format source_dtype; /* what those numbers are stored as, which some recipes compute in; FPO_FORMAT_NONE: f32 */
} fpo_operand;

typedef struct fpo_gemm_problem {
    int64_t m, n, k;
    fpo_operand a, b;
    float alpha, beta; /* 1 and 0 where the caller has none */
    float d_scale;     /* FPO_EPI_D_SCALE; 1 where there is none */
    const void *c;     /* M x N in epilogue.c, rows contiguous; may be NULL where it is not read */
    size_t c_bytes;
    const void *bias; /* N (or M) in epilogue.bias, or NULL where the spec has none */
    size_t bias_bytes;
} fpo_gemm_problem;

/* Number of scales of an operand of `rows` rows and `k` columns: rows and columns of its scale matrix. */
FPO_API int64_t fpo_scale_rows(const fpo_scale_view *view, int64_t rows);
FPO_API int64_t fpo_scale_columns(const fpo_scale_view *view, int64_t k);

FPO_END_DECLS

#endif
