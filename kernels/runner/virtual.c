/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The environment in which a plug-in finds the virtual GPU. */
#include "virtual.h"

#include "vgpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "virtual:";

bool fpo_device_is_virtual(const char *device)
{
    return device != NULL && strncmp(device, prefix, sizeof prefix - 1) == 0;
}

char *fpo_virtual_folder(void)
{
    static const char *const places[] = {"../lib/vgpu", "../" FPO_VGPU_FOLDER};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        char library[PATH_MAX + 64];
        snprintf(library, sizeof library, "%.*s/%s/libcudart.so.13", (int)(slash - self), self, places[i]);
        char *real = access(library, R_OK) == 0 ? realpath(library, NULL) : NULL;
        char *end = real != NULL ? strrchr(real, '/') : NULL;
        if (end != NULL) {
            *end = '\0';
            return real;
        }
        free(real);
    }
    return NULL;
}

static char *assign(const char *name, const char *first, const char *joint, const char *second)
{
    size_t size = strlen(name) + strlen(first) + strlen(joint) + strlen(second) + 2;
    char *text = malloc(size);
    if (text != NULL) {
        snprintf(text, size, "%s=%s%s%s", name, first, joint, second);
    }
    return text;
}

char *fpo_virtual_prepend(const char *name, const char *value)
{
    const char *old = getenv(name);
    bool empty = old == NULL || old[0] == '\0';
    return assign(name, value, empty ? "" : ":", empty ? "" : old);
}

fpo_status fpo_virtual_parse(const char *device, fpo_virtual *virtual_gpu, fpo_error *error)
{
    *virtual_gpu = (fpo_virtual){0};
    const char *name = device + sizeof prefix - 1;
    size_t length = strcspn(name, ",");
    const fpo_vgpu_machine *machine = NULL;
    char known[128] = "";
    for (size_t i = 0; (machine = fpo_vgpu_machine_at(i)) != NULL; i++) {
        if (strlen(machine->name) == length && strncmp(machine->name, name, length) == 0) {
            break;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%svirtual:%s", i > 0 ? ", " : "", machine->name);
    }
    if (machine == NULL) {
        return fpo_fail(error, FPO_ERR_ARGUMENT, "there is no virtual GPU '%.*s': there are %s", (int)length, name,
                        known);
    }
    fpo_vgpu_config config;
    const char *rest = name[length] == ',' ? name + length + 1 : "";
    fpo_status status = fpo_vgpu_config_parse(rest, &config, error);
    if (status != FPO_OK) {
        return status;
    }
    char *folder = fpo_virtual_folder();
    if (folder == NULL) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the virtual GPU's stand-in libraries are not beside this program");
    }
    char setting[64];
    snprintf(setting, sizeof setting, "capability=%d", machine->capability);
    virtual_gpu->capability = machine->capability;
    virtual_gpu->environment[0] = fpo_virtual_prepend("LD_LIBRARY_PATH", folder);
    virtual_gpu->environment[1] = assign("FP4ORACLE_VGPU", setting, rest[0] != '\0' ? "," : "", rest);
    free(folder);
    if (virtual_gpu->environment[0] == NULL || virtual_gpu->environment[1] == NULL) {
        fpo_virtual_free(virtual_gpu);
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for an environment");
    }
    return FPO_OK;
}

void fpo_virtual_free(fpo_virtual *virtual_gpu)
{
    for (int i = 0; i < FPO_VIRTUAL_VARIABLES; i++) {
        free(virtual_gpu->environment[i]);
    }
    *virtual_gpu = (fpo_virtual){0};
}
