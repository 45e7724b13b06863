/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of what the bytes of block scales stand for. */
#include "edit_parts.h"

#include <string.h>

static bool per_k_block(const fpo_operand_view *view)
{
    return view->scale.format != FPO_FORMAT_NONE && view->scale.block_k > 0;
}

/* ---- which ones there are ---- */

static void enumerate_ue8m0(fpo_edit_list *list, int operands)
{
    fpo_edit_add(list, FPO_EDIT_UE8M0_ZERO, operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_UE8M0_NO_NAN, operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_UE8M0_SHIFTED, operands, 0, 0);
    for (int keeps = 0; keeps <= 1; keeps++)
        fpo_edit_add(list, FPO_EDIT_UE8M0_THROUGH_F16, operands, 0, keeps);
    fpo_edit_add(list, FPO_EDIT_UE8M0_BIAS, operands, 127, 126);
    fpo_edit_add(list, FPO_EDIT_UE8M0_BIAS, operands, 127, 128);
    fpo_edit_add(list, FPO_EDIT_SCALES_INVERTED, operands, 0, 0);
}

static void enumerate_ue4m3(fpo_edit_list *list, int operands)
{
    fpo_edit_add(list, FPO_EDIT_UE4M3_NORMAL, operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_UE4M3_FLUSHED, operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_UE4M3_BIAS, operands, 7, 8);
    fpo_edit_add(list, FPO_EDIT_UE4M3_BIAS, operands, 7, 6);
    fpo_edit_add(list, FPO_EDIT_UE4M3_SIGNED, operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_UE4M3_NO_NAN, operands, 0, 0);
}

static void enumerate_f32(fpo_edit_list *list, const fpo_edit_side *side)
{
    static const fpo_edit_kind kinds[] = {FPO_EDIT_SCALES_INVERTED,      FPO_EDIT_F32_RAW_BYTES,
                                          FPO_EDIT_F32_MANTISSA_DROPPED, FPO_EDIT_F32_ROUNDED_UP,
                                          FPO_EDIT_F32_NEAREST_POWER,    FPO_EDIT_F32_PACKED_UNMASKED,
                                          FPO_EDIT_F32_BYTE_SWAPPED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fpo_edit_add(list, kinds[i], side->operands, 0, 0);
    static const fpo_format halves[] = {FPO_BF16, FPO_F16};
    for (int i = 0; i < 2; i++) {
        fpo_edit_add(list, FPO_EDIT_F32_AS_HALVES, side->operands, 0, (int)halves[i]);
        fpo_edit_add(list, FPO_EDIT_F32_NARROWED, side->operands, 0, (int)halves[i]);
    }
}

/* Whether some block of an operand has zero codes alone. */
static bool block_is_zero(const fpo_code_matrix *codes, int64_t r0, int64_t r1, int64_t k0, int64_t k1)
{
    uint32_t sign = fpo_format_describe(codes->format)->code_mask >> 1;
    for (int64_t r = r0; r < r1; r++)
        for (int64_t k = k0; k < k1; k++)
            if ((fpo_code_at(codes, r, k) & sign) != 0)
                return false;
    return true;
}

static void enumerate_operand(fpo_edit_list *list, const fpo_edit_side *side)
{
    static const fpo_format formats[] = {FPO_UE8M0, FPO_UE4M3, FPO_E4M3, FPO_E5M2, FPO_F16, FPO_BF16, FPO_F32};
    fpo_format own = side->view->scale.format;
    if (own == FPO_FORMAT_NONE || !side->same_scales)
        return;
    fpo_edit_add(list, FPO_EDIT_SCALES_IGNORED, side->operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_SCALES_TWICE, side->operands, 0, 0);
    for (size_t i = 0; i < sizeof formats / sizeof *formats && per_k_block(side->view); i++)
        if (formats[i] != own)
            fpo_edit_add(list, FPO_EDIT_SCALE_FORMAT, side->operands, (int)own, (int)formats[i]);
    if (own == FPO_UE8M0)
        enumerate_ue8m0(list, side->operands);
    if (own == FPO_UE4M3)
        enumerate_ue4m3(list, side->operands);
    if (own == FPO_F32)
        enumerate_f32(list, side);
    static const int off[] = {-1, 1, -2, 2, -8, 8};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        fpo_edit_add(list, FPO_EDIT_SCALE_EXPONENT_OFF, side->operands, 0, off[i]);
    if (per_k_block(side->view) && own != FPO_F32)
        fpo_edit_add(list, FPO_EDIT_ZERO_BLOCK_SCALE, side->operands, 0, own == FPO_UE8M0 ? 0xFF : 0x7F);
}

/* ---- numbers ---- */

static fpo_value decoded(const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    return fpo_decode(m->format, fpo_scale_code(m, r * m->columns + c));
}

static const fpo_value zero = {0, 0, FPO_ZERO, false, false}, infinite = {0, 0, FPO_INFINITE, false, false},
                       not_a_number = {0, 0, FPO_NAN, false, false};

static fpo_value power_of_two(int exponent)
{
    return (fpo_value){1, exponent, FPO_FINITE, false, false};
}

static fpo_value ue8m0(uint32_t code)
{
    return fpo_decode(FPO_UE8M0, code);
}

static fpo_value ue8m0_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    uint32_t code = fpo_scale_code(m, r * m->columns + c);
    bool shifted = edit->kind == FPO_EDIT_UE8M0_SHIFTED;
    if (edit->kind == FPO_EDIT_UE8M0_BIAS)
        return code == 0xFF ? not_a_number : power_of_two((int)code - edit->to);
    if (edit->kind == FPO_EDIT_UE8M0_THROUGH_F16 && code != 0xFF)
        return code > 142 ? infinite : code < (edit->to ? 103u : 113u) ? zero : ue8m0(code);
    if (code == 0 && (shifted || edit->kind == FPO_EDIT_UE8M0_ZERO))
        return zero;
    if (code == 0xFF && (shifted || edit->kind == FPO_EDIT_UE8M0_NO_NAN))
        return infinite;
    return ue8m0(code);
}

static fpo_value ue4m3_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    uint32_t code = fpo_scale_code(m, r * m->columns + c) & 0x7F;
    fpo_value value = fpo_decode(FPO_UE4M3, code);
    switch (edit->kind) {
    case FPO_EDIT_UE4M3_NORMAL: return code < 8 ? (fpo_value){8 + code, -10, FPO_FINITE, false, false} : value;
    case FPO_EDIT_UE4M3_FLUSHED: return code < 8 ? zero : value;
    case FPO_EDIT_UE4M3_NO_NAN: return code == 0x7F ? (fpo_value){15, 5, FPO_FINITE, false, false} : value;
    default: value.exponent += edit->from - edit->to; return value;
    }
}

static int floor_log2(fpo_value value)
{
    return 63 - __builtin_clzll(value.significand) + value.exponent;
}

static fpo_value power_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    fpo_value value = decoded(m, r, c);
    if (value.kind != FPO_FINITE)
        return value;
    int exponent = floor_log2(value);
    bool exact = (value.significand & (value.significand - 1)) == 0;
    fpo_value middle = {3, exponent - 1, FPO_FINITE, false, false};
    bool up = edit->kind == FPO_EDIT_F32_ROUNDED_UP
                  ? !exact
                  : edit->kind == FPO_EDIT_F32_NEAREST_POWER && fpo_value_compare_magnitude(value, middle) >= 0;
    return power_of_two(exponent + up);
}

/* Four f32 scales of a row in one word, shifted but not masked; beyond K there are zeros. */
static uint32_t packed_unmasked(const fpo_scale_matrix *m, int64_t r, int64_t word)
{
    uint32_t v[4];
    for (int64_t i = 0; i < 4; i++) {
        int64_t c = 4 * word + i;
        v[i] = c < m->columns ? fpo_scale_code(m, r * m->columns + c) : 0;
    }
    return v[0] >> 23 | v[1] >> 15 | v[2] >> 7 | v[3] << 1;
}

static fpo_value f32_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    uint32_t own = fpo_scale_code(m, r * m->columns + c);
    uint32_t quarter = fpo_scale_code(m, r * m->columns + c / 4), half = fpo_scale_code(m, r * m->columns + c / 2);
    switch (edit->kind) {
    case FPO_EDIT_F32_RAW_BYTES: return ue8m0(quarter >> (c % 4 * 8) & 0xFF);
    case FPO_EDIT_F32_PACKED_UNMASKED: return ue8m0(packed_unmasked(m, r, c / 4) >> (c % 4 * 8) & 0xFF);
    case FPO_EDIT_F32_BYTE_SWAPPED: return fpo_decode(FPO_F32, __builtin_bswap32(own));
    case FPO_EDIT_F32_AS_HALVES: return fpo_decode((fpo_format)edit->to, half >> (c % 2 * 16) & 0xFFFF);
    default: { /* narrowed */
        fpo_format format = (fpo_format)edit->to;
        uint32_t code = fpo_encode(format, fpo_decode(FPO_F32, own), fpo_cast_describe(FPO_CAST_IEEE), 0);
        return fpo_decode(format, code);
    }
    }
}

static fpo_value inverse_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    (void)edit;
    return fpo_value_from_float(1.0f / (float)fpo_decode_double(m->format, fpo_scale_code(m, r * m->columns + c)));
}

static fpo_value square_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    (void)edit;
    fpo_value value = decoded(m, r, c);
    return fpo_value_multiply(value, value);
}

static fpo_value off_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    fpo_value value = decoded(m, r, c);
    value.exponent += edit->to;
    return value;
}

/* ---- applying them ---- */

/* A block with bit 7 in its scale changes its signs: the elements are edited, which comes to the same. */
static void honour_signs(fpo_edit_target *target)
{
    fpo_scale_matrix scales;
    unsigned char *codes = fpo_codes_copy(target);
    if (codes == NULL || !fpo_scale_matrix_of(target, &scales) || target->spec->stored.scale.block_rows != 1)
        return;
    fpo_code_matrix m = fpo_code_matrix_of(target);
    const fpo_format_info *info = fpo_format_describe(m.format);
    int64_t each = target->spec->stored.scale.block_k;
    for (int64_t r = 0; r < m.rows; r++) {
        if (target->wanted != NULL && !target->wanted[r])
            continue;
        for (int64_t k = 0; k < m.k; k++)
            if ((scales.from[r * scales.columns + k / each] & 0x80) != 0)
                fpo_code_set(&m, codes, r, k, fpo_code_at(&m, r, k) ^ 1u << (info->bits - 1));
    }
}

static uint32_t zero_block_code(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    fpo_code_matrix codes = fpo_code_matrix_of(m->target);
    const fpo_scale_view *view = &m->target->spec->stored.scale;
    int64_t rows = view->block_rows > 0 ? view->block_rows : codes.rows, r1 = (r + 1) * rows;
    int64_t k1 = (c + 1) * view->block_k;
    bool is_zero = block_is_zero(&codes, r * rows, r1 < codes.rows ? r1 : codes.rows, c * view->block_k,
                                 k1 < codes.k ? k1 : codes.k);
    return is_zero ? (uint32_t)edit->to : fpo_scale_code(m, r * m->columns + c);
}

static fpo_scale_number number_of(fpo_edit_kind kind)
{
    switch (kind) {
    case FPO_EDIT_UE8M0_ZERO:
    case FPO_EDIT_UE8M0_NO_NAN:
    case FPO_EDIT_UE8M0_SHIFTED:
    case FPO_EDIT_UE8M0_THROUGH_F16:
    case FPO_EDIT_UE8M0_BIAS: return ue8m0_number;
    case FPO_EDIT_UE4M3_NORMAL:
    case FPO_EDIT_UE4M3_FLUSHED:
    case FPO_EDIT_UE4M3_BIAS:
    case FPO_EDIT_UE4M3_NO_NAN: return ue4m3_number;
    case FPO_EDIT_F32_MANTISSA_DROPPED:
    case FPO_EDIT_F32_ROUNDED_UP:
    case FPO_EDIT_F32_NEAREST_POWER: return power_number;
    case FPO_EDIT_SCALES_INVERTED: return inverse_number;
    case FPO_EDIT_SCALES_TWICE: return square_number;
    case FPO_EDIT_SCALE_EXPONENT_OFF: return off_number;
    default: return f32_number;
    }
}

/* Scales that the epilogue applies leave its program with them. */
static void ignore_scales(fpo_edit_target *target)
{
    fpo_epilogue_operand own = target->is_a ? FPO_EPI_A_SCALE : FPO_EPI_B_SCALE;
    fpo_epilogue *epilogue = &target->edited->spec.epilogue;
    int kept = 0;
    for (int i = 0; i < FPO_EPILOGUE_STEPS; i++) {
        fpo_epilogue_step step = epilogue->steps[i];
        if (step.operand == own && step.op == FPO_EPI_FMA_BIAS)
            step = (fpo_epilogue_step){FPO_EPI_ADD_BIAS, FPO_EPI_NOTHING};
        if (step.operand != own)
            epilogue->steps[kept++] = step;
    }
    while (kept < FPO_EPILOGUE_STEPS)
        epilogue->steps[kept++] = (fpo_epilogue_step){FPO_EPI_END, FPO_EPI_NOTHING};
    target->spec->read.scale.format = FPO_FORMAT_NONE;
}

static void apply_to_operand(const fpo_edit *edit, fpo_edit_target *target)
{
    switch (edit->kind) {
    case FPO_EDIT_SCALES_IGNORED: ignore_scales(target); break;
    case FPO_EDIT_SCALE_FORMAT: target->spec->read.scale.format = (fpo_format)edit->to; break;
    case FPO_EDIT_UE4M3_SIGNED: honour_signs(target); break;
    case FPO_EDIT_ZERO_BLOCK_SCALE: fpo_scales_recode(edit, target, zero_block_code); break;
    default: fpo_scales_renumber(edit, target, number_of(edit->kind)); break;
    }
}

const fpo_edit_group fpo_edits_scale_code = {enumerate_operand, NULL, apply_to_operand, NULL};
