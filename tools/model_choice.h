/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which models a vector gets outputs of, and which are asked about. */
#ifndef FP4ORACLE_TOOLS_MODEL_CHOICE_H
#define FP4ORACLE_TOOLS_MODEL_CHOICE_H

#include <fp4oracle/spec.h>

typedef struct fpo_model_list {
    const fpo_model **models;
    size_t count;
} fpo_model_list;

/* "default": exact, and every hardware model whose instruction takes the operands, with an f32 accumulator, one pass
 * over K and a provenance that nobody contests; of models with the same numbers the last of the registry. "all": every
 * model that takes the operands. Anything else: the model of that name. Each name counts once. */
fpo_status fpo_model_list_add(fpo_model_list *list, const char *name, const fpo_operand_view *a,
                              const fpo_operand_view *b, fpo_error *error);
void fpo_model_list_free(fpo_model_list *list);

/* A hardware model that is measured, reproduced or published, with an f32 accumulator and one pass over K. */
bool fpo_is_usual_model(const fpo_model *model);

/* Whether the two give the same bits for every problem: all their numbers are equal. */
bool fpo_same_accumulation(const fpo_accumulation *x, const fpo_accumulation *y);

#endif
