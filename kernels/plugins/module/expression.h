/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Whole numbers that depend on the problem, as text: "ceil(m, 128) * ceil(n, 128)". */
#ifndef FP4ORACLE_PLUGINS_MODULE_EXPRESSION_H
#define FP4ORACLE_PLUGINS_MODULE_EXPRESSION_H

#include <fp4oracle/kernel_plugin.h>
#include <stdbool.h>

enum { EXPRESSION_WHY = 128 };

/* Numbers, m, n, k, a_line, b_line, c_line, d_line (bytes), sms (multiprocessors of the device), + - * / (towards
 * zero), parentheses, ceil(x, y) = x / y rounded up, min(x, y), max(x, y). false with the reason, and where, in `why`:
 * a syntax error, a division by zero, a number beyond 63 bits. */
bool expression_value(const char *text, const fpo_kernel_problem *problem, int multiprocessors, int64_t *value,
                      char *why);

#endif
