/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table as text for people: what the virtual GPU supports. Part of docs/vgpu.md is made by it. */
#include "describe.h"

#include "row_text.h"

#include <string.h>

/* A pattern without the texts that are for the semantics: {rn:NEAREST,rz:ZERO} -> {rn,rz}. */
static void print_pattern(FILE *out, const char *pattern)
{
    fpo_row_groups groups;
    if (!fpo_row_parse_groups(pattern, &groups))
        return;
    for (int g = 0; *pattern != '\0'; pattern++) {
        if (*pattern != '{') {
            fputc(*pattern, out);
            continue;
        }
        fputc('{', out);
        for (int k = 0; k < groups.size[g]; k++) {
            const fpo_row_choice *c = &groups.choices[g][k];
            fprintf(out, "%s%.*s", k == 0 ? "" : ",", (int)c->name_length, c->name);
        }
        fputc('}', out);
        g++;
        pattern = strchr(pattern, '}');
    }
}

void fpo_ptx_describe(FILE *out)
{
    for (size_t f = 0; f < fpo_ptx_family_count(); f++) {
        const fpo_ptx_family *family = fpo_ptx_family_at(f);
        fprintf(out, "%s### %s\n\n", f == 0 ? "" : "\n", family->name);
        for (size_t r = 0; r < family->count; r++) {
            fprintf(out, "- `");
            print_pattern(out, family->rows[r].pattern);
            fprintf(out, "`\n");
        }
    }
}

size_t fpo_ptx_count_instructions(void)
{
    size_t total = 0;
    for (size_t f = 0; f < fpo_ptx_family_count(); f++) {
        const fpo_ptx_family *family = fpo_ptx_family_at(f);
        for (size_t r = 0; r < family->count; r++) {
            fpo_row_groups groups;
            size_t product = fpo_row_parse_groups(family->rows[r].pattern, &groups) ? 1 : 0;
            for (int g = 0; g < groups.count; g++)
                product *= (size_t)groups.size[g];
            total += product;
        }
    }
    return total;
}
