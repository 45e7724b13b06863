/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits that no operands can show. */
#include "coverage.h"

#include "spec_fields.h"

static bool same_numbers(const fpo_gemm_spec *spec, const fpo_edit *edit)
{
    return edit->kind == FPO_EDIT_ACCUMULATION && fpo_record_equal(&fpo_record_accumulation, &spec->accumulation,
                                                                   &fpo_model_at((size_t)edit->to)->accumulation);
}

/* Whether A and B have the same part in the sum and in where its parts go. */
static bool is_symmetric(const fpo_accumulation *accumulation)
{
    fpo_promotion promotion = accumulation->schedule.promotion;
    bool alike = promotion == FPO_PROMOTE_ADD || promotion == FPO_PROMOTE_FMA_AB || promotion == FPO_PROMOTE_MUL_AB_ADD;
    return alike && accumulation->schedule.split != FPO_SPLIT_STREAM_K;
}

/* Scales that no exponent below 2^-20 can come from. */
static bool has_ue4m3(const fpo_gemm_spec *spec)
{
    return spec->a.read.scale.format == FPO_UE4M3 && spec->b.read.scale.format == FPO_UE4M3;
}

static bool is_model(const fpo_edit *edit, const char *name)
{
    return edit->to >= 0 && fpo_model_at((size_t)edit->to) == fpo_model_by_name(name);
}

bool fpo_edit_depends_on_shape(const fpo_edit *edit)
{
    switch (edit->kind) {
#define FPO_SHAPED(kind) case FPO_EDIT_##kind:
#include "shaped_edits.inc"
#undef FPO_SHAPED
        return true;
    default: return false;
    }
}

const char *fpo_equivalent_edit(const fpo_gemm_spec *spec, const fpo_edit *edit)
{
    if (same_numbers(spec, edit))
        return "the same numbers under another name";
#define FPO_EQUIVALENT(kind_, condition, why)                                                                          \
    if (edit->kind == FPO_EDIT_##kind_ && (condition))                                                                 \
        return why;
#include "equivalent_edits.inc"
#undef FPO_EQUIVALENT
    return NULL;
}
