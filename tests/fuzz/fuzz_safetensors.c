/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Any bytes as a safetensors file: it is refused with a message, or every byte of every tensor can be read and the
 * tensors cover the data exactly. */
#include "fuzz.h"

#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fpo_safetensors *file;
    fpo_error error = {FPO_OK, ""};
    if (fpo_safetensors_parse(data, size, "input", &file, &error) != FPO_OK) {
        require(file == NULL && error.status != FPO_OK && strlen(error.message) > 0);
        for (const char *c = error.message; *c; c++)
            require((unsigned char)*c >= 0x20 && *c != 0x7F);
        return 0;
    }
    size_t bytes = 0;
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < fpo_safetensors_count(file); i++) {
        const fpo_tensor *tensor = fpo_safetensors_at(file, i);
        const uint8_t *from = tensor->data;
        require(fpo_safetensors_find(file, tensor->name) == tensor);
        int64_t elements = 1;
        for (size_t d = 0; d < tensor->rank; d++)
            elements *= tensor->shape[d];
        require(elements == tensor->elements &&
                tensor->bytes * 8 == (size_t)elements * (size_t)fpo_dtype_bits(tensor->dtype));
        for (size_t b = 0; b < tensor->bytes; b++)
            sum = (uint8_t)(sum + from[b]);
        bytes += tensor->bytes;
    }
    uint64_t header;
    memcpy(&header, data, sizeof(header));
    require(bytes + header + sizeof(header) == size);
    fpo_safetensors_metadata(file, "fp4oracle");
    fpo_safetensors_close(file);
    return 0;
}
