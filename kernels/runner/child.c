/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Starting, asking and ending a worker process. */
#include "child_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

fpo_status fpo_child_start(fpo_child *child, const fpo_child_options *options, fpo_error *error)
{
    int pair[2] = {-1, -1};
    *child = (fpo_child){.socket = -1, .time_limit = options->time_limit};
    child->arena_file = memfd_create("fp4oracle-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    child->log_file = memfd_create("fp4oracle-log", MFD_CLOEXEC);
    int failed =
        child->arena_file < 0 || child->log_file < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0
            ? errno
            : 0;
    if (failed == 0) {
        /* A worker that shrinks the arena would take the runner down with SIGBUS. O_APPEND: two descriptors write. */
        fcntl(child->arena_file, F_ADD_SEALS, F_SEAL_SHRINK);
        fcntl(child->log_file, F_SETFL, O_APPEND);
        failed = fpo_child_spawn(child, options, pair[1]);
    }
    if (pair[1] >= 0) {
        close(pair[1]);
    }
    child->socket = pair[0];
    if (failed != 0) {
        child->pid = 0;
        fpo_child_stop(child, true);
        return fpo_fail(error, FPO_ERR_IO, "cannot start a worker process: %s", strerror(failed));
    }
    fpo_status status = fpo_child_reserve(child, (size_t)1 << 16, error);
    if (status != FPO_OK) {
        fpo_child_stop(child, true);
    }
    return status;
}

/* Waits for the end, at most `seconds` before it is killed. */
static void reap(fpo_child *child, double seconds, bool because_of_time)
{
    int status = 0;
    double limit = now() + seconds;
    pid_t got = child->pid > 0 ? 0 : -1;
    while (got == 0) {
        got = waitpid(child->pid, &status, WNOHANG);
        if (got == 0 && now() >= limit) {
            kill(-child->pid, SIGKILL);
            kill(child->pid, SIGKILL);
            got = waitpid(child->pid, &status, 0);
            status = because_of_time ? -1 : status;
        } else if (got == 0) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    }
    if (got > 0) {
        kill(-got, SIGKILL); /* what it may have started */
    }
    if (child->pid > 0) {
        if (status == -1) {
            child->ending = (fpo_ending){FPO_ENDING_TIME, 0};
        } else if (WIFSIGNALED(status)) {
            child->ending = (fpo_ending){FPO_ENDING_SIGNAL, WTERMSIG(status)};
        } else {
            child->ending = (fpo_ending){FPO_ENDING_EXIT, WEXITSTATUS(status)};
        }
    }
    child->pid = 0;
}

fpo_status fpo_child_ask(fpo_child *child, const fpo_worker_request *request, fpo_worker_reply *reply, fpo_error *error)
{
    if (child->pid <= 0) {
        return fpo_fail(error, FPO_ERR_KERNEL, "the worker process is gone");
    }
    double limit = now() + child->time_limit;
    bool late = false;
    ssize_t got = send(child->socket, request, sizeof *request, MSG_NOSIGNAL);
    while (got == (ssize_t)sizeof *request) {
        double left = limit - now();
        late = left <= 0;
        struct pollfd wait = {.fd = child->socket, .events = POLLIN};
        int ready = late ? -1 : poll(&wait, 1, left < 1000 ? (int)ceil(left * 1000) : 1000000);
        if (late || (ready < 0 && errno != EINTR)) {
            break;
        }
        if (ready > 0) {
            got = recv(child->socket, reply, sizeof *reply, 0);
            if (got == (ssize_t)sizeof *reply) {
                reply->why[sizeof reply->why - 1] = '\0';
                return FPO_OK;
            }
            break;
        }
    }
    /* A closed socket comes just before the end of a process; one that closed it and lives on gets a second. */
    reap(child, late ? 0 : 1, true);
    char text[128];
    fpo_ending_text(&child->ending, child->time_limit, text, sizeof text);
    return fpo_fail(error, FPO_ERR_KERNEL, "%s", text);
}

fpo_status fpo_child_reserve(fpo_child *child, size_t bytes, fpo_error *error)
{
    if (bytes <= child->arena_bytes) {
        return FPO_OK;
    }
    if (ftruncate(child->arena_file, (off_t)bytes) != 0) {
        return fpo_fail(error, FPO_ERR_MEMORY, "no %zu bytes of memory to share with the worker: %s", bytes,
                        strerror(errno));
    }
    if (child->arena != NULL) {
        munmap(child->arena, child->arena_bytes);
    }
    child->arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, child->arena_file, 0);
    child->arena_bytes = child->arena != MAP_FAILED ? bytes : 0;
    if (child->arena == MAP_FAILED) {
        child->arena = NULL;
        return fpo_fail(error, FPO_ERR_MEMORY, "cannot map %zu bytes: %s", bytes, strerror(errno));
    }
    fpo_worker_request request = {.op = FPO_WORKER_MAP, .bytes = bytes};
    fpo_worker_reply reply;
    fpo_status status = fpo_child_ask(child, &request, &reply, error);
    if (status == FPO_OK && reply.status != FPO_PLUGIN_OK) {
        status = fpo_fail(error, FPO_ERR_MEMORY, "%s", reply.why);
    }
    return status;
}

void fpo_child_stop(fpo_child *child, bool kill_it)
{
    if (child->pid > 0 && !kill_it) {
        fpo_worker_request request = {.op = FPO_WORKER_QUIT, .slot = FPO_SLOT_NONE};
        fpo_worker_reply reply;
        if (fpo_child_ask(child, &request, &reply, NULL) == FPO_OK) {
            reap(child, child->time_limit, true);
        }
    }
    reap(child, 0, false);
    if (child->arena != NULL) {
        munmap(child->arena, child->arena_bytes);
    }
    const int files[] = {child->socket, child->arena_file, child->log_file};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
    child->arena = NULL;
    child->arena_bytes = 0;
    child->socket = child->arena_file = child->log_file = -1;
}

void fpo_child_mark_log(fpo_child *child)
{
    child->log_mark = child->log_file >= 0 ? lseek(child->log_file, 0, SEEK_END) : 0;
}

void fpo_child_log(const fpo_child *child, char *tail, size_t size)
{
    tail[0] = '\0';
    off_t end = child->log_file >= 0 ? lseek(child->log_file, 0, SEEK_END) : 0;
    off_t room = (off_t)(size - 1), start = end - child->log_mark > room ? end - room : child->log_mark;
    ssize_t got = end > start ? pread(child->log_file, tail, (size_t)(end - start), start) : 0;
    size_t length = got > 0 ? (size_t)got : 0;
    tail[length] = '\0';
    char *line = start > child->log_mark ? strchr(tail, '\n') : NULL; /* a line that was cut is left out */
    if (line != NULL && line[1] != '\0') {
        memmove(tail, line + 1, strlen(line));
    }
    for (char *c = tail; *c != '\0'; c++) {
        if (((unsigned char)*c < 32 && *c != '\n' && *c != '\t') || (unsigned char)*c >= 127) {
            *c = '?';
        }
    }
}

void fpo_ending_text(const fpo_ending *ending, double time_limit, char *text, size_t size)
{
    switch (ending->kind) {
    case FPO_ENDING_NONE: snprintf(text, size, "it still runs"); break;
    case FPO_ENDING_SIGNAL:
        snprintf(text, size, "ended by signal %d (%s)", ending->number, strsignal(ending->number));
        break;
    case FPO_ENDING_EXIT: snprintf(text, size, "ended with exit status %d", ending->number); break;
    case FPO_ENDING_TIME: snprintf(text, size, "no answer within %g s, killed", time_limit); break;
    }
}
