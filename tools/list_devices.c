/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The devices that the plug-ins see, as entries of `fp4oracle list`: what there is, and why something is not. */
#include "list.h"
#include "run_records.h"
#include "runner.h"
#include "vgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(json_t *devices, const char *plugin, json_t *device, const char *state)
{
    json_t *entry = json_pack("{s:s, s:s}", "name", json_string_value(json_object_get(device, "device")), "of", plugin);
    const json_t *capability = json_object_get(device, "compute_capability");
    json_object_set(entry, "description", json_object_get(device, "name"));
    json_object_set_new(entry, "compute_capability",
                        json_string(capability != NULL ? json_string_value(capability) : "-"));
    json_object_set(entry, "kind", json_object_get(device, "kind"));
    json_object_set(entry, "usable", json_object_get(device, "usable"));
    json_object_set_new(entry, "state", json_string(state));
    json_array_append_new(devices, entry);
    json_decref(device);
}

static void add_nothing(json_t *devices, const char *plugin, const char *why)
{
    add(devices, plugin, json_pack("{s:s, s:s, s:s, s:b}", "device", "-", "name", "-", "kind", "-", "usable", 0), why);
}

static void add_plugin(json_t *devices, const char *path)
{
    char plugin[256];
    const char *file = strrchr(path, '/') + 1;
    snprintf(plugin, sizeof plugin, "%.*s", (int)(strlen(file) - strlen(".so")), file);
    fpo_runner runner;
    fpo_error error;
    const fpo_runner_options options = {.plugin = path};
    if (fpo_runner_look(&runner, &options, &error) != FPO_OK) {
        add_nothing(devices, plugin, error.message);
        return;
    }
    for (size_t i = 0; i < runner.devices.count; i++) {
        const fpo_device_info *device = &runner.devices.devices[i];
        add(devices, plugin, fpo_device_json(&runner, device), device->usable ? device->software : device->why);
    }
    if (runner.devices.count == 0) {
        add_nothing(devices, plugin, runner.devices.why);
    }
    fpo_runner_close(&runner, NULL);
}

/* The virtual GPUs need no plug-in to be there, but one with PTX to do something. */
static void add_virtual(json_t *devices, const fpo_vgpu_machine *machine)
{
    char name[64];
    snprintf(name, sizeof name, "virtual:%s", machine->name);
    char *folder = fpo_virtual_folder();
    add(devices, "any CUDA",
        json_pack("{s:s, s:s, s:s, s:s, s:b}", "device", name, "name", "PTX executed on the CPU", "compute_capability",
                  machine->text, "kind", "virtual", "usable", folder != NULL),
        folder != NULL ? folder : "the stand-in libraries are not beside this program");
    free(folder);
}

json_t *fpo_list_devices(void)
{
    json_t *devices = json_array();
    fpo_plugin_paths paths;
    fpo_plugin_find_all(&paths, NULL);
    for (size_t i = 0; i < paths.count; i++) {
        add_plugin(devices, paths.list[i]);
    }
    fpo_plugin_paths_free(&paths);
    for (size_t i = 0; fpo_vgpu_machine_at(i) != NULL; i++) {
        add_virtual(devices, fpo_vgpu_machine_at(i));
    }
    return devices;
}
