/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Short mma.sync forms that have no model of their own, on the virtual GPU, against the rows of an H200: each row is a
 * product of row 0 of A and column 0 of B. */
#include "recorded.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <steps.h>
#include <string.h>
#include <vgpu.h>

static const struct {
    const char *file, *opcode;
    int k, bytes; /* of an element */
    bool f16;     /* accumulators */
} forms[] = {
    {"mma_m16n8k16_f16_e4m3_e4m3", "m16n8k16.row.col.f16.e4m3.e4m3.f16", 16, 1, true},
    {"mma_m16n8k16_f16_e4m3_e5m2", "m16n8k16.row.col.f16.e4m3.e5m2.f16", 16, 1, true},
    {"mma_m16n8k16_f16_e5m2_e4m3", "m16n8k16.row.col.f16.e5m2.e4m3.f16", 16, 1, true},
    {"mma_m16n8k16_f16_e5m2_e5m2", "m16n8k16.row.col.f16.e5m2.e5m2.f16", 16, 1, true},
    {"mma_m16n8k8_f16_f16_f16", "m16n8k8.row.col.f16.f16.f16.f16", 8, 2, true},
    {"mma_m16n8k4_f32_tf32_tf32", "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 4, false},
};

/* Lane q of the first four has elements per * q onwards of the row, one register; C and D of lane 0 are the results. */
static void write_kernel(char *text, size_t size, size_t form)
{
    bool f16 = forms[form].f16;
    snprintf(text, size,
             ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param "
             ".u64 c, .param .u64 d)\n{\n.reg .b32 %%r<20>; .reg .b64 %%rd<12>; .reg .pred %%p<4>;\n"
             "ld.param.u64 %%rd1, [a]; ld.param.u64 %%rd2, [b]; ld.param.u64 %%rd3, [c]; ld.param.u64 %%rd4, [d]; "
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; setp.lt.u32 %%p1, %%r1, 4; setp.eq.u32 %%p2, %%r1, 0;\n"
             "shl.b32 %%r3, %%r2, 2; add.u32 %%r3, %%r3, %%r1; mul.wide.u32 %%rd5, %%r3, 4; add.u64 %%rd6, %%rd1, "
             "%%rd5; add.u64 %%rd7, %%rd2, %%rd5; mul.wide.u32 %%rd8, %%r2, 4; add.u64 %%rd3, %%rd3, %%rd8; add.u64 "
             "%%rd4, %%rd4, %%rd8;\n"
             "mov.u32 %%r4, 0; mov.u32 %%r5, 0; mov.u32 %%r6, 0; mov.u32 %%r7, 0; @%%p1 ld.global.u32 %%r4, [%%rd6]; "
             "@%%p1 ld.global.u32 %%r6, [%%rd7]; @%%p2 ld.global.u32 %%r7, [%%rd3]; mov.u32 %%r8, 0;\n"
             "mma.sync.aligned.%s {%s}, {%%r4, %%r5}, {%%r6}, {%s};\n@%%p2 st.global.u32 [%%rd4], %%r10;\nret;\n}\n",
             forms[form].opcode, f16 ? "%r10, %r11" : "%r10, %r11, %r12, %r13",
             f16 ? "%r7, %r8" : "%r7, %r8, %r8, %r8");
}

static const fpo_tensor *tensor(const fpo_safetensors *file, const char *name)
{
    const fpo_tensor *t = fpo_safetensors_find(file, name);
    ck_assert_msg(t != NULL, "no tensor %s", name);
    return t;
}

/* Register q of a row, from codes as the file has them. */
static uint32_t pack(const fpo_tensor *codes, size_t row, int k, int bytes, int lane)
{
    size_t width = codes->bytes / (size_t)codes->shape[0] / (size_t)k;
    uint32_t word = 0;
    for (int e = 0; e < 4 / bytes; e++) {
        uint32_t code = 0;
        memcpy(&code, (const uint8_t *)codes->data + (row * (size_t)k + (size_t)(4 / bytes * lane + e)) * width, width);
        word |= code << (8 * bytes * e);
    }
    return word;
}

START_TEST(rows)
{
    size_t form = (size_t)_i;
    char path[512], text[4096];
    void *bytes;
    size_t size;
    fpo_error error = {FPO_OK, ""};
    fpo_safetensors *file;
    snprintf(path, sizeof path, FPO_SOURCE_DIR "/vectors/data/steps/h200_live/unmodelled/%s.safetensors.zst",
             forms[form].file);
    ck_assert_msg(fpo_read_zstd(path, &bytes, &size, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_safetensors_parse(bytes, size, path, &file, &error) == FPO_OK, "%s", error.message);
    const fpo_tensor *ta = tensor(file, "a"), *tb = tensor(file, "b"), *tc = tensor(file, "c"), *td = tensor(file, "d");
    uint32_t count = (uint32_t)ta->shape[0];
    size_t width = td->bytes / count;
    fpo_vgpu_config config = {.capability = 90};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    uint32_t *a = fpo_vgpu_allocate(gpu, 16 * count), *b = fpo_vgpu_allocate(gpu, 16 * count),
             *c = fpo_vgpu_allocate(gpu, 4 * count), *d = fpo_vgpu_allocate(gpu, 4 * count);
    memset(c, 0, 4 * count);
    for (uint32_t r = 0; r < count; r++) {
        for (int lane = 0; lane < 4; lane++) {
            a[4 * r + (uint32_t)lane] = pack(ta, r, forms[form].k, forms[form].bytes, lane);
            b[4 * r + (uint32_t)lane] = pack(tb, r, forms[form].k, forms[form].bytes, lane);
        }
        memcpy(&c[r], (const uint8_t *)tc->data + r * width, width);
    }
    write_kernel(text, sizeof text, form);
    const void *arguments[] = {&a, &b, &c, &d};
    fpo_vgpu_launch launch = {.grid = {count, 1, 1}, .block = {32, 1, 1}, .arguments = arguments};
    ck_assert_msg(fpo_vgpu_load(gpu, text, strlen(text), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_run(function, &launch, NULL, &error) == FPO_OK, "%s", error.message);
    uint32_t different = 0;
    /* The other f16 of a register is another column's: NaN where the row of A has one. */
    for (uint32_t r = 0; r < count; r++)
        different += memcmp(&d[r], (const uint8_t *)td->data + r * width, forms[form].f16 ? 2 : 4) != 0;
    printf("%s: %u rows, %u differ\n", forms[form].opcode, count, different);
    ck_assert_uint_eq(count, 2048);
    ck_assert_uint_eq(different, 0);
    fpo_vgpu_free(gpu);
    fpo_safetensors_close(file);
    free(bytes);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_short_mma");
    TCase *tests = tcase_create("rows");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, rows, 0, (int)(sizeof forms / sizeof forms[0]));
    suite_add_tcase(suite, tests);
    return suite;
}
