/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A device that is none: its addresses are not the host's, launches wait in a queue until somebody synchronises, errors
 * stick. It lets everything that concerns devices be tested without one. */
#include "fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bit that no address of a process has: whoever uses a device address on the host crashes. */
static const uintptr_t device_bit = (uintptr_t)1 << 62;

enum { QUEUE = 8 };
static const uint64_t capacity = (uint64_t)256 << 20;

static struct {
    int32_t opened;
    int lost;
    uint64_t used;
    int queued;
    struct {
        const fpo_kernel *kernel;
        fpo_kernel_problem problem;
    } queue[QUEUE];
} device = {.opened = -1};

void *fake_address(const void *address)
{
    return (void *)((uintptr_t)address & ~device_bit);
}

static fpo_plugin_status count(int32_t *devices, char *why)
{
    if (getenv("FAKE_NO_DEVICES") != NULL) {
        snprintf(why, FPO_PLUGIN_TEXT, "the fake driver is not loaded");
        return FPO_PLUGIN_UNSUPPORTED;
    }
    *devices = 3;
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status describe(int32_t index, fpo_plugin_device *description, char *why)
{
    static const int32_t capabilities[] = {120, 120, 90};
    description->kind = index == 2 ? FPO_DEVICE_VIRTUAL : FPO_DEVICE_GPU;
    description->compute_capability = capabilities[index];
    description->multiprocessors = 7;
    description->memory_bytes = capacity;
    snprintf(description->name, sizeof description->name, "Fake %d", 9000 + index);
    snprintf(description->software, sizeof description->software, "fake driver 1.2");
    if (index == 1) {
        snprintf(why, FPO_PLUGIN_TEXT, "its driver 1.1 is older than 1.2");
        return FPO_PLUGIN_UNSUPPORTED;
    }
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status open_device(int32_t index, char *why)
{
    if (device.opened >= 0) {
        snprintf(why, FPO_PLUGIN_TEXT, "device %d is open already", device.opened);
        return FPO_PLUGIN_FAILED;
    }
    device.opened = index;
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status ready(char *why)
{
    if (device.lost) {
        snprintf(why, FPO_PLUGIN_TEXT, "an illegal memory access was encountered (sticky)");
        return FPO_PLUGIN_DEVICE_LOST;
    }
    if (device.opened < 0) {
        snprintf(why, FPO_PLUGIN_TEXT, "no device is open");
        return FPO_PLUGIN_FAILED;
    }
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status synchronise(char *why)
{
    for (int i = 0; i < device.queued; i++) {
        device.lost = device.lost || fake_compute(device.queue[i].kernel, &device.queue[i].problem) != 0;
    }
    device.queued = 0;
    return ready(why);
}

static fpo_plugin_status allocate(uint64_t bytes, void **address, char *why)
{
    fpo_plugin_status status = ready(why);
    if (status != FPO_PLUGIN_OK) {
        return status;
    }
    uint64_t *block = bytes <= capacity - device.used ? aligned_alloc(256, 256 + (bytes + 255) / 256 * 256) : NULL;
    if (block == NULL) {
        snprintf(why, FPO_PLUGIN_TEXT, "%llu bytes wanted, %llu of %llu are free", (unsigned long long)bytes,
                 (unsigned long long)(capacity - device.used), (unsigned long long)capacity);
        return FPO_PLUGIN_OUT_OF_MEMORY;
    }
    block[0] = bytes;
    device.used += bytes;
    *address = (void *)((uintptr_t)(block + 32) | device_bit);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status release(void *address, char *why)
{
    uint64_t *block = (uint64_t *)fake_address(address) - 32;
    device.used -= block[0];
    free(block);
    return ready(why);
}

static fpo_plugin_status upload(void *to, const void *from, uint64_t bytes, char *why)
{
    fpo_plugin_status status = synchronise(why);
    if (status == FPO_PLUGIN_OK) {
        memcpy(fake_address(to), from, (size_t)bytes);
    }
    return status;
}

static fpo_plugin_status download(void *to, const void *from, uint64_t bytes, char *why)
{
    fpo_plugin_status status = synchronise(why);
    if (status == FPO_PLUGIN_OK) {
        memcpy(to, fake_address(from), (size_t)bytes);
    }
    return status;
}

const fpo_plugin_memory fake_memory = {
    .size = sizeof(fpo_plugin_memory),
    .count = count,
    .describe = describe,
    .open = open_device,
    .allocate = allocate,
    .release = release,
    .upload = upload,
    .download = download,
    .synchronise = synchronise,
};

fpo_plugin_status fake_launch(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    fpo_plugin_status status = ready(why);
    if (status == FPO_PLUGIN_OK && device.queued == QUEUE) {
        status = synchronise(why);
    }
    if (status == FPO_PLUGIN_OK) {
        device.queue[device.queued].kernel = kernel;
        device.queue[device.queued++].problem = *problem;
    }
    return status;
}
