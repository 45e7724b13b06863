/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A program with fewer passes over the elements and the same bits. */
#include "quantizer.h"

#include <math.h>
#include <string.h>

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

/* Of `y != y ? 0 : z`: y, and z to *other; else FPO_NO_REGISTER. */
static int nan_to_zero(const fpo_program *program, int r, int *other)
{
    const fpo_recipe_step *choice = maker(program, r);
    if (choice == NULL || choice->function != FPO_FN_SELECT || !is_constant(program, choice->argument[1]))
        return FPO_NO_REGISTER;
    const fpo_recipe_step *test = maker(program, choice->argument[0]);
    float number = (float)program->registers[choice->argument[1]].number;
    bool zero = number == 0 && !signbit(number);
    bool is_nan = test != NULL && test->function == FPO_FN_NE && test->argument[0] == test->argument[1];
    if (!zero || !is_nan || test->scope != choice->scope)
        return FPO_NO_REGISTER;
    *other = choice->argument[2];
    return test->argument[0];
}

/* A rounding to nearest whose format has no NaN, and makes its largest number of one. */
static bool has_no_nan(const fpo_recipe_step *step)
{
    return step != NULL && step->function == FPO_FN_ENCODE && step->cast.no_nan == FPO_NO_NAN_LARGEST &&
           fpo_format_describe(step->format)->specials == FPO_SPECIALS_NONE &&
           step->cast.rounding <= FPO_NEAREST_TOWARD_ZERO;
}

/* `e2m1(y != y ? 0 : y)`: the rounding itself makes zero of NaN. */
static void take_nan_to_zero(const fpo_program *program, fpo_recipe_step *encode)
{
    int other, y = nan_to_zero(program, encode->argument[0], &other);
    if (y == FPO_NO_REGISTER || other != y || !has_no_nan(encode))
        return;
    encode->argument[0] = (int16_t)y;
    encode->cast.no_nan = FPO_NO_NAN_ZERO;
}

/* y of |y|, else r. */
static int without_sign(const fpo_program *program, int r)
{
    const fpo_recipe_step *step = maker(program, r);
    return step != NULL && step->function == FPO_FN_ABS ? step->argument[0] : r;
}

/* `y != y ? 0 : e2m1(y)` or `... e2m1(abs(y))`: the choice becomes such a rounding. */
static void take_nan_to_zero_after(const fpo_program *program, fpo_recipe_step *choice)
{
    int encoded, y = nan_to_zero(program, choice->to, &encoded);
    const fpo_recipe_step *encode = y == FPO_NO_REGISTER ? NULL : maker(program, encoded);
    if (!has_no_nan(encode) || without_sign(program, encode->argument[0]) != y || encode->scope != choice->scope)
        return;
    int16_t to = choice->to;
    *choice = *encode;
    choice->to = to;
    choice->cast.no_nan = FPO_NO_NAN_ZERO;
}

/* Room for a step before step i, which makes a register of its own; false: there is none. */
static bool insert_step(fpo_program *program, int i)
{
    if (program->step_count == FPO_RECIPE_STEPS || program->register_count == FPO_REGISTERS)
        return false;
    memmove(&program->steps[i + 1], &program->steps[i], (size_t)(program->step_count++ - i) * sizeof *program->steps);
    int r = program->register_count++;
    program->registers[r] = (fpo_register){.scope = program->steps[i].scope};
    program->steps[i].to = (int16_t)r;
    return true;
}

/* `signed(e2m1(abs(y)), condition)`: y gets the sign first, and is rounded with it. */
static void sign_before_rounding(fpo_program *program, int i)
{
    const fpo_recipe_step sign = program->steps[i];
    const fpo_recipe_step *made = maker(program, sign.argument[0]);
    if (sign.function != FPO_FN_SIGNED || made == NULL || made->function != FPO_FN_ENCODE)
        return;
    fpo_recipe_step encode = *made;
    bool largest = encode.cast.no_nan == FPO_NO_NAN_LARGEST, zero = encode.cast.no_nan == FPO_NO_NAN_ZERO;
    const fpo_format_info *format = fpo_format_describe(encode.format);
    int y = without_sign(program, encode.argument[0]);
    bool symmetric = encode.cast.rounding <= FPO_NEAREST_TOWARD_ZERO && !encode.cast.drop_negative_zero;
    if (format->specials != FPO_SPECIALS_NONE || format->sign_bits == 0 || !(largest || zero) || !symmetric ||
        y == encode.argument[0] || encode.scope != sign.scope || !insert_step(program, i))
        return;
    program->steps[i].argument[0] = (int16_t)y;
    encode.argument[0] = program->steps[i].to;
    encode.to = sign.to;
    encode.cast.no_nan = largest ? FPO_NO_NAN_LARGEST_SIGNED : FPO_NO_NAN_ZERO_SIGNED;
    program->steps[i + 1] = encode;
}

/* A constant comes second, where loops know it as one. */
static void constant_second(const fpo_program *program, fpo_recipe_step *step)
{
    bool commutes = step->function == FPO_FN_MUL || step->function == FPO_FN_ADD;
    if (!commutes || !is_constant(program, step->argument[0]) || is_constant(program, step->argument[1]))
        return;
    int16_t constant = step->argument[0];
    step->argument[0] = step->argument[1];
    step->argument[1] = constant;
}

void fpo_simplify(fpo_program *program)
{
    int16_t same[FPO_REGISTERS];
    for (int r = 0; r < FPO_REGISTERS; r++)
        same[r] = (int16_t)r;
    for (int i = 0; i < program->step_count; i++) {
        fpo_recipe_step *step = &program->steps[i];
        if (step->scope < FPO_SCOPE_BLOCK)
            continue;
        for (int a = 0; a < 3; a++)
            if (step->argument[a] != FPO_NO_REGISTER)
                step->argument[a] = same[step->argument[a]];
        same[step->to] = (int16_t)same_as(program, step);
        constant_second(program, step);
        if (step->function == FPO_FN_ENCODE)
            for (int r = FPO_NO_REGISTER; r != step->argument[0];) {
                r = step->argument[0];
                step->argument[0] = (int16_t)without_clamp(program, step, r);
            }
        if (step->function == FPO_FN_ENCODE)
            take_nan_to_zero(program, step);
        take_nan_to_zero_after(program, step);
        sign_before_rounding(program, i);
    }
    /* What is stored may be any register of the elements; the others keep their copies. */
    if (program->registers[same[program->code]].scope == FPO_SCOPE_ELEMENT)
        program->code = same[program->code];
}
