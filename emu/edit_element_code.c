/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of what the bits of elements stand for. */
#include "edit_parts.h"

static void enumerate_packings(fpo_edit_list *list, const fpo_edit_side *side)
{
    int bits = fpo_format_describe(side->view->element)->bits;
    for (int stored = 0; stored < FPO_PACKING_COUNT; stored++)
        for (int read = 0; read < FPO_PACKING_COUNT; read++) {
            bool concerns =
                (stored == FPO_PACKING_CANONICAL || fpo_packing_describe((fpo_packing)stored)->width == bits) &&
                (read == FPO_PACKING_CANONICAL || fpo_packing_describe((fpo_packing)read)->width == bits);
            bool usual =
                stored == FPO_PACKING_CANONICAL || read == FPO_PACKING_CANONICAL || stored == FPO_PACKING_FP4_BYTES;
            bool swapped = stored + read == FPO_PACKING_CANONICAL + FPO_PACKING_NIBBLES_SWAPPED; /* nibble_order */
            if (stored != read && concerns && usual && !swapped)
                fpo_edit_add(list, FPO_EDIT_ELEMENT_PACKING, side->operands, stored, read);
        }
}

static void enumerate_operand(fpo_edit_list *list, const fpo_edit_side *side)
{
    const fpo_format_info *own = fpo_format_describe(side->view->element);
    if (!side->same_elements)
        return;
    if (side->view->element == FPO_E2M1)
        fpo_edit_add(list, FPO_EDIT_NIBBLE_ORDER, side->operands, 0, 0);
    for (int other = 1; other < FPO_FORMAT_COUNT; ++other) {
        const fpo_format_info *info = fpo_format_describe((fpo_format)other);
        if (other != (int)side->view->element && info->bits == own->bits && info->sign_bits == 1)
            fpo_edit_add(list, FPO_EDIT_ELEMENT_FORMAT, side->operands, (int)side->view->element, other);
    }
    if (own->bits > 8)
        return;
    if (own->bits < 8)
        enumerate_packings(list, side);
    for (int by = -2; by <= 2; by++)
        if (by != 0)
            fpo_edit_add(list, FPO_EDIT_ELEMENT_SHIFTED, side->operands, 0, by);
    fpo_edit_add(list, FPO_EDIT_ELEMENT_SIGN_LOST, side->operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_ELEMENT_FLUSHED, side->operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_ELEMENT_TWOS_COMPLEMENT, side->operands, 0, 0);
    if (own->specials != FPO_SPECIALS_NONE) {
        fpo_edit_add(list, FPO_EDIT_ELEMENT_NAN_REPLACED, side->operands, 0, 0);
        fpo_edit_add(list, FPO_EDIT_ELEMENT_NAN_REPLACED, side->operands, 0, (int)own->max_finite);
    }
}

static uint32_t recode(const fpo_edit *edit, fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    uint32_t sign = 1u << (info->bits - 1), magnitude = code & (sign - 1);
    switch (edit->kind) {
    case FPO_EDIT_ELEMENT_SHIFTED:
        return (edit->to > 0 ? code << edit->to : (code & info->code_mask) >> -edit->to) & info->code_mask;
    case FPO_EDIT_ELEMENT_SIGN_LOST: return magnitude;
    case FPO_EDIT_ELEMENT_FLUSHED: return magnitude >> info->mantissa_bits == 0 ? code & sign : code;
    case FPO_EDIT_ELEMENT_TWOS_COMPLEMENT: return (code & sign) != 0 ? ((sign - magnitude) & (sign - 1)) | sign : code;
    default: /* NaN replaced */ return fpo_decode(format, code).kind == FPO_NAN ? (uint32_t)edit->to : code;
    }
}

static void apply_to_operand(const fpo_edit *edit, fpo_edit_target *target)
{
    fpo_operand_spec *spec = target->spec;
    switch (edit->kind) {
    case FPO_EDIT_NIBBLE_ORDER:
        spec->read.packing =
            spec->read.packing == FPO_PACKING_CANONICAL ? FPO_PACKING_NIBBLES_SWAPPED : FPO_PACKING_CANONICAL;
        break;
    case FPO_EDIT_ELEMENT_PACKING:
        spec->stored.packing = (fpo_packing)edit->from;
        spec->read.packing = (fpo_packing)edit->to;
        break;
    case FPO_EDIT_ELEMENT_FORMAT: spec->read.element = (fpo_format)edit->to; break;
    default: fpo_codes_recode(edit, target, recode); break;
    }
}

const fpo_edit_group fpo_edits_element_code = {enumerate_operand, NULL, apply_to_operand, NULL};
