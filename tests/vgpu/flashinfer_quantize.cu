// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FlashInfer's device quantisers behind plain kernels: a thread takes 8 bf16 elements of a row, writes their codes, and
// the first thread of a block its scale. tests/data/flashinfer/quantize.ptx.zst is what nvcc 13.0.88 made of it:
//   nvcc -std=c++17 -O3 -use_fast_math -DENABLE_BF16 -DENABLE_FP4 -DENABLE_FP8 --expt-relaxed-constexpr -arch=compute_120a -ptx
//        -I csrc/nv_internal -I csrc/nv_internal/include -I include   (of flashinfer-python 0.7.4, and CUTLASS's include)
// FlashInfer compiles its modules with -use_fast_math: without it the exact mode keeps subnormals and other codes come out.
#include <cfloat>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "tensorrt_llm/kernels/quantization_utils.cuh"

namespace kernels = tensorrt_llm::kernels;
using Eight = kernels::PackedVec<__nv_bfloat16, 8>;

template <int block, bool ue8m0, bool exact>
__device__ void quantize_fp4(const __nv_bfloat16 *in, uint32_t *codes, uint8_t *scales, const float *global_scale, int groups)
{
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups)
        return;
    Eight values = reinterpret_cast<const Eight *>(in)[group];
    uint8_t scale;
    codes[group] = kernels::cvt_warp_fp16_to_fp4<__nv_bfloat16, block, 8, ue8m0, exact>(values, *global_scale, &scale);
    if (group % (block / 8) == 0)
        scales[group / (block / 8)] = scale;
}

extern "C" __global__ void nvfp4(const __nv_bfloat16 *in, uint32_t *codes, uint8_t *scales, const float *scale, int groups)
{
    quantize_fp4<16, false, false>(in, codes, scales, scale, groups);
}

extern "C" __global__ void nvfp4_exact(const __nv_bfloat16 *in, uint32_t *codes, uint8_t *scales, const float *scale, int groups)
{
    quantize_fp4<16, false, true>(in, codes, scales, scale, groups);
}

extern "C" __global__ void mxfp4(const __nv_bfloat16 *in, uint32_t *codes, uint8_t *scales, const float *scale, int groups)
{
    quantize_fp4<32, true, false>(in, codes, scales, scale, groups);
}

extern "C" __global__ void mxfp8(const __nv_bfloat16 *in, uint64_t *codes, uint8_t *scales, const float *, int groups)
{
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups)
        return;
    Eight values = reinterpret_cast<const Eight *>(in)[group];
    uint8_t scale;
    codes[group] = kernels::cvt_warp_fp16_to_mxfp8<__nv_bfloat16, 32, 8>(values, &scale);
    if (group % 4 == 0)
        scales[group / 4] = scale;
}
