/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The runner's side of a worker process: start it, ask it, and find out how it ended. */
#ifndef FP4ORACLE_RUNNER_CHILD_H
#define FP4ORACLE_RUNNER_CHILD_H

#include "protocol.h"
#include <fp4oracle/status.h>
#include <stdbool.h>
#include <sys/types.h>

typedef enum fpo_ending_kind {
    FPO_ENDING_NONE,   /* it runs */
    FPO_ENDING_SIGNAL, /* number: the signal */
    FPO_ENDING_EXIT,   /* number: the exit status */
    FPO_ENDING_TIME    /* it did not answer in time and was killed */
} fpo_ending_kind;

typedef struct fpo_ending {
    fpo_ending_kind kind;
    int number;
} fpo_ending;

typedef struct fpo_child_options {
    const char *program;            /* NULL: this program (/proc/self/exe); started as `PROGRAM worker SOCKET ARENA` */
    const char *const *environment; /* NULL, or NAME=VALUE entries, ended by NULL, that replace or add variables */
    double time_limit;              /* seconds that one request may take */
} fpo_child_options;

typedef struct fpo_child {
    pid_t pid;
    int socket, arena_file, log_file;
    off_t log_mark;
    uint8_t *arena;
    size_t arena_bytes;
    double time_limit;
    fpo_ending ending;
} fpo_child;

fpo_status fpo_child_start(fpo_child *child, const fpo_child_options *options, fpo_error *error);

/* One request. FPO_OK: there is a reply, whatever it says. FPO_ERR_KERNEL: the worker ended, see `ending`; it has been
 * waited for. */
fpo_status fpo_child_ask(fpo_child *child, const fpo_worker_request *request, fpo_worker_reply *reply,
                         fpo_error *error);

/* At least so many bytes of arena on both sides. */
fpo_status fpo_child_reserve(fpo_child *child, size_t bytes, fpo_error *error);

/* Asks it to quit, or kills it where `kill_it`; waits, and frees everything. The ending stays in child->ending. */
void fpo_child_stop(fpo_child *child, bool kill_it);

/* From here on, fpo_child_log looks at what is written later. */
void fpo_child_mark_log(fpo_child *child);
/* The end of what it wrote to standard output and error since the mark, at most `size` - 1 bytes, whole lines, control
 * characters replaced. */
void fpo_child_log(const fpo_child *child, char *tail, size_t size);

/* "crashed with signal 11 (Segmentation fault)", ... */
void fpo_ending_text(const fpo_ending *ending, double time_limit, char *text, size_t size);

#endif
