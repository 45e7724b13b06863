/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* `fp4oracle worker SOCKET ARENA`: the process that holds a plug-in for `fp4oracle run`. Started by it alone. */
#include "command.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int descriptor(const char *text)
{
    char *end = NULL;
    long number = strtol(text, &end, 10);
    return end != text && *end == '\0' && number >= 3 && number < 1024 ? (int)number : -1;
}

int fpo_cmd_worker(int argc, char **argv)
{
    struct stat socket_kind;
    int socket = argc == 3 ? descriptor(argv[1]) : -1, arena = argc == 3 ? descriptor(argv[2]) : -1;
    if (socket < 0 || arena < 0 || fstat(socket, &socket_kind) != 0 || !S_ISSOCK(socket_kind.st_mode)) {
        fputs("fp4oracle worker: this is started by `fp4oracle run`, not by hand\n", stderr);
        return FPO_EXIT_UNUSABLE;
    }
    return fpo_worker_main(socket, arena);
}
