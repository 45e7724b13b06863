/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tokens of PTX. A word takes in dots and "::", so that an opcode with its modifiers is one token. */
#include "parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fpo_ptx_fail(fpo_ptx_parse *parse, fpo_status status, uint32_t line, const char *format, ...)
{
    if (parse->error != NULL) {
        char what[FPO_MESSAGE_SIZE / 2];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(what, sizeof what, format, arguments);
        va_end(arguments);
        parse->error->status = status;
        if (parse->kernel != NULL)
            snprintf(parse->error->message, sizeof parse->error->message, "PTX line %u, kernel %.120s: %s", line,
                     parse->kernel, what);
        else
            snprintf(parse->error->message, sizeof parse->error->message, "PTX line %u: %s", line, what);
    }
    longjmp(parse->escape, (int)status);
}

fpo_status fpo_ptx_try(fpo_ptx_parse *parse, void (*body)(fpo_ptx_parse *parse, void *context), void *context)
{
    int status = setjmp(parse->escape);
    if (status != 0)
        return (fpo_status)status;
    body(parse, context);
    return FPO_OK;
}

void *fpo_ptx_take(fpo_ptx_parse *parse, size_t bytes)
{
    void *memory = fpo_ptx_arena_take(parse->arena, bytes);
    if (memory == NULL)
        fpo_ptx_fail(parse, FPO_ERR_MEMORY, parse->line, "out of memory (%zu bytes)", bytes);
    return memory;
}

char *fpo_ptx_copy(fpo_ptx_parse *parse, const char *text, size_t length)
{
    char *copy = fpo_ptx_take(parse, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void *fpo_ptx_grow(fpo_ptx_parse *parse, void *array, size_t count, size_t element)
{
    bool full = count == 0 || (count & (count - 1)) == 0;
    if (!full)
        return array;
    void *larger = fpo_ptx_take(parse, (count == 0 ? 1 : 2 * count) * element);
    if (count != 0)
        memcpy(larger, array, count * element);
    return larger;
}

static bool is_word_character(char c)
{
    unsigned char u = (unsigned char)c;
    return (unsigned)(u | 0x20) - 'a' < 26u || (unsigned)u - '0' < 10u || c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_blanks(fpo_ptx_parse *parse)
{
    const char *p = parse->at, *end = parse->end;
    for (;;) {
        if (p < end && isspace((unsigned char)*p)) {
            parse->line += *p == '\n';
            p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            for (p += 2; end - p >= 2 && !(p[0] == '*' && p[1] == '/'); p++)
                parse->line += *p == '\n';
            p = end - p >= 2 ? p + 2 : end;
        } else {
            break;
        }
    }
    parse->at = p;
}

void fpo_ptx_next(fpo_ptx_parse *parse)
{
    skip_blanks(parse);
    const char *p = parse->at, *end = parse->end;
    fpo_ptx_token *token = &parse->token;
    token->text = p;
    token->line = parse->line;
    token->kind = 0;
    if (p < end && *p == '"') {
        token->kind = '"';
        for (p++; p < end && *p != '"' && *p != '\n';)
            p++;
        if (p == end || *p != '"')
            fpo_ptx_fail(parse, FPO_ERR_FILE, parse->line, "a string does not end");
        p++;
    } else if (p < end && is_word_character(*p)) {
        token->kind = 'w';
        while (p < end && (is_word_character(*p) || (end - p > 2 && p[0] == ':' && p[1] == ':')))
            p += *p == ':' ? 2 : 1;
    } else if (p < end) {
        token->kind = *p++;
    }
    token->length = (size_t)(p - token->text);
    parse->at = p;
}

void fpo_ptx_start(fpo_ptx_parse *parse, const char *text, const char *end, uint32_t line)
{
    parse->at = text;
    parse->end = end;
    parse->line = line;
    fpo_ptx_next(parse);
}

bool fpo_ptx_is(const fpo_ptx_parse *parse, const char *word)
{
    const fpo_ptx_token *token = &parse->token;
    return token->kind != 0 && token->kind != '"' && strlen(word) == token->length &&
           memcmp(word, token->text, token->length) == 0;
}

bool fpo_ptx_accept(fpo_ptx_parse *parse, const char *word)
{
    if (!fpo_ptx_is(parse, word))
        return false;
    fpo_ptx_next(parse);
    return true;
}

void fpo_ptx_expect(fpo_ptx_parse *parse, const char *word)
{
    if (!fpo_ptx_accept(parse, word)) {
        int shown = parse->token.length < 60 ? (int)parse->token.length : 60;
        fpo_ptx_fail(parse, FPO_ERR_FILE, parse->token.line, "`%s` expected at `%.*s`", word, shown, parse->token.text);
    }
}

void fpo_ptx_skip_line(fpo_ptx_parse *parse)
{
    const char *p = parse->token.text;
    while (p < parse->end && *p != '\n')
        p++;
    parse->at = p;
    parse->line = parse->token.line;
    fpo_ptx_next(parse);
}

bool fpo_ptx_integer_text(const char *text, size_t length, uint64_t *value)
{
    if (length > 1 && (text[length - 1] == 'U' || text[length - 1] == 'u'))
        length--;
    unsigned base = 10;
    size_t i = 0;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        i = 2;
    } else if (length > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
        base = 2;
        i = 2;
    } else if (length > 1 && text[0] == '0') {
        base = 8;
        i = 1;
    }
    if (i == length)
        return false;
    uint64_t result = 0;
    for (; i < length; i++) {
        int c = tolower((unsigned char)text[i]);
        unsigned digit = isdigit(c) ? (unsigned)(c - '0') : isalpha(c) ? (unsigned)(c - 'a') + 10 : 99;
        if (digit >= base || result > (UINT64_MAX - digit) / base)
            return false;
        result = result * base + digit;
    }
    *value = result;
    return true;
}

uint64_t fpo_ptx_unsigned(fpo_ptx_parse *parse)
{
    uint64_t value;
    if (parse->token.kind != 'w' || !fpo_ptx_integer_text(parse->token.text, parse->token.length, &value))
        fpo_ptx_fail(parse, FPO_ERR_FILE, parse->token.line, "a number expected");
    fpo_ptx_next(parse);
    return value;
}
