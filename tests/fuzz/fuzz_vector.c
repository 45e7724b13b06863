/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Any bytes as a vector file: it is refused with a message, or the emulator takes it. */
#include "fuzz.h"

#include "vector_file.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Small ones are computed, under the first model. */
static void compute(const fpo_vector *vector)
{
    enum { LIMIT = 1 << 14 };
    const fpo_gemm_problem *p = &vector->problem;
    if (p->m > 64 || p->n > 64 || p->k > LIMIT / p->m / p->n)
        return;
    fpo_gemm_output output = {.d_bytes = vector->expected[0].d_bytes,
                              .d_scale_bytes = vector->expected[0].d_scale_bytes};
    output.d = malloc(output.d_bytes);
    output.d_scale = output.d_scale_bytes ? malloc(output.d_scale_bytes) : NULL;
    require(output.d != NULL);
    fpo_execution execution = {.threads = 1};
    fpo_error error;
    fpo_gemm(&vector->spec, p, &output, &execution, &error);
    free(output.d);
    free(output.d_scale);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fpo_vector *vector;
    fpo_error error = {FPO_OK, ""};
    if (fpo_vector_parse(data, size, "input", &vector, &error) != FPO_OK) {
        require(vector == NULL && error.status != FPO_OK && strlen(error.message) > 0);
        return 0;
    }
    require(vector->expected_count > 0 && vector->purpose && vector->data && vector->program);
    for (size_t i = 0; i < vector->expected_count; i++)
        require(fpo_vector_expected(vector, vector->expected[i].model) == &vector->expected[i]);
    compute(vector);
    fpo_vector_free(vector);
    return 0;
}
