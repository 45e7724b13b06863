/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The names of the enumerations of a gemm spec. */
#include "spec_fields.h"

#include <string.h>

/* Every function is a switch over its enumeration without a default, so that the compiler reports enumerators that
 * spec_choices.inc lacks. */
#define FPO_CHOICE(ID, name)                                                                                           \
    case ID: return name;

static const char *tensor_scale_use_name(fpo_tensor_scale_use value)
{
    switch (value) {
#define FPO_CHOICES_TENSOR_SCALE_USE
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *rounding_name(fpo_rounding value)
{
    switch (value) {
#define FPO_CHOICES_ROUNDING
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *overflow_name(fpo_overflow value)
{
    switch (value) {
#define FPO_CHOICES_OVERFLOW
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *nan_policy_name(fpo_nan_policy value)
{
    switch (value) {
#define FPO_CHOICES_NAN_POLICY
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *no_nan_policy_name(fpo_no_nan_policy value)
{
    switch (value) {
#define FPO_CHOICES_NO_NAN_POLICY
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *negative_policy_name(fpo_negative_policy value)
{
    switch (value) {
#define FPO_CHOICES_NEGATIVE_POLICY
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *no_zero_policy_name(fpo_no_zero_policy value)
{
    switch (value) {
#define FPO_CHOICES_NO_ZERO_POLICY
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *step_kind_name(fpo_step_kind value)
{
    switch (value) {
#define FPO_CHOICES_STEP_KIND
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *promotion_name(fpo_promotion value)
{
    switch (value) {
#define FPO_CHOICES_PROMOTION
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *split_kind_name(fpo_split_kind value)
{
    switch (value) {
#define FPO_CHOICES_SPLIT_KIND
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *reduction_name(fpo_reduction value)
{
    switch (value) {
#define FPO_CHOICES_REDUCTION
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *epilogue_op_name(fpo_epilogue_op value)
{
    switch (value) {
#define FPO_CHOICES_EPILOGUE_OP
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *epilogue_operand_name(fpo_epilogue_operand value)
{
    switch (value) {
#define FPO_CHOICES_EPILOGUE_OPERAND
#include "spec_choices.inc"
    }
    return NULL;
}

static const char *format_name(int64_t value)
{
    return value < FPO_FORMAT_COUNT ? fpo_format_describe((fpo_format)value)->name : NULL;
}

const char *fpo_choice_name(fpo_field_kind kind, int64_t value)
{
    if (value < 0 || value > INT16_MAX)
        return NULL;
    switch (kind) {
    case FPO_KIND_INT16:
    case FPO_KIND_INT32:
    case FPO_KIND_UINT32:
    case FPO_KIND_BOOL:
    case FPO_KIND_COUNT: return NULL;
    case FPO_KIND_FORMAT: return format_name(value);
    case FPO_KIND_LAYOUT: return value < FPO_LAYOUT_COUNT ? fpo_layout_name((fpo_layout)value) : NULL;
    case FPO_KIND_PACKING: return value < FPO_PACKING_COUNT ? fpo_packing_name((fpo_packing)value) : NULL;
    case FPO_KIND_TENSOR_SCALE_USE: return tensor_scale_use_name((fpo_tensor_scale_use)value);
    case FPO_KIND_ROUNDING: return rounding_name((fpo_rounding)value);
    case FPO_KIND_OVERFLOW: return overflow_name((fpo_overflow)value);
    case FPO_KIND_NAN_POLICY: return nan_policy_name((fpo_nan_policy)value);
    case FPO_KIND_NO_NAN_POLICY: return no_nan_policy_name((fpo_no_nan_policy)value);
    case FPO_KIND_NEGATIVE_POLICY: return negative_policy_name((fpo_negative_policy)value);
    case FPO_KIND_NO_ZERO_POLICY: return no_zero_policy_name((fpo_no_zero_policy)value);
    case FPO_KIND_STEP_KIND: return step_kind_name((fpo_step_kind)value);
    case FPO_KIND_PROMOTION: return promotion_name((fpo_promotion)value);
    case FPO_KIND_SPLIT_KIND: return split_kind_name((fpo_split_kind)value);
    case FPO_KIND_REDUCTION: return reduction_name((fpo_reduction)value);
    case FPO_KIND_EPILOGUE_OP: return epilogue_op_name((fpo_epilogue_op)value);
    case FPO_KIND_EPILOGUE_OPERAND: return epilogue_operand_name((fpo_epilogue_operand)value);
    }
    return NULL;
}

bool fpo_choice_by_name(fpo_field_kind kind, const char *name, int64_t *value)
{
    const char *candidate;
    for (int64_t i = 0; (candidate = fpo_choice_name(kind, i)) != NULL; i++)
        if (strcmp(candidate, name) == 0) {
            *value = i;
            return true;
        }
    return false;
}

const char *fpo_choice_what(fpo_field_kind kind)
{
    static const char *const names[FPO_KIND_COUNT] = {
        [FPO_KIND_FORMAT] = "format",
        [FPO_KIND_LAYOUT] = "layout",
        [FPO_KIND_PACKING] = "packing",
        [FPO_KIND_TENSOR_SCALE_USE] = "use of the tensor scale",
        [FPO_KIND_ROUNDING] = "rounding",
        [FPO_KIND_OVERFLOW] = "overflow",
        [FPO_KIND_NAN_POLICY] = "NaN policy",
        [FPO_KIND_NO_NAN_POLICY] = "policy for NaN where there is none",
        [FPO_KIND_NEGATIVE_POLICY] = "policy for negative values",
        [FPO_KIND_NO_ZERO_POLICY] = "policy for zero",
        [FPO_KIND_STEP_KIND] = "kind of step",
        [FPO_KIND_PROMOTION] = "promotion",
        [FPO_KIND_SPLIT_KIND] = "split",
        [FPO_KIND_REDUCTION] = "reduction",
        [FPO_KIND_EPILOGUE_OP] = "epilogue operation",
        [FPO_KIND_EPILOGUE_OPERAND] = "epilogue operand",
    };
    return (unsigned)kind < FPO_KIND_COUNT ? names[kind] : NULL;
}
