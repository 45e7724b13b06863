/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Images of all buffers as the kernel wants them. */
#include "stage_parts.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096, GUARD_LINES = 128, GUARD_LARGEST = 1 << 24, LINE_GAP = 64 };

static fpo_status out_of_memory(fpo_stage *stage, size_t bytes, fpo_error *error)
{
    stage->outcome = FPO_OUTCOME_OUT_OF_MEMORY;
    return fpo_fail(error, FPO_ERR_MEMORY, "the runner has no %zu bytes for a buffer", bytes);
}

fpo_status fpo_stage_size_buffer(fpo_stage *stage, fpo_slot slot, int64_t bytes, int64_t line, fpo_error *error)
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
    status =
        status == FPO_OK ? fpo_stage_size_buffer(stage, slot, buffer->lines.bytes, buffer->lines.line, error) : status;
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
    fpo_status status = fpo_stage_size_buffer(stage, slot, bytes, 0, error);
    status = status == FPO_OK ? fpo_stage_size_buffer(stage, other_slot, bytes, 0, error) : status;
    if (status == FPO_OK) {
        *other = other_scales(want, operand, rows, k);
        status = *other != NULL ? FPO_OK : out_of_memory(stage, (size_t)bytes, error);
    }
    stage->has_padding = stage->has_padding || (bytes > real && want->scale_padding != FPO_PADDING_ZERO);
    return status;
}

/* A scalar where the kernel wants it. */
static fpo_status add_scalar(fpo_stage *stage, fpo_slot slot, uint32_t where, float value, fpo_error *error)
{
    fpo_status status = FPO_OK;
    if (where == FPO_SCALAR_HOST) {
        stage->wire.buffer[slot] = (fpo_wire_buffer){.slot = FPO_SLOT_NONE, .host = 1, .scalar = value};
    } else if (where == FPO_SCALAR_DEVICE) {
        status = fpo_stage_size_buffer(stage, slot, sizeof value, 0, error);
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
        status = status == FPO_OK
                     ? fpo_stage_size_buffer(stage, FPO_SLOT_C, buffer->lines.bytes, buffer->lines.line, error)
                     : status;
        status = status == FPO_OK ? make_image(stage, FPO_SLOT_C, error) : status;
        status = status == FPO_OK
                     ? fpo_convert_matrix(&kernel->c, p->c, p->m, p->n, &buffer->lines, 0, buffer->image, error)
                     : status;
    }
    if (status == FPO_OK && p->bias != NULL && kernel->bias != FPO_FORMAT_NONE) {
        int64_t count = kernel->bias_per_row ? p->m : p->n;
        int64_t bytes = count * (int64_t)fpo_format_describe(kernel->bias)->storage_bytes;
        status = fpo_stage_size_buffer(stage, FPO_SLOT_BIAS, bytes, 0, error);
        status = status == FPO_OK ? make_image(stage, FPO_SLOT_BIAS, error) : status;
        if (status == FPO_OK) {
            memcpy(stage->buffer[FPO_SLOT_BIAS].image, p->bias, (size_t)bytes);
        }
    }
    return status;
}

fpo_status fpo_stage_add_outputs(fpo_stage *stage, fpo_error *error)
{
    const fpo_gemm_problem *p = stage->problem;
    const fpo_kernel_info *kernel = stage->kernel;
    fpo_stage_buffer *d = &stage->buffer[FPO_SLOT_D];
    fpo_status status = fpo_matrix_lines(&kernel->d, p->m, p->n, kernel->any_line ? LINE_GAP : 0, &d->lines, error);
    status = status == FPO_OK ? fpo_stage_size_buffer(stage, FPO_SLOT_D, d->lines.bytes, d->lines.line, error) : status;
    if (status == FPO_OK && kernel->d_scale != FPO_FORMAT_NONE) {
        fpo_epilogue epilogue = {.d_scale = kernel->d_scale};
        int64_t columns = fpo_output_scale_columns(&epilogue, p->n);
        status = fpo_stage_size_buffer(stage, FPO_SLOT_D_SCALE, fpo_layout_size(kernel->d_scale_layout, p->m, columns),
                                       0, error);
    }
    return status;
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

fpo_status fpo_stage_add_inputs(fpo_stage *stage, fpo_error *error)
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
