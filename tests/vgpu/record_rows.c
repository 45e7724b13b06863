/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* record_rows FOLDER: runs a kernel for every pure row of the PTX table on a real GPU (libcuda alone), for the target
 * sm_90a, and writes FOLDER/rows.txt: opcode, hash of all results, or the driver's refusal. With a second argument, an
 * opcode, it writes that kernel's results to FOLDER/OPCODE.bin. tests/test_vgpu_rows.c compares the virtual GPU. */
#include "row_kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct driver {
    int (*load)(void **module, const void *image);
    int (*unload)(void *module);
    int (*function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*synchronize)(void);
    int (*to_host)(void *to, uint64_t from, size_t bytes);
    int (*fill)(uint64_t to, unsigned char value, size_t bytes);
    uint64_t in, out;
} driver;

static void *need(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return symbol;
}

static void start(driver *d)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int device, code;
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *),
        (*allocate)(uint64_t *, size_t), (*to_device)(uint64_t, const void *, size_t);
    *(void **)&init = need(library, "cuInit");
    *(void **)&get = need(library, "cuDeviceGet");
    *(void **)&retain = need(library, "cuDevicePrimaryCtxRetain");
    *(void **)&current = need(library, "cuCtxSetCurrent");
    *(void **)&allocate = need(library, "cuMemAlloc_v2");
    *(void **)&to_device = need(library, "cuMemcpyHtoD_v2");
    *(void **)&d->load = need(library, "cuModuleLoadData");
    *(void **)&d->unload = need(library, "cuModuleUnload");
    *(void **)&d->function = need(library, "cuModuleGetFunction");
    *(void **)&d->launch = need(library, "cuLaunchKernel");
    *(void **)&d->synchronize = need(library, "cuCtxSynchronize");
    *(void **)&d->to_host = need(library, "cuMemcpyDtoH_v2");
    *(void **)&d->fill = need(library, "cuMemsetD8_v2");
    uint64_t *in = malloc(fpo_row_input_bytes());
    fpo_row_inputs(in);
    code = init(0) || get(&device, 0) || retain(&context, device) || current(context) ||
           allocate(&d->in, fpo_row_input_bytes()) || allocate(&d->out, FPO_ROW_RESULTS * FPO_ROW_CASES * 8) ||
           to_device(d->in, in, fpo_row_input_bytes());
    free(in);
    if (code != 0) {
        fprintf(stderr, "no device\n");
        exit(1);
    }
}

static int run(driver *d, const fpo_row_kernel *kernel, uint64_t *out)
{
    void *module, *function, *arguments[] = {&d->in, &d->out};
    int code = d->load(&module, kernel->ptx);
    if (code != 0)
        return code;
    code = d->function(&function, module, "k");
    if (code == 0)
        code = d->fill(d->out, 0, FPO_ROW_RESULTS * FPO_ROW_CASES * 8);
    if (code == 0)
        code = d->launch(function, FPO_ROW_CASES / 128, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL);
    if (code == 0)
        code = d->synchronize();
    if (code == 0)
        code = d->to_host(out, d->out, FPO_ROW_RESULTS * FPO_ROW_CASES * 8);
    d->unload(module);
    return code;
}

int main(int argc, char **argv)
{
    static fpo_row_kernel kernel;
    static uint64_t out[FPO_ROW_RESULTS * FPO_ROW_CASES];
    char path[1024];
    driver d;
    if (argc < 2)
        return 2;
    start(&d);
    snprintf(path, sizeof path, "%s/rows.txt", argv[1]);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 1;
    for (size_t f = 0; f < fpo_ptx_family_count(); f++) {
        const fpo_ptx_family *family = fpo_ptx_family_at(f);
        for (size_t r = 0; r < family->count; r++) {
            for (int k = 0; k < fpo_row_kernel_count(&family->rows[r]); k++) {
                if (!fpo_row_kernel_write(&family->rows[r], k, "sm_90a", &kernel))
                    continue;
                int code = run(&d, &kernel, out);
                if (code == 0)
                    fprintf(file, "%s %016llx\n", kernel.opcode, (unsigned long long)fpo_row_hash(out, kernel.results));
                else
                    fprintf(file, "%s refused %d\n", kernel.opcode, code);
                for (int i = 2; i < argc; i++) {
                    if (code != 0 || strcmp(argv[i], kernel.opcode) != 0)
                        continue;
                    snprintf(path, sizeof path, "%s/%s.bin", argv[1], kernel.opcode);
                    FILE *dump = fopen(path, "wb");
                    fwrite(out, 8, (size_t)kernel.results * FPO_ROW_CASES, dump);
                    fclose(dump);
                }
            }
        }
    }
    return fclose(file) != 0;
}
