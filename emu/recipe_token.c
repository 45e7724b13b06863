/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tokens of a recipe's text. Nothing here depends on the locale. */
#include "recipe_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

bool fpo_token_is(const fpo_token *token, const char *word)
{
    return token->length == strlen(word) && memcmp(token->text, word, token->length) == 0;
}

void fpo_recipe_complain(fpo_recipe_parser *p, const char *format, ...)
{
    if (p->status != FPO_OK)
        return;
    char message[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int line = 1;
    for (const char *c = p->text; c < p->token.text; c++)
        line += *c == '\n';
    p->status = fpo_fail(p->error, FPO_ERR_ARGUMENT, "recipe, line %d, at '%.20s': %s", line, p->token.text, message);
    p->token.kind = FPO_TOKEN_END;
}

/* digits [. digits] [e exponent | p exponent]: a decimal, or an integer times a power of two (1p-9). The decimal is
 * exact in double up to 2^53 and 10^22, so one division or product rounds once. */
static double number(fpo_recipe_parser *p, const char **at)
{
    const char *c = *at;
    double mantissa = 0, power = 1;
    int exponent = 0;
    for (; is_digit(*c); c++)
        mantissa = mantissa * 10 + (*c - '0');
    if (*c == '.')
        for (c++; is_digit(*c); c++, exponent--)
            mantissa = mantissa * 10 + (*c - '0');
    char kind = *c;
    if (kind == 'e' || kind == 'p') {
        bool negative = *++c == '-';
        c += negative;
        int written = 0;
        for (; is_digit(*c) && written < 1000; c++)
            written = written * 10 + (*c - '0');
        exponent += negative ? -written : written;
    }
    *at = c;
    int steps = exponent < 0 ? -exponent : exponent;
    if (mantissa > 9007199254740992.0 || steps > (kind == 'p' ? 1000 : 22))
        fpo_recipe_complain(p, "a number with more digits or a larger exponent than is exact");
    for (int i = 0; i < steps && i < 1000; i++)
        power *= kind == 'p' ? 2 : 10;
    return exponent < 0 ? mantissa / power : mantissa * power;
}

void fpo_token_next(fpo_recipe_parser *p)
{
    if (p->status != FPO_OK)
        return;
    const char *c = p->at;
    for (; *c == ' ' || *c == '\n' || *c == '\t' || *c == '\r' || *c == '#'; c++)
        if (*c == '#')
            while (c[1] != '\0' && c[1] != '\n')
                c++;
    p->token = (fpo_token){.kind = FPO_TOKEN_END, .text = c};
    if (is_digit(*c)) {
        p->token.kind = FPO_TOKEN_NUMBER;
        p->token.number = number(p, &c);
    } else if (is_name(*c)) {
        p->token.kind = FPO_TOKEN_NAME;
        while (is_name(*c) || (*c == '.' && is_name(c[1])))
            c++;
    } else if (*c != '\0') {
        p->token.kind = FPO_TOKEN_SYMBOL;
        bool two = (*c == '<' || *c == '>' || *c == '=' || *c == '!') && c[1] == '=';
        c += two ? 2 : 1;
    }
    if (p->status != FPO_OK)
        return;
    p->token.length = (size_t)(c - p->token.text);
    p->at = c;
}
