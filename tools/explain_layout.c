/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain layout: the closed formula of a scale layout, and where the scales of a small matrix lie. */
#include "explain.h"
#include "layout_text.h"
#include "report.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12, MEMORY_LINE = 16, MEMORY_LINES = 4, MOST_SCALES = 1 << 20 };

typedef struct matrix {
    fpo_layout layout;
    const fpo_layout_info *info;
    int64_t rows, columns, size;
} matrix;

/* A little more than a tile each way, so that a second one begins. */
static void choose_size(matrix *m)
{
    m->rows = m->info->tile_rows > 1 ? m->info->tile_rows + 2 : 3;
    m->columns = m->info->tile_columns > 1 ? m->info->tile_columns + 2 : 3;
}

/* "10x6". */
static fpo_status parse_size(const char *text, matrix *m, fpo_error *error)
{
    char rows[32];
    const char *x = strchr(text, 'x');
    if (x == NULL || (size_t)(x - text) >= sizeof rows)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "size '%.80s' is not ROWSxSCALES, for instance 130x6", text);
    memcpy(rows, text, (size_t)(x - text));
    rows[x - text] = '\0';
    fpo_status status = fpo_parse_integer("rows", rows, 1, MOST_SCALES, &m->rows, error);
    if (status == FPO_OK)
        status = fpo_parse_integer("scales of a row", x + 1, 1, MOST_SCALES, &m->columns, error);
    if (status == FPO_OK && m->rows * m->columns > MOST_SCALES)
        status = fpo_fail(error, FPO_ERR_ARGUMENT, "%lldx%lld scales are more than the %d that are shown at most",
                          (long long)m->rows, (long long)m->columns, MOST_SCALES);
    return status;
}

/* Which indices are shown: all of few; else the first ones, and those where a digit of the formula turns over. */
static int choose_indices(int64_t n, const fpo_digit *digits, int64_t *shown)
{
    int count = 0;
    int64_t below = 1;
    for (int64_t i = 0; i < n && (n <= SHOWN ? count < SHOWN : i < 3); i++)
        shown[count++] = i;
    for (int d = 0; n > SHOWN && d < FPO_DIGITS && digits[d].extent != 0 && count + 2 < SHOWN; d++) {
        below *= digits[d].extent;
        for (int64_t i = below - 1; i <= below && i < n; i++)
            if (i > shown[count - 1])
                shown[count++] = i;
    }
    if (shown[count - 1] != n - 1)
        shown[count++] = n - 1;
    return count;
}

static void print_grid(const matrix *m)
{
    int64_t rows[SHOWN + 2], columns[SHOWN + 2];
    int row_count = choose_indices(m->rows, m->info->row, rows);
    int column_count = choose_indices(m->columns, m->info->column, columns);
    fpo_table *table = fpo_table_new((size_t)column_count + 1);
    fpo_table_add(table, "m \\ s");
    for (int c = 0; c < column_count; c++) {
        fpo_table_add(table, "%lld", (long long)columns[c]);
        fpo_table_align_right(table, (size_t)c + 1);
    }
    for (int r = 0; r < row_count; r++) {
        fpo_table_add(table, "%lld", (long long)rows[r]);
        for (int c = 0; c < column_count; c++)
            fpo_table_add(table, "%lld",
                          (long long)fpo_layout_offset(m->layout, m->rows, m->columns, rows[r], columns[c]));
    }
    fpo_table_print(table, 2);
}

/* What each stored element is: an index into the linear matrix plus 1, or 0 for padding. */
static int32_t *stored(const matrix *m)
{
    int32_t *linear = malloc((size_t)(m->rows * m->columns) * sizeof *linear);
    int32_t *memory = malloc((size_t)m->size * sizeof *memory);
    for (int64_t i = 0; linear != NULL && i < m->rows * m->columns; i++)
        linear[i] = (int32_t)i + 1;
    if (linear != NULL && memory != NULL)
        fpo_layout_apply(m->layout, m->rows, m->columns, sizeof *linear, linear, memory, 0);
    free(linear);
    return memory;
}

static void print_memory(const matrix *m)
{
    int32_t *memory = stored(m);
    int64_t end = m->size < MEMORY_LINE * MEMORY_LINES ? m->size : MEMORY_LINE * MEMORY_LINES;
    for (int64_t i = 0; memory != NULL && i < end; i++) {
        char text[48] = ".";
        if (memory[i] > 0)
            snprintf(text, sizeof text, "%lld,%lld", (long long)((memory[i] - 1) / m->columns),
                     (long long)((memory[i] - 1) % m->columns));
        bool last = i + 1 == end || i % MEMORY_LINE == MEMORY_LINE - 1;
        if (i % MEMORY_LINE == 0)
            printf("  %5lld: ", (long long)i);
        printf(last ? "%s\n" : "%-6s", text);
    }
    if (end < m->size)
        printf("    ... %lld elements in all\n", (long long)m->size);
    free(memory);
}

static void print(const matrix *m)
{
    printf("  %s: %s\n", m->info->name, m->info->summary);
    fpo_section("scale m, s of R rows with S scales each");
    fpo_table *table = fpo_table_new(2);
    const struct {
        const char *what;
        fpo_formula formula;
    } lines[] = {{"offset", fpo_layout_formula(m->info)},
                 {"size", fpo_layout_size_formula(m->info)},
                 {"padding", fpo_layout_padding_text(m->info)}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        fpo_table_add(table, "%s", lines[i].what);
        fpo_table_add(table, "%s", lines[i].formula.text);
    }
    fpo_table_print_plain(table, 2);
    fpo_section("offsets of %lld x %lld scales", (long long)m->rows, (long long)m->columns);
    print_grid(m);
    fpo_section("memory, as m,s; a dot is no scale");
    print_memory(m);
}

static int print_json(const matrix *m)
{
    json_t *offsets = json_array();
    for (int64_t row = 0; row < m->rows; row++) {
        json_t *line = json_array();
        for (int64_t column = 0; column < m->columns; column++)
            json_array_append_new(line, json_integer(fpo_layout_offset(m->layout, m->rows, m->columns, row, column)));
        json_array_append_new(offsets, line);
    }
    return fpo_print_json(json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:[I, I], s:I, s:o}", "explain", "layout", "name",
                                    m->info->name, "summary", m->info->summary, "offset",
                                    fpo_layout_formula(m->info).text, "size", fpo_layout_size_formula(m->info).text,
                                    "padding", fpo_layout_padding_text(m->info).text, "scales", (json_int_t)m->rows,
                                    (json_int_t)m->columns, "elements", (json_int_t)m->size, "offsets", offsets));
}

int fpo_explain_layout(const fpo_explain_options *options, int count, char **arguments)
{
    matrix m;
    fpo_error error;
    fpo_status status = fpo_parse_layout(arguments[0], &m.layout, &error);
    if (status == FPO_OK) {
        m.info = fpo_layout_describe(m.layout);
        choose_size(&m);
        if (count > 1)
            status = parse_size(arguments[1], &m, &error);
    }
    if (status != FPO_OK)
        return fpo_report_error(options->program, &error);
    if (options->groups != NULL)
        return fpo_explain_groups(options, m.layout, count > 1 ? m.rows : -1, m.columns);
    m.size = fpo_layout_size(m.layout, m.rows, m.columns);
    if (options->json)
        return print_json(&m);
    print(&m);
    return FPO_EXIT_OK;
}
