/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Naming the cause: the smallest edit of the spec whose output equals the observed bytes. */
#ifndef FP4ORACLE_DIAGNOSE_H
#define FP4ORACLE_DIAGNOSE_H

#include <fp4oracle/compare.h>
#include <fp4oracle/edit.h>
#include <fp4oracle/sign.h>

FPO_BEGIN_DECLS

typedef enum fpo_verdict {
    FPO_VERDICT_MATCH,      /* every byte is what the asked spec says */
    FPO_VERDICT_LEGITIMATE, /* every byte is what another documented model says: not a defect */
    FPO_VERDICT_FAULT,      /* every byte is what the spec says with the edits named, or plainly no result: a defect */
    FPO_VERDICT_UNEXPLAINED /* no explanation, or only such as so small an output has by chance (then they are listed)
                             */
} fpo_verdict;

enum { FPO_CAUSE_EDITS = 2, FPO_CAUSES = 16 };

/* One explanation. edit_count edits, applied in order, give the observed bytes. */
typedef struct fpo_cause {
    size_t edit_count;
    fpo_edit edits[FPO_CAUSE_EDITS];
    bool legitimate; /* another documented accumulation and nothing else */
    bool in_part;    /* the edits hold in the wrong part alone; the rest is what the asked spec says */
} fpo_cause;

typedef struct fpo_diagnosis {
    fpo_verdict verdict;
    size_t
        cause_count; /* explanations of the smallest size: if there are several, the operands cannot tell them apart */
    fpo_cause causes[FPO_CAUSES];
    size_t unconfirmed; /* more that agree on the sample and were not tried on the whole output: there was no room, or
                           it is large */
    size_t hypotheses;  /* how many were tried */
    /* The hypothesis that came closest on the sample, where none explains everything; no edits if none came closer than
     * the asked spec itself. */
    fpo_cause closest;
    size_t closest_equal, sample;
    bool sample_of_blocks;     /* the sample is of blocks that share a scale, not of elements */
    fpo_comparison comparison; /* observed against the asked spec. Of an output with block scales an element differs
                                  where its code or that of its scale does; codes are scale << 8 | code, without ulps */
    fpo_part part;             /* that differs */
    fpo_part nan;              /* that is NaN */
    fpo_sign_kind sign;        /* of the part that differs */
    bool plain;            /* the sign is the finding: the causes, if any, are among many that would end in the same */
    fpo_evidence evidence; /* of the elements that differ ... */
    double needed;         /* ... and how many bits of it an accusation takes */
} fpo_diagnosis;

FPO_API const char *fpo_verdict_name(fpo_verdict verdict);

/* D as fpo_gemm lays it out for the spec; d_scale NULL where that has none. */
typedef struct fpo_observed {
    const void *d;
    size_t d_bytes;
    const void *d_scale;
    size_t d_scale_bytes;
} fpo_observed;

FPO_API fpo_status fpo_diagnose_output(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem,
                                       const fpo_observed *observed, const fpo_execution *execution,
                                       fpo_diagnosis *diagnosis, fpo_error *error);
/* The same for outputs without block scales. */
FPO_API fpo_status fpo_diagnose(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const void *observed,
                                size_t observed_bytes, const fpo_execution *execution, fpo_diagnosis *diagnosis,
                                fpo_error *error);

FPO_END_DECLS

#endif
