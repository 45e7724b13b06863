/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Recorded outputs as vector files: whoever has no such device can check the models against them. */
#include "run_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last part of a path without its ending. */
static void base_name(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name) {
        *dot = '\0';
    }
}

static char *record_path(const char *folder, const char *kernel, const char *vector_path, size_t number)
{
    char vector[256];
    base_name(vector_path, vector, sizeof vector);
    size_t size = strlen(folder) + strlen(vector) + strlen(kernel) + 48;
    char *path = malloc(size);
    if (path == NULL) {
        return NULL;
    }
    int at = snprintf(path, size, "%s/%s.", folder, vector);
    snprintf(path + at, size - (size_t)at, "%s.%zu.safetensors", kernel, number);
    for (char *c = path + at; *c != '\0'; c++) {
        if (*c == '/' || *c == ',' || *c == ' ') {
            *c = '_';
        }
    }
    return path;
}

static void describe(const fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_run_result *result, char *text,
                     size_t size)
{
    const fpo_device_info *device = &runner->devices.devices[runner->device];
    snprintf(text, size, "recorded: %s, %s; %s%s%s; %s %s", device->name, device->software, kernel->name,
             result->variant[0] != '\0' ? ", " : "", result->variant,
             result->judgement->match ? "every bit as" : "not explained, compared with", result->judgement->model);
}

fpo_status fpo_run_record_folder(const char *folder, fpo_error *error)
{
    struct stat status;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fpo_fail(error, FPO_ERR_IO, "--record %s: cannot make the folder: %s", folder, strerror(errno));
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return fpo_fail(error, FPO_ERR_IO, "--record %s: is there and is no folder", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return fpo_fail(error, FPO_ERR_IO, "--record %s: cannot write there: %s", folder, strerror(errno));
    return FPO_OK;
}

fpo_status fpo_run_record(const char *folder, const fpo_runner *runner, const fpo_kernel_info *kernel,
                          const fpo_run_result *result, const char *vector_path, size_t number, fpo_error *error)
{
    if (!result->judged) {
        return FPO_OK;
    }
    char purpose[1536];
    fpo_vector *record = NULL;
    fpo_status status = fpo_vector_create(&record, error);
    if (status != FPO_OK) {
        return status;
    }
    describe(runner, kernel, result, purpose, sizeof purpose);
    record->spec = result->judgement->spec;
    record->problem = result->c->problem;
    record->seed = result->c->vector->seed;
    record->data = fpo_vector_text(record, result->c->vector->data);
    record->purpose = fpo_vector_text(record, purpose);
    char *path = record_path(folder, kernel->name, vector_path, number);
    if (record->data == NULL || record->purpose == NULL || path == NULL) {
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for the record of %s", kernel->name);
    } else {
        status = fpo_vector_add(record, result->judgement->model, &record->spec.accumulation, result->observed->d,
                                result->observed->d_scale, error);
    }
    status = status == FPO_OK ? fpo_vector_write(path, record, false, error) : status;
    free(path);
    fpo_vector_free(record);
    return status;
}
