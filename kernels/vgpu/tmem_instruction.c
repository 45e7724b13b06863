/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Instruction descriptors: see tmem_instruction.h. */
#include "tmem_instruction.h"

static uint32_t bits(uint32_t word, int first, int count)
{
    return word >> first & ((1u << count) - 1);
}

/* Types of the kinds that mix 8-, 6- and 4-bit elements. */
static fpo_format mixed_format(uint32_t code)
{
    static const fpo_format formats[8] = {FPO_E4M3, FPO_E5M2, FPO_FORMAT_NONE, FPO_E2M3,
                                          FPO_E3M2, FPO_E2M1, FPO_FORMAT_NONE, FPO_FORMAT_NONE};
    return formats[code];
}

static fpo_format element_of(uint8_t kind, uint32_t code)
{
    switch (kind) {
    case FPO_PTX_V_F16: return code == 0 ? FPO_F16 : code == 1 ? FPO_BF16 : FPO_FORMAT_NONE;
    case FPO_PTX_V_TF32: return code == 2 ? FPO_F32 : FPO_FORMAT_NONE;
    case FPO_PTX_V_MXF4:
    case FPO_PTX_V_MXF4NVF4: return code == 1 ? FPO_E2M1 : FPO_FORMAT_NONE;
    default: return mixed_format(code);
    }
}

static bool can_be_across(fpo_format element)
{
    return element == FPO_E4M3 || element == FPO_E5M2 || element == FPO_F16 || element == FPO_BF16 ||
           element == FPO_F32;
}

static const char *decode_scales(const fpo_ptx_arguments *how, uint32_t descriptor, fpo_tmem_instruction *t)
{
    bool fp4 = how->a != FPO_PTX_V_MXF8F6F4;
    t->scale = bits(descriptor, 23, 1) != 0 ? FPO_UE8M0 : FPO_UE4M3;
    t->scale_id_b = bits(descriptor, 4, 2);
    t->scale_id_a = bits(descriptor, 29, 2);
    t->scales = how->count;
    if (t->scale == FPO_UE4M3 && !(how->a == FPO_PTX_V_MXF4NVF4 && how->count == 4))
        return "scale type (bit 23): ue4m3 is for mxf4nvf4 with four scales a row";
    if (bits(descriptor, 31, 1) != 0)
        return fp4 ? "K (bit 31): 96 elements" : "reserved bits (3, 6, 31)";
    if (fp4 && ((t->scale_id_a | t->scale_id_b) & 1) != 0)
        return "scale id (bits 4-5, 29-30): it is odd";
    if (how->count == 4 && (t->scale_id_a | t->scale_id_b) != 0)
        return "scale id (bits 4-5, 29-30): four scales a row fill the word";
    if (bits(descriptor, 6, 1) != 0 || bits(descriptor, 3, 1) != 0)
        return "reserved bits (3, 6)";
    return NULL;
}

static const char *decode_plain(const fpo_ptx_arguments *how, uint32_t descriptor, fpo_tmem_instruction *t)
{
    uint32_t accumulator = bits(descriptor, 4, 2);
    if (accumulator > 1 || (accumulator == 0 && how->a == FPO_PTX_V_TF32))
        return "accumulator type (bits 4-5)";
    t->f16_accumulator = accumulator == 0;
    if (t->f16_accumulator && t->a == FPO_BF16)
        return "accumulator type (bits 4-5): bf16 elements accumulate in f32";
    if (bits(descriptor, 30, 2) != 0)
        return "maximum shift (bits 30-31)";
    if (bits(descriptor, 3, 1) != 0)
        return "saturation (bit 3), which integers have";
    if (bits(descriptor, 6, 1) != 0 || bits(descriptor, 23, 1) != 0 || bits(descriptor, 29, 1) != 0)
        return "reserved bits (6, 23, 29)";
    return NULL;
}

static fpo_vgpu_mma mma_of(uint8_t kind, const fpo_tmem_instruction *t)
{
    switch (kind) {
    case FPO_PTX_V_TF32: return FPO_VGPU_TCGEN05_TF32;
    case FPO_PTX_V_F16:
        return t->a == FPO_BF16     ? FPO_VGPU_TCGEN05_BF16
               : t->f16_accumulator ? FPO_VGPU_TCGEN05_F16_F16ACC
                                    : FPO_VGPU_TCGEN05_F16;
    case FPO_PTX_V_F8F6F4: return t->f16_accumulator ? FPO_VGPU_TCGEN05_F8F6F4_F16ACC : FPO_VGPU_TCGEN05_F8F6F4;
    case FPO_PTX_V_MXF8F6F4: return FPO_VGPU_TCGEN05_MXF8F6F4;
    default: return t->scales == 2 ? FPO_VGPU_TCGEN05_MXF4 : FPO_VGPU_TCGEN05_MXF4NVF4;
    }
}

/* M, and the N that it allows (PTX table 41). */
static const char *check_shape(const fpo_ptx_arguments *how, const fpo_tmem_instruction *t)
{
    bool scaled = how->count != 0;
    if (how->ws) {
        if (t->m != 32 && t->m != 64 && t->m != 128)
            return "M (bits 24-28): .ws takes 32, 64 or 128";
        return t->n == 64 || t->n == 128 || t->n == 256 ? NULL : "N (bits 17-22): .ws takes 64, 128 or 256";
    }
    if (how->pair) {
        if (t->m != 256 && t->m != 128)
            return "M (bits 24-28): a pair of CTAs takes 128 or 256";
        return t->n != 0 && t->n % (scaled || t->m == 256 ? 16 : 32) == 0 && t->n <= 256 ? NULL : "N (bits 17-22)";
    }
    if (t->m != 128 && !(t->m == 64 && !scaled))
        return scaled ? "M (bits 24-28): block scales take 128" : "M (bits 24-28): 64 and 128 exist";
    return t->n != 0 && t->n % (t->m == 128 && !scaled ? 16 : 8) == 0 && t->n <= 256 ? NULL : "N (bits 17-22)";
}

const char *fpo_tmem_decode(const fpo_ptx_arguments *how, uint32_t descriptor, fpo_tmem_instruction *t)
{
    *t = (fpo_tmem_instruction){.m = bits(descriptor, 24, 5) * 16,
                                .n = bits(descriptor, 17, 6) * 8,
                                .a = element_of(how->a, bits(descriptor, 7, 3)),
                                .b = element_of(how->a, bits(descriptor, 10, 3)),
                                .scale = FPO_FORMAT_NONE,
                                .negate_a = bits(descriptor, 13, 1) != 0,
                                .negate_b = bits(descriptor, 14, 1) != 0,
                                .across_a = bits(descriptor, 15, 1) != 0,
                                .across_b = bits(descriptor, 16, 1) != 0};
    if (t->a == FPO_FORMAT_NONE || t->b == FPO_FORMAT_NONE)
        return t->a == FPO_FORMAT_NONE ? "type of A (bits 7-9)" : "type of B (bits 10-12)";
    if (how->a == FPO_PTX_V_F16 && t->a != t->b)
        return "type of A (bits 7-9), type of B (bits 10-12): f16 with bf16";
    if (bits(descriptor, 0, 3) != 0)
        return "sparsity (bits 0-2)";
    if ((t->across_a && !can_be_across(t->a)) || (t->across_b && !can_be_across(t->b)))
        return "transposition (bits 15-16) of 4- or 6-bit elements";
    t->k = how->a == FPO_PTX_V_TF32 ? 8 : how->a == FPO_PTX_V_F16 ? 16 : t->scales == 0 && how->count < 2 ? 32 : 64;
    const char *problem = how->count != 0 ? decode_scales(how, descriptor, t) : decode_plain(how, descriptor, t);
    if (problem == NULL)
        problem = check_shape(how, t);
    t->mma = mma_of(how->a, t);
    return problem;
}
