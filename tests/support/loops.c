/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "loops.h"
#include "engine.h"

#include <fp4oracle/random.h>

const fpo_quantize_kernels *const tables[TABLES] = {
    &fpo_quantize_portable,
#ifdef __x86_64__
    &fpo_quantize_avx2,
    &fpo_quantize_avx512,
#endif
};
const fpo_isa isas[TABLES] = {
    FPO_ISA_PORTABLE,
#ifdef __x86_64__
    FPO_ISA_AVX2,
    FPO_ISA_AVX512,
#endif
};

const struct fpo_function_name functions[FPO_FN_COUNT] = {
#define FPO_FUNCTION(ID, name, arity, summary) {name, arity},
#include "recipe_functions.inc"
#undef FPO_FUNCTION
};

const fpo_format formats[FORMATS] = {FPO_E2M1, FPO_E2M3,  FPO_E3M2, FPO_E4M3, FPO_E5M2,
                                     FPO_F16,  FPO_UE4M3, FPO_BF16, FPO_UE8M0};

bool runs(int table)
{
    return fpo_isa_resolve(isas[table]) == isas[table];
}

float value(uint64_t index)
{
    static const uint32_t special[] = {0,          1,          0x7FFFFF,   0x800000,   0x3E800000, 0x3F400000,
                                       0x3FA00000, 0x3FE00000, 0x40200000, 0x40600000, 0x40A00000, 0x40C00000,
                                       0x43E00000, 0x43E80000, 0x47600000, 0x477FF000, 0x7F000000, 0x7F7FFFFF,
                                       0x7F800000, 0x7FC00000, 0x400000,   0x400001,   0x3F800000, 0x3C800000,
                                       0x3A800000, 0x437F8000, 0x437E0000, 0x7F7F8000};
    fpo_random random = {5, 5};
    uint64_t noise = fpo_random_bits(random, index);
    uint32_t bits = (uint32_t)noise;
    switch (noise >> 60) {
    case 0:
    case 1:
    case 2:
    case 3: bits = special[(noise >> 32) % (sizeof special / sizeof *special)] + (uint32_t)(noise >> 40) % 3 - 1; break;
    case 4:
    case 5:
    case 6:
    case 7: bits = (110 + (bits & 31)) << 23 | (bits >> 8 & 7) << 20 | (bits & 0x80000000u); break; /* few bits */
    case 8: bits = fpo_bits_of((float)((int)(noise & 511) - 128)); break;                           /* integers */
    default: break;
    }
    /* Quiet: the comparison goes through double, which does not keep signalling NaN. */
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        bits |= 0x400000u;
    return fpo_float_of(bits ^ (uint32_t)(noise >> 45 & 1) << 31);
}
