/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A plug-in in this process: loaded, and its tables checked. Only the worker does this; the process of the user never
 * loads one, since it may crash while it loads. */
#ifndef FP4ORACLE_RUNNER_PLUGIN_H
#define FP4ORACLE_RUNNER_PLUGIN_H

#include <fp4oracle/kernel_plugin.h>
#include <fp4oracle/status.h>

typedef struct fpo_loaded_plugin {
    void *library;
    fpo_plugin table;         /* copied; fields that the plug-in does not have are zero */
    fpo_plugin_memory memory; /* the plug-in's, or the host's */
} fpo_loaded_plugin;

/* Optional in a plug-in: why fpo_plugin_v1 returned NULL, in one line, where that is not for the ABI's number: a file
 * that it needs cannot be used. `run` then says so and exits with 2. The plug-in `module` has it. */
#define FPO_PLUGIN_WHY_SYMBOL "fpo_plugin_why"
typedef const char *(*fpo_plugin_reason)(void);

fpo_status fpo_plugin_load(const char *path, fpo_loaded_plugin *plugin, fpo_error *error);

/* The plug-in's own entry, to hand back to it, and a copy in which missing fields are zero. */
const fpo_kernel *fpo_plugin_kernel(const fpo_loaded_plugin *plugin, uint32_t index);
fpo_kernel fpo_plugin_kernel_copy(const fpo_loaded_plugin *plugin, uint32_t index);
/* An order as the plug-in has it; zeros for NULL. */
fpo_kernel_order fpo_plugin_order_copy(const fpo_kernel_order *order);

/* Memory of the host, for plug-ins that have none of their own. */
extern const fpo_plugin_memory fpo_host_memory;

#endif
