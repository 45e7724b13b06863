/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The graph of a matmul: with a scale per tensor, D = (A B) * scale of A * scale of B; with block scales, the product
 * of two dequantised operands, times alpha where the kernel has one. Intermediate results are f32. */
#include "cudnn_plugin.h"

#include <stdbool.h>

typedef cudnnBackendDescriptor_t descriptor;

typedef struct tensor {
    int64_t id;
    cudnnDataType_t type;
    int64_t sizes[3], strides[3]; /* elements */
    int is_virtual, tiled;        /* tiled: scales in the 128x4 layout */
} tensor;

static descriptor make_tensor(dnn_descriptors *all, const tensor *t)
{
    int64_t alignment = 16;
    cudnnBackendTensorReordering_t tiled = CUDNN_TENSOR_REORDERING_F8_128x4;
    bool is_virtual = t->is_virtual != 0;
    descriptor d = dnn_new(all, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    dnn_set(all, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t->type);
    dnn_set(all, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3, t->sizes);
    dnn_set(all, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 3, t->strides);
    dnn_set(all, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &t->id);
    dnn_set(all, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (is_virtual)
        dnn_set(all, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    if (t->tiled)
        dnn_set(all, d, CUDNN_ATTR_TENSOR_REORDERING_MODE, CUDNN_TYPE_TENSOR_REORDERING_MODE, 1, &tiled);
    dnn_finalize(all, d, "describing a tensor");
    return d;
}

static tensor matrix(int64_t id, cudnnDataType_t type, int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    return (tensor){.id = id, .type = type, .sizes = {1, rows, columns}, .strides = {rows * row, row, column}};
}

static tensor intermediate(int64_t id, int64_t rows, int64_t columns)
{
    tensor t = matrix(id, CUDNN_DATA_FLOAT, rows, columns, columns, 1);
    t.is_virtual = 1;
    return t;
}

static tensor scalar(int64_t id)
{
    return (tensor){.id = id, .type = CUDNN_DATA_FLOAT, .sizes = {1, 1, 1}, .strides = {1, 1, 1}};
}

static int64_t elements(int64_t line_bytes, cudnnDataType_t type)
{
    switch (type) {
    case CUDNN_DATA_FP4_E2M1: return line_bytes * 2;
    case CUDNN_DATA_FLOAT: return line_bytes / 4;
    case CUDNN_DATA_BFLOAT16:
    case CUDNN_DATA_HALF: return line_bytes / 2;
    default: return line_bytes;
    }
}

static descriptor multiply(dnn_descriptors *all, descriptor a, descriptor b, descriptor product)
{
    cudnnDataType_t f32 = CUDNN_DATA_FLOAT;
    descriptor how = dnn_new(all, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    dnn_set(all, how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &f32);
    dnn_finalize(all, how, "describing the matmul");
    descriptor op = dnn_new(all, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &a);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &b);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &product);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &how);
    dnn_finalize(all, op, "the matmul");
    return op;
}

static descriptor scale(dnn_descriptors *all, descriptor x, descriptor factor, descriptor y)
{
    cudnnDataType_t f32 = CUDNN_DATA_FLOAT;
    cudnnPointwiseMode_t mode = CUDNN_POINTWISE_MUL;
    descriptor how = dnn_new(all, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    dnn_set(all, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    dnn_set(all, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &f32);
    dnn_finalize(all, how, "describing a multiplication by a scale");
    descriptor op = dnn_new(all, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &how);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &factor);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
    dnn_finalize(all, op, "the multiplication by a scale");
    return op;
}

/* `block`: elements of K, along the columns of A and the rows of B. */
static descriptor dequantise(dnn_descriptors *all, descriptor x, descriptor scales, descriptor y, const int32_t *block)
{
    cudnnDataType_t f32 = CUDNN_DATA_FLOAT;
    descriptor op = dnn_new(all, CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &scales);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &f32);
    dnn_set(all, op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE, CUDNN_TYPE_INT32, 2, block);
    dnn_finalize(all, op, "the dequantisation");
    return op;
}

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static descriptor finish(dnn_descriptors *all, const descriptor *operations, int64_t count)
{
    descriptor graph = dnn_new(all, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    cudnnHandle_t handle = dnn_open()->handle;
    dnn_set(all, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, operations);
    dnn_set(all, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    dnn_finalize(all, graph, "the operation graph");
    return graph;
}

cudnnBackendDescriptor_t dnn_graph(dnn_descriptors *all, const dnn_kernel *k, const fpo_kernel_problem *p)
{
    enum { FIRST_VIRTUAL = 100 };
    tensor a = matrix(DNN_A, k->a, p->m, p->k, elements(p->a_line, k->a), 1);
    tensor b = matrix(DNN_B, k->b, p->k, p->n, 1, elements(p->b_line, k->b));
    b.strides[0] = p->n * b.strides[2];
    tensor d = matrix(DNN_D, k->d, p->m, p->n, elements(p->d_line, k->d), 1);
    descriptor in_a = make_tensor(all, &a), in_b = make_tensor(all, &b), out = make_tensor(all, &d);
    descriptor operations[4];
    int64_t count = 0;
    if (k->block > 0) {
        int64_t scales = round_up((p->k + k->block - 1) / k->block, 4);
        tensor sa = matrix(DNN_A_SCALE, k->scale, round_up(p->m, 128), scales, scales, 1);
        tensor sb = matrix(DNN_B_SCALE, k->scale, scales, round_up(p->n, 128), 1, scales);
        sb.strides[0] = scales * sb.sizes[2];
        sa.tiled = sb.tiled = 1;
        tensor wide_a = intermediate(FIRST_VIRTUAL, p->m, p->k), wide_b = intermediate(FIRST_VIRTUAL + 1, p->k, p->n);
        wide_b.strides[1] = 1;
        wide_b.strides[2] = p->k;
        const int32_t along_columns[] = {1, k->block}, along_rows[] = {k->block, 1};
        descriptor from_a = make_tensor(all, &wide_a), from_b = make_tensor(all, &wide_b);
        operations[count++] = dequantise(all, in_a, make_tensor(all, &sa), from_a, along_columns);
        operations[count++] = dequantise(all, in_b, make_tensor(all, &sb), from_b, along_rows);
        in_a = from_a;
        in_b = from_b;
    }
    tensor first = intermediate(FIRST_VIRTUAL + 2, p->m, p->n), second = intermediate(FIRST_VIRTUAL + 3, p->m, p->n);
    tensor factor_a = scalar(k->block > 0 ? DNN_ALPHA : DNN_A_SCALE), factor_b = scalar(DNN_B_SCALE);
    if (k->block > 0 && !k->alpha) {
        operations[count++] = multiply(all, in_a, in_b, out);
    } else if (k->block > 0) {
        descriptor product = make_tensor(all, &first);
        operations[count++] = multiply(all, in_a, in_b, product);
        operations[count++] = scale(all, product, make_tensor(all, &factor_a), out);
    } else {
        descriptor product = make_tensor(all, &first), scaled = make_tensor(all, &second);
        operations[count++] = multiply(all, in_a, in_b, product);
        operations[count++] = scale(all, product, make_tensor(all, &factor_a), scaled);
        operations[count++] = scale(all, scaled, make_tensor(all, &factor_b), out);
    }
    return finish(all, operations, count);
}
