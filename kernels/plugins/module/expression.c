/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Recursive descent over an expression, computed as it is read. */
#include "expression.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 };

typedef struct reader {
    const char *text, *at;
    const fpo_kernel_problem *problem;
    int multiprocessors, depth;
    char *why; /* not empty: it has failed */
} reader;

static int64_t fail(reader *r, const char *what)
{
    if (r->why[0] == '\0')
        snprintf(r->why, EXPRESSION_WHY, "%s at column %d", what, (int)(r->at - r->text) + 1);
    return 0;
}

static bool next_is(reader *r, char c)
{
    r->at += strspn(r->at, " \t");
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static int64_t combine(reader *r, char op, int64_t x, int64_t y)
{
    int64_t result = 0;
    bool overflow = false;
    switch (op) {
    case '+': overflow = __builtin_add_overflow(x, y, &result); break;
    case '-': overflow = __builtin_sub_overflow(x, y, &result); break;
    case '*': overflow = __builtin_mul_overflow(x, y, &result); break;
    default:
        if (y == 0)
            return fail(r, "division by zero");
        overflow = x == INT64_MIN && y == -1;
        result = overflow ? 0 : x / y;
        break;
    }
    return overflow ? fail(r, "more than 63 bits") : result;
}

static int64_t sum(reader *r);

/* ceil(x, y), min(x, y), max(x, y), the opening parenthesis having been read. */
static int64_t call(reader *r, const char *name, size_t length)
{
    int64_t x = sum(r);
    if (!next_is(r, ','))
        return fail(r, "a comma is missing");
    int64_t y = sum(r);
    if (!next_is(r, ')'))
        return fail(r, "a closing parenthesis is missing");
    if (length == 3 && strncmp(name, "min", 3) == 0)
        return x < y ? x : y;
    if (length == 3 && strncmp(name, "max", 3) == 0)
        return x > y ? x : y;
    if (length != 4 || strncmp(name, "ceil", 4) != 0)
        return fail(r, "there is no such function");
    int64_t quotient = combine(r, '/', x, y);
    return r->why[0] != '\0' ? 0 : quotient + (x % y != 0 && (x < 0) == (y < 0));
}

static int64_t named(reader *r)
{
    const char *name = r->at;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    r->at += length;
    if (next_is(r, '('))
        return call(r, name, length);
    const fpo_kernel_problem *p = r->problem;
    const struct {
        const char *name;
        int64_t value;
    } variables[] = {
        {"m", p->m},           {"n", p->n},           {"k", p->k},           {"a_line", p->a_line},
        {"b_line", p->b_line}, {"c_line", p->c_line}, {"d_line", p->d_line}, {"sms", r->multiprocessors},
    };
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (strlen(variables[i].name) == length && strncmp(variables[i].name, name, length) == 0)
            return variables[i].value;
    r->at = name;
    return fail(r, "there is no such variable");
}

static int64_t primary(reader *r)
{
    r->at += strspn(r->at, " \t");
    if (r->depth >= DEEPEST)
        return fail(r, "too many parentheses");
    if (isdigit((unsigned char)*r->at)) {
        int64_t value = 0;
        for (; isdigit((unsigned char)*r->at) && r->why[0] == '\0'; r->at++)
            value = combine(r, '+', combine(r, '*', value, 10), *r->at - '0');
        return value;
    }
    r->depth++;
    int64_t value = 0;
    if (next_is(r, '-')) {
        value = combine(r, '-', 0, primary(r));
    } else if (next_is(r, '(')) {
        value = sum(r);
        if (!next_is(r, ')'))
            value = fail(r, "a closing parenthesis is missing");
    } else if (islower((unsigned char)*r->at)) {
        value = named(r);
    } else {
        value = fail(r, "a number or a variable is missing");
    }
    r->depth--;
    return value;
}

static int64_t product(reader *r)
{
    int64_t value = primary(r);
    while (r->why[0] == '\0') {
        char op = next_is(r, '*') ? '*' : next_is(r, '/') ? '/' : '\0';
        if (op == '\0')
            break;
        value = combine(r, op, value, primary(r));
    }
    return value;
}

static int64_t sum(reader *r)
{
    int64_t value = product(r);
    while (r->why[0] == '\0') {
        char op = next_is(r, '+') ? '+' : next_is(r, '-') ? '-' : '\0';
        if (op == '\0')
            break;
        value = combine(r, op, value, product(r));
    }
    return value;
}

bool expression_value(const char *text, const fpo_kernel_problem *problem, int multiprocessors, int64_t *value,
                      char *why)
{
    reader r = {.text = text, .at = text, .problem = problem, .multiprocessors = multiprocessors, .why = why};
    why[0] = '\0';
    *value = sum(&r);
    r.at += strspn(r.at, " \t");
    if (*r.at != '\0')
        fail(&r, "something is left over");
    return why[0] == '\0';
}
