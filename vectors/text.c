/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Text that comes from files, made fit for an error message. */
#include "text.h"

#include <stdbool.h>
#include <string.h>

static bool continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static char tame(char c)
{
    return (unsigned char)c < 0x20 || (unsigned char)c == 0x7F ? '?' : c;
}

fpo_text fpo_shown(const char *name)
{
    enum { HALF = 50 };
    fpo_text shown;
    size_t length = strlen(name), head = length, tail = length, at = 0;
    if (length >= sizeof(shown.text)) {
        /* Both cuts fall between characters of UTF-8. */
        for (head = HALF; head > 0 && continuation(name[head]); head--)
            ;
        for (tail = length - HALF; tail < length && continuation(name[tail]); tail++)
            ;
    }
    for (size_t i = 0; i < head; i++)
        shown.text[at++] = tame(name[i]);
    if (tail < length) {
        memcpy(shown.text + at, "...", 3);
        at += 3;
    }
    for (size_t i = tail; i < length; i++)
        shown.text[at++] = tame(name[i]);
    shown.text[at] = 0;
    return shown;
}
