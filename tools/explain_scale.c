/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain scale: a scale factor, and what it makes of the elements under it. */
#include "explain.h"
#include "number.h"
#include "report.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

/* Operand formats that carry such scales, from the registry. */
static bool carries(const fpo_block_format_info *block, fpo_format scale)
{
    return block->view.scale.format == scale;
}

static bool is_scale_format(fpo_format format)
{
    for (int b = 0; b < FPO_BLOCK_COUNT; b++) {
        if (carries(fpo_block_format_describe((fpo_block_format)b), format))
            return true;
    }
    return false;
}

static const char *scale_format_name_at(size_t index)
{
    for (int f = 1; f < FPO_FORMAT_COUNT; f++) {
        if (is_scale_format((fpo_format)f) && index-- == 0)
            return fpo_format_describe((fpo_format)f)->name;
    }
    return NULL;
}

/* scale * element, exactly. */
static fpo_number_text product(fpo_format scale, uint32_t code, fpo_format element, uint32_t element_code)
{
    mpfr_t x, y;
    mpfr_inits2(128, x, y, (mpfr_ptr)0);
    fpo_value_to_mpfr(x, fpo_decode(scale, code));
    fpo_value_to_mpfr(y, fpo_decode(element, element_code));
    mpfr_mul(x, x, y, MPFR_RNDN);
    fpo_number_text text = fpo_mpfr_text(x);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return text;
}

/* One row an element format: its smallest and largest number under this scale. */
static void print_ranges(fpo_format scale, uint32_t code)
{
    fpo_table *table = fpo_table_new(4);
    fpo_table_add(table, "operand");
    fpo_table_add(table, "block");
    fpo_table_add(table, "smallest");
    fpo_table_add(table, "largest");
    for (int b = 0; b < FPO_BLOCK_COUNT; b++) {
        const fpo_block_format_info *block = fpo_block_format_describe((fpo_block_format)b);
        if (!carries(block, scale))
            continue;
        fpo_format element = block->view.element;
        char rows[16] = "all", columns[16] = "all";
        if (block->view.scale.block_rows > 0)
            snprintf(rows, sizeof rows, "%d", block->view.scale.block_rows);
        if (block->view.scale.block_k > 0)
            snprintf(columns, sizeof columns, "%d", block->view.scale.block_k);
        fpo_table_add(table, "%s", block->name);
        fpo_table_add(table, "%s x %s", rows, columns);
        fpo_table_add(table, "%s", product(scale, code, element, 1).text);
        fpo_table_add(table, "%s", product(scale, code, element, fpo_format_describe(element)->max_finite).text);
    }
    fpo_section("elements under this scale");
    fpo_table_print(table, 2);
    printf("  e2m1  ");
    for (uint32_t e = 0; e < 8; e++)
        printf("%s%s", e > 0 ? "  " : "", product(scale, code, FPO_E2M1, e).text);
    puts("   (codes 0 to 7)");
}

static void print_notes(fpo_format format, uint32_t code, uint32_t word)
{
    if (format == FPO_UE4M3 && word > 0x7F)
        puts("  bit 7 is no part of a ue4m3 code: PTX wants it 0, the MMA ignores it, a signed e4m3 reader takes it "
             "for a "
             "minus sign");
    if (format == FPO_UE4M3 && code != 0 && code < 8)
        puts("  a subnormal: a reader that takes exponent 0 for a normal number, or flushes it, is wrong here");
    if (format == FPO_UE8M0 && code == 0)
        puts("  the smallest scale, 2^-127, not zero: a reader that shifts the byte into an f32 exponent gets 0");
    fpo_value value = fpo_decode(format, code);
    if (value.kind == FPO_NAN)
        puts("  every output that this block reaches is NaN, even where its elements are zero");
    if (format == FPO_F32 && value.kind == FPO_FINITE && (code & 0x7FFFFF) != 0)
        printf("  no power of two: as ue8m0 it is 0x%02X with the mantissa dropped, 0x%02X rounded up\n",
               code >> 23 & 0xFF, fpo_encode(FPO_UE8M0, value, fpo_cast_describe(FPO_CAST_PTX_RP), 0));
}

int fpo_explain_scale(const fpo_explain_options *options, int count, char **arguments)
{
    (void)count;
    fpo_error error;
    fpo_format format = fpo_format_by_name(arguments[0]);
    if (format == FPO_FORMAT_COUNT || format == FPO_FORMAT_NONE || !is_scale_format(format)) {
        fpo_no_such_name("scale format", arguments[0], scale_format_name_at, "scales", &error);
        return fpo_report_error(options->program, &error);
    }
    const fpo_format_info *info = fpo_format_describe(format);
    uint32_t word = 0;
    if (fpo_parse_code(arguments[1], 8 * info->storage_bytes, info->name, &word, &error) != FPO_OK)
        return fpo_report_error(options->program, &error);
    uint32_t code = word & info->code_mask;
    if (options->json) {
        json_t *object = json_pack("{s:s, s:I}", "explain", "scale", "memory", (json_int_t)word);
        json_object_update_new(object, fpo_explain_fields_json(format, code));
        json_object_update_new(object, fpo_explain_neighbours_json(format, code));
        json_object_set_new(object, "same_bits_as", fpo_explain_misreadings_json(format, word));
        return fpo_print_json(object);
    }
    fpo_explain_fields(format, code);
    print_notes(format, code, word);
    print_ranges(format, code);
    fpo_explain_neighbours(format, code);
    fpo_explain_misreadings(format, word);
    return FPO_EXIT_OK;
}
