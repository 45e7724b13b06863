/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The casts against the host code of cuda_fp8.hpp, cuda_fp6.hpp and cuda_fp4.hpp, compiled by the C++ compiler: from
 * float, double, half and bfloat16, saturating and not, and decoding of all codes. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <fp4oracle/cast.h>
#include <limits>

namespace
{

unsigned long long compared, different, nan_payloads;

void check(const char *what, fpo_format format, double x, uint32_t ours, uint32_t theirs)
{
    compared++;
    if (ours == theirs)
        return;
    if (different++ < 20)
        std::fprintf(stderr, "%s to %s of %a: 0x%02X, the header has 0x%02X\n", what, fpo_format_describe(format)->name,
                     x, ours, theirs);
}

uint32_t encode(fpo_format format, double x, fpo_cast_preset preset)
{
    return fpo_encode(format, fpo_value_from_double(x), fpo_cast_describe(preset), 0);
}

/* The header's fp4 and fp6 rounding toward zero exists in software only; no preset has it. */
uint32_t encode_rz(fpo_format format, double x)
{
    fpo_cast policy = *fpo_cast_describe(FPO_CAST_PTX);
    policy.rounding = FPO_TOWARD_ZERO;
    return fpo_encode(format, fpo_value_from_double(x), &policy, 0);
}

template <class T> T from_bits(uint64_t bits)
{
    T x;
    std::memcpy(&x, &bits, sizeof x); /* little endian, as all CUDA hosts are */
    return x;
}

struct fp8_kind {
    fpo_format format;
    __nv_fp8_interpretation_t kind;
};
const fp8_kind fp8_kinds[] = {{FPO_E4M3, __NV_E4M3}, {FPO_E5M2, __NV_E5M2}};

struct fp6_kind {
    fpo_format format;
    __nv_fp6_interpretation_t kind;
};
const fp6_kind fp6_kinds[] = {{FPO_E2M3, __NV_E2M3}, {FPO_E3M2, __NV_E3M2}};

void check_float(float x)
{
    const double d = x;
    for (const auto &k : fp8_kinds) {
        check("float", k.format, d, encode(k.format, d, FPO_CAST_PTX),
              __nv_cvt_float_to_fp8(x, __NV_SATFINITE, k.kind));
        check("float nosat", k.format, d, encode(k.format, d, FPO_CAST_IEEE),
              __nv_cvt_float_to_fp8(x, __NV_NOSAT, k.kind));
    }
    for (const auto &k : fp6_kinds) {
        check("float", k.format, d, encode(k.format, d, FPO_CAST_PTX),
              __nv_cvt_float_to_fp6(x, k.kind, cudaRoundNearest));
        check("float rz", k.format, d, encode_rz(k.format, d), __nv_cvt_float_to_fp6(x, k.kind, cudaRoundZero));
    }
    check("float", FPO_E2M1, d, encode(FPO_E2M1, d, FPO_CAST_PTX),
          __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest));
    check("float rz", FPO_E2M1, d, encode_rz(FPO_E2M1, d), __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundZero));
    check("float rp", FPO_UE8M0, d, encode(FPO_UE8M0, d, FPO_CAST_PTX_RP),
          __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf));
    check("float rz", FPO_UE8M0, d, encode(FPO_UE8M0, d, FPO_CAST_PTX_RZ),
          __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundZero));
    check("float rp nosat", FPO_UE8M0, d, encode(FPO_UE8M0, d, FPO_CAST_CUDA_RP_NOSAT),
          __nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundPosInf));
    check("float rz nosat", FPO_UE8M0, d, encode(FPO_UE8M0, d, FPO_CAST_CUDA_RZ_NOSAT),
          __nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundZero));
    /* the constructors' policies */
    check("constructor", FPO_E4M3, d, encode(FPO_E4M3, d, FPO_CAST_PTX), __nv_fp8_e4m3(x).__x);
    check("constructor", FPO_E5M2, d, encode(FPO_E5M2, d, FPO_CAST_PTX), __nv_fp8_e5m2(x).__x);
    check("constructor", FPO_E2M1, d, encode(FPO_E2M1, d, FPO_CAST_PTX), __nv_fp4_e2m1(x).__x);
    check("constructor", FPO_UE8M0, d, encode(FPO_UE8M0, d, FPO_CAST_PTX_RP), __nv_fp8_e8m0(x).__x);
}

void check_double(double x)
{
    for (const auto &k : fp8_kinds) {
        const uint32_t sat = __nv_cvt_double_to_fp8(x, __NV_SATFINITE, k.kind);
        const uint32_t nosat = __nv_cvt_double_to_fp8(x, __NV_NOSAT, k.kind);
        if (std::isnan(x) && k.format == FPO_E5M2) {
            /* The header keeps the upper payload bits here, which an fpo_value does not have: a quiet NaN of x's sign.
             */
            const uint32_t quiet = 0x7Eu | (std::signbit(x) ? 0x80u : 0u);
            nan_payloads++;
            check("double NaN", k.format, x, quiet, sat & 0xFEu);
            check("double NaN", k.format, x, quiet, nosat & 0xFEu);
            continue;
        }
        check("double", k.format, x, encode(k.format, x, FPO_CAST_CUDA_DOUBLE), sat);
        check("double nosat", k.format, x, encode(k.format, x, FPO_CAST_CUDA_DOUBLE_NOSAT), nosat);
    }
    for (const auto &k : fp6_kinds) {
        check("double", k.format, x, encode(k.format, x, FPO_CAST_CUDA_DOUBLE),
              __nv_cvt_double_to_fp6(x, k.kind, cudaRoundNearest));
        check("double rz", k.format, x, encode_rz(k.format, x), __nv_cvt_double_to_fp6(x, k.kind, cudaRoundZero));
    }
    check("double", FPO_E2M1, x, encode(FPO_E2M1, x, FPO_CAST_CUDA_DOUBLE),
          __nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundNearest));
    check("double rz", FPO_E2M1, x, encode_rz(FPO_E2M1, x), __nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundZero));
    check("double rp", FPO_UE8M0, x, encode(FPO_UE8M0, x, FPO_CAST_PTX_RP),
          __nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf));
    check("double rz", FPO_UE8M0, x, encode(FPO_UE8M0, x, FPO_CAST_PTX_RZ),
          __nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundZero));
    check("double rp nosat", FPO_UE8M0, x, encode(FPO_UE8M0, x, FPO_CAST_CUDA_RP_NOSAT),
          __nv_cvt_double_to_e8m0(x, __NV_NOSAT, cudaRoundPosInf));
    check("double rz nosat", FPO_UE8M0, x, encode(FPO_UE8M0, x, FPO_CAST_CUDA_RZ_NOSAT),
          __nv_cvt_double_to_e8m0(x, __NV_NOSAT, cudaRoundZero));
}

void check_sixteen_bits(uint16_t bits)
{
    const __half_raw half = from_bits<__half_raw>(bits);
    const __nv_bfloat16_raw bfloat = from_bits<__nv_bfloat16_raw>(bits);
    const double h = fpo_decode_double(FPO_F16, bits), b = fpo_decode_double(FPO_BF16, bits);
    for (const auto &k : fp8_kinds) {
        check("half", k.format, h, encode(k.format, h, FPO_CAST_PTX),
              __nv_cvt_halfraw_to_fp8(half, __NV_SATFINITE, k.kind));
        check("half nosat", k.format, h, encode(k.format, h, FPO_CAST_IEEE),
              __nv_cvt_halfraw_to_fp8(half, __NV_NOSAT, k.kind));
        check("bfloat16", k.format, b, encode(k.format, b, FPO_CAST_PTX),
              __nv_cvt_bfloat16raw_to_fp8(bfloat, __NV_SATFINITE, k.kind));
    }
    for (const auto &k : fp6_kinds) {
        check("half", k.format, h, encode(k.format, h, FPO_CAST_PTX),
              __nv_cvt_halfraw_to_fp6(half, k.kind, cudaRoundNearest));
        check("bfloat16", k.format, b, encode(k.format, b, FPO_CAST_PTX),
              __nv_cvt_bfloat16raw_to_fp6(bfloat, k.kind, cudaRoundNearest));
    }
    check("half", FPO_E2M1, h, encode(FPO_E2M1, h, FPO_CAST_PTX),
          __nv_cvt_halfraw_to_fp4(half, __NV_E2M1, cudaRoundNearest));
    check("bfloat16", FPO_E2M1, b, encode(FPO_E2M1, b, FPO_CAST_PTX),
          __nv_cvt_bfloat16raw_to_fp4(bfloat, __NV_E2M1, cudaRoundNearest));
    check("bfloat16 rp", FPO_UE8M0, b, encode(FPO_UE8M0, b, FPO_CAST_PTX_RP),
          __nv_cvt_bfloat16raw_to_e8m0(bfloat, __NV_SATFINITE, cudaRoundPosInf));
    check("bfloat16 rz", FPO_UE8M0, b, encode(FPO_UE8M0, b, FPO_CAST_PTX_RZ),
          __nv_cvt_bfloat16raw_to_e8m0(bfloat, __NV_SATFINITE, cudaRoundZero));
}

/* All bytes, stray upper bits of fp6 and fp4 included, through half (ue8m0: bfloat16). */
void check_decoding(unsigned byte)
{
    const auto storage = static_cast<unsigned char>(byte);
    const auto check_half = [byte](fpo_format format, __half_raw half) {
        const double ours = fpo_decode_double(format, byte), theirs = fpo_decode_double(FPO_F16, half.x);
        check("decoded to half", format, ours, 1,
              (std::isnan(ours) ? std::isnan(theirs) : ours == theirs) &&
                  (std::isnan(ours) || std::signbit(ours) == std::signbit(theirs)));
    };
    for (const auto &k : fp8_kinds)
        check_half(k.format, __nv_cvt_fp8_to_halfraw(storage, k.kind));
    for (const auto &k : fp6_kinds)
        check_half(k.format, __nv_cvt_fp6_to_halfraw(storage, k.kind));
    check_half(FPO_E2M1, __nv_cvt_fp4_to_halfraw(storage, __NV_E2M1));
    const double ours = fpo_decode_double(FPO_UE8M0, byte);
    const double theirs = fpo_decode_double(FPO_BF16, __nv_cvt_e8m0_to_bf16raw(storage).x);
    check("decoded to bfloat16", FPO_UE8M0, ours, 1, std::isnan(ours) ? std::isnan(theirs) : ours == theirs);
}

} // namespace

int main()
{
    static const uint32_t lower[] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x4000, 0x1234};
    static const uint32_t lowest[] = {0, 1, 0x0FFFFFFF, 0x10000000, 0x10000001, 0x1FFFFFFF};
    for (uint32_t upper = 0; upper < 0x10000; upper++) {
        check_sixteen_bits(static_cast<uint16_t>(upper));
        for (uint32_t low : lower) {
            check_float(from_bits<float>(upper << 16 | low));
            /* Doubles around the same floats: the 29 bits below a float's last, and neighbours' borders. */
            const double near = from_bits<float>(upper << 16 | low);
            uint64_t bits;
            std::memcpy(&bits, &near, sizeof bits);
            for (uint32_t tail : lowest)
                check_double(from_bits<double>(bits | tail));
        }
        /* any exponent of double */
        for (uint64_t tail : {UINT64_C(0), UINT64_C(1), UINT64_C(0xFFFFFFFFFFFF)})
            check_double(from_bits<double>(static_cast<uint64_t>(upper) << 48 | tail));
    }
    for (unsigned byte = 0; byte < 256; byte++)
        check_decoding(byte);
    std::printf("CUDA %d headers: %llu comparisons, %llu differ; %llu double NaNs to e5m2 compared without payload\n",
                CUDART_VERSION, compared, different, nan_payloads);
    return different == 0 ? 0 : 1;
}
