/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Constructed problems that every number of an accumulation model shows in: rows of single instructions with a C, and
 * small GEMMs. What must come out is on file (vectors/data/models/golden.txt), as the reference twin computed it. */
#ifndef FP4ORACLE_TESTS_GOLDEN_H
#define FP4ORACLE_TESTS_GOLDEN_H

#include <engine.h>

/* ---- rows (golden_rows.c) ---- */

enum { GOLDEN_ROWS = 2400, GOLDEN_K = 128, GOLDEN_SCALES = 16 };

/* Operands of rows: one operand format pair of a model. */
typedef struct golden_pair {
    fpo_format a, b, scale; /* scale: FPO_FORMAT_NONE without */
    int block_k, k;
    fpo_format accumulator;
} golden_pair;

typedef struct golden_rows {
    golden_pair pair;
    uint32_t a[GOLDEN_ROWS][GOLDEN_K], b[GOLDEN_ROWS][GOLDEN_K];
    uint32_t sa[GOLDEN_ROWS][GOLDEN_SCALES], sb[GOLDEN_ROWS][GOLDEN_SCALES];
    uint32_t c[GOLDEN_ROWS];
} golden_rows;

/* Pair number `index` of a model's rows: up to four pairs of elements, with each form of scales. False beyond. */
bool golden_pair_at(const fpo_model *model, size_t index, golden_pair *pair);
/* The same rows for the same pair, whatever the model. */
void golden_rows_make(const golden_pair *pair, golden_rows *rows);
/* Digest of what the engine, and the twin, return. step->k must divide the rows' K. */
uint64_t golden_rows_engine(const golden_rows *rows, const fpo_step *step);
uint64_t golden_rows_twin(const golden_rows *rows, const fpo_step *step);

/* ---- GEMMs (golden_gemm.c) ---- */

typedef struct golden_gemm golden_gemm;

/* GEMM number `index` for a model; NULL beyond the end. */
golden_gemm *golden_gemm_make(const fpo_model *model, size_t index);
void golden_gemm_free(golden_gemm *gemm);
bool golden_gemm_takes(const golden_gemm *gemm, const fpo_model *model);
/* False where the library refuses the accumulation. */
bool golden_gemm_engine(golden_gemm *gemm, const fpo_accumulation *accumulation, uint64_t *digest);
/* The twin, without Stream-K: its parts are taken from `engine` there. */
uint64_t golden_gemm_twin(golden_gemm *gemm, const fpo_accumulation *accumulation);

/* ---- digests ---- */

static inline uint64_t golden_digest(uint64_t digest, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        digest = (digest ^ (word >> (8 * i) & 0xFF)) * UINT64_C(1099511628211); /* FNV-1a */
    return digest;
}

#define GOLDEN_DIGEST_START UINT64_C(14695981039346656037)

#endif
