/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Reading vector files: the metadata, then the tensors that it calls for, then their digests. */
#include "spec_json.h"
#include "text.h"
#include "vector_memory.h"

#include <stdlib.h>
#include <string.h>

/* A fuzzer cannot guess digests, and would never see what comes after them. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { FUZZING = true };
#else
enum { FUZZING = false };
#endif

static bool parse_seed(const char *text, uint64_t *seed)
{
    *seed = 0;
    if (!*text || strspn(text, "0123456789") != strlen(text))
        return false;
    for (; *text; text++)
        if (__builtin_mul_overflow(*seed, (uint64_t)10, seed) ||
            __builtin_add_overflow(*seed, (uint64_t)(*text - '0'), seed))
            return false;
    return true;
}

/* A member of "expected": the model's name and its numbers. */
static fpo_status read_model(fpo_vector *vector, json_t *entry, size_t index, fpo_error *error)
{
    char *name;
    json_t *numbers;
    json_error_t json;
    fpo_expected *expected = &vector->expected[index];
    if (json_unpack_ex(entry, &json, JSON_STRICT, "{s:s, s:o}", "model", &name, "accumulation", &numbers) != 0)
        return fpo_fail(error, FPO_ERR_FILE, "expected[%zu]: %s", index, fpo_shown(json.text).text);
    if (!fpo_model_name_valid(name) || fpo_vector_expected(vector, name))
        return fpo_fail(error, FPO_ERR_FILE, "expected[%zu]: no name for a model, or a second time: %s", index,
                        fpo_shown(name).text);
    char path[64];
    snprintf(path, sizeof(path), "expected[%zu].accumulation", index);
    fpo_status status = fpo_record_from_json(&fpo_record_accumulation, numbers, path, &expected->accumulation, error);
    if (status == FPO_OK && !(expected->model = fpo_vector_text(vector, name)))
        status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    vector->expected_count += status == FPO_OK;
    return status;
}

static fpo_status read_models(fpo_vector *vector, json_t *list, fpo_error *error)
{
    size_t count = json_array_size(list);
    if (count == 0)
        return fpo_fail(error, FPO_ERR_FILE, "expected: no array, or an empty one");
    vector->expected = calloc(count, sizeof(fpo_expected));
    if (!vector->expected)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        fpo_status status = read_model(vector, json_array_get(list, i), i, error);
        if (status != FPO_OK)
            return status;
    }
    return FPO_OK;
}

/* The file has the spec without its accumulation, which each model has of its own. */
static fpo_status read_spec(fpo_vector *vector, json_t *spec, json_t *list, fpo_error *error)
{
    if (json_object_get(spec, "accumulation"))
        return fpo_fail(error, FPO_ERR_FILE, "spec.accumulation: it belongs to each member of \"expected\"");
    json_t *accumulation = json_object_get(json_array_get(list, 0), "accumulation");
    json_t *whole = json_is_object(spec) ? json_copy(spec) : json_null();
    if (json_is_object(whole))
        json_object_set(whole, "accumulation", accumulation);
    fpo_status status = fpo_record_from_json(&fpo_record_gemm_spec, whole, "spec", &vector->spec, error);
    json_decref(whole);
    for (size_t i = 0; i < vector->expected_count && status == FPO_OK; i++) {
        fpo_gemm_spec checked = fpo_vector_spec(vector, &vector->expected[i]);
        fpo_error cause;
        if (fpo_spec_check(&checked, &cause) != FPO_OK)
            status = fpo_fail(error, FPO_ERR_FILE, "spec under %s: %s", vector->expected[i].model, cause.message);
    }
    return status;
}

static fpo_status read_document(fpo_vector *vector, json_t *document, json_t **digests, fpo_error *error)
{
    int version;
    json_error_t json;
    if (json_unpack_ex(document, &json, 0, "{s:i}", "version", &version) != 0)
        return fpo_fail(error, FPO_ERR_FILE, "%s", fpo_shown(json.text).text);
    if (version != FPO_VECTOR_VERSION)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "version %d of the vector format; this program reads version %d",
                        version, FPO_VECTOR_VERSION);
    const char *program, *purpose, *data, *seed;
    json_int_t m, n, k;
    json_t *spec, *models;
    if (json_unpack_ex(document, &json, JSON_STRICT, "{s:i, s:s, s:s, s:s, s:s, s:{s:I, s:I, s:I !}, s:o, s:o, s:o}",
                       "version", &version, "program", &program, "purpose", &purpose, "data", &data, "seed", &seed,
                       "shape", "m", &m, "n", &n, "k", &k, "spec", &spec, "expected", &models, "digests", digests) != 0)
        return fpo_fail(error, FPO_ERR_FILE, "%s", fpo_shown(json.text).text);
    if (m < 1 || n < 1 || k < 1)
        return fpo_fail(error, FPO_ERR_FILE, "shape: M, N and K are at least 1, not %lld, %lld and %lld", (long long)m,
                        (long long)n, (long long)k);
    if (!parse_seed(seed, &vector->seed))
        return fpo_fail(error, FPO_ERR_FILE, "seed: no decimal number of 64 bits: %s", fpo_shown(seed).text);
    if (!json_is_object(*digests))
        return fpo_fail(error, FPO_ERR_FILE, "digests: no object");
    vector->problem.m = m;
    vector->problem.n = n;
    vector->problem.k = k;
    vector->program = fpo_vector_text(vector, program);
    vector->purpose = fpo_vector_text(vector, purpose);
    vector->data = fpo_vector_text(vector, data);
    if (!vector->program || !vector->purpose || !vector->data)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    fpo_status status = read_models(vector, models, error);
    return status == FPO_OK ? read_spec(vector, spec, models, error) : status;
}

/* The recorded digest of a tensor; `used` counts the entries that are somebody's. */
static fpo_status find_digest(const json_t *digests, const char *name, fpo_digest *digest, size_t *used,
                              fpo_error *error)
{
    const char *text = json_string_value(json_object_get(digests, name));
    if (!text || !fpo_digest_parse(text, digest))
        return fpo_fail(error, FPO_ERR_FILE, "digests: no 32 hexadecimal digits for %s", name);
    ++*used;
    return FPO_OK;
}

static fpo_status check_tensors(const fpo_vector *vector, const json_t *digests, size_t *used, fpo_error *error)
{
    const fpo_safetensors *file = vector->memory->file;
    for (size_t i = 0; i < fpo_safetensors_count(file); i++) {
        const fpo_tensor *tensor = fpo_safetensors_at(file, i);
        fpo_digest recorded, real = fpo_digest_of(tensor->data, tensor->bytes);
        if (!vector->memory->taken[i])
            return fpo_fail(error, FPO_ERR_FILE, "tensor %s has no place in this vector", fpo_shown(tensor->name).text);
        fpo_status status = find_digest(digests, tensor->name, &recorded, used, error);
        if (status != FPO_OK)
            return status;
        if (!fpo_digest_equal(&recorded, &real) && !FUZZING)
            return fpo_fail(error, FPO_ERR_FILE, "tensor %s has the digest %s, recorded is %s: the file is damaged",
                            tensor->name, real.hex, recorded.hex);
    }
    return FPO_OK;
}

/* Outputs have a digest whether the file has them or not. */
static fpo_status read_expected(fpo_vector *vector, const json_t *digests, size_t *used, fpo_error *error)
{
    for (size_t i = 0; i < vector->expected_count; i++) {
        fpo_expected *expected = &vector->expected[i];
        const char *d = fpo_vector_output_name(vector, "d.", expected->model);
        const char *d_scale = fpo_vector_output_name(vector, "d_scale.", expected->model);
        if (!d || !d_scale)
            return fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
        size_t found = 0;
        fpo_status status = fpo_vector_attach_expected(vector, expected, error);
        if (status == FPO_OK)
            status = find_digest(digests, d, &expected->d_digest, &found, error);
        if (status == FPO_OK && expected->d)
            found--; /* counted with the file's tensors */
        if (status == FPO_OK && expected->d_scale_bytes)
            status = find_digest(digests, d_scale, &expected->d_scale_digest, &found, error);
        if (status == FPO_OK && expected->d_scale)
            found--;
        if (status != FPO_OK)
            return status;
        *used += found;
    }
    return FPO_OK;
}

static fpo_status read_file(fpo_vector *vector, json_t **document, fpo_error *error)
{
    const char *text = fpo_safetensors_metadata(vector->memory->file, FPO_VECTOR_KEY);
    vector->separates = fpo_safetensors_metadata(vector->memory->file, FPO_SEPARATES_KEY);
    if (!text)
        return fpo_fail(error, FPO_ERR_FILE,
                        "no \"" FPO_VECTOR_KEY "\" in __metadata__: it is no vector. `fp4oracle gen` makes "
                        "vectors; of a plain file with operands and an output, `fp4oracle verify --format F` judges "
                        "the output");
    json_error_t json;
    json_t *digests = NULL;
    size_t used = 0;
    *document = json_loads(text, JSON_REJECT_DUPLICATES, &json);
    if (!*document)
        return fpo_fail(error, FPO_ERR_FILE, "metadata: %s", fpo_shown(json.text).text);
    fpo_status status = read_document(vector, *document, &digests, error);
    if (status == FPO_OK)
        status = fpo_vector_attach(vector, error);
    if (status == FPO_OK)
        status = read_expected(vector, digests, &used, error);
    if (status == FPO_OK)
        status = check_tensors(vector, digests, &used, error);
    if (status == FPO_OK && used != json_object_size(digests))
        status = fpo_fail(error, FPO_ERR_FILE, "digests: %zu entries, but the vector has %zu tensors",
                          json_object_size(digests), used);
    return status;
}

fpo_status fpo_vector_parse(const void *bytes, size_t size, const char *label, fpo_vector **vector, fpo_error *error)
{
    fpo_error cause;
    json_t *document = NULL;
    fpo_status status = fpo_vector_create(vector, error);
    if (status != FPO_OK)
        return status;
    status = fpo_vector_map(*vector, label, bytes, size, error);
    if (status == FPO_OK) {
        status = read_file(*vector, &document, &cause);
        json_decref(document);
        if (status != FPO_OK)
            fpo_fail(error, status, "%s: %s", label, cause.message);
    }
    if (status != FPO_OK) {
        fpo_vector_free(*vector);
        *vector = NULL;
    }
    return status;
}

fpo_status fpo_vector_read(const char *path, fpo_vector **vector, fpo_error *error)
{
    return fpo_vector_parse(NULL, 0, path, vector, error);
}
