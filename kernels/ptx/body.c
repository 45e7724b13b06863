/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The body of a kernel: scopes, declarations, labels, statements. Inline asm opens scopes of its own, with registers
 * and labels that others may have too. */
#include "parse.h"

#include <string.h>

void fpo_ptx_open_scope(fpo_ptx_builder *b)
{
    fpo_ptx_scope *scope = fpo_ptx_take(b->parse, sizeof *scope);
    scope->outer = b->scope;
    b->scope = scope;
}

static void declare_registers(fpo_ptx_builder *b)
{
    fpo_ptx_parse *parse = b->parse;
    fpo_ptx_token token = parse->token;
    fpo_ptx_type type = token.kind == 'w' ? fpo_ptx_type_by_name(token.text + 1, token.length - 1) : FPO_PTX_TYPE_COUNT;
    if (type == FPO_PTX_TYPE_COUNT)
        fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, token.line, "registers of type `%.*s`", (int)token.length, token.text);
    unsigned bytes = fpo_ptx_type_bytes(type);
    do {
        fpo_ptx_next(parse);
        if (parse->token.kind != 'w')
            fpo_ptx_fail(parse, FPO_ERR_FILE, parse->token.line, "the name of a register expected");
        fpo_ptx_declared *d = fpo_ptx_take(parse, sizeof *d);
        d->name = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
        d->length = parse->token.length;
        d->first = b->register_count;
        fpo_ptx_next(parse);
        if (fpo_ptx_accept(parse, "<")) {
            uint64_t count = fpo_ptx_unsigned(parse);
            fpo_ptx_expect(parse, ">");
            if (count == 0 || count > 1000000)
                fpo_ptx_fail(parse, FPO_ERR_FILE, token.line, "%llu registers %s", (unsigned long long)count, d->name);
            d->count = (uint32_t)count;
            for (uint32_t i = 0; i < d->count; i++)
                fpo_ptx_new_register(b, d->name, (int32_t)i, bytes);
        } else {
            fpo_ptx_new_register(b, d->name, -1, bytes);
        }
        d->next = b->scope->registers;
        b->scope->registers = d;
    } while (fpo_ptx_is(parse, ","));
    fpo_ptx_expect(parse, ";");
}

/* `end` is advanced past a variable that is placed there. */
static uint64_t place(fpo_ptx_builder *b, uint32_t *end, const fpo_ptx_variable *v)
{
    uint64_t start = ((uint64_t)*end + v->align - 1) / v->align * v->align;
    if (start + v->size > UINT32_MAX / 2)
        fpo_ptx_fail(b->parse, FPO_ERR_FILE, v->line, "variable %s does not fit", v->name);
    *end = (uint32_t)(start + v->size);
    return start;
}

static void declare_variables(fpo_ptx_builder *b, fpo_ptx_value space)
{
    fpo_ptx_parse *parse = b->parse;
    do {
        fpo_ptx_next(parse);
        fpo_ptx_variable v = fpo_ptx_parse_variable(parse);
        v.space = space;
        v.scope = b->scope;
        v.shared_offset = place(b, space == FPO_PTX_V_SHARED ? &b->kernel->shared_bytes : &b->kernel->local_bytes, &v);
        b->variables = fpo_ptx_grow(parse, b->variables, b->variable_count, sizeof *b->variables);
        b->variables[b->variable_count++] = v;
    } while (fpo_ptx_is(parse, ","));
    fpo_ptx_expect(parse, ";");
}

/* Shared variables of the module belong to every kernel: they are copied into each. */
static void take_module_shared(fpo_ptx_builder *b)
{
    b->kernel->shared_align = 16;
    for (size_t i = 0; i < fpo_ptx_variable_count(b->module); i++) {
        fpo_ptx_variable v = *fpo_ptx_variable_at(b->module, i);
        if (v.space != FPO_PTX_V_SHARED)
            continue;
        if (!v.external)
            v.shared_offset = place(b, &b->kernel->shared_bytes, &v);
        else if (v.align > b->kernel->shared_align)
            b->kernel->shared_align = v.align;
        b->variables = fpo_ptx_grow(b->parse, b->variables, b->variable_count, sizeof *b->variables);
        b->variables[b->variable_count++] = v;
    }
}

void fpo_ptx_declare_label(fpo_ptx_builder *b, const char *name, size_t length, uint32_t line)
{
    fpo_ptx_label *label = fpo_ptx_take(b->parse, sizeof *label);
    label->name = fpo_ptx_copy(b->parse, name, length);
    label->target = b->code_count;
    label->next = b->scope->labels;
    for (const fpo_ptx_label *other = label->next; other != NULL; other = other->next)
        if (strcmp(other->name, label->name) == 0)
            fpo_ptx_fail(b->parse, FPO_ERR_FILE, line, "label %s is there twice", label->name);
    b->scope->labels = label;
}

static void resolve_labels(fpo_ptx_builder *b)
{
    for (const fpo_ptx_fixup *f = b->fixups; f != NULL; f = f->next) {
        const fpo_ptx_label *found = NULL;
        for (const fpo_ptx_scope *scope = f->scope; scope != NULL && found == NULL; scope = scope->outer)
            for (const fpo_ptx_label *label = scope->labels; label != NULL && found == NULL; label = label->next)
                if (strcmp(label->name, f->name) == 0)
                    found = label;
        if (found == NULL)
            fpo_ptx_fail(b->parse, FPO_ERR_FILE, f->line, "no label %s", f->name);
        b->code[f->instruction].target = found->target;
    }
}

/* brx.idx: the lanes whose index has that place in the list go there, one comparison and branch each. */
static void decode_indexed_branch(fpo_ptx_builder *b, const fpo_ptx_node *guard, const fpo_ptx_node *index,
                                  uint32_t line)
{
    fpo_ptx_parse *parse = b->parse;
    const char *name = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
    const fpo_ptx_branch_list *list = b->branch_lists;
    while (list != NULL && strcmp(list->name, name) != 0)
        list = list->next;
    if (list == NULL || guard != NULL)
        fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, line, "brx.idx %s with `%s`", guard != NULL ? "under a guard" : "",
                     name);
    fpo_ptx_next(parse);
    fpo_ptx_expect(parse, ";");
    for (uint32_t i = 0; i < list->count; i++) {
        fpo_ptx_node operands[3] = {{.kind = FPO_NODE_REGISTER}, *index, {.kind = FPO_NODE_INTEGER, .value = i}};
        operands[0].index = fpo_ptx_new_register(b, "brx", -1, 0);
        fpo_ptx_decode(b, "setp.eq.u32", NULL, operands, 3, NULL, line);
        fpo_ptx_decode(b, "bra", &operands[0], NULL, 0, list->labels[i], line);
    }
    fpo_ptx_decode(b, "trap", NULL, NULL, 0, NULL, line); /* an index beyond the list */
}

static void declare_branch_list(fpo_ptx_builder *b, fpo_ptx_token name)
{
    fpo_ptx_parse *parse = b->parse;
    fpo_ptx_branch_list *list = fpo_ptx_take(parse, sizeof *list);
    list->name = fpo_ptx_copy(parse, name.text, name.length);
    do {
        list->labels = fpo_ptx_grow(parse, list->labels, list->count, sizeof *list->labels);
        list->labels[list->count++] = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
        fpo_ptx_next(parse);
    } while (fpo_ptx_accept(parse, ","));
    fpo_ptx_expect(parse, ";");
    list->next = b->branch_lists;
    b->branch_lists = list;
}

static void parse_instruction(fpo_ptx_builder *b)
{
    fpo_ptx_parse *parse = b->parse;
    fpo_ptx_node guard = {0};
    bool guarded = fpo_ptx_accept(parse, "@");
    if (guarded)
        guard = fpo_ptx_parse_operand(b);
    fpo_ptx_token opcode = parse->token;
    if (opcode.kind != 'w')
        fpo_ptx_fail(parse, FPO_ERR_FILE, opcode.line, "an instruction expected at `%.*s`", (int)opcode.length,
                     opcode.text);
    fpo_ptx_next(parse);
    const char *name = fpo_ptx_copy(parse, opcode.text, opcode.length), *label = NULL;
    fpo_ptx_node *nodes = NULL;
    uint32_t count = 0;
    if (strncmp(name, "call", 4) == 0 && (name[4] == '\0' || name[4] == '.')) {
        fpo_ptx_parse_call(b, guarded ? &guard : NULL);
        return;
    }
    if (strcmp(name, "brx.idx") == 0 || strcmp(name, "brx.idx.uni") == 0) {
        fpo_ptx_node index = fpo_ptx_parse_operand(b);
        fpo_ptx_expect(parse, ",");
        decode_indexed_branch(b, guarded ? &guard : NULL, &index, opcode.line);
        return;
    }
    if (b->call_depth != 0 && (strcmp(name, "ret") == 0 || strcmp(name, "ret.uni") == 0)) {
        fpo_ptx_expect(parse, ";");
        fpo_ptx_decode(b, "bra", guarded ? &guard : NULL, NULL, 0, "end of the function", opcode.line);
        return;
    }
    if (strcmp(name, "bra") == 0 || strcmp(name, "bra.uni") == 0) {
        label = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
        fpo_ptx_next(parse);
        fpo_ptx_expect(parse, ";");
    } else {
        while (!fpo_ptx_accept(parse, ";")) {
            if (count != 0)
                fpo_ptx_expect(parse, ",");
            fpo_ptx_node node = fpo_ptx_parse_operand(b);
            nodes = fpo_ptx_grow(parse, nodes, count, sizeof *nodes);
            nodes[count++] = node;
        }
    }
    fpo_ptx_decode(b, name, guarded ? &guard : NULL, nodes, count, label, opcode.line);
}

/* `.reg .b32` or, as people write it in inline asm, `.reg.b32`: the type is what follows. */
static bool accept_register_directive(fpo_ptx_parse *parse)
{
    fpo_ptx_token *token = &parse->token;
    static const char directive[] = ".reg";
    size_t length = sizeof directive - 1;
    if (token->kind != 'w' || token->length <= length || memcmp(token->text, ".reg.", length + 1) != 0)
        return fpo_ptx_accept(parse, directive);
    token->text += length;
    token->length -= length;
    return true;
}

bool fpo_ptx_parse_statement(fpo_ptx_builder *b)
{
    fpo_ptx_parse *parse = b->parse;
    if (fpo_ptx_accept(parse, "{")) {
        fpo_ptx_open_scope(b);
    } else if (fpo_ptx_accept(parse, "}")) {
        b->scope = b->scope->outer;
        return b->scope != NULL;
    } else if (fpo_ptx_accept(parse, ";")) {
        return true;
    } else if (fpo_ptx_is(parse, ".loc") || fpo_ptx_is(parse, ".file")) {
        fpo_ptx_skip_line(parse);
    } else if (fpo_ptx_accept(parse, ".pragma")) {
        fpo_ptx_next(parse);
        fpo_ptx_expect(parse, ";");
    } else if (accept_register_directive(parse)) {
        declare_registers(b);
    } else if (fpo_ptx_is(parse, ".shared")) {
        declare_variables(b, FPO_PTX_V_SHARED);
    } else if (fpo_ptx_is(parse, ".local") || fpo_ptx_is(parse, ".param")) {
        /* What is handed to a function lies in local memory. */
        declare_variables(b, FPO_PTX_V_LOCAL);
    } else if (parse->token.kind == 'w' && parse->token.text[0] == '.') {
        fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, parse->token.line, "directive `%.*s`", (int)parse->token.length,
                     parse->token.text);
    } else {
        fpo_ptx_token first = parse->token;
        const char *colon = first.text + first.length;
        while (colon < parse->end && (*colon == ' ' || *colon == '\t'))
            colon++;
        if (first.kind == 'w' && colon < parse->end && *colon == ':') {
            fpo_ptx_next(parse);
            fpo_ptx_next(parse);
            fpo_ptx_declare_label(b, first.text, first.length, first.line);
            if (fpo_ptx_accept(parse, ".branchtargets"))
                declare_branch_list(b, first);
        } else {
            parse_instruction(b);
        }
    }
    return true;
}

void fpo_ptx_parse_body(fpo_ptx_builder *b)
{
    take_module_shared(b);
    fpo_ptx_expect(b->parse, "{");
    fpo_ptx_open_scope(b);
    while (fpo_ptx_parse_statement(b))
        if (b->parse->token.kind == 0)
            fpo_ptx_fail(b->parse, FPO_ERR_FILE, b->parse->line, "the body does not end");
    /* A body may end without `ret`. */
    fpo_ptx_open_scope(b);
    fpo_ptx_decode(b, "exit", NULL, NULL, 0, NULL, b->parse->line);
    resolve_labels(b);
}
