/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensors by name: single files, indexes of shards, folders. */
#include "checkpoint.h"

#include "json_file.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct shard {
    char *path;
    fpo_safetensors *file; /* NULL until a tensor of it is wanted */
} shard;

typedef struct entry {
    const char *name; /* owned by the index or by the shard's file */
    size_t shard;
} entry;

struct fpo_checkpoint {
    char *path;
    json_t *index; /* NULL where there is none */
    shard *shards;
    size_t shard_count;
    entry *entries; /* by name */
    size_t count;
};

static int by_name(const void *x, const void *y)
{
    return strcmp(((const entry *)x)->name, ((const entry *)y)->name);
}

static fpo_status out_of_memory(const fpo_checkpoint *checkpoint, fpo_error *error)
{
    return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", checkpoint->path);
}

/* Takes `path`, which may be NULL for want of memory. */
static fpo_status add_shard(fpo_checkpoint *checkpoint, char *path, fpo_error *error)
{
    shard *grown = realloc(checkpoint->shards, (checkpoint->shard_count + 1) * sizeof(shard));
    if (grown)
        checkpoint->shards = grown;
    if (!grown || !path) {
        free(path);
        return out_of_memory(checkpoint, error);
    }
    checkpoint->shards[checkpoint->shard_count++] = (shard){.path = path};
    return FPO_OK;
}

/* The folder that `path` is in, with its slash, and a name behind it. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, length = strlen(name);
    char *joined = malloc(folder + length + 1);
    if (joined) {
        memcpy(joined, path, folder);
        memcpy(joined + folder, name, length + 1);
    }
    return joined;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Number of the shard with this file name, which is added if it is new; `numbers` remembers. */
static fpo_status shard_of(fpo_checkpoint *checkpoint, json_t *numbers, const char *index_path, const char *name,
                           size_t *number, fpo_error *error)
{
    const json_t *known = json_object_get(numbers, name);
    if (known) {
        *number = (size_t)json_integer_value(known);
        return FPO_OK;
    }
    *number = checkpoint->shard_count;
    if (json_object_set_new(numbers, name, json_integer((json_int_t)*number)) != 0)
        return out_of_memory(checkpoint, error);
    return add_shard(checkpoint, beside(index_path, name), error);
}

static fpo_status read_weight_map(fpo_checkpoint *checkpoint, const char *path, json_t *map, json_t *numbers,
                                  fpo_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach(map, name, value)
    {
        const char *file = json_string_value(value);
        /* A plain name: nothing outside the folder can be reached. */
        if (!file || !*file || strchr(file, '/') || strcmp(file, ".") == 0 || strcmp(file, "..") == 0)
            return fpo_fail(error, FPO_ERR_FILE, "%s: tensor %s: no file name in the same folder: %s", path,
                            fpo_shown(name).text, file ? fpo_shown(file).text : "(no string)");
        entry *next = &checkpoint->entries[checkpoint->count];
        fpo_status status = shard_of(checkpoint, numbers, path, file, &next->shard, error);
        if (status != FPO_OK)
            return status;
        next->name = name;
        checkpoint->count++;
    }
    return FPO_OK;
}

static fpo_status read_index(fpo_checkpoint *checkpoint, const char *path, fpo_error *error)
{
    fpo_status status = fpo_json_read(path, &checkpoint->index, error);
    if (status != FPO_OK)
        return status;
    json_t *map = json_object_get(checkpoint->index, "weight_map");
    if (!json_is_object(map))
        return fpo_fail(error, FPO_ERR_FILE, "%s: no object \"weight_map\": is it the index of a checkpoint?", path);
    json_t *numbers = json_object();
    checkpoint->entries = calloc(json_object_size(map) + 1, sizeof(entry));
    status = numbers && checkpoint->entries ? read_weight_map(checkpoint, path, map, numbers, error)
                                            : out_of_memory(checkpoint, error);
    json_decref(numbers);
    return status;
}

/* All tensors of all shards, which are opened. */
static fpo_status read_shards(fpo_checkpoint *checkpoint, fpo_error *error)
{
    for (size_t i = 0; i < checkpoint->shard_count; i++) {
        shard *next = &checkpoint->shards[i];
        fpo_status status = fpo_safetensors_open(next->path, &next->file, error);
        if (status != FPO_OK)
            return status;
        size_t more = fpo_safetensors_count(next->file);
        entry *grown = realloc(checkpoint->entries, (checkpoint->count + more + 1) * sizeof(entry));
        if (!grown)
            return out_of_memory(checkpoint, error);
        checkpoint->entries = grown;
        for (size_t t = 0; t < more; t++)
            grown[checkpoint->count++] = (entry){fpo_safetensors_at(next->file, t)->name, i};
    }
    return FPO_OK;
}

/* The files of a folder: the index if there is one, else every safetensors file as a shard. */
static fpo_status read_folder(fpo_checkpoint *checkpoint, fpo_error *error)
{
    struct dirent **names = NULL;
    int count = scandir(checkpoint->path, &names, NULL, alphasort);
    if (count < 0)
        return fpo_fail(error, FPO_ERR_IO, "%s: %s", checkpoint->path, strerror(errno));
    size_t length = strlen(checkpoint->path);
    char *folder = malloc(length + 2), *index = NULL;
    fpo_status status = folder ? FPO_OK : out_of_memory(checkpoint, error);
    if (folder)
        snprintf(folder, length + 2, "%s/", checkpoint->path);
    for (int i = 0; i < count && status == FPO_OK; i++)
        if (ends_with(names[i]->d_name, ".index.json")) {
            if (index)
                status = fpo_fail(error, FPO_ERR_ARGUMENT, "%s has two indexes, name one: %s, %s", checkpoint->path,
                                  fpo_shown(strrchr(index, '/') + 1).text, fpo_shown(names[i]->d_name).text);
            else if (!(index = beside(folder, names[i]->d_name)))
                status = out_of_memory(checkpoint, error);
        }
    for (int i = 0; i < count && status == FPO_OK && !index; i++)
        if (ends_with(names[i]->d_name, ".safetensors"))
            status = add_shard(checkpoint, beside(folder, names[i]->d_name), error);
    if (status == FPO_OK && !index && checkpoint->shard_count == 0)
        status = fpo_fail(error, FPO_ERR_IO, "%s: a folder without safetensors files", checkpoint->path);
    if (status == FPO_OK)
        status = index ? read_index(checkpoint, index, error) : read_shards(checkpoint, error);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    free(index);
    free(folder);
    return status;
}

static fpo_status read_path(fpo_checkpoint *checkpoint, fpo_error *error)
{
    struct stat info;
    if (stat(checkpoint->path, &info) == 0 && S_ISDIR(info.st_mode))
        return read_folder(checkpoint, error);
    if (ends_with(checkpoint->path, ".json"))
        return read_index(checkpoint, checkpoint->path, error);
    fpo_status status = add_shard(checkpoint, strdup(checkpoint->path), error);
    return status == FPO_OK ? read_shards(checkpoint, error) : status;
}

fpo_status fpo_checkpoint_open(const char *path, fpo_checkpoint **result, fpo_error *error)
{
    *result = NULL;
    fpo_checkpoint *checkpoint = calloc(1, sizeof(*checkpoint));
    if (!checkpoint || !(checkpoint->path = strdup(path))) {
        free(checkpoint);
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
    }
    fpo_status status = read_path(checkpoint, error);
    if (status == FPO_OK && checkpoint->count > 1)
        qsort(checkpoint->entries, checkpoint->count, sizeof(entry), by_name);
    for (size_t i = 1; i < checkpoint->count && status == FPO_OK; i++)
        if (by_name(&checkpoint->entries[i - 1], &checkpoint->entries[i]) == 0)
            status = fpo_fail(error, FPO_ERR_FILE, "tensor %s is in %s and in %s",
                              fpo_shown(checkpoint->entries[i].name).text,
                              checkpoint->shards[checkpoint->entries[i - 1].shard].path,
                              checkpoint->shards[checkpoint->entries[i].shard].path);
    if (status != FPO_OK) {
        fpo_checkpoint_close(checkpoint);
        return status;
    }
    *result = checkpoint;
    return FPO_OK;
}

void fpo_checkpoint_close(fpo_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    for (size_t i = 0; i < checkpoint->shard_count; i++) {
        fpo_safetensors_close(checkpoint->shards[i].file);
        free(checkpoint->shards[i].path);
    }
    free(checkpoint->shards);
    free(checkpoint->entries);
    json_decref(checkpoint->index);
    free(checkpoint->path);
    free(checkpoint);
}

size_t fpo_checkpoint_count(const fpo_checkpoint *checkpoint)
{
    return checkpoint->count;
}

const char *fpo_checkpoint_name(const fpo_checkpoint *checkpoint, size_t index)
{
    return index < checkpoint->count ? checkpoint->entries[index].name : NULL;
}

static const entry *find(const fpo_checkpoint *checkpoint, const char *name)
{
    entry wanted = {.name = name};
    return checkpoint->count ? bsearch(&wanted, checkpoint->entries, checkpoint->count, sizeof(entry), by_name) : NULL;
}

bool fpo_checkpoint_has(const fpo_checkpoint *checkpoint, const char *name)
{
    return find(checkpoint, name) != NULL;
}

fpo_status fpo_checkpoint_tensor(fpo_checkpoint *checkpoint, const char *name, const fpo_tensor **tensor,
                                 fpo_error *error)
{
    *tensor = NULL;
    const entry *found = find(checkpoint, name);
    if (!found)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s has no tensor %s", checkpoint->path, fpo_shown(name).text);
    shard *holder = &checkpoint->shards[found->shard];
    fpo_error cause;
    fpo_status status = holder->file ? FPO_OK : fpo_safetensors_open(holder->path, &holder->file, &cause);
    if (status != FPO_OK)
        return fpo_fail(error, status, "tensor %s: %s", fpo_shown(name).text, cause.message);
    *tensor = fpo_safetensors_find(holder->file, name);
    if (!*tensor)
        return fpo_fail(error, FPO_ERR_FILE, "%s has no tensor %s, which %s says it has", holder->path,
                        fpo_shown(name).text, checkpoint->path);
    return FPO_OK;
}

const char *fpo_checkpoint_metadata(fpo_checkpoint *checkpoint, const char *name, const char *key)
{
    const fpo_tensor *tensor;
    if (fpo_checkpoint_tensor(checkpoint, name, &tensor, NULL) != FPO_OK)
        return NULL;
    return fpo_safetensors_metadata(checkpoint->shards[find(checkpoint, name)->shard].file, key);
}
