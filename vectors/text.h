/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Text that comes from files, made fit for an error message. */
#ifndef FP4ORACLE_VECTORS_TEXT_H
#define FP4ORACLE_VECTORS_TEXT_H

typedef struct fpo_text {
    char text[112];
} fpo_text;

/* A name from an untrusted file: control characters (which a terminal would obey) become '?', and a long one is cut in
 * the middle. Use as fpo_shown(name).text. */
fpo_text fpo_shown(const char *name);

#endif
