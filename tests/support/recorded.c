/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Reads the compressed recordings in tests/data. */
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

static fpo_status read_all(const char *path, void **bytes, size_t *size, fpo_error *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return fpo_fail(error, FPO_ERR_IO, "%s cannot be opened", path);
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    void *content = length > 0 ? malloc((size_t)length) : NULL;
    bool complete =
        content != NULL && fseek(file, 0, SEEK_SET) == 0 && fread(content, 1, (size_t)length, file) == (size_t)length;
    fclose(file);
    if (!complete) {
        free(content);
        return fpo_fail(error, FPO_ERR_IO, "%s cannot be read (%ld bytes)", path, length);
    }
    *bytes = content;
    *size = (size_t)length;
    return FPO_OK;
}

fpo_status fpo_read_zstd(const char *path, void **bytes, size_t *size, fpo_error *error)
{
    void *packed = NULL;
    size_t packed_size = 0;
    fpo_status status = read_all(path, &packed, &packed_size, error);
    if (status != FPO_OK)
        return status;
    unsigned long long length = ZSTD_getFrameContentSize(packed, packed_size);
    void *content = NULL;
    if (length != ZSTD_CONTENTSIZE_ERROR && length != ZSTD_CONTENTSIZE_UNKNOWN && length <= UINT64_C(1) << 32)
        content = malloc((size_t)length + 1);
    if (content == NULL || ZSTD_decompress(content, (size_t)length, packed, packed_size) != length) {
        status = fpo_fail(error, FPO_ERR_FILE, "%s is not one zstd frame that says its size", path);
        free(content);
    } else {
        *bytes = content;
        *size = (size_t)length;
    }
    free(packed);
    return status;
}

fpo_status fpo_recorded_open(const char *name, fpo_recorded *recorded, fpo_error *error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/%s.zst", FPO_SOURCE_DIR, name);
    *recorded = (fpo_recorded){0};
    fpo_status status = fpo_read_zstd(path, &recorded->bytes, &recorded->size, error);
    if (status == FPO_OK)
        status = fpo_safetensors_parse(recorded->bytes, recorded->size, path, &recorded->file, error);
    if (status != FPO_OK)
        fpo_recorded_close(recorded);
    return status;
}

void fpo_recorded_close(fpo_recorded *recorded)
{
    fpo_safetensors_close(recorded->file);
    free(recorded->bytes);
    *recorded = (fpo_recorded){0};
}
