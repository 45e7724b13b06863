/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A search for the edits that explain an output. */
#ifndef FP4ORACLE_EMU_DIAGNOSE_SEARCH_H
#define FP4ORACLE_EMU_DIAGNOSE_SEARCH_H

#include "diagnose_output.h"

#include <fp4oracle/diagnose.h>

enum {
    FPO_SAMPLE_WRONG = 40,
    FPO_SAMPLE_RIGHT = 24,
    FPO_SAMPLE = FPO_SAMPLE_WRONG + FPO_SAMPLE_RIGHT,
    FPO_SAMPLE_WRONG_BLOCKS = 12, /* of outputs with block scales, where a block is computed as a whole */
    FPO_SAMPLE_RIGHT_BLOCKS = 6,
    FPO_LONGEST_BLOCK = 32
};

/* Everything that stays the same while hypotheses come and go. */
typedef struct fpo_search {
    const fpo_gemm_spec *spec;
    const fpo_gemm_problem *problem;
    fpo_output_view observed;
    size_t bytes, scale_bytes;
    const fpo_execution *execution;
    int64_t block;                    /* columns that share a scale; 0: the output has no scales */
    fpo_element elements[FPO_SAMPLE]; /* or blocks: row and number in the row */
    size_t sample;
    size_t wrong;        /* the first so many of the sample are wrong outputs */
    bool *wanted[2];     /* rows of A and of B that the sample needs */
    bool *first[2];      /* and those that its first unit needs */
    fpo_execution each;  /* for the sample: one thread */
    fpo_execution whole; /* for whole outputs: the caller's, without its progress */
    fpo_gemm_output expected, scratch;
    fpo_cause in_part[FPO_CAUSES]; /* single edits that explain the sampled elements of the wrong part */
    size_t in_part_count;
    double done, all; /* hypotheses, for the progress */
    fpo_diagnosis *diagnosis;
} fpo_search;

/* Elements, or blocks, spread evenly over those that differ from what is expected, and over those that do not; the
 * wrong ones first. */
fpo_status fpo_search_sample(fpo_search *search, fpo_error *error);
/* Tries these edits one by one, or two by two; what explains everything is added to the diagnosis. */
void fpo_search_singles(fpo_search *search, const fpo_edit *edits, size_t count);
/* f32 scales that a kernel takes for powers of two: together with the instructions that apply such scales, which the
 * spec's operands do not admit by themselves. */
void fpo_search_scaled_instructions(fpo_search *search, const fpo_edit *edits, size_t count);
void fpo_search_pairs(fpo_search *search, const fpo_edit *edits, size_t count);
/* What explained the wrong part of the sample, although it would change what is right if it held everywhere. */
void fpo_search_in_part(fpo_search *search);
void fpo_search_free(fpo_search *search);

#endif
