/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What scripts need of the libraries that the command does not offer:
 *   check FILE...    a line for each: "ok", or the message of the safetensors reader
 *   copy FROM TO     reads a safetensors file and writes what was read
 *   names            of all data kinds, and of all choices that fields of a spec have, registries of their own left out
 *   vector KIND A B D MxNxK SEED MODEL OUT
 *                    a generated vector with one expected output; C and bias come with an odd seed */
#include "generate.h"
#include "safetensors.h"
#include "spec_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const fpo_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 2;
}

static int check(int count, char **paths)
{
    for (int i = 0; i < count; i++) {
        fpo_safetensors *file;
        fpo_error error;
        bool good = fpo_safetensors_open(paths[i], &file, &error) == FPO_OK;
        puts(good ? "ok" : error.message);
        fpo_safetensors_close(file);
    }
    return 0;
}

static int copy(const char *from, const char *to)
{
    fpo_safetensors *file;
    fpo_error error;
    if (fpo_safetensors_open(from, &file, &error) != FPO_OK)
        return complain(&error);
    const char *value = fpo_safetensors_metadata(file, "k");
    fpo_metadata metadata = {"k", value};
    fpo_status status = fpo_safetensors_write(to, fpo_safetensors_at(file, 0), fpo_safetensors_count(file), &metadata,
                                              value != NULL, &error);
    fpo_safetensors_close(file);
    return status == FPO_OK ? 0 : complain(&error);
}

static int names(void)
{
    for (int kind = 0; kind < FPO_DATA_COUNT; kind++)
        puts(fpo_data_kind_name((fpo_data_kind)kind));
    for (int kind = 0; kind < FPO_KIND_COUNT; kind++) {
        const char *name;
        if (kind == FPO_KIND_LAYOUT || kind == FPO_KIND_PACKING)
            continue;
        for (int64_t value = 0; (name = fpo_choice_name((fpo_field_kind)kind, value)) != NULL; value++)
            if (kind != FPO_KIND_EPILOGUE_OP || value != FPO_EPI_END)
                puts(name);
    }
    return 0;
}

static int vector(char **words)
{
    fpo_generate wanted = {.kind = fpo_data_kind_by_name(words[0]),
                           .a = fpo_block_format_by_name(words[1]),
                           .b = fpo_block_format_by_name(words[2]),
                           .d = fpo_format_by_name(words[3]),
                           .seed = strtoull(words[5], NULL, 10)};
    long long m, n, k;
    if (sscanf(words[4], "%lldx%lldx%lld", &m, &n, &k) != 3)
        return 2;
    wanted.m = m, wanted.n = n, wanted.k = k;
    if (wanted.seed % 2) {
        wanted.c = FPO_F16;
        wanted.bias = FPO_F32;
    }
    const fpo_model *model = fpo_model_by_name(words[6]);
    fpo_vector *made;
    fpo_error error;
    if (!model || fpo_generate_vector(&wanted, &made, &error) != FPO_OK)
        return model ? complain(&error) : 2;
    made->purpose = "shows the format";
    fpo_status status = fpo_vector_compute(made, model, NULL, &error);
    if (status == FPO_OK)
        status = fpo_vector_write(words[7], made, false, &error);
    fpo_vector_free(made);
    return status == FPO_OK ? 0 : complain(&error);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "check") == 0)
        return check(argc - 2, argv + 2);
    if (argc == 2 && strcmp(argv[1], "names") == 0)
        return names();
    if (argc == 4 && strcmp(argv[1], "copy") == 0)
        return copy(argv[2], argv[3]);
    if (argc == 10 && strcmp(argv[1], "vector") == 0)
        return vector(argv + 2);
    fprintf(stderr, "usage: see the head of vector_tool.c\n");
    return 2;
}
