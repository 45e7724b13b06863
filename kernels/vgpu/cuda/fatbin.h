/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Fat binaries: what nvcc embeds. Only their PTX is taken. Layout: kernels.md 5, pitfall 6. */
#ifndef FP4ORACLE_KERNELS_VGPU_CUDA_FATBIN_H
#define FP4ORACLE_KERNELS_VGPU_CUDA_FATBIN_H

#include <stddef.h>

/* Calls `take` for each PTX text in the container at `image`; the text is the callee's for the call alone. False:
 * `take` returned false, or the container is malformed (then *problem says how). */
int fpo_fatbin_each(const void *image, int (*take)(void *context, const char *text, size_t length), void *context,
                    const char **problem);

#endif
