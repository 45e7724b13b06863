/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a kernel says of its own order, as parts of a spec. */
#include "adapt.h"

#include "spec_fields.h"

#include <string.h>

/* One word of `text`, which ends at a space or a comma; NULL if there is none. */
static const char *next_word(const char **text, char *word, size_t size)
{
    *text += strspn(*text, " ");
    size_t length = strcspn(*text, " ,");
    if (length == 0 || length >= size) {
        return NULL;
    }
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    *text += strspn(*text, " ");
    return word;
}

fpo_status fpo_epilogue_parse(const char *text, fpo_epilogue_step *steps, fpo_error *error)
{
    const char *rest = text;
    memset(steps, 0, FPO_EPILOGUE_STEPS * sizeof *steps);
    for (int i = 0; *rest != '\0'; i++) {
        char op[48], operand[48];
        int64_t op_value = 0, operand_value = FPO_EPI_NOTHING;
        if (i == FPO_EPILOGUE_STEPS) {
            return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel's epilogue has more than %d steps: %s",
                            FPO_EPILOGUE_STEPS, text);
        }
        bool known = next_word(&rest, op, sizeof op) != NULL &&
                     fpo_choice_by_name(FPO_KIND_EPILOGUE_OP, op, &op_value) && op_value != FPO_EPI_END;
        if (known && *rest != ',' && *rest != '\0') {
            known = next_word(&rest, operand, sizeof operand) != NULL &&
                    fpo_choice_by_name(FPO_KIND_EPILOGUE_OPERAND, operand, &operand_value);
        }
        if (!known || (*rest != ',' && *rest != '\0')) {
            return fpo_fail(error, FPO_ERR_UNSUPPORTED, "step %d of the kernel's epilogue makes no sense here: %s",
                            i + 1, text);
        }
        rest += *rest == ',';
        steps[i] = (fpo_epilogue_step){(fpo_epilogue_op)op_value, (fpo_epilogue_operand)operand_value};
    }
    return FPO_OK;
}

static void replace(int32_t *field, int32_t value)
{
    *field = value != 0 ? value : *field;
}

fpo_status fpo_accumulation_of(const fpo_accumulation *model, const fpo_kernel_order *order,
                               fpo_accumulation *accumulation, fpo_error *error)
{
    int64_t split = model->schedule.split, reduction = model->schedule.reduction;
    if (order->split != NULL && !fpo_choice_by_name(FPO_KIND_SPLIT_KIND, order->split, &split)) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel splits K by '%s', which this runner does not know",
                        order->split);
    }
    if (order->reduction != NULL && !fpo_choice_by_name(FPO_KIND_REDUCTION, order->reduction, &reduction)) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "the kernel adds its parts by '%s', which this runner does not know", order->reduction);
    }
    *accumulation = *model;
    fpo_schedule *schedule = &accumulation->schedule;
    schedule->split = (fpo_split_kind)split;
    schedule->reduction = (fpo_reduction)reduction;
    schedule->swap_ab = schedule->swap_ab || order->swap_ab != 0;
    replace(&schedule->parts, order->parts);
    replace(&schedule->quantum, order->quantum);
    replace(&schedule->wave, order->wave);
    replace(&schedule->min_k_tiles, order->min_k_tiles);
    replace(&schedule->max_groups, order->max_groups);
    if (schedule->split != FPO_SPLIT_NONE) { /* without a split the tiles are for people */
        replace(&schedule->tile_k, order->tile_k);
        replace(&schedule->tile_m, order->tile_m);
        replace(&schedule->tile_n, order->tile_n);
    }
    return FPO_OK;
}
