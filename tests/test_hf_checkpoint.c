/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every recorded checkpoint is read: the scheme is found, and what its layers hold agrees with the library's own recipe
 * and with the other checkpoints of the same model. */
#include "hf_checkpoint.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char recorded[] = FPO_BINARY_DIR "/tests/checkpoints";
static fpo_error error;

/* The folder, its scheme, and the recipe that made it (for weights: D() rounds to bf16). */
static const struct {
    const char *folder;
    fpo_scheme scheme;
    fpo_recipe recipe;
    bool input_scale;
} records[] = {
    {"ct_fp8_block", FPO_SCHEME_CT_FP8_BLOCK, FPO_RECIPE_CT_FP8_128X128, false},
    {"ct_fp8_dynamic", FPO_SCHEME_CT_FP8_CHANNEL, FPO_RECIPE_CT_FP8_ROW, false},
    {"ct_fp8_static", FPO_SCHEME_CT_FP8_TENSOR, FPO_RECIPE_CT_FP8_TENSOR, true},
    {"ct_mxfp4", FPO_SCHEME_CT_MXFP4, FPO_RECIPE_CT_MXFP4, false},
    {"ct_mxfp8", FPO_SCHEME_CT_MXFP8, FPO_RECIPE_CT_MXFP8, false},
    {"ct_nvfp4", FPO_SCHEME_CT_NVFP4, FPO_RECIPE_CT_NVFP4, true},
    {"deepseek_fp8_block", FPO_SCHEME_FP8_BLOCK, FPO_RECIPE_DG_BLOCK, false},
    {"modelopt_fp8", FPO_SCHEME_MODELOPT_FP8, FPO_RECIPE_MO_FP8_TENSOR, true},
    {"modelopt_mxfp8", FPO_SCHEME_MODELOPT_MXFP8, FPO_RECIPE_MO_MXFP8, false},
    {"modelopt_nvfp4", FPO_SCHEME_MODELOPT_NVFP4, FPO_RECIPE_MO_NVFP4, true},
    {"torchao_nvfp4", FPO_SCHEME_TORCHAO_NVFP4, FPO_RECIPE_AO_NVFP4, false},
};
enum { RECORDS = sizeof records / sizeof *records, LAYERS = 7 };
static const struct {
    const char *name;
    int64_t rows, k;
} layers[LAYERS] = {
    {"model.layers.0.mlp.down_proj", 256, 256},    {"model.layers.0.mlp.gate_proj", 256, 256},
    {"model.layers.0.mlp.up_proj", 256, 256},      {"model.layers.0.self_attn.k_proj", 128, 256},
    {"model.layers.0.self_attn.o_proj", 256, 128}, {"model.layers.0.self_attn.q_proj", 128, 256},
    {"model.layers.0.self_attn.v_proj", 128, 256},
};

static fpo_hf *open_record(int record)
{
    char folder[1024];
    fpo_hf *hf = NULL;
    snprintf(folder, sizeof folder, "%s/%s", recorded, records[record].folder);
    ck_assert(fpo_hf_is(folder));
    ck_assert_msg(fpo_hf_open(folder, &hf, &error) == FPO_OK, "%s", error.message);
    return hf;
}

static fpo_hf_layer read_layer(fpo_hf *hf, const char *name)
{
    fpo_hf_layer layer;
    ck_assert_msg(fpo_hf_layer_read(hf, name, &layer, &error) == FPO_OK, "%s", error.message);
    return layer;
}

START_TEST(scheme_and_layers_are_found)
{
    fpo_hf *hf = open_record(_i);
    ck_assert_str_eq(fpo_scheme_describe(fpo_hf_scheme(hf))->name, fpo_scheme_describe(records[_i].scheme)->name);
    ck_assert_uint_eq(fpo_hf_layer_count(hf), LAYERS);
    ck_assert_ptr_null(fpo_hf_layer_name(hf, LAYERS));
    for (int i = 0; i < LAYERS; i++) {
        ck_assert_str_eq(fpo_hf_layer_name(hf, (size_t)i), layers[i].name);
        fpo_hf_layer layer = read_layer(hf, layers[i].name);
        ck_assert_int_eq(layer.rows, layers[i].rows);
        ck_assert_int_eq(layer.k, layers[i].k);
        ck_assert_int_eq(layer.has_input_scale, records[_i].input_scale);
        const fpo_operand_view *view = &fpo_block_format_describe(layer.format)->view;
        ck_assert_uint_eq(layer.weight.codes_bytes, fpo_operand_codes_bytes(view, layer.rows, layer.k));
        ck_assert_uint_eq(layer.weight.scales_bytes, fpo_operand_scales_bytes(view, layer.rows, layer.k));
        fpo_hf_layer_free(&layer);
    }
    fpo_hf_layer layer;
    ck_assert_int_eq(fpo_hf_layer_read(hf, "lm_head", &layer, &error), FPO_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "lm_head"));
    fpo_hf_close(hf);
}
END_TEST

static uint32_t code_at(const fpo_operand_view *view, const void *codes, size_t at)
{
    const uint8_t *bytes = codes;
    return view->element == FPO_E2M1 ? bytes[at / 2] >> (at % 2 * 4) & 0xF : bytes[at];
}

static uint32_t largest_code(const uint8_t *codes, size_t count)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = (codes[i] & 0x7FU) > largest ? codes[i] & 0x7FU : largest;
    return largest;
}

/* Blocks of 32 whose scale is another the second time, which is right at an edge alone: 448 was 445 before, where EVEN
 * rounds down; 224 was 225, for which the scale is rounded up. */
static size_t edges(fpo_recipe recipe, const fpo_operand *first, const fpo_quantized *again)
{
    size_t found = 0;
    bool even = recipe == FPO_RECIPE_CT_MXFP8, up = recipe == FPO_RECIPE_MO_MXFP8;
    for (size_t b = 0; (even || up) && b < first->scales_bytes; b++) {
        int one = ((const uint8_t *)first->scales)[b], two = ((const uint8_t *)again->scales)[b];
        if (one == two)
            continue;
        ck_assert_int_eq(two, even ? one + 1 : one - 1);
        ck_assert_uint_eq(largest_code((const uint8_t *)first->codes + b * 32, 32), even ? 0x7E : 0x76);
        memcpy((uint8_t *)again->codes + b * 32, (const uint8_t *)first->codes + b * 32, 32);
        memcpy((uint8_t *)again->scales + b, (const uint8_t *)first->scales + b, 1);
        found++;
    }
    return found;
}

static void requantise(int record, const char *name, fpo_hf *hf)
{
    fpo_hf_layer layer = read_layer(hf, name);
    const fpo_operand_view *view = &fpo_block_format_describe(layer.format)->view;
    float *values = malloc((size_t)(layer.rows * layer.k) * sizeof *values);
    bool bf16_scale = layer.format >= FPO_BLOCK_FP8_TENSOR && records[record].scheme != FPO_SCHEME_FP8_BLOCK &&
                      records[record].scheme != FPO_SCHEME_MODELOPT_FP8; /* these store f32 */
    fpo_quantized again = {.codes = calloc(1, layer.weight.codes_bytes),
                           .codes_bytes = layer.weight.codes_bytes,
                           .scales = calloc(1, layer.weight.scales_bytes),
                           .scales_bytes = layer.weight.scales_bytes,
                           .dtype = bf16_scale ? FPO_BF16 : FPO_F32,
                           .given_library_scale = layer.has_tensor_scale,
                           .library_scale = layer.stored_tensor_scale};
    fpo_hf_layer_dequantise(&layer, values);
    ck_assert_msg(fpo_quantize(records[record].recipe, values, layer.rows, layer.k, &again, NULL, &error) == FPO_OK,
                  "%s", error.message);
    ck_assert_uint_le(edges(records[record].recipe, &layer.weight, &again), layer.weight.scales_bytes / 8);
    size_t codes = 0;
    for (size_t e = 0; e < (size_t)(layer.rows * layer.k); e++) {
        uint32_t one = code_at(view, layer.weight.codes, e), two = code_at(view, again.codes, e);
        /* Of -0 the sign is not kept: these libraries ask whether x < 0. */
        codes += one != two && !(view->element == FPO_E2M1 && (one & 7) == 0 && (two & 7) == 0);
    }
    ck_assert_msg(codes == 0, "%s %s: %zu codes differ", records[record].folder, name, codes);
    ck_assert_msg(memcmp(again.scales, layer.weight.scales, again.scales_bytes) == 0, "%s %s: scales differ",
                  records[record].folder, name);
    free(values);
    free(again.codes);
    free(again.scales);
    fpo_hf_layer_free(&layer);
}

/* Dequantised and quantised again by the library's recipe with its tensor scale: the same codes and scales, because the
 * largest code of a block is there. What is read wrongly (a scale elsewhere, nibbles swapped) cannot come back so. */
START_TEST(the_librarys_recipe_gives_the_same_bytes_again)
{
    fpo_hf *hf = open_record(_i);
    for (int i = 0; i < LAYERS; i++)
        requantise(_i, layers[i].name, hf);
    fpo_hf_close(hf);
}
END_TEST

/* What rounds to `code`: between the middles to its neighbours. Beyond the largest, what a scale that was rounded down
 * leaves to clip; and bf16 quotients move a middle by less than 1 in 100. */
static void interval(fpo_format element, uint32_t code, double scale, double *low, double *high)
{
    bool fp4 = element == FPO_E2M1;
    uint32_t sign = fp4 ? 8 : 0x80, magnitude = code & ~sign, top = fp4 ? 7 : 0x7E;
    double value = fpo_decode_double(element, magnitude);
    double above = magnitude == top ? (fp4 ? 7 : 464) : (value + fpo_decode_double(element, magnitude + 1)) / 2;
    double below = magnitude == 0 ? -above : (fpo_decode_double(element, magnitude - 1) + value) / 2;
    above *= scale * 1.01;
    below *= magnitude == 0 ? scale * 1.01 : scale * 0.99;
    *low = code & sign ? -above : below;
    *high = code & sign ? -below : above;
}

/* Narrows [low, high] of every element by what a checkpoint says of it. */
static void narrow(int record, const char *name, double *low, double *high)
{
    fpo_hf *hf = open_record(record);
    fpo_hf_layer layer = read_layer(hf, name);
    const fpo_operand_view *view = &fpo_block_format_describe(layer.format)->view;
    int64_t columns = fpo_scale_columns(&view->scale, layer.k);
    for (int64_t row = 0; row < layer.rows; row++)
        for (int64_t k = 0; k < layer.k; k++) {
            size_t e = (size_t)(row * layer.k + k);
            int64_t r = view->scale.block_rows ? row / view->scale.block_rows : 0;
            int64_t c = view->scale.block_k ? k / view->scale.block_k : 0;
            uint32_t scale = fpo_load_code(view->scale.format, layer.weight.scales, (size_t)(r * columns + c));
            double factor = fpo_decode_double(view->scale.format, scale) * (double)layer.weight.tensor_scale, l, h;
            interval(view->element, code_at(view, layer.weight.codes, e), factor, &l, &h);
            low[e] = fmax(low[e], l);
            high[e] = fmin(high[e], h);
            ck_assert_msg(low[e] <= high[e], "%s %s (%lld, %lld): above %g here, below %g elsewhere",
                          records[record].folder, name, (long long)row, (long long)k, low[e], high[e]);
        }
    fpo_hf_layer_free(&layer);
    fpo_hf_close(hf);
}

/* All checkpoints come from one model: some number must round to each code that its element has in the eleven. */
START_TEST(the_checkpoints_agree_about_the_model)
{
    enum { MOST = 256 * 256 };
    double *low = malloc(MOST * sizeof *low), *high = malloc(MOST * sizeof *high);
    for (int i = 0; i < LAYERS; i++) {
        for (size_t e = 0; e < MOST; e++) {
            low[e] = -INFINITY;
            high[e] = INFINITY;
        }
        for (int r = 0; r < RECORDS; r++)
            narrow(r, layers[i].name, low, high);
    }
    free(low);
    free(high);
}
END_TEST

/* modelopt's exporter shares one tensor scale among q, k and v and one among gate and up; o and down have their own.
 * compressed-tensors' preset does the same by its divisors or not: only what is stored matters there. */
START_TEST(modelopts_fused_layers_share_their_tensor_scale)
{
    fpo_hf *hf = open_record(9);
    float scales[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        fpo_hf_layer layer = read_layer(hf, layers[i].name);
        ck_assert(layer.has_tensor_scale && layer.has_input_scale);
        scales[i] = layer.weight.tensor_scale;
        ck_assert_float_eq(layer.weight.tensor_scale, layer.stored_tensor_scale);
        ck_assert_float_eq(layer.input_scale, layer.stored_input_scale);
        ck_assert_float_eq(layer.library_scale, 1 / layer.stored_input_scale);
        fpo_hf_layer_free(&layer);
    }
    ck_assert_float_eq(scales[1], scales[2]);
    ck_assert_float_eq(scales[3], scales[5]);
    ck_assert_float_eq(scales[3], scales[6]);
    ck_assert_float_ne(scales[0], scales[1]);
    fpo_hf_close(hf);
}
END_TEST

/* compressed-tensors stores divisors: the operand multiplies by the reciprocal, and the quantiser gets the divisor. */
START_TEST(compressed_tensors_divisors_become_multipliers)
{
    fpo_hf *hf = open_record(5), *other = open_record(9);
    for (int i = 0; i < LAYERS; i++) {
        fpo_hf_layer layer = read_layer(hf, layers[i].name), modelopt = read_layer(other, layers[i].name);
        ck_assert_float_gt(layer.stored_tensor_scale, 100);
        ck_assert_float_eq(layer.weight.tensor_scale, 1 / layer.stored_tensor_scale);
        ck_assert_float_eq(layer.input_scale, 1 / layer.stored_input_scale);
        ck_assert_float_eq(layer.library_scale, layer.stored_input_scale);
        /* The same amax, but for bf16's rounding and modelopt's sharing. */
        ck_assert(layer.weight.tensor_scale < modelopt.weight.tensor_scale * 1.01F);
        fpo_hf_layer_free(&layer);
        fpo_hf_layer_free(&modelopt);
    }
    fpo_hf_close(hf);
    fpo_hf_close(other);
}
END_TEST

START_TEST(schemes_are_told_apart)
{
    for (int i = 0; i < FPO_SCHEME_COUNT; i++) {
        const fpo_scheme_info *x = fpo_scheme_describe((fpo_scheme)i);
        ck_assert_int_eq(fpo_recipe_describe(x->recipe)->format, x->activations);
        ck_assert((x->tensor_scale[0] != 0) == (x->meaning != FPO_STORED_NOTHING));
        for (int j = 0; j < i; j++) {
            const fpo_scheme_info *y = fpo_scheme_describe((fpo_scheme)j);
            ck_assert_str_ne(x->name, y->name);
            ck_assert(strcmp(x->method, y->method) != 0 || strcmp(x->key, y->key) != 0);
        }
    }
    ck_assert_ptr_null(fpo_scheme_describe(FPO_SCHEME_COUNT));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("Hugging Face checkpoints");
    TCase *tests = tcase_create("recorded");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, scheme_and_layers_are_found, 0, RECORDS);
    tcase_add_loop_test(tests, the_librarys_recipe_gives_the_same_bytes_again, 0, RECORDS);
    tcase_add_test(tests, the_checkpoints_agree_about_the_model);
    tcase_add_test(tests, modelopts_fused_layers_share_their_tensor_scale);
    tcase_add_test(tests, compressed_tensors_divisors_become_multipliers);
    tcase_add_test(tests, schemes_are_told_apart);
    suite_add_tcase(suite, tests);
    return suite;
}
