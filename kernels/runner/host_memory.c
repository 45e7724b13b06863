/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The memory of plug-ins that work in host memory: one device, this processor. */
#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fpo_plugin_status count(int32_t *devices, char *why)
{
    (void)why;
    *devices = 1;
    return FPO_PLUGIN_OK;
}

static void processor_name(char *name, size_t size)
{
    snprintf(name, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static fpo_plugin_status describe(int32_t device, fpo_plugin_device *description, char *why)
{
    if (device != 0) {
        snprintf(why, FPO_PLUGIN_TEXT, "host memory is device 0, there is no device %d", device);
        return FPO_PLUGIN_UNSUPPORTED;
    }
    description->kind = FPO_DEVICE_OTHER;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    description->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    processor_name(description->name, sizeof description->name);
    snprintf(description->software, sizeof description->software, "%ld hardware threads",
             sysconf(_SC_NPROCESSORS_ONLN));
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status open_device(int32_t device, char *why)
{
    fpo_plugin_device ignored = {0};
    return describe(device, &ignored, why);
}

static fpo_plugin_status allocate(uint64_t bytes, void **address, char *why)
{
    int failed = posix_memalign(address, 4096, bytes > 0 ? (size_t)bytes : 1);
    if (failed != 0) {
        snprintf(why, FPO_PLUGIN_TEXT, "no %" PRIu64 " bytes of host memory", bytes);
        return FPO_PLUGIN_OUT_OF_MEMORY;
    }
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status release(void *address, char *why)
{
    (void)why;
    free(address);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status transfer(void *to, const void *from, uint64_t bytes, char *why)
{
    (void)why;
    memcpy(to, from, (size_t)bytes);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status synchronise(char *why)
{
    (void)why;
    return FPO_PLUGIN_OK;
}

const fpo_plugin_memory fpo_host_memory = {
    .size = sizeof(fpo_plugin_memory),
    .count = count,
    .describe = describe,
    .open = open_device,
    .allocate = allocate,
    .release = release,
    .upload = transfer,
    .download = transfer,
    .synchronise = synchronise,
};
