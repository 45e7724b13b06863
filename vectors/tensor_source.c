/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Arguments of the form FILE[:TENSOR]. */
#include "checkpoint.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* As many names as a message has room for. */
static void list_names(const fpo_checkpoint *checkpoint, char *list, size_t size)
{
    size_t at = 0;
    list[0] = 0;
    for (size_t i = 0; i < fpo_checkpoint_count(checkpoint); i++) {
        fpo_text name = fpo_shown(fpo_checkpoint_name(checkpoint, i));
        if (at + strlen(name.text) + sizeof(", , ...") > size) {
            snprintf(list + at, size - at, "%s...", at ? ", " : "");
            return;
        }
        at += (size_t)snprintf(list + at, size - at, "%s%s", at ? ", " : "", name.text);
    }
}

static fpo_status choose(const char *path, const char *name, fpo_tensor_source *source, fpo_error *error)
{
    fpo_status status = fpo_checkpoint_open(path, &source->checkpoint, error);
    if (status != FPO_OK)
        return status;
    size_t count = fpo_checkpoint_count(source->checkpoint);
    if (!name && count == 1)
        name = fpo_checkpoint_name(source->checkpoint, 0);
    if (name && fpo_checkpoint_has(source->checkpoint, name))
        return fpo_checkpoint_tensor(source->checkpoint, name, &source->tensor, error);
    char list[FPO_MESSAGE_SIZE - 160];
    list_names(source->checkpoint, list, sizeof(list));
    if (count == 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s has no tensors", fpo_shown(path).text);
    if (name)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s has no tensor %s, but %s", fpo_shown(path).text,
                        fpo_shown(name).text, list);
    return fpo_fail(error, FPO_ERR_ARGUMENT, "%s has %zu tensors, name one (FILE:TENSOR): %s", fpo_shown(path).text,
                    count, list);
}

fpo_status fpo_tensor_open(const char *argument, fpo_tensor_source *source, fpo_error *error)
{
    *source = (fpo_tensor_source){0};
    char *path = strdup(argument);
    if (!path)
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", argument);
    const char *name = NULL;
    if (!exists(path))
        for (size_t i = strlen(path); i-- > 1 && !name;)
            if (argument[i] == ':') {
                path[i] = 0;
                if (exists(path))
                    name = argument + i + 1;
                else
                    path[i] = ':';
            }
    fpo_status status = choose(path, name, source, error);
    if (status != FPO_OK)
        fpo_tensor_close(source);
    free(path);
    return status;
}

void fpo_tensor_close(fpo_tensor_source *source)
{
    fpo_checkpoint_close(source->checkpoint);
    *source = (fpo_tensor_source){0};
}
