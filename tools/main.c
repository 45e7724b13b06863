/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The fp4oracle command. */
#include <stdio.h>

int main(void)
{
    puts("fp4oracle " FPO_VERSION);
    return 0;
}
