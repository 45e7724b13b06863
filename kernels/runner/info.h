/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a plug-in declared, in the runner's terms: names looked up in the registries. What a kernel names that this
 * runner does not know makes that kernel unusable, with the reason, and no other. */
#ifndef FP4ORACLE_RUNNER_INFO_H
#define FP4ORACLE_RUNNER_INFO_H

#include <fp4oracle/kernel_plugin.h>
#include <fp4oracle/spec.h>
#include <jansson.h>

/* How a kernel takes an operand: `view` with its packing and scale layout, and the order in memory. */
typedef struct fpo_operand_want {
    fpo_operand_view view;
    bool mn_major;
    int64_t line_multiple;  /* bytes, at least 1 */
    uint32_t scale_padding; /* FPO_PADDING_ */
} fpo_operand_want;

/* How it takes C or D. */
typedef struct fpo_matrix_want {
    fpo_format format; /* FPO_FORMAT_NONE: it has none */
    bool column_major;
    int64_t line_multiple;
} fpo_matrix_want;

enum { FPO_CAPABILITIES = 16 };

typedef struct fpo_kernel_info {
    uint32_t index;                              /* in the plug-in */
    const char *name, *summary, *source, *fault; /* source and fault may be NULL */
    fpo_operand_want a, b;
    fpo_matrix_want c, d;
    fpo_format bias, d_scale;
    fpo_layout d_scale_layout;
    bool bias_per_row, any_line;
    uint32_t alpha, beta, tensor_scales, arithmetic;              /* as in kernel_plugin.h */
    int64_t m_multiple, n_multiple, k_multiple;                   /* at least 1 */
    bool any_device;                                              /* the compute capability does not matter */
    int32_t native[FPO_CAPABILITIES], emulated[FPO_CAPABILITIES]; /* ended by 0 */
    fpo_kernel_order order;                                       /* size is 0 */
    char unusable[FPO_MESSAGE_SIZE];                              /* "", or why this runner cannot use the kernel */
} fpo_kernel_info;

typedef struct fpo_plugin_info {
    json_t *json; /* owns the strings */
    const char *name, *version;
    bool host_memory;
    size_t count;
    fpo_kernel_info *kernels;
} fpo_plugin_info;

fpo_status fpo_plugin_info_parse(const char *text, size_t length, fpo_plugin_info *info, fpo_error *error);
void fpo_plugin_info_free(fpo_plugin_info *info);

/* NULL if there is none of that name. */
const fpo_kernel_info *fpo_plugin_info_find(const fpo_plugin_info *info, const char *name);

typedef struct fpo_device_info {
    int index;
    bool usable;
    uint32_t kind; /* FPO_DEVICE_ */
    int compute_capability, multiprocessors;
    int64_t memory_bytes;
    const char *name, *software, *why;
} fpo_device_info;

typedef struct fpo_devices_info {
    json_t *json;
    size_t count;
    fpo_device_info *devices;
    const char *why; /* why there are none */
} fpo_devices_info;

fpo_status fpo_devices_info_parse(const char *text, size_t length, fpo_devices_info *info, fpo_error *error);
void fpo_devices_info_free(fpo_devices_info *info);

typedef struct fpo_variant_info {
    json_t *json;
    const char *name; /* "" where the kernel has one way only */
    fpo_kernel_order order;
} fpo_variant_info;

fpo_status fpo_variant_info_parse(const char *text, size_t length, fpo_variant_info *info, fpo_error *error);
void fpo_variant_info_free(fpo_variant_info *info);

#endif
