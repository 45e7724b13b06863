/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The header of a safetensors file: parsed, and checked until every tensor is safe to touch. */
#include "safetensors_file.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, HEADER_MAX = 100000000 }; /* the reference implementation's limit */

static int by_offset(const void *x, const void *y)
{
    const fpo_tensor *a = x, *b = y;
    const char *a_end = (const char *)a->data + a->bytes, *b_end = (const char *)b->data + b->bytes;
    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    return a_end != b_end ? (a_end < b_end ? -1 : 1) : strcmp(a->name, b->name);
}

int fpo_tensor_by_name(const void *x, const void *y)
{
    return strcmp(((const fpo_tensor *)x)->name, ((const fpo_tensor *)y)->name);
}

static fpo_status read_shape(const char *path, const char *name, const json_t *shape, fpo_tensor *tensor,
                             fpo_error *error)
{
    if (!json_is_array(shape))
        return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: shape is no array", path, fpo_shown(name).text);
    tensor->rank = json_array_size(shape);
    if (tensor->rank > FPO_TENSOR_RANK)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: tensor %s has %zu dimensions, more than %d", path,
                        fpo_shown(name).text, tensor->rank, FPO_TENSOR_RANK);
    for (size_t i = 0; i < tensor->rank; i++) {
        const json_t *dimension = json_array_get(shape, i);
        if (!json_is_integer(dimension) || json_integer_value(dimension) < 0)
            return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: shape[%zu] is no non-negative integer", path,
                            fpo_shown(name).text, i);
        tensor->shape[i] = json_integer_value(dimension);
    }
    return FPO_OK;
}

/* One entry of the header. `data` is the byte buffer behind the header, `size` its length. */
static fpo_status read_tensor(const char *path, const char *name, json_t *entry, const char *data, size_t size,
                              fpo_tensor *tensor, fpo_error *error)
{
    *tensor = (fpo_tensor){.name = name};
    if (!json_is_object(entry))
        return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: its entry is no object", path, fpo_shown(name).text);
    const json_t *dtype = json_object_get(entry, "dtype");
    if (!json_is_string(dtype))
        return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s has no dtype", path, fpo_shown(name).text);
    tensor->dtype = fpo_dtype_by_name(json_string_value(dtype));
    if (tensor->dtype == FPO_DTYPE_COUNT)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: tensor %s: no such dtype: %s", path, fpo_shown(name).text,
                        fpo_shown(json_string_value(dtype)).text);

    fpo_status status = read_shape(path, name, json_object_get(entry, "shape"), tensor, error);
    if (status != FPO_OK)
        return status;

    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin_entry = json_array_get(offsets, 0), *end_entry = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin_entry) || !json_is_integer(end_entry))
        return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: data_offsets are no two integers", path,
                        fpo_shown(name).text);
    json_int_t begin = json_integer_value(begin_entry), end = json_integer_value(end_entry);
    if (begin < 0 || end < begin || (uint64_t)end > size)
        return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: bytes %lld to %lld are not within the %zu bytes of data",
                        path, fpo_shown(name).text, (long long)begin, (long long)end, size);

    int64_t bytes;
    if (!fpo_shape_size(tensor->dtype, tensor->rank, tensor->shape, &tensor->elements, &bytes))
        return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: the size of its shape does not fit 63 bits or whole bytes",
                        path, fpo_shown(name).text);
    if (bytes != end - begin)
        return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: %lld elements of %s take %lld bytes, but it has %lld",
                        path, fpo_shown(name).text, (long long)tensor->elements, fpo_dtype_name(tensor->dtype),
                        (long long)bytes, (long long)(end - begin));
    tensor->data = data + begin;
    tensor->bytes = (size_t)bytes;
    return FPO_OK;
}

static fpo_status check_metadata(const char *path, json_t *metadata, fpo_error *error)
{
    if (!json_is_object(metadata))
        return fpo_fail(error, FPO_ERR_FILE, "%s: __metadata__ is no object", path);
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return fpo_fail(error, FPO_ERR_FILE, "%s: __metadata__: %s is no string", path, fpo_shown(key).text);
    }
    return FPO_OK;
}

/* No overlaps and no holes, from the first byte of the data to the last. */
static fpo_status check_cover(const fpo_safetensors *file, const char *data, size_t size, fpo_error *error)
{
    const char *expected = data;
    for (size_t i = 0; i < file->count; i++) {
        const fpo_tensor *tensor = &file->tensors[i];
        const char *begin = tensor->data;
        if (begin < expected)
            return fpo_fail(error, FPO_ERR_FILE, "%s: tensors %s and %s overlap", file->path,
                            fpo_shown(file->tensors[i - 1].name).text, fpo_shown(tensor->name).text);
        if (begin > expected)
            return fpo_fail(error, FPO_ERR_FILE, "%s: %zu bytes before tensor %s belong to no tensor", file->path,
                            (size_t)(begin - expected), fpo_shown(tensor->name).text);
        expected = begin + tensor->bytes;
    }
    if (expected != data + size)
        return fpo_fail(error, FPO_ERR_FILE, "%s: the last %zu of %zu bytes of data belong to no tensor", file->path,
                        (size_t)(data + size - expected), size);
    return FPO_OK;
}

static fpo_status read_entries(fpo_safetensors *file, const char *data, size_t size, fpo_error *error)
{
    size_t entries = json_object_size(file->header);
    file->tensors = calloc(entries + 1, sizeof(fpo_tensor));
    if (!file->tensors)
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory for %zu tensors", file->path, entries);
    const char *key;
    json_t *entry;
    json_object_foreach(file->header, key, entry)
    {
        bool metadata = strcmp(key, "__metadata__") == 0;
        fpo_status status = metadata
                                ? check_metadata(file->path, entry, error)
                                : read_tensor(file->path, key, entry, data, size, &file->tensors[file->count], error);
        if (status != FPO_OK)
            return status;
        file->count += !metadata;
    }
    qsort(file->tensors, file->count, sizeof(fpo_tensor), by_offset);
    fpo_status status = check_cover(file, data, size, error);
    qsort(file->tensors, file->count, sizeof(fpo_tensor), fpo_tensor_by_name);
    return status;
}

fpo_status fpo_safetensors_header(fpo_safetensors *file, const char *bytes, size_t size, fpo_error *error)
{
    uint64_t length;
    if (size < LENGTH_BYTES)
        return fpo_fail(error, FPO_ERR_FILE, "%s: %zu bytes, too short for a safetensors file", file->path, size);
    memcpy(&length, bytes, sizeof(length));
    if (length > HEADER_MAX)
        return fpo_fail(error, FPO_ERR_FILE, "%s: a header of %llu bytes, over the limit of %d: is it safetensors?",
                        file->path, (unsigned long long)length, HEADER_MAX);
    if (length > size - LENGTH_BYTES)
        return fpo_fail(error, FPO_ERR_FILE, "%s: a header of %llu bytes in a file of %zu: truncated?", file->path,
                        (unsigned long long)length, size);
    if (length < 2 || bytes[LENGTH_BYTES] != '{')
        return fpo_fail(error, FPO_ERR_FILE, "%s: the header is no JSON object: is it safetensors?", file->path);

    json_error_t json;
    file->header = json_loadb(bytes + LENGTH_BYTES, length, JSON_REJECT_DUPLICATES, &json);
    if (!file->header)
        return fpo_fail(error, FPO_ERR_FILE, "%s: header, byte %d: %s", file->path, json.position,
                        fpo_shown(json.text).text);
    size_t begin = LENGTH_BYTES + (size_t)length;
    return read_entries(file, bytes + begin, size - begin, error);
}
