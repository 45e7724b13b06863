/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A bug is an edit of the gemm spec, of the operands that the kernel is given, or of where its outputs end up. The
 * catalogue of edits is edits.inc; an edit is a catalogue entry with its parameters, and what it gives is a hypothesis:
 * another spec, other operands, another place for each output. */
#ifndef FP4ORACLE_EDIT_H
#define FP4ORACLE_EDIT_H

#include <fp4oracle/gemm.h>

FPO_BEGIN_DECLS

typedef enum fpo_edit_kind {
#define FPO_EDIT(ID, name, fault_class, scope, standing, group, from, to, sentence, look) FPO_EDIT_##ID,
#include <fp4oracle/edits.inc>
#undef FPO_EDIT
    FPO_EDIT_COUNT
} fpo_edit_kind;

typedef struct fpo_edit_info {
    const char *name;
    int fault_class; /* number in docs: the 23 classes of defects seen in the field */
    bool per_operand;
    bool legitimate; /* another order or accumulation that documents allow: not a defect */
    const char *sentence;
    const char *look; /* what to look for in the code of kernel and caller */
} fpo_edit_info;

enum { FPO_OPERAND_A = 1, FPO_OPERAND_B = 2 };

typedef struct fpo_edit {
    fpo_edit_kind kind;
    int operands; /* FPO_OPERAND_A, FPO_OPERAND_B or both; 0 for edits of the whole problem */
    int from, to; /* a format, a layout, a block size, an index of a registry, a number: what the kind says */
    float value;  /* a factor, where the kind has one; else 0 */
} fpo_edit;

FPO_API const fpo_edit_info *fpo_edit_describe(fpo_edit_kind kind);
FPO_API fpo_edit_kind fpo_edit_by_name(const char *name); /* FPO_EDIT_COUNT if there is none */
FPO_API bool fpo_edit_equal(const fpo_edit *x, const fpo_edit *y);

/* Every edit that this spec and problem admit (an edit that cannot change anything is left out: an absent tensor
 * scale cannot be dropped), with the parameters that are usual. Writes at most `capacity` edits and returns how many
 * there are. The diagnosis adds more, whose parameters it finds in the output (a factor, an offset, a stride). */
FPO_API size_t fpo_edit_enumerate(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, fpo_edit *edits,
                                  size_t capacity);

/* Where outputs end up: the output at (row, column) is what the spec gives for the source of it. */
typedef enum fpo_output_map {
    FPO_MAP_PLACE,      /* where it belongs */
    FPO_MAP_TRANSPOSED, /* written column by column */
    FPO_MAP_ROWS_MOVED, /* amount rows further down, the last ones first */
    FPO_MAP_COLUMNS_MOVED,
    FPO_MAP_ROWS_XOR, /* row m xor amount, where there is such a row */
    FPO_MAP_COLUMNS_XOR,
    FPO_MAP_CONSTANT, /* nothing is computed: every code is `code` */
    FPO_MAP_FLUSHED   /* where it belongs, subnormals as zeros of the same sign */
} fpo_output_map;

/* What becomes of an output with block scales after the epilogue; all zero: as the spec says. */
typedef struct fpo_output_writing {
    int recipe;               /* of the registry, plus one; 0: the spec's own quantiser */
    fpo_format scale;         /* of the scales that are written; FPO_FORMAT_NONE: the spec's */
    bool inverted;            /* scales are their inverses */
    fpo_layout written, read; /* where scales are put, and where they are looked for */
    bool nibbles_swapped;
} fpo_output_writing;

/* A spec and problem after edits. The buffers of operands that edits change are owned; the rest is the caller's, who
 * keeps it alive. */
typedef struct fpo_edited {
    fpo_gemm_spec spec;
    fpo_gemm_problem problem;
    fpo_output_map map;
    int64_t amount;
    uint32_t code;
    fpo_output_writing writing;
    /* Outputs from this row and column on are computed with alpha * part_factor; 0: there is no such part. */
    float part_factor;
    int64_t part_row, part_column;
    const bool *wanted_a, *wanted_b; /* NULL, or for each row of A and of B whether it will be looked at */
    fpo_status status;               /* of the edits applied so far */
    struct fpo_edited_memory *memory;
} fpo_edited;

/* The edits applied in order. FPO_ERR_UNSUPPORTED where they make no sense together; nothing is allocated then. */
FPO_API fpo_status fpo_edited_open(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_edit *edits,
                                   size_t count, fpo_edited *edited, fpo_error *error);
FPO_API void fpo_edited_close(fpo_edited *edited);
/* As fpo_gemm and fpo_gemm_elements. D has the size that the original spec says. Outputs with block scales (d_scale)
 * are moved before they are quantised; they take no FPO_MAP_CONSTANT and no FPO_MAP_FLUSHED. */
FPO_API fpo_status fpo_edited_gemm(const fpo_edited *edited, const fpo_gemm_output *output,
                                   const fpo_execution *execution, fpo_error *error);
FPO_API fpo_status fpo_edited_elements(const fpo_edited *edited, const fpo_element *elements, size_t count,
                                       uint32_t *codes, const fpo_execution *execution, fpo_error *error);

/* Blocks of an output with block scales: element (row, c) stands for the block c of a row. words[i * B + j] is column j
 * of block i, the code of its scale << 8 | its own code; B is fpo_output_block, and what lies beyond the last column is
 * 0. */
FPO_API fpo_status fpo_edited_blocks(const fpo_edited *edited, const fpo_element *blocks, size_t count, uint32_t *words,
                                     const fpo_execution *execution, fpo_error *error);

/* The sentence of this edit, parameters filled in. */
FPO_API void fpo_edit_sentence(const fpo_edit *edit, char *text, size_t size);
/* The parameters, "operand=A,from=linear,to=128x4", or an empty string. */
FPO_API void fpo_edit_parameters(const fpo_edit *edit, char *text, size_t size);

FPO_END_DECLS

#endif
