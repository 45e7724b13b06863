/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where plug-ins are. */
#include "runner.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to the folder of the program: a build folder's lib, and where `make install` puts plug-ins. */
static const char *const beside[] = {"", "/../lib", "/../" FPO_PLUGIN_FOLDER};

static char *join(const char *folder, size_t length, const char *rest, const char *ending)
{
    size_t size = length + strlen(rest) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%.*s%s%s", (int)length, folder, rest, ending);
    }
    return path;
}

char *fpo_plugin_folder(size_t index)
{
    const char *list = getenv("FPO_PLUGINS");
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        if (length > 0 && index-- == 0) {
            return join(list, length, "", "");
        }
        list += length + (list[length] == ':');
    }
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0 || index >= sizeof beside / sizeof beside[0]) {
        return NULL;
    }
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    return join(program, slash != NULL ? (size_t)(slash - program) : 0, beside[index], "");
}

fpo_status fpo_plugin_find(const char *name, char **path, fpo_error *error)
{
    *path = NULL;
    if (strchr(name, '/') != NULL) {
        *path = access(name, R_OK) == 0 ? realpath(name, NULL) : NULL;
        return *path != NULL ? FPO_OK : fpo_fail(error, FPO_ERR_ARGUMENT, "there is no plug-in %s", name);
    }
    char searched[FPO_MESSAGE_SIZE / 2] = "";
    char *folder;
    for (size_t i = 0; *path == NULL && (folder = fpo_plugin_folder(i)) != NULL; i++) {
        const char *const endings[] = {".so", ""};
        for (size_t j = 0; *path == NULL && j < sizeof endings / sizeof endings[0]; j++) {
            char *slash = join(folder, strlen(folder), "/", name);
            char *file = slash != NULL ? join(slash, strlen(slash), "", endings[j]) : NULL;
            *path = file != NULL && access(file, R_OK) == 0 ? realpath(file, NULL) : NULL;
            free(file);
            free(slash);
        }
        size_t used = strlen(searched);
        snprintf(searched + used, sizeof searched - used, "%s%s", used > 0 ? ", " : "", folder);
        free(folder);
    }
    return *path != NULL ? FPO_OK : fpo_fail(error, FPO_ERR_ARGUMENT, "there is no plug-in '%s' in %s", name, searched);
}
