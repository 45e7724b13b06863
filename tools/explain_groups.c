/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain layout --groups: where the scales of groups or experts begin, by both rules. */
#include "explain.h"
#include "layout_text.h"
#include "report.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 4096 };

typedef struct groups {
    int64_t rows[MOST_GROUPS];
    int64_t packed[MOST_GROUPS + 1], spaced[MOST_GROUPS + 1];
    size_t count;
    int64_t all; /* rows of all groups */
} groups;

/* "100,0,27". */
static fpo_status parse_groups(const char *text, groups *g, fpo_error *error)
{
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        char number[32];
        if (g->count == MOST_GROUPS)
            return fpo_fail(error, FPO_ERR_ARGUMENT, "--groups has more than %d groups", MOST_GROUPS);
        if (length >= sizeof number)
            return fpo_fail(error, FPO_ERR_ARGUMENT, "--groups '%.80s' is not ROWS,ROWS,...: for instance 100,0,27",
                            text);
        memcpy(number, at, length);
        number[length] = '\0';
        fpo_status status = fpo_parse_integer("rows of a group", number, 0, INT32_MAX, &g->rows[g->count], error);
        if (status != FPO_OK)
            return status;
        g->all += g->rows[g->count++];
        at += length;
        if (*at == '\0')
            return FPO_OK;
    }
}

static int print_groups(const fpo_layout_info *info, const groups *g, int64_t columns)
{
    printf("  %s: %s\n", info->name, info->summary);
    fpo_section("groups, %lld scales a row: where each begins", (long long)columns);
    fpo_table *table = fpo_table_new(5);
    static const char *const titles[] = {"group", "rows", "first row", "packed", "spaced"};
    for (size_t i = 0; i < 5; i++) {
        fpo_table_add(table, "%s", titles[i]);
        fpo_table_align_right(table, i);
    }
    int64_t first = 0;
    for (size_t i = 0; i <= g->count; i++) {
        bool last = i == g->count;
        if (last)
            fpo_table_add(table, "all");
        else
            fpo_table_add(table, "%zu", i);
        fpo_table_add(table, "%lld", (long long)(last ? g->all : g->rows[i]));
        fpo_table_add(table, "%lld", (long long)first);
        fpo_table_add(table, "%lld", (long long)g->packed[i]);
        fpo_table_add(table, "%lld", (long long)g->spaced[i]);
        first += last ? 0 : g->rows[i];
    }
    fpo_table_print(table, 2);
    return FPO_EXIT_OK;
}

static int print_groups_json(const fpo_layout_info *info, const groups *g, int64_t columns)
{
    json_t *list = json_array();
    for (size_t i = 0; i < g->count; i++)
        json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "rows", (json_int_t)g->rows[i], "packed",
                                              (json_int_t)g->packed[i], "spaced", (json_int_t)g->spaced[i]));
    return fpo_print_json(json_pack("{s:s, s:s, s:s, s:[I, I], s:o, s:{s:I, s:I}}", "explain", "layout", "name",
                                    info->name, "summary", info->summary, "scales", (json_int_t)g->all,
                                    (json_int_t)columns, "groups", list, "elements", "packed",
                                    (json_int_t)g->packed[g->count], "spaced", (json_int_t)g->spaced[g->count]));
}

int fpo_explain_groups(const fpo_explain_options *options, fpo_layout layout, int64_t rows, int64_t columns)
{
    const fpo_layout_info *info = fpo_layout_describe(layout);
    fpo_error error;
    groups *g = calloc(1, sizeof *g);
    if (g == NULL)
        return fpo_report_unusable(options->program, "out of memory");
    fpo_status status = parse_groups(options->groups, g, &error);
    if (status == FPO_OK && rows >= 0 && rows != g->all)
        status = fpo_fail(&error, FPO_ERR_ARGUMENT, "the groups have %lld rows together, not %lld", (long long)g->all,
                          (long long)rows);
    if (status == FPO_OK && (!fpo_layout_group_offsets(layout, g->count, g->rows, columns, g->packed) ||
                             !fpo_layout_group_offsets_spaced(layout, g->count, g->rows, columns, g->spaced)))
        status = fpo_fail(&error, FPO_ERR_ARGUMENT, "the groups are too large");
    int result = status != FPO_OK ? fpo_report_error(options->program, &error)
                 : options->json  ? print_groups_json(info, g, columns)
                                  : print_groups(info, g, columns);
    free(g);
    return result;
}
