// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// The block-scaled matrix instructions of SM120, each in the simplest kernel that is right: a warp computes a tile of 16
// rows and 8 columns of D, straight from global memory, one instruction a step of K. It is slow, and meant to be read.
//
// A step covers 32 bytes of a row of A and of a row of B (a column of the product): 64 elements of 4 bits, or 32 elements
// in a byte each. Lane = 4 * group + quad of the warp holds
//
//   A   register r: row group + 8 * (r & 1), bytes 4 * quad ... 4 * quad + 3 of half r >> 1 of the 32
//   B   register r: column group, bytes 4 * quad ... 4 * quad + 3 of half r
//   D   register r: row group + 8 * (r >> 1), column 2 * quad + (r & 1)
//
// and byte 0 is the low byte of a register, the element with the lower k the low nibble of a byte. In a byte of its own
// an element of 8 bits fills it, one of 6 bits lies in bits 5:0, one of 4 bits in bits 5:2.
//
// Scales of the step come in one register a lane, 4, 2 or 1 of its bytes, the lower k in the lower byte. Two numbers in the
// instruction choose which bytes ("byte-id") and which lanes ("thread-id") are read; here both are 0, that is
//
//   scales of A   lanes with quad 0 have those of row group, lanes with quad 1 those of row group + 8
//   scales of B   lanes with quad 0 have those of column group
//
// What the other lanes have does not matter; they load the same anyway, as production kernels do.
#include "launch.h"

#include <cuda_bf16.h>

namespace {

constexpr int TILE_M = 16, TILE_N = 8, STEP_BYTES = 32;

// A row of a matrix: nothing but zeros follow its last byte, and a row below the last is all zero.
struct line {
    const uint8_t *bytes;
    int count;

    __device__ uint32_t word(int first) const
    {
        uint32_t word = 0;
        for (int i = 0; i < 4; i++)
            if (first + i < count)
                word |= uint32_t(bytes[first + i]) << 8 * i;
        return word;
    }
};

__device__ line row_of(const uint8_t *matrix, int row, int rows, int64_t line_bytes, int bytes)
{
    return {matrix + row * line_bytes, row < rows ? bytes : 0};
}

// The 128x4 layout: tiles of 128 rows by 4 scales, 512 bytes each; within one, row 32 * i + j has its 4 scales at byte
// 16 * j + 4 * i. The last tiles are there whole.
__device__ const uint8_t *scale_of(const uint8_t *scales, int row, int index, int scales_a_row)
{
    int tiles_a_row = (scales_a_row + 3) / 4;
    const uint8_t *tile = scales + 512 * int64_t(row / 128 * tiles_a_row + index / 4);
    return tile + row % 32 * 16 + row % 128 / 32 * 4 + index % 4;
}

// The scales of a row in one step. Where there is no such row or no such K all products are zero: any scale but NaN will
// do, and this kernel does not rely on what the padding holds.
template <int COUNT> __device__ uint32_t scales_of(const uint8_t *scales, int row, int rows, int first, int scales_a_row)
{
    uint32_t word = 0;
    for (int i = 0; i < COUNT; i++)
        if (row < rows && first + i < scales_a_row)
            word |= uint32_t(*scale_of(scales, row, first + i, scales_a_row)) << 8 * i;
    return word;
}

__device__ void store(const reference_problem &p, int row, int column, float accumulator)
{
    if (row >= p.m || column >= p.n)
        return;
    float y = __fmul_rn(accumulator, p.alpha);
    char *line = static_cast<char *>(p.d) + row * int64_t(p.d_line);
    if (p.bf16)
        reinterpret_cast<__nv_bfloat16 *>(line)[column] = __float2bfloat16_rn(y);
    else
        reinterpret_cast<float *>(line)[column] = y;
}

// `Instruction` is one of the structs that the macros below make of kernels.inc.
template <class Instruction> __global__ void gemm(const reference_problem p)
{
    constexpr int scales = Instruction::scales, block = Instruction::block;
    const int group = threadIdx.x / 4, quad = threadIdx.x % 4;
    const int row = blockIdx.y * TILE_M + group, column = blockIdx.x * TILE_N + group;
    const int bytes = Instruction::packed ? (p.k + 1) / 2 : p.k;
    const int scales_a_row = block > 0 ? (p.k + block - 1) / block : 0;
    const line a_upper = row_of(p.a, row, p.m, p.a_line, bytes), a_lower = row_of(p.a, row + 8, p.m, p.a_line, bytes);
    const line b_line = row_of(p.b, column, p.n, p.b_line, bytes);

    float d[4] = {0, 0, 0, 0};
    for (int first = 0, scale = 0; first < bytes; first += STEP_BYTES, scale += scales) {
        const int near = first + 4 * quad, far = near + 16;
        const uint32_t a[4] = {a_upper.word(near), a_lower.word(near), a_upper.word(far), a_lower.word(far)};
        const uint32_t b[2] = {b_line.word(near), b_line.word(far)};
        const uint32_t a_scale = scales_of<scales>(p.a_scale, row + 8 * (quad % 2), p.m, scale, scales_a_row);
        const uint32_t b_scale = scales_of<scales>(p.b_scale, column, p.n, scale, scales_a_row);
        Instruction::mma(d, a, b, a_scale, b_scale);
    }

    const int first_column = blockIdx.x * TILE_N + 2 * quad;
    for (int r = 0; r < 4; r++)
        store(p, row + 8 * (r >> 1), first_column + (r & 1), d[r]);
}

template <class Instruction> int launch(const reference_problem &p)
{
    const dim3 grid((p.n + TILE_N - 1) / TILE_N, (p.m + TILE_M - 1) / TILE_M);
    gemm<Instruction><<<grid, 32>>>(p);
    return cudaGetLastError();
}

} // namespace

#define REGISTERS "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}"
#define OPERANDS                                                                                                       \
    "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])

// The scale operands: a register of A, byte-id and thread-id, a register of B, byte-id and thread-id.
#define SCALED(kind, shape, a_type, b_type, scale_type)                                                                \
    asm("mma.sync.aligned." kind "." shape ".row.col.f32." a_type "." b_type ".f32." scale_type " " REGISTERS          \
        ", {%10}, {%12, %12}, {%11}, {%12, %12};"                                                                      \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                               \
        : OPERANDS, "r"(a_scale), "r"(b_scale), "h"(uint16_t(0)))
#define UNSCALED(kind, shape, a_type, b_type)                                                                          \
    asm("mma.sync.aligned." kind "." shape ".row.col.f32." a_type "." b_type ".f32 " REGISTERS ";"                     \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                               \
        : OPERANDS)

#define MMA_mxf4nvf4(kind, a, b) SCALED(kind, "m16n8k64", a, b, "ue4m3")
#define MMA_mxf4(kind, a, b) SCALED(kind, "m16n8k64", a, b, "ue8m0")
#define MMA_mxf8f6f4(kind, a, b) SCALED(kind, "m16n8k32", a, b, "ue8m0")
#define MMA_f8f6f4(kind, a, b) UNSCALED(kind, "m16n8k32", a, b)
enum { PACKED_mxf4nvf4 = 1, PACKED_mxf4 = 1, PACKED_mxf8f6f4 = 0, PACKED_f8f6f4 = 0 };

#define REFERENCE(instruction, a_type, b_type, scale, k_of_scale, scale_bytes, kind)                                   \
    namespace {                                                                                                        \
    struct instruction##_##a_type##_##b_type {                                                                         \
        static constexpr int scales = scale_bytes, block = k_of_scale;                                                 \
        static constexpr bool packed = PACKED_##instruction;                                                           \
        static __device__ void mma(float *d, const uint32_t *a, const uint32_t *b, uint32_t a_scale, uint32_t b_scale) \
        {                                                                                                              \
            MMA_##instruction(kind, #a_type, #b_type);                                                                 \
        }                                                                                                              \
    };                                                                                                                 \
    }                                                                                                                  \
    extern "C" int reference_##instruction##_##a_type##_##b_type(const reference_problem *problem)                     \
    {                                                                                                                  \
        return launch<instruction##_##a_type##_##b_type>(*problem);                                                    \
    }
#include "kernels.inc"
