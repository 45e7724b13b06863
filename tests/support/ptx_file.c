/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Virtual GPUs for tests. */
#include "ptx_file.h"
#include "recorded.h"

#include "assertions.h"
#include <stdio.h>
#include <stdlib.h>

fpo_vgpu *fpo_test_gpu(const fpo_vgpu_config *config, const char *name, const char *kernel,
                       fpo_vgpu_function **function)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/%s.zst", FPO_SOURCE_DIR, name);
    fpo_error error = {FPO_OK, ""};
    void *text = NULL;
    size_t size = 0;
    fpo_vgpu *gpu = NULL;
    fpo_vgpu_module *module = NULL;
    ck_assert_msg(fpo_read_zstd(path, &text, &size, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_new(config, &gpu, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_load(gpu, text, size, &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, kernel, function, &error) == FPO_OK, "%s", error.message);
    free(text);
    return gpu;
}

char *fpo_test_ptx(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/%s.zst", FPO_SOURCE_DIR, name);
    fpo_error error = {FPO_OK, ""};
    void *text = NULL;
    size_t size = 0;
    ck_assert_msg(fpo_read_zstd(path, &text, &size, &error) == FPO_OK, "%s", error.message);
    char *ptx = malloc(size + 1);
    memcpy(ptx, text, size);
    ptx[size] = '\0';
    free(text);
    return ptx;
}
