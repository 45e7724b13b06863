/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a fuzz target offers: libFuzzer's names. */
#ifndef FP4ORACLE_TESTS_FUZZ_H
#define FP4ORACLE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* One input; returns 0. What must not happen aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
