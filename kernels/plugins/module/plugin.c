/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Kernels of a PTX file or a cubin, as the JSON file that FPO_MODULE names describes them: Triton, CuTe DSL and
 * whatever else leaves a module behind. The runner sets FPO_MODULE where it is given such a file as a plug-in. */
#include "description.h"
#include "driver.h"
#include "expression.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_ATTRIBUTE = 8 /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */, GRID_MOST = INT32_MAX };
enum { PLAIN_SHARED = 48 * 1024, FILE_LARGEST = 1 << 28 };

static module_description description;
static field_errors errors;

static fpo_plugin_status refuse(char *why, const fpo_kernel *kernel, const char *what, const char *text,
                                const char *problem)
{
    snprintf(why, FPO_PLUGIN_TEXT, "%.80s: %s \"%.80s\": %s", kernel->name, what, text, problem);
    return FPO_PLUGIN_UNSUPPORTED;
}

/* An expression of the description, which must be within bounds for this problem. */
static fpo_plugin_status evaluate(const fpo_kernel *kernel, const fpo_kernel_problem *problem, const char *what,
                                  const char *text, int64_t least, int64_t most, int64_t *value, char *why)
{
    char reason[EXPRESSION_WHY];
    if (!expression_value(text, problem, fpo_driver_multiprocessors(), value, reason))
        return refuse(why, kernel, what, text, reason);
    if (*value < least || *value > most) {
        snprintf(reason, sizeof reason,
                 "is %" PRId64 " for %" PRId64 "x%" PRId64 "x%" PRId64 ", not within %" PRId64 " to %" PRId64, *value,
                 problem->m, problem->n, problem->k, least, most);
        return refuse(why, kernel, what, text, reason);
    }
    return FPO_PLUGIN_OK;
}

/* What cuLaunchKernel is given. */
typedef struct launch {
    uint32_t grid[3], shared;
    union {
        const void *pointer;
        int32_t i32;
        int64_t i64;
        float f32;
    } values[MODULE_ARGUMENTS];
    void *parameters[MODULE_ARGUMENTS];
} launch;

static fpo_plugin_status set_argument(const fpo_kernel *kernel, const fpo_kernel_problem *problem, int i, launch *l,
                                      char *why)
{
    const module_argument *argument = &((const module_kernel *)kernel->user)->arguments[i];
    int64_t value = 0;
    fpo_plugin_status status = FPO_PLUGIN_OK;
    l->parameters[i] = &l->values[i];
    switch (argument->kind) {
    case ARGUMENT_POINTER: module_pointer(argument->text, problem, &l->values[i].pointer); break;
    case ARGUMENT_F32: module_scalar(argument->text, problem, &l->values[i].f32); break;
    case ARGUMENT_I32:
        status = evaluate(kernel, problem, "argument", argument->text, INT32_MIN, UINT32_MAX, &value, why);
        l->values[i].i32 = (int32_t)(uint32_t)value;
        break;
    case ARGUMENT_I64:
        status = evaluate(kernel, problem, "argument", argument->text, INT64_MIN, INT64_MAX, &l->values[i].i64, why);
        break;
    }
    return status;
}

static fpo_plugin_status prepare(const fpo_kernel *kernel, const fpo_kernel_problem *problem, launch *l, char *why)
{
    const module_kernel *m = kernel->user;
    int64_t value = 0;
    fpo_plugin_status status = FPO_PLUGIN_OK;
    for (int i = 0; i < 3 && status == FPO_PLUGIN_OK; i++) {
        status = evaluate(kernel, problem, "grid", m->grid[i], 1, i == 0 ? GRID_MOST : 65535, &value, why);
        l->grid[i] = (uint32_t)value;
    }
    if (status == FPO_PLUGIN_OK)
        status = evaluate(kernel, problem, "shared", m->shared, 0, 1 << 20, &value, why);
    l->shared = (uint32_t)value;
    for (int i = 0; i < m->argument_count && status == FPO_PLUGIN_OK; i++)
        status = set_argument(kernel, problem, i, l, why);
    return status;
}

static fpo_plugin_status check(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    launch l;
    return prepare(kernel, problem, &l, why);
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                   char *why)
{
    int64_t value = 0;
    const module_kernel *m = kernel->user;
    fpo_plugin_status status = evaluate(kernel, problem, "workspace", m->workspace, 0, INT64_MAX, &value, why);
    *bytes = (uint64_t)value;
    return status;
}

/* The whole file with a zero behind it, as PTX needs one; NULL with the reason. */
static char *read_file(const char *path, size_t *length, char *why)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    char *bytes = size >= 0 && size <= FILE_LARGEST ? malloc((size_t)size + 1) : NULL;
    bool complete =
        bytes != NULL && fseek(file, 0, SEEK_SET) == 0 && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    if (file != NULL)
        fclose(file);
    if (!complete) {
        snprintf(why, FPO_PLUGIN_TEXT, file == NULL ? "cannot open %.400s" : "cannot read %.400s", path);
        free(bytes);
        return NULL;
    }
    bytes[size] = '\0';
    *length = (size_t)size;
    return bytes;
}

static fpo_plugin_status load(const module_kernel *m, void **function, char *why)
{
    const fpo_driver *cuda = fpo_driver_functions();
    void *module = NULL;
    size_t length;
    char *image = read_file(description.module, &length, why);
    if (image == NULL)
        return FPO_PLUGIN_FAILED;
    fpo_plugin_status status = fpo_driver_status(cuda->load(&module, image), "cuModuleLoadData", why);
    free(image);
    if (status == FPO_PLUGIN_OK && cuda->function(function, module, m->entry) != 0) {
        snprintf(why, FPO_PLUGIN_TEXT, "%.300s has no kernel \"%.80s\"", description.module, m->entry);
        status = FPO_PLUGIN_FAILED;
    }
    return status;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    static void *function; /* each kernel has a process of its own */
    const fpo_driver *cuda = fpo_driver_functions();
    const module_kernel *m = kernel->user;
    launch l;
    fpo_plugin_status status = prepare(kernel, problem, &l, why);
    if (status == FPO_PLUGIN_OK && function == NULL)
        status = load(m, &function, why);
    if (status == FPO_PLUGIN_OK && l.shared > PLAIN_SHARED)
        status = fpo_driver_status(cuda->set(function, SHARED_ATTRIBUTE, (int)l.shared), "cuFuncSetAttribute", why);
    if (status != FPO_PLUGIN_OK)
        return status;
    return fpo_driver_status(cuda->launch(function, l.grid[0], l.grid[1], l.grid[2], m->block[0], m->block[1],
                                          m->block[2], l.shared, NULL, l.parameters, NULL),
                             "cuLaunchKernel", why);
}

/* For the runner (kernels/runner/plugin.h): why there is no table. */
FPO_PLUGIN_EXPORT const char *fpo_plugin_why(void);

FPO_PLUGIN_EXPORT const char *fpo_plugin_why(void)
{
    return errors.text;
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "module",
        .version = "1",
        .kernel_size = sizeof(fpo_kernel),
        .check = check,
        .workspace = workspace,
        .run = run,
    };
    const char *path = getenv("FPO_MODULE");
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    if (path == NULL || path[0] == '\0') {
        field_fail(&errors, "it needs a description: --kernel FILE.json (docs/plugins.md)");
        return NULL;
    }
    size_t length;
    char why[FPO_PLUGIN_TEXT], *text = read_file(path, &length, why);
    bool read = text != NULL ? module_parse(text, length, path, &description, &errors) : field_fail(&errors, "%s", why);
    free(text);
    if (!read)
        return NULL;
    plugin.kernels = description.kernels;
    plugin.kernel_count = description.count;
    plugin.memory = fpo_driver_memory();
    return &plugin;
}
