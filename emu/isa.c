/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the processor and this build have. */
#include "engine.h"

#include <stdatomic.h>

#if defined(FPO_X86) && defined(__GNUC__)
#include <cpuid.h>

/* Not all compilers' __builtin_cpu_supports knows it. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}
#endif

static fpo_isa best(void)
{
#if defined(FPO_X86) && defined(__GNUC__)
    __builtin_cpu_init();
    if (!has_f16c())
        return FPO_ISA_PORTABLE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi"))
        return FPO_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return FPO_ISA_AVX2;
#endif
    return FPO_ISA_PORTABLE;
}

fpo_isa fpo_isa_resolve(fpo_isa wanted)
{
    /* Asked once: on a virtual machine the instruction that tells takes longer than a small product. */
    static _Atomic int known;
    int have_and_one = atomic_load_explicit(&known, memory_order_relaxed);
    if (have_and_one == 0) {
        have_and_one = (int)best() + 1;
        atomic_store_explicit(&known, have_and_one, memory_order_relaxed);
    }
    fpo_isa have = (fpo_isa)(have_and_one - 1);
    return wanted == FPO_ISA_BEST || wanted > have ? have : wanted;
}
