/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What is missing is there as a function that says so: a program that never calls it runs, and one that does learns
 * which function it was. */
#include "standin.h"

#include <stdio.h>

static int missing(const char *name)
{
    char message[160];
    snprintf(message, sizeof message, "%s is not a function of the virtual GPU", name);
    return fpo_cuda_fail(FPO_CUDA_NOT_SUPPORTED, message);
}

#define FPO_CUDA_MISSING(name)                                                                                         \
    FPO_CUDA_EXPORT int name(void)                                                                                     \
    {                                                                                                                  \
        return missing(#name);                                                                                         \
    }
#include "missing.inc"
#undef FPO_CUDA_MISSING
