/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Number formats and exact values. Decoding is exact; encoding is in cast.h. */
#ifndef FP4ORACLE_FORMAT_H
#define FP4ORACLE_FORMAT_H

#include <fp4oracle/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FPO_BEGIN_DECLS

typedef enum fpo_format {
    FPO_FORMAT_NONE = 0, /* "there is none": an operand without scales, an absent tensor */
#define FPO_FORMAT(ID, name, bits, sign, exponent, mantissa, bias, specials, summary) FPO_##ID,
#include <fp4oracle/formats.inc>
#undef FPO_FORMAT
    FPO_FORMAT_COUNT
} fpo_format;

typedef enum fpo_specials {
    FPO_SPECIALS_NONE,     /* every code is a finite number */
    FPO_SPECIALS_NAN_ONLY, /* exponent and mantissa all ones is NaN; no infinity */
    FPO_SPECIALS_IEEE,     /* exponent all ones: infinity (mantissa 0) or NaN */
    FPO_SPECIALS_UE8M0     /* a power of two for every code but 0xFF, which is NaN; no zero */
} fpo_specials;

typedef struct fpo_format_info {
    const char *name;
    const char *summary;
    uint8_t bits; /* width of a code */
    uint8_t sign_bits;
    uint8_t exponent_bits;
    uint8_t mantissa_bits;
    int16_t bias;
    fpo_specials specials;
    /* Derived from the above. */
    uint32_t code_mask;     /* 2^bits - 1 */
    uint32_t max_finite;    /* code of the largest finite number */
    int16_t min_exponent;   /* of the smallest normal number (ue8m0: of the smallest number), 1-bias */
    int16_t max_exponent;   /* of the largest finite number */
    int16_t quantum;        /* exponent of the last place of the smallest normal numbers and of the subnormals */
    uint8_t storage_bytes;  /* bytes that one unpacked code takes: 1, 2 or 4 */
} fpo_format_info;

/* Never NULL for a valid format; FPO_FORMAT_NONE has the name "none" and no bits. NULL for anything else. */
FPO_API const fpo_format_info *fpo_format_describe(fpo_format format);
/* FPO_FORMAT_COUNT if there is no such name. */
FPO_API fpo_format fpo_format_by_name(const char *name);

typedef enum fpo_class { FPO_ZERO, FPO_FINITE, FPO_INFINITE, FPO_NAN } fpo_class;

/* An exact value: (-1)^negative * significand * 2^exponent. The significand of FPO_FINITE is not 0, but need not be
 * normalised. `sticky` says that the true magnitude lies strictly between significand and significand + 1 (in units of
 * 2^exponent), which is what rounding needs to know of a longer number; a sticky significand has at least 32 bits, or
 * the value may be FPO_FINITE with significand 0 (a nonzero number below 2^exponent). */
typedef struct fpo_value {
    uint64_t significand;
    int32_t exponent;
    fpo_class kind;
    bool negative;
    bool sticky;
} fpo_value;

/* Bits of `code` beyond the format's width are ignored (the CUDA headers do the same for fp6 and fp4 bytes). */
FPO_API fpo_value fpo_decode(fpo_format format, uint32_t code);
/* The same as a double, in which every number of every format is exact. */
FPO_API double fpo_decode_double(fpo_format format, uint32_t code);

FPO_API fpo_value fpo_value_from_double(double x);
FPO_API fpo_value fpo_value_from_float(float x);
/* Exact product of two values without sticky whose significands have at most 32 bits. NaN and Inf as in IEEE 754. */
FPO_API fpo_value fpo_value_multiply(fpo_value x, fpo_value y);
/* -1, 0, 1 as |x| <, =, > |y|; neither may be NaN or sticky. */
FPO_API int fpo_value_compare_magnitude(fpo_value x, fpo_value y);

/* Unpacked codes in memory: 1, 2 or 4 bytes each, little endian (storage_bytes). */
FPO_API uint32_t fpo_load_code(fpo_format format, const void *codes, size_t index);
FPO_API void fpo_store_code(fpo_format format, void *codes, size_t index, uint32_t code);

FPO_END_DECLS

#endif
