/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The text of a row of the table: see row_text.h. */
#include "row_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Length up to a separator; "::" belongs to a PTX name. */
static unsigned part_length(const char *text, const char *end)
{
    const char *p = text;
    while (p < end && *p != ',' && *p != '}') {
        if (p[0] == ':' && p + 1 < end && p[1] == ':')
            p += 2;
        else if (*p == ':')
            break;
        else
            p++;
    }
    return (unsigned)(p - text);
}

bool fpo_row_parse_groups(const char *pattern, fpo_row_groups *groups)
{
    groups->count = 0;
    for (const char *p = strchr(pattern, '{'); p != NULL; p = strchr(p, '{')) {
        const char *end = strchr(p, '}');
        if (end == NULL || groups->count == FPO_ROW_GROUPS)
            return false;
        int g = groups->count++;
        groups->size[g] = 0;
        for (p++; p <= end; p++) {
            if (groups->size[g] == FPO_ROW_CHOICES)
                return false;
            fpo_row_choice *c = &groups->choices[g][groups->size[g]++];
            c->name = p;
            c->name_length = part_length(p, end);
            c->text = c->name;
            c->text_length = c->name_length;
            c->more = c->name;
            c->more_length = 0;
            p += c->name_length;
            if (*p == ':') {
                c->text = ++p;
                c->text_length = part_length(p, end);
                p += c->text_length;
            }
            if (*p == ':') {
                c->more = ++p;
                c->more_length = part_length(p, end);
                p += c->more_length;
            }
        }
    }
    return true;
}

bool fpo_row_substitute(const char *text, const fpo_row_groups *groups, const int *choice, char *result, size_t size)
{
    size_t used = 0;
    for (; *text != '\0'; text++) {
        const char *piece = text;
        size_t length = 1;
        if ((*text == '$' || *text == '@' || *text == '#') && isdigit((unsigned char)text[1])) {
            int g = text[1] - '1';
            if (g < 0 || g >= groups->count)
                return false;
            const fpo_row_choice *c = &groups->choices[g][choice[g]];
            piece = *text == '$' ? c->name : *text == '@' ? c->text : c->more;
            length = *text == '$' ? c->name_length : *text == '@' ? c->text_length : c->more_length;
            text++;
        }
        if (used + length >= size)
            return false;
        memcpy(result + used, piece, length);
        used += length;
    }
    result[used] = '\0';
    return true;
}

static bool match_from(const char *pattern, int group, const fpo_row_groups *groups, const char *opcode, int *choice)
{
    while (*pattern != '\0' && *pattern != '{') {
        if (*pattern++ != *opcode++)
            return false;
    }
    if (*pattern == '\0')
        return *opcode == '\0';
    const char *after = strchr(pattern, '}') + 1;
    for (int k = 0; k < groups->size[group]; k++) {
        const fpo_row_choice *c = &groups->choices[group][k];
        choice[group] = k;
        if (strncmp(opcode, c->name, c->name_length) == 0 &&
            match_from(after, group + 1, groups, opcode + c->name_length, choice))
            return true;
    }
    return false;
}

bool fpo_row_match(const char *pattern, const fpo_row_groups *groups, const char *opcode, int *choice)
{
    return match_from(pattern, 0, groups, opcode, choice);
}

static bool parse_operand(const char *word, size_t length, int brace, fpo_row_operand *o)
{
    memset(o, 0, sizeof *o);
    o->brace = brace;
    const char *end = word + length;
    if (*word == '[') {
        o->address = true;
        word++;
        end--;
        if (end <= word || *end != ']')
            return false;
    }
    const char *p = word;
    while (p < end && (isalnum((unsigned char)*p)))
        p++;
    size_t name = (size_t)(p - word);
    if (name == 0 || name >= sizeof o->name)
        return false;
    memcpy(o->name, word, name);
    const char *type = o->address ? "b64" : "pred";
    size_t type_length = strlen(type);
    if (p < end && *p == ':') {
        type = ++p;
        while (p < end && (isalnum((unsigned char)*p)))
            p++;
        type_length = (size_t)(p - type);
    }
    if (type_length >= sizeof o->type)
        return false;
    memcpy(o->type, type, type_length);
    for (; p < end; p++) {
        if (*p == '+') {
            o->wider = true;
        } else if (*p == '?') {
            o->optional = true;
        } else if (*p == '*') {
            char *rest;
            o->vector = (int)strtol(p + 1, &rest, 10);
            if (rest == p + 1)
                return false;
            p = rest - 1;
        } else {
            return false;
        }
    }
    o->written = strchr("deghpqx", o->name[0]) != NULL && !o->address;
    o->read = !o->written || o->name[0] == 'x';
    return true;
}

int fpo_row_parse_operands(const char *text, fpo_row_operand *operands)
{
    int count = 0, brace = 0, braces = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (length == 0) {
            text++;
            continue;
        }
        if (length == 1 && *text == '{') {
            brace = ++braces;
        } else if (length == 1 && *text == '}') {
            brace = 0;
        } else {
            /* d:b32|p, p|q and [a,c*N] are two operands each. */
            size_t first = strcspn(text, " |,");
            if (count + 2 > FPO_ROW_OPERANDS)
                return -1;
            bool tensor = first < length && text[first] == ',';
            char head[64];
            if (first + 2 > sizeof head)
                return -1;
            memcpy(head, text, first);
            head[first] = tensor ? ']' : '\0';
            head[first + 1] = '\0';
            if (!parse_operand(head, strlen(head), brace, &operands[count]))
                return -1;
            count++;
            if (first < length) {
                size_t tail = length - first - 1 - (tensor ? 1 : 0);
                if (!parse_operand(text + first + 1, tail, brace, &operands[count]))
                    return -1;
                operands[count].pair = !tensor;
                operands[count].tensor = tensor;
                operands[count].optional = !tensor;
                if (tensor) {
                    operands[count].written = false;
                    operands[count].read = true;
                    memcpy(operands[count].type, "s32", 4);
                }
                count++;
            }
        }
        text += length;
    }
    return count;
}
