/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain packing: the closed formula of an element packing, and the bits of its first bytes. */
#include "explain.h"
#include "layout_text.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 64 };

static const char *packing_name_at(size_t index)
{
    return index < FPO_PACKING_COUNT ? fpo_packing_name((fpo_packing)index) : NULL;
}

/* What a bit of the packed group holds: bit `bit` of code `code`, or nothing (code -1). */
typedef struct place {
    int code, bit;
} place;

/* Found out by packing one bit at a time: what is shown is what the library does. */
static void find_places(fpo_packing packing, const fpo_packing_info *info, place places[MOST_BYTES * 8])
{
    fpo_format format = info->width == 6 ? FPO_E2M3 : FPO_E2M1;
    uint8_t codes[MOST_BYTES * 2] = {0}, packed[MOST_BYTES];
    for (int i = 0; i < info->bytes * 8; i++)
        places[i] = (place){-1, 0};
    for (int code = 0; code < info->codes; code++)
        for (int bit = 0; bit < info->width; bit++) {
            codes[code] = (uint8_t)(1 << bit);
            fpo_pack_row(packing, format, info->codes, codes, packed);
            codes[code] = 0;
            for (int i = 0; i < info->bytes * 8; i++)
                if (packed[i / 8] >> i % 8 & 1)
                    places[i] = (place){code, bit};
        }
}

/* How many bits from `high` downwards, within the byte, hold one code's or nothing. */
static int run_length(const place *byte, int high)
{
    int length = 1;
    while (length <= high && byte[high - length].code == byte[high].code)
        length++;
    return length;
}

/* "byte 1  bits 7-4 code 2 bits 3-0, bits 3-0 code 1 bits 5-2" */
static void print_byte(const fpo_packing_info *info, const place *byte)
{
    const char *comma = "";
    for (int high = 7; high >= 0;) {
        int length = run_length(byte, high), low = high - length + 1;
        printf("%s%d-%d ", comma, high, low);
        if (byte[high].code < 0)
            printf("nothing");
        else
            printf("k=%d", byte[high].code);
        if (byte[high].code >= 0 && length < info->width)
            printf(" (its %d-%d)", byte[high].bit, byte[low].bit);
        comma = ", ";
        high -= length;
    }
    putchar('\n');
}

static void print(fpo_packing packing, const fpo_packing_info *info)
{
    place places[MOST_BYTES * 8];
    find_places(packing, info, places);
    printf("  %s: %s\n", info->name, info->summary);
    fpo_section("code k of a row, %d bits wide", info->width);
    printf("  lowest bit  %s\n", fpo_packing_formula(info).text);
    if (info->codes > 1)
        printf("  row         ceil(K/%d)*%d bytes\n", info->codes, info->bytes);
    else
        printf("  row         K*%d bytes\n", info->bytes);
    fpo_section("bits of the first bytes of a row");
    for (int b = 0; b < info->bytes; b++) {
        printf("  byte %2d  ", b);
        print_byte(info, places + 8 * b);
    }
}

static int print_json(fpo_packing packing, const fpo_packing_info *info)
{
    place places[MOST_BYTES * 8];
    find_places(packing, info, places);
    json_t *bits = json_array();
    for (int code = 0; code < info->codes; code++)
        for (int i = 0; i < info->bytes * 8; i++)
            if (places[i].code == code && places[i].bit == 0)
                json_array_append_new(bits, json_integer(i));
    return fpo_print_json(json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:o}", "explain", "packing", "name",
                                    info->name, "summary", info->summary, "width", (int)info->width, "codes",
                                    (int)info->codes, "bytes", (int)info->bytes, "lowest_bit",
                                    fpo_packing_formula(info).text, "lowest_bits", bits));
}

int fpo_explain_packing(const fpo_explain_options *options, int count, char **arguments)
{
    (void)count;
    fpo_error error;
    fpo_packing packing = fpo_packing_by_name(arguments[0]);
    if (packing == FPO_PACKING_COUNT) {
        fpo_no_such_name("packing", arguments[0], packing_name_at, "packings", &error);
        return fpo_report_error(options->program, &error);
    }
    if (options->json)
        return print_json(packing, fpo_packing_describe(packing));
    print(packing, fpo_packing_describe(packing));
    return FPO_EXIT_OK;
}
