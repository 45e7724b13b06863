/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The registry of accumulation models. The entries are in models_*.inc, one list; the macros below hold what many
 * entries share, as initialisers of disjoint fields. */
#include <fp4oracle/model.h>
#include <string.h>

/* Operand sets. */
#define BIT(format) (1u << FPO_##format)
#define FP8 BIT(E4M3) | BIT(E5M2)
#define F8F6F4 BIT(E4M3) | BIT(E5M2) | BIT(E3M2) | BIT(E2M3) | BIT(E2M1)
/* clang-format off */
#define FP8_PAIRS {.elements = FP8, .mixed = true}
#define F8F6F4_PAIRS {.elements = F8F6F4, .mixed = true}
#define F8F6F4_UE8M0 {.elements = F8F6F4, .mixed = true, .scales = {{FPO_UE8M0, 32}}}
#define FP4_MXF4 {.elements = BIT(E2M1), .scales = {{FPO_UE8M0, 32}}}
#define FP4_MXF4NVF4 {.elements = BIT(E2M1), .scales = {{FPO_UE4M3, 16}, {FPO_UE8M0, 32}, {FPO_UE8M0, 16}}}
#define ONLY(format) {.elements = BIT(format)}
#define TF32_OPERANDS {.elements = BIT(TF32) | BIT(F32)}
#define ANYTHING {.anything = true}
/* clang-format on */

/* A fused step: elements of K in an instruction, products in a sum, fraction bits below the largest exponent, its
 * floor. Terms are cut toward zero and zero products do not count in every model so far. */
#define FUSED(k_, fused_, bits, floor)                                                                                 \
    .kind = FPO_STEP_FUSED, .k = (k_), .fused = (fused_), .group = 1, .fraction_bits = (bits),                         \
    .term_rounding = FPO_TOWARD_ZERO, .e_zero = (floor)
/* FP4 with K = 64: four groups of 16. */
#define GROUPED(bits, floor)                                                                                           \
    .kind = FPO_STEP_FUSED, .k = 64, .fused = 64, .group = 16, .fraction_bits = (bits),                                \
    .term_rounding = FPO_TOWARD_ZERO, .e_zero = (floor)
#define NVF4 GROUPED(35, -139), .cancelled_group_enters = true

/* Results. */
#define RZ_F32                                                                                                         \
    .accumulator = FPO_F32, .result_bits = 23, .result_rounding = FPO_TOWARD_ZERO, .result_quantum = -149,             \
    .overflow = FPO_NON_FINITE, .nan = 0x7FFFFFFF
#define RZ_E8M13                                                                                                       \
    .accumulator = FPO_F32, .result_bits = 13, .result_rounding = FPO_TOWARD_ZERO, .result_quantum = -139,             \
    .overflow = FPO_NON_FINITE, .nan = 0x7FFFFFFF
#define RNE_F16                                                                                                        \
    .accumulator = FPO_F16, .result_bits = 10, .result_rounding = FPO_NEAREST_EVEN, .result_quantum = -24,             \
    .overflow = FPO_NON_FINITE, .nan = 0x7FFF

/* FP8 mma.sync where the chip has none: unpacked to f16, two chained HMMAs from +0, C added last. */
#define AS_TWO_HMMA .operand_format = FPO_F16, .interleaved = true
#define TWO_HMMA AS_TWO_HMMA, .c_late = true

/* Instructions on which schedules are built. */
#define SM89_FP8 FUSED(32, 16, 13, -132), RZ_E8M13
#define SM90_WGMMA_FP8 FUSED(32, 32, 13, -133), RZ_E8M13
#define F25_K32 FUSED(32, 32, 25, -133), RZ_F32

/* Sources, for people. */
#define MMASIM "mmasim 2.1.1 (PyPI), nv_ptx/sim.py and arithmetic/fdpa.py; rows recorded from it"
#define MMASIM_V1 "MMA-Sim of January 2026, commit c785138, simulator/arithmetic.py"
#define MATLAB_TC "MATLAB-tensor-core model_validation (Khattak and Mikaitis, BSD-2-Clause)"
#define H200_PTX "recorded here on an H200, driver 580.159.04, 2026-11-29"
#define H200_CUBLASLT "cuBLASLt 13.1.0 recorded here on an H200, driver 580.159.04"
#define MMAEMU "mmaemu 0.1.0 (PyPI), model/plan.py and model/presets.py"

static const fpo_model models[] = {
    {"exact",
     "the exact sum, rounded once at the very end",
     FPO_DEFINED,
     "definition",
     ANYTHING,
     {.step = {.kind = FPO_STEP_EXACT, .accumulator = FPO_F32}}},
    {"fma_f32",
     "operands dequantised to f32, one fused multiply-add per k, k ascending from +0",
     FPO_DEFINED,
     "definition",
     ANYTHING,
     {.step = {.kind = FPO_STEP_FMA,
               .operand_format = FPO_F32,
               .dequantised = true,
               .k = 1,
               .accumulator = FPO_F32,
               .nan = 0x7FFFFFFF}}},
/* The order is that of lists and reports. */
/* clang-format off */
#include "models_mma.inc"
#include "models_dequantising.inc"
#include "models_gemm.inc"
#include "models_contested.inc"
    /* clang-format on */
};

enum { MODEL_COUNT = sizeof models / sizeof models[0] };

const fpo_model *fpo_model_at(size_t index)
{
    return index < MODEL_COUNT ? &models[index] : NULL;
}

const fpo_model *fpo_model_by_name(const char *name)
{
    for (size_t i = 0; name != NULL && i < MODEL_COUNT; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

const char *fpo_provenance_name(fpo_provenance provenance)
{
    switch (provenance) {
    case FPO_DEFINED: return "defined";
    case FPO_MEASURED: return "measured";
    case FPO_REPRODUCED: return "reproduced";
    case FPO_PUBLISHED: return "published";
    case FPO_CONTESTED: return "contested";
    case FPO_ASSUMED: return "assumed";
    }
    return "unknown";
}
