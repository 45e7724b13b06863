/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* libFuzzer's mutations where they count: in the header, or in our document inside it, with the lengths kept right.
 * Left alone it would spend its time on headers whose length is wrong. */
#include "fuzz.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

enum { LENGTH_BYTES = 8, ROOM = 1 << 14 };

/* The header's text replaced; the data follow as they were. */
static size_t assemble(uint8_t *data, size_t size, size_t max_size, uint64_t old_length, const char *header,
                       uint64_t length)
{
    size_t tail = size - LENGTH_BYTES - old_length;
    if (LENGTH_BYTES + length > max_size)
        return LLVMFuzzerMutate(data, size, max_size);
    if (tail > max_size - LENGTH_BYTES - length)
        tail = max_size - LENGTH_BYTES - length;
    memmove(data + LENGTH_BYTES + length, data + LENGTH_BYTES + old_length, tail);
    memcpy(data + LENGTH_BYTES, header, length);
    memcpy(data, &length, sizeof(length));
    return LENGTH_BYTES + length + tail;
}

/* The document's text mutated and put back, escaped; NULL if there is none. */
static char *mutate_document(const char *header, size_t length)
{
    char *result = NULL, text[ROOM];
    json_t *root = json_loadb(header, length, 0, NULL);
    json_t *metadata = json_object_get(root, "__metadata__");
    json_t *document = json_object_get(metadata, "fp4oracle");
    size_t size = json_string_length(document);
    if (size > 0 && size < ROOM / 2) {
        memcpy(text, json_string_value(document), size);
        size = LLVMFuzzerMutate((uint8_t *)text, size, ROOM);
        if (json_object_set_new(metadata, "fp4oracle", json_stringn(text, size)) == 0)
            result = json_dumps(root, JSON_COMPACT);
    }
    json_decref(root);
    return result;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    uint64_t length = 0;
    if (size >= LENGTH_BYTES)
        memcpy(&length, data, sizeof(length));
    if (size < LENGTH_BYTES || length > size - LENGTH_BYTES || length > ROOM / 2 || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    const char *header = (const char *)data + LENGTH_BYTES;
    if (seed % 2 == 0) {
        char *changed = mutate_document(header, length);
        if (changed) {
            size = assemble(data, size, max_size, length, changed, strlen(changed));
            free(changed);
            return size;
        }
    }
    char changed[ROOM];
    memcpy(changed, header, length);
    size_t new_length = LLVMFuzzerMutate((uint8_t *)changed, length, ROOM);
    return assemble(data, size, max_size, length, changed, new_length);
}
