/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "step_data.h"
#include "recorded.h"

#include "assertions.h"
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which model made a file: the first pattern that fits its name and the result's tensor. */
static const struct {
    const char *file, *label, *model;
} makers[] = {
    {"matlab/fp8_dot32_ada_*", "d_fp32", "sm89_mma_fp8"},
    {"matlab/fp8_dot32_ada_*", "d_fp16", "sm89_mma_fp8_f16acc"},
    {"matlab/fp8_dot32_l40s_*", "d_fp32", "sm89_mma_fp8"},
    {"matlab/fp8_dot32_b200_*", "d_fp32", "sm100_mma_fp8"},
    {"matlab/fp8_dot32_b200_*", "d_fp16", "sm100_mma_fp8_f16acc"},
    {"matlab/fp8_dot32_h[12]00_*", "d_fp32", "sm90_wgmma_fp8"},
    {"matlab/fp8_dot32_h[12]00_*", "d_fp16", "sm90_mma_fp8_f16acc"},
    {"h200/sm90_mma_m16n8k16_f16_f16_f16", "d", "sm90_mma_f16_f16acc"},
    {"h200/sm90_mma_m16n8k16_f32_bf16_bf16", "d", "sm90_mma_bf16"},
    {"h200/sm90_mma_m16n8k16_f32_e4m3_e4m3", "d", "sm90_mma_fp8_k16"},
    {"h200/sm90_mma_m16n8k16_f32_f16_f16", "d", "sm90_mma_f16"},
    {"h200/sm90_mma_m16n8k32_f16_*", "d", "sm90_mma_fp8_f16acc"},
    {"h200/sm90_mma_m16n8k32_f32_*", "d", "sm90_mma_fp8"},
    {"h200/sm90_mma_m16n8k8_f32_bf16_bf16", "d", "sm90_mma_bf16_k8"},
    {"h200/sm90_mma_m16n8k8_f32_f16_f16", "d", "sm90_mma_f16_k8"},
    {"h200/sm90_mma_m16n8k8_f32_tf32_tf32", "d", "sm90_mma_tf32"},
    {"h200/sm90_wgmma_f16_e4m3_e4m3", "d", "sm90_wgmma_fp8_f16acc"},
    {"h200/sm90_wgmma_f16_f16_f16", "d", "sm90_wgmma_f16_f16acc"},
    {"h200/sm90_wgmma_f32_bf16_bf16", "d", "sm90_wgmma_bf16"},
    {"h200/sm90_wgmma_f32_e*", "d", "sm90_wgmma_fp8"},
    {"h200/sm90_wgmma_f32_f16_f16", "d", "sm90_wgmma_f16"},
    {"h200/sm90_wgmma_f32_tf32_tf32", "d", "sm90_wgmma_tf32"},
    {"h200_live/mma_m16n8k16_f16_f16_f16", "d", "sm90_mma_f16_f16acc"},
    {"h200_live/mma_m16n8k16_f32_bf16_bf16", "d", "sm90_mma_bf16"},
    {"h200_live/mma_m16n8k16_f32_e*", "d", "sm90_mma_fp8_k16"},
    {"h200_live/mma_m16n8k16_f32_f16_f16", "d", "sm90_mma_f16"},
    {"h200_live/mma_m16n8k32_f16_*", "d", "sm90_mma_fp8_f16acc"},
    {"h200_live/mma_m16n8k32_f32_*", "d", "sm90_mma_fp8"},
    {"h200_live/mma_m16n8k8_f32_bf16_bf16", "d", "sm90_mma_bf16_k8"},
    {"h200_live/mma_m16n8k8_f32_f16_f16", "d", "sm90_mma_f16_k8"},
    {"h200_live/mma_m16n8k8_f32_tf32_tf32", "d", "sm90_mma_tf32"},
    {"h200_live/wgmma_f16_e*", "d", "sm90_wgmma_fp8_f16acc"},
    {"h200_live/wgmma_f16_f16_f16", "d", "sm90_wgmma_f16_f16acc"},
    {"h200_live/wgmma_f32_bf16_bf16", "d", "sm90_wgmma_bf16"},
    {"h200_live/wgmma_f32_e*", "d", "sm90_wgmma_fp8"},
    {"h200_live/wgmma_f32_f16_f16", "d", "sm90_wgmma_f16"},
    {"h200_live/wgmma_f32_tf32_tf32", "d", "sm90_wgmma_tf32"},
    {"mmasim/sm89_mma_k16_*_f16", "d", "sm89_mma_fp8_k16_f16acc"},
    {"mmasim/sm89_mma_k16_*", "d", "sm89_mma_fp8_k16"},
    {"mmasim/sm89_mma_k32_*_f16", "d", "sm89_mma_fp8_f16acc"},
    {"mmasim/sm89_mma_k32_*", "d", "sm89_mma_fp8"},
    {"mmasim/sm90_wgmma_k32_*_f16", "d", "sm90_wgmma_fp8_f16acc"},
    {"mmasim/sm90_wgmma_k32_*", "d", "sm90_wgmma_fp8"},
    {"mmasim/sm100_f8f6f4_*_f16", "d", "sm100_f8f6f4_f16acc"},
    {"mmasim/sm100_f8f6f4_*", "d", "sm100_f8f6f4"},
    {"mmasim/sm100_mxf4_*", "d", "sm100_mxf4"},
    {"mmasim/sm100_mxf4nvf4_*", "d", "sm100_mxf4nvf4"},
    {"mmasim/sm100_mxf8f6f4_*", "d", "sm100_mxf8f6f4"},
    {"mmasim/sm120_f8f6f4_*_f16", "d", "sm120_f8f6f4_f16acc"},
    {"mmasim/sm120_f8f6f4_*", "d", "sm120_f8f6f4"},
    {"mmasim/sm120_mma_k16_*_f16", "d", "sm120_mma_fp8_k16_f16acc"},
    {"mmasim/sm120_mma_k16_*", "d", "sm120_mma_fp8_k16"},
    {"mmasim/sm120_mxf4_*", "d", "sm120_mxf4"},
    {"mmasim/sm120_mxf4nvf4_*", "d", "sm120_mxf4nvf4"},
    {"mmasim/sm120_mxf8f6f4_*", "d", "sm120_mxf8f6f4"},
};
enum { MAKERS = sizeof makers / sizeof makers[0] };

typedef struct opened {
    char name[128];
    void *bytes;
    fpo_safetensors *file;
    fpo_steps *steps;
} opened;

static const char *maker(const char *file, const char *label)
{
    static const char named[] = "mmasim_wide/"; /* files of the name of their model */
    if (strncmp(file, named, strlen(named)) == 0)
        return file + strlen(named);
    for (size_t i = 0; i < MAKERS; i++)
        if (fnmatch(makers[i].file, file, 0) == 0 && strcmp(makers[i].label, label) == 0)
            return makers[i].model;
    ck_abort_msg("no model is known for %s, tensor %s", file, label);
}

static void open_one(const char *path, size_t folder_length, opened *o)
{
    fpo_error error = {0};
    size_t size;
    snprintf(o->name, sizeof o->name, "%s", path + folder_length);
    o->name[strlen(o->name) - strlen(".safetensors.zst")] = '\0';
    ck_assert_msg(fpo_read_zstd(path, &o->bytes, &size, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_safetensors_parse(o->bytes, size, o->name, &o->file, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_steps_read(o->file, &o->steps, &error) == FPO_OK, "%s", error.message);
}

step_data *step_data_open(void)
{
    static const char folder[] = FPO_SOURCE_DIR "/vectors/data/steps/";
    glob_t paths;
    ck_assert_int_eq(glob(FPO_SOURCE_DIR "/vectors/data/steps/*/*.safetensors.zst", 0, NULL, &paths), 0);
    step_data *data = calloc(1, sizeof *data);
    opened *files = calloc(paths.gl_pathc, sizeof *files);
    ck_assert(data != NULL && files != NULL);
    data->sets = calloc(2 * paths.gl_pathc, sizeof *data->sets);
    ck_assert_ptr_nonnull(data->sets);
    data->owned = files;
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        open_one(paths.gl_pathv[i], strlen(folder), &files[i]);
        for (size_t j = 0; j < fpo_steps_count(files[i].steps); j++) {
            const fpo_step_rows *rows = fpo_steps_at(files[i].steps, j);
            data->sets[data->count++] = (step_data_set){files[i].name, maker(files[i].name, rows->label), rows};
        }
    }
    data->files = paths.gl_pathc;
    globfree(&paths);
    return data;
}

void step_data_close(step_data *data)
{
    opened *files = data->owned;
    for (size_t i = 0; i < data->files; i++) {
        fpo_steps_close(files[i].steps);
        fpo_safetensors_close(files[i].file);
        free(files[i].bytes);
    }
    free(files);
    free(data->sets);
    free(data);
}
