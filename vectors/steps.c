/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Files of recorded steps: this project's format, and the two older ones that it grew from. */
#include "steps.h"
#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_K = 128, MOST_SETS = 2 };

struct fpo_steps {
    fpo_safetensors *owned; /* NULL when the caller keeps the file open */
    fpo_step_rows sets[MOST_SETS];
    uint32_t *words[2 * MOST_SETS]; /* c and d of each set */
    size_t count;
};

static fpo_status missing(const fpo_safetensors *file, const char *name, fpo_error *error)
{
    return fpo_fail(
        error, FPO_ERR_FILE,
        "%s: no tensor '%s': not a file of recorded steps (docs/steps-format.md); "
        "tools/convert_h200_conformance.py makes such files of tile recordings, and whole GEMMs are vectors",
        fpo_shown(fpo_safetensors_path(file)).text, name);
}

static fpo_status wrong_shape(const fpo_safetensors *file, const fpo_tensor *tensor, const char *wanted,
                              fpo_error *error)
{
    return fpo_fail(error, FPO_ERR_SHAPE, "%s: tensor '%s' is %s with %zu dimensions and %lld elements, expected %s",
                    fpo_shown(fpo_safetensors_path(file)).text, fpo_shown(tensor->name).text,
                    fpo_dtype_name(tensor->dtype), tensor->rank, (long long)tensor->elements, wanted);
}

/* A format named by the metadata: as ours, or in capitals as the MATLAB data has it. */
static fpo_format format_of(const fpo_safetensors *file, const char *key)
{
    const char *value = fpo_safetensors_metadata(file, key);
    char name[16] = "";
    for (size_t i = 0; value != NULL && value[i] != '\0' && i + 1 < sizeof name; i++)
        name[i] = (char)tolower((unsigned char)value[i]);
    return value == NULL ? FPO_FORMAT_COUNT : fpo_format_by_name(name);
}

static const char *metadata_or_empty(const fpo_safetensors *file, const char *key)
{
    const char *value = fpo_safetensors_metadata(file, key);
    return value != NULL ? value : "";
}

/* Codes of one operand: rows x k, as wide as the format stores them. */
static fpo_status read_codes(const fpo_safetensors *file, const char *name, fpo_format format, int64_t rows,
                             int64_t columns, const uint8_t **codes, fpo_error *error)
{
    const fpo_tensor *tensor = fpo_safetensors_find(file, name);
    if (tensor == NULL)
        return missing(file, name, error);
    int width = fpo_format_describe(format)->storage_bytes;
    if (tensor->rank != 2 || tensor->shape[0] != rows || tensor->shape[1] != columns ||
        fpo_dtype_bits(tensor->dtype) != 8 * width)
        return wrong_shape(file, tensor, "one code an element of the same rows as 'a'", error);
    *codes = tensor->data;
    return FPO_OK;
}

/* 32-bit words, copied, since tensors need not be aligned. NULL name: zeros. */
static fpo_status read_words(const fpo_safetensors *file, const fpo_tensor *tensor, int64_t rows, uint32_t **words,
                             fpo_error *error)
{
    if (tensor != NULL && (tensor->rank != 1 || tensor->shape[0] != rows || fpo_dtype_bits(tensor->dtype) != 32))
        return wrong_shape(file, tensor, "one 32-bit word a row", error);
    *words = calloc((size_t)rows + 1, sizeof **words);
    if (*words == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %lld rows", (long long)rows);
    for (int64_t i = 0; tensor != NULL && i < rows; i++)
        (*words)[i] = fpo_load_code(FPO_F32, tensor->data, (size_t)i);
    return FPO_OK;
}

/* The MATLAB data holds f16 numbers widened to f32; this is exact. */
static void narrow_to_f16(uint32_t *words, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        words[i] = fpo_encode(FPO_F16, fpo_decode(FPO_F32, words[i]), fpo_cast_describe(FPO_CAST_IEEE), 0);
}

static fpo_status add_set(fpo_steps *steps, const fpo_safetensors *file, const fpo_step_rows *common, const char *label,
                          fpo_format accumulator, const char *c_name, bool widened, fpo_error *error)
{
    fpo_step_rows *set = &steps->sets[steps->count];
    uint32_t **c = &steps->words[2 * steps->count], **d = &steps->words[2 * steps->count + 1];
    *set = *common;
    set->label = label;
    set->accumulator = accumulator;
    set->c_ignored = common->c_ignored && accumulator == FPO_F32;
    const fpo_tensor *d_tensor = fpo_safetensors_find(file, label);
    const fpo_tensor *c_tensor = set->c_ignored ? NULL : fpo_safetensors_find(file, c_name);
    if (d_tensor == NULL || (c_tensor == NULL && !set->c_ignored))
        return missing(file, d_tensor == NULL ? label : c_name, error);
    fpo_status status = read_words(file, c_tensor, set->rows, c, error);
    if (status == FPO_OK)
        status = read_words(file, d_tensor, set->rows, d, error);
    if (status != FPO_OK)
        return status;
    if (widened && accumulator == FPO_F16) {
        narrow_to_f16(*c, set->rows);
        narrow_to_f16(*d, set->rows);
    }
    set->c = *c;
    set->d = *d;
    steps->count++;
    return FPO_OK;
}

/* Files with d_fp32 and perhaps d_fp16: hardware results of MATLAB-tensor-core, repacked. */
static fpo_status read_matlab(fpo_steps *steps, const fpo_safetensors *file, fpo_step_rows *common, fpo_error *error)
{
    common->origin = metadata_or_empty(file, "gpu");
    /* Hopper: the f32 results are of wgmma with C = 0, and say so. The f16 results beside them are not: they are of
     * mma.sync with C rounded to f16 (0 of 20,000 rows differ from that, 19,976 from wgmma with C = 0). */
    common->c_ignored = strstr(metadata_or_empty(file, "meaning"), "ignore c") != NULL;
    fpo_status status = add_set(steps, file, common, "d_fp32", FPO_F32, "c_fp32", true, error);
    if (status == FPO_OK && fpo_safetensors_find(file, "d_fp16") != NULL)
        status = add_set(steps, file, common, "d_fp16", FPO_F16, "c_fp32", true, error);
    return status;
}

static fpo_status read_own(fpo_steps *steps, const fpo_safetensors *file, fpo_step_rows *common, fpo_error *error)
{
    common->origin = metadata_or_empty(file, "instruction");
    fpo_format accumulator = format_of(file, "d_type");
    if (accumulator != FPO_F32 && accumulator != FPO_F16)
        return fpo_fail(error, FPO_ERR_FILE, "%s: metadata 'd_type' is '%s', expected f32 or f16",
                        fpo_shown(fpo_safetensors_path(file)).text, fpo_shown(metadata_or_empty(file, "d_type")).text);
    return add_set(steps, file, common, "d", accumulator, "c", false, error);
}

static fpo_status read_scales(const fpo_safetensors *file, fpo_step_rows *common, fpo_error *error)
{
    const char *type = fpo_safetensors_metadata(file, "scale_type");
    common->scale = FPO_FORMAT_NONE;
    if (type == NULL || strcmp(type, "none") == 0)
        return FPO_OK;
    common->scale = format_of(file, "scale_type");
    const char *block = metadata_or_empty(file, "block_size");
    char *end = NULL;
    long size = strtol(block, &end, 10);
    if ((common->scale != FPO_UE8M0 && common->scale != FPO_UE4M3) || *block == '\0' || *end != '\0' || size < 1 ||
        size > common->k || common->k % size != 0)
        return fpo_fail(error, FPO_ERR_FILE, "%s: scale_type '%s' with block_size '%s' is not usable for K = %d",
                        fpo_shown(fpo_safetensors_path(file)).text, fpo_shown(type).text, fpo_shown(block).text,
                        common->k);
    common->block_k = (int)size;
    const char *a_name = fpo_safetensors_find(file, "sa") != NULL ? "sa" : "a_scale";
    const char *b_name = fpo_safetensors_find(file, "sb") != NULL ? "sb" : "b_scale";
    fpo_status status = read_codes(file, a_name, common->scale, common->rows, common->k / size, &common->sa, error);
    if (status == FPO_OK)
        status = read_codes(file, b_name, common->scale, common->rows, common->k / size, &common->sb, error);
    return status;
}

fpo_status fpo_steps_read(const fpo_safetensors *file, fpo_steps **result, fpo_error *error)
{
    *result = NULL;
    const fpo_tensor *a = fpo_safetensors_find(file, "a");
    if (a == NULL)
        return missing(file, "a", error);
    if (a->rank != 2 || a->shape[1] < 1 || a->shape[1] > MOST_K)
        return wrong_shape(file, a, "rows x K with K from 1 to 128", error);
    bool matlab = fpo_safetensors_find(file, "d_fp32") != NULL;
    fpo_step_rows common = {.rows = a->shape[0], .k = (int)a->shape[1]};
    common.a_element = format_of(file, matlab ? "element" : "a_type");
    common.b_element = format_of(file, matlab ? "element" : "b_type");
    if (common.a_element == FPO_FORMAT_COUNT || common.b_element == FPO_FORMAT_COUNT ||
        common.a_element == FPO_FORMAT_NONE || common.b_element == FPO_FORMAT_NONE)
        return fpo_fail(error, FPO_ERR_FILE, "%s: metadata has no usable a_type and b_type (or element)",
                        fpo_shown(fpo_safetensors_path(file)).text);
    fpo_status status = read_codes(file, "a", common.a_element, common.rows, common.k, &common.a, error);
    if (status == FPO_OK)
        status = read_codes(file, "b", common.b_element, common.rows, common.k, &common.b, error);
    if (status == FPO_OK)
        status = read_scales(file, &common, error);
    if (status != FPO_OK)
        return status;
    fpo_steps *steps = calloc(1, sizeof *steps);
    if (steps == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for recorded steps");
    status = matlab ? read_matlab(steps, file, &common, error) : read_own(steps, file, &common, error);
    if (status != FPO_OK) {
        fpo_steps_close(steps);
        return status;
    }
    *result = steps;
    return FPO_OK;
}

fpo_status fpo_steps_open(const char *path, fpo_steps **steps, fpo_error *error)
{
    fpo_safetensors *file = NULL;
    fpo_status status = fpo_safetensors_open(path, &file, error);
    if (status != FPO_OK)
        return status;
    status = fpo_steps_read(file, steps, error);
    if (status == FPO_OK)
        (*steps)->owned = file;
    else
        fpo_safetensors_close(file);
    return status;
}

void fpo_steps_close(fpo_steps *steps)
{
    if (steps == NULL)
        return;
    for (size_t i = 0; i < 2 * MOST_SETS; i++)
        free(steps->words[i]);
    fpo_safetensors_close(steps->owned);
    free(steps);
}

size_t fpo_steps_count(const fpo_steps *steps)
{
    return steps->count;
}

const fpo_step_rows *fpo_steps_at(const fpo_steps *steps, size_t index)
{
    return index < steps->count ? &steps->sets[index] : NULL;
}
