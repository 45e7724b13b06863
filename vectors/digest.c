/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Digests of tensors. */
#include "digest.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

fpo_digest fpo_digest_of(const void *bytes, size_t size)
{
    fpo_digest digest;
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    snprintf(digest.hex, sizeof(digest.hex), "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return digest;
}

bool fpo_digest_parse(const char *text, fpo_digest *digest)
{
    if (strlen(text) != sizeof(digest->hex) - 1 || strspn(text, "0123456789abcdef") != sizeof(digest->hex) - 1)
        return false;
    memcpy(digest->hex, text, sizeof(digest->hex));
    return true;
}

bool fpo_digest_equal(const fpo_digest *x, const fpo_digest *y)
{
    return memcmp(x->hex, y->hex, sizeof(x->hex)) == 0;
}
