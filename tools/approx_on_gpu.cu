/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Approximate divisions of this machine's GPU: a model of them (a few scalings around a reciprocal) is compared with the
 * instruction itself over billions of operands, and digests of results are written
 * that a model on a CPU must reproduce (tests/test_approx_recorded.c). mufu_on_gpu.cu has the functions of one argument.
 *
 *   nvcc -O2 -arch=native tools/approx_on_gpu.cu -o approx_on_gpu && ./approx_on_gpu FOLDER
 *
 * FOLDER gets div.quotients.txt (digests, and counts of operands on which the sequence and the instruction differ) and
 * div.borders.txt (where lg2.approx passes whole numbers and halves; min and max .xorsign.abs). Exit status 1 if a
 * sequence differs. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

typedef unsigned long long u64;
static const u64 THREADS = 256;

static void check(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "approx_on_gpu: %s\n", cudaGetErrorString(status));
    exit(3);
}

__host__ __device__ static u64 mix(u64 n)
{
    n = (n + 1) * 0x9E3779B97F4A7C15ull;
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9ull;
    n = (n ^ n >> 27) * 0x94D049BB133111EBull;
    return n ^ n >> 31;
}

/* The digest of results is the sum of these over i, whatever the order. */
__device__ static u64 digest_of(u64 i, float y)
{
    return mix(i << 32 | __float_as_uint(y));
}

#define INSTRUCTION_1(name, text)                                                                                      \
    __device__ static float name(float x)                                                                              \
    {                                                                                                                  \
        float y;                                                                                                       \
        asm volatile(text " %0, %1;" : "=f"(y) : "f"(x));                                                              \
        return y;                                                                                                      \
    }
#define INSTRUCTION_2(name, text)                                                                                      \
    __device__ static float name(float a, float b)                                                                     \
    {                                                                                                                  \
        float y;                                                                                                       \
        asm volatile(text " %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));                                                  \
        return y;                                                                                                      \
    }
INSTRUCTION_2(div_full, "div.full.f32")
INSTRUCTION_2(div_full_ftz, "div.full.ftz.f32")
INSTRUCTION_2(div_approx, "div.approx.f32")
INSTRUCTION_2(div_approx_ftz, "div.approx.ftz.f32")
INSTRUCTION_2(mul, "mul.rn.f32")
INSTRUCTION_2(mul_ftz, "mul.rn.ftz.f32")
INSTRUCTION_1(rcp_approx, "rcp.approx.f32")
INSTRUCTION_1(rcp_approx_ftz, "rcp.approx.ftz.f32")
INSTRUCTION_1(lg2_approx_ftz, "lg2.approx.ftz.f32")

/* Quotients: div.full, div.full.ftz, div.approx, div.approx.ftz, and rcp.approx, which takes no numerator. */
enum { FULL, FULL_FTZ, APPROX, APPROX_FTZ, RECIPROCAL, QUOTIENTS };
static const char *const quotient_names[QUOTIENTS] = {"div.full.f32", "div.full.ftz.f32", "div.approx.f32",
                                                      "div.approx.ftz.f32", "rcp.approx.f32"};

__device__ static float quotient(int kind, float a, float b)
{
    switch (kind) {
    case FULL: return div_full(a, b);
    case FULL_FTZ: return div_full_ftz(a, b);
    case APPROX: return div_approx(a, b);
    case APPROX_FTZ: return div_approx_ftz(a, b);
    default: return rcp_approx(b);
    }
}

/* The model: a divisor beyond 2^126 and its dividend are quartered, a subnormal one and its dividend taken times
 * 2^24, and the dividend is multiplied by MUFU.RCP of the divisor. */
__device__ static float sequence(int kind, float a, float b)
{
    bool ftz = kind == FULL_FTZ || kind == APPROX_FTZ, huge = fabsf(b) > 0x1p126f, tiny = fabsf(b) < 0x1p-126f;
    float scale = huge && kind != APPROX && kind != APPROX_FTZ ? 0.25f : tiny && !ftz ? 0x1p24f : 1;
    if (kind == RECIPROCAL)
        return mul(scale, rcp_approx_ftz(mul(b, scale)));
    if (scale != 1) {
        a = ftz ? mul_ftz(a, scale) : mul(a, scale);
        b = ftz ? mul_ftz(b, scale) : mul(b, scale);
    }
    float reciprocal = rcp_approx_ftz(b);
    return ftz ? mul_ftz(reciprocal, a) : mul(reciprocal, a);
}

/* Classes of operands. */
enum { ANY, ORDINARY, SUBNORMAL, TINY, HUGE_, AROUND_HUGE, AROUND_TINY, SPECIAL, SHORT, CLASSES };
static const char *const class_names[CLASSES] = {"any",          "ordinary",      "subnormal", "tiny", "huge",
                                                 "around_2^126", "around_2^-126", "special",   "short"};

__device__ static float operand(int kind, u64 n)
{
    const uint32_t special[16] = {0,          0x7F800000, 0x7FC00000, 0x7F800001, 0x3F800000, 0x40C00000,
                                  0x43E00000, 0x45280000, 0x7F7FFFFF, 0x00800000, 0x00000001, 0x007FFFFF,
                                  0x7E800000, 0x3E2AAAAB, 0x33D6BF95, 0x38D1B717};
    u64 noise = mix(n);
    uint32_t bits = (uint32_t)noise, sign = bits & 0x80000000, mantissa = bits & 0x7FFFFF,
             more = (uint32_t)(noise >> 32);
    switch (kind) {
    case ORDINARY: bits = sign | (87 + more % 81) << 23 | mantissa; break;
    case SUBNORMAL: bits = sign | mantissa; break;
    case TINY: bits = sign | (more & 3) << 23 | mantissa; break;
    case HUGE_: bits = sign | (250 + more % 6) << 23 | mantissa; break;
    case AROUND_HUGE: bits = sign | (0x7E800000 - 16 + (more & 31)); break;
    case AROUND_TINY: bits = sign | (0x00800000 - 16 + (more & 31)); break;
    case SPECIAL: bits = sign | special[more & 15]; break;
    case SHORT: bits = sign | (87 + more % 81) << 23 | (mantissa & 0x780000); break;
    default: break;
    }
    return __uint_as_float(bits);
}

/* out[0]: the digest of the first `digested` results; out[1]: how often the sequence differs. */
__global__ static void pairs(int kind, int class_a, int class_b, u64 seed, u64 digested, u64 *out)
{
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    float a = operand(class_a, seed + 2 * i), b = operand(class_b, seed + 2 * i + 1);
    float y = quotient(kind, a, b);
    if (i < digested)
        atomicAdd(out, digest_of(i, y));
    if (__float_as_uint(y) != __float_as_uint(sequence(kind, a, b)))
        atomicAdd(out + 1, 1ull);
}

/* All 2^32 divisors of one dividend. */
__global__ static void divisors(int kind, float a, u64 *out)
{
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    float b = __uint_as_float((uint32_t)i), y = quotient(kind, a, b);
    if (__float_as_uint(y) != __float_as_uint(sequence(kind, a, b)))
        atomicAdd(out + 1, 1ull);
}

static u64 *counters;

static void clear(void)
{
    check(cudaMemset(counters, 0, 2 * sizeof *counters));
}

static void fetch(u64 values[2])
{
    check(cudaGetLastError());
    check(cudaMemcpy(values, counters, 2 * sizeof *counters, cudaMemcpyDeviceToHost));
}

static u64 write_quotients(FILE *file)
{
    const u64 digested = 1 << 14, count = 1 << 26, seed = 0x51DE;
    u64 values[2], different = 0;
    fprintf(
        file,
        "# instruction, class of a, class of b, digest of %llu quotients, how many of %llu differ from the sequence\n",
        digested, count);
    for (int kind = 0; kind < QUOTIENTS; kind++)
        for (int a = 0; a < (kind == RECIPROCAL ? 1 : CLASSES); a++)
            for (int b = 0; b < CLASSES; b++) {
                clear();
                pairs<<<count / THREADS, THREADS>>>(
                    kind, a, b, seed + ((u64)kind << 48) + ((u64)a << 40) + ((u64)b << 36), digested, counters);
                fetch(values);
                fprintf(file, "%s %s %s %016llx %llu\n", quotient_names[kind], class_names[a], class_names[b],
                        values[0], values[1]);
                different += values[1];
            }
    fprintf(file, "# instruction, dividend, how many of all 2^32 divisors differ from the sequence\n");
    for (int kind = 0; kind < QUOTIENTS; kind++)
        for (float a : {1.0f, -6.0f, 448.0f, 2688.0f, 127.0f, 1e-10f, 0x1.555556p-3f, 3e38f, 1e-40f, 0.0f, INFINITY}) {
            if (kind == RECIPROCAL && a != 1)
                continue;
            clear();
            divisors<<<(1ull << 32) / THREADS, THREADS>>>(kind, a, counters);
            fetch(values);
            fprintf(file, "%s %a %llu\n", quotient_names[kind], a, values[1]);
            different += values[1];
        }
    return different;
}

/* min.xorsign.abs, with which Triton clamps: of a NaN the manual says nothing. */
__global__ static void clamps(const uint32_t *a, const uint32_t *b, uint32_t *y)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    asm("min.xorsign.abs.f32 %0, %1, %2;" : "=r"(y[2 * i]) : "r"(a[blockIdx.x]), "r"(b[threadIdx.x]));
    asm("max.xorsign.abs.f32 %0, %1, %2;" : "=r"(y[2 * i + 1]) : "r"(a[blockIdx.x]), "r"(b[threadIdx.x]));
}

static void write_clamps(FILE *file)
{
    const uint32_t numbers[] = {0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x43E00000, 0xC3E00000, 0x7F800000,
                                0xFF800000, 0x00000001, 0x80000001, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF};
    const int count = sizeof numbers / sizeof *numbers;
    uint32_t *memory, host[2 * count * count];
    check(cudaMalloc(&memory, sizeof numbers + sizeof host));
    check(cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    clamps<<<count, count>>>(memory, memory, memory + count);
    check(cudaGetLastError());
    check(cudaMemcpy(host, memory + count, sizeof host, cudaMemcpyDeviceToHost));
    fprintf(file, "# a, b, min.xorsign.abs.f32 and max.xorsign.abs.f32 of them\n");
    for (int i = 0; i < count * count; i++)
        fprintf(file, "xorsign %08x %08x %08x %08x\n", numbers[i / count], numbers[i % count], host[2 * i],
                host[2 * i + 1]);
}

/* thresholds[e]: the first mantissa whose lg2 is above, and at or above exponent + half; and how often it falls back.
 */
__global__ static void logarithms(uint32_t exponent, float border, bool above, uint32_t *first, u64 *count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float y = lg2_approx_ftz(__uint_as_float(exponent << 23 | i));
    if (above ? y > border : y >= border) {
        atomicMin(first, i);
        atomicAdd(count, 1ull);
    }
}

static void write_borders(FILE *file)
{
    u64 values[2];
    uint32_t *first, host;
    check(cudaMalloc(&first, sizeof *first));
    for (int half = 0; half < 2; half++)
        for (int above = 0; above < 2; above++) {
            fprintf(
                file, "# lg2 %s exponent%s: exponent field:first mantissa:how many more than from there on\nlg2_%s_%s",
                above ? "above" : "at least", half ? " + 1/2" : "", above ? "above" : "from", half ? "half" : "whole");
            for (uint32_t e = 1; e < 255; e++) {
                clear();
                check(cudaMemset(first, 0xFF, sizeof *first));
                logarithms<<<(1 << 23) / THREADS, THREADS>>>(e, (float)e - 127 + (half ? 0.5f : 0), above, first,
                                                             counters);
                fetch(values);
                check(cudaMemcpy(&host, first, sizeof host, cudaMemcpyDeviceToHost));
                fprintf(file, " %u:%06x:%lld", e, host,
                        host == ~0u ? 0 : (long long)values[0] - ((1 << 23) - (long long)host));
            }
            fprintf(file, "\n");
        }
}

static FILE *open_text(const std::string &name, const cudaDeviceProp *device)
{
    FILE *file = fopen(name.c_str(), "w");
    if (file == NULL) {
        fprintf(stderr, "approx_on_gpu: cannot write %s\n", name.c_str());
        exit(2);
    }
    fprintf(file, "# %s, compute capability %d.%d\n", device->name, device->major, device->minor);
    return file;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: approx_on_gpu FOLDER\n");
        return 2;
    }
    std::string folder = arguments[1];
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaMalloc(&counters, 2 * sizeof *counters));
    FILE *file = open_text(folder + "/div.quotients.txt", &device);
    u64 quotients = write_quotients(file);
    fclose(file);
    printf("%s: %llu quotients differ from their sequences\n", device.name, quotients);
    file = open_text(folder + "/div.borders.txt", &device);
    write_borders(file);
    write_clamps(file);
    fclose(file);
    return quotients != 0;
}
