/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Check, with assertions that cost nothing where they hold. Check's own write where they are to a file each time, for
 * which tests that compare millions of codes took most of their time, above all under the sanitizers. A crash is
 * therefore reported without the last assertion before it. */
#ifndef FP4ORACLE_TESTS_ASSERTIONS_H
#define FP4ORACLE_TESTS_ASSERTIONS_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                                       \
    ((expr) ? (void)0 : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", __VA_ARGS__))

#endif
