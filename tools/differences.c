/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The library's comparison, the tiles it touches, and both as text and JSON. */
#include "differences.h"
#include "number.h"
#include "report.h"
#include "table.h"

#include <fp4oracle/layout.h>
#include <inttypes.h>
#include <string.h>

/* Number of codes of [m0, m1) x [n0, n1) that differ. e2m1 rows are packed two a byte. */
static int64_t count_tile(const fpo_differences *d, const void *expected, const void *observed, int64_t tile_row,
                          int64_t tile_column)
{
    int64_t m1 = (tile_row + 1) * FPO_TILE_EDGE, n1 = (tile_column + 1) * FPO_TILE_EDGE;
    int64_t count = 0;
    bool packed = fpo_format_describe(d->format)->bits == 4;
    size_t row_bytes = (size_t)fpo_packing_row_bytes(FPO_PACKING_CANONICAL, d->format, d->n);
    for (int64_t m = tile_row * FPO_TILE_EDGE; m < m1 && m < d->m; m++) {
        for (int64_t n = tile_column * FPO_TILE_EDGE; n < n1 && n < d->n; n++) {
            if (packed) {
                size_t byte = (size_t)m * row_bytes + (size_t)n / 2;
                int difference = ((const uint8_t *)expected)[byte] ^ ((const uint8_t *)observed)[byte];
                count += (difference >> 4 * (n % 2) & 0xF) != 0;
            } else {
                size_t index = (size_t)(m * d->n + n);
                count += fpo_load_code(d->format, expected, index) != fpo_load_code(d->format, observed, index);
            }
        }
    }
    return count;
}

static void find_tiles(fpo_differences *d, const void *expected, const void *observed)
{
    int64_t rows = (d->m + FPO_TILE_EDGE - 1) / FPO_TILE_EDGE, columns = (d->n + FPO_TILE_EDGE - 1) / FPO_TILE_EDGE;
    d->tiles.count = rows * columns;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            int64_t different = count_tile(d, expected, observed, r, c);
            if (different == 0)
                continue;
            d->tiles.touched++;
            if (d->tiles.shown < FPO_TILES_SHOWN) {
                d->tiles.first[d->tiles.shown].row = r;
                d->tiles.first[d->tiles.shown].column = c;
                d->tiles.first[d->tiles.shown++].different = different;
            }
        }
    }
}

void fpo_find_differences(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                          fpo_differences *result)
{
    memset(result, 0, sizeof *result);
    result->format = format;
    result->m = m;
    result->n = n;
    fpo_compare(format, m, n, expected, observed, &result->comparison);
    if (result->comparison.different > 0)
        find_tiles(result, expected, observed);
}

static const char *ulps_text(char *buffer, size_t size, int64_t ulps)
{
    if (ulps == INT64_MAX)
        return "NaN";
    snprintf(buffer, size, "%+" PRId64, ulps);
    return buffer;
}

static void print_first(const fpo_differences *d)
{
    const fpo_comparison *c = &d->comparison;
    fpo_table *table = fpo_table_new(7);
    static const char *const headings[] = {"row", "column", "expected", "", "observed", "", "ulp"};
    for (size_t i = 0; i < 7; i++) {
        fpo_table_add(table, "%s", headings[i]);
        fpo_table_align_right(table, i);
    }
    for (size_t i = 0; i < c->first_count; i++) {
        const fpo_difference *f = &c->first[i];
        char ulps[32];
        fpo_table_add(table, "%" PRId64, f->row);
        fpo_table_add(table, "%" PRId64, f->column);
        fpo_table_add(table, "%s", fpo_hex_text(d->format, f->expected).text);
        fpo_table_add(table, "%.9g", fpo_decode_double(d->format, f->expected));
        fpo_table_add(table, "%s", fpo_hex_text(d->format, f->observed).text);
        fpo_table_add(table, "%.9g", fpo_decode_double(d->format, f->observed));
        fpo_table_add(table, "%s", ulps_text(ulps, sizeof ulps, f->ulps));
    }
    fpo_table_print(table, 2);
    if (c->different > (int64_t)c->first_count)
        printf("  ... and %" PRId64 " more\n", c->different - (int64_t)c->first_count);
}

void fpo_differences_print(const fpo_differences *d)
{
    const fpo_comparison *c = &d->comparison;
    printf("  %-16s %" PRId64 " of %" PRId64 " elements (%.3g%%)\n", "different", c->different, c->elements,
           100.0 * (double)c->different / (double)c->elements);
    printf("  %-16s %" PRId64 " rows and %" PRId64 " columns touched: rows %" PRId64 " to %" PRId64 ", columns %" PRId64
           " to %" PRId64 "\n",
           "where", c->rows_touched, c->columns_touched, c->first_row, c->last_row, c->first_column, c->last_column);
    printf("  %-16s %" PRId64 " of %" PRId64 " touched:", "128x128 tiles", d->tiles.touched, d->tiles.count);
    for (size_t i = 0; i < d->tiles.shown; i++)
        printf(" (%" PRId64 ",%" PRId64 ") %" PRId64 "%s", d->tiles.first[i].row, d->tiles.first[i].column,
               d->tiles.first[i].different, i + 1 < d->tiles.shown ? "," : "");
    puts(d->tiles.touched > (int64_t)d->tiles.shown ? ", ..." : "");
    printf("  %-16s %" PRId64 " expected, %" PRId64 " observed; infinities %" PRId64 " expected, %" PRId64
           " observed\n",
           "NaN", c->nan_expected, c->nan_observed, c->infinity_expected, c->infinity_observed);
    if (c->signed_zero_only > 0)
        printf("  %-16s %" PRId64 " differ in the sign of zero alone\n", "signed zeros", c->signed_zero_only);
    printf("  %-16s %" PRId64 " ulp between numbers\n\n", "largest", c->largest_ulps);
    print_first(d);
}

static json_t *first_json(const fpo_differences *d)
{
    json_t *array = json_array();
    for (size_t i = 0; i < d->comparison.first_count; i++) {
        const fpo_difference *f = &d->comparison.first[i];
        json_array_append_new(array,
                              json_pack("{s:I, s:I, s:s, s:o, s:s, s:o, s:o}", "row", (json_int_t)f->row, "column",
                                        (json_int_t)f->column, "expected", fpo_hex_text(d->format, f->expected).text,
                                        "expected_value", fpo_json_number(fpo_decode_double(d->format, f->expected)),
                                        "observed", fpo_hex_text(d->format, f->observed).text, "observed_value",
                                        fpo_json_number(fpo_decode_double(d->format, f->observed)), "ulps",
                                        f->ulps == INT64_MAX ? json_null() : json_integer(f->ulps)));
    }
    return array;
}

json_t *fpo_differences_json(const fpo_differences *d)
{
    const fpo_comparison *c = &d->comparison;
    json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "elements", (json_int_t)c->elements, "different",
                               (json_int_t)c->different, "nan_expected", (json_int_t)c->nan_expected, "nan_observed",
                               (json_int_t)c->nan_observed, "infinity_expected", (json_int_t)c->infinity_expected,
                               "infinity_observed", (json_int_t)c->infinity_observed, "signed_zero_only",
                               (json_int_t)c->signed_zero_only);
    if (c->different == 0)
        return object;
    json_t *tiles = json_array();
    for (size_t i = 0; i < d->tiles.shown; i++)
        json_array_append_new(tiles, json_pack("{s:I, s:I, s:I}", "row", (json_int_t)d->tiles.first[i].row, "column",
                                               (json_int_t)d->tiles.first[i].column, "different",
                                               (json_int_t)d->tiles.first[i].different));
    json_object_update_new(object, json_pack("{s:I, s:I, s:I, s:[I, I], s:[I, I], s:I, s:i, s:o, s:o}", "largest_ulps",
                                             (json_int_t)c->largest_ulps, "rows_touched", (json_int_t)c->rows_touched,
                                             "columns_touched", (json_int_t)c->columns_touched, "rows",
                                             (json_int_t)c->first_row, (json_int_t)c->last_row, "columns",
                                             (json_int_t)c->first_column, (json_int_t)c->last_column, "tiles_touched",
                                             (json_int_t)d->tiles.touched, "tile_edge", FPO_TILE_EDGE, "tiles", tiles,
                                             "first", first_json(d)));
    return object;
}
