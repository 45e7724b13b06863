/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the groups of edits (edit_*.c) share: the list that they enumerate into, and the tools to change operands. */
#ifndef FP4ORACLE_EMU_EDIT_PARTS_H
#define FP4ORACLE_EMU_EDIT_PARTS_H

#include <fp4oracle/edit.h>

typedef struct fpo_edit_list {
    fpo_edit *edits;
    size_t capacity, count;
} fpo_edit_list;

void fpo_edit_add(fpo_edit_list *list, fpo_edit_kind kind, int operands, int from, int to);
void fpo_edit_add_value(fpo_edit_list *list, fpo_edit_kind kind, int from, float value);

/* One operand, or both where they are of one form (A's view then). */
typedef struct fpo_edit_side {
    int operands;
    const fpo_operand_view *view;
    const fpo_operand *operand;
    int64_t rows, k;
    bool same_scales, same_elements; /* for both: their forms agree; true for one */
    bool tensor_scaled;              /* each has a tensor scale that is not 1 */
} fpo_edit_side;

/* An operand that an edit changes. */
typedef struct fpo_edit_target {
    fpo_edited *edited;
    fpo_operand_spec *spec;
    fpo_operand *operand;
    const fpo_operand *other;
    int64_t rows, k;
    const bool *wanted; /* NULL, or by row */
    bool is_a;
} fpo_edit_target;

fpo_edit_target fpo_edit_target_of(fpo_edited *edited, int operand);

/* A group of edits. Functions that a group has no use for are NULL. */
typedef struct fpo_edit_group {
    void (*enumerate_operand)(fpo_edit_list *list, const fpo_edit_side *side);
    void (*enumerate_problem)(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem);
    void (*apply_to_operand)(const fpo_edit *edit, fpo_edit_target *target);
    void (*apply_to_problem)(const fpo_edit *edit, fpo_edited *edited);
} fpo_edit_group;

extern const fpo_edit_group fpo_edits_scalar, fpo_edits_scale_code, fpo_edits_scale_place, fpo_edits_element_code,
    fpo_edits_element_place, fpo_edits_quantize, fpo_edits_loop, fpo_edits_accumulation, fpo_edits_epilogue,
    fpo_edits_output, fpo_edits_output_scale;

/* Applies edits to a spec and problem without any. Rows of operands that are not wanted may be left out. Closes
 * `edited` where they cannot be applied. */
fpo_status fpo_edits_apply(fpo_edited *edited, const fpo_edit *edits, size_t count, const bool *wanted_a,
                           const bool *wanted_b, fpo_error *error);

/* edit_blocks.c: a whole output with block scales. */
fpo_status fpo_edited_scaled_gemm(const fpo_edited *edited, const fpo_gemm_output *output,
                                  const fpo_execution *execution, fpo_error *error);
/* Whether a recipe can quantise blocks of such an output, each for itself. */
bool fpo_output_takes_recipe(const fpo_epilogue *epilogue, int recipe);

/* Whether both give a kernel the same numbers to compute with, in the same way: their outputs are the same then. */
bool fpo_edited_same(const fpo_edited *x, const fpo_edited *y);

/* `bytes` zero bytes that live as long as `edited`; NULL, and status is set, if there are none. */
void *fpo_edited_allocate(fpo_edited *edited, size_t bytes);
/* The same, not zero: a hypothesis that is tried on a sample writes some rows of a large operand and reads no others.
 */
void *fpo_edited_allocate_rows(fpo_edited *edited, size_t bytes);
/* This edit makes no sense here. */
void fpo_edited_refuse(fpo_edited *edited);

/* ---- scales as a matrix ---- */

typedef struct fpo_scale_matrix {
    fpo_format format;
    int64_t rows, columns, count;
    int64_t bytes; /* of one scale */
    const fpo_edit_target *target;
    const unsigned char *from;
} fpo_scale_matrix;

bool fpo_scale_matrix_of(const fpo_edit_target *target, fpo_scale_matrix *matrix);
uint32_t fpo_scale_code(const fpo_scale_matrix *matrix, int64_t index);
bool fpo_scale_row_wanted(const fpo_scale_matrix *matrix, int64_t row);
/* Scale (r, c) comes from the scale number source(...), or is zero bytes where that is out of range. */
typedef int64_t (*fpo_scale_source)(const fpo_edit *edit, const fpo_scale_matrix *matrix, int64_t r, int64_t c);
void fpo_scales_move(const fpo_edit *edit, fpo_edit_target *target, fpo_scale_source source);
/* Scale (r, c) becomes the number that `number` gives, which depends on its code alone unless scales are f32. They stay
 * in their format if it has all these numbers, and are bf16 otherwise: an instruction aligns a subnormal by its
 * format's smallest exponent, so that the same number in another format may give other bits. */
typedef fpo_value (*fpo_scale_number)(const fpo_edit *edit, const fpo_scale_matrix *matrix, int64_t r, int64_t c);
void fpo_scales_renumber(const fpo_edit *edit, fpo_edit_target *target, fpo_scale_number number);
/* f32 scales that an edit made powers of two, for an accumulation whose instruction applies scales: bf16, which holds
 * them exactly. Others stay as they are, and such an accumulation refuses them. */
void fpo_scales_fit_instruction(fpo_edited *edited);
/* Scale (r, c) gets the code that `code` gives, in the same format. */
typedef uint32_t (*fpo_scale_recode)(const fpo_edit *edit, const fpo_scale_matrix *matrix, int64_t r, int64_t c);
void fpo_scales_recode(const fpo_edit *edit, fpo_edit_target *target, fpo_scale_recode code);

/* ---- elements as a matrix ---- */

typedef struct fpo_code_matrix {
    fpo_format format;
    int storage_bytes; /* of a code; 0: two a byte */
    int64_t rows, k, row_bytes;
    const fpo_edit_target *target;
    const unsigned char *from;
} fpo_code_matrix;

fpo_code_matrix fpo_code_matrix_of(const fpo_edit_target *target);
uint32_t fpo_code_at(const fpo_code_matrix *matrix, int64_t row, int64_t k);
bool fpo_code_row_wanted(const fpo_edit_target *target, int64_t row);
/* A copy of the codes that an edit may change. */
unsigned char *fpo_codes_copy(fpo_edit_target *target);
void fpo_code_set(const fpo_code_matrix *matrix, unsigned char *codes, int64_t row, int64_t k, uint32_t code);
/* Row r becomes row source(...), or zeros where that is out of range. */
typedef int64_t (*fpo_row_source)(const fpo_edit *edit, const fpo_code_matrix *matrix, int64_t r);
void fpo_rows_move(const fpo_edit *edit, fpo_edit_target *target, fpo_row_source source);
/* Element (r, k) becomes element number first + k * step of the matrix, row by row, or zero where that is out of range.
 */
typedef struct fpo_code_run {
    int64_t first, step; /* step > 0 */
} fpo_code_run;
typedef fpo_code_run (*fpo_code_source)(const fpo_edit *edit, const fpo_code_matrix *matrix, int64_t r);
void fpo_codes_move(const fpo_edit *edit, fpo_edit_target *target, fpo_code_source source);
typedef uint32_t (*fpo_code_recode)(const fpo_edit *edit, fpo_format format, uint32_t code);
void fpo_codes_recode(const fpo_edit *edit, fpo_edit_target *target, fpo_code_recode recode);

#endif
