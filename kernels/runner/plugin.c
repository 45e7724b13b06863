/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Loading a plug-in, and what is wrong with it if it cannot be used. */
#include "plugin.h"

#include "runner.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies a struct that may be shorter or longer than the one we know. */
static void copy_sized(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
    size_t bytes = from_bytes < to_bytes ? from_bytes : to_bytes;
    memcpy(to, from, bytes);
    memset((char *)to + bytes, 0, to_bytes - bytes);
}

static fpo_status check_memory(const char *path, fpo_loaded_plugin *plugin, fpo_error *error)
{
    const fpo_plugin_memory *memory = plugin->table.memory;
    if (memory == NULL) {
        plugin->memory = fpo_host_memory;
        return FPO_OK;
    }
    copy_sized(&plugin->memory, sizeof plugin->memory, memory, memory->size);
    const fpo_plugin_memory *m = &plugin->memory;
    if (m->count == NULL || m->describe == NULL || m->open == NULL || m->allocate == NULL || m->release == NULL ||
        m->upload == NULL || m->download == NULL || m->synchronise == NULL) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s: its memory interface (size %u) lacks a function", path,
                        memory->size);
    }
    return FPO_OK;
}

static fpo_status check_kernels(const char *path, const fpo_loaded_plugin *plugin, fpo_error *error)
{
    const fpo_plugin *table = &plugin->table;
    for (uint32_t i = 0; i < table->kernel_count; i++) {
        fpo_kernel kernel = fpo_plugin_kernel_copy(plugin, i);
        if (kernel.name == NULL || kernel.name[0] == '\0') {
            return fpo_fail(error, FPO_ERR_KERNEL, "%s: kernel %u of %u has no name", path, i, table->kernel_count);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(fpo_plugin_kernel_copy(plugin, j).name, kernel.name) == 0) {
                return fpo_fail(error, FPO_ERR_KERNEL, "%s: kernels %u and %u are both called %s", path, j, i,
                                kernel.name);
            }
        }
    }
    return FPO_OK;
}

static fpo_status check_table(const char *path, const fpo_plugin *table, fpo_loaded_plugin *plugin, fpo_error *error)
{
    size_t least = offsetof(fpo_plugin, run) + sizeof table->run;
    if (table->size < least) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s: its table says it has %u bytes; ABI %u needs at least %zu", path,
                        table->size, FPO_PLUGIN_ABI, least);
    }
    if (table->abi != FPO_PLUGIN_ABI) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s: it was built for plug-in ABI %u, this runner has ABI %u", path,
                        table->abi, FPO_PLUGIN_ABI);
    }
    copy_sized(&plugin->table, sizeof plugin->table, table, table->size);
    table = &plugin->table;
    if (table->name == NULL || table->run == NULL) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s: its table has no %s", path,
                        table->name == NULL ? "name" : "run function");
    }
    size_t least_kernel = offsetof(fpo_kernel, order) + sizeof(const fpo_kernel_order *);
    if (table->kernel_count == 0 || table->kernels == NULL) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s: it has no kernels", path);
    }
    if (table->kernel_size < least_kernel) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s: its kernel entries have %u bytes; ABI %u needs at least %zu", path,
                        table->kernel_size, FPO_PLUGIN_ABI, least_kernel);
    }
    fpo_status status = check_memory(path, plugin, error);
    return status == FPO_OK ? check_kernels(path, plugin, error) : status;
}

/* Why a plug-in gave no table: its own words, if it has any. */
static fpo_status no_table(const char *path, void *library, fpo_error *error)
{
    fpo_plugin_reason reason;
    void *symbol = dlsym(library, FPO_PLUGIN_WHY_SYMBOL);
    memcpy(&reason, &symbol, sizeof reason);
    const char *why = reason != NULL ? reason() : NULL;
    return why != NULL && why[0] != '\0'
               ? fpo_fail(error, FPO_ERR_ARGUMENT, "%s", why)
               : fpo_fail(error, FPO_ERR_KERNEL, "%s: it does not serve plug-in ABI %u", path, FPO_PLUGIN_ABI);
}

/* The shared object behind a path: a description of a module goes to the plug-in `module`, by the environment of this
 * process. malloc'ed. */
static fpo_status library_of(const char *path, char **library, fpo_error *error)
{
    *library = NULL;
    if (fpo_plugin_is_description(path)) {
        setenv("FPO_MODULE", path, 1);
        return fpo_plugin_find("module", library, error);
    }
    *library = strdup(path);
    return *library != NULL ? FPO_OK : fpo_fail(error, FPO_ERR_MEMORY, "no memory for a path");
}

/* What is no shared object at all is unusable input; one that cannot be loaded is a plug-in that failed. */
static fpo_status check_shared_object(const char *path, const char *library, fpo_error *error)
{
    unsigned char header[18] = {0};
    FILE *file = fopen(library, "rb");
    if (file == NULL) {
        return FPO_OK; /* dlopen says why */
    }
    size_t read = fread(header, 1, sizeof header, file);
    fclose(file);
    enum { SHARED_OBJECT = 3, TYPE_AT = 16 }; /* ET_DYN, e_type; its other byte stays 0 in either byte order */
    if (read < sizeof header || memcmp(header, "\177ELF", 4) != 0 ||
        header[TYPE_AT] + header[TYPE_AT + 1] != SHARED_OBJECT) {
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s is no shared object", path);
    }
    return FPO_OK;
}

fpo_status fpo_plugin_load(const char *path, fpo_loaded_plugin *plugin, fpo_error *error)
{
    char *library;
    memset(plugin, 0, sizeof *plugin);
    fpo_status found = library_of(path, &library, error);
    if (found != FPO_OK) {
        return found;
    }
    found = check_shared_object(path, library, error);
    if (found != FPO_OK) {
        free(library);
        return found;
    }
    plugin->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    free(library);
    if (plugin->library == NULL) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s", dlerror());
    }
    fpo_status status;
    fpo_plugin_entry entry;
    void *symbol = dlsym(plugin->library, FPO_PLUGIN_SYMBOL);
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no conversion from an object to a function pointer */
    const fpo_plugin *table = entry != NULL ? entry(FPO_PLUGIN_ABI) : NULL;
    if (entry == NULL) {
        status = fpo_fail(error, FPO_ERR_KERNEL, "%s: not a plug-in, it does not export %s", path, FPO_PLUGIN_SYMBOL);
    } else if (table == NULL) {
        status = no_table(path, plugin->library, error);
    } else {
        status = check_table(path, table, plugin, error);
    }
    return status; /* the library stays loaded: the worker ends soon, and unloading may run its destructors into trouble
                    */
}

const fpo_kernel *fpo_plugin_kernel(const fpo_loaded_plugin *plugin, uint32_t index)
{
    const char *first = (const char *)plugin->table.kernels;
    return (const fpo_kernel *)(const void *)(first + (size_t)index * plugin->table.kernel_size);
}

fpo_kernel fpo_plugin_kernel_copy(const fpo_loaded_plugin *plugin, uint32_t index)
{
    fpo_kernel kernel;
    copy_sized(&kernel, sizeof kernel, fpo_plugin_kernel(plugin, index), plugin->table.kernel_size);
    return kernel;
}

fpo_kernel_order fpo_plugin_order_copy(const fpo_kernel_order *order)
{
    fpo_kernel_order copy = {0};
    if (order != NULL) {
        copy_sized(&copy, sizeof copy, order, order->size);
    }
    return copy;
}
