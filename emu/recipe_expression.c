/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Steps back to expressions. */
#include "recipe_expression.h"

#include <stdio.h>
#include <string.h>

/* Text that is being written; what does not fit is dropped. */
typedef struct writer {
    char *text;
    size_t size, length;
    const fpo_program *program;
} writer;

static void put(writer *w, const char *text, size_t length)
{
    for (size_t i = 0; i < length && w->length + 1 < w->size; i++)
        w->text[w->length++] = text[i];
    w->text[w->length] = '\0';
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_call(writer *w, const fpo_recipe_step *step);

/* The last step before `until` that writes register r; NULL if it is an input. */
static const fpo_recipe_step *writer_of(const fpo_program *program, int r)
{
    for (int i = 0; i < program->step_count; i++) {
        if (program->steps[i].to == r)
            return &program->steps[i];
    }
    return NULL;
}

static void put_register(writer *w, int r, bool inside_operator)
{
    const fpo_register *value = &w->program->registers[r];
    const fpo_recipe_step *step = writer_of(w->program, r);
    char number[32];
    if (value->name != NULL) {
        put(w, value->name, value->name_length);
    } else if (value->constant) {
        snprintf(number, sizeof number, "%.9g", value->number);
        put_text(w, number);
    } else if (step != NULL) {
        bool parentheses = inside_operator && step->argument[1] != FPO_NO_REGISTER;
        put_text(w, parentheses ? "(" : "");
        put_call(w, step);
        put_text(w, parentheses ? ")" : "");
    }
}

static const char *function_name(const fpo_recipe_step *step)
{
    static const char *const names[] = {
#define FPO_FUNCTION(ID, name, arity, summary) name,
#include "recipe_functions.inc"
#undef FPO_FUNCTION
    };
    if (step->function == FPO_FN_ENCODE)
        return fpo_format_describe(step->format)->name;
    return names[step->function];
}

static bool is_operator(const fpo_recipe_step *step)
{
    switch ((fpo_function)step->function) {
    case FPO_FN_ADD:
    case FPO_FN_SUB:
    case FPO_FN_MUL:
    case FPO_FN_DIV:
    case FPO_FN_LT:
    case FPO_FN_LE:
    case FPO_FN_GT:
    case FPO_FN_GE:
    case FPO_FN_EQ:
    case FPO_FN_NE: return true;
    default: return false;
    }
}

static void put_call(writer *w, const fpo_recipe_step *step)
{
    if (step->function == FPO_FN_COPY) {
        put_register(w, step->argument[0], false);
    } else if (step->function == FPO_FN_SELECT) {
        put_register(w, step->argument[0], true);
        put_text(w, " ? ");
        put_register(w, step->argument[1], true);
        put_text(w, " : ");
        put_register(w, step->argument[2], true);
    } else if (step->function == FPO_FN_NEG) {
        put_text(w, "-");
        put_register(w, step->argument[0], true);
    } else if (is_operator(step)) {
        put_register(w, step->argument[0], true);
        put_text(w, " ");
        put_text(w, function_name(step));
        put_text(w, " ");
        put_register(w, step->argument[1], true);
    } else {
        put_text(w, function_name(step));
        put_text(w, "(");
        for (int i = 0; i < 3 && step->argument[i] != FPO_NO_REGISTER; i++) {
            put_text(w, i > 0 ? ", " : "");
            put_register(w, step->argument[i], false);
        }
        put_text(w, ")");
    }
}

void fpo_step_text(const fpo_program *program, const fpo_recipe_step *step, char *text, size_t size)
{
    writer w = {text, size, 0, program};
    const fpo_register *to = &program->registers[step->to];
    text[0] = '\0';
    if (to->name != NULL) {
        put(&w, to->name, to->name_length);
        put_text(&w, " = ");
    }
    put_call(&w, step);
}
