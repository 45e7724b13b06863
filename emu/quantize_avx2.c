/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of a recipe for processors with AVX2. */
#define FPO_LOOPS fpo_quantize_avx2
#include "quantize_loops.h"
