/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One launch: every buffer filled anew, the kernel started, and every byte around its output looked at. */
#include "stage_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_output(fpo_slot slot)
{
    return slot == FPO_SLOT_D || slot == FPO_SLOT_D_SCALE || slot == FPO_SLOT_WORKSPACE;
}

static const char *slot_name(fpo_slot slot)
{
    static const char *const names[] = {
#define FPO_SLOT(ID, name) name,
#include "slots.inc"
#undef FPO_SLOT
    };
    return names[slot];
}

static void compose_scales(const fpo_stage *stage, fpo_slot slot, const fpo_launch *launch, uint8_t *payload)
{
    bool is_a = slot == FPO_SLOT_A_SCALE || slot == FPO_SLOT_A_SCALE_OTHER;
    bool other = launch->data == FPO_LAUNCH_OTHER || slot == FPO_SLOT_A_SCALE_OTHER || slot == FPO_SLOT_B_SCALE_OTHER;
    const fpo_operand_want *want = is_a ? &stage->kernel->a : &stage->kernel->b;
    const void *original = is_a ? stage->problem->a.scales : stage->problem->b.scales;
    const void *scales = other ? (is_a ? stage->other_a_scale : stage->other_b_scale) : original;
    fpo_convert_scales(want, scales, is_a ? stage->problem->m : stage->problem->n, stage->problem->k, launch->padding,
                       payload);
}

/* What a buffer with its guards holds before the launch. */
static void compose(const fpo_stage *stage, fpo_slot slot, const fpo_launch *launch, uint8_t *whole)
{
    const fpo_stage_buffer *buffer = &stage->buffer[slot];
    uint8_t *payload = whole + buffer->guard;
    memset(whole, launch->guard, buffer->guard);
    memset(payload + buffer->bytes, launch->guard, buffer->guard);
    switch (slot) {
    case FPO_SLOT_D:
    case FPO_SLOT_D_SCALE:
    case FPO_SLOT_WORKSPACE: memset(payload, launch->poison, buffer->bytes); break;
    case FPO_SLOT_A_SCALE:
    case FPO_SLOT_B_SCALE:
    case FPO_SLOT_A_SCALE_OTHER:
    case FPO_SLOT_B_SCALE_OTHER: compose_scales(stage, slot, launch, payload); break;
    default: {
        bool other = slot == FPO_SLOT_A && launch->data == FPO_LAUNCH_OTHER && stage->other_a != NULL;
        memcpy(payload, stage->buffer[other ? FPO_SLOT_A_OTHER : slot].image, buffer->bytes);
    }
    }
    for (int64_t i = 0; i + 1 < buffer->lines.lines; i++) {
        memset(payload + i * buffer->lines.line + buffer->lines.used, launch->guard,
               (size_t)(buffer->lines.line - buffer->lines.used));
    }
}

static fpo_status transfer(fpo_stage *stage, fpo_worker_op op, fpo_slot slot, fpo_error *error)
{
    const fpo_stage_buffer *buffer = &stage->buffer[slot];
    fpo_worker_request request = {.op = op, .slot = slot, .bytes = buffer->bytes + 2 * buffer->guard};
    fpo_worker_reply reply;
    return fpo_stage_ask(stage, &request, &reply, error);
}

static fpo_status upload_all(fpo_stage *stage, const fpo_launch *launch, fpo_error *error)
{
    fpo_status status = FPO_OK;
    for (int slot = 0; slot < FPO_SLOT_COUNT && status == FPO_OK; slot++) {
        if (stage->buffer[slot].used) {
            compose(stage, (fpo_slot)slot, launch, stage->child->arena);
            status = transfer(stage, FPO_WORKER_UPLOAD, (fpo_slot)slot, error);
        }
    }
    return status;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static fpo_status start(fpo_stage *stage, const fpo_launch *launch, fpo_error *error)
{
    const fpo_slot roles[][2] = {{FPO_SLOT_A, FPO_SLOT_A_OTHER},
                                 {FPO_SLOT_A_SCALE, FPO_SLOT_A_SCALE_OTHER},
                                 {FPO_SLOT_B_SCALE, FPO_SLOT_B_SCALE_OTHER}};
    fpo_worker_request request = {.op = FPO_WORKER_LAUNCH, .launches = 1, .problem = {stage->wire, stage->wire}};
    fpo_worker_reply reply;
    bool elsewhere = launch->data == FPO_LAUNCH_OTHER_ELSEWHERE || launch->data == FPO_LAUNCH_BEHIND_OTHER;
    for (size_t i = 0; i < sizeof roles / sizeof roles[0] && elsewhere; i++) {
        if (stage->buffer[roles[i][1]].used) {
            request.problem[0].buffer[roles[i][0]] = stage->wire.buffer[roles[i][1]];
        }
    }
    request.launches = launch->data == FPO_LAUNCH_BEHIND_OTHER ? 2 : 1;
    double begin = now();
    fpo_status status = fpo_stage_ask(stage, &request, &reply, error);
    stage->launch_seconds = (now() - begin) / request.launches;
    return status;
}

/* Counts the bytes of [begin, end) that differ, and notes the first. */
static bool differ(const uint8_t *was, const uint8_t *is, size_t begin, size_t end, fpo_damage *damage)
{
    if (memcmp(was + begin, is + begin, end - begin) == 0) {
        return false;
    }
    size_t first = end, bytes = 0;
    for (size_t i = begin; i < end; i++) {
        bytes += was[i] != is[i];
        first = was[i] != is[i] && i < first ? i : first;
    }
    if (damage->kind == FPO_DAMAGE_NONE) {
        damage->first = (int64_t)first;
        damage->bytes = (int64_t)bytes;
    }
    return true;
}

/* `was` and `is`: a buffer with its guards, before and after. */
static void inspect(const fpo_stage *stage, fpo_slot slot, const uint8_t *was, const uint8_t *is, fpo_damage *damage)
{
    const fpo_stage_buffer *buffer = &stage->buffer[slot];
    fpo_damage found = {.slot = slot, .line = buffer->lines.line};
    size_t begin = buffer->guard, end = begin + buffer->bytes;
    if (differ(was, is, 0, begin, &found)) {
        found.kind = FPO_DAMAGE_BEFORE;
        size_t last = begin;
        while (was[last - 1] == is[last - 1]) {
            last--;
        }
        found.first = (int64_t)(begin - last + 1);
    } else if (differ(was, is, end, end + buffer->guard, &found)) {
        found.kind = FPO_DAMAGE_AFTER;
        found.first -= (int64_t)end;
    } else if (!is_output(slot) && differ(was, is, begin, end, &found)) {
        found.kind = FPO_DAMAGE_INPUT;
        found.first -= (int64_t)begin;
    }
    for (int64_t i = 0; found.kind == FPO_DAMAGE_NONE && i + 1 < buffer->lines.lines; i++) {
        size_t line = begin + (size_t)(i * buffer->lines.line);
        if (differ(was, is, line + (size_t)buffer->lines.used, line + (size_t)buffer->lines.line, &found)) {
            found.kind = FPO_DAMAGE_GAP;
            found.first -= (int64_t)begin;
        }
    }
    if (damage->kind == FPO_DAMAGE_NONE) {
        *damage = found;
    }
}

static fpo_status take_output(const fpo_stage *stage, fpo_slot slot, void *d, void *d_scale, fpo_error *error)
{
    const fpo_stage_buffer *buffer = &stage->buffer[slot];
    const uint8_t *payload = stage->child->arena + buffer->guard;
    const fpo_gemm_problem *p = stage->problem;
    if (slot == FPO_SLOT_D) {
        return fpo_convert_back(&stage->kernel->d, payload, p->m, p->n, &buffer->lines, d, error);
    }
    if (slot == FPO_SLOT_D_SCALE && d_scale != NULL) {
        fpo_layout_undo(stage->kernel->d_scale_layout, p->m, p->n / 16 + (p->n % 16 != 0), 1, payload, d_scale);
    }
    return FPO_OK;
}

static fpo_status reserve_scratch(fpo_stage *stage, fpo_error *error)
{
    size_t largest = 0;
    for (int slot = 0; slot < FPO_SLOT_COUNT; slot++) {
        const fpo_stage_buffer *buffer = &stage->buffer[slot];
        size_t whole = buffer->used ? buffer->bytes + 2 * buffer->guard : 0;
        largest = whole > largest ? whole : largest;
    }
    if (largest > stage->scratch_bytes) {
        free(stage->scratch);
        stage->scratch = malloc(largest);
        stage->scratch_bytes = stage->scratch != NULL ? largest : 0;
    }
    if (stage->scratch == NULL) {
        stage->outcome = FPO_OUTCOME_OUT_OF_MEMORY;
        return fpo_fail(error, FPO_ERR_MEMORY, "the runner has no %zu bytes for a buffer", largest);
    }
    return FPO_OK;
}

fpo_status fpo_stage_launch(fpo_stage *stage, const fpo_launch *launch, void *d, void *d_scale, fpo_damage *damage,
                            fpo_error *error)
{
    *damage = (fpo_damage){0};
    fpo_status status = reserve_scratch(stage, error);
    status = status == FPO_OK ? upload_all(stage, launch, error) : status;
    status = status == FPO_OK ? start(stage, launch, error) : status;
    for (int slot = 0; slot < FPO_SLOT_COUNT && status == FPO_OK; slot++) {
        if (stage->buffer[slot].used) {
            status = transfer(stage, FPO_WORKER_DOWNLOAD, (fpo_slot)slot, error);
        }
        if (stage->buffer[slot].used && status == FPO_OK) {
            compose(stage, (fpo_slot)slot, launch, stage->scratch);
            inspect(stage, (fpo_slot)slot, stage->scratch, stage->child->arena, damage);
            status = take_output(stage, (fpo_slot)slot, d, d_scale, error);
        }
    }
    return status;
}

void fpo_damage_text(const fpo_damage *damage, char *text, size_t size)
{
    char place[96] = "";
    if (damage->line > 0 && damage->kind != FPO_DAMAGE_BEFORE) {
        snprintf(place, sizeof place, " (line %s%" PRId64 ", byte %" PRId64 ")",
                 damage->kind == FPO_DAMAGE_AFTER ? "last+" : "", damage->first / damage->line,
                 damage->first % damage->line);
    }
    const char *name = slot_name(damage->slot);
    switch (damage->kind) {
    case FPO_DAMAGE_NONE: snprintf(text, size, "nothing outside its output"); break;
    case FPO_DAMAGE_BEFORE:
        snprintf(text, size, "wrote %" PRId64 " bytes before the start of %s, the nearest %" PRId64 " before it",
                 damage->bytes, name, damage->first);
        break;
    case FPO_DAMAGE_AFTER:
        snprintf(text, size, "wrote %" PRId64 " bytes beyond the end of %s, the first at %" PRId64 " bytes after it",
                 damage->bytes, name, damage->first);
        break;
    case FPO_DAMAGE_GAP:
        snprintf(text, size, "wrote %" PRId64 " bytes between two lines of %s, the first at offset %" PRId64 "%s",
                 damage->bytes, name, damage->first, place);
        break;
    case FPO_DAMAGE_INPUT:
        snprintf(text, size, "changed %" PRId64 " bytes of %s, which is an input, the first at offset %" PRId64 "%s",
                 damage->bytes, name, damage->first, place);
        break;
    }
}
