/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* rcp.approx.ftz.f32 of this machine's GPU for all 2^23 mantissas and several exponents, against the table that the library
 * carries (emu/data/rcp_approx_ftz_h200.2bit.xz, decompressed); and div.full.f32, of which SASS shows a scaled product
 * with that reciprocal.
 *
 *   nvcc -O2 -arch=native tools/rcp_on_gpu.cu -o rcp_on_gpu
 *   xz -dc emu/data/rcp_approx_ftz_h200.2bit.xz | ./rcp_on_gpu
 *
 * Exit status 1 if a reciprocal differs from the table; the measured table goes to the file named as an argument. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static const int MANTISSAS = 1 << 23;

__global__ void reciprocals(uint32_t exponent, uint32_t *results)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = __uint_as_float(exponent << 23 | i), y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    results[i] = __float_as_uint(y);
}

__device__ uint32_t noise(uint64_t n)
{
    n = (n + 1) * 0x9E3779B97F4A7C15ull;
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9ull;
    n = (n ^ n >> 27) * 0x94D049BB133111EBull;
    return (uint32_t)(n ^ n >> 31);
}

/* Ordinary arguments: exponents 2^-40 to 2^40. Counts quotients that are not RN(a * rcp.approx(b)). */
__global__ void quotients(unsigned long long *different)
{
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t a_bits = noise(2 * i), b_bits = noise(2 * i + 1);
    a_bits = (a_bits & 0x807FFFFFu) | (87 + (noise(3 * i) % 81)) << 23;
    b_bits = (b_bits & 0x807FFFFFu) | (87 + (noise(5 * i) % 81)) << 23;
    float a = __uint_as_float(a_bits), b = __uint_as_float(b_bits), full, reciprocal;
    asm("div.full.f32 %0, %1, %2;" : "=f"(full) : "f"(a), "f"(b));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b));
    if (__float_as_uint(full) != __float_as_uint(__fmul_rn(a, reciprocal)))
        atomicAdd(different, 1ull);
}

static void check(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "rcp_on_gpu: %s\n", cudaGetErrorString(status));
    exit(3);
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Units in the last place from the rounded reciprocal, which is the same in all exponents whose result is normal. */
static int distance(uint32_t exponent, uint32_t mantissa, uint32_t result)
{
    uint32_t one_bits = 127u << 23 | mantissa;
    float one;
    memcpy(&one, &one_bits, sizeof one);
    uint32_t rounded = bits_of(1 / one) + ((127 - exponent) << 23);
    return (int)(result - rounded);
}

int main(int count, char **arguments)
{
    std::vector<uint8_t> table(MANTISSAS / 4), measured(MANTISSAS / 4);
    if (fread(table.data(), 1, table.size(), stdin) != table.size()) {
        fprintf(stderr, "rcp_on_gpu: the table on standard input has less than %zu bytes\n", table.size());
        return 2;
    }
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    printf("%s, compute capability %d.%d\n", device.name, device.major, device.minor);
    uint32_t *results;
    check(cudaMalloc(&results, MANTISSAS * sizeof *results));
    std::vector<uint32_t> host(MANTISSAS);
    long long different_in_all = 0;
    for (uint32_t exponent : {127u, 1u, 2u, 60u, 126u, 128u, 200u, 251u}) {
        long long counts[5] = {0}, different = 0;
        reciprocals<<<MANTISSAS / 256, 256>>>(exponent, results);
        check(cudaGetLastError());
        check(cudaMemcpy(host.data(), results, host.size() * sizeof host[0], cudaMemcpyDeviceToHost));
        for (uint32_t i = 0; i < MANTISSAS; i++) {
            int off = distance(exponent, i, host[i]), expected = (table[i >> 2] >> (i & 3) * 2 & 3) - 1;
            counts[off < -1 ? 0 : off > 1 ? 4 : off + 2]++;
            different += off != expected;
            if (exponent == 127)
                measured[i >> 2] |= (uint8_t)((off + 1) << (i & 3) * 2);
        }
        printf("exponent field %3u: below -1: %lld, -1: %lld, 0: %lld, +1: %lld, above: %lld; %lld differ from the table\n",
               exponent, counts[0], counts[1], counts[2], counts[3], counts[4], different);
        different_in_all += different;
    }
    unsigned long long *odd, odd_here = 0;
    check(cudaMalloc(&odd, sizeof *odd));
    check(cudaMemset(odd, 0, sizeof *odd));
    quotients<<<1 << 18, 256>>>(odd);
    check(cudaMemcpy(&odd_here, odd, sizeof odd_here, cudaMemcpyDeviceToHost));
    printf("div.full.f32: %llu of %d quotients are not RN(a * rcp.approx(b))\n", odd_here, 1 << 26);
    if (count > 1) {
        FILE *file = fopen(arguments[1], "wb");
        if (file == NULL || fwrite(measured.data(), 1, measured.size(), file) != measured.size() || fclose(file) != 0) {
            fprintf(stderr, "rcp_on_gpu: cannot write %s\n", arguments[1]);
            return 2;
        }
    }
    return different_in_all != 0;
}
