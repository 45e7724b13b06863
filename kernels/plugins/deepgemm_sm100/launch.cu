/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The kernels of one GEMM. */
#include "gemm.cuh"

fpo_plugin_status deepgemm_gemm(deepgemm_kernel kernel, const deepgemm_operands *operands, char *why)
{
    switch (kernel) {
#define DEEPGEMM_KERNEL(ID, name, summary, a, b, a_k, b_k, d, tile_m, tile_n, swap, ctas, grouped)                     \
    case DEEPGEMM_##ID:                                                                                                \
        return run_if<GemmType::grouped == GemmType::Normal, a, b, d, a_k, b_k, tile_m, tile_n, swap, ctas,            \
                      GemmType::grouped>(operands, why);
#include "kernels.inc"
#undef DEEPGEMM_KERNEL
    default: return FPO_PLUGIN_UNSUPPORTED;
    }
}
