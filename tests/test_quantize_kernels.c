/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of recipes, for each instruction set, against one value at a time (recipe_eval.c, fpo_encode), and whole
 * recipes across instruction sets and threads. */
#include "loops.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(steps)
{
    enum { COUNT = 1000 };
    static float a[COUNT], b[COUNT], c[COUNT], got[COUNT];
    fpo_function function = (fpo_function)_i;
    if (function == FPO_FN_HADAMARD)
        return;
    for (int round = 0; round < 20; round++)
        for (int ftz = 0; ftz < 2; ftz++) {
            fpo_recipe_step step = {.function = (uint8_t)function, .ftz = ftz, .format = FPO_E4M3};
            step.cast = *fpo_cast_describe(FPO_CAST_PTX);
            if (function == FPO_FN_CODE) {
                step.format = round % 2 ? FPO_UE8M0 : FPO_UE4M3;
                step.cast = *fpo_scale_cast();
            }
            for (int i = 0; i < 3; i++)
                step.argument[i] = (int16_t)(i < functions[_i].arity ? i : FPO_NO_REGISTER);
            for (int i = 0; i < COUNT; i++) {
                uint64_t index = (uint64_t)(round * COUNT + i) * 4;
                a[i] = value(index);
                /* Equal and nearly equal arguments, and conditions that are 0. */
                b[i] = i % 7 == 0 ? a[i] : i % 11 == 0 ? -a[i] : value(index + 1);
                c[i] = value(index + 2);
                if (function == FPO_FN_ADDBITS)
                    b[i] = (float)(1 << (i % 24));
                if (function == FPO_FN_SELECT && i % 3 == 0)
                    a[i] = i % 2 ? 0.0f : -0.0f;
            }
            for (int t = 0; t < TABLES; t++) {
                if (!runs(t))
                    continue;
                tables[t]->step(&step, a, b, c, got, COUNT);
                for (int i = 0; i < COUNT; i++) {
                    float want = (float)fpo_recipe_apply(&step, (double)a[i], (double)b[i], (double)c[i]);
                    ck_assert_msg(same(want, got[i]), "%s%s of %a, %a, %a: %a instead of %a, instruction set %d",
                                  functions[_i].name, ftz ? " ftz" : "", (double)a[i], (double)b[i], (double)c[i],
                                  (double)got[i], (double)want, t);
                }
            }
        }
}
END_TEST

/* A function of an element and its block's value: as with the value spread. */
START_TEST(steps_of_blocks)
{
    enum { COUNT = 1000 };
    static const int64_t blocks[] = {1, 16, 32, 48, 128, COUNT};
    static float a[COUNT], b[COUNT], spread[COUNT], wanted[COUNT], got[COUNT];
    int64_t block = blocks[_i];
    int loops = 0;
    for (int function = 0; function < FPO_FN_COUNT; function++)
        for (int round = 0; round < 20 && functions[function].arity == 2; round++) {
            fpo_recipe_step step = {.function = (uint8_t)function, .ftz = round % 2 != 0, .format = FPO_E4M3};
            for (int i = 0; i < 3; i++)
                step.argument[i] = (int16_t)(i < 2 ? i : FPO_NO_REGISTER);
            for (int i = 0; i < COUNT; i++) {
                a[i] = value((uint64_t)(round * COUNT + i) + UINT64_C(0x500000000));
                b[i] = value((uint64_t)(round * COUNT + i) + UINT64_C(0x600000000));
                if (round % 4 == 3) /* powers of two: those with a normal reciprocal, and all */
                    b[i] = ldexpf(i % 2 ? -1 : 1, round < 10 ? i % 253 - 126 : i % 277 - 149);
            }
            for (int i = 0; i < COUNT; i++)
                spread[i] = b[i / block];
            for (int t = 0; t < TABLES; t++) {
                if (!runs(t) || !(fpo_has_blocks(&step) || (block == COUNT && fpo_has_constant(&step))))
                    continue;
                tables[t]->step_of_blocks(&step, a, b, block, got, COUNT);
                loops++;
                tables[t]->step(&step, a, spread, spread, wanted, COUNT);
                for (int i = 0; i < COUNT; i++)
                    ck_assert_msg(same(got[i], wanted[i]),
                                  "%s%s(%a, %a) in blocks of %d: %a, not %a, instruction set %d",
                                  functions[function].name, step.ftz ? " ftz" : "", (double)a[i], (double)spread[i],
                                  (int)block, (double)got[i], (double)wanted[i], t);
            }
        }
    ck_assert_int_gt(loops, 0);
}
END_TEST

START_TEST(blocks)
{
    static float x[3000], amax[3000], spread[3000];
    for (int i = 0; i < 3000; i++) {
        x[i] = value((uint64_t)i + 7000);
        x[i] = isnan(x[i]) ? 1 : x[i];
    }
    static const int sizes[] = {1, 2, 3, 16, 32, 48, 64, 128, 1000, 3000}, counts[] = {1, 15, 16, 17, 1000, 1024, 3000};
    for (int t = 0; t < TABLES; t++)
        for (size_t s = 0; runs(t) && s < sizeof sizes / sizeof *sizes; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                int size = sizes[s], count = counts[c];
                tables[t]->block_amax(x, count, size, amax);
                tables[t]->spread(amax, size, spread, count);
                if (size == 1) { /* joined to what is there */
                    float joined[2] = {2, INFINITY};
                    tables[t]->join_amax(x, joined, 2);
                    ck_assert(joined[0] == fmaxf(2, fabsf(x[0])) && isinf(joined[1]));
                }
                for (int at = 0; at < count; at += size) {
                    float largest = 0;
                    for (int i = at; i < at + size && i < count; i++)
                        largest = fmaxf(largest, fabsf(x[i]));
                    ck_assert(same(amax[at / size], largest));
                    for (int i = at; i < at + size && i < count; i++)
                        ck_assert(same(spread[i], largest));
                }
                for (int i = 0; i < count; i += 5) { /* a NaN anywhere is seen */
                    float kept = x[i];
                    x[i] = fpo_float_of(i % 2 ? 0xFFC00001u : 0x7F800001u);
                    tables[t]->block_amax(x, count, size, amax);
                    ck_assert(isnan(amax[i / size]));
                    x[i] = kept;
                    if (i > 60)
                        i += 97;
                }
            }
}
END_TEST

/* Sums in order of plus or minus x/4, signs by the formula of the Hadamard matrix. */
START_TEST(transform)
{
    enum { COUNT = 1003 }; /* zeros follow */
    static const int signs[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
    static float x[COUNT], got[COUNT];
    fpo_recipe_step step = {.function = FPO_FN_HADAMARD, .argument = {0, -1, -1}};
    for (int i = 0; i < COUNT; i++)
        x[i] = value((uint64_t)i + UINT64_C(0x700000000));
    for (int t = 0; t < TABLES; t++) {
        if (!runs(t))
            continue;
        tables[t]->step(&step, x, x, x, got, COUNT);
        for (int at = 0; at < COUNT; at++) {
            float sum = 0;
            for (int i = 0; i < 16; i++) {
                int bits = 0;
                for (int bit = 0; bit < 4; bit++)
                    bits += (i >> bit) & (at % 16 >> bit) & 1;
                float sign = (float)signs[i] * (bits % 2 ? -0.25f : 0.25f);
                sum += sign * (at / 16 * 16 + i < COUNT ? x[at / 16 * 16 + i] : 0);
            }
            ck_assert_msg(same(got[at], sum), "element %d: %a, not %a, instruction set %d", at, (double)got[at],
                          (double)sum, t);
        }
    }
}
END_TEST

START_TEST(stochastic)
{
    static float x[FPO_CHUNK], got[FPO_CHUNK];
    static uint32_t bits[FPO_CHUNK];
    fpo_format format = formats[_i];
    fpo_cast cast = *fpo_cast_describe(_i % 2 ? FPO_CAST_IEEE : FPO_CAST_PTX);
    cast.rounding = FPO_STOCHASTIC;
    fpo_recipe_step step = {.function = FPO_FN_ENCODE, .format = format, .cast = cast};
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < FPO_CHUNK; i++) {
            uint64_t index = (uint64_t)(round * FPO_CHUNK + i);
            x[i] = value(index + UINT64_C(0x800000000));
            bits[i] = (uint32_t)fpo_random_bits((fpo_random){6, 6}, index);
            bits[i] = round % 4 == 0 ? bits[i] << 24 : round % 4 == 1 ? bits[i] | 0xFFFFFF00u : bits[i];
        }
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t) || !tables[t]->round_randomly(&step, bits, x, got, FPO_CHUNK))
                continue;
            for (int i = 0; i < FPO_CHUNK; i++) {
                uint32_t code = fpo_encode(format, fpo_value_from_float(x[i]), &cast, bits[i]);
                float want = (float)fpo_decode_double(format, code);
                ck_assert_msg(same(got[i], want), "%s of %a with %08x: %a, not %a, instruction set %d",
                              fpo_format_describe(format)->name, (double)x[i], bits[i], (double)got[i], (double)want,
                              t);
            }
        }
    }
    bool loop = tables[0]->round_randomly(&step, bits, x, got, 1);
    ck_assert(loop == (format != FPO_UE4M3 && format != FPO_BF16 && format != FPO_UE8M0));
}
END_TEST

/* The generator's blocks, many at once: counters beyond 2^32 in both halves, all bits of the key. */
START_TEST(random_bits)
{
    static uint32_t got[4 * FPO_CHUNK], want[4];
    static uint64_t streams[FPO_CHUNK], indices[FPO_CHUNK];
    for (int round = 0; round < 16; round++) {
        uint64_t first = round % 2 ? UINT64_C(0xFFFFFFF0) : UINT64_C(0x123456789ABC) * (uint64_t)round;
        uint64_t seed = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(round + 1);
        for (int i = 0; i < FPO_CHUNK; i++) {
            streams[i] = fpo_random_bits((fpo_random){1, 1}, (uint64_t)i) >> round * 4;
            indices[i] = fpo_random_bits((fpo_random){1, 2}, (uint64_t)i) >> (60 - round * 4);
        }
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t))
                continue;
            tables[t]->random_words(seed, first, got, FPO_CHUNK);
            for (int i = 0; i < FPO_CHUNK; i++) {
                fpo_random_block((fpo_random){.seed = seed}, first + (uint64_t)i, want);
                ck_assert_uint_eq(got[i], want[0]);
            }
            tables[t]->random_blocks(seed, streams, indices, got, FPO_CHUNK - round);
            for (int i = 0; i < FPO_CHUNK - round; i++) {
                fpo_random_block((fpo_random){seed, streams[i]}, indices[i], want);
                ck_assert_mem_eq(got + 4 * i, want, sizeof want);
            }
        }
    }
}
END_TEST

/* Sums of errors of many blocks at once, against those of one. */
START_TEST(errors)
{
    static const int sizes[] = {2, 10, 16, 32}, chunks[] = {0, 1, 2, 4, 8, 5};
    static float e[37 * 32], sums[37];
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        e[i] = value(i + UINT64_C(0x900000000));
    int sums_seen = 0;
    for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
            for (int how = 0; how < 4; how++)
                for (int t = 0; t < TABLES; t++) {
                    fpo_program program = {.error_chunk = chunks[c], .error_ftz = how % 2, .error_fma = how / 2};
                    if (!runs(t) || !tables[t]->error_sums(&program, e, sizes[b], 37, sums))
                        continue;
                    for (int i = 0; i < 37; i++, sums_seen++)
                        ck_assert(same(sums[i], fpo_error_sum(&program, e + i * sizes[b], sizes[b])));
                }
    ck_assert_int_gt(sums_seen, 0);
}
END_TEST

/* Blocks of many rows: a tensor of three strips, by several threads, is its strips one after the other. */
START_TEST(strips)
{
    enum { ROWS = 300, K = 272 };
    const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)_i);
    const fpo_scale_view *scale = &info->view.scale;
    if (scale->block_rows < 2 || scale->block_rows > 128)
        return;
    static float x[ROWS * K];
    for (int i = 0; i < ROWS * K; i++)
        x[i] = i % 4099 == 0 ? NAN : fpo_random_normal((fpo_random){9, 0}, (uint64_t)i) * (float)(1 + i % 7);
    size_t codes = fpo_operand_codes_bytes(&info->view, ROWS, K), row_codes = codes / ROWS;
    size_t scales = fpo_operand_scales_bytes(&info->view, ROWS, K);
    size_t strip_scales = fpo_operand_scales_bytes(&info->view, scale->block_rows, K);
    fpo_quantized all = {
        .codes = malloc(codes), .codes_bytes = codes, .scales = malloc(scales), .scales_bytes = scales};
    fpo_quantized part = {.codes = malloc(codes), .scales = malloc(scales)};
    fpo_execution threads = {.threads = 5}, one = {.threads = 1};
    ck_assert(fpo_quantize((fpo_recipe)_i, x, ROWS, K, &all, &threads, NULL) == FPO_OK);
    for (int64_t row = 0; row < ROWS; row += scale->block_rows) {
        int64_t rows = ROWS - row < scale->block_rows ? ROWS - row : scale->block_rows;
        part.codes_bytes = fpo_operand_codes_bytes(&info->view, rows, K);
        part.scales_bytes = fpo_operand_scales_bytes(&info->view, rows, K);
        ck_assert(fpo_quantize((fpo_recipe)_i, x + row * K, rows, K, &part, &one, NULL) == FPO_OK);
        ck_assert_mem_eq((uint8_t *)all.codes + (size_t)row * row_codes, part.codes, part.codes_bytes);
        ck_assert_mem_eq((uint8_t *)all.scales + (size_t)(row / scale->block_rows) * strip_scales, part.scales,
                         part.scales_bytes);
    }
    free(all.codes), free(all.scales), free(part.codes), free(part.scales);
}
END_TEST

/* All recipes: the same bytes from every instruction set and number of threads, on values of all kinds. */
START_TEST(recipes)
{
    const int64_t rows = RECIPE_ROWS, k = 1296; /* more than one chunk, no multiple of 128, groups of 16 */
    static const fpo_format dtypes[] = {FPO_F32, FPO_BF16, FPO_F16};
    const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)_i);
    float *x = malloc((size_t)(rows * k) * sizeof *x);
    for (int round = 0; round < RECIPE_DTYPES; round++) {
        int d = (_i + round) % 3;
        for (int64_t i = 0; i < rows * k; i++) {
            float noise = fpo_random_normal((fpo_random){3, (uint64_t)d}, (uint64_t)i) * (float)(1 + i / k * 3);
            x[i] = i / k % 5 == 4 ? value((uint64_t)i) : noise;
            uint32_t code = fpo_encode(dtypes[d], fpo_value_from_float(x[i]), fpo_cast_describe(FPO_CAST_IEEE), 0);
            x[i] = (float)fpo_decode_double(dtypes[d], code);
        }
        fpo_quantized first = {0};
        for (int t = 0; t < TABLES; t++) {
            if (!runs(t))
                continue;
            fpo_quantized now = {.dtype = dtypes[d], .library_scale = 0.37f, .given_library_scale = true};
            fpo_execution execution = {.isa = isas[t], .threads = 1 + t};
            now.codes = malloc(now.codes_bytes = fpo_operand_codes_bytes(&info->view, rows, k));
            now.scales = malloc(now.scales_bytes = fpo_operand_scales_bytes(&info->view, rows, k));
            now.row_scales = calloc((size_t)rows, sizeof(float));
            fpo_error error;
            ck_assert_msg(fpo_quantize((fpo_recipe)_i, x, rows, k, &now, &execution, &error) == FPO_OK, "%s",
                          error.message);
            if (first.codes != NULL) {
                ck_assert_msg(memcmp(first.codes, now.codes, now.codes_bytes) == 0, "codes of %s, instruction set %d",
                              info->name, t);
                ck_assert_msg(memcmp(first.scales, now.scales, now.scales_bytes) == 0,
                              "scales of %s, instruction set %d", info->name, t);
                ck_assert_mem_eq(first.row_scales, now.row_scales, (size_t)rows * sizeof(float));
                free(now.codes), free(now.scales), free(now.row_scales);
            } else {
                first = now;
            }
        }
        free(first.codes), free(first.scales), free(first.row_scales);
    }
    free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("quantize_kernels");
    TCase *tests = tcase_create("loops");
    tcase_set_timeout(tests, 7200);
    tcase_add_loop_test(tests, steps, 0, FPO_FN_COUNT);
    tcase_add_loop_test(tests, steps_of_blocks, 0, 6);
    tcase_add_test(tests, blocks);
    tcase_add_test(tests, transform);
    tcase_add_loop_test(tests, stochastic, 0, FORMATS);
    tcase_add_test(tests, random_bits);
    tcase_add_test(tests, errors);
    tcase_add_loop_test(tests, strips, 0, FPO_RECIPE_COUNT);
    tcase_add_loop_test(tests, recipes, 0, FPO_RECIPE_COUNT);
    suite_add_tcase(suite, tests);
    return suite;
}
