/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the functions made from the rows of isa/ need. */
#ifndef FP4ORACLE_KERNELS_PTX_LANE_ROWS_H
#define FP4ORACLE_KERNELS_PTX_LANE_ROWS_H

#include "lane_float.h"
#include "lane_integer.h"
#include "ptx.h"

/* A value in a register that is wider than its type: extended by its sign (zero for an unsigned value). */
static inline void store_wider(void *lanes, unsigned bytes, unsigned l, int64_t value)
{
    memcpy((char *)lanes + (size_t)l * bytes, &value, bytes);
}

#endif
