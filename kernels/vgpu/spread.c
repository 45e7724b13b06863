/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CTAs that know nothing of each other may run in any order. Each place for a resident cluster then is a part of its
 * own: it takes every n-th cluster of the grid, with its own chance, until none is left. Which thread runs it, and
 * when, changes nothing, so that results, statistics, reports and errors are the same for any number of threads. */
#include "spread.h"
#include "mma.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool fpo_is_ordered(const char *opcode)
{
    static const char *const words[] = {".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".mmio"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(opcode, words[i]) != NULL)
            return true;
    return false;
}

static bool reaches_others(const fpo_ptx_instruction *ins)
{
    bool outside = ins->arguments.space == FPO_PTX_V_GLOBAL || ins->arguments.space == FPO_PTX_V_GENERIC;
    switch (ins->semantics) {
    case FPO_PTX_NOTHING: return false; /* prefetch.tensormap is one */
    case FPO_PTX_ATOMIC: return outside;
    case FPO_PTX_LOAD:
    case FPO_PTX_STORE: return outside && fpo_is_ordered(ins->opcode);
    case FPO_PTX_TENSOR_STORE: return ins->arguments.op == FPO_PTX_V_ADD;
    default: return strstr(ins->opcode, "tensormap") != NULL;
    }
}

bool fpo_ctas_are_independent(const fpo_ptx_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->code_count; i++)
        if (reaches_others(&kernel->code[i]))
            return false;
    return true;
}

/* What a part found, kept until all have ended. */
struct fpo_finding {
    fpo_finding *next;
    uint32_t instruction;
    unsigned key;
    char message[FPO_MESSAGE_SIZE];
};

void fpo_grid_report(fpo_grid *grid, uint32_t instruction, unsigned key, const char *message)
{
    if (!grid->is_part) {
        grid->statistics.reports++;
        if (grid->launch->report != NULL)
            grid->launch->report(grid->launch->report_context, message);
        return;
    }
    fpo_finding *finding = calloc(1, sizeof *finding), **link = &grid->findings;
    if (finding == NULL)
        return;
    finding->instruction = instruction;
    finding->key = key;
    snprintf(finding->message, sizeof finding->message, "%s", message);
    while (*link != NULL)
        link = &(*link)->next;
    *link = finding;
}

typedef struct part {
    fpo_grid grid;
    fpo_error error;
} part;

typedef struct crew {
    part *parts;
    int count, next, failed; /* the first part that failed; count: none */
    pthread_mutex_t lock;
} crew;

/* The next part; -1: none is left, or those that are come after one that failed. */
static int take_part(crew *c)
{
    pthread_mutex_lock(&c->lock);
    int i = c->next < c->failed ? c->next++ : -1;
    pthread_mutex_unlock(&c->lock);
    return i;
}

static void *work(void *context)
{
    crew *c = context;
    int i;
    while ((i = take_part(c)) >= 0) {
        fpo_grid_run(&c->parts[i].grid, 1);
        pthread_mutex_lock(&c->lock);
        if (c->parts[i].grid.status != FPO_OK && i < c->failed)
            c->failed = i;
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

static int thread_count(const fpo_grid *grid, int parts)
{
    int wanted = fpo_vgpu_traced(grid->gpu) != NULL ? 1 : fpo_vgpu_configuration(grid->gpu)->threads;
    long processors = wanted > 0 ? wanted : sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors < parts ? (int)processors : parts;
}

static void run_parts(crew *c, int threads)
{
    pthread_t *others = calloc((size_t)threads, sizeof *others);
    int started = 0;
    while (others != NULL && started < threads - 1 && pthread_create(&others[started], NULL, work, c) == 0)
        started++;
    work(c);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    free(others);
}

static void add(fpo_vgpu_statistics *sum, const fpo_vgpu_statistics *x)
{
    sum->instructions += x->instructions;
    sum->mmas += x->mmas;
    sum->tensor_copies += x->tensor_copies;
    sum->rounds += x->rounds;
    sum->cancelled += x->cancelled;
}

/* Findings of a part that no earlier part had. */
static void hand_over(fpo_grid *grid, fpo_grid *from)
{
    while (from->findings != NULL) {
        fpo_finding *finding = from->findings;
        from->findings = finding->next;
        uint32_t bit = 1u << finding->key;
        if (grid->reported == NULL || !(grid->reported[finding->instruction] & bit)) {
            if (grid->reported != NULL)
                grid->reported[finding->instruction] |= bit;
            fpo_grid_report(grid, finding->instruction, finding->key, finding->message);
        }
        free(finding);
    }
}

static bool start_part(part *p, const fpo_grid *grid, int index, int parts)
{
    p->grid = *grid;
    p->grid.error = &p->error;
    p->grid.is_part = true;
    p->grid.next = (uint64_t)index;
    p->grid.stride = (uint64_t)parts;
    p->grid.first_slot = (uint32_t)index;
    p->grid.random += (uint64_t)index * 0x9E3779B97F4A7C15u;
    if (grid->reported == NULL)
        return true;
    p->grid.reported = calloc(grid->kernel->code_count, sizeof *p->grid.reported);
    return p->grid.reported != NULL;
}

static void finish_parts(fpo_grid *grid, const crew *c)
{
    const fpo_vgpu_config *config = fpo_vgpu_configuration(grid->gpu);
    for (int i = 0; i < c->count && grid->status == FPO_OK; i++) {
        part *p = &c->parts[i];
        add(&grid->statistics, &p->grid.statistics);
        hand_over(grid, &p->grid);
        grid->status = p->grid.status;
        if (grid->status != FPO_OK)
            *grid->error = p->error;
        else if (config->max_instructions != 0 && grid->statistics.instructions > config->max_instructions)
            grid->status = fpo_fail_endless(grid);
    }
}

void fpo_grid_spread(fpo_grid *grid, int slots)
{
    if (slots == 1 || !fpo_ctas_are_independent(grid->kernel)) {
        fpo_grid_run(grid, slots);
        return;
    }
    crew c = {.parts = calloc((size_t)slots, sizeof *c.parts), .count = slots, .failed = slots};
    pthread_mutex_init(&c.lock, NULL);
    bool ok = c.parts != NULL;
    for (int i = 0; ok && i < slots; i++)
        ok = start_part(&c.parts[i], grid, i, slots);
    if (!ok)
        grid->status = fpo_fail(grid->error, FPO_ERR_MEMORY, "out of memory");
    else
        run_parts(&c, thread_count(grid, slots));
    if (ok)
        finish_parts(grid, &c);
    for (int i = 0; c.parts != NULL && i < slots; i++) {
        while (c.parts[i].grid.findings != NULL) {
            fpo_finding *next = c.parts[i].grid.findings->next;
            free(c.parts[i].grid.findings);
            c.parts[i].grid.findings = next;
        }
        free(c.parts[i].grid.reported);
        fpo_mma_room_free(c.parts[i].grid.mma);
    }
    free(c.parts);
    pthread_mutex_destroy(&c.lock);
}
