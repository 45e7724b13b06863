/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A recipe run over recorded inputs, its bytes against the recorded ones. */
#include "recipe_record.h"

#include "assertions.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct recorded_case {
    const fpo_recipe_record *entry;
    const fpo_recipe_info *info;
    fpo_format dtype;
    const char *name; /* behind the tensors' names: "" or ".gauss" */
    const fpo_safetensors *file, *inputs;
    fpo_record_result *result;
} recorded_case;

static const fpo_tensor *tensor(const fpo_safetensors *file, const char *prefix, const char *name)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return file != NULL && prefix != NULL ? fpo_safetensors_find(file, full) : NULL;
}

static fpo_safetensors *open_file(const char *folder, const char *name)
{
    char path[1024];
    fpo_error error;
    fpo_safetensors *file = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(fpo_safetensors_open(path, &file, &error) == FPO_OK, "%s", error.message);
    return file;
}

/* The input as floats, rows x k. */
static float *input(const recorded_case *c, int64_t *rows, int64_t *k)
{
    bool x8 = (c->entry->how & HOW_X8) != 0;
    const fpo_tensor *x = tensor(c->file, x8 ? "x8" : "x", c->name);
    if (x == NULL)
        x = tensor(c->inputs, "x", c->name);
    if (x == NULL)
        x = tensor(c->inputs, "x", "");
    ck_assert_msg(x != NULL && x->rank == 2, "%s: no input of case %s", c->entry->file, c->name);
    *rows = x->shape[0];
    *k = x->shape[1];
    float *values = malloc((size_t)x->elements * sizeof *values);
    if (x8)
        for (int64_t i = 0; i < x->elements; i++)
            values[i] = (float)fpo_decode_double(FPO_E4M3, ((const uint8_t *)x->data)[i]);
    else
        memcpy(values, x->data, (size_t)x->elements * sizeof *values);
    if (c->entry->how & HOW_TRANSPOSED) {
        float *transposed = malloc((size_t)x->elements * sizeof *values);
        for (int64_t i = 0; i < *rows; i++)
            for (int64_t j = 0; j < *k; j++)
                transposed[j * *rows + i] = values[i * *k + j];
        free(values);
        values = transposed;
        int64_t swap = *rows;
        *rows = *k;
        *k = swap;
    }
    return values;
}

static bool is_nan(fpo_format format, uint32_t code)
{
    return fpo_decode(format, code).kind == FPO_NAN;
}

static void compare_code(const recorded_case *c, const char *what, fpo_format format, int bytes, int64_t at,
                         uint32_t expected, uint32_t got)
{
    fpo_record_result *r = c->result;
    r->bytes += bytes;
    if (expected == got || (is_nan(format, expected) && is_nan(format, got)))
        return;
    if (r->different == 0)
        snprintf(r->first, sizeof r->first, "%s of case '%s', element %lld: %x instead of %x", what, c->name,
                 (long long)at, got, expected);
    r->different += bytes;
}

/* Recorded codes of one row, unpacked. */
static void recorded_codes(const recorded_case *c, const fpo_tensor *q, int64_t row, int64_t k, uint8_t *codes)
{
    fpo_format element = c->info->view.element;
    const uint8_t *from = q->data;
    unsigned how = c->entry->how;
    if (how & HOW_BLOCKS) {
        /* ggml: the scale bytes of a block, then its codes, in halves of 8 or 16 that share bytes. */
        int scales = how & HOW_GGML_16 ? 4 : 1, half = how & HOW_GGML_16 ? 8 : 16,
            elements = how & HOW_GGML_16 ? 64 : 32;
        for (int64_t i = 0; i < k; i++) {
            const uint8_t *block = from + (row * k + i) / elements * (scales + elements / 2);
            int64_t group = i % elements / (2 * half), j = i % (2 * half);
            codes[i] = block[scales + group * half + j % half] >> (j < half ? 0 : 4) & 15;
        }
    } else if (how & HOW_UNPACKED) {
        memcpy(codes, from + row * k, (size_t)k);
    } else if (how & (HOW_GGML_16 | HOW_GGML_32)) {
        int half = how & HOW_GGML_16 ? 8 : 16;
        for (int64_t i = 0; i < k; i++) {
            int64_t block = i / (2 * half), j = i % (2 * half);
            codes[i] = from[row * k / 2 + block * half + j % half] >> (j < half ? 0 : 4) & 15;
        }
    } else if (how & HOW_FP6_DENSE) {
        for (int64_t i = 0; i < k; i++) {
            const uint8_t *group = from + row * k / 4 * 3 + i / 4 * 3;
            unsigned word = group[0] | (unsigned)group[1] << 8 | (unsigned)group[2] << 16;
            codes[i] = word >> (6 * (i % 4)) & 63;
        }
    } else {
        int64_t bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, element, k);
        fpo_unpack_row(FPO_PACKING_CANONICAL, element, k, from + row * bytes, codes);
    }
}

/* Of a block of 16 or 32 in a row. */
static bool scale_is_nan(const recorded_case *c, const fpo_quantized *got, int64_t row, int64_t column, int64_t k)
{
    const fpo_scale_view *scale = &c->info->view.scale;
    int64_t columns = (k + scale->block_k - 1) / scale->block_k;
    return is_nan(scale->format,
                  fpo_load_code(scale->format, got->scales, (size_t)(row * columns + column / scale->block_k)));
}

static bool has_infinite(const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return true;
    return false;
}

/* Codes that the record says nothing about, see HOW_NO_NAN and HOW_NAN_SIGN. */
static bool left_out(const recorded_case *c, const fpo_quantized *got, const float *x, int64_t row, int64_t column,
                     int64_t k, uint8_t want, uint8_t have)
{
    if (c->entry->how & HOW_NO_NAN)
        return scale_is_nan(c, got, row, column, k) ||
               (c->entry->tensor_scale != NULL && x[row * k + column] == 0 && !isnormal(got->library_scale));
    if (!(c->entry->how & HOW_NAN_SIGN))
        return false;
    int64_t block = c->info->view.scale.block_k, begin = column / block * block;
    return want == (have ^ 8) && (want & 7) == 7 && has_infinite(x + row * k + begin, block);
}

static void compare_rows(const recorded_case *c, const fpo_quantized *got, const float *x, int64_t row, int64_t rows,
                         int64_t k)
{
    fpo_format element = c->info->view.element;
    const fpo_tensor *q = tensor(c->file, c->entry->codes, c->name);
    uint8_t *want = malloc((size_t)k), *have = malloc((size_t)k);
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, element, k);
    for (int64_t i = 0; q != NULL && i < rows; i++) {
        recorded_codes(c, q, row + i, k, want);
        fpo_unpack_row(FPO_PACKING_CANONICAL, element, k, (const uint8_t *)got->codes + i * row_bytes, have);
        for (int64_t j = 0; j < k; j++)
            if (!left_out(c, got, x, i, j, k, want[j], have[j]))
                compare_code(c, "code", element, 1, (row + i) * k + j, want[j], have[j]);
    }
    free(want), free(have);

    const fpo_tensor *sf = tensor(c->file, c->entry->scale, c->name);
    fpo_format scale = c->info->view.scale.format;
    size_t size = fpo_format_describe(scale)->storage_bytes, count = got->scales_bytes / size;
    size_t skip = c->entry->how & HOW_G_ROWS ? (size_t)row * count : 0;
    if (sf != NULL && c->entry->how & HOW_SCALE_F32) {
        for (size_t i = 0; i < count; i++) {
            double value = fpo_decode_double(scale, fpo_load_code(scale, got->scales, i));
            compare_code(c, "scale", FPO_F32, 4, (int64_t)i, fpo_load_code(FPO_F32, sf->data, i),
                         fpo_encode_double(FPO_F32, value, fpo_cast_describe(FPO_CAST_IEEE)));
        }
        return;
    }
    if (sf != NULL)
        ck_assert_msg(skip + count <= (size_t)sf->elements && sf->bytes == (size_t)sf->elements * size,
                      "%s: %zu scales of %zu bytes", c->entry->file, (size_t)sf->elements, size);
    for (size_t i = 0; sf != NULL && i < count; i++)
        compare_code(c, "scale", scale, (int)size, (int64_t)(skip + i), fpo_load_code(scale, sf->data, skip + i),
                     fpo_load_code(scale, got->scales, i));
}

static void compare_floats(const recorded_case *c, const char *what, const fpo_tensor *want, const float *have,
                           int64_t count)
{
    ck_assert_msg(want->elements == count, "%s: %lld %ss", c->entry->file, (long long)want->elements, what);
    for (int64_t i = 0; i < count; i++) {
        float expected;
        if (want->dtype == FPO_DTYPE_F64) { /* a Python number, which the kernel takes as f32 */
            double number;
            memcpy(&number, (const char *)want->data + i * 8, 8);
            expected = (float)number;
        } else {
            memcpy(&expected, (const char *)want->data + i * 4, 4);
        }
        compare_code(c, what, FPO_F32, 4, i, fpo_load_code(FPO_F32, &expected, 0),
                     fpo_load_code(FPO_F32, have, (size_t)i));
    }
}

/* Rows [row, row + rows) of the case, quantised at once. */
static void quantize_rows(const recorded_case *c, const float *x, int64_t row, int64_t rows, int64_t k)
{
    const fpo_recipe_record *entry = c->entry;
    fpo_error error;
    fpo_quantized got = {.dtype = c->dtype, .library_scale = entry->given};
    got.given_library_scale = (entry->how & (HOW_G_ROWS | HOW_G_TENSOR | HOW_GIVEN | HOW_TS_GIVEN)) != 0;
    const fpo_tensor *g = tensor(c->file, entry->how & HOW_TS_GIVEN ? "ts" : "g", c->name);
    if (entry->how & (HOW_G_ROWS | HOW_G_TENSOR | HOW_TS_GIVEN)) {
        ck_assert_msg(g != NULL, "%s: no g of case %s", entry->file, c->name);
        memcpy(&got.library_scale, (const char *)g->data + (entry->how & HOW_G_ROWS ? row * 4 : 0), 4);
    }
    const fpo_tensor *seed = tensor(c->file, "seed", c->name);
    ck_assert_msg((seed != NULL) == ((entry->how & HOW_SEED) != 0), "%s: the seed of case %s", entry->file, c->name);
    if (seed != NULL)
        memcpy(&got.seed, seed->data, sizeof got.seed);
    got.codes_bytes = fpo_operand_codes_bytes(&c->info->view, rows, k);
    got.scales_bytes = fpo_operand_scales_bytes(&c->info->view, rows, k);
    got.codes = malloc(got.codes_bytes);
    got.scales = malloc(got.scales_bytes);
    got.library_row_scales = malloc((size_t)rows * sizeof(float));
    ck_assert_msg(fpo_quantize_by(c->info, x + row * k, rows, k, &got, NULL, &error) == FPO_OK, "%s: %s", entry->file,
                  error.message);
    compare_rows(c, &got, x + row * k, row, rows, k);
    const fpo_tensor *ts = tensor(c->file, entry->tensor_scale, c->name);
    if (ts != NULL && entry->how & HOW_ROW_SCALE)
        compare_floats(c, "row scale", ts, got.library_row_scales, rows);
    else if (ts != NULL)
        compare_floats(c, "tensor scale", ts, &got.library_scale, 1);
    free(got.codes), free(got.scales), free(got.library_row_scales);
}

static void check_case(const recorded_case *c)
{
    int64_t rows, k;
    float *x = input(c, &rows, &k);
    if (c->entry->how & HOW_G_ROWS)
        for (int64_t row = 0; row < rows; row++)
            quantize_rows(c, x, row, 1, k);
    else
        quantize_rows(c, x, 0, rows, k);
    c->result->cases++;
    free(x);
}

void fpo_record_check(const char *folder, const fpo_recipe_record *entry, const char *dtype, fpo_record_result *result)
{
    char name[256];
    bool cuda = strstr(entry->file, "_cuda.") != NULL;
    snprintf(name, sizeof name, "%s/%s.%s.safetensors", cuda ? "recipes_cuda" : "recipes", entry->file, dtype);
    fpo_safetensors *file = open_file(folder, name), *inputs = NULL;
    const char *inputs_name = fpo_safetensors_metadata(file, "inputs");
    if (inputs_name != NULL && strncmp(inputs_name, "inputs.", 7) == 0) {
        snprintf(name, sizeof name, "recipes/%s", inputs_name);
        inputs = open_file(folder, name);
    }
    fpo_recipe recipe = fpo_recipe_by_name(entry->recipe);
    ck_assert_msg(recipe != FPO_RECIPE_COUNT, "no recipe %s", entry->recipe);
    recorded_case c = {.entry = entry, .info = fpo_recipe_describe(recipe), .dtype = fpo_format_by_name(dtype)};
    c.file = file;
    c.inputs = inputs;
    c.result = result;
    const char *key = entry->codes != NULL ? entry->codes : entry->scale;
    size_t length = strlen(key);
    for (size_t i = 0; i < fpo_safetensors_count(file); i++) {
        const fpo_tensor *t = fpo_safetensors_at(file, i);
        if (strncmp(t->name, key, length) != 0 || (t->name[length] != '\0' && t->name[length] != '.'))
            continue;
        c.name = t->name + length;
        check_case(&c);
    }
    ck_assert_msg(result->cases > 0, "%s: no tensor %s", entry->file, key);
    fpo_safetensors_close(file);
    fpo_safetensors_close(inputs);
}
