/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of a recipe on any processor. */
#define FPO_LOOPS fpo_quantize_portable
#include "quantize_loops.h"
