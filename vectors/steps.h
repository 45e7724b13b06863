/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Recorded rows of single steps (docs/steps-format.md): what an instruction was seen to return, and which models return
 * the same. Row i: d = c + sum_k a[i,k] * b[i,k] * scales. */
#ifndef FP4ORACLE_VECTORS_STEPS_H
#define FP4ORACLE_VECTORS_STEPS_H

#include "safetensors.h"

#include <fp4oracle/model.h>

/* The rows of one result tensor. Buffers belong to the file that they were read from. */
typedef struct fpo_step_rows {
    const char *label;  /* the result's tensor: "d", "d_fp32", "d_fp16" */
    const char *origin; /* what the file says of the instruction or GPU; "" if nothing */
    int64_t rows;
    int k;
    fpo_format a_element, b_element;
    fpo_format scale; /* of both operands, FPO_FORMAT_NONE without scales */
    int block_k;
    fpo_format accumulator; /* F32 or F16: of c and d */
    const uint8_t *a, *b;   /* rows x k codes, storage_bytes each */
    const uint8_t *sa, *sb; /* rows x k / block_k, or NULL */
    const uint32_t *c, *d;  /* bits of the accumulator format */
    bool c_ignored;         /* the file's c did not take part: c is all zeros here */
} fpo_step_rows;

typedef struct fpo_steps fpo_steps;

fpo_status fpo_steps_open(const char *path, fpo_steps **steps, fpo_error *error);
/* The same on a file that is open; `file` must outlive `steps`. */
fpo_status fpo_steps_read(const fpo_safetensors *file, fpo_steps **steps, fpo_error *error);
void fpo_steps_close(fpo_steps *steps); /* NULL is fine */
size_t fpo_steps_count(const fpo_steps *steps);
const fpo_step_rows *fpo_steps_at(const fpo_steps *steps, size_t index);

/* Whether `model` is a single instruction for rows like these: element and scale formats, accumulator, length. */
bool fpo_steps_applicable(const fpo_step_rows *rows, const fpo_model *model);
/* The same for an instruction that is run several times on a row. */
bool fpo_steps_chainable(const fpo_step_rows *rows, const fpo_model *model);

enum { FPO_STEPS_FIRST = 10 };

typedef struct fpo_steps_result {
    int64_t rows, different;
    size_t first_count;
    struct {
        int64_t row;
        uint32_t expected, recorded; /* bits: the model's, the file's */
    } first[FPO_STEPS_FIRST];
} fpo_steps_result;

/* Every row under one step. step->k must divide the rows' k; shorter steps are chained. */
void fpo_steps_compare(const fpo_step_rows *rows, const fpo_step *step, fpo_steps_result *result);

#endif
