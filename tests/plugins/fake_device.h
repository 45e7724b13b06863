/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The fake device and the kernels that run on it. */
#ifndef FP4ORACLE_TESTS_FAKE_DEVICE_H
#define FP4ORACLE_TESTS_FAKE_DEVICE_H

#include <fp4oracle/kernel_plugin.h>

extern const fpo_plugin_memory fake_memory;

/* A device address as the host's. */
void *fake_address(const void *address);
fpo_plugin_status fake_launch(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why);

/* What runs when the queue does; not 0: an illegal access. */
int fake_compute(const fpo_kernel *kernel, const fpo_kernel_problem *problem);

#endif
