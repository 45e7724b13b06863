/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a kill matrix is computed from, as a digest: to see that a printed one is old without computing it anew. */
#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>

static void write_bytes(FILE *out, const char *name, const void *bytes, size_t size)
{
    if (bytes != NULL && size > 0)
        fprintf(out, "%s %s\n", name, fpo_digest_of(bytes, size).hex);
}

static void write_vector(FILE *out, const fpo_vector *vector)
{
    const fpo_gemm_problem *p = &vector->problem;
    const fpo_operand *operands[] = {&p->a, &p->b};
    fprintf(out, "vector %lldx%lldx%lld\n", (long long)p->m, (long long)p->n, (long long)p->k);
    for (int i = 0; i < 2; i++) {
        write_bytes(out, "codes", operands[i]->codes, operands[i]->codes_bytes);
        write_bytes(out, "scales", operands[i]->scales, operands[i]->scales_bytes);
        write_bytes(out, "tensor scale", &operands[i]->tensor_scale, sizeof operands[i]->tensor_scale);
    }
    write_bytes(out, "alpha", &p->alpha, sizeof p->alpha);
    write_bytes(out, "beta", &p->beta, sizeof p->beta);
    write_bytes(out, "d scale", &p->d_scale, sizeof p->d_scale);
    write_bytes(out, "c", p->c, p->c_bytes);
    write_bytes(out, "bias", p->bias, p->bias_bytes);
}

static void write_edit(FILE *out, const fpo_edit *edit)
{
    char parameters[256];
    fpo_edit_parameters(edit, parameters, sizeof parameters);
    fprintf(out, "%s %s\n", fpo_edit_describe(edit->kind)->name, parameters);
}

static fpo_status write_edits(FILE *out, const fpo_vector *vector, const fpo_model *model, fpo_error *error)
{
    fpo_gemm_spec spec = vector->spec;
    spec.accumulation = model->accumulation;
    size_t count = fpo_edit_enumerate(&spec, &vector->problem, NULL, 0);
    fpo_edit *edits = calloc(count + 1, sizeof *edits);
    if (edits == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu edits", count);
    fpo_edit_enumerate(&spec, &vector->problem, edits, count);
    for (size_t i = 0; i < count; i++)
        write_edit(out, &edits[i]);
    free(edits);
    return FPO_OK;
}

fpo_status fpo_coverage_source(fpo_vector *const *vectors, size_t count, const fpo_model *model, fpo_digest *digest,
                               fpo_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the list of %zu vectors", count);
    fprintf(out, "model %s\n", model->name);
    fpo_status status = FPO_OK;
    for (size_t v = 0; v < count && status == FPO_OK; v++) {
        write_vector(out, vectors[v]);
        status = write_edits(out, vectors[v], model, error);
    }
    if (fclose(out) != 0 && status == FPO_OK)
        status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the edits of %zu vectors", count);
    if (status == FPO_OK)
        *digest = fpo_digest_of(text, size);
    free(text);
    return status;
}
