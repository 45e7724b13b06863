/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where plug-ins are. */
#include "runner.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Relative to the folder of the program: a build folder's lib, and where `make install` puts plug-ins. */
static const char *const beside[] = {"", "/../lib", "/../" FPO_PLUGIN_FOLDER};

/* The path without links if a readable file is there, otherwise NULL: a folder or a device is no plug-in. */
static char *regular_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
}

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

bool fpo_plugin_is_description(const char *name)
{
    static const char ending[] = ".json";
    size_t length = strlen(name);
    return length >= sizeof ending && strcmp(name + length - (sizeof ending - 1), ending) == 0;
}

fpo_status fpo_plugin_find(const char *name, char **path, fpo_error *error)
{
    *path = NULL;
    if (strchr(name, '/') != NULL || fpo_plugin_is_description(name)) {
        *path = regular_file(name);
        return *path != NULL ? FPO_OK : fpo_fail(error, FPO_ERR_ARGUMENT, "there is no plug-in %s", name);
    }
    char searched[FPO_MESSAGE_SIZE / 2] = "";
    char *folder;
    for (size_t i = 0; *path == NULL && (folder = fpo_plugin_folder(i)) != NULL; i++) {
        const char *const endings[] = {".so", ""};
        for (size_t j = 0; *path == NULL && j < sizeof endings / sizeof endings[0]; j++) {
            char *slash = join(folder, strlen(folder), "/", name);
            char *file = slash != NULL ? join(slash, strlen(slash), "", endings[j]) : NULL;
            *path = file != NULL ? regular_file(file) : NULL;
            free(file);
            free(slash);
        }
        size_t used = strlen(searched);
        snprintf(searched + used, sizeof searched - used, "%s%s", used > 0 ? ", " : "", folder);
        free(folder);
    }
    return *path != NULL ? FPO_OK : fpo_fail(error, FPO_ERR_ARGUMENT, "there is no plug-in '%s' in %s", name, searched);
}

/* NAME.so, but no library of this project or of others beside it. */
static int is_plugin(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0 &&
           strncmp(entry->d_name, "lib", 3) != 0;
}

static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

static bool has_name(const fpo_plugin_paths *paths, const char *name)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (strcmp(strrchr(paths->list[i], '/') + 1, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool add_path(fpo_plugin_paths *paths, const char *folder, const char *name)
{
    char **list = realloc(paths->list, (paths->count + 1) * sizeof *list);
    char *prefix = join(folder, strlen(folder), "/", name);
    paths->list = list != NULL ? list : paths->list;
    if (list == NULL || prefix == NULL) {
        free(prefix);
        return false;
    }
    list[paths->count++] = prefix;
    return true;
}

fpo_status fpo_plugin_find_all(fpo_plugin_paths *paths, fpo_error *error)
{
    *paths = (fpo_plugin_paths){0};
    bool complete = true;
    char *folder;
    for (size_t i = 0; (folder = fpo_plugin_folder(i)) != NULL; i++) {
        struct dirent **entries = NULL;
        int count = scandir(folder, &entries, is_plugin, by_name);
        for (int j = 0; j < count; j++) {
            if (!has_name(paths, entries[j]->d_name)) {
                complete = add_path(paths, folder, entries[j]->d_name) && complete;
            }
            free(entries[j]);
        }
        free(entries);
        free(folder);
    }
    return complete ? FPO_OK : fpo_fail(error, FPO_ERR_MEMORY, "no memory for the paths of %zu plug-ins", paths->count);
}

void fpo_plugin_paths_free(fpo_plugin_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        free(paths->list[i]);
    }
    free(paths->list);
    *paths = (fpo_plugin_paths){0};
}
