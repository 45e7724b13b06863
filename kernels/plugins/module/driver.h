/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The memory of a CUDA device for plug-ins that launch PTX or cubins, through libcuda.so.1, which is looked for when it
 * is needed: nothing of CUDA is needed to build them. */
#ifndef FP4ORACLE_PLUGINS_MODULE_DRIVER_H
#define FP4ORACLE_PLUGINS_MODULE_DRIVER_H

#include <fp4oracle/kernel_plugin.h>

/* The driver's functions, NULL until a device was opened. */
typedef struct fpo_driver {
    void *library;
#define DRIVER(name, symbol, arguments) int(*name) arguments;
#include "driver.inc"
#undef DRIVER
} fpo_driver;

const fpo_driver *fpo_driver_functions(void);
const fpo_plugin_memory *fpo_driver_memory(void);

/* The status of a driver call, with the call and the driver's words in `why`. Errors that leave the context unusable
 * are FPO_PLUGIN_DEVICE_LOST. */
fpo_plugin_status fpo_driver_status(int error, const char *call, char *why);

/* Of the opened device: 120 for 12.0, and the number of multiprocessors. */
int fpo_driver_multiprocessors(void);

#endif
