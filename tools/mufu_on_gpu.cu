/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The multi-function unit of this machine's GPU: digests of NAME.approx.f32 over all 2^32 arguments and of the 16-bit
 * forms over all codes, which a model on a CPU must reproduce (tests/test_mufu.c), and the results from which
 * mufu_fit.py makes that model's tables.
 *
 *   nvcc -O2 -arch=native tools/mufu_on_gpu.cu -o mufu_on_gpu && ./mufu_on_gpu FOLDER
 *   tools/mufu_fit.py FOLDER > emu/mufu_h200.inc
 *
 * FOLDER gets mufu.txt and, unless a second argument is there, NAME.EE.u32: the results for the 2^23 positive arguments
 * of exponent field EE, one 32-bit word each, about 1 GB in all. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

typedef unsigned long long u64;
static const uint32_t MANTISSAS = 1 << 23, SAMPLE = 499, THREADS = 256;

static void check(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "mufu_on_gpu: %s\n", cudaGetErrorString(status));
    exit(3);
}

__device__ static u64 mix(u64 n)
{
    n = (n + 1) * 0x9E3779B97F4A7C15ull;
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9ull;
    n = (n ^ n >> 27) * 0x94D049BB133111EBull;
    return n ^ n >> 31;
}

/* Of arguments and results of this type, whose registers are asm's `constraint`. */
#define INSTRUCTION(type, constraint, name, text)                                                                      \
    struct name {                                                                                                      \
        static constexpr const char *opcode = text;                                                                    \
        __device__ static uint32_t of(uint32_t x)                                                                      \
        {                                                                                                              \
            type y;                                                                                                    \
            asm volatile(text " %0, %1;" : "=" constraint(y) : constraint((type)x));                                   \
            return y;                                                                                                  \
        }                                                                                                              \
    };
#define INSTRUCTION_32(name, text) INSTRUCTION(uint32_t, "r", name, text)
#define INSTRUCTION_16(name, text) INSTRUCTION(uint16_t, "h", name, text)
INSTRUCTION_32(rcp, "rcp.approx.f32")
INSTRUCTION_32(rcp_ftz, "rcp.approx.ftz.f32")
INSTRUCTION_32(rsqrt_, "rsqrt.approx.f32")
INSTRUCTION_32(rsqrt_ftz, "rsqrt.approx.ftz.f32")
INSTRUCTION_32(sqrt_, "sqrt.approx.f32")
INSTRUCTION_32(sqrt_ftz, "sqrt.approx.ftz.f32")
INSTRUCTION_32(ex2, "ex2.approx.f32")
INSTRUCTION_32(ex2_ftz, "ex2.approx.ftz.f32")
INSTRUCTION_32(lg2, "lg2.approx.f32")
INSTRUCTION_32(lg2_ftz, "lg2.approx.ftz.f32")
INSTRUCTION_32(sin_, "sin.approx.f32")
INSTRUCTION_32(sin_ftz, "sin.approx.ftz.f32")
INSTRUCTION_32(cos_, "cos.approx.f32")
INSTRUCTION_32(cos_ftz, "cos.approx.ftz.f32")
INSTRUCTION_32(tanh_, "tanh.approx.f32")
INSTRUCTION_16(ex2_f16, "ex2.approx.f16")
INSTRUCTION_16(ex2_bf16, "ex2.approx.ftz.bf16")
INSTRUCTION_16(tanh_f16, "tanh.approx.f16")
INSTRUCTION_16(tanh_bf16, "tanh.approx.bf16")

/* A block takes 2^16 arguments of one sign and exponent. digests[512] is of the sample. */
template <typename instruction> __global__ static void digest_32(u64 *digests)
{
    u64 all = 0, sample = 0;
    for (uint32_t k = threadIdx.x; k < 1 << 16; k += blockDim.x) {
        uint32_t x = blockIdx.x << 16 | k;
        u64 digest = mix((u64)x << 32 | instruction::of(x));
        all += digest;
        sample += (x & (MANTISSAS - 1)) % SAMPLE == 0 ? digest : 0;
    }
    atomicAdd(digests + (blockIdx.x >> 7), all);
    atomicAdd(digests + 512, sample);
}

template <typename instruction> __global__ static void digest_16(u64 *digest)
{
    uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(digest, mix((u64)x << 32 | instruction::of(x)));
}

template <typename instruction> __global__ static void results(uint32_t first, uint32_t *y)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = instruction::of(first + i);
}

static u64 *digests;
static uint32_t *words;

template <typename instruction> static void write_32(FILE *file)
{
    u64 host[513];
    check(cudaMemset(digests, 0, sizeof host));
    digest_32<instruction><<<1 << 16, THREADS>>>(digests);
    check(cudaGetLastError());
    check(cudaMemcpy(host, digests, sizeof host, cudaMemcpyDeviceToHost));
    fprintf(file, "%s %08llx", instruction::opcode, host[512] >> 32);
    for (int i = 0; i < 512; i++)
        fprintf(file, " %08llx", host[i] >> 32);
    fprintf(file, "\n");
}

template <typename instruction> static void write_16(FILE *file)
{
    u64 host;
    check(cudaMemset(digests, 0, sizeof host));
    digest_16<instruction><<<(1 << 16) / THREADS, THREADS>>>(digests);
    check(cudaGetLastError());
    check(cudaMemcpy(&host, digests, sizeof host, cudaMemcpyDeviceToHost));
    fprintf(file, "%s %08llx\n", instruction::opcode, host >> 32);
}

static FILE *create(const std::string &name)
{
    FILE *file = fopen(name.c_str(), "wb");
    if (file != NULL)
        return file;
    fprintf(stderr, "mufu_on_gpu: cannot write %s\n", name.c_str());
    exit(2);
}

template <typename instruction>
static void write_results(const std::string &folder, const char *name, uint32_t from, uint32_t to)
{
    std::vector<uint32_t> host(MANTISSAS);
    for (uint32_t e = from; e <= to; e++) {
        results<instruction><<<MANTISSAS / THREADS, THREADS>>>(e << 23, words);
        check(cudaGetLastError());
        check(cudaMemcpy(host.data(), words, MANTISSAS * sizeof *words, cudaMemcpyDeviceToHost));
        char suffix[16];
        snprintf(suffix, sizeof suffix, ".%02x.u32", e);
        FILE *file = create(folder + "/" + name + suffix);
        if (fwrite(host.data(), sizeof *words, MANTISSAS, file) != MANTISSAS || fclose(file) != 0)
            exit(2);
    }
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: mufu_on_gpu FOLDER [digests]\n");
        return 2;
    }
    std::string folder = arguments[1];
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaMalloc(&digests, 513 * sizeof *digests));
    check(cudaMalloc(&words, MANTISSAS * sizeof *words));
    FILE *file = create(folder + "/mufu.txt");
    fprintf(file,
            "# %s, compute capability %d.%d. f32: upper halves of the digest of mantissas that are multiples of\n",
            device.name, device.major, device.minor);
    fprintf(file, "# %u, and of a digest for each sign and exponent field; 16 bits: of the digest of all codes.\n",
            SAMPLE);
    write_32<rcp>(file);
    write_32<rcp_ftz>(file);
    write_32<rsqrt_>(file);
    write_32<rsqrt_ftz>(file);
    write_32<sqrt_>(file);
    write_32<sqrt_ftz>(file);
    write_32<ex2>(file);
    write_32<ex2_ftz>(file);
    write_32<lg2>(file);
    write_32<lg2_ftz>(file);
    write_32<sin_>(file);
    write_32<sin_ftz>(file);
    write_32<cos_>(file);
    write_32<cos_ftz>(file);
    write_32<tanh_>(file);
    write_16<ex2_f16>(file);
    write_16<ex2_bf16>(file);
    write_16<tanh_f16>(file);
    write_16<tanh_bf16>(file);
    if (fclose(file) != 0)
        return 2;
    if (count > 2)
        return 0;
    write_results<rcp_ftz>(folder, "rcp", 127, 127);
    write_results<rsqrt_ftz>(folder, "rsqrt", 127, 128);
    write_results<sqrt_ftz>(folder, "sqrt", 127, 128);
    write_results<ex2_ftz>(folder, "ex2", 127, 127);
    write_results<lg2_ftz>(folder, "lg2", 128, 128);
    write_results<sin_ftz>(folder, "sin", 116, 127);
    write_results<tanh_>(folder, "tanh", 119, 129);
    return 0;
}
