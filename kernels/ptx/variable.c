/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Initialisers of module variables: read when the variable is placed, since some modules carry megabytes of them. */
#include "parse.h"

#include <ctype.h>
#include <string.h>

static uint64_t parse_value(fpo_ptx_parse *parse)
{
    bool minus = fpo_ptx_accept(parse, "-");
    fpo_ptx_token token = parse->token;
    if (token.kind == 'w' && (token.length == 10 || token.length == 18) && token.text[0] == '0' &&
        strchr("fFdD", token.text[1]) != NULL) {
        uint64_t bits = 0;
        for (size_t i = 2; i < token.length; i++) {
            int c = tolower((unsigned char)token.text[i]);
            if (!isxdigit(c))
                fpo_ptx_fail(parse, FPO_ERR_FILE, token.line, "a number expected");
            bits = bits * 16 + (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
        }
        fpo_ptx_next(parse);
        return bits;
    }
    uint64_t value = fpo_ptx_unsigned(parse);
    return minus ? 0 - value : value;
}

typedef struct filling {
    const fpo_ptx_variable *variable;
    uint8_t *bytes;
} filling;

static void fill(fpo_ptx_parse *parse, void *context)
{
    const filling *f = context;
    const fpo_ptx_variable *v = f->variable;
    fpo_ptx_start(parse, v->initialiser, v->initialiser + v->initialiser_length, v->line);
    for (uint64_t at = 0; parse->token.kind != 0; at += v->element) {
        while (fpo_ptx_accept(parse, "{") || fpo_ptx_accept(parse, "}") || fpo_ptx_accept(parse, ",")) {
        }
        if (parse->token.kind == 0)
            break;
        if (at + v->element > v->size || v->element > 8)
            fpo_ptx_fail(parse, FPO_ERR_FILE, parse->token.line, "variable %s has too many values", v->name);
        uint64_t value = parse_value(parse);
        memcpy(f->bytes + at, &value, v->element);
    }
}

fpo_status fpo_ptx_variable_initialise(const fpo_ptx_variable *v, uint8_t *bytes, fpo_error *error)
{
    memset(bytes, 0, v->size);
    if (v->initialiser == NULL)
        return FPO_OK;
    fpo_ptx_parse parse = {.error = error};
    filling f = {v, bytes};
    return fpo_ptx_try(&parse, fill, &f);
}
