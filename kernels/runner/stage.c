/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Setting a stage: images of all buffers as the kernel wants them, and their memory. */
#include "stage.h"

#include "stage_image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096, GUARD_LINES = 128, GUARD_LARGEST = 1 << 24, LINE_GAP = 64 };

fpo_status fpo_stage_ask(fpo_stage *stage, const fpo_worker_request *request, fpo_worker_reply *reply, fpo_error *error)
{
    fpo_status status = fpo_child_ask(stage->child, request, reply, error);
    if (status != FPO_OK) {
        stage->outcome = fpo_outcome_of_ending(&stage->child->ending);
    } else if (reply->status != FPO_PLUGIN_OK) {
        stage->outcome = fpo_outcome_of_status(reply->status);
        status = fpo_fail(error, FPO_ERR_KERNEL, "%s", reply->why[0] != '\0' ? reply->why : "no reason given");
    }
    return status;
}

static fpo_status out_of_memory(fpo_stage *stage, size_t bytes, fpo_error *error)
{
    stage->outcome = FPO_OUTCOME_OUT_OF_MEMORY;
    return fpo_fail(error, FPO_ERR_MEMORY, "the runner has no %zu bytes for a buffer", bytes);
}

/* Bytes of a buffer with its guards. A matrix' guards hold a tile of lines, so that a ragged tile lands in them. */
static fpo_status size_buffer(fpo_stage *stage, fpo_slot slot, int64_t bytes, int64_t line, fpo_error *error)
{
    fpo_stage_buffer *buffer = &stage->buffer[slot];
    int64_t guard = line < GUARD_LARGEST / GUARD_LINES ? line * GUARD_LINES : GUARD_LARGEST;
    buffer->guard = (size_t)(guard < GUARD ? GUARD : (guard + 255) / 256 * 256);
    if (bytes < 0 || (uint64_t)bytes > SIZE_MAX / 4) {
        return out_of_memory(stage, SIZE_MAX, error);
    }
    buffer->bytes = (size_t)bytes;
    buffer->used = true;
    return FPO_OK;
}

static fpo_status make_image(fpo_stage *stage, fpo_slot slot, fpo_error *error)
{
    fpo_stage_buffer *buffer = &stage->buffer[slot];
    buffer->image = calloc(buffer->bytes > 0 ? buffer->bytes : 1, 1);
    return buffer->image != NULL ? FPO_OK : out_of_memory(stage, buffer->bytes, error);
}

static fpo_status add_operand(fpo_stage *stage, fpo_slot slot, const fpo_operand_want *want, const fpo_operand *operand,
                              int64_t rows, fpo_error *error)
{
    int64_t gap = stage->kernel->any_line ? LINE_GAP : 0;
    fpo_stage_buffer *buffer = &stage->buffer[slot];
    fpo_status status = fpo_operand_lines(want, rows, stage->problem->k, gap, &buffer->lines, error);
    status = status == FPO_OK ? size_buffer(stage, slot, buffer->lines.bytes, buffer->lines.line, error) : status;
    status = status == FPO_OK ? make_image(stage, slot, error) : status;
    if (status == FPO_OK) {
        status =
            fpo_convert_codes(want, operand->codes, rows, stage->problem->k, &buffer->lines, 0, buffer->image, error);
    }
    return status;
}

/* Canonical scales of another problem: finite where the originals are in all but a few codes, and never the same. */
static void *other_scales(const fpo_operand_want *want, const fpo_operand *operand, int64_t rows, int64_t k)
{
    const fpo_scale_view *view = &want->view.scale;
    size_t element = fpo_format_describe(view->format)->storage_bytes;
    size_t bytes = (size_t)(fpo_scale_rows(view, rows) * fpo_scale_columns(view, k)) * element;
    uint8_t *other = malloc(bytes > 0 ? bytes : 1);
    for (size_t i = 0; other != NULL && i < bytes; i += element) {
        memcpy(other + i, (const uint8_t *)operand->scales + i, element);
        other[i + (element == 4 ? 2 : 0)] ^= element == 4 ? 0x80 : 1; /* f32: the exponent's last bit */
    }
    return other;
}

static fpo_status add_scales(fpo_stage *stage, fpo_slot slot, fpo_slot other_slot, const fpo_operand_want *want,
                             const fpo_operand *operand, int64_t rows, void **other, fpo_error *error)
{
    const fpo_scale_view *view = &want->view.scale;
    if (view->format == FPO_FORMAT_NONE) {
        return FPO_OK;
    }
    int64_t k = stage->problem->k, bytes = fpo_converted_scales_bytes(want, rows, k);
    int64_t real = fpo_scale_rows(view, rows) * fpo_scale_columns(view, k) *
                   (int64_t)fpo_format_describe(view->format)->storage_bytes;
    fpo_status status = size_buffer(stage, slot, bytes, 0, error);
    status = status == FPO_OK ? size_buffer(stage, other_slot, bytes, 0, error) : status;
    if (status == FPO_OK) {
        *other = other_scales(want, operand, rows, k);
        status = *other != NULL ? FPO_OK : out_of_memory(stage, (size_t)bytes, error);
    }
    stage->has_padding = stage->has_padding || bytes > real;
    return status;
}

/* A scalar where the kernel wants it. */
static fpo_status add_scalar(fpo_stage *stage, fpo_slot slot, uint32_t where, float value, fpo_error *error)
{
    fpo_status status = FPO_OK;
    if (where == FPO_SCALAR_HOST) {
        stage->wire.buffer[slot] = (fpo_wire_buffer){.slot = FPO_SLOT_NONE, .host = 1, .scalar = value};
    } else if (where == FPO_SCALAR_DEVICE) {
        status = size_buffer(stage, slot, sizeof value, 0, error);
        status = status == FPO_OK ? make_image(stage, slot, error) : status;
        if (status == FPO_OK) {
            memcpy(stage->buffer[slot].image, &value, sizeof value);
        }
    }
    return status;
}

static fpo_status add_c_and_bias(fpo_stage *stage, fpo_error *error)
{
    const fpo_gemm_problem *p = stage->problem;
    const fpo_kernel_info *kernel = stage->kernel;
    fpo_status status = FPO_OK;
    if (p->c != NULL && kernel->c.format != FPO_FORMAT_NONE) {
        fpo_stage_buffer *buffer = &stage->buffer[FPO_SLOT_C];
        status = fpo_matrix_lines(&kernel->c, p->m, p->n, kernel->any_line ? LINE_GAP : 0, &buffer->lines, error);
        status =
            status == FPO_OK ? size_buffer(stage, FPO_SLOT_C, buffer->lines.bytes, buffer->lines.line, error) : status;
        status = status == FPO_OK ? make_image(stage, FPO_SLOT_C, error) : status;
        status = status == FPO_OK
                     ? fpo_convert_matrix(&kernel->c, p->c, p->m, p->n, &buffer->lines, 0, buffer->image, error)
                     : status;
    }
    if (status == FPO_OK && p->bias != NULL && kernel->bias != FPO_FORMAT_NONE) {
        int64_t count = kernel->bias_per_row ? p->m : p->n;
        int64_t bytes = count * (int64_t)fpo_format_describe(kernel->bias)->storage_bytes;
        status = size_buffer(stage, FPO_SLOT_BIAS, bytes, 0, error);
        status = status == FPO_OK ? make_image(stage, FPO_SLOT_BIAS, error) : status;
        if (status == FPO_OK) {
            memcpy(stage->buffer[FPO_SLOT_BIAS].image, p->bias, (size_t)bytes);
        }
    }
    return status;
}

static fpo_status add_outputs(fpo_stage *stage, fpo_error *error)
{
    const fpo_gemm_problem *p = stage->problem;
    const fpo_kernel_info *kernel = stage->kernel;
    fpo_stage_buffer *d = &stage->buffer[FPO_SLOT_D];
    fpo_status status = fpo_matrix_lines(&kernel->d, p->m, p->n, kernel->any_line ? LINE_GAP : 0, &d->lines, error);
    status = status == FPO_OK ? size_buffer(stage, FPO_SLOT_D, d->lines.bytes, d->lines.line, error) : status;
    if (status == FPO_OK && kernel->d_scale != FPO_FORMAT_NONE) {
        int64_t columns = p->n / 16 + (p->n % 16 != 0);
        status = size_buffer(stage, FPO_SLOT_D_SCALE, fpo_layout_size(kernel->d_scale_layout, p->m, columns), 0, error);
    }
    return status;
}

static fpo_status allocate(fpo_stage *stage, fpo_slot slot, fpo_error *error)
{
    fpo_stage_buffer *buffer = &stage->buffer[slot];
    size_t whole = buffer->bytes + 2 * buffer->guard;
    fpo_status status = fpo_child_reserve(stage->child, whole, error);
    if (status != FPO_OK) {
        stage->outcome =
            status == FPO_ERR_MEMORY ? FPO_OUTCOME_OUT_OF_MEMORY : fpo_outcome_of_ending(&stage->child->ending);
        return status;
    }
    fpo_worker_request request = {.op = FPO_WORKER_ALLOCATE, .slot = slot, .bytes = whole};
    fpo_worker_reply reply;
    status = fpo_stage_ask(stage, &request, &reply, error);
    stage->wire.buffer[slot] = (fpo_wire_buffer){.slot = slot, .offset = buffer->guard};
    return status;
}

static void fill_wire(fpo_stage *stage)
{
    const fpo_gemm_problem *p = stage->problem;
    fpo_wire_problem *wire = &stage->wire;
    wire->kernel = stage->kernel->index;
    wire->m = p->m;
    wire->n = p->n;
    wire->k = p->k;
    wire->a_line = stage->buffer[FPO_SLOT_A].lines.line;
    wire->b_line = stage->buffer[FPO_SLOT_B].lines.line;
    wire->c_line = stage->buffer[FPO_SLOT_C].lines.line;
    wire->d_line = stage->buffer[FPO_SLOT_D].lines.line;
    wire->a_scale_bytes = (int64_t)stage->buffer[FPO_SLOT_A_SCALE].bytes;
    wire->b_scale_bytes = (int64_t)stage->buffer[FPO_SLOT_B_SCALE].bytes;
    wire->d_scale_bytes = (int64_t)stage->buffer[FPO_SLOT_D_SCALE].bytes;
    wire->d_norm = p->d_scale;
}

/* Nothing to scale: other codes of A. */
static fpo_status add_other_codes(fpo_stage *stage, fpo_error *error)
{
    const fpo_operand *a = &stage->problem->a;
    uint8_t *codes = malloc(a->codes_bytes + 1);
    if (codes == NULL) {
        return out_of_memory(stage, a->codes_bytes, error);
    }
    for (size_t i = 0; i < a->codes_bytes; i++) {
        codes[i] = ((const uint8_t *)a->codes)[i] ^ 1;
    }
    stage->other_a = codes;
    const fpo_operand other = {.codes = codes, .codes_bytes = a->codes_bytes};
    return add_operand(stage, FPO_SLOT_A_OTHER, &stage->kernel->a, &other, stage->problem->m, error);
}

static fpo_status add_inputs(fpo_stage *stage, fpo_error *error)
{
    const fpo_gemm_problem *p = stage->problem;
    const fpo_kernel_info *kernel = stage->kernel;
    fpo_status status = add_operand(stage, FPO_SLOT_A, &kernel->a, &p->a, p->m, error);
    status = status == FPO_OK ? add_operand(stage, FPO_SLOT_B, &kernel->b, &p->b, p->n, error) : status;
    status = status == FPO_OK ? add_scales(stage, FPO_SLOT_A_SCALE, FPO_SLOT_A_SCALE_OTHER, &kernel->a, &p->a, p->m,
                                           &stage->other_a_scale, error)
                              : status;
    status = status == FPO_OK ? add_scales(stage, FPO_SLOT_B_SCALE, FPO_SLOT_B_SCALE_OTHER, &kernel->b, &p->b, p->n,
                                           &stage->other_b_scale, error)
                              : status;
    bool scaled = stage->other_a_scale != NULL || stage->other_b_scale != NULL;
    status = status == FPO_OK && !scaled ? add_other_codes(stage, error) : status;
    status = status == FPO_OK ? add_scalar(stage, FPO_SLOT_ALPHA, kernel->alpha, p->alpha, error) : status;
    status = status == FPO_OK ? add_scalar(stage, FPO_SLOT_BETA, kernel->beta, p->beta, error) : status;
    status = status == FPO_OK
                 ? add_scalar(stage, FPO_SLOT_A_TENSOR_SCALE, kernel->tensor_scales, p->a.tensor_scale, error)
                 : status;
    status = status == FPO_OK
                 ? add_scalar(stage, FPO_SLOT_B_TENSOR_SCALE, kernel->tensor_scales, p->b.tensor_scale, error)
                 : status;
    return status == FPO_OK ? add_c_and_bias(stage, error) : status;
}

fpo_status fpo_stage_open(fpo_stage *stage, fpo_child *child, const fpo_kernel_info *kernel,
                          const fpo_gemm_problem *problem, fpo_error *error)
{
    *stage = (fpo_stage){.child = child, .kernel = kernel, .problem = problem, .outcome = FPO_OUTCOME_UNUSABLE};
    for (int i = 0; i < FPO_SLOT_COUNT; i++) {
        stage->wire.buffer[i].slot = FPO_SLOT_NONE;
    }
    fpo_status status = add_inputs(stage, error);
    status = status == FPO_OK ? add_outputs(stage, error) : status;
    for (int slot = 0; status == FPO_OK && slot < FPO_SLOT_COUNT; slot++) {
        status = stage->buffer[slot].used ? allocate(stage, (fpo_slot)slot, error) : FPO_OK;
    }
    fill_wire(stage);
    return status;
}

void fpo_stage_close(fpo_stage *stage)
{
    fpo_worker_request request = {.op = FPO_WORKER_RELEASE, .slot = FPO_SLOT_NONE};
    fpo_worker_reply reply;
    if (stage->child->pid > 0) {
        fpo_child_ask(stage->child, &request, &reply, NULL);
    }
    for (int i = 0; i < FPO_SLOT_COUNT; i++) {
        free(stage->buffer[i].image);
    }
    free(stage->other_a_scale);
    free(stage->other_b_scale);
    free(stage->other_a);
    free(stage->scratch);
    *stage = (fpo_stage){0};
}

fpo_gemm_problem fpo_stage_other_problem(const fpo_stage *stage)
{
    fpo_gemm_problem problem = *stage->problem;
    problem.a.scales = stage->other_a_scale != NULL ? stage->other_a_scale : problem.a.scales;
    problem.b.scales = stage->other_b_scale != NULL ? stage->other_b_scale : problem.b.scales;
    problem.a.codes = stage->other_a != NULL ? stage->other_a : problem.a.codes;
    return problem;
}

fpo_status fpo_stage_check(fpo_stage *stage, uint32_t *variants, fpo_error *error)
{
    fpo_worker_request request = {.op = FPO_WORKER_CHECK, .problem = {stage->wire}};
    fpo_worker_reply reply;
    fpo_status status = fpo_stage_ask(stage, &request, &reply, error);
    *variants = status == FPO_OK ? (uint32_t)reply.value : 0;
    return status;
}

fpo_status fpo_stage_choose(fpo_stage *stage, uint32_t variant, fpo_variant_info *info, fpo_error *error)
{
    fpo_stage_buffer *workspace = &stage->buffer[FPO_SLOT_WORKSPACE];
    fpo_worker_reply reply;
    fpo_status status = FPO_OK;
    if (workspace->used) {
        fpo_worker_request release = {.op = FPO_WORKER_RELEASE, .slot = FPO_SLOT_WORKSPACE};
        status = fpo_stage_ask(stage, &release, &reply, error);
        workspace->used = false;
        stage->wire.buffer[FPO_SLOT_WORKSPACE] = (fpo_wire_buffer){.slot = FPO_SLOT_NONE};
    }
    stage->wire.variant = variant;
    stage->wire.workspace_bytes = 0;
    fpo_worker_request request = {.op = FPO_WORKER_VARIANT, .problem = {stage->wire}};
    status = status == FPO_OK ? fpo_stage_ask(stage, &request, &reply, error) : status;
    if (status == FPO_OK && reply.value > stage->child->arena_bytes) {
        stage->outcome = FPO_OUTCOME_FAILED;
        status = fpo_fail(error, FPO_ERR_KERNEL, "a variant's description of %" PRIu64 " bytes", reply.value);
    }
    if (status == FPO_OK) {
        status = fpo_variant_info_parse((const char *)stage->child->arena, (size_t)reply.value, info, error);
        stage->outcome = FPO_OUTCOME_FAILED;
    }
    if (status == FPO_OK && reply.workspace > 0) {
        status = size_buffer(stage, FPO_SLOT_WORKSPACE, (int64_t)(reply.workspace & INT64_MAX), 0, error);
        status = status == FPO_OK ? allocate(stage, FPO_SLOT_WORKSPACE, error) : status;
        stage->wire.workspace_bytes = reply.workspace;
        if (status != FPO_OK) {
            fpo_variant_info_free(info);
        }
    }
    return status;
}
