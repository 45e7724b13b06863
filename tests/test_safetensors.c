/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* safetensors: round trips of every dtype, deterministic bytes, nothing half-written. Hostile files are in
 * test_safetensors_hostile.c. */
#include "safetensors.h"
#include "scratch.h"
#include "suite.h"
#include "text.h"

#include <stdint.h>
#include <sys/stat.h>

static uint8_t pattern[4096];

static void fill_pattern(void)
{
    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = (uint8_t)(i * 37 + i / 256);
}

static fpo_tensor tensor_of(const char *name, fpo_dtype dtype, int64_t rows, int64_t columns, const void *data)
{
    fpo_tensor tensor = {.name = name, .dtype = dtype, .rank = 2, .shape = {rows, columns}, .data = data};
    tensor.bytes = (size_t)(rows * columns * fpo_dtype_bits(dtype) / 8);
    return tensor;
}

START_TEST(every_dtype_round_trips)
{
    fpo_scratch scratch;
    fpo_scratch_open(&scratch);
    fill_pattern();
    fpo_tensor tensors[FPO_DTYPE_COUNT];
    for (int i = 0; i < FPO_DTYPE_COUNT; i++)
        tensors[i] = tensor_of(fpo_dtype_name((fpo_dtype)i), (fpo_dtype)i, 3, 8, pattern + i);
    fpo_error error;
    const char *path = fpo_scratch_path(&scratch, "all.safetensors");
    ck_assert_msg(fpo_safetensors_write(path, tensors, FPO_DTYPE_COUNT, NULL, 0, &error) == FPO_OK, "%s",
                  error.message);
    fpo_safetensors *file;
    ck_assert_msg(fpo_safetensors_open(path, &file, &error) == FPO_OK, "%s", error.message);
    ck_assert_uint_eq(fpo_safetensors_count(file), FPO_DTYPE_COUNT);
    for (int i = 0; i < FPO_DTYPE_COUNT; i++) {
        const fpo_tensor *back = fpo_safetensors_find(file, fpo_dtype_name((fpo_dtype)i));
        ck_assert_ptr_nonnull(back);
        ck_assert_int_eq(back->dtype, i);
        ck_assert_uint_eq(back->rank, 2);
        ck_assert_int_eq(back->shape[0], 3);
        ck_assert_int_eq(back->shape[1], 8);
        ck_assert_int_eq(back->elements, 24);
        ck_assert_uint_eq(back->bytes, tensors[i].bytes);
        ck_assert_mem_eq(back->data, tensors[i].data, back->bytes);
        /* Descending dtypes keep every tensor aligned. */
        int align = fpo_dtype_bits(back->dtype) >= 8 ? fpo_dtype_bits(back->dtype) / 8 : 1;
        ck_assert_uint_eq((uintptr_t)back->data % (uintptr_t)align, 0);
    }
    ck_assert_ptr_null(fpo_safetensors_find(file, "no such"));
    ck_assert_ptr_null(fpo_safetensors_at(file, FPO_DTYPE_COUNT));
    fpo_safetensors_close(file);
    fpo_scratch_close(&scratch);
}
END_TEST

/* The whole file, byte for byte, as the specification has it. */
START_TEST(bytes_are_the_specified_ones)
{
    fpo_scratch scratch;
    fpo_scratch_open(&scratch);
    const uint8_t small[2] = {0x21, 0x43};
    const float number = 1.5f;
    fpo_tensor tensors[2] = {tensor_of("codes", FPO_DTYPE_F4, 1, 4, small), {.name = "alpha", .dtype = FPO_DTYPE_F32}};
    tensors[1].data = &number; /* a scalar: rank 0 */
    tensors[1].bytes = 4;
    fpo_metadata metadata[2] = {{"z", "\"quoted\"\n"}, {"a", "\xC3\xA9"}};
    fpo_error error;
    const char *path = fpo_scratch_path(&scratch, "small.safetensors");
    ck_assert_msg(fpo_safetensors_write(path, tensors, 2, metadata, 2, &error) == FPO_OK, "%s", error.message);

    const char header[] = "{\"__metadata__\":{\"a\":\"\xC3\xA9\",\"z\":\"\\\"quoted\\\"\\n\"},"
                          "\"alpha\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                          "\"codes\":{\"dtype\":\"F4\",\"shape\":[1,4],\"data_offsets\":[4,6]}}";
    size_t length = strlen(header), padded = (length + 7) / 8 * 8;
    uint8_t expected[512], observed[512];
    memset(expected, ' ', sizeof(expected));
    for (int i = 0; i < 8; i++)
        expected[i] = (uint8_t)(padded >> (8 * i));
    memcpy(expected + 8, header, length);
    memcpy(expected + 8 + padded, "\x00\x00\xC0\x3F\x21\x43", 6);
    FILE *file = fopen(path, "rb");
    ck_assert_uint_eq(fread(observed, 1, sizeof(observed), file), 8 + padded + 6);
    fclose(file);
    ck_assert_mem_eq(observed, expected, 8 + padded + 6);

    fpo_safetensors *back;
    ck_assert_msg(fpo_safetensors_open(path, &back, &error) == FPO_OK, "%s", error.message);
    ck_assert_str_eq(fpo_safetensors_metadata(back, "z"), "\"quoted\"\n");
    ck_assert_ptr_null(fpo_safetensors_metadata(back, "alpha"));
    ck_assert_str_eq(fpo_safetensors_path(back), path);
    fpo_safetensors_close(back);
    fpo_scratch_close(&scratch);
}
END_TEST

START_TEST(order_of_tensors_does_not_change_the_bytes)
{
    fpo_scratch scratch;
    fpo_scratch_open(&scratch);
    fill_pattern();
    enum { COUNT = 7 };
    const char *names[COUNT] = {"b", "a", "d.exact", "a_scale", "b_scale", "c", "alpha"};
    fpo_dtype dtypes[COUNT] = {FPO_DTYPE_U8,      FPO_DTYPE_U8,   FPO_DTYPE_BF16, FPO_DTYPE_F8_E4M3,
                               FPO_DTYPE_F8_E4M3, FPO_DTYPE_BF16, FPO_DTYPE_F32};
    uint8_t first[4096], again[4096];
    size_t size = 0;
    for (int turn = 0; turn < COUNT; turn++) {
        fpo_tensor tensors[COUNT];
        fpo_metadata metadata[2] = {{turn % 2 ? "x" : "y", "1"}, {turn % 2 ? "y" : "x", "1"}};
        for (int i = 0; i < COUNT; i++) {
            int from = (i * 3 + turn) % COUNT;
            tensors[i] = tensor_of(names[from], dtypes[from], 2 + from, 4, pattern + from);
        }
        const char *path = fpo_scratch_path(&scratch, "x");
        ck_assert_int_eq(fpo_safetensors_write(path, tensors, COUNT, metadata, 2, NULL), FPO_OK);
        FILE *file = fopen(path, "rb");
        size_t bytes = fread(turn == 0 ? first : again, 1, sizeof(first), file);
        fclose(file);
        if (turn == 0)
            size = bytes;
        else
            ck_assert_mem_eq(first, again, size);
        ck_assert_uint_eq(bytes, size);
    }
    ck_assert_int_eq(fpo_scratch_count(&scratch), 1); /* no temporary files */
    fpo_scratch_close(&scratch);
}
END_TEST

START_TEST(what_cannot_be_stored_is_refused)
{
    fpo_scratch scratch;
    fpo_scratch_open(&scratch);
    fill_pattern();
    fpo_scratch_file(&scratch, "kept", "old", 3);
    const char *path = fpo_scratch_path(&scratch, "kept");
    fpo_error error;
    fpo_tensor twice[2] = {tensor_of("a", FPO_DTYPE_U8, 1, 4, pattern), tensor_of("a", FPO_DTYPE_U8, 1, 4, pattern)};
    ck_assert_int_eq(fpo_safetensors_write(path, twice, 2, NULL, 0, &error), FPO_ERR_ARGUMENT);
    fpo_tensor odd = tensor_of("a", FPO_DTYPE_F4, 1, 3, pattern);
    ck_assert_int_eq(fpo_safetensors_write(path, &odd, 1, NULL, 0, &error), FPO_ERR_SHAPE);
    fpo_tensor wrong = tensor_of("a", FPO_DTYPE_F32, 1, 3, pattern);
    wrong.bytes--;
    ck_assert_int_eq(fpo_safetensors_write(path, &wrong, 1, NULL, 0, &error), FPO_ERR_SHAPE);
    ck_assert_str_eq(strrchr(error.message, ':'), ": 3 elements of F32 take 12 bytes, not 11");
    fpo_tensor reserved = tensor_of("__metadata__", FPO_DTYPE_U8, 1, 3, pattern);
    ck_assert_int_eq(fpo_safetensors_write(path, &reserved, 1, NULL, 0, &error), FPO_ERR_ARGUMENT);
    fpo_tensor latin = tensor_of("\xE9", FPO_DTYPE_U8, 1, 3, pattern);
    ck_assert_int_eq(fpo_safetensors_write(path, &latin, 1, NULL, 0, &error), FPO_ERR_ARGUMENT);
    fpo_tensor huge = {.name = "a", .dtype = FPO_DTYPE_U8, .rank = 2, .shape = {INT64_C(1) << 40, INT64_C(1) << 40}};
    ck_assert_int_eq(fpo_safetensors_write(path, &huge, 1, NULL, 0, &error), FPO_ERR_SHAPE);
    fpo_metadata keys[2] = {{"k", "1"}, {"k", "2"}};
    ck_assert_int_eq(fpo_safetensors_write(path, NULL, 0, keys, 2, &error), FPO_ERR_ARGUMENT);

    char kept[4] = "";
    FILE *file = fopen(path, "rb");
    ck_assert_uint_eq(fread(kept, 1, sizeof(kept), file), 3);
    fclose(file);
    ck_assert_mem_eq(kept, "old", 3);
    ck_assert_int_eq(fpo_scratch_count(&scratch), 1);

    fpo_tensor good = tensor_of("a", FPO_DTYPE_U8, 1, 4, pattern);
    ck_assert_int_eq(fpo_safetensors_write("/dev/null", &good, 1, NULL, 0, &error), FPO_ERR_IO);
    struct stat null;
    ck_assert_int_eq(stat("/dev/null", &null), 0);
    ck_assert(S_ISCHR(null.st_mode));
    ck_assert_int_eq(fpo_safetensors_write(scratch.folder, &good, 1, NULL, 0, &error), FPO_ERR_IO);
    ck_assert_int_eq(fpo_safetensors_write("/no/such/folder/x", &good, 1, NULL, 0, &error), FPO_ERR_IO);
    fpo_scratch_close(&scratch);
}
END_TEST

START_TEST(empty_file_round_trips)
{
    fpo_scratch scratch;
    fpo_scratch_open(&scratch);
    const char *path = fpo_scratch_path(&scratch, "empty");
    fpo_safetensors *file;
    ck_assert_int_eq(fpo_safetensors_write(path, NULL, 0, NULL, 0, NULL), FPO_OK);
    ck_assert_int_eq(fpo_safetensors_open(path, &file, NULL), FPO_OK);
    ck_assert_uint_eq(fpo_safetensors_count(file), 0);
    ck_assert_ptr_null(fpo_safetensors_find(file, "a"));
    ck_assert_ptr_null(fpo_safetensors_metadata(file, "a"));
    fpo_safetensors_close(file);
    fpo_scratch_close(&scratch);
}
END_TEST

START_TEST(names_in_messages_are_tame)
{
    ck_assert_str_eq(fpo_shown("model.layers.0").text, "model.layers.0");
    ck_assert_str_eq(fpo_shown("\x1B[31m\n\x7F").text, "?[31m??");
    char longer[400];
    for (size_t i = 0; i + 1 < sizeof(longer); i += 2)
        memcpy(longer + i, "\xC3\xA9", 2);
    longer[398] = 0;
    fpo_text cut = fpo_shown(longer + 2);
    ck_assert_uint_eq(strlen(cut.text), 103);
    ck_assert_mem_eq(cut.text + 48, "\xC3\xA9...\xC3\xA9", 7);
    longer[111] = 0; /* the longest that is not cut */
    ck_assert_str_eq(fpo_shown(longer).text, longer);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *files = tcase_create("files");
    tcase_add_test(files, every_dtype_round_trips);
    tcase_add_test(files, bytes_are_the_specified_ones);
    tcase_add_test(files, order_of_tensors_does_not_change_the_bytes);
    tcase_add_test(files, what_cannot_be_stored_is_refused);
    tcase_add_test(files, empty_file_round_trips);
    tcase_add_test(files, names_in_messages_are_tame);
    suite_add_tcase(suite, files);
    return suite;
}
