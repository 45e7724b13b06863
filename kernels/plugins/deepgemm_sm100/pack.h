/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* f32 scales [rows, columns], row after row in device memory, to packed ue8m0 words (layout packed_words). */
#ifndef FP4ORACLE_PLUGINS_DEEPGEMM_SM100_PACK_H
#define FP4ORACLE_PLUGINS_DEEPGEMM_SM100_PACK_H

#include <fp4oracle/kernel_plugin.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef fpo_plugin_status deepgemm_packing(const void *scales, void *words, int64_t rows, int64_t columns, char *why);

deepgemm_packing deepgemm_pack_guarded, deepgemm_pack_unguarded; /* its own kernel, and without its trap */
deepgemm_packing deepgemm_exponents, deepgemm_rounded_up;        /* ours: what loaders did */

/* Scales [rows / 128, columns] of blocks to [rows, columns]; MN-major, lines of a multiple of 4. */
fpo_plugin_status deepgemm_repeat_rows(const void *blocks, void *scales, int64_t rows, int64_t columns, bool mn_major,
                                       char *why);

#ifdef __cplusplus
}
#endif

#endif
