/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The summary of a vector: operands, output, and in how many elements its models differ. */
#include "gen_report.h"
#include "report.h"
#include "table.h"

#include <fp4oracle/compare.h>
#include <inttypes.h>

static bool same_view(const fpo_operand_view *x, const fpo_operand_view *y)
{
    return x->element == y->element && x->scale.format == y->scale.format &&
           x->scale.block_rows == y->scale.block_rows && x->scale.block_k == y->scale.block_k;
}

const char *fpo_operand_name(const fpo_operand_view *view)
{
    for (int f = 0; f < FPO_BLOCK_COUNT; f++) {
        const fpo_block_format_info *info = fpo_block_format_describe((fpo_block_format)f);
        if (same_view(view, &info->view))
            return info->name;
    }
    return fpo_format_describe(view->element)->name;
}

static const char *output_name(const fpo_epilogue *epilogue)
{
    if (epilogue->d_scale == FPO_UE8M0)
        return epilogue->d == FPO_E4M3 ? "mxfp8_e4m3" : "mxfp8_e5m2";
    return epilogue->d_scale != FPO_FORMAT_NONE ? "nvfp4" : fpo_format_describe(epilogue->d)->name;
}

/* Elements in which a model's output differs from the first model's; -1 if that cannot be said. */
static int64_t differences(const fpo_vector *vector, size_t index, fpo_comparison *comparison)
{
    const fpo_expected *first = &vector->expected[0], *other = &vector->expected[index];
    if (first->d == NULL || other->d == NULL)
        return -1;
    fpo_compare(vector->spec.epilogue.d, vector->problem.m, vector->problem.n, first->d, other->d, comparison);
    return comparison->different;
}

void fpo_gen_report_print(const fpo_vector *vector, const char *path)
{
    const fpo_gemm_problem *p = &vector->problem;
    fpo_heading("%s", path);
    printf("  %-10s %" PRId64 " x %" PRId64 " x %" PRId64 "\n", "M x N x K", p->m, p->n, p->k);
    printf("  %-10s %s x %s -> %s\n", "formats", fpo_operand_name(&vector->spec.a.read),
           fpo_operand_name(&vector->spec.b.read), output_name(&vector->spec.epilogue));
    printf("  %-10s %s, seed %" PRIu64 "\n", "data", vector->data, vector->seed);
    if (vector->purpose[0] != '\0')
        printf("  %-10s %s\n", "purpose", vector->purpose);
    printf("  %-10s alpha %.9g, beta %.9g, tensor scales %.9g and %.9g\n\n", "scalars", (double)p->alpha,
           (double)p->beta, (double)p->a.tensor_scale, (double)p->b.tensor_scale);
    fpo_table *table = fpo_table_new(4);
    fpo_table_add(table, "output");
    fpo_table_add(table, "digest");
    fpo_table_add(table, "differs from %s in", vector->expected[0].model);
    fpo_table_add(table, "provenance");
    for (size_t i = 0; i < vector->expected_count; i++) {
        fpo_comparison comparison;
        int64_t different = differences(vector, i, &comparison);
        const fpo_model *model = fpo_model_by_name(vector->expected[i].model);
        fpo_table_add(table, "d.%s", vector->expected[i].model);
        fpo_table_add(table, "%s", vector->expected[i].d_digest.hex);
        fpo_table_add(table,
                      i == 0           ? ""
                      : different == 0 ? "no element"
                                       : "%" PRId64 " of %" PRId64,
                      different, comparison.elements);
        fpo_table_add(table, "%s", model != NULL ? fpo_provenance_name(model->provenance) : "");
    }
    fpo_table_print(table, 2);
}

json_t *fpo_gen_report_json(const fpo_vector *vector, const char *path)
{
    const fpo_gemm_problem *p = &vector->problem;
    json_t *outputs = json_array();
    for (size_t i = 0; i < vector->expected_count; i++) {
        fpo_comparison comparison;
        json_t *output =
            json_pack("{s:s, s:s}", "model", vector->expected[i].model, "digest", vector->expected[i].d_digest.hex);
        if (vector->spec.epilogue.d_scale != FPO_FORMAT_NONE)
            json_object_set_new(output, "scale_digest", json_string(vector->expected[i].d_scale_digest.hex));
        json_object_set_new(output, "differs_from_first", json_integer(differences(vector, i, &comparison)));
        json_array_append_new(outputs, output);
    }
    return json_pack("{s:o, s:[I, I, I], s:s, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "output",
                     fpo_json_text(path), "shape", (json_int_t)p->m, (json_int_t)p->n, (json_int_t)p->k, "a",
                     fpo_operand_name(&vector->spec.a.read), "b", fpo_operand_name(&vector->spec.b.read), "d",
                     output_name(&vector->spec.epilogue), "data", fpo_json_text(vector->data), "seed",
                     (json_int_t)vector->seed, "purpose", fpo_json_text(vector->purpose), "alpha",
                     fpo_json_number((double)p->alpha), "beta", fpo_json_number((double)p->beta), "a_tensor_scale",
                     fpo_json_number((double)p->a.tensor_scale), "b_tensor_scale",
                     fpo_json_number((double)p->b.tensor_scale), "outputs", outputs);
}
