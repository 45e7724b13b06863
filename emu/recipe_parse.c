/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The text of a recipe to a program: a recursive descent over the grammar of docs/recipes.md. A name is bound anew at
 * each assignment, so that every register has one value. */
#include "recipe_text.h"

#include <string.h>

static int parse_expression(fpo_recipe_parser *p);

static bool accept(fpo_recipe_parser *p, const char *symbol)
{
    if (p->token.kind != FPO_TOKEN_SYMBOL || !fpo_token_is(&p->token, symbol))
        return false;
    fpo_token_next(p);
    return true;
}

static void expect(fpo_recipe_parser *p, const char *symbol)
{
    if (!accept(p, symbol))
        fpo_recipe_complain(p, "expected '%s'", symbol);
}

static int new_register(fpo_recipe_parser *p, fpo_scope scope)
{
    fpo_program *program = p->program;
    if (program->register_count == FPO_REGISTERS) {
        fpo_recipe_complain(p, "more than %d values", FPO_REGISTERS);
        return 0;
    }
    program->registers[program->register_count] = (fpo_register){.scope = (uint8_t)scope};
    return program->register_count++;
}

static int constant(fpo_recipe_parser *p, double number)
{
    int r = new_register(p, FPO_SCOPE_TENSOR);
    p->program->registers[r].constant = true;
    p->program->registers[r].number = number;
    return r;
}

static void bind_name(fpo_recipe_parser *p, int r, const fpo_token *name)
{
    p->program->registers[r].name = name->text;
    p->program->registers[r].name_length = (uint8_t)name->length;
}

/* How often a step's value changes, from its arguments: block values and elements meet per element. */
static fpo_scope scope_of(const fpo_recipe_parser *p, const int16_t *arguments, int count)
{
    fpo_scope widest = FPO_SCOPE_TENSOR;
    bool elements = false;
    for (int i = 0; i < count; i++) {
        fpo_scope scope = (fpo_scope)p->program->registers[arguments[i]].scope;
        elements = elements || scope == FPO_SCOPE_INPUT || scope >= FPO_SCOPE_ELEMENT;
        widest = scope > widest ? scope : widest;
    }
    if (!elements)
        return widest;
    if (p->scope == FPO_SCOPE_INPUT)
        return FPO_SCOPE_INPUT;
    return p->scope == FPO_SCOPE_ERROR ? FPO_SCOPE_ERROR : FPO_SCOPE_ELEMENT;
}

static fpo_recipe_step *add_step(fpo_recipe_parser *p, fpo_function function, const int16_t *arguments, int count)
{
    fpo_program *program = p->program;
    fpo_recipe_step *step = &p->spare;
    if (program->step_count == FPO_RECIPE_STEPS)
        fpo_recipe_complain(p, "more than %d steps", FPO_RECIPE_STEPS);
    else
        step = &program->steps[program->step_count++];
    *step = (fpo_recipe_step){.function = (uint8_t)function, .ftz = p->ftz, .f64 = p->f64};
    for (int i = 0; i < 3; i++)
        step->argument[i] = i < count ? arguments[i] : FPO_NO_REGISTER;
    step->scope = (uint8_t)scope_of(p, arguments, count);
    if (step->f64 && step->scope != FPO_SCOPE_TENSOR)
        fpo_recipe_complain(p, "f64 is for values of the whole tensor");
    step->to = (int16_t)new_register(p, (fpo_scope)step->scope);
    return step;
}

static int apply(fpo_recipe_parser *p, fpo_function function, int a, int b)
{
    int16_t arguments[2] = {(int16_t)a, (int16_t)b};
    return add_step(p, function, arguments, b == FPO_NO_REGISTER ? 1 : 2)->to;
}

static const struct {
    const char *name;
    int arity;
} functions[FPO_FN_COUNT] = {
#define FPO_FUNCTION(ID, name, arity, summary) {name, arity},
#include "recipe_functions.inc"
#undef FPO_FUNCTION
};

/* name(a, b, ...): a function of the vocabulary, D, or a format. */
static int parse_call(fpo_recipe_parser *p, fpo_token name)
{
    int16_t arguments[3] = {0};
    int count = 0;
    do {
        int r = parse_expression(p);
        if (count < 3)
            arguments[count] = (int16_t)r;
        count++;
    } while (accept(p, ","));
    expect(p, ")");

    fpo_recipe_step format = {0};
    fpo_function function = FPO_FN_COUNT;
    int arity = 1;
    if (fpo_token_is(&name, "D")) {
        function = p->dtype == FPO_F32 ? FPO_FN_COPY : FPO_FN_ENCODE;
        format.format = p->dtype;
        format.cast = *fpo_cast_describe(FPO_CAST_IEEE);
    } else if (fpo_recipe_format(p, &name, &format)) {
        function = FPO_FN_ENCODE;
    } else {
        for (int f = 0; f < FPO_FN_COUNT; f++)
            if (fpo_token_is(&name, functions[f].name)) {
                function = (fpo_function)f;
                arity = functions[f].arity;
            }
        format.format = p->view->scale.format;
        format.cast = *fpo_scale_cast();
    }
    if (function == FPO_FN_COUNT || count != arity) {
        fpo_recipe_complain(p, "no function %.*s of %d arguments", (int)name.length, name.text, count);
        return 0;
    }
    if (function == FPO_FN_HADAMARD && p->scope != FPO_SCOPE_INPUT)
        fpo_recipe_complain(p, "hadamard transforms the input: it belongs under input:");
    if (function == FPO_FN_HADAMARD && p->ftz)
        fpo_recipe_complain(p, "hadamard is not known to flush subnormals: ftz; comes later");
    fpo_recipe_step *step = add_step(p, function, arguments, count);
    step->format = format.format;
    step->cast = format.cast;
    if (function == FPO_FN_ENCODE && step->cast.rounding == FPO_STOCHASTIC && step->scope != FPO_SCOPE_ELEMENT)
        fpo_recipe_complain(p, "only elements are rounded with random bits");
    return step->to;
}

static int parse_name(fpo_recipe_parser *p)
{
    fpo_token name = p->token;
    fpo_program *program = p->program;
    fpo_token_next(p);
    if (accept(p, "("))
        return parse_call(p, name);
    for (int r = program->register_count; r-- > 0;) {
        const fpo_register *known = &program->registers[r];
        bool raw = r == program->raw_x && p->scope > FPO_SCOPE_INPUT;
        if (known->name != NULL && !raw && known->name_length == name.length &&
            memcmp(known->name, name.text, name.length) == 0)
            return r;
    }
    double number;
    if (fpo_recipe_constant(p, &name, &number))
        return constant(p, number);
    bool input;
    fpo_scope scope;
    int16_t *slot = fpo_recipe_slot(program, &name, &input, &scope);
    if (slot == NULL || !input) {
        fpo_recipe_complain(p, "'%.*s' has no value here", (int)name.length, name.text);
        return 0;
    }
    if (slot == &program->random && p->scope != FPO_SCOPE_ELEMENT)
        fpo_recipe_complain(p, "random belongs under element:");
    /* x is the raw input under `input:`; later it is what came out there, or the same input again. */
    if (slot == &program->raw_x && p->scope > FPO_SCOPE_INPUT) {
        slot = &program->x;
        scope = FPO_SCOPE_ELEMENT;
    }
    int r = new_register(p, scope);
    bind_name(p, r, &name);
    *slot = (int16_t)r;
    return r;
}

static int parse_primary(fpo_recipe_parser *p)
{
    if (p->token.kind == FPO_TOKEN_NAME)
        return parse_name(p);
    if (p->token.kind == FPO_TOKEN_NUMBER) {
        int r = constant(p, p->f64 ? p->token.number : (double)(float)p->token.number);
        fpo_token_next(p);
        return r;
    }
    int r = 0;
    if (accept(p, "(")) {
        r = parse_expression(p);
        expect(p, ")");
    } else {
        fpo_recipe_complain(p, "expected a value");
    }
    return r;
}

static int parse_unary(fpo_recipe_parser *p)
{
    bool negative = false;
    while (accept(p, "-"))
        negative = !negative;
    int r = parse_primary(p);
    if (!negative)
        return r;
    fpo_register *value = &p->program->registers[r];
    if (value->constant && value->name == NULL) {
        value->number = -value->number;
        return r;
    }
    return apply(p, FPO_FN_NEG, r, FPO_NO_REGISTER);
}

static int parse_product(fpo_recipe_parser *p)
{
    int r = parse_unary(p);
    for (;;) {
        if (accept(p, "*"))
            r = apply(p, FPO_FN_MUL, r, parse_unary(p));
        else if (accept(p, "/"))
            r = apply(p, FPO_FN_DIV, r, parse_unary(p));
        else
            return r;
    }
}

static int parse_sum(fpo_recipe_parser *p)
{
    int r = parse_product(p);
    for (;;) {
        if (accept(p, "+"))
            r = apply(p, FPO_FN_ADD, r, parse_product(p));
        else if (accept(p, "-"))
            r = apply(p, FPO_FN_SUB, r, parse_product(p));
        else
            return r;
    }
}

static int parse_expression(fpo_recipe_parser *p)
{
    if (++p->depth > 32)
        fpo_recipe_complain(p, "expressions nested too deeply");
    int r = parse_sum(p);
    for (int f = FPO_FN_LT; f <= FPO_FN_NE; f++)
        if (accept(p, functions[f].name)) {
            r = apply(p, (fpo_function)f, r, parse_sum(p));
            break;
        }
    if (accept(p, "?")) {
        int16_t arguments[3] = {(int16_t)r, (int16_t)parse_expression(p)};
        expect(p, ":");
        arguments[2] = (int16_t)parse_expression(p);
        r = add_step(p, FPO_FN_SELECT, arguments, 3)->to;
    }
    p->depth--;
    return r;
}

/* name = expression; `f64` values are rounded to f32 where they leave the tensor's scope. */
static void parse_assignment(fpo_recipe_parser *p, fpo_token name)
{
    fpo_program *program = p->program;
    int r = parse_expression(p);
    if (p->status != FPO_OK)
        return;
    fpo_register *value = &program->registers[r];
    if (value->name != NULL || value->constant)
        r = apply(p, FPO_FN_COPY, r, FPO_NO_REGISTER);
    bind_name(p, r, &name);
    bool input;
    fpo_scope scope;
    int16_t *slot = fpo_recipe_slot(program, &name, &input, &scope);
    if (slot == &program->raw_x && p->scope == FPO_SCOPE_INPUT) {
        program->x = (int16_t)r;
    } else if (slot != NULL && !input) {
        if (program->registers[r].scope > scope)
            fpo_recipe_complain(p, "'%.*s' changes more often than it may", (int)name.length, name.text);
        *slot = (int16_t)r;
    }
}

static int64_t parse_count(fpo_recipe_parser *p, int64_t largest)
{
    double number = p->token.kind == FPO_TOKEN_NUMBER ? p->token.number : -1;
    int64_t count = number >= 0 && number <= (double)largest ? (int64_t)number : -1;
    if (count < 0 || (double)count != number)
        fpo_recipe_complain(p, "expected an integer up to %lld", (long long)largest);
    fpo_token_next(p);
    return count;
}

/* Behind a scope's name: `block 16, 16:` (rows and K of the amax), `try 1, 1.5:`, `error 8:`, `error fma:`, `error
 * max:`. */
static void parse_label(fpo_recipe_parser *p, fpo_scope scope)
{
    fpo_program *program = p->program;
    if (scope < p->scope)
        fpo_recipe_complain(p, "the parts of a recipe come in the order tensor row input block try element error");
    p->scope = scope;
    if (scope == FPO_SCOPE_BLOCK && p->token.kind == FPO_TOKEN_NUMBER) {
        program->amax_rows = (int)parse_count(p, 1024);
        expect(p, ",");
        program->amax_k = (int)parse_count(p, 1024);
    } else if (scope == FPO_SCOPE_TRY) {
        do {
            double sign = accept(p, "-") ? -1 : 1;
            if (p->token.kind != FPO_TOKEN_NUMBER || program->try_count == FPO_TRIES)
                fpo_recipe_complain(p, "expected 1 to %d numbers", FPO_TRIES);
            else
                program->tries[program->try_count++] = (float)(sign * p->token.number);
            fpo_token_next(p);
        } while (accept(p, ","));
    } else if (scope == FPO_SCOPE_ERROR && p->token.kind == FPO_TOKEN_NAME) {
        program->error_fma = fpo_token_is(&p->token, "fma");
        program->error_max = fpo_token_is(&p->token, "max");
        if (!program->error_fma && !program->error_max)
            fpo_recipe_complain(p, "errors are added in order, in chunks of a number, by fma, or max is taken");
        fpo_token_next(p);
    } else if (scope == FPO_SCOPE_ERROR && p->token.kind == FPO_TOKEN_NUMBER) {
        program->error_chunk = (int)parse_count(p, 1024);
    }
    program->error_ftz = p->ftz;
    expect(p, ":");
}

static bool parse_mode(fpo_recipe_parser *p, const fpo_token *word)
{
    static const char *const rules[] = {"nan_wins", "nan_loses", "even_odd", "nan_zero"};
    for (int rule = 0; rule < (int)(sizeof rules / sizeof *rules); rule++)
        if (fpo_token_is(word, rules[rule])) {
            for (int scope = p->scope; scope < FPO_SCOPE_COUNT; scope++)
                p->program->amax_rule[scope] = (fpo_amax_rule)rule;
            if (rule == FPO_AMAX_EVEN_ODD) /* a thread's rule for a block; of more, many threads' are joined */
                for (int scope = p->scope; scope < FPO_SCOPE_BLOCK; scope++)
                    p->program->amax_rule[scope] = FPO_AMAX_NAN_LOSES;
            return true;
        }
    static const char *const draws[FPO_DRAW_COUNT] = {"index_bits", "te_row_bits", "te_row_bits_of_both",
                                                      "te_column_bits", "te_row_bits_cvt"};
    for (int rule = 0; rule < FPO_DRAW_COUNT; rule++)
        if (fpo_token_is(word, draws[rule])) {
            p->program->draw_rule = (fpo_draw_rule)rule;
            return true;
        }
    bool ftz = fpo_token_is(word, "ftz"), f64 = fpo_token_is(word, "f64");
    if (!ftz && !f64 && !fpo_token_is(word, "ieee"))
        return false;
    p->ftz = ftz;
    p->f64 = f64;
    return true;
}

static void parse_item(fpo_recipe_parser *p)
{
    static const char *const scopes[FPO_SCOPE_COUNT] = {"tensor", "row", "input", "block", "try", "element", "error"};
    fpo_token name = p->token;
    if (name.kind != FPO_TOKEN_NAME) {
        fpo_recipe_complain(p, "expected a name");
        return;
    }
    fpo_token_next(p);
    if (accept(p, "=")) {
        parse_assignment(p, name);
        return;
    }
    if (parse_mode(p, &name))
        return;
    for (int scope = 0; scope < FPO_SCOPE_COUNT; scope++)
        if (fpo_token_is(&name, scopes[scope])) {
            parse_label(p, (fpo_scope)scope);
            return;
        }
    fpo_recipe_complain(p, "'%.*s' is no part of a recipe", (int)name.length, name.text);
}

/* What the engine cannot do without. */
static void check(fpo_recipe_parser *p)
{
    fpo_program *program = p->program;
    bool needs_scale = p->view->scale.format != FPO_FORMAT_NONE;
    if (program->code == FPO_NO_REGISTER)
        fpo_recipe_complain(p, "nothing is assigned to code");
    if (needs_scale && program->scale == FPO_NO_REGISTER)
        fpo_recipe_complain(p, "nothing is assigned to scale");
    if ((program->try_count > 0) != (program->error != FPO_NO_REGISTER))
        fpo_recipe_complain(p, "a search needs both try: and an error");
    bool element = program->x != FPO_NO_REGISTER && program->registers[program->x].scope >= FPO_SCOPE_INPUT;
    if (!element)
        fpo_recipe_complain(p, "the codes do not depend on x");
}

fpo_status fpo_recipe_compile(const char *text, const fpo_operand_view *view, fpo_format dtype, fpo_program *program,
                              fpo_error *error)
{
    memset(program, 0, sizeof *program);
    int16_t *slots[] = {
        &program->tensor_amax,    &program->row_amax, &program->amax,       &program->raw_x,        &program->x,
        &program->random,         &program->attempt,  &program->multiplier, &program->tensor_scale, &program->row_scale,
        &program->row_multiplier, &program->scale,    &program->code,       &program->error};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        *slots[i] = FPO_NO_REGISTER;
    fpo_recipe_parser p = {.text = text, .at = text, .program = program, .view = view, .dtype = dtype, .error = error};
    fpo_token_next(&p);
    while (p.token.kind != FPO_TOKEN_END) {
        parse_item(&p);
        while (accept(&p, ";"))
            continue;
    }
    if (p.status == FPO_OK)
        check(&p);
    return p.status;
}
