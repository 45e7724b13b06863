/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The GPU's own `cvt` instructions against the presets: every f32 pattern, every f16 pattern, doubles by the million.
 * Run by hand on a GPU of compute capability 8.9 or more (10.0 and 12.0 add fp4, fp6 and ue8m0):
 *
 *     tests/cuda/cast_on_gpu.sh
 *
 * Exit status 0 if every code is as the preset says. */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <fp4oracle/cast.h>
#include <thread>
#include <vector>

namespace
{

enum Instruction {
    E4M3_F32,
    E5M2_F32,
    F16_RN,
    F16_RZ,
    F16_SATFINITE,
    BF16_RN,
    BF16_RZ,
    BF16_SATFINITE,
    TF32_RNA,
#if FPO_TARGET >= 90
    TF32_RN,
    TF32_RZ,
#endif
#if FPO_TARGET_FP4
    E2M1_F32,
    E2M3_F32,
    E3M2_F32,
    UE8M0_RP,
    UE8M0_RZ,
    UE8M0_RP_NOSAT,
    UE8M0_RZ_NOSAT,
#endif
    F32_INSTRUCTIONS,
    E4M3_F16 = F32_INSTRUCTIONS,
    E5M2_F16,
    F16_INSTRUCTIONS,
    F32_F64_RN = F16_INSTRUCTIONS,
    F32_F64_RZ,
    F32_F64_RP,
    F32_F64_RM,
    INSTRUCTIONS
};

struct Expectation {
    const char *text;
    fpo_format format;
    fpo_cast_preset preset;
    fpo_rounding rounding;
};

const Expectation expectations[] = {
    {"cvt.rn.satfinite.e4m3x2.f32", FPO_E4M3, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rn.satfinite.e5m2x2.f32", FPO_E5M2, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rn.f16.f32", FPO_F16, FPO_CAST_IEEE, FPO_NEAREST_EVEN},
    {"cvt.rz.f16.f32", FPO_F16, FPO_CAST_IEEE, FPO_TOWARD_ZERO},
    {"cvt.rn.satfinite.f16.f32", FPO_F16, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rn.bf16.f32", FPO_BF16, FPO_CAST_IEEE, FPO_NEAREST_EVEN},
    {"cvt.rz.bf16.f32", FPO_BF16, FPO_CAST_IEEE, FPO_TOWARD_ZERO},
    {"cvt.rn.satfinite.bf16.f32", FPO_BF16, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rna.tf32.f32", FPO_TF32, FPO_CAST_IEEE, FPO_NEAREST_AWAY},
#if FPO_TARGET >= 90
    {"cvt.rn.tf32.f32", FPO_TF32, FPO_CAST_IEEE, FPO_NEAREST_EVEN},
    {"cvt.rz.tf32.f32", FPO_TF32, FPO_CAST_IEEE, FPO_TOWARD_ZERO},
#endif
#if FPO_TARGET_FP4
    {"cvt.rn.satfinite.e2m1x2.f32", FPO_E2M1, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rn.satfinite.e2m3x2.f32", FPO_E2M3, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rn.satfinite.e3m2x2.f32", FPO_E3M2, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rp.satfinite.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_PTX_RP, FPO_AWAY_FROM_ZERO},
    {"cvt.rz.satfinite.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_PTX_RZ, FPO_TOWARD_ZERO},
    {"cvt.rp.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_CUDA_RP_NOSAT, FPO_AWAY_FROM_ZERO},
    {"cvt.rz.ue8m0x2.f32", FPO_UE8M0, FPO_CAST_CUDA_RZ_NOSAT, FPO_TOWARD_ZERO},
#endif
    {"cvt.rn.satfinite.e4m3x2.f16x2", FPO_E4M3, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rn.satfinite.e5m2x2.f16x2", FPO_E5M2, FPO_CAST_PTX, FPO_NEAREST_EVEN},
    {"cvt.rn.f32.f64", FPO_F32, FPO_CAST_IEEE, FPO_NEAREST_EVEN},
    {"cvt.rz.f32.f64", FPO_F32, FPO_CAST_IEEE, FPO_TOWARD_ZERO},
    {"cvt.rp.f32.f64", FPO_F32, FPO_CAST_IEEE, FPO_UP},
    {"cvt.rm.f32.f64", FPO_F32, FPO_CAST_IEEE, FPO_DOWN},
};

/* Doubles around the borders of f32: any upper half, and a lower one that is near a tie half of the time. */
__host__ __device__ uint64_t double_pattern(uint64_t index)
{
    uint64_t bits = index * 0x9E3779B97F4A7C15u;
    bits ^= bits >> 29;
    if (index % 2 == 0)
        bits = (bits & ~0x1FFFFFFFull) | (0x10000000 + index / 2 % 3 - 1);
    if (index % 4 < 2) /* exponents that f32 has */
        bits = (bits & ~(0x700ull << 52)) | (0x380ull << 52);
    return bits;
}

__device__ uint32_t convert(int instruction, uint64_t index)
{
    uint32_t wide = 0, bits = static_cast<uint32_t>(index);
    uint16_t narrow = 0;
    float x = __uint_as_float(bits), zero = 0;
    double d = __longlong_as_double(static_cast<long long>(double_pattern(index)));
    switch (instruction) {
    case E4M3_F32: asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); return narrow;
    case E5M2_F32: asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); return narrow;
    case F16_RN: asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(x)); return narrow;
    case F16_RZ: asm("cvt.rz.f16.f32 %0, %1;" : "=h"(narrow) : "f"(x)); return narrow;
    case F16_SATFINITE: asm("cvt.rn.satfinite.f16.f32 %0, %1;" : "=h"(narrow) : "f"(x)); return narrow;
    case BF16_RN: asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x)); return narrow;
    case BF16_RZ: asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x)); return narrow;
    case BF16_SATFINITE: asm("cvt.rn.satfinite.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x)); return narrow;
    case TF32_RNA: asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(wide) : "f"(x)); return wide >> 13;
#if FPO_TARGET >= 90
    case TF32_RN: asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(wide) : "f"(x)); return wide >> 13;
    case TF32_RZ: asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(wide) : "f"(x)); return wide >> 13;
#endif
#if FPO_TARGET_FP4
    case E2M1_F32:
        asm("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; cvt.u16.u8 %0, t; }"
            : "=h"(narrow)
            : "f"(zero), "f"(x));
        return narrow;
    case E2M3_F32: asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); return narrow;
    case E3M2_F32: asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); return narrow;
    case UE8M0_RP: asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); break;
    case UE8M0_RZ: asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); break;
    case UE8M0_RP_NOSAT: asm("cvt.rp.ue8m0x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); break;
    case UE8M0_RZ_NOSAT: asm("cvt.rz.ue8m0x2.f32 %0, %1, %2;" : "=h"(narrow) : "f"(zero), "f"(x)); break;
#endif
    case E4M3_F16: asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(narrow) : "r"(bits)); return narrow & 0xFF;
    case E5M2_F16: asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(narrow) : "r"(bits)); return narrow & 0xFF;
    case F32_F64_RN: asm("cvt.rn.f32.f64 %0, %1;" : "=r"(wide) : "d"(d)); return wide;
    case F32_F64_RZ: asm("cvt.rz.f32.f64 %0, %1;" : "=r"(wide) : "d"(d)); return wide;
    case F32_F64_RP: asm("cvt.rp.f32.f64 %0, %1;" : "=r"(wide) : "d"(d)); return wide;
    case F32_F64_RM: asm("cvt.rm.f32.f64 %0, %1;" : "=r"(wide) : "d"(d)); return wide;
    }
    return narrow & 0xFF;
}

__global__ void convert_range(int instruction, uint64_t first, uint32_t count, uint32_t *codes)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        codes[i] = convert(instruction, first + i);
}

fpo_value input(int instruction, uint64_t index)
{
    if (instruction < F32_INSTRUCTIONS)
        return fpo_decode(FPO_F32, static_cast<uint32_t>(index));
    if (instruction < F16_INSTRUCTIONS)
        return fpo_decode(FPO_F16, static_cast<uint32_t>(index));
    uint64_t bits = double_pattern(index);
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return fpo_value_from_double(x);
}

struct Tally {
    std::atomic<uint64_t> different{0}, nan_different{0};
};

/* Two instructions that return a NaN as it came: no preset has that, since an fpo_value carries no payload. Seen on an
 * H200; the others make the canonical one. */
uint32_t nan_code(int instruction, uint64_t index, uint32_t canonical)
{
    if (instruction == TF32_RNA)
        return static_cast<uint32_t>(index) >> 13; /* 0x7F800001 so becomes an infinity */
    if (instruction < F16_INSTRUCTIONS)
        return canonical;
    const uint64_t bits = double_pattern(index);
    return static_cast<uint32_t>(bits >> 63 << 31 | 0x7FC00000u | (bits >> 29 & 0x3FFFFFu));
}

void compare(int instruction, uint64_t first, uint32_t begin, uint32_t end, const uint32_t *codes, Tally *tally)
{
    const Expectation &e = expectations[instruction];
    fpo_cast policy = *fpo_cast_describe(e.preset);
    policy.rounding = e.rounding;
    for (uint32_t i = begin; i < end; i++) {
        const fpo_value value = input(instruction, first + i);
        uint32_t ours = fpo_encode(e.format, value, &policy, 0);
        if (value.kind == FPO_NAN)
            ours = nan_code(instruction, first + i, ours);
        if (ours == codes[i])
            continue;
        std::atomic<uint64_t> &count = value.kind == FPO_NAN ? tally->nan_different : tally->different;
        if (count++ < 4)
            std::printf(
                "  %s of pattern 0x%llx: 0x%x, by %s 0x%x\n", e.text,
                static_cast<unsigned long long>(instruction < F16_INSTRUCTIONS ? first + i : double_pattern(first + i)),
                codes[i], fpo_cast_name(e.preset), ours);
    }
}

void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    std::exit(3);
}

} // namespace

int main()
{
    static_assert(sizeof expectations / sizeof expectations[0] == INSTRUCTIONS, "one expectation an instruction");
    const uint32_t chunk = 1u << 26;
    const unsigned workers = std::thread::hardware_concurrency() > 0 ? std::thread::hardware_concurrency() : 1;
    cudaDeviceProp device;
    must(cudaGetDeviceProperties(&device, 0));
    uint32_t *on_gpu, *codes;
    must(cudaMalloc(&on_gpu, chunk * sizeof *on_gpu));
    must(cudaMallocHost(&codes, chunk * sizeof *codes));
    std::printf("%s, compute capability %d.%d\n", device.name, device.major, device.minor);
    bool good = true;
    for (int instruction = 0; instruction < INSTRUCTIONS; instruction++) {
        const uint64_t total = instruction < F32_INSTRUCTIONS   ? 1ull << 32
                               : instruction < F16_INSTRUCTIONS ? 1ull << 16
                                                                : 1ull << 29;
        Tally tally;
        for (uint64_t first = 0; first < total; first += chunk) {
            const uint32_t count = total - first < chunk ? static_cast<uint32_t>(total - first) : chunk;
            convert_range<<<1024, 256>>>(instruction, first, count, on_gpu);
            must(cudaGetLastError());
            must(cudaMemcpy(codes, on_gpu, count * sizeof *codes, cudaMemcpyDeviceToHost));
            std::vector<std::thread> threads;
            for (unsigned w = 0; w < workers; w++) {
                const auto begin = static_cast<uint32_t>(uint64_t{count} * w / workers);
                const auto end = static_cast<uint32_t>(uint64_t{count} * (w + 1) / workers);
                threads.emplace_back(compare, instruction, first, begin, end, codes, &tally);
            }
            for (std::thread &thread : threads)
                thread.join();
        }
        std::printf("%-32s %10llu patterns, %llu numbers differ, %llu NaNs differ\n", expectations[instruction].text,
                    static_cast<unsigned long long>(total), static_cast<unsigned long long>(tally.different),
                    static_cast<unsigned long long>(tally.nan_different));
        std::fflush(stdout);
        good = good && tally.different == 0 && tally.nan_different == 0;
    }
    return good ? 0 : 1;
}
