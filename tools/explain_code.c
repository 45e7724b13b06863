/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain code: an element code, as it stands in memory. */
#include "explain.h"
#include "number.h"
#include "report.h"

#include <stdio.h>

/* What a unit of memory holds: one code, or two codes of 4 bits. */
typedef struct unit {
    fpo_format format;
    int codes;
    uint32_t code[2];
    uint32_t stray; /* bits above a code that is narrower than its unit */
} unit;

static unit take_apart(fpo_format format, uint32_t word)
{
    const fpo_format_info *info = fpo_format_describe(format);
    unit u = {.format = format, .codes = 1, .code = {word & info->code_mask, 0}};
    if (info->bits == 4 && word > info->code_mask) {
        u.codes = 2;
        u.code[1] = word >> 4;
    } else {
        u.stray = (uint32_t)((uint64_t)word >> info->bits);
    }
    return u;
}

static void print_unit(const unit *u, uint32_t word)
{
    if (u->codes == 2)
        printf("0x%02X holds two codes: low nibble 0x%X (even k), high nibble 0x%X (odd k)\n\n", word, u->code[0],
               u->code[1]);
    for (int i = 0; i < u->codes; i++) {
        if (i > 0)
            putchar('\n');
        fpo_explain_fields(u->format, u->code[i]);
        if (u->stray != 0)
            printf("  the bits above the code (0x%X) are ignored by the CUDA headers\n", u->stray);
        fpo_explain_neighbours(u->format, u->code[i]);
    }
    fpo_explain_misreadings(u->format, word);
}

static int print_json(const unit *u, uint32_t word)
{
    json_t *codes = json_array();
    for (int i = 0; i < u->codes; i++) {
        json_t *entry = fpo_explain_fields_json(u->format, u->code[i]);
        json_object_update_new(entry, fpo_explain_neighbours_json(u->format, u->code[i]));
        json_array_append_new(codes, entry);
    }
    return fpo_print_json(json_pack("{s:s, s:I, s:o, s:o}", "explain", "code", "memory", (json_int_t)word, "codes",
                                    codes, "same_bits_as", fpo_explain_misreadings_json(u->format, word)));
}

int fpo_explain_code(const fpo_explain_options *options, int count, char **arguments)
{
    (void)count;
    fpo_error error;
    fpo_format format = FPO_FORMAT_NONE;
    uint32_t word = 0;
    if (fpo_parse_format(arguments[0], &format, &error) != FPO_OK)
        return fpo_report_error(options->program, &error);
    const fpo_format_info *info = fpo_format_describe(format);
    int bits = info->bits > 16 ? info->bits : 8 * info->storage_bytes; /* tf32 is a code of 19 bits */
    if (fpo_parse_code(arguments[1], bits, info->name, &word, &error) != FPO_OK)
        return fpo_report_error(options->program, &error);
    unit u = take_apart(format, word);
    if (options->json)
        return print_json(&u, word);
    print_unit(&u, word);
    return FPO_EXIT_OK;
}
