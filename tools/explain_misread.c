/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The same bits under the other formats of that width: how a misread byte or word shows. */
#include "explain.h"
#include "number.h"
#include "report.h"
#include "table.h"

#include <stdio.h>

/* f32 words are also read as four ue8m0 bytes (faults.md, class 8), 16-bit words as two of e4m3. */
static fpo_format byte_format(const fpo_format_info *info)
{
    return info->bits == 32 ? FPO_UE8M0 : info->bits == 16 ? FPO_E4M3 : FPO_FORMAT_NONE;
}

static bool is_alternative(fpo_format format, fpo_format other)
{
    const fpo_format_info *info = fpo_format_describe(format);
    const fpo_format_info *candidate = fpo_format_describe(other);
    return other != format && candidate->storage_bytes == info->storage_bytes && info->bits != 19 &&
           candidate->bits != 19 && candidate->bits <= 8 * info->storage_bytes;
}

static void add_row(fpo_table *table, fpo_format other, uint32_t word)
{
    const fpo_format_info *info = fpo_format_describe(other);
    fpo_table_add(table, "%s", info->name);
    fpo_table_add(table, "%s", fpo_hex_text(other, word & info->code_mask).text);
    if (info->bits == 4)
        fpo_table_add(table, "%s, %s (two codes)", fpo_code_text(other, word & 0xF).text,
                      fpo_code_text(other, word >> 4).text);
    else
        fpo_table_add(table, "%s%s", fpo_code_text(other, word & info->code_mask).text,
                      word > info->code_mask ? "   (bits above the code ignored)" : "");
}

void fpo_explain_misreadings(fpo_format format, uint32_t word)
{
    fpo_table *table = fpo_table_new(3);
    fpo_table_add(table, "read as");
    fpo_table_add(table, "code");
    fpo_table_add(table, "value");
    size_t rows = 0;
    for (int other = 1; other < FPO_FORMAT_COUNT; other++) {
        if (is_alternative(format, (fpo_format)other)) {
            add_row(table, (fpo_format)other, word);
            rows++;
        }
    }
    const fpo_format_info *info = fpo_format_describe(format);
    fpo_format bytes = byte_format(info);
    for (int i = 0; bytes != FPO_FORMAT_NONE && i < info->storage_bytes; i++, rows++) {
        uint32_t byte = word >> 8 * i & 0xFF;
        fpo_table_add(table, "%s", fpo_format_describe(bytes)->name);
        fpo_table_add(table, "0x%02X", byte);
        fpo_table_add(table, "%s   (byte %d of the word)", fpo_code_text(bytes, byte).text, i);
    }
    if (rows > 0) {
        fpo_section("the same bits read as something else");
        fpo_table_print(table, 2);
    } else {
        fpo_table_free(table);
    }
}

json_t *fpo_explain_misreadings_json(fpo_format format, uint32_t word)
{
    json_t *object = json_object();
    for (int other = 1; other < FPO_FORMAT_COUNT; other++) {
        const fpo_format_info *info = fpo_format_describe((fpo_format)other);
        if (is_alternative(format, (fpo_format)other))
            json_object_set_new(object, info->name,
                                json_string(fpo_code_text((fpo_format)other, word & info->code_mask).text));
    }
    return object;
}
