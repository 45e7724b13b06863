/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Matrices in shared memory behind 64-bit descriptors, as wgmma and tcgen05 take them (PTX 9.7.15.5.1, 9.7.16.4.1): in
 * units of 16 bytes, the start in bits 0-13, the leading and the stride offset in bits 16-29 and 32-45. An atom is 8
 * rows of one span: 16 bytes without a swizzle, else 32, 64 or 128 with the 16-byte units exchanged. */
#ifndef FP4ORACLE_KERNELS_VGPU_MATRIX_DESCRIPTOR_H
#define FP4ORACLE_KERNELS_VGPU_MATRIX_DESCRIPTOR_H

#include "machine.h"

typedef struct fpo_matrix {
    uint32_t start, leading, stride; /* bytes */
    uint32_t span;                   /* bytes of an atom's row: 16, 32, 64, 128 */
    uint32_t unit;                   /* bytes that the swizzle moves as one: 16, or 32 */
    uint32_t used;                   /* of 16 bytes that are fetched: 8 or 12 where the rest is padding of FP4 or FP6 */
    bool tcgen05;                    /* read whenever a tensor core gets there, not by the warp */
} fpo_matrix;

/* NULL, or what of the descriptor is reserved or not modelled. */
const char *fpo_matrix_of_wgmma(uint64_t descriptor, fpo_matrix *matrix);
const char *fpo_matrix_of_tcgen05(uint64_t descriptor, fpo_matrix *matrix);

/* Address of 16 bytes: `unit` of 16 bytes of `line`. Lines are rows with K contiguous, units count along K; with
 * K across, lines count K and units count 16 bytes of rows. */
uint32_t fpo_matrix_address(const fpo_matrix *matrix, bool k_contiguous, uint32_t line, uint32_t unit);

/* The 16 bytes from the shared memory of a CTA, or false after a fault. Reads of tcgen05 are checked here; wgmma's are
 * where it is issued. */
bool fpo_matrix_fetch(fpo_warp *warp, const fpo_cta *cta, const fpo_matrix *matrix, bool k_contiguous, uint32_t line,
                      uint32_t unit, uint8_t bytes[16], int lane);

#endif
