/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The launches, and what it means where their outputs differ. */
#include "checks_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two poisons, so that an output that happens to equal one is not taken for unwritten: a NaN and a number in every
 * format of D. Two fills around the buffers, for the same reason. */
enum { POISON = 0xFF, OTHER_POISON = 0xC3, GUARD_FILL = 0x5A, OTHER_GUARD_FILL = 0xA5 };

/* 0 and 1 for ue4m3, its largest number, its NaN; and the NaN of ue8m0. */
static const uint8_t padding_fills[] = {0x00, 0x38, 0x7E, 0x7F, 0xFF};

const fpo_launch fpo_plain_launch = {.poison = POISON, .guard = GUARD_FILL};

void fpo_checks_note(fpo_checks *checks, fpo_outcome outcome, const char *format, ...)
{
    if (checks->count < FPO_FINDINGS) {
        fpo_run_finding *finding = &checks->findings[checks->count++];
        va_list arguments;
        va_start(arguments, format);
        finding->outcome = outcome;
        vsnprintf(finding->text, sizeof finding->text, format, arguments);
        va_end(arguments);
    }
}

fpo_status fpo_check_launch(fpo_checking *c, const fpo_launch *how, const fpo_outputs *to)
{
    fpo_damage damage;
    fpo_status status = fpo_stage_launch(c->stage, how, to->d, to->d_scale, &damage, c->error);
    c->checks->launches += how->data == FPO_LAUNCH_BEHIND_OTHER ? 2 : 1;
    if (status == FPO_OK && damage.kind != FPO_DAMAGE_NONE && !c->damaged) {
        char text[FPO_MESSAGE_SIZE / 2];
        fpo_damage_text(&damage, text, sizeof text);
        bool input = damage.kind == FPO_DAMAGE_INPUT;
        fpo_checks_note(c->checks, input ? FPO_OUTCOME_INPUT_CHANGED : FPO_OUTCOME_OUT_OF_BOUNDS, "%s", text);
        c->damaged = true;
    }
    return status;
}

static bool all_bytes(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

/* Elements that kept both poisons. They are made equal in the second output, so that they count once. */
static void find_unwritten(fpo_checking *c)
{
    size_t size = fpo_check_element_bytes(c), count = c->checks->d_bytes / size;
    fpo_region region = {0};
    for (size_t i = 0; i < count; i++) {
        if (all_bytes(c->first.d + i * size, size, POISON) && all_bytes(c->second.d + i * size, size, OTHER_POISON)) {
            fpo_check_add_element(c, i, &region);
            memset(c->second.d + i * size, POISON, size);
        }
    }
    int64_t all = c->stage->problem->m * c->stage->problem->n;
    c->checks->unwritten = region.elements;
    if (region.elements == all) {
        fpo_checks_note(c->checks, FPO_OUTCOME_NEVER_WRITTEN,
                        "nothing was written: the kernel did not run, or wrote elsewhere");
    } else if (region.elements > 0) {
        fpo_checks_note(c->checks, FPO_OUTCOME_NEVER_WRITTEN,
                        "%" PRId64 " of %" PRId64 " elements were never written, within rows %" PRId64 "-%" PRId64
                        ", columns %" PRId64 "-%" PRId64,
                        region.elements, all, region.first_row, region.last_row, region.first_column,
                        region.last_column);
    }
    size_t scales = c->first.d_scale != NULL ? c->checks->d_scale_bytes : 0, unwritten = 0;
    for (size_t i = 0; i < scales; i++) {
        if (c->first.d_scale[i] == POISON && c->second.d_scale[i] == OTHER_POISON) {
            unwritten++;
            c->second.d_scale[i] = POISON;
        }
    }
    if (unwritten > 0) {
        fpo_checks_note(c->checks, FPO_OUTCOME_NEVER_WRITTEN, "%zu of %zu scales of D were never written", unwritten,
                        scales);
    }
}

/* Whether `how` gives the first output; otherwise `region` says where not. */
static fpo_status repeats(fpo_checking *c, const fpo_launch *how, bool *equal, fpo_region *region)
{
    fpo_status status = fpo_check_launch(c, how, &c->now);
    *equal = status == FPO_OK && fpo_check_same(c, &c->first, &c->now, region);
    return status;
}

static void note_nondeterminism(fpo_checking *c, const fpo_region *region)
{
    char place[FPO_MESSAGE_SIZE / 2];
    fpo_region_text(region, place, sizeof place);
    fpo_checks_note(c->checks, FPO_OUTCOME_NONDETERMINISTIC, "identical launches differ %s", place);
}

/* Three launches: the same twice, and one with another poison and other guards in between. */
static fpo_status check_repetition(fpo_checking *c, bool *steady)
{
    const fpo_launch other = {.poison = OTHER_POISON, .guard = OTHER_GUARD_FILL};
    fpo_region region, in_second;
    bool equal = false;
    fpo_status status = fpo_check_launch(c, &other, &c->second);
    status = status == FPO_OK ? repeats(c, &fpo_plain_launch, &equal, &region) : status;
    if (status != FPO_OK) {
        return status;
    }
    find_unwritten(c);
    *steady = equal;
    if (!equal) {
        note_nondeterminism(c, &region);
        return FPO_OK;
    }
    if (fpo_check_same(c, &c->first, &c->second, &in_second)) {
        return FPO_OK;
    }
    /* One of the two that changed matters: which? */
    const struct {
        fpo_launch how;
        fpo_outcome outcome;
        const char *what;
    } suspects[] = {
        {{.poison = OTHER_POISON, .guard = GUARD_FILL},
         FPO_OUTCOME_READS_OUTPUT,
         "what D and the workspace held before"},
        {{.poison = POISON, .guard = OTHER_GUARD_FILL}, FPO_OUTCOME_READS_OUTSIDE, "bytes outside its buffers"},
    };
    bool found = false;
    for (size_t i = 0; i < sizeof suspects / sizeof suspects[0] && status == FPO_OK; i++) {
        status = fpo_check_launch(c, &suspects[i].how, &c->now);
        if (status == FPO_OK && suspects[i].outcome == FPO_OUTCOME_READS_OUTPUT) {
            /* elements that were never written change with the poison, too */
            for (size_t j = 0; j < c->checks->d_bytes; j++) {
                c->now.d[j] = c->first.d[j] == POISON && c->now.d[j] == OTHER_POISON ? POISON : c->now.d[j];
            }
        }
        if (status == FPO_OK && !fpo_check_same(c, &c->first, &c->now, &region)) {
            char place[FPO_MESSAGE_SIZE / 2];
            fpo_region_text(&region, place, sizeof place);
            fpo_checks_note(c->checks, suspects[i].outcome, "the output depends on %s, %s", suspects[i].what, place);
            found = true;
        }
    }
    if (status == FPO_OK && !found) {
        note_nondeterminism(c, &in_second);
        *steady = false;
    }
    return status;
}

static fpo_status check_padding(fpo_checking *c)
{
    fpo_status status = FPO_OK;
    for (size_t i = 1; i < sizeof padding_fills && c->stage->has_padding && status == FPO_OK; i++) {
        fpo_launch how = fpo_plain_launch;
        fpo_region region, again;
        bool equal = false, repeated = false;
        how.padding = padding_fills[i];
        status = repeats(c, &how, &equal, &region);
        if (status == FPO_OK && !equal) {
            char place[FPO_MESSAGE_SIZE / 2];
            status = repeats(c, &fpo_plain_launch, &repeated, &again);
            fpo_region_text(&region, place, sizeof place);
            if (repeated) {
                fpo_checks_note(c->checks, FPO_OUTCOME_READS_PADDING,
                                "padding of the scales filled with %02X instead of 00 changes the output %s",
                                padding_fills[i], place);
            } else {
                note_nondeterminism(c, &again);
            }
            return status;
        }
    }
    return status;
}

static bool allocate(fpo_checking *c, fpo_outputs *o)
{
    o->d = malloc(c->checks->d_bytes + 1);
    o->d_scale = c->checks->d_scale_bytes > 0 ? malloc(c->checks->d_scale_bytes) : NULL;
    return o->d != NULL && (c->checks->d_scale_bytes == 0 || o->d_scale != NULL);
}

static void release(fpo_outputs *o)
{
    free(o->d);
    free(o->d_scale);
}

fpo_status fpo_check_launches(fpo_stage *stage, bool once, fpo_checks *checks, fpo_error *error)
{
    const fpo_gemm_problem *p = stage->problem;
    fpo_checking c = {.stage = stage, .checks = checks, .error = error};
    fpo_lines dense;
    const fpo_matrix_want row_major = {.format = stage->kernel->d.format, .line_multiple = 1};
    *checks = (fpo_checks){0};
    stage->outcome = FPO_OUTCOME_UNUSABLE;
    fpo_status status = fpo_matrix_lines(&row_major, p->m, p->n, 0, &dense, error);
    if (status != FPO_OK) {
        return status;
    }
    checks->d_bytes = (size_t)dense.bytes;
    const fpo_epilogue epilogue = {.d_scale = stage->kernel->d_scale};
    checks->d_scale_bytes = (size_t)(p->m * fpo_output_scale_columns(&epilogue, p->n));
    if (!allocate(&c, &c.first) || !allocate(&c, &c.second) || !allocate(&c, &c.now)) {
        stage->outcome = FPO_OUTCOME_OUT_OF_MEMORY;
        status =
            fpo_fail(error, FPO_ERR_MEMORY, "the runner has no memory for three outputs of %zu bytes", checks->d_bytes);
    }
    bool steady = false;
    status = status == FPO_OK ? fpo_check_launch(&c, &fpo_plain_launch, &c.first) : status;
    status = status == FPO_OK && !once ? check_repetition(&c, &steady) : status;
    status = status == FPO_OK && steady ? check_padding(&c) : status;
    status = status == FPO_OK && steady ? fpo_check_stale(&c) : status;
    release(&c.second);
    release(&c.now);
    checks->d = c.first.d;
    checks->d_scale = c.first.d_scale;
    if (status != FPO_OK) {
        fpo_checks_free(checks);
    }
    return status;
}

fpo_status fpo_check_other(fpo_stage *stage, const fpo_checks *checks, void *d, fpo_error *error)
{
    fpo_launch other = fpo_plain_launch;
    fpo_damage damage;
    void *d_scale = malloc(checks->d_scale_bytes + 1);
    other.data = FPO_LAUNCH_OTHER;
    fpo_status status = d_scale != NULL
                            ? fpo_stage_launch(stage, &other, d, d_scale, &damage, error)
                            : fpo_fail(error, FPO_ERR_MEMORY, "no %zu bytes of memory", checks->d_scale_bytes);
    free(d_scale);
    return status;
}

void fpo_checks_free(fpo_checks *checks)
{
    free(checks->d);
    free(checks->d_scale);
    free(checks->other_d);
    checks->d = checks->d_scale = checks->other_d = NULL;
}
