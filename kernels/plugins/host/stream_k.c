/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How Stream-K divides the tiles on this device. */
#include "stream_k.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

fpo_plugin_status fpo_describe_stream_k(const fpo_kernel *kernel, const fpo_kernel_problem *problem,
                                        fpo_kernel_variant *variant, char *why)
{
    static fpo_kernel_order order;
    (void)problem;
    (void)why;
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    order = *kernel->order;
    order.wave = order.split != NULL ? multiprocessors : 0;
    variant->order = &order;
    if (order.wave > 0)
        snprintf(variant->name, sizeof variant->name, "%d multiprocessors", multiprocessors);
    return FPO_PLUGIN_OK;
}
