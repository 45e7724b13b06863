/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The tables of codes in docs/formats.md say what the library does. Two kinds: a header `code` with codes, then a row a
 * format with numbers; and a header that is a format's name with numbers, then a row a preset with codes. */
#include "suite.h"

#include <fp4oracle/cast.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 20, WIDTH = 1024 };

typedef struct row {
    char text[WIDTH];
    char *cells[CELLS];
    int count;
} row;

/* Splits at bars and takes blanks and backticks off; no cells if the line is no row of a table. */
static void split(row *r, const char *line)
{
    r->count = 0;
    if (line[0] != '|')
        return;
    snprintf(r->text, sizeof r->text, "%s", line + 1);
    for (char *cell = r->text, *bar; (bar = strchr(cell, '|')) != NULL && r->count < CELLS; cell = bar + 1) {
        *bar = '\0';
        cell += strspn(cell, " `");
        for (char *end = cell + strlen(cell); end > cell && strchr(" `", end[-1]) != NULL;)
            *--end = '\0';
        r->cells[r->count++] = cell;
    }
}

/* "0.25", "2^-9", "1.5*2^127", "Inf", "-NaN". */
static double number(const char *text)
{
    char *rest;
    if (strcmp(text, "-NaN") == 0)
        return copysign(NAN, -1);
    double x = strtod(text, &rest);
    if (strncmp(rest, "*2^", 3) == 0)
        return ldexp(x, (int)strtol(rest + 3, NULL, 10));
    if (x == 2 && rest[0] == '^')
        return ldexp(1, (int)strtol(rest + 1, NULL, 10));
    ck_assert_msg(*rest == '\0' && rest != text, "'%s' is no number", text);
    return x;
}

static uint32_t code_of(const char *text)
{
    char *rest;
    uint32_t code = (uint32_t)strtoul(text, &rest, 16);
    ck_assert_msg(*rest == '\0' && rest != text, "'%s' is no code", text);
    return code;
}

static int check_numbers(const row *header, const row *r, fpo_format format)
{
    for (int i = 1; i < r->count; i++) {
        double said = number(r->cells[i]), is = fpo_decode_double(format, code_of(header->cells[i]));
        ck_assert_msg(isnan(said) ? isnan(is) : said == is, "%s 0x%s: %s, but it is %g", r->cells[0], header->cells[i],
                      r->cells[i], is);
    }
    return r->count - 1;
}

static int check_codes(const row *header, const row *r, fpo_cast_preset preset)
{
    fpo_format format = fpo_format_by_name(header->cells[0]);
    for (int i = 1; i < r->count; i++) {
        uint32_t is = fpo_encode_double(format, number(header->cells[i]), fpo_cast_describe(preset));
        ck_assert_msg(code_of(r->cells[i]) == is, "%s, %s of %s: %s, but it is %X", r->cells[0], header->cells[0],
                      header->cells[i], r->cells[i], is);
    }
    return r->count - 1;
}

START_TEST(tables_of_codes_are_true)
{
    FILE *file = fopen(FPO_SOURCE_DIR "/docs/formats.md", "r");
    ck_assert_ptr_nonnull(file);
    char line[WIDTH];
    row header = {.count = 0}, r;
    bool inside = false;
    int numbers = 0, codes = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        split(&r, line);
        if (r.count == 0) {
            inside = false;
        } else if (!inside) {
            split(&header, line);
            inside = true;
        } else if (r.cells[0][0] != '-' && r.count == header.count) {
            fpo_format format = fpo_format_by_name(r.cells[0]);
            fpo_cast_preset preset = fpo_cast_by_name(r.cells[0]);
            if (strcmp(header.cells[0], "code") == 0 && format != FPO_FORMAT_COUNT)
                numbers += check_numbers(&header, &r, format);
            else if (fpo_format_by_name(header.cells[0]) != FPO_FORMAT_COUNT && preset != FPO_CAST_COUNT)
                codes += check_codes(&header, &r, preset);
        }
    }
    fclose(file);
    /* the tables are there and were understood */
    ck_assert_int_ge(numbers, 54);
    ck_assert_int_ge(codes, 218);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("docs/formats.md");
    TCase *tests = tcase_create("docs/formats.md");
    tcase_add_test(tests, tables_of_codes_are_true);
    suite_add_tcase(suite, tests);
    return suite;
}
