/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Calls. A function's body is put in the place of the call, in scopes of its own, so that the machine knows no calls.
 * What is handed over lies in the caller's local memory (.param variables), where the function finds it under its own
 * names. */
#include "parse.h"

#include <string.h>

enum { DEEPEST = 24, MOST_ARGUMENTS = 64 };

const fpo_ptx_variable *fpo_ptx_local_variable(const fpo_ptx_builder *b, const char *name)
{
    for (const fpo_ptx_scope *scope = b->scope; scope != NULL; scope = scope->outer)
        for (uint32_t i = 0; i < b->variable_count; i++)
            if (b->variables[i].scope == scope && strcmp(b->variables[i].name, name) == 0)
                return &b->variables[i];
    for (uint32_t i = 0; i < b->variable_count; i++)
        if (b->variables[i].scope == NULL && strcmp(b->variables[i].name, name) == 0)
            return &b->variables[i];
    return NULL;
}

typedef struct call {
    const char *name;
    fpo_ptx_variable given[MOST_ARGUMENTS]; /* results, then arguments */
    uint32_t result_count, count;
    uint32_t line;
} call;

/* `(a, b)`, variables of the caller. */
static void parse_given(fpo_ptx_builder *b, call *c)
{
    fpo_ptx_parse *parse = b->parse;
    fpo_ptx_expect(parse, "(");
    for (bool first = true; !fpo_ptx_accept(parse, ")"); first = false) {
        if (!first)
            fpo_ptx_expect(parse, ",");
        const char *name = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
        const fpo_ptx_variable *v = fpo_ptx_local_variable(b, name);
        if (v == NULL || v->space != FPO_PTX_V_LOCAL || c->count == MOST_ARGUMENTS)
            fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, c->line, "a call with `%s`, which is no .param variable", name);
        c->given[c->count++] = *v;
        fpo_ptx_next(parse);
    }
}

static bool fits(const call *c, const fpo_ptx_function *f)
{
    if (c->result_count != f->result_count || c->count != f->parameter_count)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->given[i].size != f->parameters[i].size)
            return false;
    return true;
}

static void put_body(fpo_ptx_builder *b, const call *c, const fpo_ptx_function *f)
{
    fpo_ptx_parse *parse = b->parse, saved = *parse;
    fpo_ptx_scope *caller = b->scope;
    if (b->call_depth == DEEPEST)
        fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, c->line, "calls of %s that are deeper than %d: recursion", f->name,
                     DEEPEST);
    if (!fits(c, f))
        fpo_ptx_fail(parse, FPO_ERR_FILE, c->line, "a call of %s with other parameters than it has", f->name);
    b->call_depth++;
    b->scope = NULL;
    fpo_ptx_open_scope(b);
    for (uint32_t i = 0; i < c->count; i++) {
        fpo_ptx_variable v = c->given[i];
        v.name = f->parameters[i].name;
        v.scope = b->scope;
        b->variables = fpo_ptx_grow(parse, b->variables, b->variable_count, sizeof *b->variables);
        b->variables[b->variable_count++] = v;
    }
    fpo_ptx_start(parse, f->body, f->body_end, f->body_line);
    fpo_ptx_expect(parse, "{");
    fpo_ptx_scope *outermost = b->scope;
    fpo_ptx_open_scope(b);
    while (fpo_ptx_parse_statement(b) && b->scope != outermost)
        if (parse->token.kind == 0)
            fpo_ptx_fail(parse, FPO_ERR_FILE, parse->line, "the body of %s does not end", f->name);
    fpo_ptx_declare_label(b, "end of the function", strlen("end of the function"), c->line);
    b->call_depth--;
    b->scope = caller;
    parse->at = saved.at;
    parse->end = saved.end;
    parse->line = saved.line;
    parse->token = saved.token;
}

/* Functions that CUDA has and no module: an instruction whose operands are the addresses of what is handed over. */
static bool put_system_call(fpo_ptx_builder *b, const call *c)
{
    static const struct {
        const char *name, *opcode;
        uint32_t count;
    } functions[] = {{"vprintf", "call.vprintf", 3}, {"__assertfail", "call.__assertfail", 5}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, c->name) != 0 || functions[i].count != c->count)
            continue;
        fpo_ptx_node *nodes = fpo_ptx_take(b->parse, c->count * sizeof *nodes);
        for (uint32_t k = 0; k < c->count; k++) {
            fpo_ptx_node *base = fpo_ptx_take(b->parse, sizeof *base);
            *base = (fpo_ptx_node){.kind = FPO_NODE_SYMBOL, .text = c->given[k].name};
            nodes[k] = (fpo_ptx_node){.kind = FPO_NODE_ADDRESS, .children = base, .child_count = 1};
        }
        fpo_ptx_decode(b, functions[i].opcode, NULL, nodes, c->count, NULL, c->line);
        return true;
    }
    return false;
}

void fpo_ptx_parse_call(fpo_ptx_builder *b, const fpo_ptx_node *guard)
{
    fpo_ptx_parse *parse = b->parse;
    call c = {.line = parse->token.line};
    if (fpo_ptx_is(parse, "(")) {
        parse_given(b, &c);
        fpo_ptx_expect(parse, ",");
    }
    c.result_count = c.count;
    c.name = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
    fpo_ptx_next(parse);
    if (fpo_ptx_accept(parse, ","))
        parse_given(b, &c);
    if (!fpo_ptx_is(parse, ";"))
        fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, c.line, "a call through a pointer (`%s`)", c.name);
    const fpo_ptx_function *f = fpo_ptx_find_function(b->module, c.name);
    bool known = f != NULL && f->body != NULL;
    /* A guarded call is jumped over. */
    fpo_ptx_node otherwise = guard != NULL ? *guard : (fpo_ptx_node){0};
    otherwise.negated = !otherwise.negated;
    fpo_ptx_open_scope(b);
    if (guard != NULL)
        fpo_ptx_decode(b, "bra", &otherwise, NULL, 0, "after the call", c.line);
    if (known)
        put_body(b, &c, f);
    else if (!put_system_call(b, &c))
        fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, c.line, "a call of %s, which the module does not have", c.name);
    fpo_ptx_declare_label(b, "after the call", strlen("after the call"), c.line);
    b->scope = b->scope->outer;
    fpo_ptx_expect(parse, ";");
}
