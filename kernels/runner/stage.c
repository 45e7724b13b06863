/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Setting a stage: the worker's memory, the variants of a problem. */
#include "stage.h"

#include "stage_parts.h"

#include <inttypes.h>
#include <stdlib.h>

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

fpo_status fpo_stage_open(fpo_stage *stage, fpo_child *child, const fpo_kernel_info *kernel,
                          const fpo_gemm_problem *problem, fpo_error *error)
{
    *stage = (fpo_stage){.child = child, .kernel = kernel, .problem = problem, .outcome = FPO_OUTCOME_UNUSABLE};
    for (int i = 0; i < FPO_SLOT_COUNT; i++) {
        stage->wire.buffer[i].slot = FPO_SLOT_NONE;
    }
    fpo_status status = fpo_stage_add_inputs(stage, error);
    status = status == FPO_OK ? fpo_stage_add_outputs(stage, error) : status;
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

fpo_status fpo_stage_trace(fpo_stage *stage, char *text, size_t size, fpo_error *error)
{
    fpo_worker_request request = {.op = FPO_WORKER_TRACE, .problem = {stage->wire}};
    fpo_worker_reply reply;
    fpo_outcome outcome = stage->outcome;
    fpo_status status = fpo_stage_ask(stage, &request, &reply, error);
    stage->outcome = outcome;
    if (status == FPO_OK) {
        snprintf(text, size, "%.*s", (int)(reply.value < size ? reply.value : size), (const char *)stage->child->arena);
    }
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
        status = fpo_stage_size_buffer(stage, FPO_SLOT_WORKSPACE, (int64_t)(reply.workspace & INT64_MAX), 0, error);
        status = status == FPO_OK ? allocate(stage, FPO_SLOT_WORKSPACE, error) : status;
        stage->wire.workspace_bytes = reply.workspace;
        if (status != FPO_OK) {
            fpo_variant_info_free(info);
        }
    }
    return status;
}
