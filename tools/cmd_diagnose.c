/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle diagnose: why an output is wrong, with the evidence. */
#include "command.h"
#include "verdict_command.h"

static const char documentation[] =
    "Says why an output is not what a vector requires: which part of it is wrong, what it plainly is there, and the "
    "smallest change of what the kernel should have computed that gives every wrong byte; with what the search tried "
    "and "
    "how much the evidence is worth.\v"
    "VECTOR is a file of `fp4oracle gen`. With --format it is any safetensors file with the operands, as for `verify`, "
    "whose verdicts these are: `match`, `legitimate` (another documented accumulation: not a defect), `fault` (the "
    "cause is named) or `unexplained`. An explanation that chance would find, too, accuses nobody: it is listed as a "
    "candidate.\n\n"
    "Examples:\n"
    "  fp4oracle diagnose vector.safetensors --output d.safetensors:d\n"
    "  fp4oracle diagnose dump.safetensors --format fp8_1x128,fp8_128x128 --output dump.safetensors:y";

int fpo_cmd_diagnose(int argc, char **argv)
{
    return fpo_verdict_command(argc, argv, documentation, true);
}
