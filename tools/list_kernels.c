/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The kernels of every plug-in that `run` finds by name, as entries of `fp4oracle list`. A plug-in is only looked at in
 * a worker process: one that crashes while it loads becomes an entry that says so. */
#include "gen_report.h"
#include "list.h"
#include "runner.h"

#include <stdio.h>
#include <string.h>

static json_t *kernel_entry(const char *plugin, const fpo_kernel_info *kernel)
{
    char name[512], state[FPO_MESSAGE_SIZE];
    snprintf(name, sizeof name, "%s:%s", plugin, kernel->name);
    if (kernel->unusable[0] != '\0')
        snprintf(state, sizeof state, "unusable: %.400s", kernel->unusable);
    else if (kernel->fault != NULL)
        snprintf(state, sizeof state, "broken on purpose: %.400s", kernel->fault);
    else
        snprintf(state, sizeof state, "%.400s", kernel->summary != NULL ? kernel->summary : "");
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name", name, "plugin", plugin, "a",
                     fpo_operand_name(&kernel->a.view), "b", fpo_operand_name(&kernel->b.view), "d",
                     fpo_format_describe(kernel->d.format)->name, "models",
                     kernel->order.models != NULL ? kernel->order.models : "unknown", "summary", state, "source",
                     kernel->source != NULL ? kernel->source : "");
}

static void add_plugin(json_t *kernels, const char *path)
{
    char plugin[256];
    const char *file = strrchr(path, '/') + 1;
    snprintf(plugin, sizeof plugin, "%.*s", (int)(strlen(file) - strlen(".so")), file);
    fpo_runner runner;
    fpo_error error;
    fpo_runner_options options = {.plugin = path};
    if (fpo_runner_look(&runner, &options, &error) != FPO_OK) {
        json_array_append_new(kernels, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name", plugin, "plugin",
                                                 plugin, "a", "-", "b", "-", "d", "-", "models", "-", "summary",
                                                 error.message, "source", ""));
        return;
    }
    for (size_t i = 0; i < runner.plugin.count; i++)
        json_array_append_new(kernels, kernel_entry(plugin, &runner.plugin.kernels[i]));
    fpo_runner_close(&runner, NULL);
}

json_t *fpo_list_kernels(void)
{
    json_t *kernels = json_array();
    fpo_plugin_paths paths;
    fpo_plugin_find_all(&paths, NULL);
    for (size_t i = 0; i < paths.count; i++)
        add_plugin(kernels, paths.list[i]);
    fpo_plugin_paths_free(&paths);
    return kernels;
}
