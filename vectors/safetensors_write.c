/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Writing safetensors files. */
#include "output_file.h"
#include "safetensors.h"
#include "text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 100000000 };

static int in_file_order(const void *x, const void *y)
{
    const fpo_tensor *a = *(const fpo_tensor *const *)x, *b = *(const fpo_tensor *const *)y;
    return a->dtype != b->dtype ? (a->dtype > b->dtype ? -1 : 1) : strcmp(a->name, b->name);
}

static int by_key(const void *x, const void *y)
{
    return strcmp((*(const fpo_metadata *const *)x)->key, (*(const fpo_metadata *const *)y)->key);
}

/* Consumes `value`. */
static fpo_status put(json_t *object, const char *path, const char *key, json_t *value, fpo_error *error)
{
    if (json_object_get(object, key)) {
        json_decref(value);
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: %s is there twice", path, fpo_shown(key).text);
    }
    if (!value || json_object_set_new(object, key, value) != 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: %s: out of memory, or no valid UTF-8", path, fpo_shown(key).text);
    return FPO_OK;
}

static fpo_status add_metadata(json_t *header, const char *path, const fpo_metadata *metadata, size_t count,
                               fpo_error *error)
{
    if (count == 0)
        return FPO_OK;
    const fpo_metadata **sorted = calloc(count, sizeof(*sorted));
    if (!sorted)
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &metadata[i];
    qsort(sorted, count, sizeof(*sorted), by_key);
    json_t *object = json_object();
    fpo_status status = put(header, path, "__metadata__", object, error);
    for (size_t i = 0; i < count && status == FPO_OK; i++)
        status = put(object, path, sorted[i]->key, json_string(sorted[i]->value), error);
    free(sorted);
    return status;
}

static fpo_status add_tensor(json_t *header, const char *path, const fpo_tensor *tensor, int64_t *offset,
                             fpo_error *error)
{
    int64_t elements, bytes, end;
    if (tensor->rank > FPO_TENSOR_RANK || (unsigned)tensor->dtype >= FPO_DTYPE_COUNT ||
        !fpo_shape_size(tensor->dtype, tensor->rank, tensor->shape, &elements, &bytes))
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: tensor %s: no shape and dtype that can be stored", path,
                        fpo_shown(tensor->name).text);
    if ((uint64_t)bytes != tensor->bytes)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: tensor %s: %lld elements of %s take %lld bytes, not %zu", path,
                        fpo_shown(tensor->name).text, (long long)elements, fpo_dtype_name(tensor->dtype),
                        (long long)bytes, tensor->bytes);
    if (strcmp(tensor->name, "__metadata__") == 0 || __builtin_add_overflow(*offset, bytes, &end))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: tensor %s: no such name, or too large", path,
                        fpo_shown(tensor->name).text);
    json_t *shape = json_array();
    for (size_t i = 0; i < tensor->rank; i++)
        json_array_append_new(shape, json_integer(tensor->shape[i]));
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", fpo_dtype_name(tensor->dtype), "shape", shape,
                              "data_offsets", (json_int_t)*offset, (json_int_t)end);
    *offset = end;
    return put(header, path, tensor->name, entry, error);
}

/* The length and the header, padded with spaces so that the data starts at a multiple of 8. */
static fpo_status write_header(fpo_output_file *file, const char *path, const json_t *header, fpo_error *error)
{
    char *text = json_dumps(header, JSON_COMPACT);
    if (!text)
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory for the header", path);
    size_t length = strlen(text);
    uint64_t padded = (length + 7) / 8 * 8;
    fpo_status status = FPO_OK;
    if (padded > HEADER_MAX)
        status = fpo_fail(error, FPO_ERR_ARGUMENT, "%s: a header of %zu bytes, over the limit of %d", path, length,
                          HEADER_MAX);
    if (status == FPO_OK)
        status = fpo_output_write(file, &padded, sizeof(padded), error);
    if (status == FPO_OK)
        status = fpo_output_write(file, text, length, error);
    if (status == FPO_OK)
        status = fpo_output_write(file, "       ", padded - length, error);
    free(text);
    return status;
}

static fpo_status write_all(const char *path, const json_t *header, const fpo_tensor *const *sorted, size_t count,
                            fpo_error *error)
{
    fpo_output_file file;
    fpo_status status = fpo_output_open(&file, path, error);
    if (status != FPO_OK)
        return status;
    status = write_header(&file, path, header, error);
    for (size_t i = 0; i < count && status == FPO_OK; i++)
        status = fpo_output_write(&file, sorted[i]->data, sorted[i]->bytes, error);
    if (status == FPO_OK)
        return fpo_output_commit(&file, error);
    fpo_output_discard(&file);
    return status;
}

fpo_status fpo_safetensors_write(const char *path, const fpo_tensor *tensors, size_t count,
                                 const fpo_metadata *metadata, size_t metadata_count, fpo_error *error)
{
    const fpo_tensor **sorted = calloc(count + 1, sizeof(*sorted));
    json_t *header = json_object();
    int64_t offset = 0;
    fpo_status status = FPO_OK;
    if (!sorted || !header)
        status = fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory for %zu tensors", path, count);
    else {
        for (size_t i = 0; i < count; i++)
            sorted[i] = &tensors[i];
        qsort(sorted, count, sizeof(*sorted), in_file_order);
        status = add_metadata(header, path, metadata, metadata_count, error);
    }
    for (size_t i = 0; i < count && status == FPO_OK; i++)
        status = add_tensor(header, path, sorted[i], &offset, error);
    if (status == FPO_OK)
        status = write_all(path, header, sorted, count, error);
    json_decref(header);
    free(sorted);
    return status;
}
