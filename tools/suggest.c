/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edit distance over short names. */
#include "suggest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Insertions, deletions and substitutions, case ignored; both names shorter than LONGEST. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t above = row[j];
            int differ = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (size_t)differ);
            diagonal = above;
        }
    }
    return row[length];
}

const char *fpo_suggest(const char *wanted, fpo_name_at name_at)
{
    size_t length = strlen(wanted);
    if (length == 0 || length > LONGEST)
        return NULL;
    const char *best = NULL;
    size_t best_distance = (length + 1) / 3 + 1; /* two letters of five may differ, one of three */
    for (size_t i = 0; name_at(i) != NULL; i++) {
        const char *name = name_at(i);
        if (strlen(name) > LONGEST)
            continue;
        size_t d = distance(wanted, name);
        if (strncmp(wanted, name, length) == 0 && d > 1)
            d = 1; /* the beginning of a name is near it, however long the rest */
        if (d < best_distance) {
            best = name;
            best_distance = d;
        }
    }
    return best;
}
