/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A file that appears whole or not at all: written beside its place, synced, renamed. */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

fpo_status fpo_output_open(fpo_output_file *file, const char *path, fpo_error *error)
{
    *file = (fpo_output_file){.descriptor = -1};
    struct stat there;
    if (path[0] == '\0')
        return fpo_fail(error, FPO_ERR_ARGUMENT, "the name of the file to write is empty");
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return fpo_fail(error, FPO_ERR_IO, "%s: is there and is no regular file", path);
    file->path = strdup(path);
    size_t size = strlen(path) + 40;
    file->temporary = malloc(size);
    if (!file->path || !file->temporary) {
        fpo_output_discard(file);
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
    }
    /* open() rather than mkstemp(): the mode is the user's umask's business. */
    for (int attempt = 0; attempt < 1000; attempt++) {
        snprintf(file->temporary, size, "%s.%ld.%d.tmp", path, (long)getpid(), attempt);
        file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->descriptor >= 0 || errno != EEXIST)
            break;
    }
    if (file->descriptor < 0) {
        fpo_status status =
            fpo_fail(error, FPO_ERR_IO, "%s: cannot write %s: %s", path, file->temporary, strerror(errno));
        free(file->temporary);
        file->temporary = NULL;
        fpo_output_discard(file);
        return status;
    }
    return FPO_OK;
}

fpo_status fpo_output_write(fpo_output_file *file, const void *bytes, size_t size, fpo_error *error)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(file->descriptor, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fpo_fail(error, FPO_ERR_IO, "%s: cannot write %zu bytes: %s", file->path, size,
                            written < 0 ? strerror(errno) : "nothing was written");
        at += written;
        size -= (size_t)written;
    }
    return FPO_OK;
}

/* The rename itself is durable once the folder is synced; not every file system lets one, so nothing depends on it. */
static void sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return;
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

fpo_status fpo_output_commit(fpo_output_file *file, fpo_error *error)
{
    fpo_status status = FPO_OK;
    int synced = fsync(file->descriptor);
    int sync_error = errno;
    if (close(file->descriptor) != 0 && synced == 0) {
        synced = -1;
        sync_error = errno;
    }
    file->descriptor = -1;
    if (synced != 0)
        status = fpo_fail(error, FPO_ERR_IO, "%s: cannot finish writing: %s", file->path, strerror(sync_error));
    else if (rename(file->temporary, file->path) != 0)
        status =
            fpo_fail(error, FPO_ERR_IO, "%s: cannot rename %s to it: %s", file->path, file->temporary, strerror(errno));
    else {
        free(file->temporary);
        file->temporary = NULL;
        sync_folder_of(file->path);
    }
    fpo_output_discard(file);
    return status;
}

void fpo_output_discard(fpo_output_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (fpo_output_file){.descriptor = -1};
}
