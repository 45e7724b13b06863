/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One kernel and one vector in a worker: every buffer with guard zones around it, and launches that differ in what
 * must not matter. */
#ifndef FP4ORACLE_RUNNER_STAGE_H
#define FP4ORACLE_RUNNER_STAGE_H

#include "convert.h"
#include "outcome.h"

/* Other data: the scales of another problem (A's codes where there are no scales). */
typedef enum fpo_launch_data {
    FPO_LAUNCH_OWN,
    FPO_LAUNCH_OTHER,           /* other data in the same buffers */
    FPO_LAUNCH_OTHER_ELSEWHERE, /* other data in buffers of their own */
    FPO_LAUNCH_BEHIND_OTHER     /* its own data, right behind OTHER_ELSEWHERE, without waiting for that */
} fpo_launch_data;

/* A launch: what the memory that must not matter holds, and which data it gets. */
typedef struct fpo_launch {
    uint8_t poison;  /* D, its scales and the workspace before the launch */
    uint8_t guard;   /* around every buffer, and in the gaps between lines */
    uint8_t padding; /* padding of the scales' layouts */
    fpo_launch_data data;
} fpo_launch;

/* What a launch did to memory that is not its own. */
typedef enum fpo_damage_kind {
    FPO_DAMAGE_NONE,
    FPO_DAMAGE_BEFORE, /* first: bytes before the buffer's start, counted from it */
    FPO_DAMAGE_AFTER,  /* first: bytes beyond its end */
    FPO_DAMAGE_GAP,    /* between two lines; first: offset in the buffer */
    FPO_DAMAGE_INPUT   /* an input has other content; first: offset in the buffer */
} fpo_damage_kind;

typedef struct fpo_damage {
    fpo_damage_kind kind;
    fpo_slot slot;
    int64_t first;
    int64_t bytes; /* changed */
    int64_t line;  /* of a matrix: bytes from one line to the next */
} fpo_damage;

typedef struct fpo_stage_buffer {
    bool used;
    uint8_t *image; /* of an input, without guards; NULL for outputs */
    size_t bytes, guard;
    fpo_lines lines; /* lines.lines is 0 for what is no matrix */
} fpo_stage_buffer;

typedef struct fpo_stage {
    fpo_child *child;
    const fpo_kernel_info *kernel;
    const fpo_gemm_problem *problem; /* as the kernel sees it: scalars folded */
    fpo_stage_buffer buffer[FPO_SLOT_COUNT];
    void *other_a_scale, *other_b_scale, *other_a; /* canonical; other_a only where there are no scales */
    fpo_wire_problem wire;
    uint8_t *scratch; /* room for a buffer with its guards */
    size_t scratch_bytes;
    bool has_padding;      /* some scale layout has padding bytes here */
    double launch_seconds; /* of the last launch alone */
    /* Why the last call failed: the plug-in's answer, or the worker's end. */
    fpo_outcome outcome;
} fpo_stage;

/* Converts and allocates everything but the workspace. `problem` and its buffers must live as long as the stage.
 * `outcome` says what it means if this or one of the following fails. */
fpo_status fpo_stage_open(fpo_stage *stage, fpo_child *child, const fpo_kernel_info *kernel,
                          const fpo_gemm_problem *problem, fpo_error *error);
void fpo_stage_close(fpo_stage *stage);

/* Whether the plug-in takes the problem, and in how many ways. */
fpo_status fpo_stage_check(fpo_stage *stage, uint32_t *variants, fpo_error *error);
/* Chooses one of them and allocates its workspace. */
fpo_status fpo_stage_choose(fpo_stage *stage, uint32_t variant, fpo_variant_info *info, fpo_error *error);

/* One more launch on a virtual GPU, traced: what is wrong with the first mma of which something is, "" if nothing is. An
 * error: it cannot be traced, which leaves stage->outcome as it was. */
fpo_status fpo_stage_trace(fpo_stage *stage, char *text, size_t size, fpo_error *error);

/* One launch. d: M x N as fpo_gemm writes it; d_scale likewise where the kernel writes one, else NULL. */
fpo_status fpo_stage_launch(fpo_stage *stage, const fpo_launch *launch, void *d, void *d_scale, fpo_damage *damage,
                            fpo_error *error);

/* The problem with the other data. */
fpo_gemm_problem fpo_stage_other_problem(const fpo_stage *stage);

/* "wrote 64 bytes beyond the end of D, from byte 0 on (row 128 would begin there)" */
void fpo_damage_text(const fpo_damage *damage, char *text, size_t size);

#endif
