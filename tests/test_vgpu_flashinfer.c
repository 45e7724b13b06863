/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* FlashInfer's own quantisers, compiled by nvcc, on the virtual SM120 against the emulator's recipes: every code and
 * every scale byte. What a recipe says of CUDA code is thereby checked without a GPU. */
#include "ptx_file.h"
#include "suite.h"

#include <fp4oracle/quantize.h>
#include <fp4oracle/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, K = 2048 };

static const struct {
    const char *kernel, *recipe;
    int block, code_bits;
} quantisers[] = {{"nvfp4", "flashinfer_nvfp4", 16, 4},
                  {"nvfp4_exact", "flashinfer_nvfp4_exact", 16, 4},
                  {"mxfp4", "flashinfer_mxfp4", 32, 4},
                  {"mxfp8", "flashinfer_mxfp8", 32, 8}};

/* bf16 values: normal ones, blocks of widely different size, zeros, subnormals, ties of the formats. */
static uint16_t value(uint64_t index)
{
    uint64_t r = fpo_random_bits((fpo_random){12, 5}, index), block = fpo_random_bits((fpo_random){12, 6}, index / 16);
    int exponent = 127 + (int)(block & 15) - 8 - (int)(r & 7);
    if ((block >> 8 & 31) == 0)
        return (uint16_t)(r >> 32 & 0x8000); /* a block of zeros */
    if ((block >> 8 & 31) == 1)
        exponent = (int)(r & 3); /* subnormal and nearly so */
    if ((block >> 8 & 31) == 2)
        exponent = 200 + (int)(r & 15);
    return (uint16_t)((r >> 48 & 0x8000) | (uint64_t)exponent << 7 | (r >> 16 & 0x7F));
}

START_TEST(equals_its_recipe)
{
    fpo_recipe recipe = fpo_recipe_by_name(quantisers[_i].recipe);
    ck_assert_int_ne((int)recipe, (int)FPO_RECIPE_COUNT);
    static uint16_t in[ROWS * K];
    static float x[ROWS * K];
    for (int i = 0; i < ROWS * K; i++) {
        in[i] = value((uint64_t)i);
        uint32_t bits = (uint32_t)in[i] << 16;
        memcpy(&x[i], &bits, sizeof bits);
    }
    size_t code_bytes = (size_t)ROWS * K * (size_t)quantisers[_i].code_bits / 8,
           scale_bytes = (size_t)ROWS * K / (size_t)quantisers[_i].block;
    uint8_t *codes = malloc(code_bytes), *scales = malloc(scale_bytes);
    fpo_quantized q = {
        .codes = codes, .codes_bytes = code_bytes, .scales = scales, .scales_bytes = scale_bytes, .dtype = FPO_BF16};
    fpo_error error = {FPO_OK, ""};
    /* A global scale that does not send every block to the ends of the format. */
    q.given_library_scale = quantisers[_i].block == 16;
    q.library_scale = q.given_library_scale ? 0.37f : 0;
    ck_assert_msg(fpo_quantize(recipe, x, ROWS, K, &q, NULL, &error) == FPO_OK, "%s", error.message);

    fpo_vgpu_config config = {.capability = 120, .check = true};
    fpo_vgpu_function *function;
    fpo_vgpu *gpu = fpo_test_gpu(&config, "flashinfer/quantize.ptx", quantisers[_i].kernel, &function);
    void *device_in = fpo_vgpu_allocate(gpu, sizeof in), *device_codes = fpo_vgpu_allocate(gpu, code_bytes);
    void *device_scales = fpo_vgpu_allocate(gpu, scale_bytes);
    float *global_scale = fpo_vgpu_allocate(gpu, sizeof *global_scale);
    memcpy(device_in, in, sizeof in);
    *global_scale = q.given_library_scale ? q.library_scale : 1.0f;
    int groups = ROWS * K / 8;
    const void *arguments[] = {&device_in, &device_codes, &device_scales, &global_scale, &groups};
    fpo_vgpu_launch launch = {.grid = {(uint32_t)groups / 128, 1, 1}, .block = {128, 1, 1}, .arguments = arguments};
    fpo_vgpu_statistics statistics;
    ck_assert_msg(fpo_vgpu_run(function, &launch, &statistics, &error) == FPO_OK, "%s", error.message);
    ck_assert_uint_eq(statistics.reports, 0);
    size_t wrong_scales = 0, wrong_codes = 0;
    for (size_t i = 0; i < scale_bytes; i++)
        wrong_scales += scales[i] != ((uint8_t *)device_scales)[i];
    for (size_t i = 0; i < code_bytes; i++)
        wrong_codes += codes[i] != ((uint8_t *)device_codes)[i];
    ck_assert_msg(wrong_scales == 0 && wrong_codes == 0, "%s: %zu of %zu scale bytes and %zu of %zu code bytes differ",
                  quantisers[_i].recipe, wrong_scales, scale_bytes, wrong_codes, code_bytes);
    fpo_vgpu_free(gpu);
    free(codes);
    free(scales);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_flashinfer");
    TCase *tests = tcase_create("quantisers");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, equals_its_recipe, 0, sizeof quantisers / sizeof quantisers[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
