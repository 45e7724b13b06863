/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The policies under which casts are tested: every preset, every rounding with either overflow, and what no preset has.
 */
#ifndef FP4ORACLE_TESTS_CAST_POLICIES_H
#define FP4ORACLE_TESTS_CAST_POLICIES_H

#include <fp4oracle/cast.h>

enum { FPO_ROUNDINGS = FPO_STOCHASTIC + 1, FPO_POLICIES = FPO_CAST_COUNT + 2 * FPO_ROUNDINGS + 8 };

static inline void fpo_fill_policies(fpo_cast policies[FPO_POLICIES])
{
    int n = 0;
    for (int preset = 0; preset < FPO_CAST_COUNT; preset++)
        policies[n++] = *fpo_cast_describe((fpo_cast_preset)preset);
    for (int rounding = 0; rounding < FPO_ROUNDINGS; rounding++) {
        for (int overflow = FPO_SATURATE; overflow <= FPO_NON_FINITE; overflow++) {
            policies[n] = *fpo_cast_describe(FPO_CAST_IEEE);
            policies[n].rounding = (fpo_rounding)rounding;
            policies[n++].overflow = (fpo_overflow)overflow;
        }
    }
    for (int odd = 0; odd < 8; odd++, n++) {
        policies[n] = *fpo_cast_describe(odd % 2 == 0 ? FPO_CAST_PTX : FPO_CAST_IEEE);
        policies[n].infinity = odd % 4 < 2 ? FPO_SATURATE : FPO_NON_FINITE;
        policies[n].nan = odd < 4 ? FPO_NAN_SIGNED : FPO_NAN_IEEE;
        policies[n].no_nan = (fpo_no_nan_policy)(odd % (FPO_NO_NAN_ZERO_OPPOSITE + 1));
        policies[n].negative = (fpo_negative_policy)(odd % (FPO_NEGATIVE_KEEP_BIT7 + 1));
        policies[n].no_zero = odd % 3 == 0 ? FPO_NO_ZERO_NAN : FPO_NO_ZERO_SMALLEST;
        policies[n].drop_negative_zero = odd >= 4;
        policies[n].lowest_up = odd % 4 == 1;
        policies[n].rounding = odd == 7   ? FPO_DOWN
                               : odd == 3 ? FPO_UP
                               : odd == 5 ? FPO_TOWARD_ZERO
                                          : policies[n].rounding;
    }
}

#endif
