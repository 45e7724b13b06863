/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How a kernel adds up: one instruction (fpo_step) and the order in which instructions and partial sums follow
 * (fpo_schedule). A GPU is a struct of numbers; an entry of the model registry is such a struct with a name, a
 * provenance and a source. Nothing here is code of one GPU. */
#ifndef FP4ORACLE_MODEL_H
#define FP4ORACLE_MODEL_H

#include <fp4oracle/cast.h>

FPO_BEGIN_DECLS

typedef enum fpo_step_kind {
    FPO_STEP_EXACT, /* the whole dot product is exact; one rounding, by the epilogue, at the very end */
    FPO_STEP_FMA,   /* operands RN(element * block scale) in f32, then one f32 fused multiply-add per k from +0; a NaN is
                       0x7FFFFFFF. Of fpo_step only k = 1, operand_format = F32, dequantised and accumulator = F32 count */
    FPO_STEP_FUSED  /* a tensor core: see below */
} fpo_step_kind;

/* A tensor core's step. Products are grouped; a group's sum is exact and becomes one term, with the exponent of its
 * scales (group > 1) or of its factors and scales (group = 1), not normalised. The terms, and C, are aligned to the
 * largest exponent e, cut to fraction_bits below it, and added exactly; the sum is rounded once.
 *   e = max(e_zero, exponents of the terms that enter the search)
 * A term that is not zero always enters; the flags say which zero terms do. A subnormal has its format's smallest
 * exponent, with a significand below 1. A result of -0 is +0. NaN: a NaN operand, scale or C (whatever it is multiplied
 * by), infinity times zero, and infinities of both signs; any other infinity is kept.
 * Source of the rules: facts.md 6.1. */
typedef struct fpo_step {
    fpo_step_kind kind;
    fpo_format operand_format; /* operands are converted to this first: exactly where it is wider, cut toward zero where
                                  it is narrower (f32 to tf32). FPO_FORMAT_NONE: taken as they are */
    bool dequantised;          /* the operand is RN(element * block scale) in operand_format: dequantising kernels */
    int16_t k;             /* elements of K that one instruction takes */
    int16_t fused;         /* products in one fused sum; k / fused such sums are chained */
    int16_t group;         /* products summed exactly into one term: 16 for FP4 with K = 64, else 1 */
    int16_t fraction_bits; /* kept below e */
    fpo_rounding term_rounding; /* how a term is cut: FPO_TOWARD_ZERO */
    int16_t e_zero;             /* floor of e */
    int16_t zero_exponent;      /* exponent of a zero operand or scale, where a zero term enters; 0: the smallest exponent
                                   of its format */
    bool zero_product_enters;   /* a product that is zero (group = 1) sets e by its exponent */
    bool zero_group_enters;     /* the same for a group whose products are all zero, or whose scale is zero */
    bool cancelled_group_enters; /* a group that cancels to zero sets e by its exponent */
    bool c_late;                /* C joins by one f32 (or f16) add, to nearest, after the chain instead of in the sum */
    bool interleaved;           /* two chained sums take k%4 < 2 and k%4 >= 2 instead of consecutive halves
                                   (FP8 mma.sync run as two HMMAs: kernels.md 5.2 rule 3) */
    fpo_format accumulator;     /* F32 or F16: the format of C and D */
    int16_t result_bits;        /* fraction bits of the result that are kept: 23, 13 or 10 */
    fpo_rounding result_rounding; /* FPO_TOWARD_ZERO or FPO_NEAREST_EVEN */
    int16_t result_quantum;     /* exponent of the grid on which subnormal results are cut: -149, -139, -24 */
    fpo_overflow overflow;      /* of the result: FPO_NON_FINITE, infinity although the rounding is toward zero */
    uint32_t nan;               /* the bits of a NaN result: 0x7FFFFFFF or 0x7FFF */
} fpo_step;

/* How a partial sum p over promote_k elements joins the f32 total t. sA and sB are the scales of that K block, where
 * the spec has scales outside the instruction (FP8 with f32 scales). RN rounds to f32. */
typedef enum fpo_promotion {
    FPO_PROMOTE_ADD,            /* t = RN(t + p) */
    FPO_PROMOTE_FMA_AB,         /* t = fma(p, RN(sA*sB), t) */
    FPO_PROMOTE_FMA_B_THEN_A,   /* t = fma(RN(p*sB), sA, t) */
    FPO_PROMOTE_FMA_A_THEN_B,   /* t = fma(RN(p*sA), sB, t) */
    FPO_PROMOTE_MUL_AB_ADD,     /* t = RN(t + RN(p*RN(sA*sB))): without contraction */
    FPO_PROMOTE_MUL_A_B_ADD,    /* t = RN(t + RN(RN(p*sA)*sB)) */
    FPO_PROMOTE_MUL_B_A_ADD     /* t = RN(t + RN(RN(p*sB)*sA)) */
} fpo_promotion;

typedef enum fpo_split_kind {
    FPO_SPLIT_NONE,
    FPO_SPLIT_CONTIGUOUS, /* part i takes tiles [i*q, (i+1)*q), q = ceil(tiles / parts) rounded up to `quantum` tiles */
    FPO_SPLIT_EVEN,       /* floor(tiles / parts) each, the remainder one each to the first parts */
    FPO_SPLIT_INTERLEAVED, /* tile t goes to part t mod parts */
    FPO_SPLIT_CUBLASLT,   /* q = ceil(floor(K/parts) / tile_k) rounded up to `quantum`; tiles beyond parts*q are dropped */
    FPO_SPLIT_STREAM_K    /* CUTLASS Stream-K: kernels.md 5.1 */
} fpo_split_kind;

typedef enum fpo_reduction {
    FPO_REDUCE_SERIAL,  /* ((p0 + p1) + p2) + ... */
    FPO_REDUCE_PAIRWISE, /* neighbours are added until one is left: (p0 + p1) + (p2 + p3); an odd last one waits */
    FPO_REDUCE_HALVES,   /* h = ceil(parts / 2): the last part, then + slot_0 + slot_1 ..., where slot_i = p_i + p_(i+h),
                            or p_i where i + h is the last part or beyond (cuBLASLt customOption 1 on sm89) */
    FPO_REDUCE_LAST_ADDS /* r = (p0 + p1) + ...; result p_last + r: the last part holds its registers */
} fpo_reduction;

typedef struct fpo_schedule {
    int32_t promote_k;       /* 0: never; else a partial sum starts from +0 every promote_k elements */
    int32_t inner_k;         /* 0, or a divisor of promote_k: the partial sum is itself the f32 sum (p0 + p1) + ... of
                                chains over inner_k elements, each from +0 */
    fpo_promotion promotion;
    bool swap_ab;            /* the kernel computes the transpose: A and B change roles in the instruction */
    fpo_split_kind split;
    int32_t parts;           /* number of K splits */
    int32_t tile_k;          /* elements of K in one k-tile */
    int32_t quantum;         /* tiles: see FPO_SPLIT_CONTIGUOUS */
    fpo_reduction reduction;
    bool flush_subnormals;   /* the sums of FPO_REDUCE_LAST_ADDS before its last one flush subnormal inputs and results to
                                zero, sign kept: atom.global.add.f32 */
    /* Stream-K alone: the output tile, the CTAs of a wave (number of SMs) and the smallest number of k-tiles a unit. */
    int32_t tile_m, tile_n, wave, min_k_tiles, max_groups;
} fpo_schedule;

/* Where a model's numbers come from. */
typedef enum fpo_provenance {
    FPO_DEFINED,    /* a definition, not a claim about hardware */
    FPO_MEASURED,   /* measured here, on that GPU */
    FPO_REPRODUCED, /* reproduces results that others recorded on that GPU */
    FPO_PUBLISHED,  /* claimed by a published program or paper, not checked on hardware here */
    FPO_CONTESTED,  /* an alternative to a published claim */
    FPO_ASSUMED     /* nobody has published it: a choice of this project, listed in docs */
} fpo_provenance;

typedef struct fpo_accumulation {
    fpo_step step;
    fpo_schedule schedule;
} fpo_accumulation;

enum { FPO_SCALE_FORMS = 3 };

/* A scale that an instruction takes. */
typedef struct fpo_scale_form {
    fpo_format format; /* UE8M0, UE4M3; FPO_FORMAT_NONE ends the list */
    int16_t block_k;
} fpo_scale_form;

/* What an instruction takes: fpo_model_takes in spec.h decides by this. */
typedef struct fpo_operand_forms {
    uint32_t elements; /* set of 1u << fpo_format */
    bool mixed;        /* A and B may have different element formats */
    fpo_scale_form scales[FPO_SCALE_FORMS]; /* none: the instruction has no scales */
    bool anything;     /* a definition that takes every operand (exact, fma) */
} fpo_operand_forms;

typedef struct fpo_model {
    const char *name; /* "exact", "fma_f32", "sm120_mxf4nvf4", "sm90_wgmma_fp8", ... */
    const char *summary;
    fpo_provenance provenance;
    const char *source; /* where the numbers were read or measured, for people */
    fpo_operand_forms operands;
    fpo_accumulation accumulation;
} fpo_model;

/* The registry (emu/models.c). NULL beyond the end. */
FPO_API const fpo_model *fpo_model_at(size_t index);
FPO_API const fpo_model *fpo_model_by_name(const char *name);
FPO_API const char *fpo_provenance_name(fpo_provenance provenance);

/* FPO_OK if the numbers make sense and the arithmetic has room for them; otherwise the error names the field. */
FPO_API fpo_status fpo_accumulation_check(const fpo_accumulation *accumulation, fpo_error *error);

FPO_END_DECLS

#endif
