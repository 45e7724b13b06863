/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which device a kernel runs on, and what computes there. */
#include "runner.h"

#include "runner_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fpo_status no_device(const fpo_runner *runner, const char *wanted, fpo_error *error)
{
    const fpo_devices_info *devices = &runner->devices;
    if (devices->count == 0) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s has no device here: %s", runner->plugin.name, devices->why);
    }
    return fpo_fail(error, FPO_ERR_ARGUMENT, "%s has no device '%s'; it has %s%zu", runner->plugin.name, wanted,
                    devices->count > 1 ? "gpu:0 to gpu:" : "gpu:", devices->count - 1);
}

/* "gpu:N" */
static int number_in(const char *device)
{
    char *end = NULL;
    long number = strncmp(device, "gpu:", 4) == 0 ? strtol(device + 4, &end, 10) : -1;
    return end != NULL && end != device + 4 && *end == '\0' && number >= 0 && number < 1024 ? (int)number : -1;
}

fpo_status fpo_device_choose(fpo_runner *runner, fpo_error *error)
{
    const char *wanted = runner->options.device;
    runner->device = 0;
    if (runner->plugin.host_memory) {
        if (wanted != NULL && strcmp(wanted, "cpu") != 0) {
            return fpo_fail(error, FPO_ERR_ARGUMENT, "the kernels of %s work in host memory: --device cpu, not %s",
                            runner->plugin.name, wanted);
        }
        return FPO_OK;
    }
    bool is_virtual = runner->virtual_gpu.capability != 0; /* then the plug-in sees one device */
    int number = wanted != NULL && !is_virtual ? number_in(wanted) : 0;
    if (number < 0 || (size_t)number >= runner->devices.count) {
        return no_device(runner, wanted != NULL ? wanted : "gpu:0", error);
    }
    runner->device = number;
    const fpo_device_info *device = &runner->devices.devices[number];
    if (!device->usable) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s cannot be used: %s", wanted != NULL ? wanted : "gpu:0",
                        device->why);
    }
    return FPO_OK;
}

static bool lists(const int32_t *capabilities, int capability)
{
    for (int i = 0; i < FPO_CAPABILITIES && capabilities[i] != 0; i++) {
        if (capabilities[i] == capability) {
            return true;
        }
    }
    return false;
}

fpo_status fpo_runner_supports(const fpo_runner *runner, const fpo_kernel_info *kernel, fpo_error *error)
{
    int capability = runner->devices.devices[runner->device].compute_capability;
    if (kernel->any_device || lists(kernel->native, capability) || lists(kernel->emulated, capability)) {
        return FPO_OK;
    }
    char needed[128] = "";
    for (int i = 0; i < FPO_CAPABILITIES && kernel->native[i] != 0; i++) {
        size_t used = strlen(needed);
        snprintf(needed + used, sizeof needed - used, "%s%d.%d", used > 0 ? ", " : "", kernel->native[i] / 10,
                 kernel->native[i] % 10);
    }
    return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel needs compute capability %s, the device has %d.%d", needed,
                    capability / 10, capability % 10);
}

const char *fpo_runner_arithmetic(const fpo_runner *runner, const fpo_kernel_info *kernel)
{
    const fpo_device_info *device = &runner->devices.devices[runner->device];
    bool native = kernel->any_device || lists(kernel->native, device->compute_capability);
    uint32_t arithmetic = native ? kernel->arithmetic : FPO_ARITHMETIC_EMULATED;
    int sm = runner->virtual_gpu.capability;
    if (sm != 0 || device->kind == FPO_DEVICE_VIRTUAL) {
        return sm == 120
                   ? "a VIRTUAL SM120: its PTX is executed on the CPU, its matrix instructions are models, not silicon"
               : sm == 90
                   ? "a VIRTUAL SM90: its PTX is executed on the CPU, its matrix instructions are models, not silicon"
                   : "a VIRTUAL device: its matrix instructions are models, not silicon";
    }
    if (arithmetic == FPO_ARITHMETIC_PLAIN) {
        return "plain scalar arithmetic, no matrix instructions";
    }
    return arithmetic == FPO_ARITHMETIC_EMULATED
               ? "matrix instructions EMULATED in software on this device, not its own"
               : "the device's own matrix instructions";
}
