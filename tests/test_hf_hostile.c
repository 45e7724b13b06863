/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Folders that are wrong in one thing each: the error names it. And schemes that no recorded checkpoint has, made here
 * byte by byte: gpt-oss' experts, DeepSeek's e8m0 scales, modelopt without a word in config.json. */
#include "hf_checkpoint.h"
#include "scratch.h"
#include "suite.h"

#include <math.h>

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

static void write_text(const char *name, const char *text)
{
    fpo_scratch_file(&scratch, name, text, strlen(text));
}

static void write_tensors(const char *file, const fpo_tensor *tensors, size_t count)
{
    ck_assert_msg(fpo_safetensors_write(fpo_scratch_path(&scratch, file), tensors, count, NULL, 0, &error) == FPO_OK,
                  "%s", error.message);
}

#define CT_GROUP(weights, activations)                                                                                 \
    "{\"quantization_config\": {\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"weights\": {"  \
    "\"type\": \"float\", " weights "}, \"input_activations\": {\"type\": \"float\", " activations "}}}}}"
#define CT_NVFP4                                                                                                       \
    CT_GROUP("\"num_bits\": 4, \"strategy\": \"tensor_group\", \"group_size\": 16",                                    \
             "\"num_bits\": 4, \"strategy\": \"tensor_group\", \"group_size\": 16")

static const uint8_t bytes[4096] = {[0] = 0x38, [1] = 0x38, [2] = 0x38, [3] = 0x38, [4] = 0x38, [5] = 0x38};
static const float one[4] = {2, 1, 1, 1}, zero = 0, not_a_number = NAN, negative = -1, infinite = INFINITY;

/* A right layer of compressed-tensors NVFP4: 4 x 32. */
enum { CODES, SCALES, TENSOR_SCALE, INPUT_SCALE, TENSORS };
static void right_layer(fpo_tensor *tensors)
{
    tensors[CODES] = (fpo_tensor){"l.weight_packed", FPO_DTYPE_U8, 2, {4, 16}, 0, bytes, 64};
    tensors[SCALES] = (fpo_tensor){"l.weight_scale", FPO_DTYPE_F8_E4M3, 2, {4, 2}, 0, bytes, 8};
    tensors[TENSOR_SCALE] = (fpo_tensor){"l.weight_global_scale", FPO_DTYPE_F32, 1, {1}, 0, one, 4};
    tensors[INPUT_SCALE] = (fpo_tensor){"l.input_global_scale", FPO_DTYPE_F32, 1, {1}, 0, one, 4};
}

static fpo_status read_named(const char *name, fpo_hf_layer *layer, fpo_hf **hf)
{
    memset(layer, 0, sizeof *layer);
    fpo_status status = fpo_hf_open(scratch.folder, hf, &error);
    return status == FPO_OK ? fpo_hf_layer_read(*hf, name, layer, &error) : status;
}

static void refused(fpo_status expected, const char *message)
{
    fpo_hf_layer layer;
    fpo_hf *hf = NULL;
    ck_assert_int_eq(read_named("l", &layer, &hf), expected);
    ck_assert_msg(strstr(error.message, message) != NULL, "'%s' is not in: %s", message, error.message);
    fpo_hf_close(hf);
}

/* One tensor of the right layer is another, or missing (dtype FPO_DTYPE_COUNT). */
static const struct {
    int tensor;
    fpo_dtype dtype;
    size_t rank;
    int64_t shape[4];
    const void *data;
    size_t size;
    fpo_status status;
    const char *message;
} wrong_tensors[] = {
    {CODES, FPO_DTYPE_COUNT, 0, {0}, NULL, 0, FPO_ERR_FILE, "no layer has both"},
    {SCALES, FPO_DTYPE_COUNT, 0, {0}, NULL, 0, FPO_ERR_FILE, "no layer has both"},
    {TENSOR_SCALE, FPO_DTYPE_COUNT, 0, {0}, NULL, 0, FPO_ERR_FILE, "no tensor l.weight_global_scale"},
    {CODES, FPO_DTYPE_F8_E4M3, 2, {4, 16}, bytes, 64, FPO_ERR_FILE, "l.weight_packed is F8_E4M3, not U8"},
    {CODES, FPO_DTYPE_U8, 1, {64}, bytes, 64, FPO_ERR_SHAPE, "l.weight_packed has the shape [64]"},
    {CODES, FPO_DTYPE_U8, 3, {4, 4, 4}, bytes, 64, FPO_ERR_SHAPE, "[4, 4, 4]"},
    {CODES, FPO_DTYPE_U8, 2, {0, 16}, bytes, 0, FPO_ERR_SHAPE, "[0, 16]"},
    {CODES, FPO_DTYPE_U8, 2, {4, 17}, bytes, 68, FPO_ERR_SHAPE, "4 x 34 codes need 4 x 3 scales"},
    {SCALES, FPO_DTYPE_U8, 2, {4, 2}, bytes, 8, FPO_ERR_FILE, "l.weight_scale is U8, not F8_E4M3"},
    {SCALES, FPO_DTYPE_BF16, 2, {4, 2}, bytes, 16, FPO_ERR_FILE, "l.weight_scale is BF16"},
    {SCALES, FPO_DTYPE_F8_E4M3, 2, {2, 4}, bytes, 8, FPO_ERR_SHAPE, "[2, 4], but 4 x 32 codes need 4 x 2"},
    {SCALES, FPO_DTYPE_F8_E4M3, 1, {8}, bytes, 8, FPO_ERR_SHAPE, "[8], but"},
    {SCALES, FPO_DTYPE_F8_E4M3, 2, {128, 4}, bytes, 512, FPO_ERR_SHAPE, "[128, 4], but"},
    {SCALES, FPO_DTYPE_F8_E4M3, 2, {0, 2}, bytes, 0, FPO_ERR_SHAPE, "[0, 2], but"},
    {TENSOR_SCALE, FPO_DTYPE_F32, 1, {2}, one, 8, FPO_ERR_SHAPE, "l.weight_global_scale has the shape [2]"},
    {TENSOR_SCALE, FPO_DTYPE_F64, 1, {1}, bytes, 8, FPO_ERR_FILE, "l.weight_global_scale is F64"},
    {TENSOR_SCALE, FPO_DTYPE_F32, 1, {1}, &zero, 4, FPO_ERR_FILE, "l.weight_global_scale is 0"},
    {TENSOR_SCALE, FPO_DTYPE_F32, 1, {1}, &not_a_number, 4, FPO_ERR_FILE, "l.weight_global_scale is nan"},
    {TENSOR_SCALE, FPO_DTYPE_F32, 1, {1}, &negative, 4, FPO_ERR_FILE, "l.weight_global_scale is -1"},
    {INPUT_SCALE, FPO_DTYPE_F32, 1, {1}, &infinite, 4, FPO_ERR_FILE, "l.input_global_scale is inf"},
};

START_TEST(a_wrong_tensor_is_named)
{
    fpo_tensor tensors[TENSORS];
    right_layer(tensors);
    fpo_tensor *changed = &tensors[wrong_tensors[_i].tensor];
    changed->dtype = wrong_tensors[_i].dtype;
    changed->rank = wrong_tensors[_i].rank;
    memcpy(changed->shape, wrong_tensors[_i].shape, sizeof wrong_tensors[_i].shape);
    changed->data = wrong_tensors[_i].data;
    changed->bytes = wrong_tensors[_i].size;
    size_t count = TENSORS;
    if (changed->dtype == FPO_DTYPE_COUNT)
        *changed = tensors[--count];
    write_text("config.json", CT_NVFP4);
    write_tensors("model.safetensors", tensors, count);
    refused(wrong_tensors[_i].status, wrong_tensors[_i].message);
}
END_TEST

START_TEST(awq_is_refused_not_ignored)
{
    fpo_tensor tensors[TENSORS + 1];
    right_layer(tensors);
    tensors[TENSORS] = (fpo_tensor){"l.pre_quant_scale", FPO_DTYPE_F32, 1, {1}, 0, one, 4};
    write_text("config.json", CT_NVFP4);
    write_tensors("model.safetensors", tensors, TENSORS + 1);
    refused(FPO_ERR_UNSUPPORTED, "l.pre_quant_scale");
}
END_TEST

/* Configurations over the right layer; NULL: no file. */
static const struct {
    const char *config, *quant_config;
    fpo_status status;
    const char *message;
} wrong_configs[] = {
    {NULL, NULL, FPO_ERR_IO, "no config.json"},
    {"", NULL, FPO_ERR_FILE, "config.json"},
    {"[]", NULL, FPO_ERR_UNSUPPORTED, "is it quantised?"},
    {"{}", NULL, FPO_ERR_UNSUPPORTED, "is it quantised?"},
    {"{\"quantization_config\": {}}", NULL, FPO_ERR_FILE, "quant_method"},
    {"{\"quantization_config\": {\"quant_method\": \"awq\"}}", NULL, FPO_ERR_UNSUPPORTED, "awq"},
    {"{\"quantization_config\": {\"quant_method\": \"modelopt\"}}", NULL, FPO_ERR_FILE, "quant_algo"},
    {"{\"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": \"MIXED_PRECISION\"}}", NULL,
     FPO_ERR_UNSUPPORTED, "MIXED_PRECISION"},
    {"{}", "{\"quantization\": {\"quant_algo\": \"W4A8_AWQ\"}}", FPO_ERR_UNSUPPORTED, "W4A8_AWQ"},
    {"{}", "{}", FPO_ERR_FILE, "quant_algo"},
    {"{\"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}}", NULL, FPO_ERR_FILE,
     "no layer has both NAME.weight and NAME.weight_scale"},
    {"{\"quantization_config\": {\"quant_method\": \"compressed-tensors\"}}", NULL, FPO_ERR_FILE, "config_groups"},
    {CT_GROUP("\"num_bits\": 4, \"strategy\": \"group\", \"group_size\": 64", "\"num_bits\": 8"), NULL,
     FPO_ERR_UNSUPPORTED, "4 group 64 -> 8 tensor"},
    {"{\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [64, 64]}}", NULL,
     FPO_ERR_UNSUPPORTED, "block 64x64"},
    {"{\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [128]}}", NULL, FPO_ERR_FILE,
     "weight_block_size"},
    {"{\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], \"activation_scheme\": "
     "\"static\"}}",
     NULL, FPO_ERR_FILE, "must be dynamic"},
    {"{\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [9223372036854775807, -1]}}", NULL,
     FPO_ERR_UNSUPPORTED, "9223372036854775807x-1"},
    {"{\"quantization_config\": {\"quant_method\": 7}}", NULL, FPO_ERR_FILE, "quant_method"},
};

START_TEST(a_wrong_configuration_is_named)
{
    fpo_tensor tensors[TENSORS];
    right_layer(tensors);
    write_tensors("model.safetensors", tensors, TENSORS);
    if (wrong_configs[_i].config != NULL)
        write_text("config.json", wrong_configs[_i].config);
    if (wrong_configs[_i].quant_config != NULL)
        write_text("hf_quant_config.json", wrong_configs[_i].quant_config);
    refused(wrong_configs[_i].status, wrong_configs[_i].message);
}
END_TEST

START_TEST(shards_stay_in_the_folder)
{
    fpo_tensor tensors[TENSORS];
    right_layer(tensors);
    write_text("config.json", CT_NVFP4);
    write_tensors("one.safetensors", tensors, 2);
    write_tensors("two.safetensors", tensors + 2, 2);
#define INDEX(file)                                                                                                    \
    "{\"weight_map\": {\"l.weight_packed\": \"one.safetensors\", \"l.weight_scale\": \"one.safetensors\", "            \
    "\"l.weight_global_scale\": \"" file "\", \"l.input_global_scale\": \"" file "\"}}"
    write_text("model.safetensors.index.json", INDEX("two.safetensors"));
    fpo_hf_layer layer;
    fpo_hf *hf = NULL;
    ck_assert_msg(read_named("l", &layer, &hf) == FPO_OK, "%s", error.message);
    ck_assert_int_eq(layer.k, 32);
    ck_assert_float_eq(layer.weight.tensor_scale, 0.5F); /* a divisor of 2 */
    fpo_hf_layer_free(&layer);
    fpo_hf_close(hf);
    write_text("model.safetensors.index.json", INDEX("../two.safetensors"));
    refused(FPO_ERR_FILE, "l.weight_global_scale");
    write_text("model.safetensors.index.json", INDEX("/etc/passwd"));
    refused(FPO_ERR_FILE, "l.weight_global_scale");
    write_text("model.safetensors.index.json", INDEX("three.safetensors"));
    refused(FPO_ERR_IO, "three.safetensors");
    write_text("model.safetensors.index.json", INDEX("one.safetensors"));
    refused(FPO_ERR_FILE, "l.weight_global_scale");
}
END_TEST

/* Two experts of 3 x 64; the second one's codes are the first's bytes and 96 further on. */
START_TEST(gpt_oss_experts_are_layers)
{
    uint8_t blocks[2 * 3 * 2 * 16], scales[2 * 3 * 2];
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = (uint8_t)(i * 37);
    for (size_t i = 0; i < sizeof scales; i++)
        scales[i] = (uint8_t)(120 + i);
    const fpo_tensor tensors[] = {
        {"e.down_proj_blocks", FPO_DTYPE_U8, 4, {2, 3, 2, 16}, 0, blocks, sizeof blocks},
        {"e.down_proj_scales", FPO_DTYPE_U8, 3, {2, 3, 2}, 0, scales, sizeof scales},
        {"e.down_proj_bias", FPO_DTYPE_BF16, 2, {2, 3}, 0, bytes, 12},
    };
    write_text("config.json", "{\"quantization_config\": {\"quant_method\": \"mxfp4\"}}");
    write_tensors("model.safetensors", tensors, 3);
    fpo_hf *hf = NULL;
    fpo_hf_layer layer;
    ck_assert_msg(read_named("e.down_proj.1", &layer, &hf) == FPO_OK, "%s", error.message);
    ck_assert_int_eq(fpo_hf_scheme(hf), FPO_SCHEME_GPT_OSS_MXFP4);
    ck_assert_uint_eq(fpo_hf_layer_count(hf), 2);
    ck_assert_int_eq(layer.rows, 3);
    ck_assert_int_eq(layer.k, 64);
    ck_assert_mem_eq(layer.weight.codes, blocks + 96, 96);
    ck_assert_mem_eq(layer.weight.scales, scales + 6, 6);
    float values[3 * 64];
    static const float e2m1[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    fpo_hf_layer_dequantise(&layer, values);
    for (int i = 0; i < 3 * 64; i++) {
        int code = blocks[96 + i / 2] >> (i % 2 * 4) & 0xF;
        float x = ldexpf(code & 8 ? -e2m1[code & 7] : e2m1[code & 7], scales[6 + i / 32] - 127);
        ck_assert_mem_eq(&values[i], &x, sizeof x);
    }
    fpo_hf_layer_free(&layer);
    ck_assert_int_eq(fpo_hf_layer_read(hf, "e.down_proj.2", &layer, &error), FPO_ERR_ARGUMENT);
    ck_assert_int_eq(fpo_hf_layer_read(hf, "e.down_proj", &layer, &error), FPO_ERR_ARGUMENT);
    fpo_hf_close(hf);
}
END_TEST

/* e8m0 scales become the f32 powers of two that they are; ragged blocks have theirs, too. */
START_TEST(deepseek_scales_may_be_e8m0)
{
    static uint8_t codes[130 * 200];
    memset(codes, 0x38, sizeof codes); /* 1 */
    const uint8_t scales[] = {127, 128, 120, 254};
    const fpo_tensor tensors[] = {
        {"l.weight", FPO_DTYPE_F8_E4M3, 2, {130, 200}, 0, codes, sizeof codes},
        {"l.weight_scale_inv", FPO_DTYPE_F8_E8M0, 2, {2, 2}, 0, scales, sizeof scales},
    };
    write_text("config.json",
               "{\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], "
               "\"scale_fmt\": \"ue8m0\"}}");
    write_tensors("model.safetensors", tensors, 2);
    fpo_hf *hf = NULL;
    fpo_hf_layer layer;
    ck_assert_msg(read_named("l", &layer, &hf) == FPO_OK, "%s", error.message);
    ck_assert_int_eq(fpo_hf_scheme(hf), FPO_SCHEME_FP8_BLOCK_UE8M0);
    static float values[130 * 200];
    fpo_hf_layer_dequantise(&layer, values);
    ck_assert_float_eq(values[0], 1);
    ck_assert_float_eq(values[127 * 200 + 128], 2);
    ck_assert_float_eq(values[128 * 200 + 127], 0x1p-7F);
    ck_assert_float_eq(values[129 * 200 + 199], 0x1p127F);
    fpo_hf_layer_free(&layer);
    fpo_hf_close(hf);
}
END_TEST

START_TEST(hf_quant_config_speaks_where_config_does_not)
{
    const fpo_tensor tensors[] = {
        {"l.weight", FPO_DTYPE_U8, 2, {4, 16}, 0, bytes, 64},
        {"l.weight_scale", FPO_DTYPE_F8_E4M3, 2, {4, 2}, 0, bytes, 8},
        {"l.weight_scale_2", FPO_DTYPE_F32, 0, {0}, 0, one, 4},
        {"lm_head.weight", FPO_DTYPE_BF16, 2, {4, 16}, 0, bytes, 128},
    };
    write_text("config.json", "{\"model_type\": \"llama\"}");
    write_text("hf_quant_config.json", "{\"quantization\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16}}");
    write_tensors("model.safetensors", tensors, 4);
    fpo_hf *hf = NULL;
    fpo_hf_layer layer;
    ck_assert_msg(read_named("l", &layer, &hf) == FPO_OK, "%s", error.message);
    ck_assert_int_eq(fpo_hf_scheme(hf), FPO_SCHEME_MODELOPT_NVFP4);
    ck_assert_uint_eq(fpo_hf_layer_count(hf), 1);
    ck_assert_float_eq(layer.weight.tensor_scale, 2); /* a multiplier */
    ck_assert(!layer.has_input_scale);
    fpo_hf_layer_free(&layer);
    fpo_hf_close(hf);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("hostile Hugging Face folders");
    TCase *tests = tcase_create("made here");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_loop_test(tests, a_wrong_tensor_is_named, 0, sizeof wrong_tensors / sizeof *wrong_tensors);
    tcase_add_loop_test(tests, a_wrong_configuration_is_named, 0, sizeof wrong_configs / sizeof *wrong_configs);
    tcase_add_test(tests, awq_is_refused_not_ignored);
    tcase_add_test(tests, shards_stay_in_the_folder);
    tcase_add_test(tests, gpt_oss_experts_are_layers);
    tcase_add_test(tests, deepseek_scales_may_be_e8m0);
    tcase_add_test(tests, hf_quant_config_speaks_where_config_does_not);
    suite_add_tcase(suite, tests);
    return suite;
}
