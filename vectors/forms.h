/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How a matrix of codes is stored as a tensor: the table of docs/vector-format.md. */
#ifndef FP4ORACLE_VECTORS_FORMS_H
#define FP4ORACLE_VECTORS_FORMS_H

#include "safetensors.h"

/* The form that is written: dtype, shape and bytes of rows x columns codes of `format`, each row packed as
 * FPO_PACKING_CANONICAL does. False if that is no size. */
bool fpo_form_of(fpo_format format, int64_t rows, int64_t columns, fpo_tensor *tensor);

/* FPO_OK if `tensor` holds rows x columns codes of `format` in a form whose bytes are the canonical ones: the form
 * above, or the same bytes under another name (codes of up to 8 bits as U8; e2m1 as F4 with an even number of columns;
 * ue8m0 as F8_E8M0). A matrix of one row or one column may come as a vector, and a single number as a scalar. */
fpo_status fpo_form_check(const fpo_tensor *tensor, fpo_format format, int64_t rows, int64_t columns, fpo_error *error);

#endif
