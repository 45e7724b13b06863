/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Build step: generate FAMILY < isa/FAMILY.isa > rows_FAMILY.c. Each row of the table becomes an entry, and each pure
 * row a function over lanes for every combination of its alternatives. docs/vgpu.md has the table's format. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row_text.h"

#define FPO_PTX_TYPE(ID, name, bytes, ctype) {name, #ctype},
static const char *const type_names[][2] = {
#include "types.inc"
};
#undef FPO_PTX_TYPE

static void fail(int line, const char *what, const char *text)
{
    fprintf(stderr, "line %d: %s: %s\n", line, what, text);
    exit(1);
}

static const char *c_type(const char *name, int line)
{
    if (strcmp(name, "imm32") == 0)
        return "uint32_t";
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (strcmp(type_names[i][0], name) == 0)
            return type_names[i][1];
    fail(line, "no such type", name);
    return NULL;
}

/* One lane of a pure row: operands into locals, the statements, results out. */
static void write_body(const fpo_row_operand *operands, int count, const char *statements, const char *indent)
{
    for (int i = 0; i < count; i++) {
        const fpo_row_operand *o = &operands[i];
        const char *type = c_type(o->type, 0);
        if (o->written)
            printf("%s%s %s;\n", indent, type, o->name);
        else if (strcmp(o->type, "pred") == 0)
            printf("%sbool %s = *(const uint32_t *)o[%d] >> l & 1;\n", indent, o->name, i);
        else if (o->wider)
            printf("%s%s %s = *(const %s *)((const char *)o[%d] + l * bytes[%d]);\n", indent, type, o->name, type, i,
                   i);
        else
            printf("%s%s %s = ((const %s *)o[%d])[l];\n", indent, type, o->name, type, i);
    }
    printf("%s%s;\n", indent, statements);
    for (int i = 0; i < count; i++) {
        const fpo_row_operand *o = &operands[i];
        if (!o->written)
            continue;
        if (strcmp(o->type, "pred") == 0)
            printf("%sout_%s |= (uint32_t)%s << l;\n", indent, o->name, o->name);
        else if (o->wider)
            printf("%sstore_wider(o[%d], bytes[%d], l, (int64_t)%s);\n", indent, i, i, o->name);
        else
            printf("%s((%s *)o[%d])[l] = %s;\n", indent, c_type(o->type, 0), i, o->name);
    }
}

static void write_function(const char *name, const fpo_row_operand *operands, int count, const char *statements)
{
    printf("static void %s(void *const *o, const uint8_t *bytes, uint32_t mask)\n{\n    (void)bytes;\n", name);
    for (int i = 0; i < count; i++)
        if (operands[i].written && strcmp(operands[i].type, "pred") == 0)
            printf("    uint32_t out_%s = 0;\n", operands[i].name);
    printf("    if (mask == 0xFFFFFFFF) {\n#pragma GCC ivdep\n        for (unsigned l = 0; l < 32; l++) {\n");
    write_body(operands, count, statements, "            ");
    printf("        }\n    } else {\n        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {\n");
    printf("            unsigned l = (unsigned)__builtin_ctz(rest);\n");
    write_body(operands, count, statements, "            ");
    printf("        }\n    }\n");
    for (int i = 0; i < count; i++)
        if (operands[i].written && strcmp(operands[i].type, "pred") == 0)
            printf("    uint32_t *p_%s = o[%d];\n    *p_%s = (*p_%s & ~mask) | out_%s;\n", operands[i].name, i,
                   operands[i].name, operands[i].name, operands[i].name);
    printf("}\n\n");
}

static void write_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

typedef struct row_head {
    char pattern[FPO_ROW_TEXT], operands[FPO_ROW_TEXT], semantics[FPO_ROW_TEXT];
    int line, functions;
} row_head;

static int write_row_functions(const row_head *row, int index)
{
    if (row->semantics[0] == '@')
        return 0;
    fpo_row_groups groups;
    if (!fpo_row_parse_groups(row->pattern, &groups))
        fail(row->line, "bad alternatives", row->pattern);
    int total = 1;
    for (int g = 0; g < groups.count; g++)
        total *= groups.size[g];
    for (int k = 0; k < total; k++) {
        int choice[FPO_ROW_GROUPS] = {0};
        for (int g = groups.count - 1, rest = k; g >= 0; g--) {
            choice[g] = rest % groups.size[g];
            rest /= groups.size[g];
        }
        char operands_text[FPO_ROW_TEXT], statements[FPO_ROW_TEXT];
        if (!fpo_row_substitute(row->operands, &groups, choice, operands_text, sizeof operands_text) ||
            !fpo_row_substitute(row->semantics, &groups, choice, statements, sizeof statements))
            fail(row->line, "bad reference", row->operands);
        fpo_row_operand operands[FPO_ROW_OPERANDS];
        int count = fpo_row_parse_operands(operands_text, operands);
        if (count < 0)
            fail(row->line, "bad operands", operands_text);
        for (int i = 0; i < count; i++)
            c_type(operands[i].type, row->line);
        char name[64];
        snprintf(name, sizeof name, "row_%d_%d", index, k);
        write_function(name, operands, count, statements);
    }
    return total;
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (char *end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    return text;
}

static void split_row(char *text, row_head *row)
{
    char *first = strstr(text, " | ");
    char *second = first != NULL ? strstr(first + 2, " | ") : NULL;
    if (second == NULL)
        fail(row->line, "a row has three columns", text);
    *first = *second = '\0';
    char *pattern = trim(text);
    snprintf(row->pattern, sizeof row->pattern, "%s", pattern);
    snprintf(row->operands, sizeof row->operands, "%s", trim(first + 2));
    snprintf(row->semantics, sizeof row->semantics, "%s", trim(second + 3));
}

enum { MAX_ROWS = 1000 };

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    static row_head rows[MAX_ROWS];
    static char text[4 * FPO_ROW_TEXT], line[FPO_ROW_TEXT];
    int count = 0, number = 0, start = 0;
    printf("/* Made by generate.c from isa/%s.isa. */\n#include \"lane_rows.h\"\n\n", argv[1]);
    for (;;) {
        char *more = fgets(line, sizeof line, stdin);
        number++;
        if (more != NULL && line[0] == '#')
            continue;
        if (more != NULL && isspace((unsigned char)line[0]) && trim(line)[0] != '\0') {
            strcat(text, " ");
            strcat(text, trim(line));
            continue;
        }
        if (text[0] != '\0') {
            if (count == MAX_ROWS)
                fail(number, "too many rows", "");
            row_head *row = &rows[count];
            row->line = start;
            split_row(text, row);
            row->functions = write_row_functions(row, count);
            count++;
            text[0] = '\0';
        }
        if (more == NULL)
            break;
        start = number;
        snprintf(text, sizeof text, "%s", trim(line));
    }
    for (int i = 0; i < count; i++) {
        if (rows[i].functions == 0)
            continue;
        printf("static const fpo_ptx_lanes row_%d[] = {", i);
        for (int k = 0; k < rows[i].functions; k++)
            printf("%srow_%d_%d", k == 0 ? "" : ", ", i, k);
        printf("};\n");
    }
    printf("\nstatic const fpo_ptx_row rows[] = {\n");
    for (int i = 0; i < count; i++) {
        printf("    {");
        write_string(rows[i].pattern);
        printf(", ");
        write_string(rows[i].operands);
        printf(", ");
        write_string(rows[i].semantics);
        if (rows[i].functions != 0)
            printf(", row_%d, %d, %d},\n", i, rows[i].functions, rows[i].line);
        else
            printf(", NULL, 0, %d},\n", rows[i].line);
    }
    printf("};\n\nconst fpo_ptx_family fpo_ptx_family_%s = {\"%s\", rows, sizeof rows / sizeof rows[0]};\n", argv[1],
           argv[1]);
    return 0;
}
