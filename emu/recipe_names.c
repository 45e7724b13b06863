/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Names that a recipe's text can use: constants, the values that the engine gives and takes, formats. */
#include "recipe_text.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* torch.finfo(dtype): eps, tiny (smallest normal number), max. */
static double dtype_constant(fpo_format dtype, char which)
{
    const fpo_format_info *info = fpo_format_describe(dtype);
    if (which == 'e')
        return ldexp(1, -info->mantissa_bits);
    if (which == 't')
        return ldexp(1, info->min_exponent);
    return fpo_decode_double(dtype, info->max_finite);
}

bool fpo_recipe_constant(const fpo_recipe_parser *p, const fpo_token *name, double *number)
{
    const struct {
        const char *name;
        double number;
    } constants[] = {
        {"inf", INFINITY},
        {"nan", NAN},
        {"flt_max", FLT_MAX},
        {"flt_min", FLT_MIN},
        {"bf16_max", fpo_decode_double(FPO_BF16, 0x7F7F)},
        {"d_eps", dtype_constant(p->dtype, 'e')},
        {"d_tiny", dtype_constant(p->dtype, 't')},
        {"d_max", dtype_constant(p->dtype, 'm')},
        {"is_f16", p->dtype == FPO_F16},
        {"is_bf16", p->dtype == FPO_BF16},
        {"is_f32", p->dtype == FPO_F32},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (fpo_token_is(name, constants[i].name)) {
            *number = constants[i].number;
            return true;
        }
    return false;
}

int16_t *fpo_recipe_slot(fpo_program *program, const fpo_token *name, bool *input, fpo_scope *scope)
{
    const struct {
        const char *name;
        int16_t *slot;
        bool input;
        fpo_scope scope;
    } slots[] = {
        {"tensor_amax", &program->tensor_amax, true, FPO_SCOPE_TENSOR},
        {"row_amax", &program->row_amax, true, FPO_SCOPE_ROW},
        {"amax", &program->amax, true, FPO_SCOPE_BLOCK},
        {"try", &program->attempt, true, FPO_SCOPE_TRY},
        {"x", &program->raw_x, true, FPO_SCOPE_INPUT},
        {"random", &program->random, true, FPO_SCOPE_ELEMENT},
        {"tensor_scale", &program->tensor_scale, false, FPO_SCOPE_TENSOR},
        {"multiplier", &program->multiplier, false, FPO_SCOPE_TENSOR},
        {"row_scale", &program->row_scale, false, FPO_SCOPE_ROW},
        {"row_multiplier", &program->row_multiplier, false, FPO_SCOPE_ROW},
        {"scale", &program->scale, false, FPO_SCOPE_TRY},
        {"code", &program->code, false, FPO_SCOPE_ELEMENT},
        {"error", &program->error, false, FPO_SCOPE_ERROR},
    };
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (fpo_token_is(name, slots[i].name)) {
            *input = slots[i].input;
            *scope = slots[i].scope;
            return slots[i].slot;
        }
    return NULL;
}

/* One modifier behind a format's name. */
static bool modify(const fpo_token *word, fpo_recipe_step *step)
{
    fpo_cast *cast = &step->cast;
    if (fpo_token_is(word, "away"))
        cast->rounding = FPO_NEAREST_AWAY; /* ties away from zero */
    else if (fpo_token_is(word, "down"))
        cast->rounding = FPO_NEAREST_TOWARD_ZERO; /* ties toward zero */
    else if (fpo_token_is(word, "rz"))
        cast->rounding = FPO_TOWARD_ZERO;
    else if (fpo_token_is(word, "rp"))
        cast->rounding = FPO_AWAY_FROM_ZERO;
    else if (fpo_token_is(word, "rs"))
        cast->rounding = FPO_STOCHASTIC; /* fpo_draw_bits */
    else if (fpo_token_is(word, "nosat"))
        cast->overflow = cast->infinity = FPO_NON_FINITE;
    else if (fpo_token_is(word, "inf"))
        cast->infinity = FPO_NON_FINITE;
    else if (fpo_token_is(word, "no_minus_zero"))
        cast->drop_negative_zero = true;
    else
        return false;
    return true;
}

bool fpo_recipe_format(fpo_recipe_parser *p, const fpo_token *name, fpo_recipe_step *step)
{
    char word[16] = {0};
    size_t end = 0;
    while (end < name->length && name->text[end] != '.')
        end++;
    if (end >= sizeof word)
        return false;
    memcpy(word, name->text, end);
    step->format = fpo_format_by_name(word);
    if (step->format == FPO_FORMAT_COUNT || step->format == FPO_FORMAT_NONE || step->format == FPO_F32 ||
        step->format == FPO_TF32)
        return false;
    step->cast = *fpo_cast_describe(FPO_CAST_PTX);
    if (step->format == FPO_F16 || step->format == FPO_BF16)
        step->cast = *fpo_cast_describe(FPO_CAST_IEEE);
    while (end < name->length) {
        size_t begin = ++end;
        while (end < name->length && name->text[end] != '.')
            end++;
        fpo_token part = {.text = name->text + begin, .length = end - begin};
        if (!modify(&part, step))
            fpo_recipe_complain(p, "no such way to round: '%.*s'", (int)part.length, part.text);
    }
    return true;
}
