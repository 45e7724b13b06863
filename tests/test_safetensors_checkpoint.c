/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Checkpoints: single files, indexes of shards, folders; FILE[:TENSOR]; and that no index reaches out of its folder. */
#include "checkpoint.h"
#include "scratch.h"
#include "suite.h"

static fpo_scratch scratch;
static fpo_error error;

static void begin(void)
{
    fpo_scratch_open(&scratch);
}

static void end(void)
{
    fpo_scratch_close(&scratch);
}

/* A file with one-byte tensors; each holds `value`. */
static void write_tensors(const char *file, const char *const *names, size_t count, unsigned char value)
{
    fpo_tensor tensors[8];
    for (size_t i = 0; i < count; i++)
        tensors[i] = (fpo_tensor){.name = names[i], .dtype = FPO_DTYPE_U8, .data = &value, .bytes = 1};
    ck_assert_int_eq(fpo_safetensors_write(fpo_scratch_path(&scratch, file), tensors, count, NULL, 0, NULL), FPO_OK);
}

static void write_index(const char *name, const char *map)
{
    char text[1024];
    snprintf(text, sizeof(text), "{\"metadata\": {\"total_size\": 3}, \"weight_map\": %s}", map);
    fpo_scratch_file(&scratch, name, text, strlen(text));
}

static fpo_checkpoint *open_checkpoint(const char *path)
{
    fpo_checkpoint *checkpoint;
    ck_assert_msg(fpo_checkpoint_open(path, &checkpoint, &error) == FPO_OK, "%s", error.message);
    return checkpoint;
}

static void expect_value(fpo_checkpoint *checkpoint, const char *name, unsigned char value)
{
    const fpo_tensor *tensor;
    ck_assert_msg(fpo_checkpoint_tensor(checkpoint, name, &tensor, &error) == FPO_OK, "%s", error.message);
    ck_assert_str_eq(tensor->name, name);
    ck_assert_uint_eq(*(const unsigned char *)tensor->data, value);
}

static void expect_failure(fpo_status expected, fpo_status observed, const char *message)
{
    ck_assert_int_eq(observed, expected);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
}

START_TEST(index_and_folder_find_the_shard)
{
    write_tensors("model-00001-of-00003.safetensors", (const char *[]){"x", "z"}, 2, 1);
    write_tensors("model-00002-of-00003.safetensors", (const char *[]){"y", "hidden"}, 2, 2);
    write_tensors("other.safetensors", (const char *[]){"x"}, 1, 9);
    write_index("model.safetensors.index.json",
                "{\"z\": \"model-00001-of-00003.safetensors\", \"y\": \"model-00002-of-00003.safetensors\","
                " \"x\": \"model-00001-of-00003.safetensors\", \"w\": \"model-00003-of-00003.safetensors\","
                " \"v\": \"model-00001-of-00003.safetensors\"}");
    for (int folder = 0; folder < 2; folder++) {
        const char *path = folder ? scratch.folder : fpo_scratch_path(&scratch, "model.safetensors.index.json");
        fpo_checkpoint *checkpoint = open_checkpoint(path);
        ck_assert_uint_eq(fpo_checkpoint_count(checkpoint), 5);
        ck_assert_str_eq(fpo_checkpoint_name(checkpoint, 0), "v");
        ck_assert_str_eq(fpo_checkpoint_name(checkpoint, 4), "z");
        ck_assert_ptr_null(fpo_checkpoint_name(checkpoint, 5));
        ck_assert(!fpo_checkpoint_has(checkpoint, "hidden"));
        expect_value(checkpoint, "y", 2);
        expect_value(checkpoint, "z", 1);
        expect_value(checkpoint, "x", 1);
        const fpo_tensor *tensor;
        /* A missing shard fails for its own tensors alone, and names both. */
        expect_failure(FPO_ERR_IO, fpo_checkpoint_tensor(checkpoint, "w", &tensor, &error), "tensor w: /");
        ck_assert_ptr_nonnull(strstr(error.message, "model-00003-of-00003.safetensors: No such file"));
        expect_failure(FPO_ERR_FILE, fpo_checkpoint_tensor(checkpoint, "v", &tensor, &error),
                       "model-00001-of-00003.safetensors has no tensor v, which");
        expect_failure(FPO_ERR_ARGUMENT, fpo_checkpoint_tensor(checkpoint, "u", &tensor, &error), "has no tensor u");
        ck_assert_ptr_null(tensor);
        fpo_checkpoint_close(checkpoint);
    }
}
END_TEST

START_TEST(folder_without_index)
{
    fpo_checkpoint *checkpoint;
    expect_failure(FPO_ERR_IO, fpo_checkpoint_open(scratch.folder, &checkpoint, &error), "without safetensors");
    write_tensors("b.safetensors", (const char *[]){"x", "z"}, 2, 1);
    write_tensors("a.safetensors", (const char *[]){"y"}, 1, 2);
    checkpoint = open_checkpoint(scratch.folder);
    ck_assert_uint_eq(fpo_checkpoint_count(checkpoint), 3);
    expect_value(checkpoint, "x", 1);
    expect_value(checkpoint, "y", 2);
    fpo_checkpoint_close(checkpoint);
    write_tensors("c.safetensors", (const char *[]){"z"}, 1, 3);
    expect_failure(FPO_ERR_FILE, fpo_checkpoint_open(scratch.folder, &checkpoint, &error), "tensor z is in");
    ck_assert_ptr_null(checkpoint);
    write_index("a.index.json", "{}");
    write_index("b.index.json", "{}");
    expect_failure(FPO_ERR_ARGUMENT, fpo_checkpoint_open(scratch.folder, &checkpoint, &error),
                   "two indexes, name one: a.index.json, b.index.json");
}
END_TEST

START_TEST(index_stays_in_its_folder)
{
    static const char *const maps[] = {
        "{\"a\": \"../x.safetensors\"}",
        "{\"a\": \"/etc/passwd\"}",
        "{\"a\": \"..\"}",
        "{\"a\": \".\"}",
        "{\"a\": \"\"}",
        "{\"a\": \"sub/x\"}",
        "{\"a\": 1}",
        "{\"a\": null}",
    };
    fpo_checkpoint *checkpoint;
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        write_index("x.index.json", maps[i]);
        expect_failure(FPO_ERR_FILE,
                       fpo_checkpoint_open(fpo_scratch_path(&scratch, "x.index.json"), &checkpoint, &error),
                       "tensor a: no file name in the same folder");
    }
    static const char *const others[] = {"{}", "[]", "{\"weight_map\": []}",
                                         "{",  "",   "{\"weight_map\": {\"a\": \"x\", \"a\": \"y\"}}"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        fpo_scratch_file(&scratch, "y.json", others[i], strlen(others[i]));
        ck_assert_int_eq(fpo_checkpoint_open(fpo_scratch_path(&scratch, "y.json"), &checkpoint, &error), FPO_ERR_FILE);
        ck_assert_ptr_null(checkpoint);
    }
    ck_assert_int_eq(fpo_checkpoint_open(fpo_scratch_path(&scratch, "none.json"), &checkpoint, &error), FPO_ERR_IO);
}
END_TEST

static void expect_tensor(const char *argument, const char *name)
{
    fpo_tensor_source source;
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", scratch.folder, argument);
    ck_assert_msg(fpo_tensor_open(path, &source, &error) == FPO_OK, "%s", error.message);
    ck_assert_str_eq(source.tensor->name, name);
    fpo_tensor_close(&source);
}

static void expect_no_tensor(const char *argument, fpo_status status, const char *message)
{
    fpo_tensor_source source;
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", scratch.folder, argument);
    expect_failure(status, fpo_tensor_open(path, &source, &error), message);
    ck_assert_ptr_null(source.checkpoint);
}

START_TEST(arguments_choose_a_tensor)
{
    write_tensors("one", (const char *[]){"only:this"}, 1, 1);
    write_tensors("two", (const char *[]){"b", "a:c", "c"}, 3, 1);
    write_tensors("two:a", (const char *[]){"d", "c"}, 2, 1);
    write_tensors("none", NULL, 0, 1);
    expect_tensor("one", "only:this");
    expect_tensor("one:only:this", "only:this");
    expect_tensor("two:b", "b");
    expect_tensor("two:a:c", "c"); /* in file two:a, which is there */
    expect_tensor("two:a:d", "d");
    expect_no_tensor("two", FPO_ERR_ARGUMENT, "has 3 tensors, name one (FILE:TENSOR): a:c, b, c");
    expect_no_tensor("two:z", FPO_ERR_ARGUMENT, "has no tensor z, but a:c, b, c");
    expect_no_tensor("none", FPO_ERR_ARGUMENT, "has no tensors");
    expect_no_tensor("absent:a", FPO_ERR_IO, "absent:a: No such file");
}
END_TEST

START_TEST(long_lists_of_names_are_cut)
{
    enum { COUNT = 200 };
    static char names[COUNT][40];
    static fpo_tensor tensors[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "model.layers.%03d.mlp.weight", i);
        tensors[i] = (fpo_tensor){.name = names[i], .dtype = FPO_DTYPE_U8, .data = "x", .bytes = 1};
    }
    ck_assert_int_eq(fpo_safetensors_write(fpo_scratch_path(&scratch, "x"), tensors, COUNT, NULL, 0, NULL), FPO_OK);
    expect_no_tensor("x", FPO_ERR_ARGUMENT, ": model.layers.000.mlp.weight, model.layers.001.mlp.weight, ");
    size_t length = strlen(error.message);
    ck_assert_uint_lt(length, FPO_MESSAGE_SIZE);
    ck_assert_str_eq(error.message + length - 16, ".mlp.weight, ...");
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("checkpoints");
    TCase *folders = tcase_create("folders");
    tcase_add_checked_fixture(folders, begin, end);
    tcase_add_test(folders, index_and_folder_find_the_shard);
    tcase_add_test(folders, folder_without_index);
    tcase_add_test(folders, index_stays_in_its_folder);
    tcase_add_test(folders, arguments_choose_a_tensor);
    tcase_add_test(folders, long_lists_of_names_are_cut);
    suite_add_tcase(suite, folders);
    return suite;
}
