/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What verify and diagnose share: the arguments, the finding and how it is told. */
#ifndef FP4ORACLE_TOOLS_VERDICT_COMMAND_H
#define FP4ORACLE_TOOLS_VERDICT_COMMAND_H

#include <stdbool.h>

/* `documentation` for --help; `search`: with the search's own numbers. The exit status of the program. */
int fpo_verdict_command(int argc, char **argv, const char *documentation, bool search);

#endif
