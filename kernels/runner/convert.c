/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Packing, order in memory and scale layout, by the library's own registries. */
#include "convert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static fpo_status count_lines(fpo_packing packing, fpo_format format, int64_t lines, int64_t length, int64_t multiple,
                              int64_t gap, fpo_lines *result, fpo_error *error)
{
    int64_t used = fpo_packing_row_bytes(packing, format, length);
    int64_t line = 0, bytes = 0;
    bool overflow = used < 0 || __builtin_add_overflow(used, gap + multiple - 1, &line);
    line -= overflow ? 0 : line % multiple;
    overflow = overflow || lines < 1 || __builtin_mul_overflow(lines - 1, line, &bytes) ||
               __builtin_add_overflow(bytes, used, &bytes);
    if (overflow) {
        return fpo_fail(error, FPO_ERR_SHAPE, "%" PRId64 " lines of %" PRId64 " codes have no size that fits 63 bits",
                        lines, length);
    }
    *result = (fpo_lines){lines, used, line, bytes};
    return FPO_OK;
}

fpo_status fpo_operand_lines(const fpo_operand_want *want, int64_t rows, int64_t k, int64_t gap, fpo_lines *lines,
                             fpo_error *error)
{
    return count_lines(want->view.packing, want->view.element, want->mn_major ? k : rows, want->mn_major ? rows : k,
                       want->line_multiple, gap, lines, error);
}

fpo_status fpo_matrix_lines(const fpo_matrix_want *want, int64_t m, int64_t n, int64_t gap, fpo_lines *lines,
                            fpo_error *error)
{
    return count_lines(FPO_PACKING_CANONICAL, want->format, want->column_major ? n : m, want->column_major ? m : n,
                       want->line_multiple, gap, lines, error);
}

/* One line of `length` codes, `step` codes apart in `codes` (unpacked). */
static void gather(fpo_format format, const void *codes, int64_t first, int64_t step, int64_t length, void *line)
{
    for (int64_t i = 0; i < length; i++) {
        fpo_store_code(format, line, (size_t)i, fpo_load_code(format, codes, (size_t)(first + i * step)));
    }
}

/* Repacks `rows` rows of `columns` codes. from: packing `p`, lines of f->line bytes; to: packing q, lines t->line; each
 * along rows or, transposed, along columns. */
typedef struct repack {
    fpo_format format;
    int64_t rows, columns;
    fpo_packing from, to;
    bool transpose;
} repack;

static fpo_status run_repack(const repack *r, const void *from, int64_t from_line, void *to, int64_t to_line,
                             fpo_error *error)
{
    size_t storage = fpo_format_describe(r->format)->storage_bytes;
    int64_t count = 0;
    if (__builtin_mul_overflow(r->rows * (int64_t)storage, r->columns, &count)) {
        return fpo_fail(error, FPO_ERR_SHAPE, "%" PRId64 " x %" PRId64 " codes are too many", r->rows, r->columns);
    }
    size_t longest = (size_t)(r->rows > r->columns ? r->rows : r->columns);
    char *codes = malloc((size_t)(r->transpose ? count : r->columns * (int64_t)storage));
    char *line = malloc(longest * storage);
    if (codes == NULL || line == NULL) {
        free(codes);
        free(line);
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory to convert %" PRId64 " x %" PRId64 " codes", r->rows,
                        r->columns);
    }
    for (int64_t row = 0; row < r->rows; row++) {
        char *here = codes + (r->transpose ? row * r->columns * (int64_t)storage : 0);
        fpo_unpack_row(r->from, r->format, r->columns, (const char *)from + row * from_line, here);
        if (!r->transpose) {
            fpo_pack_row(r->to, r->format, r->columns, here, (char *)to + row * to_line);
        }
    }
    for (int64_t column = 0; r->transpose && column < r->columns; column++) {
        gather(r->format, codes, column, r->columns, r->rows, line);
        fpo_pack_row(r->to, r->format, r->rows, line, (char *)to + column * to_line);
    }
    free(codes);
    free(line);
    return FPO_OK;
}

static void fill_gaps(const fpo_lines *lines, int fill, void *image)
{
    for (int64_t i = 0; i + 1 < lines->lines; i++) {
        memset((char *)image + i * lines->line + lines->used, fill, (size_t)(lines->line - lines->used));
    }
}

fpo_status fpo_convert_codes(const fpo_operand_want *want, const void *canonical, int64_t rows, int64_t k,
                             const fpo_lines *lines, int fill, void *image, fpo_error *error)
{
    repack r = {.format = want->view.element,
                .rows = rows,
                .columns = k,
                .from = FPO_PACKING_CANONICAL,
                .to = want->view.packing,
                .transpose = want->mn_major};
    fill_gaps(lines, fill, image);
    return run_repack(&r, canonical, fpo_packing_row_bytes(FPO_PACKING_CANONICAL, r.format, k), image, lines->line,
                      error);
}

int64_t fpo_converted_scales_bytes(const fpo_operand_want *want, int64_t rows, int64_t k)
{
    const fpo_scale_view *scale = &want->view.scale;
    if (scale->format == FPO_FORMAT_NONE) {
        return 0;
    }
    int64_t bytes = 0;
    int64_t count = fpo_layout_size(scale->layout, fpo_scale_rows(scale, rows), fpo_scale_columns(scale, k));
    bool overflow =
        count < 0 || __builtin_mul_overflow(count, (int64_t)fpo_format_describe(scale->format)->storage_bytes, &bytes);
    return overflow ? -1 : bytes;
}

static int allowed_fill(const fpo_operand_want *want, int fill)
{
    uint32_t word = (uint32_t)(fill & 0xFF) * 0x01010101u;
    bool nan =
        fpo_decode(want->view.scale.format, word & fpo_format_describe(want->view.scale.format)->code_mask).kind ==
        FPO_NAN;
    bool allowed = want->scale_padding == FPO_PADDING_ANY || (want->scale_padding == FPO_PADDING_NUMBERS && !nan);
    return allowed ? fill : 0;
}

void fpo_convert_scales(const fpo_operand_want *want, const void *canonical, int64_t rows, int64_t k, int fill,
                        void *image)
{
    const fpo_scale_view *scale = &want->view.scale;
    if (scale->format != FPO_FORMAT_NONE) {
        fpo_layout_apply(scale->layout, fpo_scale_rows(scale, rows), fpo_scale_columns(scale, k),
                         fpo_format_describe(scale->format)->storage_bytes, canonical, image, allowed_fill(want, fill));
    }
}

fpo_status fpo_convert_matrix(const fpo_matrix_want *want, const void *canonical, int64_t m, int64_t n,
                              const fpo_lines *lines, int fill, void *image, fpo_error *error)
{
    repack r = {.format = want->format, .rows = m, .columns = n, .transpose = want->column_major};
    fill_gaps(lines, fill, image);
    return run_repack(&r, canonical, fpo_packing_row_bytes(FPO_PACKING_CANONICAL, r.format, n), image, lines->line,
                      error);
}

fpo_status fpo_convert_back(const fpo_matrix_want *want, const void *image, int64_t m, int64_t n,
                            const fpo_lines *lines, void *canonical, fpo_error *error)
{
    bool column = want->column_major;
    repack r = {.format = want->format, .rows = column ? n : m, .columns = column ? m : n, .transpose = column};
    return run_repack(&r, image, lines->line, canonical, fpo_packing_row_bytes(FPO_PACKING_CANONICAL, r.format, n),
                      error);
}
