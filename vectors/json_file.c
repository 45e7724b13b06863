/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* JSON documents in files of their own. */
#include "json_file.h"

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DOCUMENT_MAX = 100000000 };

fpo_status fpo_json_read(const char *path, json_t **document, fpo_error *error)
{
    *document = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a named pipe must not wait for a writer */
    if (descriptor < 0)
        return fpo_fail(error, FPO_ERR_IO, "%s: %s", path, strerror(errno));
    struct stat info;
    fpo_status status = FPO_OK;
    if (fstat(descriptor, &info) != 0)
        status = fpo_fail(error, FPO_ERR_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = fpo_fail(error, FPO_ERR_IO, "%s: is no regular file", path);
    else if (info.st_size > DOCUMENT_MAX)
        status = fpo_fail(error, FPO_ERR_FILE, "%s: %lld bytes, over the limit of %d for JSON", path,
                          (long long)info.st_size, DOCUMENT_MAX);
    json_error_t json;
    if (status == FPO_OK && !(*document = json_loadfd(descriptor, JSON_REJECT_DUPLICATES, &json)))
        status = fpo_fail(error, FPO_ERR_FILE, "%s: line %d: %s", path, json.line, fpo_shown(json.text).text);
    close(descriptor);
    return status;
}
