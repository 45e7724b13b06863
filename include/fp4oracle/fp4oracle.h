/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Everything: the whole public API of libfp4oracle. */
#ifndef FP4ORACLE_FP4ORACLE_H
#define FP4ORACLE_FP4ORACLE_H

#include <fp4oracle/cast.h>
#include <fp4oracle/compare.h>
#include <fp4oracle/diagnose.h>
#include <fp4oracle/edit.h>
#include <fp4oracle/format.h>
#include <fp4oracle/gemm.h>
#include <fp4oracle/layout.h>
#include <fp4oracle/model.h>
#include <fp4oracle/part.h>
#include <fp4oracle/quantize.h>
#include <fp4oracle/random.h>
#include <fp4oracle/recipe_trace.h>
#include <fp4oracle/sign.h>
#include <fp4oracle/spec.h>
#include <fp4oracle/status.h>

FPO_BEGIN_DECLS

/* The version of the library that runs, "0.1.0". */
FPO_API const char *fpo_version(void);

FPO_END_DECLS

#endif
