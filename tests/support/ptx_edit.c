/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of PTX text: planted faults. */
#include "ptx_edit.h"

#include "assertions.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, OPERANDS = 16 };

/* Operands of a line: text between top-level commas after the opcode. */
static int split(const char *line, const char *starts[OPERANDS], size_t lengths[OPERANDS])
{
    const char *p = strchr(line, '@') != NULL ? strchr(strchr(line, '@'), ' ') : line;
    while (*p == ' ' || *p == '\t')
        p++;
    p += strcspn(p, " \t"); /* the opcode */
    int count = 0, depth = 0;
    while (*p == ' ' || *p == '\t')
        p++;
    const char *start = p;
    for (; *p != '\0' && count < OPERANDS; p++) {
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        if (depth == 0 && (*p == ',' || *p == ';')) {
            while (*start == ' ' || *start == '\t')
                start++;
            starts[count] = start;
            lengths[count++] = (size_t)(p - start);
            start = p + 1;
            if (*p == ';')
                break;
        }
    }
    return count;
}

/* Element `number` of "{x, y}": where it starts, and its length. */
static int element(const char **text, int length, int number)
{
    const char *p = *text, *end = p + length;
    ck_assert_msg(*p == '{', "no braces: %.*s", length, p);
    for (p++; number > 0 && p < end; p++)
        number -= *p == ',';
    ck_assert_msg(p < end, "too few elements: %.*s", length, *text);
    p += strspn(p, " ");
    *text = p;
    return (int)strcspn(p, ",} ");
}

/* The line and what follows it. */
static void follow(const char *line, const char *starts[OPERANDS], const size_t lengths[OPERANDS], int count,
                   const char *to, char *out)
{
    out += sprintf(out, "%s ", line);
    for (; *to != '\0'; to++) {
        if (*to != '$') {
            *out++ = *to;
            continue;
        }
        int operand = to[1] - '0';
        ck_assert_msg(operand >= 0 && operand < count, "%d operands in %s", count, line);
        const char *text = starts[operand];
        int length = (int)lengths[operand];
        to++;
        if (to[1] == '.') {
            length = element(&text, length, to[2] - '0');
            to += 2;
        }
        out += sprintf(out, "%.*s", length, text);
    }
    *out = '\0';
}

static void copy_line(char line[LINE], const char *text)
{
    size_t length = strcspn(text, "\n");
    ck_assert_uint_lt(length, LINE);
    memcpy(line, text, length);
    line[length] = '\0';
}

/* `rest`: the text after the line. */
static void borrow(const ptx_edit *e, char *line, const char *rest)
{
    char other[LINE], result[LINE];
    const char *starts[OPERANDS], *others[OPERANDS], *at = strstr(rest, e->pattern);
    size_t lengths[OPERANDS], other_lengths[OPERANDS];
    ck_assert_msg(at != NULL, "no other line has `%s`", e->pattern);
    while (at > rest && at[-1] != '\n')
        at--;
    copy_line(other, at);
    int number = atoi(e->from);
    ck_assert(number < split(line, starts, lengths) && number < split(other, others, other_lengths));
    snprintf(result, sizeof result, "%.*s%.*s%s", (int)(starts[number] - line), line, (int)other_lengths[number],
             others[number], starts[number] + lengths[number]);
    snprintf(line, LINE, "%s", result);
}

static void apply(const ptx_edit *e, char *line, const char *rest)
{
    if (e->kind == EDIT_BORROW) {
        borrow(e, line, rest);
        return;
    }
    char result[LINE];
    const char *starts[OPERANDS];
    size_t lengths[OPERANDS];
    ck_assert_uint_lt(strlen(line) + strlen(e->to != NULL ? e->to : "") + 512, sizeof result);
    int count = split(line, starts, lengths);
    if (e->kind == EDIT_DELETE) {
        /* Braces of inline asm stay. */
        snprintf(result, sizeof result, "%s", strchr(line, '}') != NULL && strchr(line, '{') == NULL ? "}" : "");
    } else if (e->kind == EDIT_REPEAT) {
        ck_assert_int_lt(snprintf(result, sizeof result, "%s\n%s", line, line), LINE);
    } else if (e->kind == EDIT_REPLACE) {
        char *at = strstr(line, e->from);
        ck_assert_msg(at != NULL, "no `%s` in %s", e->from, line);
        snprintf(result, sizeof result, "%.*s%s%s", (int)(at - line), line, e->to, at + strlen(e->from));
    } else if (e->kind == EDIT_AFTER) {
        follow(line, starts, lengths, count, e->to, result);
    } else {
        int target = atoi(e->kind == EDIT_COPY ? e->to : e->from),
            source = e->kind == EDIT_COPY ? atoi(e->from) : target;
        ck_assert_msg(target < count && source < count, "%d operands in %s", count, line);
        const char *text = e->kind == EDIT_COPY ? starts[source] : e->to;
        int length = e->kind == EDIT_COPY ? (int)lengths[source] : (int)strlen(text);
        snprintf(result, sizeof result, "%.*s%.*s%s", (int)(starts[target] - line), line, length, text,
                 starts[target] + lengths[target]);
    }
    snprintf(line, LINE, "%s", result);
}

/* Number of the line to edit, counted over lines that match; 0: all. */
static int which(const char *text, const ptx_edit *e)
{
    if (e->occurrence >= 0)
        return e->occurrence;
    const char *anchor = strstr(text, e->anchor);
    ck_assert_msg(anchor != NULL, "no `%s`", e->anchor);
    int number = 0;
    for (const char *p = strstr(text, e->pattern); p != NULL && p < anchor; p = strstr(p + 1, e->pattern))
        number++;
    number += e->occurrence + 1;
    ck_assert_int_gt(number, 0);
    return number;
}

static bool is_wanted(int line, int wanted, int until)
{
    return wanted == 0 || line == wanted || (line > wanted && line <= until);
}

char *ptx_edited(const char *text, const ptx_edit *e)
{
    return ptx_edited_until(text, e, 0);
}

char *ptx_edited_until(const char *text, const ptx_edit *e, int until)
{
    int wanted = which(text, e), seen = 0, edited = 0;
    char *result = malloc(2 * strlen(text) + LINE), *out = result;
    ck_assert_ptr_nonnull(result);
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char line[LINE];
        bool fits = length < sizeof line;
        if (fits) {
            memcpy(line, text, length);
            line[length] = '\0';
        }
        if (fits && strstr(line, e->pattern) != NULL && is_wanted(++seen, wanted, until)) {
            apply(e, line, text + length);
            edited++;
            out += sprintf(out, "%s", line);
        } else {
            memcpy(out, text, length);
            out += length;
        }
        text += length;
        if (*text == '\n')
            *out++ = *text++;
    }
    *out = '\0';
    ck_assert_msg(edited > 0, "no line %d has `%s`", wanted, e->pattern);
    return result;
}
