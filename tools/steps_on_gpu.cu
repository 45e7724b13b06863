/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Runs one tensor-core instruction on rows: tools/steps_on_gpu.py compiles this for an instruction and calls it.
 *
 *     steps_on_gpu ROWS < in > out
 *
 * in: u32 words a[ROWS][FPO_WORDS], b[ROWS][FPO_WORDS], c[ROWS], sa[ROWS], sb[ROWS]; out: d[ROWS]. ROWS is a multiple
 * of 8. One instruction takes 8 rows: row i of A and column i of B hold the operands of row i, so D[i][i] is its
 * result. A is those 8 rows again and again (M = 16 or 64), so every result comes out at 2 or 8 places. If places
 * differ, exit 3.
 *
 * Defined by the caller: FPO_INSTRUCTION (PTX without operands), FPO_WORDS (words of a row of A: 8, or 4),
 * FPO_HALF (the accumulator is f16: 1 or 0), FPO_WGMMA, FPO_TRANSPOSE (wgmma of 16-bit elements wants a bit for B) and
 * FPO_SCALED (block scales). */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace
{

enum { GROUP = 8, THREADS = FPO_WGMMA ? 128 : 32, REGISTERS = 4 };

/* All fragments share one pattern, for elements of any width: lane 4g + t holds words t and t + 4 of row g of A (and of
 * row g + 8, the same here) and of column g of B; of D it holds (g, 2t), (g, 2t + 1) and the same of row g + 8. */
struct Operands {
    uint32_t a_low, a_high, b_low, b_high, sa, sb;
};

/* Four registers are bound in any case, so that the numbers of the others are the same: %4 and %5 the words of A. */
#define FPO_D_OPERANDS "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#if FPO_HALF
#define FPO_D "{%0, %1}"
#else
#define FPO_D "{%0, %1, %2, %3}"
#endif

#if FPO_WGMMA

/* A from registers, B from shared memory: 8 columns of 32 bytes as two core matrices of 8 x 16 bytes, not swizzled. */
__device__ void execute(uint32_t *d, const Operands &x, const uint32_t *shared_b)
{
    uint64_t address = static_cast<uint64_t>(__cvta_generic_to_shared(shared_b)) >> 4 & 0x3FFF;
    uint64_t descriptor = address | 128ull >> 4 << 16 | 128ull >> 4 << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(FPO_INSTRUCTION " " FPO_D ", {%4, %4, %5, %5}, %6, 1, 1, 1" FPO_TRANSPOSE ";"
                 : FPO_D_OPERANDS
                 : "r"(x.a_low), "r"(x.a_high), "l"(descriptor));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#else

__device__ void execute(uint32_t *d, const Operands &x, const uint32_t *)
{
#if FPO_SCALED
    /* Bytes from 0 of the lane's own word: it holds the scales of row g and of column g, as many as there are. */
    asm volatile(FPO_INSTRUCTION " " FPO_D ", {%4, %4, %5, %5}, {%6, %7}, " FPO_D
                                 ", {%8}, {%10, %10}, {%9}, {%10, %10};"
                 : FPO_D_OPERANDS
                 : "r"(x.a_low), "r"(x.a_high), "r"(x.b_low), "r"(x.b_high), "r"(x.sa), "r"(x.sb),
                   "h"(static_cast<uint16_t>(0)));
#elif FPO_WORDS == 8
    asm volatile(FPO_INSTRUCTION " " FPO_D ", {%4, %4, %5, %5}, {%6, %7}, " FPO_D ";"
                 : FPO_D_OPERANDS
                 : "r"(x.a_low), "r"(x.a_high), "r"(x.b_low), "r"(x.b_high));
#else
    asm volatile(FPO_INSTRUCTION " " FPO_D ", {%4, %4}, {%5}, " FPO_D ";"
                 : FPO_D_OPERANDS
                 : "r"(x.a_low), "r"(x.b_low));
#endif
}

#endif

__global__ void run(const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *sa, const uint32_t *sb,
                    uint32_t *d, unsigned *disagreements)
{
    __shared__ alignas(128) uint32_t shared_b[GROUP * 8];
    unsigned first = blockIdx.x * GROUP, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = first + g;
    if (FPO_WGMMA && threadIdx.x < GROUP * FPO_WORDS) {
        unsigned column = threadIdx.x / 8, word = threadIdx.x % 8;
        shared_b[word / 4 * 32 + column * 4 + word % 4] = b[(first + column) * FPO_WORDS + word];
    }
#if FPO_WGMMA
    asm volatile("fence.proxy.async;" ::: "memory");
#endif
    __syncthreads();
    const uint32_t *x = a + row * FPO_WORDS, *y = b + row * FPO_WORDS;
    unsigned high = FPO_WORDS == 8 ? t + 4 : t;
    uint32_t start = FPO_HALF ? c[row] * 0x10001u : c[row], result[REGISTERS];
    for (int i = 0; i < REGISTERS; i++)
        result[i] = start;
    execute(result, Operands{x[t], x[high], y[t], y[high], sa[row], sb[row]}, shared_b);
    if (g / 2 != t)
        return; /* no place of the diagonal */
    for (int place = 0; place < 2; place++) {
        uint32_t value = FPO_HALF ? result[place] >> 16 * (g % 2) & 0xFFFF : result[2 * place + g % 2];
        /* d was filled with ones, which no instruction returns for f16 (here) or f32: its NaN is 0x7FFFFFFF. */
        uint32_t before = atomicCAS(&d[row], 0xFFFFFFFFu, value);
        if (before != 0xFFFFFFFFu && before != value)
            atomicAdd(disagreements, 1);
    }
}

void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "steps_on_gpu: %s: %s\n", what, cudaGetErrorString(status));
    std::exit(2);
}

/* Device memory with `count` words read from the input. */
uint32_t *read(size_t count)
{
    std::vector<uint32_t> words(count);
    if (std::fread(words.data(), 4, count, stdin) != count) {
        std::fprintf(stderr, "steps_on_gpu: the input is too short\n");
        std::exit(2);
    }
    uint32_t *memory = nullptr;
    check(cudaMalloc(&memory, count * 4), "memory");
    check(cudaMemcpy(memory, words.data(), count * 4, cudaMemcpyHostToDevice), "copy");
    return memory;
}

} // namespace

int main(int argc, char **argv)
{
    size_t rows = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
    if (rows == 0 || rows % GROUP != 0 || rows > 1u << 24) {
        std::fprintf(stderr, "usage: steps_on_gpu ROWS < in > out; ROWS is a multiple of %d\n", GROUP);
        return 2;
    }
    uint32_t *a = read(rows * FPO_WORDS), *b = read(rows * FPO_WORDS);
    uint32_t *c = read(rows), *sa = read(rows), *sb = read(rows), *d = nullptr;
    unsigned *disagreements = nullptr, differ = 0;
    check(cudaMalloc(&d, rows * 4), "memory");
    check(cudaMemset(d, 0xFF, rows * 4), "memory");
    check(cudaMalloc(&disagreements, 4), "memory");
    check(cudaMemset(disagreements, 0, 4), "memory");
    run<<<static_cast<unsigned>(rows / GROUP), THREADS>>>(a, b, c, sa, sb, d, disagreements);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "run");
    std::vector<uint32_t> results(rows);
    check(cudaMemcpy(results.data(), d, rows * 4, cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(&differ, disagreements, 4, cudaMemcpyDeviceToHost), "copy");
    if (differ != 0) {
        std::fprintf(stderr, "steps_on_gpu: %u results depend on the place in the tile\n", differ);
        return 3;
    }
    return std::fwrite(results.data(), 4, rows, stdout) == rows ? 0 : 2;
}
