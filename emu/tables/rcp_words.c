/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Writes fpo_rcp_words (recipe.h) to standard output when the library is built. */
#include "mufu.h"
#include "step.h"

#include <stdio.h>

enum { MANTISSAS = 1 << 23 };

int main(void)
{
    static uint8_t table[MANTISSAS / 4];
    for (uint32_t i = 0; i < MANTISSAS; i++) {
        float one = fpo_float_of_bits(127u << 23 | i);
        uint32_t distance = fpo_bits_of_float(fpo_mufu(FPO_MUFU_RCP, one)) - fpo_bits_of_float(1 / one) + 1;
        if (distance > 2)
            return 1;
        table[i / 4] |= (uint8_t)(distance << (i & 3) * 2);
    }
    return fwrite(table, 1, sizeof table, stdout) != sizeof table || fflush(stdout) != 0;
}
