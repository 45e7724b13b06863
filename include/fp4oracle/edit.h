/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A bug is an edit of the gemm spec (or of the scalars that go with it). The catalogue of edits is edits.inc; an edit
 * is a catalogue entry with its parameters, and applying it is what a hypothesis is. */
#ifndef FP4ORACLE_EDIT_H
#define FP4ORACLE_EDIT_H

#include <fp4oracle/gemm.h>

FPO_BEGIN_DECLS

typedef enum fpo_edit_kind {
#define FPO_EDIT(ID, name, fault_class, scope, sentence) FPO_EDIT_##ID,
#include <fp4oracle/edits.inc>
#undef FPO_EDIT
    FPO_EDIT_COUNT
} fpo_edit_kind;

typedef struct fpo_edit_info {
    const char *name;
    int fault_class; /* number in docs: the 23 classes of defects seen in the field */
    bool per_operand;
    const char *sentence;
} fpo_edit_info;

enum { FPO_OPERAND_A = 1, FPO_OPERAND_B = 2 };

typedef struct fpo_edit {
    fpo_edit_kind kind;
    int operands; /* FPO_OPERAND_A, FPO_OPERAND_B or both; 0 for edits of the whole problem */
    int from, to; /* a format, a layout, a block size, an index of the model registry: what the kind says */
} fpo_edit;

FPO_API const fpo_edit_info *fpo_edit_describe(fpo_edit_kind kind);
FPO_API fpo_edit_kind fpo_edit_by_name(const char *name); /* FPO_EDIT_COUNT if there is none */

/* Every edit that this spec and problem admit (an edit that cannot change anything is left out: an absent tensor
 * scale cannot be dropped). Writes at most `capacity` edits and returns how many there are. */
FPO_API size_t fpo_edit_enumerate(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, fpo_edit *edits,
                                  size_t capacity);

/* Changes spec and problem in place. Pointers of the problem still belong to the caller. */
FPO_API void fpo_edit_apply(const fpo_edit *edit, fpo_gemm_spec *spec, fpo_gemm_problem *problem);

/* The sentence of this edit, parameters filled in. */
FPO_API void fpo_edit_sentence(const fpo_edit *edit, char *text, size_t size);
/* The parameters, "operand=A,from=linear,to=128x4", or an empty string. */
FPO_API void fpo_edit_parameters(const fpo_edit *edit, char *text, size_t size);

FPO_END_DECLS

#endif
