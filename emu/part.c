/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Finding and describing the wrong part of an output. */
#include <fp4oracle/part.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PERIOD = 4096, FEWEST_PERIODIC = 4 };

const char *fpo_part_kind_name(fpo_part_kind kind)
{
    static const char *const names[] = {"none", "all", "grid", "edge", "scattered"};
    return (unsigned)kind < FPO_PART_COUNT ? names[kind] : "unknown";
}

static bool differs(fpo_format format, int64_t n, const void *x, const void *y, int64_t row, int64_t column)
{
    return fpo_load_element(format, x, n, row, column) != fpo_load_element(format, y, n, row, column);
}

static bool is_nan(fpo_format format, int64_t n, const void *x, int64_t row, int64_t column)
{
    return fpo_decode(format, fpo_load_element(format, x, n, row, column)).kind == FPO_NAN;
}

static bool in_set(const fpo_index_set *set, int64_t i)
{
    return i >= set->first && i <= set->last && (i - set->first) % set->period < set->width;
}

int64_t fpo_index_set_size(const fpo_index_set *set)
{
    int64_t length = set->last - set->first + 1, rest = length % set->period;
    return length / set->period * set->width + (rest < set->width ? rest : set->width);
}

/* The period under which the fewest indices are taken in besides the marked ones. */
static void find_period(const bool *marked, int64_t count, fpo_index_set *set)
{
    int64_t length = set->last - set->first + 1, smallest = length;
    if (count < FEWEST_PERIODIC || count == length)
        return;
    for (int64_t period = 2; period <= length / 2 && period <= LONGEST_PERIOD; period++) {
        fpo_index_set candidate = {set->first, set->last, period, 1};
        for (int64_t i = set->first; i <= set->last; i++) {
            int64_t phase = (i - set->first) % period;
            if (marked[i] && phase >= candidate.width)
                candidate.width = phase + 1;
        }
        int64_t size = fpo_index_set_size(&candidate);
        /* Worth saying where it leaves out a quarter, and where nearly all that it takes in is marked. */
        if (size < smallest && size * 4 <= length * 3 && count * 4 >= size * 3) {
            *set = candidate;
            smallest = size;
        }
    }
}

static void find_set(const bool *marked, int64_t n, fpo_index_set *set)
{
    int64_t count = 0;
    *set = (fpo_index_set){n, -1, 1, 1};
    for (int64_t i = 0; i < n; i++) {
        if (!marked[i])
            continue;
        set->first = i < set->first ? i : set->first;
        set->last = i;
        count++;
    }
    if (count > 0)
        find_period(marked, count, set);
}

/* What the passes over the output note: which rows and columns have a difference, and in each row the first. */
typedef struct notes {
    bool *rows, *columns;
    int64_t *first;
} notes;

/* `expected` NULL: what is looked for is NaN. */
static int64_t take_notes(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                          notes *found)
{
    int64_t wrong = 0;
    for (int64_t row = 0; row < m; row++) {
        found->first[row] = n;
        for (int64_t column = n - 1; column >= 0; column--) {
            if (expected == NULL ? !is_nan(format, n, observed, row, column)
                                 : !differs(format, n, expected, observed, row, column))
                continue;
            found->rows[row] = found->columns[column] = true;
            found->first[row] = column;
            wrong++;
        }
    }
    return wrong;
}

/* The largest corner [0, r) x [0, c) without a difference; its size. */
static int64_t find_corner(const notes *found, int64_t m, int64_t n, int64_t *r, int64_t *c)
{
    int64_t largest = 0, width = n;
    for (int64_t row = 0; row < m && width > 0; row++) {
        width = found->first[row] < width ? found->first[row] : width;
        if ((row + 1) * width > largest) {
            largest = (row + 1) * width;
            *r = row + 1;
            *c = width;
        }
    }
    return largest;
}

static void settle(const notes *found, fpo_part *part)
{
    int64_t r = 0, c = 0, all = part->m * part->n;
    find_set(found->rows, part->m, &part->rows);
    find_set(found->columns, part->n, &part->columns);
    part->elements = fpo_index_set_size(&part->rows) * fpo_index_set_size(&part->columns);
    part->kind = part->elements == all ? FPO_PART_ALL : FPO_PART_GRID;
    if (part->wrong * 2 > part->elements)
        return;
    int64_t corner = find_corner(found, part->m, part->n, &r, &c);
    if (r < part->m && c < part->n && part->wrong * 2 > all - corner) {
        part->kind = FPO_PART_EDGE;
        part->rows = (fpo_index_set){r, part->m - 1, 1, 1};
        part->columns = (fpo_index_set){c, part->n - 1, 1, 1};
        part->elements = all - corner;
    } else if (part->wrong * 16 <= part->elements) {
        part->kind = FPO_PART_SCATTERED;
        part->elements = part->wrong;
    }
}

static fpo_status find(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                       fpo_part *part, fpo_error *error)
{
    notes found = {calloc((size_t)m, sizeof(bool)), calloc((size_t)n, sizeof(bool)),
                   calloc((size_t)m, sizeof(int64_t))};
    fpo_status status = FPO_OK;
    *part = (fpo_part){.kind = FPO_PART_NONE, .m = m, .n = n};
    if (found.rows == NULL || found.columns == NULL || found.first == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory to mark %" PRId64 " rows and %" PRId64 " columns", m, n);
    else
        part->wrong = take_notes(format, m, n, expected, observed, &found);
    if (part->wrong > 0)
        settle(&found, part);
    free(found.rows);
    free(found.columns);
    free(found.first);
    return status;
}

fpo_status fpo_part_find(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                         fpo_part *part, fpo_error *error)
{
    return find(format, m, n, expected, observed, part, error);
}

fpo_status fpo_part_find_nan(fpo_format format, int64_t m, int64_t n, const void *observed, fpo_part *part,
                             fpo_error *error)
{
    return find(format, m, n, NULL, observed, part, error);
}

bool fpo_part_has(const fpo_part *part, int64_t row, int64_t column, bool differs)
{
    switch (part->kind) {
    case FPO_PART_ALL: return true;
    case FPO_PART_GRID: return in_set(&part->rows, row) && in_set(&part->columns, column);
    case FPO_PART_EDGE: return row >= part->rows.first || column >= part->columns.first;
    case FPO_PART_SCATTERED: return differs;
    default: return false;
    }
}

/* "all rows", "row 3", "rows 4 to 7", "rows from 128 on", "every 4th row from 1", "of every 32 rows the first 8, from
 * row 8"; "to 99" follows where a periodic set ends early. */
static void set_text(const fpo_index_set *set, int64_t n, const char *name, char *text, size_t size)
{
    bool ends_early = n - 1 - set->last >= set->period;
    char end[32] = "";
    if (ends_early)
        snprintf(end, sizeof end, " to %" PRId64, set->last);
    if (set->period > 1 && set->width > 1)
        snprintf(text, size, "of every %" PRId64 " %ss the first %" PRId64 ", from %s %" PRId64 "%s", set->period, name,
                 set->width, name, set->first, end);
    else if (set->period > 1)
        snprintf(text, size, "every %" PRId64 "%s %s from %" PRId64 "%s", set->period,
                 set->period == 2   ? "nd"
                 : set->period == 3 ? "rd"
                                    : "th",
                 name, set->first, end);
    else if (set->first == 0 && set->last == n - 1)
        snprintf(text, size, "all %ss", name);
    else if (set->first == set->last)
        snprintf(text, size, "%s %" PRId64, name, set->first);
    else if (set->last == n - 1)
        snprintf(text, size, "%ss from %" PRId64 " on", name, set->first);
    else
        snprintf(text, size, "%ss %" PRId64 " to %" PRId64, name, set->first, set->last);
}

/* The range is one of the `edge` wide ones that tiles cut [0, n) into; the last may be short. */
static bool is_tile(const fpo_index_set *set, int64_t n, int64_t edge)
{
    int64_t end = set->first + edge < n ? set->first + edge : n;
    return set->period == 1 && set->first % edge == 0 && set->last == end - 1;
}

/* ": the 128x64 tile (1, 0)" for the largest usual tile that the part is. */
static void add_tile(const fpo_part *part, char *text, size_t size)
{
    static const int64_t edges[] = {256, 128, 64, 32, 16, 8};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    for (size_t i = 0; i < EDGES * EDGES; i++) {
        int64_t height = edges[i / EDGES], width = edges[i % EDGES];
        if (height < part->m && width < part->n && is_tile(&part->rows, part->m, height) &&
            is_tile(&part->columns, part->n, width)) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, ": the %" PRId64 "x%" PRId64 " tile (%" PRId64 ", %" PRId64 ")", height,
                     width, part->rows.first / height, part->columns.first / width);
            return;
        }
    }
}

void fpo_part_text(const fpo_part *part, char *text, size_t size)
{
    char rows[96], columns[96];
    set_text(&part->rows, part->m, "row", rows, sizeof rows);
    set_text(&part->columns, part->n, "column", columns, sizeof columns);
    switch (part->kind) {
    case FPO_PART_NONE: snprintf(text, size, "nothing"); return;
    case FPO_PART_ALL: snprintf(text, size, "all of it"); return;
    case FPO_PART_EDGE:
        snprintf(text, size, "the edge: rows from %" PRId64 " on and columns from %" PRId64 " on", part->rows.first,
                 part->columns.first);
        return;
    case FPO_PART_SCATTERED:
        snprintf(text, size, "%" PRId64 " elements scattered over %s, %s", part->wrong, rows, columns);
        return;
    default: break;
    }
    snprintf(text, size, "%s, %s", rows, columns);
    add_tile(part, text, size);
}
