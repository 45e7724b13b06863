/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* cuDNN's graph API as a plug-in. The library is opened when it is needed: without it the plug-in loads and says so. */
#ifndef FP4ORACLE_PLUGINS_CUDNN_H
#define FP4ORACLE_PLUGINS_CUDNN_H

#include <cudnn_graph.h>
#include <fp4oracle/kernel_plugin.h>

/* The functions that are used: LIBRARY_FUNCTION(name) */
#define LIBRARY_FUNCTIONS                                                                                              \
    LIBRARY_FUNCTION(cudnnBackendCreateDescriptor)                                                                     \
    LIBRARY_FUNCTION(cudnnBackendDestroyDescriptor)                                                                    \
    LIBRARY_FUNCTION(cudnnBackendSetAttribute)                                                                         \
    LIBRARY_FUNCTION(cudnnBackendGetAttribute)                                                                         \
    LIBRARY_FUNCTION(cudnnBackendFinalize)                                                                             \
    LIBRARY_FUNCTION(cudnnBackendExecute)                                                                              \
    LIBRARY_FUNCTION(cudnnCreate)                                                                                      \
    LIBRARY_FUNCTION(cudnnGetVersion)                                                                                  \
    LIBRARY_FUNCTION(cudnnGetErrorString)                                                                              \
    LIBRARY_FUNCTION(cudnnGetLastErrorString)

typedef struct dnn_library {
#define LIBRARY_FUNCTION(name) __typeof__(name) *name;
    LIBRARY_FUNCTIONS
#undef LIBRARY_FUNCTION
    void *file;
    cudnnHandle_t handle;
    char missing[256]; /* why the library is not there; empty if it is */
} dnn_library;

/* Opens the library; with a handle (and so a CUDA context) if asked for. */
dnn_library *dnn_open(void);
fpo_plugin_status dnn_handle(char *why);
fpo_plugin_status dnn_status(cudnnStatus_t status, const char *call, char *why);

/* fpo_kernel.user */
typedef struct dnn_kernel {
    cudnnDataType_t a, b, d, scale;
    int32_t block; /* K of a scale, 0: one scale a tensor */
    int alpha;     /* the product is multiplied by alpha, on the device */
} dnn_kernel;

extern const fpo_kernel dnn_kernels[];
extern const uint32_t dnn_kernel_count;
/* What is known of an engine's order on compute capability 9.0, NULL otherwise. */
const fpo_kernel_order *dnn_engine_order(const dnn_kernel *kernel, int64_t engine);

enum { DNN_A = 1, DNN_B, DNN_A_SCALE, DNN_B_SCALE, DNN_ALPHA, DNN_D }; /* tensors of the graph */

/* Descriptors are kept in a list and destroyed together. */
enum { DNN_MAX_DESCRIPTORS = 128 };
typedef struct dnn_descriptors {
    cudnnBackendDescriptor_t list[DNN_MAX_DESCRIPTORS];
    int count;
    cudnnStatus_t status; /* of the first call that failed; then nothing more is done */
    const char *call;     /* what failed */
} dnn_descriptors;

void dnn_release(dnn_descriptors *all);
cudnnBackendDescriptor_t dnn_new(dnn_descriptors *all, cudnnBackendDescriptorType_t type);
void dnn_set(dnn_descriptors *all, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t count, const void *values);
void dnn_finalize(dnn_descriptors *all, cudnnBackendDescriptor_t d, const char *call);

/* The graph of one problem, finalized. */
cudnnBackendDescriptor_t dnn_graph(dnn_descriptors *all, const dnn_kernel *kernel, const fpo_kernel_problem *problem);

#endif
