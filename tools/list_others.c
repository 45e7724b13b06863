/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Layouts, packings, recipes, schemes, models and faults as entries of `fp4oracle list`. */
#include "generate.h"
#include "hf_checkpoint.h"
#include "list.h"
#include "quantized.h"
#include "spec_json.h"

#include <fp4oracle/edit.h>
#include <fp4oracle/fp4oracle.h>
#include <stdio.h>

json_t *fpo_list_layout(size_t index)
{
    if (index >= FPO_LAYOUT_COUNT)
        return NULL;
    return json_pack("{s:s, s:s}", "name", fpo_layout_name((fpo_layout)index), "summary",
                     fpo_layout_summary((fpo_layout)index));
}

json_t *fpo_list_packing(size_t index)
{
    if (index >= FPO_PACKING_COUNT)
        return NULL;
    return json_pack("{s:s, s:s}", "name", fpo_packing_name((fpo_packing)index), "summary",
                     fpo_packing_summary((fpo_packing)index));
}

json_t *fpo_list_recipe(size_t index)
{
    if (index >= FPO_RECIPE_COUNT)
        return NULL;
    const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)index);
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s}}", "name", info->name, "operand",
                  fpo_recipe_format_text(info).text, "standing", fpo_recipe_standing_name(info->standing), "library",
                  info->library, "summary", info->summary, "source", info->source, "steps", "text", info->text);
    if (info->reason != NULL)
        json_object_set_new(entry, "reason", json_string(info->reason));
    return entry;
}

json_t *fpo_list_scheme(size_t index)
{
    const fpo_scheme_info *info = fpo_scheme_describe((fpo_scheme)index);
    if (info == NULL)
        return NULL;
    const fpo_recipe_info *fixed = fpo_recipe_describe(info->static_recipe);
    const char *meaning = info->meaning == FPO_STORED_MULTIPLIER ? "multiplier"
                          : info->meaning == FPO_STORED_DIVISOR  ? "divisor"
                                                                 : "-";
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s, s:s}}", "name", info->name,
                     "method", info->method, "key", info->key, "weight", fpo_block_format_describe(info->weight)->name,
                     "tensor_scale", meaning, "activations", fpo_block_format_describe(info->activations)->name,
                     "recipe", fpo_recipe_describe(info->recipe)->name, "summary", info->summary, "tensors", "codes",
                     info->codes, "scale", info->scale, "tensor_scale", info->tensor_scale, "input_scale",
                     info->input_scale, "recipe_with_input_scale", fixed != NULL ? fixed->name : "-");
}

/* A sentence of the catalogue for any parameters: %s is an operand, %1, %2 and %v are its parameters. */
static void general_sentence(const char *sentence, char *text, size_t size)
{
    size_t length = 0;
    while (*sentence != '\0' && length + 1 < size) {
        const char *word = NULL;
        if (sentence[0] == '%')
            word = sentence[1] == 's'   ? "an operand"
                   : sentence[1] == '1' ? "X"
                   : sentence[1] == '2' ? "Y"
                   : sentence[1] == 'v' ? "F"
                                        : NULL;
        if (word == NULL) {
            text[length++] = *sentence++;
            continue;
        }
        length += (size_t)snprintf(text + length, size - length, "%s", word);
        sentence += 2;
    }
    text[length < size ? length : size - 1] = '\0';
}

json_t *fpo_list_fault(size_t index)
{
    if (index >= FPO_EDIT_COUNT)
        return NULL;
    const fpo_edit_info *info = fpo_edit_describe((fpo_edit_kind)index);
    char sentence[512];
    general_sentence(info->sentence, sentence, sizeof sentence);
    return json_pack("{s:s, s:i, s:b, s:b, s:s, s:s}", "name", info->name, "class", info->fault_class, "per_operand",
                     (int)info->per_operand, "legitimate", (int)info->legitimate, "sentence", sentence, "look",
                     info->look);
}

/* The numbers of the instruction and of the schedule, every field under the name that it has in model.h. */
json_t *fpo_list_model(size_t index)
{
    const fpo_model *model = fpo_model_at(index);
    if (model == NULL)
        return NULL;
    json_t *accumulation = NULL;
    if (fpo_record_to_json(&fpo_record_accumulation, &model->accumulation, model->name, &accumulation, NULL) != FPO_OK)
        accumulation = json_null();
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", model->name, "provenance",
                     fpo_provenance_name(model->provenance), "summary", model->summary, "source", model->source,
                     "accumulation", accumulation);
}

json_t *fpo_list_data(size_t index)
{
    if (index >= FPO_DATA_COUNT)
        return NULL;
    return json_pack("{s:s, s:s}", "name", fpo_data_kind_name((fpo_data_kind)index), "summary",
                     fpo_data_kind_summary((fpo_data_kind)index));
}
