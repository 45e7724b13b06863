/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What comes out of an edited spec and problem, and where. */
#include "edit_parts.h"

#include <stdlib.h>
#include <string.h>

static int64_t modulo(int64_t x, int64_t n)
{
    return (x % n + n) % n;
}

/* Where the output at `at` was computed. */
static fpo_element source_of(const fpo_edited *e, fpo_element at)
{
    int64_t m = e->problem.m, n = e->problem.n;
    switch (e->map) {
    case FPO_MAP_TRANSPOSED: {
        int64_t index = at.row * n + at.column;
        return (fpo_element){index % m, index / m};
    }
    case FPO_MAP_ROWS_MOVED: return (fpo_element){modulo(at.row - e->amount, m), at.column};
    case FPO_MAP_COLUMNS_MOVED: return (fpo_element){at.row, modulo(at.column - e->amount, n)};
    case FPO_MAP_ROWS_XOR: return (at.row ^ e->amount) < m ? (fpo_element){at.row ^ e->amount, at.column} : at;
    case FPO_MAP_COLUMNS_XOR: return (at.column ^ e->amount) < n ? (fpo_element){at.row, at.column ^ e->amount} : at;
    case FPO_MAP_PLACE:
    case FPO_MAP_CONSTANT:
    case FPO_MAP_FLUSHED: break;
    }
    return at;
}

static uint32_t flushed(fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    uint32_t sign = 1u << (info->bits - 1), magnitude = code & (sign - 1);
    return magnitude >> info->mantissa_bits == 0 ? code & sign : code;
}

static bool in_part(const fpo_edited *e, fpo_element at)
{
    return e->part_factor != 0.0f && at.row >= e->part_row && at.column >= e->part_column;
}

static fpo_gemm_problem part_problem(const fpo_edited *e)
{
    fpo_gemm_problem problem = e->problem;
    problem.alpha *= e->part_factor;
    return problem;
}

/* ---- a whole output ---- */

static void move_outputs(const fpo_edited *e, const void *from, void *to)
{
    fpo_format format = e->spec.epilogue.d;
    int64_t n = e->problem.n;
    for (int64_t i = 0; i < e->problem.m * n; i++) {
        fpo_element at = source_of(e, (fpo_element){i / n, i % n});
        uint32_t code = fpo_load_code(format, from, (size_t)(at.row * n + at.column));
        fpo_store_code(format, to, (size_t)i, e->map == FPO_MAP_FLUSHED ? flushed(format, code) : code);
    }
}

/* The part of the output with a factor of its own, from a second run. */
static fpo_status add_part(const fpo_edited *e, void *d, size_t bytes, const fpo_execution *execution, fpo_error *error)
{
    fpo_gemm_problem problem = part_problem(e);
    fpo_gemm_output part = {.d = malloc(bytes), .d_bytes = bytes};
    fpo_format format = e->spec.epilogue.d;
    if (part.d == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for an output of %zu bytes", bytes);
    fpo_status status = fpo_gemm(&e->spec, &problem, &part, execution, error);
    for (int64_t row = e->part_row; status == FPO_OK && row < problem.m; row++)
        for (int64_t column = e->part_column; column < problem.n; column++) {
            size_t i = (size_t)(row * problem.n + column);
            fpo_store_code(format, d, i, fpo_load_code(format, part.d, i));
        }
    free(part.d);
    return status;
}

static fpo_status placed(const fpo_edited *e, const fpo_gemm_output *output, size_t bytes,
                         const fpo_execution *execution, fpo_error *error)
{
    fpo_gemm_output computed = {.d = malloc(bytes), .d_bytes = bytes};
    if (computed.d == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for an output of %zu bytes", bytes);
    fpo_status status = fpo_gemm(&e->spec, &e->problem, &computed, execution, error);
    if (status == FPO_OK && e->part_factor != 0.0f)
        status = add_part(e, computed.d, bytes, execution, error);
    if (status == FPO_OK)
        move_outputs(e, computed.d, output->d);
    free(computed.d);
    return status;
}

fpo_status fpo_edited_gemm(const fpo_edited *e, const fpo_gemm_output *output, const fpo_execution *execution,
                           fpo_error *error)
{
    fpo_format format = e->spec.epilogue.d;
    size_t bytes = fpo_output_bytes(&e->spec, e->problem.m, e->problem.n);
    bool moves = e->map != FPO_MAP_PLACE || e->part_factor != 0.0f;
    if (e->spec.epilogue.d_scale != FPO_FORMAT_NONE)
        return fpo_edited_scaled_gemm(e, output, execution, error);
    if (!moves)
        return fpo_gemm(&e->spec, &e->problem, output, execution, error);
    if (output->d == NULL || output->d_bytes < bytes)
        return fpo_fail(error, FPO_ERR_SHAPE, "d: %zu bytes given, %zu are needed", output->d_bytes, bytes);
    if (e->map != FPO_MAP_CONSTANT)
        return placed(e, output, bytes, execution, error);
    for (int64_t i = 0; i < e->problem.m * e->problem.n; i++)
        fpo_store_code(format, output->d, (size_t)i, e->code);
    return FPO_OK;
}

/* ---- single elements ---- */

/* Codes of those elements that are in the part with a factor of its own, or of those that are not. */
static fpo_status some_elements(const fpo_edited *e, bool part, const fpo_element *sources, size_t count,
                                fpo_element *some, uint32_t *some_codes, uint32_t *codes,
                                const fpo_execution *execution, fpo_error *error)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (in_part(e, sources[i]) == part)
            some[found++] = sources[i];
    fpo_gemm_problem problem = part ? part_problem(e) : e->problem;
    fpo_status status = fpo_gemm_elements(&e->spec, &problem, some, found, some_codes, execution, error);
    found = 0;
    for (size_t i = 0; i < count && status == FPO_OK; i++)
        if (in_part(e, sources[i]) == part)
            codes[i] = some_codes[found++];
    return status;
}

fpo_status fpo_edited_elements(const fpo_edited *e, const fpo_element *elements, size_t count, uint32_t *codes,
                               const fpo_execution *execution, fpo_error *error)
{
    if (e->map == FPO_MAP_PLACE && e->part_factor == 0.0f)
        return fpo_gemm_elements(&e->spec, &e->problem, elements, count, codes, execution, error);
    if (e->map == FPO_MAP_CONSTANT) {
        for (size_t i = 0; i < count; i++)
            codes[i] = e->code;
        return FPO_OK;
    }
    fpo_element *sources = malloc(2 * (count + 1) * sizeof *sources);
    uint32_t *some = malloc((count + 1) * sizeof *some);
    fpo_status status = sources != NULL && some != NULL
                            ? FPO_OK
                            : fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu elements of D", count);
    for (size_t i = 0; i < count && status == FPO_OK; i++)
        sources[i] = source_of(e, elements[i]);
    for (int part = 0; part <= (e->part_factor != 0.0f) && status == FPO_OK; part++)
        status = some_elements(e, part == 1, sources, count, sources + count, some, codes, execution, error);
    for (size_t i = 0; i < count && status == FPO_OK && e->map == FPO_MAP_FLUSHED; i++)
        codes[i] = flushed(e->spec.epilogue.d, codes[i]);
    free(sources);
    free(some);
    return status;
}
