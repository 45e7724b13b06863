/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Small inputs that may show two recipes apart, and what a recipe makes of them. */
#ifndef FP4ORACLE_TESTS_RECIPE_PROBE_H
#define FP4ORACLE_TESTS_RECIPE_PROBE_H

#include <fp4oracle/quantize.h>

enum { FPO_PROBE_VALUES = 4 };

/* One block that begins with some values, the rest zeros. Where `tensor` is not 0, a block with this number alone comes
 * before it, which makes it the tensor's amax. */
typedef struct fpo_probe {
    fpo_format dtype;
    float tensor;
    float x[FPO_PROBE_VALUES];
    uint8_t count;
    bool filled;   /* the whole block is x[0] */
    uint32_t cost; /* small for few and simple numbers */
} fpo_probe;

typedef struct fpo_probes {
    fpo_probe *at;
    size_t count, room;
} fpo_probes;

/* Probes of all recipes with this view, the simplest first: ones directed at the boundaries of its scale codes (one ulp
 * to both sides) and at the midpoints of its elements, zeros, subnormals, huge and infinite numbers, NaN, and pairs of
 * few significant bits. */
void fpo_probes_make(const fpo_operand_view *view, fpo_probes *probes);
void fpo_probes_free(fpo_probes *probes);

/* No zeros, nothing tiny, huge or not finite: what real data have. */
bool fpo_probe_is_ordinary(const fpo_probe *probe);

/* What became of a probe: the block's scale and codes, and what a GEMM multiplies the tensor by. */
typedef struct fpo_outcome {
    uint64_t bytes;                                /* a digest of the scale and all codes */
    uint32_t scale, codes[FPO_PROBE_VALUES], rest; /* rest: the code of a zero behind the values */
    float multiplier;
} fpo_outcome;

/* One probe on its own. */
fpo_outcome fpo_probe_run(const fpo_recipe_info *recipe, const fpo_probe *probe);
/* All probes, many in one tensor where that gives the same. */
void fpo_probes_run(const fpo_recipe_info *recipe, const fpo_probes *probes, fpo_outcome *outcomes);

#endif
