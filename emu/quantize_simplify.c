/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A program with fewer passes over the elements and the same bits. */
#include "quantizer.h"

#include <math.h>

/* The step that makes register r; every register is made once. */
static const fpo_recipe_step *maker(const fpo_program *program, int r)
{
    for (int i = 0; i < program->step_count; i++)
        if (program->steps[i].to == r)
            return &program->steps[i];
    return NULL;
}

static bool is_constant(const fpo_program *program, int r)
{
    return r != FPO_NO_REGISTER && program->registers[r].constant;
}

/* The register that has the step's result already: of a copy, and of a choice that the input's dtype makes. */
static int same_as(const fpo_program *program, const fpo_recipe_step *step)
{
    if (step->function == FPO_FN_COPY)
        return step->argument[0];
    if (step->function == FPO_FN_SELECT && is_constant(program, step->argument[0]))
        return step->argument[(float)program->registers[step->argument[0]].number != 0 ? 1 : 2];
    return step->to;
}

/* min(x, c) or max(x, c) before a rounding that saturates at c or before: x, for the same code. Both keep NaN; a number
 * that they flush is rounded to a zero of its sign. */
static int without_clamp(const fpo_program *program, const fpo_recipe_step *encode, int r)
{
    const fpo_format_info *format = fpo_format_describe(encode->format);
    const fpo_recipe_step *step = maker(program, r);
    bool saturates = encode->cast.overflow == FPO_SATURATE && encode->cast.infinity == FPO_SATURATE;
    bool nearest = encode->cast.rounding == FPO_NEAREST_EVEN || encode->cast.rounding == FPO_NEAREST_AWAY;
    if (!saturates || !nearest || format->sign_bits == 0 || format->bits > 8 || step == NULL ||
        step->scope != encode->scope || !is_constant(program, step->argument[1]))
        return r;
    double largest = fpo_decode_double(encode->format, format->max_finite);
    double limit = program->registers[step->argument[1]].number;
    bool idle =
        (step->function == FPO_FN_MIN && limit >= largest) || (step->function == FPO_FN_MAX && limit <= -largest);
    return idle ? step->argument[0] : r;
}

/* y of `y != y ? 0 : y`; else FPO_NO_REGISTER. */
static int nan_to_zero(const fpo_program *program, int r)
{
    const fpo_recipe_step *choice = maker(program, r);
    if (choice == NULL || choice->function != FPO_FN_SELECT || !is_constant(program, choice->argument[1]))
        return FPO_NO_REGISTER;
    const fpo_recipe_step *test = maker(program, choice->argument[0]);
    int y = choice->argument[2];
    float number = (float)program->registers[choice->argument[1]].number;
    bool zero = number == 0 && !signbit(number);
    bool is_nan = test != NULL && test->function == FPO_FN_NE && test->argument[0] == y && test->argument[1] == y;
    return zero && is_nan && test->scope == choice->scope ? y : FPO_NO_REGISTER;
}

/* A format without NaN: the rounding itself makes zero of it. */
static void take_nan_to_zero(const fpo_program *program, fpo_recipe_step *encode)
{
    int y = nan_to_zero(program, encode->argument[0]);
    bool no_nan = fpo_format_describe(encode->format)->specials == FPO_SPECIALS_NONE;
    if (y == FPO_NO_REGISTER || !no_nan || encode->cast.no_nan != FPO_NO_NAN_LARGEST)
        return;
    encode->argument[0] = (int16_t)y;
    encode->cast.no_nan = FPO_NO_NAN_ZERO;
}

void fpo_simplify(fpo_program *program)
{
    int16_t same[FPO_REGISTERS];
    for (int r = 0; r < program->register_count; r++)
        same[r] = (int16_t)r;
    for (int i = 0; i < program->step_count; i++) {
        fpo_recipe_step *step = &program->steps[i];
        if (step->scope < FPO_SCOPE_BLOCK)
            continue;
        for (int a = 0; a < 3; a++)
            if (step->argument[a] != FPO_NO_REGISTER)
                step->argument[a] = same[step->argument[a]];
        same[step->to] = (int16_t)same_as(program, step);
        if (step->function == FPO_FN_ENCODE)
            for (int r = FPO_NO_REGISTER; r != step->argument[0];) {
                r = step->argument[0];
                step->argument[0] = (int16_t)without_clamp(program, step, r);
            }
        if (step->function == FPO_FN_ENCODE)
            take_nan_to_zero(program, step);
    }
    /* What is stored may be any register of the elements; the others keep their copies. */
    if (program->registers[same[program->code]].scope == FPO_SCOPE_ELEMENT)
        program->code = same[program->code];
}
