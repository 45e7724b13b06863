/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Digests of tensors: XXH3 with 128 bits, as 32 hexadecimal digits, the high half first (as `xxhsum -H128` prints it).
 * It finds accidents; it is no defence against somebody who wants two files to look alike. */
#ifndef FP4ORACLE_VECTORS_DIGEST_H
#define FP4ORACLE_VECTORS_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fpo_digest {
    char hex[33];
} fpo_digest;

fpo_digest fpo_digest_of(const void *bytes, size_t size);
/* False if `text` is not 32 lower-case hexadecimal digits. */
bool fpo_digest_parse(const char *text, fpo_digest *digest);
bool fpo_digest_equal(const fpo_digest *x, const fpo_digest *y);

#endif
