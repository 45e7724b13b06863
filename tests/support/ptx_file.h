/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Virtual GPUs for tests. */
#ifndef FP4ORACLE_TESTS_PTX_FILE_H
#define FP4ORACLE_TESTS_PTX_FILE_H

#include <vgpu.h>

/* Loads tests/data/NAME.zst into a new GPU; ends the running Check test if that fails. */
fpo_vgpu *fpo_test_gpu(const fpo_vgpu_config *config, const char *name, const char *kernel,
                       fpo_vgpu_function **function);

/* The text itself, to be freed. */
char *fpo_test_ptx(const char *name);

#endif
