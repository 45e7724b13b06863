/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual GPU as a device: stand-in libraries in place of the CUDA runtime and driver of the worker. */
#ifndef FP4ORACLE_RUNNER_VIRTUAL_H
#define FP4ORACLE_RUNNER_VIRTUAL_H

#include <fp4oracle/status.h>
#include <stdbool.h>

enum { FPO_VIRTUAL_VARIABLES = 2 };

typedef struct fpo_virtual {
    int capability;                               /* 120 */
    char *environment[FPO_VIRTUAL_VARIABLES + 1]; /* NAME=VALUE, ended by NULL */
} fpo_virtual;

bool fpo_device_is_virtual(const char *device); /* "virtual:..."; NULL is not */

/* "virtual:sm120" and others of machines.inc, with a configuration of the machine behind a comma ("virtual:sm120,seed=7,sms=2").
 */
fpo_status fpo_virtual_parse(const char *device, fpo_virtual *virtual_gpu, fpo_error *error);
void fpo_virtual_free(fpo_virtual *virtual_gpu);

/* Where the stand-in libraries are: lib/vgpu beside the program's bin in a build folder, lib/fp4oracle/vgpu where it is
 * installed. malloc'ed; NULL if they are not there. */
char *fpo_virtual_folder(void);
/* VALUE:what the variable has, or VALUE, as NAME=...; malloc'ed, NULL without memory. */
char *fpo_virtual_prepend(const char *name, const char *value);

#endif
