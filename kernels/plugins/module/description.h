/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A description file: kernels of one module, as docs/plugins.md ("A PTX file or a cubin") has it. */
#ifndef FP4ORACLE_PLUGINS_MODULE_DESCRIPTION_H
#define FP4ORACLE_PLUGINS_MODULE_DESCRIPTION_H

#include "fields.h"

#include <fp4oracle/kernel_plugin.h>

enum { MODULE_ARGUMENTS = 64, MODULE_DEVICES = 16 };

typedef enum argument_kind {
    ARGUMENT_POINTER, /* of a buffer of the problem */
    ARGUMENT_I32,
    ARGUMENT_I64,
    ARGUMENT_F32 /* alpha or beta by value */
} argument_kind;

typedef struct module_argument {
    argument_kind kind;
    const char *text; /* name of the buffer or scalar, or an expression */
} module_argument;

/* fpo_kernel.user. Texts belong to the JSON. */
typedef struct module_kernel {
    const char *entry;     /* name of the function in the module */
    const char *grid[3];   /* expressions */
    const char *shared;    /* bytes of dynamic shared memory, an expression */
    const char *workspace; /* bytes, an expression */
    uint32_t block[3];
    int argument_count;
    module_argument arguments[MODULE_ARGUMENTS];
    int32_t native[MODULE_DEVICES];
    fpo_kernel_order order;
} module_kernel;

typedef struct module_description {
    char module[4096]; /* path of the PTX file or cubin */
    uint32_t count;
    fpo_kernel *kernels;
    module_kernel *launches;
    json_t *root;
} module_description;

/* Reads a description; `path` is its file's. false with the reason, which names the field. What was read before is
 * freed by module_free in either case. */
bool module_parse(const char *text, size_t length, const char *path, module_description *description,
                  field_errors *errors);
void module_free(module_description *description);

/* The launch's part of a kernel. */
void module_read_launch(const fields *f, module_kernel *kernel);

/* The address or number behind a name of `arguments`; false if there is no such thing. */
bool module_pointer(const char *name, const fpo_kernel_problem *problem, const void **address);
bool module_scalar(const char *name, const fpo_kernel_problem *problem, float *value);

#endif
