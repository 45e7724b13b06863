/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The device: configuration, global memory, modules and their functions. */
#include "machine.h"

#include <stdlib.h>

typedef struct allocation {
    uint64_t start, end;
    bool owned;
    uint8_t *known; /* of each byte: WRITTEN, READ; NULL: not checked */
} allocation;

struct fpo_vgpu_module {
    fpo_vgpu *gpu;
    fpo_ptx_module *ptx;
    void **variables; /* one allocation a variable, NULL for shared ones */
    fpo_vgpu_function *functions;
    fpo_vgpu_module *next;
};

struct fpo_vgpu {
    fpo_vgpu_config config;
    allocation *allocations; /* by address */
    size_t allocation_count, allocation_room;
    fpo_vgpu_module *modules;
    fpo_vgpu_trace *trace;
};

static const struct {
    const char *sm120, *sm100, *sm90;
} default_models[] = {
#define FPO_VGPU_MMA(ID, sm120, sm100, sm90, summary) {sm120, sm100, sm90},
#include "mma_kinds.inc"
#undef FPO_VGPU_MMA
};

static const fpo_vgpu_machine machines[] = {
#define FPO_VGPU_MACHINE(name, capability, text, shared) {name, capability, text, shared},
#include "machines.inc"
#undef FPO_VGPU_MACHINE
};

const fpo_vgpu_machine *fpo_vgpu_machine_at(size_t index)
{
    return index < sizeof machines / sizeof machines[0] ? &machines[index] : NULL;
}

const fpo_vgpu_machine *fpo_vgpu_machine_of(int capability)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (machines[i].capability == capability)
            return &machines[i];
    return NULL;
}

fpo_status fpo_vgpu_new(const fpo_vgpu_config *config, fpo_vgpu **result, fpo_error *error)
{
    *result = NULL;
    if (fpo_vgpu_machine_of(config->capability) == NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "no virtual GPU of capability %d: 120, 100 and 90 exist",
                        config->capability);
    fpo_vgpu *gpu = calloc(1, sizeof *gpu);
    if (gpu == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    gpu->config = *config;
    if (gpu->config.multiprocessors <= 0)
        gpu->config.multiprocessors = 4;
    for (int i = 0; i < FPO_VGPU_MMA_COUNT; i++) {
        const char *name = config->capability == 120   ? default_models[i].sm120
                           : config->capability == 100 ? default_models[i].sm100
                                                       : default_models[i].sm90;
        if (gpu->config.models[i] == NULL && name[0] != '\0')
            gpu->config.models[i] = fpo_model_by_name(name);
    }
    *result = gpu;
    return FPO_OK;
}

void fpo_vgpu_set_trace(fpo_vgpu *gpu, fpo_vgpu_trace *trace)
{
    gpu->trace = trace;
    if (trace != NULL)
        trace->finding[0] = '\0';
}

fpo_vgpu_trace *fpo_vgpu_traced(const fpo_vgpu *gpu)
{
    return gpu->trace;
}

const fpo_vgpu_config *fpo_vgpu_configuration(const fpo_vgpu *gpu)
{
    return &gpu->config;
}

const fpo_model *fpo_vgpu_model(const fpo_vgpu *gpu, fpo_vgpu_mma mma)
{
    return gpu->config.models[mma];
}

/* Index of the first allocation that ends beyond `address`. */
static size_t search(const fpo_vgpu *gpu, uint64_t address)
{
    size_t low = 0, high = gpu->allocation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (gpu->allocations[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

const void *fpo_vgpu_find(const fpo_vgpu *gpu, uint64_t address, uint64_t bytes, const void *hint)
{
    const allocation *a = hint;
    if (a != NULL && address >= a->start && address < a->end && bytes <= a->end - address)
        return a;
    size_t i = search(gpu, address);
    if (i == gpu->allocation_count)
        return NULL;
    a = &gpu->allocations[i];
    return address >= a->start && bytes <= a->end - address ? a : NULL;
}

bool fpo_vgpu_is_allocated(const fpo_vgpu *gpu, const void *memory, size_t bytes)
{
    return fpo_vgpu_find(gpu, (uint64_t)(uintptr_t)memory, bytes, NULL) != NULL;
}

enum { WRITTEN = 1, READ = 2, KNOWN_GRANULE = 16 };

static bool insert(fpo_vgpu *gpu, void *memory, size_t bytes, bool owned)
{
    if (gpu->allocation_count == gpu->allocation_room) {
        size_t room = 2 * gpu->allocation_room + 16;
        allocation *larger = realloc(gpu->allocations, room * sizeof *larger);
        if (larger == NULL)
            return false;
        gpu->allocations = larger;
        gpu->allocation_room = room;
    }
    uint64_t start = (uint64_t)(uintptr_t)memory;
    size_t i = search(gpu, start);
    memmove(&gpu->allocations[i + 1], &gpu->allocations[i], (gpu->allocation_count - i) * sizeof *gpu->allocations);
    gpu->allocations[i] = (allocation){start, start + bytes, owned, NULL};
    if (owned && gpu->config.check)
        gpu->allocations[i].known = calloc(bytes + 1, 1); /* where there is no memory for it, nothing is found */
    gpu->allocation_count++;
    return true;
}

void *fpo_vgpu_allocate(fpo_vgpu *gpu, size_t bytes)
{
    if (bytes > SIZE_MAX - 511)
        return NULL;
    size_t room = (bytes + 511) / 256 * 256;
    void *memory = aligned_alloc(256, room);
    if (memory == NULL)
        return NULL;
    memset(memory, FPO_POISON, room);
    if (!insert(gpu, memory, bytes, true)) {
        free(memory);
        return NULL;
    }
    return memory;
}

bool fpo_vgpu_attach(fpo_vgpu *gpu, void *memory, size_t bytes)
{
    return insert(gpu, memory, bytes, false);
}

bool fpo_vgpu_release(fpo_vgpu *gpu, void *memory)
{
    uint64_t start = (uint64_t)(uintptr_t)memory;
    for (size_t i = 0; i < gpu->allocation_count; i++) {
        allocation *a = &gpu->allocations[i];
        if (a->start != start)
            continue;
        if (a->owned)
            free(memory);
        free(a->known);
        gpu->allocation_count--;
        memmove(a, a + 1, (gpu->allocation_count - i) * sizeof *a);
        return true;
    }
    return false;
}

static allocation *allocation_of(const fpo_vgpu *gpu, uint64_t address)
{
    size_t i = search(gpu, address);
    bool found = i < gpu->allocation_count && address >= gpu->allocations[i].start;
    return found && gpu->allocations[i].known != NULL ? &gpu->allocations[i] : NULL;
}

/* CTAs on several threads may mark a byte at the same time. */
static void mark(uint8_t *known, uint8_t bits)
{
    if ((__atomic_load_n(known, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(known, bits, __ATOMIC_RELAXED);
}

void fpo_vgpu_note_write(fpo_vgpu *gpu, const void *memory, uint64_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)memory;
    const allocation *a = allocation_of(gpu, address);
    for (uint64_t i = address; a != NULL && i < address + bytes && i < a->end; i++)
        mark(&a->known[i - a->start], WRITTEN);
}

bool fpo_vgpu_note_read(fpo_vgpu *gpu, uint64_t address, uint64_t bytes, uint64_t *first)
{
    const allocation *a = allocation_of(gpu, address);
    bool ok = true;
    for (uint64_t i = address; a != NULL && i < address + bytes && i < a->end; i++) {
        uint8_t *known = &a->known[i - a->start];
        if (ok && !(__atomic_load_n(known, __ATOMIC_RELAXED) & WRITTEN)) {
            ok = false;
            *first = i - a->start;
        }
        mark(known, READ);
    }
    return ok;
}

/* The host writes to global memory as it likes: a granule that no longer holds the pattern of fresh memory has been
 * written. */
void fpo_vgpu_note_host(fpo_vgpu *gpu)
{
    for (size_t n = 0; n < gpu->allocation_count; n++) {
        const allocation *a = &gpu->allocations[n];
        uint64_t size = a->known != NULL ? a->end - a->start : 0;
        const uint8_t *bytes = (const uint8_t *)(uintptr_t)a->start;
        for (uint64_t i = 0; i < size; i += KNOWN_GRANULE) {
            uint64_t end = i + KNOWN_GRANULE < size ? i + KNOWN_GRANULE : size;
            bool fresh = true;
            for (uint64_t k = i; k < end; k++)
                fresh = fresh && bytes[k] == FPO_POISON;
            for (uint64_t k = i; k < end && !fresh; k++)
                a->known[k] |= WRITTEN;
        }
    }
}

uint64_t fpo_vgpu_unread(const fpo_vgpu *gpu, const void *memory, uint64_t bytes, uint8_t *unread)
{
    uint64_t address = (uint64_t)(uintptr_t)memory, count = 0;
    const allocation *a = allocation_of(gpu, address);
    for (uint64_t i = 0; i < bytes; i++) {
        bool known = a != NULL && address + i < a->end;
        unread[i] = known && !(a->known[address + i - a->start] & READ);
        count += unread[i];
    }
    return count;
}

void fpo_vgpu_forget_reads(fpo_vgpu *gpu, const void *memory, uint64_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)memory;
    const allocation *a = allocation_of(gpu, address);
    for (uint64_t i = address; a != NULL && i < address + bytes && i < a->end; i++)
        a->known[i - a->start] &= (uint8_t)~READ;
}

static void free_module(fpo_vgpu_module *module)
{
    for (fpo_vgpu_function *f = module->functions; f != NULL;) {
        fpo_vgpu_function *next = f->next;
        fpo_ptx_kernel_free(f->kernel);
        free(f);
        f = next;
    }
    for (size_t i = 0; module->variables != NULL && i < fpo_ptx_variable_count(module->ptx); i++)
        if (module->variables[i] != NULL)
            fpo_vgpu_release(module->gpu, module->variables[i]);
    free(module->variables);
    fpo_ptx_module_free(module->ptx);
    free(module);
}

void fpo_vgpu_free(fpo_vgpu *gpu)
{
    if (gpu == NULL)
        return;
    for (fpo_vgpu_module *m = gpu->modules; m != NULL;) {
        fpo_vgpu_module *next = m->next;
        free_module(m);
        m = next;
    }
    for (size_t i = 0; i < gpu->allocation_count; i++) {
        free(gpu->allocations[i].known);
        if (gpu->allocations[i].owned)
            free((void *)(uintptr_t)gpu->allocations[i].start);
    }
    free(gpu->allocations);
    free(gpu);
}

static fpo_status place_variables(fpo_vgpu_module *module, fpo_error *error)
{
    size_t count = fpo_ptx_variable_count(module->ptx);
    module->variables = calloc(count + 1, sizeof *module->variables);
    if (module->variables == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const fpo_ptx_variable *v = fpo_ptx_variable_at(module->ptx, i);
        if (v->space == FPO_PTX_V_SHARED || v->external)
            continue;
        module->variables[i] = fpo_vgpu_allocate(module->gpu, v->size);
        if (module->variables[i] == NULL)
            return fpo_fail(error, FPO_ERR_MEMORY, "no memory for variable %s (%llu bytes)", v->name,
                            (unsigned long long)v->size);
        fpo_vgpu_note_write(module->gpu, module->variables[i], v->size);
        fpo_status status = fpo_ptx_variable_initialise(v, module->variables[i], error);
        if (status != FPO_OK)
            return status;
    }
    return FPO_OK;
}

fpo_status fpo_vgpu_load(fpo_vgpu *gpu, const char *ptx, size_t length, fpo_vgpu_module **result, fpo_error *error)
{
    *result = NULL;
    fpo_vgpu_module *module = calloc(1, sizeof *module);
    if (module == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    module->gpu = gpu;
    fpo_status status = fpo_ptx_module_load(ptx, length, &module->ptx, error);
    if (status != FPO_OK) {
        free(module);
        return status;
    }
    status = place_variables(module, error);
    if (status != FPO_OK) {
        free_module(module);
        return status;
    }
    module->next = gpu->modules;
    gpu->modules = module;
    *result = module;
    return FPO_OK;
}

void *fpo_vgpu_variable(const fpo_vgpu_module *module, const char *name, size_t *bytes)
{
    for (size_t i = 0; i < fpo_ptx_variable_count(module->ptx); i++) {
        const fpo_ptx_variable *v = fpo_ptx_variable_at(module->ptx, i);
        if (module->variables[i] != NULL && strcmp(v->name, name) == 0) {
            *bytes = v->size;
            return module->variables[i];
        }
    }
    return NULL;
}

uint64_t fpo_vgpu_symbol(const fpo_vgpu_module *module, uint64_t variable)
{
    return (uint64_t)(uintptr_t)module->variables[variable];
}

const char *fpo_vgpu_target(const fpo_vgpu_module *module)
{
    return fpo_ptx_target(module->ptx);
}

const char *fpo_vgpu_function_at(const fpo_vgpu_module *module, size_t index)
{
    return fpo_ptx_kernel_name(module->ptx, index);
}

fpo_status fpo_vgpu_get_function(fpo_vgpu_module *module, const char *name, fpo_vgpu_function **result,
                                 fpo_error *error)
{
    *result = NULL;
    for (fpo_vgpu_function *f = module->functions; f != NULL; f = f->next) {
        if (strcmp(f->kernel->name, name) == 0) {
            *result = f;
            return FPO_OK;
        }
    }
    fpo_ptx_kernel *kernel;
    fpo_status status = fpo_ptx_kernel_decode(module->ptx, name, &kernel, error);
    if (status != FPO_OK)
        return status;
    fpo_vgpu_function *f = calloc(1, sizeof *f);
    if (f == NULL) {
        fpo_ptx_kernel_free(kernel);
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    }
    *f = (fpo_vgpu_function){module, kernel, module->functions};
    module->functions = f;
    *result = f;
    return FPO_OK;
}

uint32_t fpo_vgpu_param_count(const fpo_vgpu_function *function)
{
    return function->kernel->param_count;
}

uint32_t fpo_vgpu_param_offset(const fpo_vgpu_function *function, uint32_t index)
{
    return index < function->kernel->param_count ? function->kernel->params[index].offset : 0;
}

uint32_t fpo_vgpu_param_size(const fpo_vgpu_function *function, uint32_t index)
{
    return index < function->kernel->param_count ? function->kernel->params[index].size : 0;
}

const char *fpo_vgpu_function_name(const fpo_vgpu_function *function)
{
    return function->kernel->name;
}

fpo_vgpu_function_info fpo_vgpu_describe(const fpo_vgpu_function *function)
{
    const fpo_ptx_kernel *k = function->kernel;
    const uint32_t *n = k->required_threads;
    return (fpo_vgpu_function_info){.shared_bytes = k->shared_bytes,
                                    .local_bytes = k->local_bytes,
                                    .max_threads = n[0] != 0 ? n[0] * n[1] * n[2] : k->max_threads,
                                    .cluster = {k->cluster[0], k->cluster[1], k->cluster[2]}};
}

fpo_vgpu *fpo_vgpu_of(const fpo_vgpu_function *function)
{
    return function->module->gpu;
}
