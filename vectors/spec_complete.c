/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Proof at compile time that spec_fields.inc has every field of every struct of a gemm spec: each list initialises its
 * struct, so that one too few is a warning (-Wmissing-field-initializers, an error in CI) and one too many an error. */
#include <fp4oracle/spec.h>

#pragma GCC diagnostic error "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Wunused-const-variable"

#define FPO_FIELD(name, kind) 0,
#define FPO_RECORD(name, type) {0},
#define FPO_LIST(name, type, length) {{0}},

static const fpo_scale_view scale_view = {
#define FPO_FIELDS_SCALE_VIEW
#include "spec_fields.inc"
};

static const fpo_operand_view operand_view = {
#define FPO_FIELDS_OPERAND_VIEW
#include "spec_fields.inc"
};

static const fpo_operand_spec operand_spec = {
#define FPO_FIELDS_OPERAND_SPEC
#include "spec_fields.inc"
};

static const fpo_step step = {
#define FPO_FIELDS_STEP
#include "spec_fields.inc"
};

static const fpo_schedule schedule = {
#define FPO_FIELDS_SCHEDULE
#include "spec_fields.inc"
};

static const fpo_accumulation accumulation = {
#define FPO_FIELDS_ACCUMULATION
#include "spec_fields.inc"
};

static const fpo_epilogue_step epilogue_step = {
#define FPO_FIELDS_EPILOGUE_STEP
#include "spec_fields.inc"
};

static const fpo_cast cast = {
#define FPO_FIELDS_CAST
#include "spec_fields.inc"
};

static const fpo_epilogue epilogue = {
#define FPO_FIELDS_EPILOGUE
#include "spec_fields.inc"
};

static const fpo_gemm_spec gemm_spec = {
#define FPO_FIELDS_GEMM_SPEC
#include "spec_fields.inc"
};
