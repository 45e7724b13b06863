/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Starting a worker process. */
#include "child_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Descriptors as the worker sees them: whatever the runner has open otherwise is closed on exec. */
enum { WORKER_SOCKET = 3, WORKER_ARENA = 4 };

/* The caller's environment with `changes`; only the array is owned. */
static char **merge_environment(const char *const *changes)
{
    size_t count = 0, extra = 0;
    while (environ[count] != NULL) {
        count++;
    }
    while (changes != NULL && changes[extra] != NULL) {
        extra++;
    }
    char **merged = malloc((count + extra + 1) * sizeof *merged);
    size_t n = 0;
    for (size_t i = 0; merged != NULL && i < count; i++) {
        bool replaced = false;
        size_t name = strcspn(environ[i], "=");
        for (size_t j = 0; j < extra; j++) {
            replaced = replaced || (strcspn(changes[j], "=") == name && strncmp(changes[j], environ[i], name) == 0);
        }
        if (!replaced) {
            merged[n++] = environ[i];
        }
    }
    for (size_t j = 0; merged != NULL && j < extra; j++) {
        memcpy(&merged[n++], &changes[j], sizeof merged[0]);
    }
    if (merged != NULL) {
        merged[n] = NULL;
    }
    return merged;
}

/* posix_spawn and not fork: the caller may have threads. The worker leads a process group of its own, so that it is
 * killed with whatever it has started, and a Ctrl-C reaches the runner alone. */
int fpo_child_spawn(fpo_child *child, const fpo_child_options *options, int worker_socket)
{
    char socket_text[] = {'0' + WORKER_SOCKET, '\0'}, arena_text[] = {'0' + WORKER_ARENA, '\0'};
    char program[] = "/proc/self/exe", name[] = "fp4oracle", command[] = "worker";
    char *arguments[] = {name, command, socket_text, arena_text, NULL};
    char **environment = merge_environment(options->environment);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int failed = environment != NULL ? 0 : ENOMEM;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    /* Both go through high descriptors first: one of them may already be 3 or 4. */
    int high_socket = fcntl(worker_socket, F_DUPFD_CLOEXEC, 16),
        high_arena = fcntl(child->arena_file, F_DUPFD_CLOEXEC, 16);
    failed = failed != 0 ? failed : (high_socket < 0 || high_arena < 0 ? errno : 0);
    if (failed == 0) {
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, child->log_file, 1);
        posix_spawn_file_actions_adddup2(&files, child->log_file, 2);
        posix_spawn_file_actions_adddup2(&files, high_socket, WORKER_SOCKET);
        posix_spawn_file_actions_adddup2(&files, high_arena, WORKER_ARENA);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
        posix_spawn_file_actions_addclosefrom_np(&files, WORKER_ARENA + 1); /* what was opened without CLOEXEC */
#endif
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
        failed = posix_spawn(&child->pid, options->program != NULL ? options->program : program, &files, &attributes,
                             arguments, environment);
    }
    close(high_socket);
    close(high_arena);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return failed;
}
