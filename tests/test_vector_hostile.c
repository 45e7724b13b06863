/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vector files that are damaged or do not fit together: each is refused by the name of what is wrong. */
#include "safetensors.h"
#include "scratch.h"
#include "suite.h"
#include "vector_samples.h"

#include <jansson.h>

static fpo_scratch scratch;
static fpo_error error;

/* A good file, taken apart. */
static fpo_safetensors *good;
static json_t *document;
static fpo_tensor tensors[16];
static size_t count;

static void begin(void)
{
    fpo_scratch_open(&scratch);
    fpo_sample sample = {FPO_BLOCK_NVFP4, FPO_BLOCK_MXFP8_E4M3, FPO_E2M1, FPO_BF16, FPO_F32, true, 5, 18, 40};
    fpo_vector *vector = fpo_sample_vector(&sample);
    fpo_sample_compute(vector, "exact");
    const char *path = fpo_scratch_path(&scratch, "good");
    ck_assert_msg(fpo_vector_write(path, vector, false, &error) == FPO_OK, "%s", error.message);
    fpo_vector_free(vector);
    ck_assert_int_eq(fpo_safetensors_open(path, &good, &error), FPO_OK);
    document = json_loads(fpo_safetensors_metadata(good, "fp4oracle"), 0, NULL);
    ck_assert_ptr_nonnull(document);
    for (count = 0; count < fpo_safetensors_count(good); count++)
        tensors[count] = *fpo_safetensors_at(good, count);
}

static void end(void)
{
    json_decref(document);
    fpo_safetensors_close(good);
    fpo_scratch_close(&scratch);
}

static fpo_tensor *find(const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return &tensors[i];
    ck_abort_msg("no tensor %s", name);
    return NULL;
}

/* Writes what there is now and expects this message in it (NULL: that it is fine). */
static void expect(const char *message)
{
    const char *path = fpo_scratch_path(&scratch, "bad");
    char *text = json_dumps(document, 0);
    fpo_metadata metadata = {"fp4oracle", text};
    ck_assert_msg(fpo_safetensors_write(path, tensors, count, &metadata, 1, &error) == FPO_OK, "%s", error.message);
    free(text);
    fpo_vector *vector;
    fpo_status status = fpo_vector_read(path, &vector, &error);
    if (!message) {
        ck_assert_msg(status == FPO_OK, "%s", error.message);
        fpo_vector_free(vector);
        return;
    }
    ck_assert_msg(status != FPO_OK, "%s", message);
    ck_assert_ptr_null(vector);
    ck_assert_msg(strncmp(error.message, path, strlen(path)) == 0, "%s", error.message);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s instead of %s", error.message, message);
}

START_TEST(the_undamaged_file_is_read)
{
    expect(NULL);
}
END_TEST

typedef struct damage {
    const char *keys; /* the member of the document, its ancestors before it */
    const char *text; /* JSON in its place; NULL: taken away */
    const char *message;
} damage;

static const damage damages[] = {
    {"version", "2", "version 2 of the vector format; this program reads version 1"},
    {"version", "\"1\"", "Expected integer"},
    {"version", NULL, "Object item not found: version"},
    {"program", NULL, "Object item not found: program"},
    {"purpose", "3", "Expected string"},
    {"data", NULL, "Object item not found: data"},
    {"extra", "3", "object item(s) left unpacked: extra"},
    {"seed", "7", "Expected string"},
    {"seed", "\"\"", "seed: no decimal number of 64 bits"},
    {"seed", "\"-1\"", "seed: no decimal number of 64 bits: -1"},
    {"seed", "\"18446744073709551616\"", "seed: no decimal number of 64 bits"},
    {"shape m", "0", "M, N and K are at least 1, not 0, 18 and 40"},
    {"shape m", "-5", "M, N and K are at least 1, not -5, 18 and 40"},
    {"shape m", "6", "tensor a is U8 [5, 20], but 6 x 40 codes of e2m1 are U8 [6, 20]"},
    {"shape n", "19", "tensor b is F8_E4M3 [18, 40], but 19 x 40 codes of e4m3 are F8_E4M3 [19, 40]"},
    {"shape k", "38", "tensor a is U8 [5, 20], but 5 x 38 codes of e2m1 are U8 [5, 19]"},
    {"shape k", "39", "tensor b is F8_E4M3 [18, 40], but 18 x 39"},
    {"shape k", "9223372036854775807", "tensor a: 5 x 9223372036854775807 codes of e2m1 are too many"},
    {"shape l", "1", "left unpacked: l"},
    {"shape k", "40.0", "Expected integer"},
    {"spec a stored scale block_k", "32", "tensor a_scale is F8_E4M3 [5, 3], but 5 x 2 codes of ue4m3"},
    {"spec a stored scale block_k", "-16", "a block of 1 rows by -16 elements"},
    {"spec a stored element", "\"e4m3\"", "tensor a is U8 [5, 20], but 5 x 40 codes of e4m3 are F8_E4M3 [5, 40]"},
    {"spec a stored element", "\"none\"", "a.stored.element"},
    {"spec a stored", NULL, "spec.a.stored: is missing"},
    {"spec accumulation", "{}", "spec.accumulation: it belongs to each member"},
    {"spec epilogue c", "\"f16\"", "tensor c is BF16 [5, 18], but 5 x 18 codes of f16 are F16 [5, 18]"},
    {"spec epilogue c", "\"none\"", "tensor c has no place in this vector"},
    {"spec epilogue bias_per_row", "false", "tensor bias is F32 [5], but 1 x 18 codes of f32"},
    {"spec epilogue d_scale", "\"none\"", "spec under exact: epilogue"},
    {"spec", "[]", "spec: no object"},
    {"expected", "[]", "expected: no array, or an empty one"},
    {"expected", "{}", "expected: no array, or an empty one"},
    {"expected", "[{\"model\": \"exact\"}]", "expected[0]: Object item not found: accumulation"},
    {"expected", "[{\"model\": \"a/b\", \"accumulation\": {}}]", "expected[0]: no name for a model"},
    {"expected", "[{\"model\": \"exact\", \"accumulation\": {}}]", "expected[0].accumulation.step: is missing"},
    {"expected", "[3]", "expected[0]: Expected object"},
    {"digests", "[]", "digests: no object"},
    {"digests a", NULL, "digests: no 32 hexadecimal digits for a"},
    {"digests a", "\"00\"", "digests: no 32 hexadecimal digits for a"},
    {"digests a", "\"00000000000000000000000000000000\"", "recorded is 00000000000000000000000000000000: the file is"},
    {"digests d.exact", NULL, "digests: no 32 hexadecimal digits for d.exact"},
    {"digests d_scale.exact", NULL, "digests: no 32 hexadecimal digits for d_scale.exact"},
    {"digests d.fma_f32", "\"00000000000000000000000000000000\"", "digests: 12 entries, but the vector has 11 tensors"},
};

static void damage_document(const damage *change)
{
    char keys[80], *next = keys;
    json_t *at = document;
    snprintf(keys, sizeof(keys), "%s", change->keys);
    for (char *space; (space = strchr(next, ' ')); next = space + 1) {
        *space = 0;
        at = json_object_get(at, next);
        ck_assert_ptr_nonnull(at);
    }
    if (change->text)
        json_object_set_new(at, next, json_loads(change->text, JSON_DECODE_ANY, NULL));
    else
        ck_assert_int_eq(json_object_del(at, next), 0);
}

START_TEST(damaged_documents_are_refused)
{
    json_t *kept = document;
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        document = json_deep_copy(kept);
        damage_document(&damages[i]);
        expect(damages[i].message);
        json_decref(document);
    }
    document = kept;
    json_t *models = json_object_get(document, "expected");
    json_array_append(models, json_array_get(models, 0));
    expect("expected[1]: no name for a model, or a second time: exact");
}
END_TEST

START_TEST(no_document_is_refused)
{
    const char *path = fpo_scratch_path(&scratch, "bad");
    fpo_vector *vector;
    ck_assert_int_eq(fpo_safetensors_write(path, tensors, count, NULL, 0, NULL), FPO_OK);
    ck_assert_int_eq(fpo_vector_read(path, &vector, &error), FPO_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(error.message, "it is no vector. `fp4oracle gen` makes vectors; of a plain file"));
    static const char *const texts[] = {"", "{", "[]", "3", "{\"version\": 1, \"version\": 1}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        fpo_metadata metadata = {"fp4oracle", texts[i]};
        ck_assert_int_eq(fpo_safetensors_write(path, tensors, count, &metadata, 1, NULL), FPO_OK);
        ck_assert_int_eq(fpo_vector_read(path, &vector, &error), FPO_ERR_FILE);
        ck_assert_ptr_null(vector);
    }
}
END_TEST

START_TEST(every_tensor_that_is_needed_must_be_there)
{
    static const char *const needed[] = {"a", "b", "a_scale", "b_scale", "c", "bias"};
    for (size_t i = 0; i < 6; i++) {
        fpo_tensor *tensor = find(needed[i]);
        const char *name = tensor->name;
        char message[64];
        snprintf(message, sizeof(message), "no tensor %s, which must hold", needed[i]);
        tensor->name = "other";
        expect(message);
        tensor->name = name;
    }
    find("alpha")->name = "alfa"; /* a typing error is not taken for alpha = 1 */
    expect("tensor alfa has no place in this vector");
}
END_TEST

START_TEST(every_changed_byte_is_seen)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char copy[1024];
        const void *kept = tensors[i].data;
        ck_assert_uint_le(tensors[i].bytes, sizeof(copy));
        memcpy(copy, kept, tensors[i].bytes);
        copy[tensors[i].bytes / 2] ^= 1;
        tensors[i].data = copy;
        char message[64];
        snprintf(message, sizeof(message), "tensor %s has the digest", tensors[i].name);
        expect(message);
        tensors[i].data = kept;
    }
}
END_TEST

START_TEST(wrong_dtypes_are_refused)
{
    fpo_tensor *alpha = find("alpha");
    alpha->dtype = FPO_DTYPE_I32;
    expect("tensor alpha: 1 elements of I32, but it is one number in F32");
    alpha->dtype = FPO_DTYPE_BF16;
    alpha->shape[0] = 2;
    expect("tensor alpha: 2 elements of BF16, but it is one number in F32");
    alpha->dtype = FPO_DTYPE_F32;
    alpha->shape[0] = 1;
    find("b")->dtype = FPO_DTYPE_F8_E5M2; /* the same size, another format */
    expect("tensor b is F8_E5M2 [18, 40], but 18 x 40 codes of e4m3 are F8_E4M3 [18, 40]");
}
END_TEST

/* The same bytes under another dtype or rank are taken. */
START_TEST(other_names_for_the_same_bytes_are_taken)
{
    find("b")->dtype = FPO_DTYPE_U8;
    find("b_scale")->dtype = FPO_DTYPE_F8_E8M0;
    find("a_scale")->dtype = FPO_DTYPE_U8;
    find("a")->dtype = FPO_DTYPE_F4;
    find("a")->shape[1] = 40;
    find("alpha")->rank = 0;
    fpo_tensor *bias = find("bias");
    bias->rank = 2;
    bias->shape[0] = 1, bias->shape[1] = 5;
    expect(NULL);
    bias->shape[0] = 5, bias->shape[1] = 1;
    expect("tensor bias is F32 [5, 1], but 1 x 5 codes of f32 are F32 [1, 5]");
}
END_TEST

/* Tensors that are not aligned in the file are read all the same. */
START_TEST(misaligned_tensors_are_read)
{
    /* The writer would align them; this header is one space longer than its. */
    char *text = json_dumps(document, JSON_COMPACT);
    fpo_metadata metadata = {"fp4oracle", text};
    ck_assert_int_eq(fpo_safetensors_write(fpo_scratch_path(&scratch, "aligned"), tensors, count, &metadata, 1, NULL),
                     FPO_OK);
    free(text);
    static char bytes[1 << 16];
    FILE *file = fopen(fpo_scratch_path(&scratch, "aligned"), "rb");
    size_t size = fread(bytes, 1, sizeof(bytes) - 1, file);
    fclose(file);
    uint64_t length;
    memcpy(&length, bytes, sizeof(length));
    memmove(bytes + 8 + length + 1, bytes + 8 + length, size - 8 - length);
    bytes[8 + length] = ' ';
    length++;
    memcpy(bytes, &length, sizeof(length));
    fpo_scratch_file(&scratch, "misaligned", bytes, size + 1);

    fpo_vector *aligned, *misaligned;
    ck_assert_int_eq(fpo_vector_read(fpo_scratch_path(&scratch, "aligned"), &aligned, &error), FPO_OK);
    ck_assert_msg(fpo_vector_read(fpo_scratch_path(&scratch, "misaligned"), &misaligned, &error) == FPO_OK, "%s",
                  error.message);
    ck_assert_uint_eq((uintptr_t)misaligned->problem.bias % 4, 0);
    ck_assert_mem_eq(misaligned->problem.bias, aligned->problem.bias, aligned->problem.bias_bytes);
    ck_assert_mem_eq(misaligned->problem.c, aligned->problem.c, aligned->problem.c_bytes);
    ck_assert(misaligned->problem.alpha == aligned->problem.alpha);
    fpo_vector_free(aligned);
    fpo_vector_free(misaligned);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("hostile vector files");
    TCase *files = tcase_create("files");
    tcase_set_timeout(files, 60);
    tcase_add_checked_fixture(files, begin, end);
    tcase_add_test(files, the_undamaged_file_is_read);
    tcase_add_test(files, damaged_documents_are_refused);
    tcase_add_test(files, no_document_is_refused);
    tcase_add_test(files, every_tensor_that_is_needed_must_be_there);
    tcase_add_test(files, every_changed_byte_is_seen);
    tcase_add_test(files, wrong_dtypes_are_refused);
    tcase_add_test(files, other_names_for_the_same_bytes_are_taken);
    tcase_add_test(files, misaligned_tensors_are_read);
    suite_add_tcase(suite, files);
    return suite;
}
