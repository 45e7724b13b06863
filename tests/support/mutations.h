/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every number of an accumulation, changed: what a slip in the registry would be. */
#ifndef FP4ORACLE_TESTS_MUTATIONS_H
#define FP4ORACLE_TESTS_MUTATIONS_H

#include <fp4oracle/model.h>

typedef enum change_kind { CHANGE_ADD, CHANGE_SET, CHANGE_TIMES, CHANGE_DIVIDE, CHANGE_FLIP } change_kind;

typedef struct mutation {
    const char *name;
    size_t offset, size; /* of the field, in fpo_accumulation */
    change_kind kind;
    int64_t value;
    bool (*used)(const fpo_accumulation *accumulation); /* whether the model has this number */
    /* Why the change can show on no operand of this model; NULL where it must show. */
    const char *(*silent)(const fpo_model *model);
} mutation;

extern const mutation mutations[];
extern const size_t mutation_count;

/* False where nothing changes: the number is not used, or has this value already. */
bool mutate(const mutation *m, fpo_accumulation *accumulation);

#endif
