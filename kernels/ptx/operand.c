/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Syntax of operands. Names of registers are resolved here, by scope; everything else keeps its text. */
#include "parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
} specials[] = {
#define FPO_PTX_SPECIAL(ID, name, bytes) {name},
#include "specials.inc"
#undef FPO_PTX_SPECIAL
};

uint32_t fpo_ptx_new_register(fpo_ptx_builder *b, const char *name, int32_t number, unsigned bytes)
{
    b->registers = fpo_ptx_grow(b->parse, b->registers, b->register_count, sizeof *b->registers);
    fpo_ptx_register *r = &b->registers[b->register_count];
    memset(r, 0, sizeof *r);
    r->name = name;
    r->number = number;
    r->bytes = (uint8_t)bytes;
    return b->register_count++;
}

bool fpo_ptx_find_register(const fpo_ptx_builder *b, const char *name, size_t length, uint32_t *index)
{
    size_t stem = length;
    while (stem > 0 && isdigit((unsigned char)name[stem - 1]))
        stem--;
    uint64_t number = 0;
    bool numbered = stem < length && length - stem < 10 && (length - stem == 1 || name[stem] != '0');
    for (size_t i = stem; numbered && i < length; i++)
        number = number * 10 + (uint64_t)(name[i] - '0');
    for (const fpo_ptx_scope *scope = b->scope; scope != NULL; scope = scope->outer) {
        for (const fpo_ptx_declared *d = scope->registers; d != NULL; d = d->next) {
            if (d->count == 0 && d->length == length && memcmp(d->name, name, length) == 0) {
                *index = d->first;
                return true;
            }
            if (numbered && number < d->count && d->length == stem && memcmp(d->name, name, stem) == 0) {
                *index = d->first + (uint32_t)number;
                return true;
            }
        }
    }
    return false;
}

static bool hexadecimal(const char *text, size_t length, uint64_t *value)
{
    uint64_t result = 0;
    for (size_t i = 0; i < length; i++) {
        int c = tolower((unsigned char)text[i]);
        if (!isxdigit(c))
            return false;
        result = result * 16 + (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    *value = result;
    return true;
}

/* 0.0: digits and a point, a number of double precision. */
static bool decimal(const char *text, size_t length, uint64_t *value)
{
    char copy[32];
    size_t points = 0;
    if (length < 2 || length >= sizeof copy || !isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < length; i++) {
        points += text[i] == '.';
        if (text[i] != '.' && !isdigit((unsigned char)text[i]))
            return false;
        copy[i] = text[i];
    }
    copy[length] = '\0';
    double number = strtod(copy, NULL);
    memcpy(value, &number, sizeof *value);
    return points == 1;
}

static fpo_ptx_node parse_word(fpo_ptx_builder *b)
{
    fpo_ptx_parse *parse = b->parse;
    fpo_ptx_token token = parse->token;
    fpo_ptx_node node = {.line = token.line};
    if (token.length == 1 && token.text[0] == '_') {
        node.kind = FPO_NODE_NOTHING;
    } else if (fpo_ptx_find_register(b, token.text, token.length, &node.index)) {
        node.kind = FPO_NODE_REGISTER;
    } else if (token.length == 10 && strncasecmp(token.text, "0f", 2) == 0 &&
               hexadecimal(token.text + 2, 8, &node.value)) {
        node.kind = FPO_NODE_F32;
    } else if (token.length == 18 && strncasecmp(token.text, "0d", 2) == 0 &&
               hexadecimal(token.text + 2, 16, &node.value)) {
        node.kind = FPO_NODE_F64;
    } else if (decimal(token.text, token.length, &node.value)) {
        node.kind = FPO_NODE_F64;
        node.decimal = true;
    } else if (fpo_ptx_integer_text(token.text, token.length, &node.value)) {
        node.kind = FPO_NODE_INTEGER;
    } else if (token.length == 7 && memcmp(token.text, "WARP_SZ", 7) == 0) {
        node.kind = FPO_NODE_INTEGER;
        node.value = FPO_PTX_WARP;
    } else if (token.text[0] == '%') {
        node.kind = FPO_NODE_SPECIAL;
        node.value = FPO_PTX_SPECIAL_COUNT;
        for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
            if (strlen(specials[i].name) == token.length && memcmp(specials[i].name, token.text, token.length) == 0)
                node.value = i;
        if (node.value == FPO_PTX_SPECIAL_COUNT)
            fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, token.line,
                         "`%.*s` is neither a declared register nor a known "
                         "special register",
                         (int)token.length, token.text);
    } else {
        node.kind = FPO_NODE_SYMBOL;
        node.text = fpo_ptx_copy(parse, token.text, token.length);
    }
    fpo_ptx_next(parse);
    return node;
}

/* A list up to `close`. */
static void parse_list(fpo_ptx_builder *b, const char *close, fpo_ptx_node *list)
{
    while (!fpo_ptx_accept(b->parse, close)) {
        if (list->child_count != 0)
            fpo_ptx_expect(b->parse, ",");
        fpo_ptx_node child = fpo_ptx_parse_operand(b);
        list->children = fpo_ptx_grow(b->parse, list->children, list->child_count, sizeof *list->children);
        list->children[list->child_count++] = child;
    }
}

fpo_ptx_node fpo_ptx_parse_operand(fpo_ptx_builder *b)
{
    fpo_ptx_parse *parse = b->parse;
    fpo_ptx_node node = {.line = parse->token.line};
    if (fpo_ptx_accept(parse, "{")) {
        node.kind = FPO_NODE_VECTOR;
        parse_list(b, "}", &node);
        return node;
    }
    if (fpo_ptx_accept(parse, "[")) {
        node.kind = FPO_NODE_ADDRESS;
        parse_list(b, "]", &node);
        return node;
    }
    bool negated = fpo_ptx_accept(parse, "!");
    bool negative = fpo_ptx_accept(parse, "-");
    if (parse->token.kind != 'w')
        fpo_ptx_fail(parse, FPO_ERR_FILE, parse->token.line, "an operand expected at `%.*s`", (int)parse->token.length,
                     parse->token.text);
    node = parse_word(b);
    node.negated = negated;
    node.negative = negative;
    if (negative && node.kind == FPO_NODE_INTEGER)
        node.value = 0 - node.value;
    else if (negative)
        fpo_ptx_fail(parse, FPO_ERR_FILE, node.line, "a minus sign stands before something that is no integer");
    while (fpo_ptx_is(parse, "+") || fpo_ptx_is(parse, "-")) {
        bool minus = fpo_ptx_is(parse, "-");
        fpo_ptx_next(parse);
        minus ^= fpo_ptx_accept(parse, "-");
        int64_t offset = (int64_t)fpo_ptx_unsigned(parse);
        node.offset = (int64_t)((uint64_t)node.offset + (uint64_t)(minus ? -offset : offset));
    }
    if (fpo_ptx_accept(parse, "|")) {
        fpo_ptx_node pair = {.kind = FPO_NODE_PAIR, .line = node.line, .child_count = 2};
        pair.children = fpo_ptx_take(parse, 2 * sizeof *pair.children);
        pair.children[0] = node;
        pair.children[1] = fpo_ptx_parse_operand(b);
        return pair;
    }
    return node;
}
