/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The kernels of every plug-in that `run` finds by name, as entries of `fp4oracle list`. A plug-in is only looked at in
 * a worker process: one that crashes while it loads becomes an entry that says so. */
#include "gen_report.h"
#include "list.h"
#include "runner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAME.so, but no library of this project or of others beside it. */
static bool is_plugin_name(const char *file)
{
    size_t length = strlen(file);
    return length > 3 && strcmp(file + length - 3, ".so") == 0 && strncmp(file, "lib", 3) != 0;
}

static bool is_listed(const json_t *kernels, const char *plugin)
{
    size_t index;
    json_t *entry;
    json_array_foreach(kernels, index, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "plugin")), plugin) == 0)
            return true;
    }
    return false;
}

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

static void add_plugin(json_t *kernels, const char *folder, const char *file)
{
    char plugin[256], path[4096];
    snprintf(plugin, sizeof plugin, "%.*s", (int)(strlen(file) - 3), file);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (is_listed(kernels, plugin))
        return; /* an earlier folder has it: `run` takes that one */
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
    char *folder;
    for (size_t i = 0; (folder = fpo_plugin_folder(i)) != NULL; i++) {
        struct dirent **files = NULL;
        int count = scandir(folder, &files, NULL, alphasort);
        for (int f = 0; f < count; f++) {
            if (is_plugin_name(files[f]->d_name))
                add_plugin(kernels, folder, files[f]->d_name);
            free(files[f]);
        }
        free(files);
        free(folder);
    }
    return kernels;
}
