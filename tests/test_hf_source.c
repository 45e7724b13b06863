/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The recorded checkpoints from the model that they were made of (tests/data/checkpoints/README.md says how that was
 * found): each library's recipe on the source gives the codes and scales on disk, 0 differing bytes. */
#include "hf_checkpoint.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char recorded[] = FPO_BINARY_DIR "/tests/checkpoints";
static fpo_error error;

static const struct {
    const char *folder;
    fpo_recipe recipe;
    fpo_format dtype; /* that the library computes in */
    bool shared;      /* the tensor scale is that of fused layers: given, not computed */
} records[] = {
    {"ct_fp8_block", FPO_RECIPE_CT_FP8_128X128, FPO_BF16, false},
    {"ct_fp8_dynamic", FPO_RECIPE_CT_FP8_ROW, FPO_BF16, false},
    {"ct_fp8_static", FPO_RECIPE_CT_FP8_TENSOR, FPO_BF16, false},
    {"ct_mxfp4", FPO_RECIPE_CT_MXFP4, FPO_BF16, false},
    {"ct_mxfp8", FPO_RECIPE_CT_MXFP8, FPO_BF16, false},
    {"ct_nvfp4", FPO_RECIPE_CT_NVFP4, FPO_BF16, false},
    {"deepseek_fp8_block", FPO_RECIPE_DG_BLOCK, FPO_BF16, false},
    {"modelopt_fp8", FPO_RECIPE_MO_FP8_EXPORT, FPO_BF16, false},
    {"modelopt_mxfp8", FPO_RECIPE_MO_MXFP8, FPO_BF16, false},
    {"modelopt_nvfp4", FPO_RECIPE_MO_NVFP4, FPO_BF16, true},
    {"torchao_nvfp4", FPO_RECIPE_AO_NVFP4, FPO_BF16, false},
};
enum { RECORDS = sizeof records / sizeof *records };

static size_t differing(const void *x, const void *y, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((const uint8_t *)x)[i] != ((const uint8_t *)y)[i];
    return count;
}

static void compare(int record, const fpo_hf_layer *layer, const char *name)
{
    char source[1200];
    fpo_tensor_source tensor;
    int64_t rows, k;
    float *values = NULL;
    snprintf(source, sizeof source, "%s/source.safetensors:%s.weight", recorded, name);
    ck_assert_msg(fpo_tensor_open(source, &tensor, &error) == FPO_OK, "%s", error.message);
    ck_assert_int_eq(fpo_tensor_rows(tensor.tensor, &rows, &k, &values, &error), FPO_OK);
    ck_assert_int_eq(rows, layer->rows);
    ck_assert_int_eq(k, layer->k);
    fpo_quantized made = {.codes = calloc(1, layer->weight.codes_bytes),
                          .codes_bytes = layer->weight.codes_bytes,
                          .scales = calloc(1, layer->weight.scales_bytes),
                          .scales_bytes = layer->weight.scales_bytes,
                          .dtype = records[record].dtype,
                          .given_library_scale = records[record].shared,
                          .library_scale = layer->stored_tensor_scale};
    ck_assert_msg(fpo_quantize(records[record].recipe, values, rows, k, &made, NULL, &error) == FPO_OK, "%s",
                  error.message);
    size_t codes = differing(made.codes, layer->weight.codes, made.codes_bytes);
    size_t scales = differing(made.scales, layer->weight.scales, made.scales_bytes);
    ck_assert_msg(codes == 0 && scales == 0, "%s %s: %zu of %zu bytes of codes, %zu of %zu of scales",
                  records[record].folder, name, codes, made.codes_bytes, scales, made.scales_bytes);
    if (layer->has_tensor_scale)
        ck_assert_mem_eq(&made.library_scale, &layer->stored_tensor_scale, sizeof(float));
    free(made.codes);
    free(made.scales);
    free(values);
    fpo_tensor_close(&tensor);
}

START_TEST(the_source_gives_the_bytes_on_disk)
{
    char folder[1024];
    fpo_hf *hf = NULL;
    snprintf(folder, sizeof folder, "%s/%s", recorded, records[_i].folder);
    ck_assert_msg(fpo_hf_open(folder, &hf, &error) == FPO_OK, "%s", error.message);
    ck_assert_uint_eq(fpo_hf_layer_count(hf), 7);
    for (size_t i = 0; i < fpo_hf_layer_count(hf); i++) {
        fpo_hf_layer layer;
        ck_assert_msg(fpo_hf_layer_read(hf, fpo_hf_layer_name(hf, i), &layer, &error) == FPO_OK, "%s", error.message);
        compare(_i, &layer, fpo_hf_layer_name(hf, i));
        fpo_hf_layer_free(&layer);
    }
    fpo_hf_close(hf);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("checkpoints from their source");
    TCase *tests = tcase_create("recorded");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, the_source_gives_the_bytes_on_disk, 0, RECORDS);
    suite_add_tcase(suite, tests);
    return suite;
}
