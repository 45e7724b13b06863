/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table as one list of families. */
#include "ptx.h"

#define FPO_PTX_FAMILY(name) extern const fpo_ptx_family fpo_ptx_family_##name;
#include "families.inc"
#undef FPO_PTX_FAMILY

static const fpo_ptx_family *const families[] = {
#define FPO_PTX_FAMILY(name) &fpo_ptx_family_##name,
#include "families.inc"
#undef FPO_PTX_FAMILY
};

size_t fpo_ptx_family_count(void)
{
    return sizeof families / sizeof families[0];
}

const fpo_ptx_family *fpo_ptx_family_at(size_t index)
{
    return index < fpo_ptx_family_count() ? families[index] : 0;
}
