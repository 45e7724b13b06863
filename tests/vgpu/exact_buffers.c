/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* exact_buffers PLUGIN KERNEL M N K: one launch of an FP8 kernel with f32 scales per 1x128 and 128x128, each buffer
 * exactly as large as its tensor, where the runner has guards around them: what reads or writes beyond one is a fault
 * of the virtual GPU. Prints what the launch said. */
#include <fp4oracle/kernel_plugin.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fpo_plugin_memory *memory;
static char why[FPO_PLUGIN_TEXT];

static void *zeros(int64_t bytes, const char *name)
{
    void *address = NULL, *host = calloc(1, (size_t)bytes);
    if (host == NULL || memory->allocate((uint64_t)bytes, &address, why) != FPO_PLUGIN_OK ||
        memory->upload(address, host, (uint64_t)bytes, why) != FPO_PLUGIN_OK) {
        fprintf(stderr, "%s: %s\n", name, why);
        exit(2);
    }
    free(host);
    printf("%s %p %lld bytes\n", name, address, (long long)bytes);
    return address;
}

static int launch(const fpo_plugin *plugin, const fpo_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
    const int64_t blocks = (k + 127) / 128;
    fpo_kernel_problem p = {.size = sizeof p, .m = m, .n = n, .k = k, .a_line = k, .b_line = k, .d_line = 4 * n};
    p.a = zeros(m * k, "a");
    p.b = zeros(n * k, "b");
    p.a_scale = zeros(p.a_scale_bytes = 4 * m * blocks, "a_scale");
    p.b_scale = zeros(p.b_scale_bytes = 4 * ((n + 127) / 128) * blocks, "b_scale");
    p.d = zeros(4 * m * n, "d");
    if (plugin->workspace(kernel, &p, &p.workspace_bytes, why) != FPO_PLUGIN_OK)
        return 2;
    p.workspace = zeros((int64_t)p.workspace_bytes, "workspace");
    fpo_plugin_status status = plugin->run(kernel, &p, why);
    if (status == FPO_PLUGIN_OK)
        status = memory->synchronise(why);
    puts(status == FPO_PLUGIN_OK ? "no fault" : why);
    return status != FPO_PLUGIN_OK;
}

int main(int count, char **arguments)
{
    void *library = count == 6 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    fpo_plugin_entry entry = NULL;
    if (library != NULL)
        *(void **)&entry = dlsym(library, "fpo_plugin_v1");
    const fpo_plugin *plugin = entry != NULL ? entry(FPO_PLUGIN_ABI) : NULL;
    if (plugin == NULL || (memory = plugin->memory)->open(0, why) != FPO_PLUGIN_OK) {
        fprintf(stderr, "exact_buffers PLUGIN KERNEL M N K: %s\n", library == NULL ? dlerror() : why);
        return 2;
    }
    for (uint32_t i = 0; i < plugin->kernel_count; i++)
        if (strcmp(plugin->kernels[i].name, arguments[2]) == 0)
            return launch(plugin, &plugin->kernels[i], atoi(arguments[3]), atoi(arguments[4]), atoi(arguments[5]));
    fprintf(stderr, "there is no kernel %s\n", arguments[2]);
    return 2;
}
