/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What is plain to see in a wrong output before any hypothesis is tried, and how much a wrong output can prove. */
#ifndef FP4ORACLE_SIGN_H
#define FP4ORACLE_SIGN_H

#include <fp4oracle/gemm.h>
#include <fp4oracle/part.h>

FPO_BEGIN_DECLS

typedef enum fpo_sign_kind {
#define FPO_SIGN(ID, name, fault_class, explains, sentence) FPO_SIGN_##ID,
#include <fp4oracle/signs.inc>
#undef FPO_SIGN
    FPO_SIGN_COUNT,
    FPO_SIGN_NONE = FPO_SIGN_COUNT
} fpo_sign_kind;

typedef struct fpo_sign_info {
    const char *name;
    int fault_class;
    bool explains; /* else it only says where to look */
    const char *sentence;
} fpo_sign_info;

/* An output and what it should have been, as fpo_gemm writes them, and the part that differs. */
typedef struct fpo_wrong_output {
    fpo_format format;
    const void *expected, *observed;
    fpo_part part;
} fpo_wrong_output;

FPO_API const fpo_sign_info *fpo_sign_describe(fpo_sign_kind kind); /* NULL if there is none */

/* The first sign that holds in the whole part; FPO_SIGN_NONE without one. C is taken from the problem. */
FPO_API fpo_sign_kind fpo_sign_find(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem,
                                    const fpo_wrong_output *wrong);

/* What reproducing the wrong elements proves. An element that is off by u steps of D's format is worth log2(1+u) bits,
 * once for each pair of an expected and an observed code; more elements with a pair that was counted are worth one bit
 * each, sixteen at most. NaN, infinity, zero and the largest number, in which many mistakes end, are worth what their
 * places are: nothing where all is NaN. */
typedef struct fpo_evidence {
    int64_t elements; /* wrong ones */
    int64_t pairs;    /* different pairs among them that were counted */
    double bits;
} fpo_evidence;

FPO_API fpo_evidence fpo_evidence_weigh(const fpo_wrong_output *wrong);
/* Bits that naming one of `hypotheses` takes, so that chance alone would name one in about a thousand cases. */
FPO_API double fpo_evidence_needed(size_t hypotheses);

FPO_END_DECLS

#endif
