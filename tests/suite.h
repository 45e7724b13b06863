/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What every unit test program shares. */
#ifndef FP4ORACLE_TESTS_SUITE_H
#define FP4ORACLE_TESTS_SUITE_H

#include "assertions.h"

Suite *fpo_suite(void);

#endif
