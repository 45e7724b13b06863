/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The presets against what torch, torchao, ml_dtypes, onnxruntime and gfloat were recorded to do (tests/data/casts). */
#include "recorded.h"
#include "suite.h"

#include <fp4oracle/cast.h>
#include <stdio.h>

/* What a library was fed: non-finite inputs were replaced by 0 where it does not take them. */
typedef enum feed { ALL, FINITE } feed;
/* Signs of torch's NaN codes depend on the processor (PROVENANCE), so any NaN code will do. */
typedef enum nans { EXACT, ANY_NAN } nans;

typedef struct recording {
    const char *file, *tensor;
    fpo_format format;
    fpo_cast_preset preset;
    feed feed;
    nans nans;
    fpo_format via; /* the input was cast to this first */
} recording;

/* The FNUZ types, e3m4 and e4m3 with infinities of the same files are outside the registry of formats. */
static const recording recordings[] = {
    {"gfloat", "e2m1_sat", FPO_E2M1, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"gfloat", "e2m3_sat", FPO_E2M3, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"gfloat", "e3m2_sat", FPO_E3M2, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"gfloat", "e4m3_sat", FPO_E4M3, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"gfloat", "e5m2_sat", FPO_E5M2, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"torchao", "float4_e2m1", FPO_E2M1, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"torchao", "float6_e2m3", FPO_E2M3, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"torchao", "float6_e3m2", FPO_E3M2, FPO_CAST_PTX, FINITE, EXACT, FPO_F32},
    {"ml_dtypes", "float4_e2m1fn", FPO_E2M1, FPO_CAST_ML_DTYPES, ALL, EXACT, FPO_F32},
    {"ml_dtypes", "float6_e2m3fn", FPO_E2M3, FPO_CAST_ML_DTYPES, ALL, EXACT, FPO_F32},
    {"ml_dtypes", "float6_e3m2fn", FPO_E3M2, FPO_CAST_ML_DTYPES, ALL, EXACT, FPO_F32},
    {"ml_dtypes", "float8_e4m3fn", FPO_E4M3, FPO_CAST_ML_DTYPES, ALL, EXACT, FPO_F32},
    {"ml_dtypes", "float8_e5m2", FPO_E5M2, FPO_CAST_ML_DTYPES, ALL, EXACT, FPO_F32},
    {"ml_dtypes", "float8_e8m0fnu", FPO_UE8M0, FPO_CAST_ML_DTYPES_E8M0, ALL, EXACT, FPO_F32},
    {"onnxruntime", "FLOAT8E4M3FN_sat1", FPO_E4M3, FPO_CAST_ONNXRUNTIME, ALL, EXACT, FPO_F32},
    {"onnxruntime", "FLOAT8E5M2_sat1", FPO_E5M2, FPO_CAST_ONNXRUNTIME, ALL, EXACT, FPO_F32},
    {"onnxruntime", "FLOAT8E4M3FN_sat0", FPO_E4M3, FPO_CAST_ONNXRUNTIME_NOSAT, ALL, EXACT, FPO_F32},
    {"onnxruntime", "FLOAT8E5M2_sat0", FPO_E5M2, FPO_CAST_ONNXRUNTIME_NOSAT, ALL, EXACT, FPO_F32},
    {"torch", "float8_e4m3fn", FPO_E4M3, FPO_CAST_TORCH, ALL, ANY_NAN, FPO_F32},
    {"torch", "float8_e4m3fn.from_bf16", FPO_E4M3, FPO_CAST_TORCH, ALL, ANY_NAN, FPO_BF16},
    {"torch", "float8_e4m3fn.from_f16", FPO_E4M3, FPO_CAST_TORCH, ALL, ANY_NAN, FPO_F16},
    {"torch", "float8_e5m2", FPO_E5M2, FPO_CAST_TORCH_NOSAT, ALL, ANY_NAN, FPO_F32},
    {"torch", "float8_e5m2.from_bf16", FPO_E5M2, FPO_CAST_TORCH_NOSAT, ALL, ANY_NAN, FPO_BF16},
    {"torch", "float8_e5m2.from_f16", FPO_E5M2, FPO_CAST_TORCH_NOSAT, ALL, ANY_NAN, FPO_F16},
    {"torch", "float8_e8m0fnu", FPO_UE8M0, FPO_CAST_TORCH_E8M0, ALL, EXACT, FPO_F32},
    {"torch", "float8_e8m0fnu.from_bf16", FPO_UE8M0, FPO_CAST_TORCH_E8M0, ALL, EXACT, FPO_BF16},
    {"torch", "float8_e8m0fnu.from_f16", FPO_UE8M0, FPO_CAST_TORCH_E8M0, ALL, EXACT, FPO_F16},
};
enum { RECORDINGS = sizeof recordings / sizeof recordings[0], INPUTS = 7411 };

static uint32_t expected_code(const recording *r, uint32_t bits)
{
    fpo_value x = fpo_decode(FPO_F32, bits);
    if (r->feed == FINITE && x.kind > FPO_FINITE)
        x = (fpo_value){.kind = FPO_ZERO};
    if (r->via != FPO_F32)
        x = fpo_decode(r->via, fpo_encode(r->via, x, fpo_cast_describe(FPO_CAST_IEEE), 0));
    return fpo_encode(r->format, x, fpo_cast_describe(r->preset), 0);
}

/* Number of codes that differ from what `preset` says. */
static int differences(const recording *r, const fpo_tensor *x, const fpo_tensor *codes, bool report)
{
    int different = 0;
    for (size_t i = 0; i < INPUTS; i++) {
        uint32_t bits = fpo_load_code(FPO_F32, x->data, i), code = fpo_load_code(r->format, codes->data, i);
        uint32_t ours = expected_code(r, bits);
        bool both_nan = fpo_decode(r->format, code).kind == FPO_NAN && fpo_decode(r->format, ours).kind == FPO_NAN;
        if (code == ours || (r->nans == ANY_NAN && both_nan))
            continue;
        if (report && different < 10)
            fprintf(stderr, "%s %s of 0x%08X: 0x%02X, by %s 0x%02X\n", r->file, r->tensor, bits, code,
                    fpo_cast_name(r->preset), ours);
        different++;
    }
    return different;
}

typedef struct opened {
    fpo_recorded inputs, casts;
    const fpo_tensor *x, *codes;
} opened;

static opened open_recording(const recording *r)
{
    opened o;
    fpo_error error;
    char name[128];
    ck_assert_msg(fpo_recorded_open("casts/inputs.casts.f32.safetensors", &o.inputs, &error) == FPO_OK, "%s",
                  error.message);
    snprintf(name, sizeof name, "casts/casts.%s.f32.safetensors", r->file);
    ck_assert_msg(fpo_recorded_open(name, &o.casts, &error) == FPO_OK, "%s", error.message);
    o.x = fpo_safetensors_find(o.inputs.file, "x");
    o.codes = fpo_safetensors_find(o.casts.file, r->tensor);
    ck_assert(o.x != NULL && o.x->bytes == 4 * INPUTS && o.codes != NULL && o.codes->bytes == INPUTS);
    return o;
}

static void close_recording(opened *o)
{
    fpo_recorded_close(&o->inputs);
    fpo_recorded_close(&o->casts);
}

START_TEST(preset_reproduces_the_library)
{
    opened o = open_recording(&recordings[_i]);
    ck_assert_int_eq(differences(&recordings[_i], o.x, o.codes, true), 0);
    close_recording(&o);
}
END_TEST

/* The inputs tell the presets apart: under another library's policy, the recording is not reproduced. */
START_TEST(inputs_tell_policies_apart)
{
    static const struct {
        int recording; /* of the table above */
        fpo_cast_preset wrong;
    } pairs[] = {
        {8, FPO_CAST_PTX},
        {8, FPO_CAST_HALF_AWAY},
        {11, FPO_CAST_TORCH},
        {12, FPO_CAST_TORCH_NOSAT},
        {13, FPO_CAST_TORCH_E8M0},
        {13, FPO_CAST_PTX_RP},
        {14, FPO_CAST_IEEE},
        {16, FPO_CAST_IEEE},
        {16, FPO_CAST_TORCH_NOSAT},
        {17, FPO_CAST_IEEE},
        {17, FPO_CAST_TORCH_NOSAT},
        {18, FPO_CAST_TORCH_NOSAT},
        {24, FPO_CAST_ML_DTYPES_E8M0},
        {24, FPO_CAST_PTX_RP},
        {24, FPO_CAST_CUDA_RZ_NOSAT},
        {24, FPO_CAST_HALF_AWAY},
    };
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        recording r = recordings[pairs[p].recording];
        r.preset = pairs[p].wrong;
        opened o = open_recording(&r);
        ck_assert_msg(differences(&r, o.x, o.codes, false) > 0, "%s %s is also %s", r.file, r.tensor,
                      fpo_cast_name(r.preset));
        close_recording(&o);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recorded casts");
    TCase *tests = tcase_create("recorded casts");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, preset_reproduces_the_library, 0, RECORDINGS);
    tcase_add_test(tests, inputs_tell_policies_apart);
    suite_add_tcase(suite, tests);
    return suite;
}
