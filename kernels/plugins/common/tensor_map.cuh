/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensor maps by the driver's own encoder, which is looked up in the runtime. No interleaving, steps of 1, zeros
 * outside. */
#ifndef FP4ORACLE_PLUGINS_COMMON_TENSOR_MAP_CUH
#define FP4ORACLE_PLUGINS_COMMON_TENSOR_MAP_CUH

#include <fp4oracle/kernel_plugin.h>

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>

namespace fpo
{

/* Lines of `columns` elements, and planes of `rows` lines where there is a third dimension. */
struct tensor {
    const char *name;
    const void *address;
    CUtensorMapDataType type;
    int64_t columns, rows, line; /* line in bytes */
    uint32_t box_columns, box_rows;
    CUtensorMapSwizzle swizzle;
    int64_t planes = 0, plane = 0; /* 0: two dimensions; plane in bytes */
};

using tensor_map_encoder = decltype(&cuTensorMapEncodeTiled);

inline tensor_map_encoder find_tensor_map_encoder()
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) !=
        cudaSuccess)
        return nullptr;
    return reinterpret_cast<tensor_map_encoder>(function);
}

inline fpo_plugin_status encode_tensor_map(const tensor &x, CUtensorMap *map, char *why)
{
    static const tensor_map_encoder encode = find_tensor_map_encoder();
    if (encode == nullptr) {
        snprintf(why, FPO_PLUGIN_TEXT, "the driver has no cuTensorMapEncodeTiled");
        return FPO_PLUGIN_UNSUPPORTED;
    }
    const cuuint64_t sizes[3] = {cuuint64_t(x.columns), cuuint64_t(x.rows), cuuint64_t(x.planes)},
                     strides[2] = {cuuint64_t(x.line), cuuint64_t(x.plane)};
    const cuuint32_t box[3] = {x.box_columns, x.box_rows, 1}, steps[3] = {1, 1, 1};
    const CUresult result = encode(map, x.type, x.planes != 0 ? 3 : 2, const_cast<void *>(x.address), sizes, strides,
                                   box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, x.swizzle,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "cuTensorMapEncodeTiled of %s, %lld x %lld in lines of %lld bytes: error %d", x.name,
             static_cast<long long>(x.rows), static_cast<long long>(x.columns), static_cast<long long>(x.line),
             int(result));
    return FPO_PLUGIN_FAILED;
}

/* All of them, or the first that fails. */
template <int count>
fpo_plugin_status encode_tensor_maps(const tensor (&tensors)[count], CUtensorMap (&maps)[count], char *why)
{
    fpo_plugin_status status = FPO_PLUGIN_OK;
    for (int i = 0; i < count && status == FPO_PLUGIN_OK; i++)
        status = encode_tensor_map(tensors[i], &maps[i], why);
    return status;
}

} // namespace fpo

#endif
