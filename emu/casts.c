/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The named cast policies. */
#include <fp4oracle/cast.h>
#include <string.h>

typedef struct named_cast {
    const char *name;
    const char *summary;
    fpo_cast policy;
} named_cast;

static const named_cast presets[FPO_CAST_COUNT] = {
#define FPO_CAST(ID, name_, rounding_, overflow_, infinity_, nan_, no_nan_, negative_, no_zero_, lowest_, drop_,       \
                 summary_)                                                                                             \
    [FPO_CAST_##ID] = {                                                                                                \
        name_, summary_, {rounding_, overflow_, infinity_, nan_, no_nan_, negative_, no_zero_, lowest_, drop_}},
#include <fp4oracle/casts.inc>
#undef FPO_CAST
};

const fpo_cast *fpo_cast_describe(fpo_cast_preset preset)
{
    return (unsigned)preset < FPO_CAST_COUNT ? &presets[preset].policy : NULL;
}

const char *fpo_cast_name(fpo_cast_preset preset)
{
    return (unsigned)preset < FPO_CAST_COUNT ? presets[preset].name : NULL;
}

const char *fpo_cast_summary(fpo_cast_preset preset)
{
    return (unsigned)preset < FPO_CAST_COUNT ? presets[preset].summary : NULL;
}

fpo_cast_preset fpo_cast_by_name(const char *name)
{
    if (name == NULL)
        return FPO_CAST_COUNT;
    unsigned preset = 0;
    while (preset < FPO_CAST_COUNT && strcmp(presets[preset].name, name) != 0)
        preset++;
    return (fpo_cast_preset)preset;
}
