/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Hostile safetensors files: each is refused with a message that says why, and none is touched beyond its end (the
 * sanitizer build and the fuzzer watch that). */
#include "safetensors.h"
#include "scratch.h"
#include "suite.h"

#include <stdint.h>
#include <sys/stat.h>

typedef struct hostile {
    const char *why; /* what the file does */
    const char *header;
    size_t data;         /* bytes behind the header */
    const char *message; /* part of the message */
    fpo_status status;
} hostile;

#define U8_4(begin, end) "{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" #begin "," #end "]}"

static const hostile files[] = {
    {"offsets beyond the end", "{\"a\":" U8_4(0, 4) "}", 3, "bytes 0 to 4 are not within the 3 bytes", FPO_ERR_FILE},
    {"offsets far beyond the end", "{\"a\":" U8_4(9223372036854775803, 9223372036854775807) "}", 4, "not within the 4",
     FPO_ERR_FILE},
    {"offsets backwards", "{\"a\":" U8_4(4, 0) "}", 4, "bytes 4 to 0", FPO_ERR_FILE},
    {"negative offset", "{\"a\":" U8_4(-4, 0) "}", 4, "bytes -4 to 0", FPO_ERR_FILE},
    {"offset beyond 63 bits", "{\"a\":" U8_4(0, 18446744073709551615) "}", 4, "too big integer", FPO_ERR_FILE},
    {"fractional offset", "{\"a\":" U8_4(0, 4.0) "}", 4, "no two integers", FPO_ERR_FILE},
    {"one offset", "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4]}}", 4, "no two integers", FPO_ERR_FILE},
    {"no offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4, "no two integers", FPO_ERR_FILE},
    {"overlap", "{\"a\":" U8_4(0, 4) ",\"b\":" U8_4(2, 6) "}", 6, "tensors a and b overlap", FPO_ERR_FILE},
    {"the same bytes twice", "{\"a\":" U8_4(0, 4) ",\"b\":" U8_4(0, 4) "}", 4, "tensors a and b overlap", FPO_ERR_FILE},
    {"hole at the start", "{\"a\":" U8_4(1, 5) "}", 5, "1 bytes before tensor a", FPO_ERR_FILE},
    {"hole in the middle", "{\"b\":" U8_4(7, 11) ",\"a\":" U8_4(0, 4) "}", 11, "3 bytes before tensor b", FPO_ERR_FILE},
    {"hole at the end", "{\"a\":" U8_4(0, 4) "}", 9, "the last 5 of 9 bytes", FPO_ERR_FILE},
    {"data without tensors", "{}", 9, "the last 9 of 9 bytes", FPO_ERR_FILE},
    {"shape and size differ", "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,12]}}", 12,
     "4 elements of F32 take 16 bytes, but it has 12", FPO_ERR_FILE},
    {"product of the shape overflows",
     "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, "63 bits", FPO_ERR_FILE},
    {"bits of the shape overflow",
     "{\"a\":{\"dtype\":\"F64\",\"shape\":[1073741824,1073741824],\"data_offsets\":[0,0]}}", 0, "63 bits",
     FPO_ERR_FILE},
    {"negative dimensions", "{\"a\":{\"dtype\":\"U8\",\"shape\":[-2,-2],\"data_offsets\":[0,4]}}", 4, "shape[0]",
     FPO_ERR_FILE},
    {"shape of strings", "{\"a\":{\"dtype\":\"U8\",\"shape\":[\"4\"],\"data_offsets\":[0,4]}}", 4, "shape[0]",
     FPO_ERR_FILE},
    {"no shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,4]}}", 4, "shape is no array", FPO_ERR_FILE},
    {"17 dimensions", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}",
     1, "17 dimensions", FPO_ERR_UNSUPPORTED},
    {"half a byte", "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, "whole bytes", FPO_ERR_FILE},
    {"two thirds of a byte", "{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, "whole bytes",
     FPO_ERR_FILE},
    {"unknown dtype", "{\"a\":{\"dtype\":\"F3\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "no such dtype: F3",
     FPO_ERR_UNSUPPORTED},
    {"dtype in lower case", "{\"a\":{\"dtype\":\"u8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "no such dtype: u8",
     FPO_ERR_UNSUPPORTED},
    {"no dtype", "{\"a\":{\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "has no dtype", FPO_ERR_FILE},
    {"terminal control in a name", "{\"\\u001b[2J\":{\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "tensor ?[2J has",
     FPO_ERR_FILE},
    {"entry is a number", "{\"a\":4}", 0, "its entry is no object", FPO_ERR_FILE},
    {"duplicate tensor", "{\"a\":" U8_4(0, 4) ",\"a\":" U8_4(0, 4) "}", 4, "duplicate", FPO_ERR_FILE},
    {"duplicate member", "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
     "duplicate", FPO_ERR_FILE},
    {"NUL in a name", "{\"a\\u0000b\":" U8_4(0, 4) "}", 4, "NUL", FPO_ERR_FILE},
    {"NUL in metadata", "{\"__metadata__\":{\"k\":\"a\\u0000b\"}}", 0, "\\u0000", FPO_ERR_FILE},
    {"invalid UTF-8", "{\"\xFF\":" U8_4(0, 4) "}", 4, "unable to decode byte", FPO_ERR_FILE},
    {"overlong UTF-8", "{\"\xC0\xAF\":" U8_4(0, 4) "}", 4, "unable to decode byte", FPO_ERR_FILE},
    {"UTF-16 surrogate alone", "{\"\\ud800\":" U8_4(0, 4) "}", 4, "Unicode", FPO_ERR_FILE},
    {"metadata is no object", "{\"__metadata__\":[]}", 0, "__metadata__ is no object", FPO_ERR_FILE},
    {"metadata holds a number", "{\"__metadata__\":{\"k\":1}}", 0, "__metadata__: k is no string", FPO_ERR_FILE},
    {"array as header", "[]", 0, "no JSON object", FPO_ERR_FILE},
    {"space before the header", " {}", 0, "no JSON object", FPO_ERR_FILE},
    {"text behind the header", "{} x", 0, "end of file expected", FPO_ERR_FILE},
    {"unfinished header", "{\"a\":", 0, "header, byte", FPO_ERR_FILE},
    {"empty header", "", 0, "no JSON object", FPO_ERR_FILE},
};

static size_t build(const hostile *file, uint64_t length, uint8_t *bytes)
{
    size_t header = strlen(file->header);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, file->header, header);
    memset(bytes + 8 + header, 0x5A, file->data);
    return 8 + header + file->data;
}

/* A copy that ends where its allocation ends, so that a sanitizer sees the first byte too far. */
static fpo_status parse(const void *bytes, size_t size, fpo_error *error)
{
    void *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    fpo_safetensors *file = NULL;
    fpo_status status = fpo_safetensors_parse(exact, size, "x", &file, error);
    ck_assert((status == FPO_OK) == (file != NULL));
    fpo_safetensors_close(file);
    free(exact);
    return status;
}

START_TEST(hostile_headers_are_refused)
{
    uint8_t bytes[1024];
    fpo_error error;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t size = build(&files[i], strlen(files[i].header), bytes);
        fpo_status status = parse(bytes, size, &error);
        ck_assert_msg(status == files[i].status, "%s: status %d", files[i].why, status);
        ck_assert_msg(strstr(error.message, files[i].message) != NULL, "%s: %s", files[i].why, error.message);
    }
}
END_TEST

START_TEST(hostile_lengths_are_refused)
{
    const hostile good = {"", "{\"a\":" U8_4(0, 4) "}", 4, "", FPO_OK};
    uint8_t bytes[256];
    fpo_error error;
    size_t size = build(&good, strlen(good.header), bytes);
    ck_assert_msg(parse(bytes, size, &error) == FPO_OK, "%s", error.message);
    /* Every truncation, and every length but the right one (the spaces that would be allowed are not there). */
    for (size_t cut = 0; cut < size; cut++)
        ck_assert_int_eq(parse(bytes, cut, &error), FPO_ERR_FILE);
    for (uint64_t length = 0; length < size + 4; length++) {
        memcpy(bytes, &length, 8);
        ck_assert_int_eq(parse(bytes, size, &error), length == strlen(good.header) ? FPO_OK : FPO_ERR_FILE);
    }
    const uint64_t lengths[] = {100000001, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63, UINT64_C(1) << 32};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memcpy(bytes, &lengths[i], 8);
        ck_assert_int_eq(parse(bytes, size, &error), FPO_ERR_FILE);
        ck_assert_ptr_nonnull(strstr(error.message, "over the limit of 100000000"));
    }
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    enum { DEPTH = 1000000 };
    uint8_t *bytes = malloc(8 + 5 + DEPTH);
    uint64_t length = 5 + DEPTH;
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, "{\"a\":", 5);
    memset(bytes + 13, '[', DEPTH);
    fpo_error error;
    ck_assert_int_eq(parse(bytes, 8 + 5 + DEPTH, &error), FPO_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(error.message, "depth"));
    free(bytes);
}
END_TEST

/* What is unusual and allowed: padding, empty tensors on borders, unknown members, any order of entries. */
START_TEST(unusual_files_are_read)
{
    static const hostile good[] = {
        {"padding", "{\"a\":" U8_4(0, 4) "}      \n\t ", 4, "", FPO_OK},
        {"empty tensors",
         "{\"z\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[4,4]},\"a\":" U8_4(
             0, 4) ",\"y\":{\"dtype\":\"F4\",\"shape\":[0],\"data_offsets\":[0,0]},\"b\":" U8_4(4, 8) "}",
         8, "", FPO_OK},
        {"unknown member", "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4],\"note\":[{}]}}", 4, "",
         FPO_OK},
        {"empty name", "{\"\":" U8_4(0, 4) "}", 4, "", FPO_OK},
        {"escaped name", "{\"\\u00e9\\n\":" U8_4(0, 4) "}", 4, "", FPO_OK},
    };
    uint8_t bytes[1024];
    fpo_error error;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        size_t size = build(&good[i], strlen(good[i].header), bytes);
        ck_assert_msg(parse(bytes, size, &error) == FPO_OK, "%s: %s", good[i].why, error.message);
    }
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    fpo_scratch scratch;
    fpo_scratch_open(&scratch);
    fpo_safetensors *file;
    fpo_error error;
    ck_assert_int_eq(fpo_safetensors_open(fpo_scratch_path(&scratch, "none"), &file, &error), FPO_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "No such file"));
    ck_assert_int_eq(fpo_safetensors_open(scratch.folder, &file, &error), FPO_ERR_IO);
    ck_assert_int_eq(fpo_safetensors_open("/dev/zero", &file, &error), FPO_ERR_IO);
    fpo_scratch_file(&scratch, "empty", "", 0);
    ck_assert_int_eq(fpo_safetensors_open(fpo_scratch_path(&scratch, "empty"), &file, &error), FPO_ERR_FILE);
    ck_assert_int_eq(mkfifo(fpo_scratch_path(&scratch, "pipe"), 0600), 0);
    ck_assert_int_eq(fpo_safetensors_open(fpo_scratch_path(&scratch, "pipe"), &file, &error), FPO_ERR_IO);
    ck_assert_ptr_null(file);
    fpo_scratch_close(&scratch);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("hostile safetensors");
    TCase *bytes = tcase_create("bytes");
    tcase_add_test(bytes, hostile_headers_are_refused);
    tcase_add_test(bytes, hostile_lengths_are_refused);
    tcase_add_test(bytes, deep_nesting_is_refused);
    tcase_add_test(bytes, unusual_files_are_read);
    tcase_add_test(bytes, what_is_no_file_is_refused);
    suite_add_tcase(suite, bytes);
    return suite;
}
