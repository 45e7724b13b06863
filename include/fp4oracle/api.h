/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Linkage of the public C API. The library is built with hidden symbols: what carries FPO_API is exported. */
#ifndef FP4ORACLE_API_H
#define FP4ORACLE_API_H

#if defined(__GNUC__)
#define FPO_API __attribute__((visibility("default")))
#define FPO_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define FPO_API
#define FPO_PRINTF(format_index, first_argument)
#endif

#ifdef __cplusplus
#define FPO_BEGIN_DECLS extern "C" {
#define FPO_END_DECLS }
#else
#define FPO_BEGIN_DECLS
#define FPO_END_DECLS
#endif

#endif
