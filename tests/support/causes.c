/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "causes.h"

bool is_a_cause(const fpo_diagnosis *d, const fpo_edit *edit)
{
    for (size_t i = 0; i < d->cause_count; i++)
        if (d->causes[i].edit_count == 1 && fpo_edit_equal(&d->causes[i].edits[0], edit))
            return true;
    return false;
}

bool is_explained(const fpo_diagnosis *d, const fpo_edit *edit)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    return is_a_cause(d, edit) || d->unconfirmed > 0 || (sign != NULL && sign->explains);
}

fpo_edit edit_named(const char *name, int operands, int from, int to, float value)
{
    return (fpo_edit){.kind = fpo_edit_by_name(name), .operands = operands, .from = from, .to = to, .value = value};
}
