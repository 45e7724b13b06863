/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The plug-in: every engine that takes the graph of a problem is a variant. */
#include "../common/cuda_memory.h"
#include "cudnn_plugin.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PLANS = 16 };

typedef struct plan {
    dnn_descriptors all; /* engine, its configuration, the plan */
    cudnnBackendDescriptor_t plan;
    int64_t engine, workspace;
} plan;

/* One process works on one kernel and one problem after the other: the plans of the latest problem. */
static dnn_descriptors graph_parts;
static plan plans[MAX_PLANS];
static uint32_t plan_count;

static void forget(void)
{
    while (plan_count > 0)
        dnn_release(&plans[--plan_count].all);
    dnn_release(&graph_parts);
}

/* A plan for one engine with the library's own choice of its parameters. */
static fpo_plugin_status make_plan(cudnnBackendDescriptor_t graph, int64_t engine, plan *x, char *why)
{
    const dnn_library *lib = dnn_open();
    dnn_descriptors *all = &x->all;
    int64_t written = 0;
    *x = (plan){.engine = engine};
    cudnnBackendDescriptor_t of = dnn_new(all, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    dnn_set(all, of, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    dnn_set(all, of, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &engine);
    dnn_finalize(all, of, "the engine");
    cudnnBackendDescriptor_t configuration = dnn_new(all, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    dnn_set(all, configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &of);
    dnn_finalize(all, configuration, "the engine's configuration");
    x->plan = dnn_new(all, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    dnn_set(all, x->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &lib->handle);
    dnn_set(all, x->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &configuration);
    dnn_finalize(all, x->plan, "the execution plan");
    cudnnStatus_t status = all->status;
    if (status == CUDNN_STATUS_SUCCESS)
        status = lib->cudnnBackendGetAttribute(x->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                               &written, &x->workspace);
    fpo_plugin_status answer = dnn_status(status, all->call != NULL ? all->call : "the workspace's size", why);
    if (answer != FPO_PLUGIN_OK)
        dnn_release(all);
    return answer;
}

static fpo_plugin_status find_plans(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    fpo_plugin_status status = dnn_handle(why);
    if (status != FPO_PLUGIN_OK)
        return status;
    forget();
    int64_t engines = 0, written = 0;
    cudnnBackendDescriptor_t graph = dnn_graph(&graph_parts, kernel->user, problem);
    status = dnn_status(graph_parts.status, graph_parts.call, why);
    if (status == FPO_PLUGIN_OK)
        status = dnn_status(dnn_open()->cudnnBackendGetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                                                                 CUDNN_TYPE_INT64, 1, &written, &engines),
                            "counting the engines", why);
    if (status != FPO_PLUGIN_OK)
        return status;
    char reason[FPO_PLUGIN_TEXT] = "no engine";
    for (int64_t engine = 0; engine < engines && plan_count < MAX_PLANS; engine++)
        plan_count += make_plan(graph, engine, &plans[plan_count], reason) == FPO_PLUGIN_OK;
    if (plan_count == 0) {
        snprintf(why, FPO_PLUGIN_TEXT, "none of cuDNN's %lld engines takes this graph; the last: %.400s",
                 (long long)engines, reason);
        return FPO_PLUGIN_UNSUPPORTED;
    }
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status variants(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint32_t *count,
                                  char *why)
{
    fpo_plugin_status status = find_plans(kernel, problem, why);
    *count = plan_count;
    return status;
}

static fpo_plugin_status choose(const fpo_kernel *kernel, const fpo_kernel_problem *problem, const plan **chosen,
                                char *why)
{
    fpo_plugin_status status = plan_count > 0 ? FPO_PLUGIN_OK : find_plans(kernel, problem, why);
    if (status == FPO_PLUGIN_OK && problem->variant >= plan_count) {
        snprintf(why, FPO_PLUGIN_TEXT, "variant %u of %u", problem->variant, plan_count);
        status = FPO_PLUGIN_FAILED;
    }
    *chosen = status == FPO_PLUGIN_OK ? &plans[problem->variant] : NULL;
    return status;
}

static fpo_plugin_status describe(const fpo_kernel *kernel, const fpo_kernel_problem *problem,
                                  fpo_kernel_variant *variant, char *why)
{
    static const fpo_kernel_order unknown = {.size = sizeof unknown};
    const plan *x;
    fpo_plugin_status status = choose(kernel, problem, &x, why);
    if (status != FPO_PLUGIN_OK)
        return status;
    const fpo_kernel_order *order = fpo_cuda_capability() == 90 ? dnn_engine_order(kernel->user, x->engine) : NULL;
    snprintf(variant->name, sizeof variant->name, "engine %lld", (long long)x->engine);
    variant->order = order != NULL ? order : &unknown;
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                   char *why)
{
    const plan *x;
    fpo_plugin_status status = choose(kernel, problem, &x, why);
    *bytes = status == FPO_PLUGIN_OK ? (uint64_t)x->workspace : 0;
    return status;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const plan *x;
    fpo_plugin_status status = choose(kernel, p, &x, why);
    if (status != FPO_PLUGIN_OK)
        return status;
    const dnn_kernel *k = kernel->user;
    const int64_t ids[] = {DNN_A, DNN_B, DNN_A_SCALE, DNN_B_SCALE, DNN_D, DNN_ALPHA};
    const void *addresses[] = {p->a, p->b, p->a_scale, p->b_scale, p->d, p->alpha};
    int64_t count = k->alpha ? 6 : 5;
    dnn_descriptors all = {.count = 0};
    cudnnBackendDescriptor_t pack = dnn_new(&all, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    dnn_set(&all, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids);
    dnn_set(&all, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, addresses);
    dnn_set(&all, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &p->workspace);
    dnn_finalize(&all, pack, "the variant pack");
    status = dnn_status(all.status, all.call, why);
    if (status == FPO_PLUGIN_OK)
        status =
            dnn_status(dnn_open()->cudnnBackendExecute(dnn_open()->handle, x->plan, pack), "cudnnBackendExecute", why);
    dnn_release(&all);
    return status;
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static char version[320];
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "cudnn",
        .version = version,
        .kernels = dnn_kernels,
        .kernel_size = sizeof(fpo_kernel),
        .variants = variants,
        .describe = describe,
        .workspace = workspace,
        .run = run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    const dnn_library *library = dnn_open();
    if (library->missing[0] != '\0') {
        snprintf(version, sizeof version, "no cuDNN: %.300s", library->missing);
    } else {
        size_t v = library->cudnnGetVersion();
        snprintf(version, sizeof version, "cuDNN %zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
    }
    plugin.kernel_count = dnn_kernel_count;
    plugin.memory = fpo_cuda_memory(version);
    return &plugin;
}
