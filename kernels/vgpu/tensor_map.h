/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The hardware's 128-byte tensor map, which host code may write bit by bit: kernels.md 5 (pitfall 2) and 5.2 (rule 8).
 */
#ifndef FP4ORACLE_KERNELS_VGPU_TENSOR_MAP_H
#define FP4ORACLE_KERNELS_VGPU_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { FPO_BOX_RANK = 5, FPO_TENSOR_MAP_BYTES = 128 };

/* Arguments of cuTensorMapEncodeTiled, with the API's numbers. */
typedef struct fpo_tensor_request {
    uint32_t type, rank;
    uint64_t address;
    uint64_t dim[FPO_BOX_RANK];
    uint64_t stride[FPO_BOX_RANK - 1]; /* bytes */
    uint32_t box[FPO_BOX_RANK];
    uint32_t element_stride[FPO_BOX_RANK];
    uint32_t interleave, swizzle, l2_promotion, fill;
} fpo_tensor_request;

/* False: the driver refuses such a map (CUDA_ERROR_INVALID_VALUE). FP4 and FP6 types exist from capability 10.0. */
bool fpo_tensor_map_encode(const fpo_tensor_request *request, int capability, uint8_t map[FPO_TENSOR_MAP_BYTES]);

typedef enum fpo_tensor_type {
    FPO_TENSOR_U8 = 0,
    FPO_TENSOR_U16 = 1,
    FPO_TENSOR_U32 = 2,
    FPO_TENSOR_S32 = 3,
    FPO_TENSOR_U64 = 4,
    FPO_TENSOR_S64 = 5,
    FPO_TENSOR_F16 = 6,
    FPO_TENSOR_F32 = 7,
    FPO_TENSOR_F32_FTZ = 8,
    FPO_TENSOR_F64 = 9,
    FPO_TENSOR_BF16 = 10,
    FPO_TENSOR_U4 = 11, /* sixteen in 8 bytes */
    /* Sixteen in 8 or 12 bytes, in shared memory padded to 16. These numbers follow the order of the API's; nobody has
     * seen such a map of the driver's. */
    FPO_TENSOR_U4_PADDED = 12,
    FPO_TENSOR_U6_PADDED = 13
} fpo_tensor_type;

/* What a tensor map says. */
typedef struct fpo_tensor_map {
    uint64_t address;
    uint32_t rank;
    uint32_t type;    /* fpo_tensor_type */
    uint32_t bits;    /* of an element in global memory */
    bool padded;      /* 16 elements take 16 bytes of shared memory */
    uint32_t swizzle; /* span of 16 << swizzle bytes; 0: none */
    bool nan_fill;
    uint64_t dim[FPO_BOX_RANK];
    uint64_t stride[FPO_BOX_RANK]; /* bytes; [0] is not used */
    uint32_t box[FPO_BOX_RANK];
} fpo_tensor_map;

/* NULL, or why the copies that it describes are not supported. */
const char *fpo_tensor_map_decode(const uint8_t map[FPO_TENSOR_MAP_BYTES], fpo_tensor_map *result);
/* What a kernel may change, with the values that PTX gives them. Words 8 and 9, which say again how large the box is,
 * keep what they say: nothing here reads them. */
typedef enum fpo_tensor_field {
    FPO_TENSOR_SET_ADDRESS,
    FPO_TENSOR_SET_RANK, /* less 1 */
    FPO_TENSOR_SET_BOX,
    FPO_TENSOR_SET_DIM,
    FPO_TENSOR_SET_STRIDE, /* bytes */
    FPO_TENSOR_SET_ELEMENT_STRIDE,
    FPO_TENSOR_SET_TYPE, /* PTX's number, which is not the API's */
    FPO_TENSOR_SET_INTERLEAVE,
    FPO_TENSOR_SET_SWIZZLE,
    FPO_TENSOR_SET_FILL
} fpo_tensor_field;

/* NULL, or why there is no such value. */
const char *fpo_tensor_map_set(uint8_t map[FPO_TENSOR_MAP_BYTES], fpo_tensor_field field, uint32_t dimension,
                               uint64_t value);

/* Bytes of shared memory that a row of the box takes, and of its tensor. */
uint32_t fpo_tensor_row_bytes(const fpo_tensor_map *map);
uint32_t fpo_tensor_packed_row_bytes(const fpo_tensor_map *map);
/* Bytes that one copy moves, as an mbarrier counts them. */
uint64_t fpo_tensor_box_bytes(const fpo_tensor_map *map);

#endif
