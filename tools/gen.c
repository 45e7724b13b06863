/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A golden vector from what the command line asks for. */
#include "gen.h"
#include "report.h"

static fpo_status make_problem(const fpo_gen_arguments *a, fpo_vector **vector, fpo_error *error)
{
    if (a->has_data)
        return fpo_generate_vector(&a->generate, vector, error);
    fpo_status status = fpo_vector_create(vector, error);
    if (status != FPO_OK)
        return status;
    return a->checkpoint != NULL ? fpo_gen_from_checkpoint(a, *vector, error) : fpo_gen_from_tensors(a, *vector, error);
}

fpo_status fpo_gen_compute(const fpo_gen_arguments *a, fpo_vector *vector, fpo_error *error)
{
    const fpo_operand_view *view_a = &vector->spec.a.read, *view_b = &vector->spec.b.read;
    fpo_model_list list = {0};
    fpo_status status = a->model_count == 0 ? fpo_model_list_add(&list, "default", view_a, view_b, error) : FPO_OK;
    for (size_t i = 0; i < a->model_count && status == FPO_OK; i++)
        status = fpo_model_list_add(&list, a->models[i], view_a, view_b, error);
    for (size_t i = 0; i < list.count && status == FPO_OK; i++) {
        char label[96];
        snprintf(label, sizeof label, "%s (%zu of %zu)", list.models[i]->name, i + 1, list.count);
        fpo_progress_line line = {.label = label};
        fpo_execution execution = {.progress = fpo_progress, .progress_context = &line};
        status = fpo_vector_compute(vector, list.models[i], &execution, error);
        fpo_progress_end(&line);
    }
    fpo_model_list_free(&list);
    return status;
}

fpo_status fpo_gen_vector(const fpo_gen_arguments *a, fpo_vector **vector, fpo_error *error)
{
    *vector = NULL;
    fpo_status status = make_problem(a, vector, error);
    if (status == FPO_OK) {
        if (a->has_alpha)
            (*vector)->problem.alpha = a->alpha;
        if (a->has_beta)
            (*vector)->problem.beta = a->beta;
        if (a->has_norm)
            (*vector)->problem.d_scale = a->norm;
        if (a->d_scale != FPO_FORMAT_NONE)
            (*vector)->spec.epilogue.d_scale = a->d_scale;
        if (a->purpose != NULL)
            (*vector)->purpose = a->purpose;
        status = fpo_gen_compute(a, *vector, error);
    }
    if (status != FPO_OK) {
        fpo_vector_free(*vector);
        *vector = NULL;
    }
    return status;
}
