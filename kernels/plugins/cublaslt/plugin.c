/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The plug-in: every algorithm that the heuristic returns for a problem is a variant of its own. With
 * FPO_CUBLASLT_TILES=1 in the environment also its first one with every other tile that the library accepts. */
#include "../common/cuda_memory.h"
#include "cublaslt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FROM_HEURISTIC = 64, MAX_ALGORITHMS = 256 };
static const uint64_t workspace_limit = (uint64_t)64 << 20;

/* One process works on one kernel and one problem after the other: the algorithms of the latest problem. */
static cublasLtHandle_t handle;
static cublasLtMatmulHeuristicResult_t found[MAX_ALGORITHMS];
static int found_count, chosen_count; /* of which the heuristic returned chosen_count */
static fpo_kernel_order order;

static fpo_plugin_status open_handle(char *why)
{
    return handle != NULL ? FPO_PLUGIN_OK : lt_status(cublasLtCreate(&handle), "cublasLtCreate", why);
}

static int32_t configuration(const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    int32_t value = 0;
    size_t written = 0;
    cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, &value, sizeof value, &written);
    return value;
}

static int has_tile(int32_t tile)
{
    for (int i = 0; i < found_count; i++)
        if (configuration(&found[i].algo, CUBLASLT_ALGO_CONFIG_TILE_ID) == tile)
            return 1;
    return 0;
}

/* The first algorithm with each tile that it is said to have and that AlgoCheck accepts. */
static void force_tiles(const lt_call *call)
{
    uint32_t tiles[1024];
    size_t bytes = 0;
    if (cublasLtMatmulAlgoCapGetAttribute(&found[0].algo, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles, &bytes) !=
        CUBLAS_STATUS_SUCCESS)
        return;
    for (size_t i = 0; i < bytes / sizeof *tiles && found_count < MAX_ALGORITHMS; i++) {
        cublasLtMatmulHeuristicResult_t *result = &found[found_count];
        cublasLtMatmulAlgo_t algorithm = found[0].algo;
        if (has_tile((int32_t)tiles[i]) ||
            cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, &tiles[i], sizeof tiles[i]))
            continue;
        if (cublasLtMatmulAlgoCheck(handle, call->operation, call->a, call->b, call->c, call->d, &algorithm, result) ||
            result->workspaceSize > workspace_limit)
            continue;
        result->algo = algorithm;
        found_count++;
    }
}

static fpo_plugin_status find_algorithms(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    lt_call call;
    cublasLtMatmulPreference_t preference = NULL;
    fpo_plugin_status status = open_handle(why);
    found_count = 0;
    if (status == FPO_PLUGIN_OK)
        status = lt_open_call(kernel, problem, &call, why);
    if (status != FPO_PLUGIN_OK)
        return status;
    cublasStatus_t s = cublasLtMatmulPreferenceCreate(&preference);
    s = s ? s
          : cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_limit,
                                                 sizeof workspace_limit);
    s = s ? s
          : cublasLtMatmulAlgoGetHeuristic(handle, call.operation, call.a, call.b, call.c, call.d, preference,
                                           MAX_FROM_HEURISTIC, found, &found_count);
    if (preference != NULL)
        cublasLtMatmulPreferenceDestroy(preference);
    chosen_count = found_count;
    if (!s && found_count > 0 && getenv("FPO_CUBLASLT_TILES") != NULL)
        force_tiles(&call);
    lt_close_call(&call);
    status = lt_status(s, "cublasLtMatmulAlgoGetHeuristic", why);
    if (status == FPO_PLUGIN_OK && found_count == 0) {
        snprintf(why, FPO_PLUGIN_TEXT, "the heuristic has no algorithm for this shape");
        status = FPO_PLUGIN_UNSUPPORTED;
    }
    return status;
}

static fpo_plugin_status variants(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint32_t *count,
                                  char *why)
{
    fpo_plugin_status status = find_algorithms(kernel, problem, why);
    *count = (uint32_t)found_count;
    return status;
}

/* Split-K changes part lengths and the epilogue (facts.md 6.5b); nothing else of an algorithm changes bits. */
static const fpo_kernel_order *order_of(const fpo_kernel *kernel, int32_t parts)
{
    static char epilogue[192];
    const lt_kernel *k = kernel->user;
    order = *kernel->order;
    if (fpo_cuda_capability() != 90) {
        order = (fpo_kernel_order){.size = sizeof order};
        return &order;
    }
    if (parts > 1) {
        order.epilogue = lt_epilogue(k, 1, epilogue, sizeof epilogue);
        order.parts = parts;
        order.split = "cublaslt";
        order.reduction = "serial";
        order.quantum = k->mode->quantum;
    }
    return &order;
}

static fpo_plugin_status describe(const fpo_kernel *kernel, const fpo_kernel_problem *problem,
                                  fpo_kernel_variant *variant, char *why)
{
    if (problem->variant >= (uint32_t)found_count) {
        snprintf(why, FPO_PLUGIN_TEXT, "variant %u of %d", problem->variant, found_count);
        return FPO_PLUGIN_FAILED;
    }
    const cublasLtMatmulAlgo_t *algorithm = &found[problem->variant].algo;
    int32_t parts = configuration(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
    snprintf(variant->name, sizeof variant->name,
             "algo %d tile %d stages %d splitk %d reduction %d swizzle %d custom %d%s",
             configuration(algorithm, CUBLASLT_ALGO_CONFIG_ID), configuration(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
             configuration(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID), parts,
             configuration(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
             configuration(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
             configuration(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
             problem->variant < (uint32_t)chosen_count ? "" : " forced");
    variant->order = order_of(kernel, parts);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                   char *why)
{
    (void)kernel;
    (void)why;
    *bytes = problem->variant < (uint32_t)found_count ? found[problem->variant].workspaceSize : 0;
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    lt_call call;
    fpo_plugin_status status = found_count > 0 ? FPO_PLUGIN_OK : find_algorithms(kernel, p, why);
    if (status == FPO_PLUGIN_OK && p->variant >= (uint32_t)found_count) {
        snprintf(why, FPO_PLUGIN_TEXT, "variant %u of %d", p->variant, found_count);
        status = FPO_PLUGIN_FAILED;
    }
    if (status == FPO_PLUGIN_OK)
        status = lt_open_call(kernel, p, &call, why);
    if (status != FPO_PLUGIN_OK)
        return status;
    static const float zero = 0, one = 1;
    const lt_kernel *k = kernel->user;
    const void *left = k->exchange ? p->b : p->a, *right = k->exchange ? p->a : p->b;
    const float *alpha = p->alpha != NULL ? p->alpha : &one, *beta = p->c != NULL && p->beta != NULL ? p->beta : &zero;
    /* Without a C nothing is read there; D's own address would be an operation in place, which has rules of its own. */
    const void *c = p->c != NULL ? p->c : p->a;
    status = lt_status(cublasLtMatmul(handle, call.operation, alpha, left, call.a, right, call.b, beta, c, call.c, p->d,
                                      call.d, &found[p->variant].algo, p->workspace, p->workspace_bytes, NULL),
                       "cublasLtMatmul", why);
    lt_close_call(&call);
    return status;
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static char version[64];
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "cublaslt",
        .version = version,
        .kernel_size = sizeof(fpo_kernel),
        .variants = variants,
        .describe = describe,
        .workspace = workspace,
        .run = run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    if (plugin.kernels == NULL) {
        size_t v = cublasLtGetVersion();
        snprintf(version, sizeof version, "cuBLASLt %zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
        plugin.kernel_count = lt_make_kernels();
        plugin.kernels = lt_kernels;
        plugin.memory = fpo_cuda_memory(version);
    }
    return &plugin;
}
