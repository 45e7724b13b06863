/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every kind of edit of the registry as a kernel that is broken that way: a right kernel's spec and operands, edited.
 * What the runner and the diagnosis say of each defect is seen with it, as of a kernel that came from elsewhere. */
#ifndef FP4ORACLE_PLUGINS_EDITED_H
#define FP4ORACLE_PLUGINS_EDITED_H

#include <fp4oracle/edit.h>
#include <fp4oracle/kernel_plugin.h>

/* What a kernel means, and what it gets wrong. */
typedef struct edited_kernel {
    fpo_block_format a, b;
    fpo_format d;
    fpo_edit_kind kind;
    int operands;
} edited_kernel;

/* All of them, made at the first call; NULL if there is no memory. */
const fpo_kernel *edited_kernels(uint32_t *count);
/* The spec of the kernel without its edit. */
fpo_status edited_spec(const edited_kernel *kernel, fpo_gemm_spec *spec, fpo_error *error);

#endif
