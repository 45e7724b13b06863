/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle vgpu: runs any program on the virtual GPU, by putting the stand-in libcudart and libcuda before NVIDIA's.
 */
#include "report.h"
#include "virtual.h"

#include <argp.h>
#include <describe.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vgpu.h>

static const struct argp_option options[] = {
    {.name = "config",
     .key = 'c',
     .arg = "KEY=VALUE,...",
     .doc = "capability (120, 100 or 90), sms, seed, check, late_loads, threads, isa, max_instructions, "
            "or a tensor "
            "core's model, as in "
            "mxf4nvf4=sm120_mxf4nvf4_f25"},
    {.name = "check", .key = 'k', .doc = "the same as -c check=1: reports races, missing waits and fences, and more"},
    {.name = "instructions", .key = 'i', .doc = "print the PTX instructions that are supported, and do nothing else"},
    {.name = "folder", .key = 'f', .doc = "print the folder of the stand-in libraries, and do nothing else"},
    {0},
};

static const char documentation[] =
    "Runs PROGRAM with a virtual GPU (compute capability 12.0) in place of the CUDA runtime and driver. Kernels are "
    "executed from their PTX on the CPU; the tensor cores have the arithmetic of a model.\v"
    "PROGRAM must use libcudart.so.12 or .13 or libcuda.so.1 as shared libraries, and its kernels must be there as PTX "
    "(-gencode arch=compute_120a,code=compute_120a -cudart shared). A kernel that does something illegal ends with an "
    "error that names its PTX line, CTA, warp and instruction.\n\n"
    "Results are those of a VIRTUAL GPU: they prove data movement, addressing, scheduling and epilogue of a kernel, "
    "never the silicon.\n\n"
    "Exit status: PROGRAM's; 2 if it cannot be started.\n\n"
    "Examples:\n"
    "  fp4oracle vgpu -- ./my_gemm_test\n"
    "  fp4oracle vgpu -c seed=7,sms=2 -- python3 my_test.py";

typedef struct parsed {
    const char *config;
    bool instructions, folder, check;
    char **program;
} parsed;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *result = state->input;
    switch (key) {
    case 'c': result->config = argument; return 0;
    case 'k': result->check = true; return 0;
    case 'i': result->instructions = true; return 0;
    case 'f': result->folder = true; return 0;
    case ARGP_KEY_ARG:
        result->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (result->program == NULL && !result->instructions && !result->folder)
            argp_error(state, "which PROGRAM?");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int fpo_cmd_vgpu(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "[--] PROGRAM [ARGUMENT...]", .doc = documentation};
    parsed p = {.config = ""};
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &p);
    if (p.instructions) {
        fpo_ptx_describe(stdout);
        return FPO_EXIT_OK;
    }
    char *folder = fpo_virtual_folder();
    if (folder == NULL)
        return fpo_report_unusable(argv[0], "the stand-in libraries are not beside this program");
    if (p.folder) {
        puts(folder);
        free(folder);
        return FPO_EXIT_OK;
    }
    char *path = fpo_virtual_prepend("LD_LIBRARY_PATH", folder);
    free(folder);
    fpo_vgpu_config config;
    fpo_error error = {0};
    char checked[4096];
    if (p.check) {
        snprintf(checked, sizeof checked, "%s%scheck=1", p.config, p.config[0] != '\0' ? "," : "");
        p.config = checked;
    }
    if (fpo_vgpu_config_parse(p.config, &config, &error) != FPO_OK) {
        free(path);
        return fpo_report_error(argv[0], &error);
    }
    if (path == NULL || putenv(path) != 0 || setenv("FP4ORACLE_VGPU", p.config, 1) != 0)
        return fpo_report_unusable(argv[0], "out of memory");
    execvp(p.program[0], p.program);
    return fpo_report_unusable(argv[0], "%s: %s", p.program[0], strerror(errno));
}
