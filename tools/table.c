/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Aligned columns. */
#include "table.h"
#include "report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 16, GAP = 2, NARROWEST = 24 };

struct fpo_table {
    size_t columns;
    char **cells;
    size_t count, capacity;
    bool right[MOST_COLUMNS];
    char **notes; /* one a row; NULL where a row has none */
    size_t note_rows;
};

fpo_table *fpo_table_new(size_t columns)
{
    if (columns == 0 || columns > MOST_COLUMNS)
        return NULL;
    fpo_table *table = calloc(1, sizeof *table);
    if (table != NULL)
        table->columns = columns;
    return table;
}

void fpo_table_add(fpo_table *table, const char *format, ...)
{
    if (table == NULL)
        return;
    if (table->count == table->capacity) {
        size_t capacity = table->capacity == 0 ? 64 : 2 * table->capacity;
        char **cells = realloc(table->cells, capacity * sizeof *cells);
        if (cells == NULL)
            return;
        table->cells = cells;
        table->capacity = capacity;
    }
    va_list arguments;
    va_start(arguments, format);
    char *cell = NULL;
    if (vasprintf(&cell, format, arguments) >= 0)
        table->cells[table->count++] = cell;
    va_end(arguments);
}

void fpo_table_align_right(fpo_table *table, size_t column)
{
    if (table != NULL && column < table->columns)
        table->right[column] = true;
}

void fpo_table_note(fpo_table *table, const char *text)
{
    if (table == NULL || table->count < table->columns)
        return;
    size_t row = table->count / table->columns - 1;
    if (row >= table->note_rows) {
        char **notes = realloc(table->notes, (row + 1) * sizeof *notes);
        if (notes == NULL)
            return;
        for (size_t i = table->note_rows; i <= row; i++)
            notes[i] = NULL;
        table->notes = notes;
        table->note_rows = row + 1;
    }
    free(table->notes[row]);
    table->notes[row] = strdup(text);
}

void fpo_print_wrapped(int column, const char *text)
{
    int width = fpo_terminal_width(stdout);
    size_t room = width > column + NARROWEST ? (size_t)(width - column) : strlen(text) + 1;
    while (strlen(text) > room) {
        size_t cut = room;
        while (cut > 0 && text[cut] != ' ')
            cut--;
        if (cut == 0)
            break; /* one word longer than the line */
        printf("%.*s\n%*s", (int)cut, text, column, "");
        text += cut + 1;
    }
    puts(text);
}

static void print_row(const fpo_table *table, size_t row, const size_t *widths, int indent)
{
    int column_start = indent;
    printf("%*s", indent, "");
    for (size_t c = 0; c < table->columns; c++) {
        const char *cell = table->cells[row * table->columns + c];
        if (c + 1 == table->columns && !table->right[c]) {
            fpo_print_wrapped(column_start, cell);
            return;
        }
        printf(table->right[c] ? "%*s" : "%-*s", (int)widths[c], cell);
        printf("%s", c + 1 == table->columns ? "\n" : "  ");
        column_start += (int)widths[c] + GAP;
    }
}

void fpo_table_free(fpo_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->note_rows; i++)
        free(table->notes[i]);
    free(table->notes);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

static void print_table(fpo_table *table, int indent, bool heading)
{
    if (table == NULL)
        return;
    size_t rows = table->count / table->columns;
    size_t widths[MOST_COLUMNS] = {0};
    for (size_t i = 0; i < rows * table->columns; i++) {
        size_t length = strlen(table->cells[i]);
        if (length > widths[i % table->columns])
            widths[i % table->columns] = length;
    }
    for (size_t row = 0; row < rows; row++) {
        if (row == 0 && heading)
            fputs(fpo_style(stdout, FPO_DIM), stdout);
        print_row(table, row, widths, indent);
        if (row == 0 && heading)
            fputs(fpo_style(stdout, FPO_PLAIN), stdout);
        if (row < table->note_rows && table->notes[row] != NULL) {
            printf("%s%*s", fpo_style(stdout, FPO_DIM), indent + 4, "");
            fpo_print_wrapped(indent + 4, table->notes[row]);
            fputs(fpo_style(stdout, FPO_PLAIN), stdout);
        }
    }
    fpo_table_free(table);
}

void fpo_table_print(fpo_table *table, int indent)
{
    print_table(table, indent, true);
}

void fpo_table_print_plain(fpo_table *table, int indent)
{
    print_table(table, indent, false);
}
