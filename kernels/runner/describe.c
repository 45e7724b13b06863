/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a plug-in declares, as JSON: what crosses from the worker to the runner. */
#include "worker.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static json_t *text(const char *s)
{
    if (s == NULL) {
        return json_null();
    }
    json_t *string = json_string(s);
    return string != NULL ? string : json_string("(not UTF-8)");
}

static json_t *capabilities(const int32_t *list)
{
    if (list == NULL) {
        return json_null();
    }
    json_t *array = json_array();
    for (; *list != 0; list++) {
        json_array_append_new(array, json_integer(*list));
    }
    return array;
}

static json_t *operand(const fpo_kernel_operand *o)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:I, s:I, s:I}", "element", text(o->element), "packing",
                     text(o->packing), "scale", text(o->scale), "scale_layout", text(o->scale_layout), "scale_rows",
                     (int)o->scale_rows, "scale_k", (int)o->scale_k, "major", (json_int_t)o->major, "line_multiple",
                     (json_int_t)o->line_multiple, "scale_padding", (json_int_t)o->scale_padding);
}

static json_t *order_json(const fpo_kernel_order *o)
{
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "models", text(o->models), "epilogue", text(o->epilogue), "split",
                             text(o->split), "reduction", text(o->reduction));
    const struct {
        const char *name;
        int32_t value;
    } numbers[] = {
        {"parts", o->parts},
        {"tile_m", o->tile_m},
        {"tile_n", o->tile_n},
        {"tile_k", o->tile_k},
        {"quantum", o->quantum},
        {"wave", o->wave},
        {"min_k_tiles", o->min_k_tiles},
        {"max_groups", o->max_groups},
        {"swap_ab", o->swap_ab},
        {"instruction_k", o->instruction_k},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        json_object_set_new(json, numbers[i].name, json_integer(numbers[i].value));
    }
    return json;
}

static json_t *kernel_json(const fpo_kernel *k)
{
    fpo_kernel_order order = fpo_plugin_order_copy(k->order);
    json_t *json =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", text(k->name), "summary", text(k->summary), "source",
                  text(k->source), "fault", text(k->fault), "a", operand(&k->a), "b", operand(&k->b));
    json_object_set_new(json, "c", text(k->c));
    json_object_set_new(json, "bias", text(k->bias));
    json_object_set_new(json, "d", text(k->d));
    json_object_set_new(json, "d_scale", text(k->d_scale));
    json_object_set_new(json, "d_scale_layout", text(k->d_scale_layout));
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"bias_per_row", k->bias_per_row},
        {"c_order", k->c_order},
        {"d_order", k->d_order},
        {"c_line_multiple", k->c_line_multiple},
        {"d_line_multiple", k->d_line_multiple},
        {"any_line", k->any_line},
        {"alpha", k->alpha},
        {"beta", k->beta},
        {"tensor_scales", k->tensor_scales},
        {"m_multiple", k->m_multiple},
        {"n_multiple", k->n_multiple},
        {"k_multiple", k->k_multiple},
        {"arithmetic", k->arithmetic},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        json_object_set_new(json, numbers[i].name, json_integer(numbers[i].value));
    }
    json_object_set_new(json, "native", capabilities(k->native));
    json_object_set_new(json, "emulated", capabilities(k->emulated));
    json_object_set_new(json, "order", order_json(&order));
    return json;
}

static char *dump(json_t *json)
{
    char *string = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return string;
}

char *fpo_describe_plugin(const fpo_loaded_plugin *plugin)
{
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < plugin->table.kernel_count; i++) {
        fpo_kernel kernel = fpo_plugin_kernel_copy(plugin, i);
        json_array_append_new(kernels, kernel_json(&kernel));
    }
    return dump(json_pack("{s:o, s:o, s:b, s:b, s:o}", "name", text(plugin->table.name), "version",
                          text(plugin->table.version), "host_memory", plugin->table.memory == NULL, "has_workspace",
                          plugin->table.workspace != NULL, "kernels", kernels));
}

char *fpo_describe_devices(const fpo_loaded_plugin *plugin)
{
    char why[FPO_PLUGIN_TEXT] = "";
    int32_t count = 0;
    json_t *devices = json_array();
    if (plugin->memory.count(&count, why) != FPO_PLUGIN_OK) {
        count = 0;
    }
    for (int32_t i = 0; i < count; i++) {
        char reason[FPO_PLUGIN_TEXT] = "";
        fpo_plugin_device device = {.size = sizeof device};
        fpo_plugin_status status = plugin->memory.describe(i, &device, reason);
        device.name[sizeof device.name - 1] = '\0';
        device.software[sizeof device.software - 1] = '\0';
        reason[sizeof reason - 1] = '\0';
        json_array_append_new(devices,
                              json_pack("{s:i, s:b, s:o, s:I, s:i, s:i, s:I, s:o, s:o}", "index", (int)i, "usable",
                                        status == FPO_PLUGIN_OK, "why", text(reason), "kind", (json_int_t)device.kind,
                                        "compute_capability", (int)device.compute_capability, "multiprocessors",
                                        (int)device.multiprocessors, "memory_bytes", (json_int_t)device.memory_bytes,
                                        "name", text(device.name), "software", text(device.software)));
    }
    why[sizeof why - 1] = '\0';
    return dump(json_pack("{s:o, s:o}", "devices", devices, "why", text(why)));
}

char *fpo_describe_variant(const char *name, const fpo_kernel_order *order)
{
    return dump(json_pack("{s:o, s:o}", "name", text(name), "order", order_json(order)));
}
