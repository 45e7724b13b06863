/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle verify: an output that someone else computed, against a vector. */
#include "command.h"
#include "verdict_command.h"

static const char documentation[] =
    "Says whether an output has the bits that a vector requires, and if not, where they differ and why.\v"
    "VECTOR is a file of `fp4oracle gen`. With --format it is any safetensors file that has the operands `a` and `b`, "
    "and "
    "`a_scale`, `b_scale`, `a_tensor_scale`, `b_tensor_scale`, `alpha`, `beta`, `c` and `bias` where there are "
    "such.\n\n"
    "The verdict is `match`, `legitimate` (the bits of another documented accumulation than the one asked for), "
    "`fault` "
    "(the cause is named) or `unexplained`.\n\n"
    "Examples:\n"
    "  fp4oracle verify vector.safetensors --output d.safetensors:d\n"
    "  fp4oracle verify dump.safetensors --format nvfp4 --output dump.safetensors:y";

int fpo_cmd_verify(int argc, char **argv)
{
    return fpo_verdict_command(argc, argv, documentation, false);
}
