/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Bytes that memory checkers, debuggers and this project's runner fill buffers with. */
#ifndef FP4ORACLE_EMU_FILLINGS_H
#define FP4ORACLE_EMU_FILLINGS_H

#include <stdint.h>

static const uint8_t fpo_fillings[] = {0xFF, 0xFE, 0xCD, 0xCC, 0xDD, 0xAA, 0x55, 0xA5, 0x5A, 0xC3, 0x7F};

#endif
