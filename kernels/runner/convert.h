/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Canonical operands to what a kernel declared, and its D back. Sizes are checked: a vector is untrusted input, and so
 * is what a plug-in declares. */
#ifndef FP4ORACLE_RUNNER_CONVERT_H
#define FP4ORACLE_RUNNER_CONVERT_H

#include "info.h"

/* Where the lines of a matrix stand: `lines` lines of `used` bytes each, `line` bytes from one to the next, `bytes` in
 * all. There is no gap after the last line. */
typedef struct fpo_lines {
    int64_t lines, used, line, bytes;
} fpo_lines;

/* `gap`: at least so many unused bytes are left after each line (0 where the kernel does not honour strides). */
fpo_status fpo_operand_lines(const fpo_operand_want *want, int64_t rows, int64_t k, int64_t gap, fpo_lines *lines,
                             fpo_error *error);
fpo_status fpo_matrix_lines(const fpo_matrix_want *want, int64_t m, int64_t n, int64_t gap, fpo_lines *lines,
                            fpo_error *error);

/* Codes into `image` (lines->bytes); gaps get `fill`. */
fpo_status fpo_convert_codes(const fpo_operand_want *want, const void *canonical, int64_t rows, int64_t k,
                             const fpo_lines *lines, int fill, void *image, fpo_error *error);

/* Bytes of an operand's scales in the kernel's layout; 0 where it has none, -1 if that overflows. */
int64_t fpo_converted_scales_bytes(const fpo_operand_want *want, int64_t rows, int64_t k);
/* Scales into `image`; padding bytes get `fill` where the kernel allows it, else 0. */
void fpo_convert_scales(const fpo_operand_want *want, const void *canonical, int64_t rows, int64_t k, int fill,
                        void *image);

/* C (M x N, rows contiguous, as fpo_gemm_problem has it) into `image`. */
fpo_status fpo_convert_matrix(const fpo_matrix_want *want, const void *canonical, int64_t m, int64_t n,
                              const fpo_lines *lines, int fill, void *image, fpo_error *error);
/* D's image to M x N, rows contiguous, as fpo_gemm writes it. */
fpo_status fpo_convert_back(const fpo_matrix_want *want, const void *image, int64_t m, int64_t n,
                            const fpo_lines *lines, void *canonical, fpo_error *error);

#endif
