/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What every subcommand is: a function of its own arguments that returns the exit status of the program. */
#ifndef FP4ORACLE_TOOLS_COMMAND_H
#define FP4ORACLE_TOOLS_COMMAND_H

/* The program's exit statuses, the same for every subcommand. */
enum {
    FPO_EXIT_OK = 0,         /* all bits right */
    FPO_EXIT_DIVERGENCE = 1, /* some bits are not */
    FPO_EXIT_UNUSABLE = 2,   /* input or arguments that nothing can be done with */
    FPO_EXIT_KERNEL = 3      /* a kernel, plug-in or device failed */
};

/* argv[0] is "fp4oracle NAME". Weak, because a build may lack a subcommand: --help then does not show it. */
#define FPO_COMMAND(name, summary) int fpo_cmd_##name(int argc, char **argv) __attribute__((weak));
#include "commands.inc"
#undef FPO_COMMAND

#endif
