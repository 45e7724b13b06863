/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every output that CUTLASS, DeepGEMM and cuDNN returned on an H200, by its digest (vectors/data/h200, outputs.txt of
 * kernels.tar.xz): the generator makes the vector again from its seed, the model gives the digest. FPO_LONG=1 takes all
 * data of the large shapes. */
#include "generate.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct output {
    char formats[48], data[16], d[8], model[48], digest[40], kernel[64], variant[64];
    long m, n, k;
    unsigned long seed;
} output;

/* Kinds of vector of tools/record_kernels.sh that are no kind of data. */
static const struct {
    const char *name;
    fpo_data_kind kind;
    float alpha;
    fpo_format c;
} specials[] = {{"negative", FPO_DATA_POWERS, -1.0f, FPO_FORMAT_NONE},
                {"c_f32", FPO_DATA_LADDER, 0.3f, FPO_F32},
                {"c_bf16", FPO_DATA_GAUSSIAN, -1.7f, FPO_BF16}};
enum { SPECIALS = sizeof specials / sizeof specials[0] };

static bool read_output(FILE *file, output *o)
{
    char outcome[24];
    return fscanf(file, "%47s %ldx%ldx%ld %15s %lu %7s %47s %23s %39s %63s %63s", o->formats, &o->m, &o->n, &o->k,
                  o->data, &o->seed, o->d, o->model, outcome, o->digest, o->kernel, o->variant) == 12;
}

static fpo_block_format block_format(const char *name, size_t length)
{
    char text[48];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    return fpo_block_format_by_name(text);
}

static fpo_vector *generate(const output *o)
{
    size_t first = strcspn(o->formats, ",");
    const char *second = o->formats[first] == ',' ? o->formats + first + 1 : o->formats;
    fpo_generate wanted = {.a = block_format(o->formats, first),
                           .b = block_format(second, strlen(second)),
                           .d = FPO_F32,
                           .c = FPO_FORMAT_NONE,
                           .bias = FPO_FORMAT_NONE,
                           .m = o->m,
                           .n = o->n,
                           .k = o->k,
                           .kind = fpo_data_kind_by_name(o->data),
                           .seed = o->seed};
    float alpha = 1;
    for (size_t i = 0; i < SPECIALS; i++) {
        if (strcmp(o->data, specials[i].name) == 0) {
            wanted.kind = specials[i].kind;
            wanted.c = specials[i].c;
            alpha = specials[i].alpha;
        }
    }
    fpo_vector *vector = NULL;
    fpo_error error = {0};
    ck_assert_msg(fpo_generate_vector(&wanted, &vector, &error) == FPO_OK, "%s", error.message);
    vector->problem.alpha = alpha;
    return vector;
}

static fpo_epilogue_preset epilogue(const output *o)
{
    if (strncmp(o->kernel, "cutlass", 7) == 0)
        return FPO_EPILOGUE_CUTLASS_CONTRACTED;
    if (strncmp(o->kernel, "cudnn", 5) != 0)
        return FPO_EPILOGUE_COUNT; /* no step changes anything */
    return strcmp(o->variant, "engine_0") == 0 ? FPO_EPILOGUE_CUDNN_FP8_AB : FPO_EPILOGUE_CUDNN_FP8_A_THEN_B;
}

static fpo_digest digest(const output *o, const fpo_vector *vector, const char *model, fpo_epilogue_preset preset)
{
    fpo_gemm_spec spec = vector->spec;
    fpo_error error = {0};
    spec.accumulation = fpo_model_by_name(model)->accumulation;
    spec.epilogue.d = fpo_format_by_name(o->d);
    spec.epilogue.d_cast = *fpo_cast_describe(FPO_CAST_IEEE);
    memset(spec.epilogue.steps, 0, sizeof spec.epilogue.steps);
    if (preset != FPO_EPILOGUE_COUNT)
        memcpy(spec.epilogue.steps, fpo_epilogue_describe(preset)->steps, sizeof spec.epilogue.steps);
    size_t bytes = fpo_output_bytes(&spec, o->m, o->n);
    void *d = malloc(bytes);
    ck_assert_ptr_nonnull(d);
    fpo_gemm_output out = {.d = d, .d_bytes = bytes};
    ck_assert_msg(fpo_gemm(&spec, &vector->problem, &out, NULL, &error) == FPO_OK, "%s", error.message);
    fpo_digest result = fpo_digest_of(d, bytes);
    free(d);
    return result;
}

static FILE *open_outputs(void)
{
    FILE *file = fopen(FPO_BINARY_DIR "/tests/h200/kernels/outputs.txt", "r");
    ck_assert_ptr_nonnull(file);
    return file;
}

/* Of the larger shapes one kind of data is enough for every day. */
static bool wanted(const output *o)
{
    long products = o->m * o->n * o->k;
    return products <= 1000000 || (products <= 20000000 && strcmp(o->data, "uniform") == 0) ||
           getenv("FPO_LONG") != NULL;
}

START_TEST(every_output)
{
    FILE *file = open_outputs();
    output o;
    int outputs = 0, checked = 0;
    while (read_output(file, &o)) {
        outputs++;
        if (!wanted(&o))
            continue;
        fpo_vector *vector = generate(&o);
        fpo_digest d = digest(&o, vector, o.model, epilogue(&o));
        ck_assert_msg(strcmp(d.hex, o.digest) == 0, "%s %s, %s %ldx%ldx%ld %s: not the recorded output under %s",
                      o.kernel, o.variant, o.formats, o.m, o.n, o.k, o.data, o.model);
        fpo_vector_free(vector);
        checked++;
    }
    fclose(file);
    printf("%d of %d recorded outputs, 0 differ\n", checked, outputs);
    ck_assert_int_eq(outputs, 900);
}
END_TEST

/* The digests tell what is claimed from its neighbours: another accumulation, another epilogue. */
START_TEST(neighbours_fail)
{
    FILE *file = open_outputs();
    output o;
    int accumulations = 0, order_of_scales = 0, contraction = 0;
    while (read_output(file, &o)) {
        if (o.k != 2048 && o.k != 336)
            continue;
        bool cutlass = strncmp(o.kernel, "cutlass", 7) == 0, with_c = strcmp(o.data, "c_bf16") == 0;
        bool uniform = strcmp(o.data, "uniform") == 0 && strcmp(o.d, "f32") == 0;
        bool engine_4 = uniform && strcmp(o.variant, "engine_4") == 0;
        if (!(uniform && o.k == 2048) && !(cutlass && with_c))
            continue;
        fpo_vector *vector = generate(&o);
        if (uniform) {
            const char *other = strcmp(o.model, "sm90_wgmma_fp8") == 0       ? "sm90_fp8_promote128"
                                : strcmp(o.model, "sm90_fp8_blockwise") == 0 ? "sm90_fp8_blockwise_a_then_b"
                                                                             : "sm90_wgmma_fp8";
            accumulations += strcmp(digest(&o, vector, other, epilogue(&o)).hex, o.digest) != 0;
        }
        if (engine_4)
            order_of_scales += strcmp(digest(&o, vector, o.model, FPO_EPILOGUE_CUDNN_FP8_AB).hex, o.digest) != 0;
        if (cutlass && with_c)
            contraction += strcmp(digest(&o, vector, o.model, FPO_EPILOGUE_CUTLASS_C).hex, o.digest) != 0;
        fpo_vector_free(vector);
    }
    fclose(file);
    printf("other accumulations refuted by %d, the other order of scales by %d, of alpha and beta by %d outputs\n",
           accumulations, order_of_scales, contraction);
    ck_assert_int_gt(accumulations, 5);
    ck_assert_int_gt(order_of_scales, 0);
    ck_assert_int_gt(contraction, 2);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recorded kernels");
    TCase *c = tcase_create("h200");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, every_output);
    tcase_add_test(c, neighbours_fail);
    suite_add_tcase(suite, c);
    return suite;
}
