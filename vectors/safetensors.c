/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Reading safetensors files: opening, mapping, looking up. */
#include "safetensors_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read in place: little endian hosts only");
_Static_assert(sizeof(size_t) == 8, "offsets of large files need 64 bits");

static fpo_status create(const char *path, fpo_safetensors **file, fpo_error *error)
{
    *file = calloc(1, sizeof(**file));
    if (*file)
        (*file)->path = strdup(path);
    if (*file && (*file)->path)
        return FPO_OK;
    fpo_safetensors_close(*file);
    *file = NULL;
    return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
}

fpo_status fpo_safetensors_parse(const void *bytes, size_t size, const char *label, fpo_safetensors **file,
                                 fpo_error *error)
{
    fpo_status status = create(label, file, error);
    if (status == FPO_OK)
        status = fpo_safetensors_header(*file, bytes, size, error);
    if (status != FPO_OK) {
        fpo_safetensors_close(*file);
        *file = NULL;
    }
    return status;
}

static fpo_status map(fpo_safetensors *file, fpo_error *error)
{
    /* Without O_NONBLOCK a named pipe would wait here for a writer. */
    int descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return fpo_fail(error, FPO_ERR_IO, "%s: %s", file->path, strerror(errno));
    struct stat info;
    fpo_status status = FPO_OK;
    if (fstat(descriptor, &info) != 0)
        status = fpo_fail(error, FPO_ERR_IO, "%s: %s", file->path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = fpo_fail(error, FPO_ERR_IO, "%s: is no regular file", file->path);
    else if (info.st_size == 0) /* cannot be mapped */
        status = fpo_fail(error, FPO_ERR_FILE, "%s: an empty file, not safetensors", file->path);
    if (status == FPO_OK) {
        void *address = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (address == MAP_FAILED)
            status = fpo_fail(error, FPO_ERR_IO, "%s: cannot map %lld bytes: %s", file->path, (long long)info.st_size,
                              strerror(errno));
        else {
            file->map = address;
            file->map_size = (size_t)info.st_size;
        }
    }
    close(descriptor);
    return status;
}

fpo_status fpo_safetensors_open(const char *path, fpo_safetensors **file, fpo_error *error)
{
    fpo_status status = create(path, file, error);
    if (status == FPO_OK)
        status = map(*file, error);
    if (status == FPO_OK)
        status = fpo_safetensors_header(*file, (*file)->map, (*file)->map_size, error);
    if (status != FPO_OK) {
        fpo_safetensors_close(*file);
        *file = NULL;
    }
    return status;
}

void fpo_safetensors_close(fpo_safetensors *file)
{
    if (!file)
        return;
    json_decref(file->header);
    free(file->tensors);
    if (file->map)
        munmap(file->map, file->map_size);
    free(file->path);
    free(file);
}

const char *fpo_safetensors_path(const fpo_safetensors *file)
{
    return file->path;
}

size_t fpo_safetensors_count(const fpo_safetensors *file)
{
    return file->count;
}

const fpo_tensor *fpo_safetensors_at(const fpo_safetensors *file, size_t index)
{
    return index < file->count ? &file->tensors[index] : NULL;
}

const fpo_tensor *fpo_safetensors_find(const fpo_safetensors *file, const char *name)
{
    fpo_tensor wanted = {.name = name};
    return file->count ? bsearch(&wanted, file->tensors, file->count, sizeof(fpo_tensor), fpo_tensor_by_name) : NULL;
}

const char *fpo_safetensors_metadata(const fpo_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}
