/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* False accusations: noise of many kinds, outputs of a few elements or of few distinct values, and the right outputs of
 * every model must not be called a fault. FPO_LONG=1 takes 10,000 outputs of noise (45 minutes on one core) instead of
 * 28. FPO_SHARE=i/n takes the i-th of n parts of the noise, so that n processes share it; the parts together are the
 * whole, whatever n is:
 *
 *   for i in $(seq 16); do
 *       CK_RUN_CASE=noise FPO_LONG=1 FPO_SHARE=$i/16 OMP_NUM_THREADS=1 test_accusations >noise.$i &
 *   done; wait; cat noise.* */
#include "suite.h"

#include <fp4oracle/fp4oracle.h>
#include <generate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw(uint64_t stream, uint64_t index)
{
    return (uint32_t)fpo_random_bits((fpo_random){77, stream}, index) >> 4;
}

static const fpo_block_format pairs[][2] = {
    {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4},          {FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128},
    {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP4},     {FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_TENSOR},
    {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4},          {FPO_BLOCK_FP8_ROW, FPO_BLOCK_FP8_ROW},
    {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3}};
static const fpo_format outputs[] = {FPO_F32, FPO_BF16, FPO_F16};
static const int64_t shapes[][3] = {{1, 1, 64},  {1, 2, 32},  {16, 16, 128}, {2, 1, 64}, {3, 3, 64},
                                    {5, 7, 128}, {1, 30, 64}, {30, 1, 64},   {2, 2, 32}, {24, 10, 256}};
enum {
    PAIRS = sizeof pairs / sizeof pairs[0],
    OUTPUTS = sizeof outputs / sizeof outputs[0],
    SHAPES = sizeof shapes / sizeof shapes[0]
};

static fpo_vector *generate(size_t pair, fpo_format d, const int64_t shape[3], uint64_t seed)
{
    fpo_vector *vector = NULL;
    fpo_generate wanted = {.a = pairs[pair][0],
                           .b = pairs[pair][1],
                           .d = d,
                           .m = shape[0],
                           .n = shape[1],
                           .k = shape[2],
                           .kind = seed % 3 == 0 ? FPO_DATA_UNIFORM : FPO_DATA_GAUSSIAN,
                           .seed = seed};
    ck_assert(fpo_generate_vector(&wanted, &vector, NULL) == FPO_OK);
    if (seed % 2 == 0)
        vector->problem.alpha = 0.7F;
    return vector;
}

static void *compute(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, size_t *bytes)
{
    *bytes = fpo_output_bytes(spec, problem->m, problem->n);
    void *d = malloc(*bytes);
    ck_assert_ptr_nonnull(d);
    fpo_gemm_output output = {.d = d, .d_bytes = *bytes};
    ck_assert(fpo_gemm(spec, problem, &output, NULL, NULL) == FPO_OK);
    return d;
}

typedef enum noise_kind {
    RANDOM_BITS,
    RANDOM_STEPS,   /* one step up or down, or none */
    LARGER_STEPS,   /* up to 1000 */
    FEW_REPLACED,   /* by random bits */
    TWO_VALUES,     /* 0 and 1 */
    SHUFFLED,       /* the right numbers in a random order */
    RANDOM_FACTORS, /* each element its own */
    NOISE_KINDS
} noise_kind;

static uint32_t noisy(noise_kind kind, fpo_format format, uint32_t right, uint64_t stream, uint64_t i)
{
    uint32_t random = draw(stream, i), all = fpo_format_describe(format)->code_mask;
    switch (kind) {
    case RANDOM_BITS: return (random << 8 ^ draw(stream + 1, i)) & all;
    case RANDOM_STEPS: return (right + random % 3 - 1) & all;
    case LARGER_STEPS: return (right + random % 2001 - 1000) & all;
    case FEW_REPLACED: return random % 5 == 0 ? random * 2654435761U & all : right;
    case TWO_VALUES: return fpo_encode_double(format, random % 2, fpo_cast_describe(FPO_CAST_IEEE));
    case RANDOM_FACTORS:
        return fpo_encode_double(format, fpo_decode_double(format, right) * (0.5 + (double)(random % 1024) / 1024),
                                 fpo_cast_describe(FPO_CAST_IEEE));
    default: return right;
    }
}

static void make_noise(noise_kind kind, fpo_format format, int64_t elements, void *d, uint64_t stream)
{
    for (int64_t i = 0; i < elements; i++) {
        uint32_t right = fpo_load_code(format, d, (size_t)i);
        fpo_store_code(format, d, (size_t)i, noisy(kind, format, right, stream, (uint64_t)i));
        size_t other = draw(stream + 2, (uint64_t)i) % (size_t)(i + 1);
        if (kind == SHUFFLED) {
            uint32_t swapped = fpo_load_code(format, d, other);
            fpo_store_code(format, d, other, right);
            fpo_store_code(format, d, (size_t)i, swapped);
        }
    }
}

static bool is_accused(const fpo_diagnosis *d)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    return d->verdict == FPO_VERDICT_FAULT && (sign == NULL || !sign->explains);
}

typedef struct share {
    uint64_t first, step, end; /* rounds */
} share;

static share share_of_rounds(void)
{
    share taken = {.step = 1, .end = getenv("FPO_LONG") != NULL ? 10000 / NOISE_KINDS + 1 : 4};
    const char *text = getenv("FPO_SHARE");
    unsigned index, of;
    char rest;
    if (text == NULL)
        return taken;
    ck_assert_msg(sscanf(text, "%u/%u%c", &index, &of, &rest) == 2 && index >= 1 && index <= of,
                  "FPO_SHARE=%s: expected i/n with i from 1 to n", text);
    taken.first = index - 1;
    taken.step = of;
    return taken;
}

/* Few orders of few numbers: a shuffle of less than nine may be a true exchange. */
static const int64_t *pick_shape(noise_kind kind, uint64_t pick)
{
    const int64_t *shape = shapes[pick % SHAPES];
    while (kind == SHUFFLED && shape[0] * shape[1] < 9)
        shape = shapes[++pick % SHAPES];
    return shape;
}

/* The verdict, FPO_VERDICT_FAULT only where a cause is named; says which. */
static fpo_verdict judge_noise(noise_kind kind, uint64_t round)
{
    uint64_t pick = round * NOISE_KINDS + (uint64_t)kind;
    fpo_format format = outputs[pick / 2 % OUTPUTS];
    fpo_vector *vector = generate(pick / 3 % PAIRS, format, pick_shape(kind, pick), round);
    size_t bytes;
    void *d = compute(&vector->spec, &vector->problem, &bytes);
    make_noise(kind, format, vector->problem.m * vector->problem.n, d, 100 * round + 10 * (uint64_t)kind);
    fpo_diagnosis diagnosis;
    ck_assert(fpo_diagnose(&vector->spec, &vector->problem, d, bytes, NULL, &diagnosis, NULL) == FPO_OK);
    bool accused = is_accused(&diagnosis);
    if (accused) {
        char sentence[300] = "a sign";
        if (diagnosis.cause_count > 0)
            fpo_edit_sentence(&diagnosis.causes[0].edits[0], sentence, sizeof sentence);
        printf("round %d, noise %d, %.1f bits where %.1f are needed: %s\n", (int)round, kind, diagnosis.evidence.bits,
               diagnosis.needed, sentence);
    }
    free(d);
    fpo_vector_free(vector);
    return !accused && diagnosis.verdict == FPO_VERDICT_FAULT ? FPO_VERDICT_UNEXPLAINED : diagnosis.verdict;
}

START_TEST(noise_accuses_nobody)
{
    static const char *const names[NOISE_KINDS] = {"random bits",      "steps of one",   "steps up to 1000",
                                                   "a fifth replaced", "zeros and ones", "shuffled",
                                                   "a factor each"};
    share rounds = share_of_rounds();
    int run = 0, verdicts[4] = {0};
    for (uint64_t round = rounds.first; round < rounds.end; round += rounds.step, run++)
        verdicts[judge_noise((noise_kind)_i, round)]++;
    printf("%s: %d outputs, %d accused (%d match, %d legitimate, %d unexplained)\n", names[_i], run,
           verdicts[FPO_VERDICT_FAULT], verdicts[FPO_VERDICT_MATCH], verdicts[FPO_VERDICT_LEGITIMATE],
           verdicts[FPO_VERDICT_UNEXPLAINED]);
    ck_assert_int_eq(verdicts[FPO_VERDICT_FAULT], 0);
}
END_TEST

/* Two or three elements that happen to be 1 are no constant output: of noise of zeros and ones, every fourth or eighth
 * is that. */
START_TEST(few_ones_accuse_nobody)
{
    static const int64_t small[][3] = {{1, 1, 64}, {1, 2, 32}, {2, 1, 64}, {1, 3, 64}, {2, 2, 32}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        for (size_t o = 0; o < OUTPUTS; o++) {
            fpo_vector *vector = generate((size_t)_i, outputs[o], small[i], i);
            size_t bytes;
            void *d = compute(&vector->spec, &vector->problem, &bytes);
            uint32_t one = fpo_encode_double(outputs[o], 1, fpo_cast_describe(FPO_CAST_IEEE));
            for (int64_t e = 0; e < small[i][0] * small[i][1]; e++)
                fpo_store_code(outputs[o], d, (size_t)e, one);
            fpo_diagnosis diagnosis;
            ck_assert(fpo_diagnose(&vector->spec, &vector->problem, d, bytes, NULL, &diagnosis, NULL) == FPO_OK);
            ck_assert_msg(!is_accused(&diagnosis), "%d x %d: %.1f bits where %.1f are needed", (int)small[i][0],
                          (int)small[i][1], diagnosis.evidence.bits, diagnosis.needed);
            free(d);
            fpo_vector_free(vector);
        }
}
END_TEST

/* One number with the other sign: the factor -1 is simple enough to be named, "every output is this number" is not. */
START_TEST(one_number_is_no_constant)
{
    static const int64_t one[] = {1, 1, 64};
    fpo_vector *vector = generate((size_t)_i, FPO_F32, one, 1);
    size_t bytes;
    uint32_t *d = compute(&vector->spec, &vector->problem, &bytes);
    *d ^= 0x80000000;
    fpo_diagnosis diagnosis;
    ck_assert(fpo_diagnose(&vector->spec, &vector->problem, d, bytes, NULL, &diagnosis, NULL) == FPO_OK);
    ck_assert_int_eq(diagnosis.verdict, FPO_VERDICT_FAULT);
    ck_assert_uint_ge(diagnosis.cause_count, 1);
    for (size_t i = 0; i < diagnosis.cause_count; i++)
        ck_assert_int_ne(diagnosis.causes[i].edits[0].kind, FPO_EDIT_OUTPUT_CONSTANT);
    free(d);
    fpo_vector_free(vector);
}
END_TEST

/* Every model's output, judged as if another had been asked for. */
START_TEST(other_models_are_no_faults)
{
    static const int64_t shape[] = {9, 7, 256};
    int models = 0, same = 0;
    fpo_vector *vector = generate((size_t)_i, FPO_F32, shape, 2);
    const fpo_model *model;
    for (size_t i = 0; (model = fpo_model_at(i)) != NULL; i++) {
        if (!fpo_model_takes(model, &vector->spec.a.stored, &vector->spec.b.stored))
            continue;
        fpo_gemm_spec spec = vector->spec;
        spec.accumulation = model->accumulation;
        size_t bytes;
        void *d = compute(&spec, &vector->problem, &bytes);
        fpo_diagnosis diagnosis;
        ck_assert(fpo_diagnose(&vector->spec, &vector->problem, d, bytes, NULL, &diagnosis, NULL) == FPO_OK);
        ck_assert_msg(diagnosis.verdict == FPO_VERDICT_MATCH || diagnosis.verdict == FPO_VERDICT_LEGITIMATE,
                      "the output of %s is called %s", model->name, fpo_verdict_name(diagnosis.verdict));
        same += diagnosis.verdict == FPO_VERDICT_MATCH;
        models++;
        free(d);
    }
    printf("%s x %s: %d models, %d of them with the bits of exact\n", fpo_block_format_describe(pairs[_i][0])->name,
           fpo_block_format_describe(pairs[_i][1])->name, models, same);
    ck_assert_int_ge(models, 2);
    fpo_vector_free(vector);
}
END_TEST

/* Other orders of K, splits, Stream-K, other orders of the epilogue: what documents allow. */
START_TEST(other_orders_are_no_faults)
{
    static const int64_t shape[] = {9, 7, 512};
    static const char *const models[] = {"sm120_mxf4nvf4", "sm90_fp8_blockwise"};
    int orders = 0;
    size_t bytes;
    fpo_vector *vector = generate((size_t)_i, FPO_F32, shape, 6);
    vector->spec.accumulation = fpo_model_by_name(models[_i])->accumulation;
    void *d = compute(&vector->spec, &vector->problem, &bytes);
    size_t count = fpo_edit_enumerate(&vector->spec, &vector->problem, NULL, 0);
    fpo_edit *edits = calloc(count, sizeof *edits);
    fpo_edit_enumerate(&vector->spec, &vector->problem, edits, count);
    for (size_t i = 0; i < count; i++) {
        fpo_edited edited;
        if (!fpo_edit_describe(edits[i].kind)->legitimate || edits[i].kind == FPO_EDIT_ACCUMULATION ||
            fpo_edited_open(&vector->spec, &vector->problem, &edits[i], 1, &edited, NULL) != FPO_OK)
            continue;
        fpo_gemm_output output = {.d = d, .d_bytes = bytes};
        bool made = fpo_edited_gemm(&edited, &output, NULL, NULL) == FPO_OK;
        fpo_edited_close(&edited);
        if (!made)
            continue;
        fpo_diagnosis diagnosis;
        char sentence[300];
        fpo_edit_sentence(&edits[i], sentence, sizeof sentence);
        ck_assert(fpo_diagnose(&vector->spec, &vector->problem, d, bytes, NULL, &diagnosis, NULL) == FPO_OK);
        ck_assert_msg(diagnosis.verdict == FPO_VERDICT_MATCH || diagnosis.verdict == FPO_VERDICT_LEGITIMATE, "%s: %s",
                      fpo_verdict_name(diagnosis.verdict), sentence);
        orders += diagnosis.verdict == FPO_VERDICT_LEGITIMATE;
    }
    free(d);
    printf("%s: %d other orders\n", models[_i], orders);
    ck_assert_int_ge(orders, 3);
    free(edits);
    fpo_vector_free(vector);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("accusations");
    TCase *noise = tcase_create("noise"), *right = tcase_create("right");
    tcase_set_timeout(noise, getenv("FPO_LONG") != NULL ? 7200 : 600);
    tcase_set_timeout(right, 600);
    tcase_add_loop_test(noise, noise_accuses_nobody, 0, NOISE_KINDS);
    tcase_add_loop_test(noise, few_ones_accuse_nobody, 0, PAIRS);
    tcase_add_loop_test(noise, one_number_is_no_constant, 0, PAIRS);
    tcase_add_loop_test(right, other_models_are_no_faults, 0, PAIRS);
    tcase_add_loop_test(right, other_orders_are_no_faults, 0, 2);
    suite_add_tcase(suite, noise);
    suite_add_tcase(suite, right);
    return suite;
}
