/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Encoding: one function takes an exact value, a format and a policy, and rounds. Nothing else in the library rounds
 * to a format. Where PTX, the CUDA headers, OCP and libraries differ (facts.md 1.4, 4.0), the difference is a field of
 * the policy; the named presets are in casts.inc. */
#ifndef FP4ORACLE_CAST_H
#define FP4ORACLE_CAST_H

#include <fp4oracle/format.h>

FPO_BEGIN_DECLS

typedef enum fpo_rounding {
    FPO_NEAREST_EVEN,
    FPO_NEAREST_AWAY,        /* ties away from zero */
    FPO_NEAREST_TOWARD_ZERO, /* ties toward zero */
    FPO_TOWARD_ZERO,
    FPO_AWAY_FROM_ZERO, /* magnitude up: `.rp` of ue8m0 */
    FPO_UP,             /* toward +infinity */
    FPO_DOWN,           /* toward -infinity */
    FPO_STOCHASTIC      /* adds the caller's random bits to the discarded bits and keeps the carry */
} fpo_rounding;

/* What a finite value beyond the largest number becomes, and what an infinity becomes. */
typedef enum fpo_overflow {
    FPO_SATURATE,   /* largest finite number, sign kept */
    FPO_NON_FINITE, /* infinity where the format has one, else NaN; the largest number where there is neither */
    FPO_UNCHECKED /* onnxruntime's Cast with saturate=0, which is FPO_NON_FINITE but for two oversights: what rounds up
                     past the largest number becomes NaN, in e5m2 too; in e4m3, [480, 496) becomes 448 */
} fpo_overflow;

/* NaN in a format that has it. */
typedef enum fpo_nan_policy {
    FPO_NAN_CANONICAL, /* positive, quiet, mantissa all ones: 0x7F, 0x7FFF, 0x7FFFFFFF */
    FPO_NAN_SIGNED,    /* the same with the sign of the input */
    FPO_NAN_IEEE       /* quiet with only the top mantissa bit set (e5m2 0x7E, bf16 0x7FC0), sign of the input */
} fpo_nan_policy;

/* NaN in a format that has none (e2m1, e2m3, e3m2). */
typedef enum fpo_no_nan_policy {
    FPO_NO_NAN_LARGEST, /* largest positive number */
    FPO_NO_NAN_LARGEST_SIGNED,
    FPO_NO_NAN_ZERO, /* +0 */
    FPO_NO_NAN_ZERO_SIGNED,
    FPO_NO_NAN_ZERO_OPPOSITE /* ml_dtypes: -0 for NaN, +0 for -NaN */
} fpo_no_nan_policy;

/* A negative value in a format without a sign. */
typedef enum fpo_negative_policy {
    FPO_NEGATIVE_ABSOLUTE, /* the sign is ignored */
    FPO_NEGATIVE_ZERO,     /* smallest code */
    FPO_NEGATIVE_NAN,
    FPO_NEGATIVE_KEEP_BIT7 /* ue4m3 made by a signed e4m3 conversion: bit 7 is set */
} fpo_negative_policy;

/* Zero in ue8m0, which has none. */
typedef enum fpo_no_zero_policy { FPO_NO_ZERO_SMALLEST, FPO_NO_ZERO_NAN } fpo_no_zero_policy;

typedef struct fpo_cast {
    fpo_rounding rounding;
    fpo_overflow overflow;
    fpo_overflow infinity;
    fpo_nan_policy nan;
    fpo_no_nan_policy no_nan;
    fpo_negative_policy negative;
    fpo_no_zero_policy no_zero;
    bool lowest_up;          /* to nearest in ue8m0, everything between its two smallest numbers goes up: torch and
                                ml_dtypes, which round the bits of an f32, where 2^-127 is subnormal */
    bool drop_negative_zero; /* -0, and a negative that rounds to zero, become +0 */
} fpo_cast;

/* Named policies: ptx (`cvt.rn.satfinite`), ieee (f16, bf16, f32 results), torch, ml_dtypes, ... */
typedef enum fpo_cast_preset {
#define FPO_CAST(ID, name, rounding, overflow, infinity, nan, no_nan, negative, no_zero, lowest_up,                    \
                 drop_negative_zero, summary)                                                                          \
    FPO_CAST_##ID,
#include <fp4oracle/casts.inc>
#undef FPO_CAST
    FPO_CAST_COUNT
} fpo_cast_preset;

FPO_API const fpo_cast *fpo_cast_describe(fpo_cast_preset preset);
FPO_API const char *fpo_cast_name(fpo_cast_preset preset);
FPO_API const char *fpo_cast_summary(fpo_cast_preset preset);
/* FPO_CAST_COUNT if there is no such name. */
FPO_API fpo_cast_preset fpo_cast_by_name(const char *name);

/* The code of `value` in `format`. `random_bits` is used by FPO_STOCHASTIC alone: a fraction random_bits / 2^32 is
 * added in units of the last place kept. */
FPO_API uint32_t fpo_encode(fpo_format format, fpo_value value, const fpo_cast *policy, uint32_t random_bits);

/* Conveniences over fpo_encode. */
FPO_API uint32_t fpo_encode_double(fpo_format format, double x, const fpo_cast *policy);
FPO_API float fpo_round_to_float(fpo_value value, fpo_rounding rounding);

FPO_END_DECLS

#endif
