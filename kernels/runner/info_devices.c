/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The worker's JSON of devices and variants. */
#include "info_parts.h"

#include <stdlib.h>

fpo_status fpo_devices_info_parse(const char *text, size_t length, fpo_devices_info *info, fpo_error *error)
{
    json_error_t where;
    *info = (fpo_devices_info){.json = json_loadb(text, length, 0, &where)};
    const json_t *devices = json_object_get(info->json, "devices");
    info->count = json_array_size(devices);
    info->devices = calloc(info->count + 1, sizeof *info->devices);
    if (info->json == NULL || info->devices == NULL) {
        fpo_devices_info_free(info);
        return fpo_fail(error, FPO_ERR_KERNEL, "the worker's description of its devices is unreadable: %s", where.text);
    }
    info->why = fpo_info_text_or(info->json, "why", "");
    for (size_t i = 0; i < info->count; i++) {
        const json_t *device = json_array_get(devices, i);
        info->devices[i] = (fpo_device_info){
            .index = (int)fpo_info_number(device, "index"),
            .usable = json_is_true(json_object_get(device, "usable")),
            .kind = (uint32_t)fpo_info_number(device, "kind"),
            .compute_capability = (int)fpo_info_number(device, "compute_capability"),
            .multiprocessors = (int)fpo_info_number(device, "multiprocessors"),
            .memory_bytes = fpo_info_number(device, "memory_bytes"),
            .name = fpo_info_text_or(device, "name", ""),
            .software = fpo_info_text_or(device, "software", ""),
            .why = fpo_info_text_or(device, "why", ""),
        };
    }
    return FPO_OK;
}

void fpo_devices_info_free(fpo_devices_info *info)
{
    json_decref(info->json);
    free(info->devices);
    *info = (fpo_devices_info){0};
}

fpo_status fpo_variant_info_parse(const char *text, size_t length, fpo_variant_info *info, fpo_error *error)
{
    json_error_t where;
    *info = (fpo_variant_info){.json = json_loadb(text, length, 0, &where)};
    if (info->json == NULL) {
        return fpo_fail(error, FPO_ERR_KERNEL, "the worker's description of a variant is unreadable: %s", where.text);
    }
    info->name = fpo_info_text_or(info->json, "name", "");
    info->order = fpo_info_order(json_object_get(info->json, "order"));
    return FPO_OK;
}

void fpo_variant_info_free(fpo_variant_info *info)
{
    json_decref(info->json);
    *info = (fpo_variant_info){0};
}
