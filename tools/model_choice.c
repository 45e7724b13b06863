/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Lists of models by name, by default, or all. */
#include "model_choice.h"
#include "arguments.h"
#include "spec_fields.h"

#include <stdlib.h>
#include <string.h>

bool fpo_same_accumulation(const fpo_accumulation *x, const fpo_accumulation *y)
{
    return fpo_record_equal(&fpo_record_accumulation, x, y);
}

static fpo_status add(fpo_model_list *list, const fpo_model *model, fpo_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->models[i] == model)
            return FPO_OK;
    }
    const fpo_model **models = realloc(list->models, (list->count + 1) * sizeof *models);
    if (models == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu models", list->count + 1);
    list->models = models;
    models[list->count++] = model;
    return FPO_OK;
}

bool fpo_is_usual_model(const fpo_model *model)
{
    const fpo_accumulation *a = &model->accumulation;
    bool known =
        model->provenance == FPO_MEASURED || model->provenance == FPO_REPRODUCED || model->provenance == FPO_PUBLISHED;
    return known && a->step.kind == FPO_STEP_FUSED && a->step.accumulator == FPO_F32 &&
           a->schedule.split == FPO_SPLIT_NONE;
}

static bool is_repeated_later(size_t index, const fpo_operand_view *a, const fpo_operand_view *b)
{
    const fpo_model *model = fpo_model_at(index), *later;
    for (size_t i = index + 1; (later = fpo_model_at(i)) != NULL; i++) {
        if (fpo_is_usual_model(later) && fpo_model_takes(later, a, b) &&
            fpo_same_accumulation(&model->accumulation, &later->accumulation))
            return true;
    }
    return false;
}

static fpo_status add_many(fpo_model_list *list, bool all, const fpo_operand_view *a, const fpo_operand_view *b,
                           fpo_error *error)
{
    const fpo_model *model;
    fpo_status status = add(list, fpo_model_by_name("exact"), error);
    for (size_t i = 0; status == FPO_OK && (model = fpo_model_at(i)) != NULL; i++) {
        if (fpo_model_takes(model, a, b) && (all || (fpo_is_usual_model(model) && !is_repeated_later(i, a, b))))
            status = add(list, model, error);
    }
    return status;
}

fpo_status fpo_model_list_add(fpo_model_list *list, const char *name, const fpo_operand_view *a,
                              const fpo_operand_view *b, fpo_error *error)
{
    if (strcmp(name, "all") == 0 || strcmp(name, "default") == 0)
        return add_many(list, name[0] == 'a', a, b, error);
    const fpo_model *model = NULL;
    fpo_status status = fpo_parse_model(name, &model, error);
    if (status == FPO_OK && !fpo_model_takes(model, a, b))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "model %s does not take these operands; `fp4oracle list models %s` says "
                        "what it is",
                        name, name);
    return status == FPO_OK ? add(list, model, error) : status;
}

void fpo_model_list_free(fpo_model_list *list)
{
    free(list->models);
    list->models = NULL;
    list->count = 0;
}
