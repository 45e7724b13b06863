/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* gpu_cases FOLDER [FAMILY ...]: runs the cases of each family; FOLDER has their PTX. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int from; /* the least compute capability that has what they need */
    void (*run)(void);
} families[] = {{"cluster", 90, cases_cluster},
                {"tensormap", 90, cases_tensormap},
                {"wgmma", 90, cases_wgmma},
                {"runtime", 90, cases_runtime},
                {"reduce", 90, cases_reduce}};

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: gpu_cases FOLDER [FAMILY ...]\n");
        return 2;
    }
    gpu_start(argv[1]);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        int wanted = argc == 2;
        for (int k = 2; k < argc; k++)
            wanted |= strcmp(argv[k], families[i].name) == 0;
        if (!wanted)
            continue;
        if (gpu_capability() < families[i].from) {
            printf("%s: needs compute capability %d\n", families[i].name, families[i].from);
            continue;
        }
        unsigned compared = gpu_compared, different = gpu_different;
        families[i].run();
        printf("%s: %u comparisons, %u differ\n", families[i].name, gpu_compared - compared, gpu_different - different);
    }
    return gpu_different != 0;
}
