/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A plug-in, a device, and kernels run over vectors, each with a verdict. What a kernel does to its process ends with
 * a result like any other; the next one gets a new process. */
#ifndef FP4ORACLE_RUNNER_RUNNER_H
#define FP4ORACLE_RUNNER_RUNNER_H

#include "judge.h"
#include "virtual.h"

typedef struct fpo_runner_options {
    const char *plugin;  /* path of the shared object */
    const char *device;  /* "cpu", "gpu:N", "virtual:sm120"; NULL: what the plug-in has first */
    const char *program; /* of the worker; NULL: this program */
    double time_limit;   /* seconds for one request; 0: 60 */
    bool once;           /* one launch a vector, without the checks that need more */
    fpo_judge_options judge;
} fpo_runner_options;

typedef struct fpo_runner {
    fpo_runner_options options;
    fpo_plugin_info plugin;
    fpo_devices_info devices;
    int device;              /* index in devices */
    fpo_virtual virtual_gpu; /* if the device is one: its capability is not 0 */
    fpo_child child;
    bool running;                   /* the child is there, the plug-in loaded, the device open */
    bool fresh;                     /* the child has run nothing yet */
    uint32_t kernel;                /* that the child is for, if it is not fresh: each kernel gets a child of its own */
    bool retrying;                  /* a mismatch after other vectors is being tried again in a fresh child */
    char bad_end[FPO_MESSAGE_SIZE]; /* "", or how a child failed when it was told to end */
} fpo_runner;

/* What one way of computing one vector came to. */
typedef struct fpo_run_result {
    const char *variant; /* "" where the kernel has one way only */
    fpo_outcome outcome;
    char text[FPO_MESSAGE_SIZE]; /* the reason; "" for a match */
    size_t finding_count;        /* all findings, the one that made the outcome included */
    fpo_run_finding findings[FPO_FINDINGS];
    int launches;
    double seconds;        /* of the launches and checks, without the judgement */
    double launch_seconds; /* of the last launch alone */
    char log[1024];        /* the end of what the kernel printed; "" unless it failed */
    bool judged;           /* there was an output */
    const fpo_case *c;
    const fpo_checks *observed;     /* where judged */
    const fpo_judgement *judgement; /* where judged */
} fpo_run_result;

/* Called for each variant; the result and what it points to last until it returns. */
typedef void (*fpo_run_report)(void *context, const fpo_kernel_info *kernel, const fpo_run_result *result);

/* Loads the plug-in in a worker and opens the device. The strings of `options` must live as long as the runner. */
fpo_status fpo_runner_open(fpo_runner *runner, const fpo_runner_options *options, fpo_error *error);
/* Loads it and asks for its devices, opens none: for lists. */
fpo_status fpo_runner_look(fpo_runner *runner, const fpo_runner_options *options, fpo_error *error);
/* How the last worker ended matters: a kernel may crash when its process ends. FPO_ERR_KERNEL says so. */
fpo_status fpo_runner_close(fpo_runner *runner, fpo_error *error);

/* Whether the kernel runs on the opened device; else FPO_ERR_UNSUPPORTED with the reason. */
fpo_status fpo_runner_supports(const fpo_runner *runner, const fpo_kernel_info *kernel, fpo_error *error);
/* What multiplies there: "the device's matrix instructions", ... */
const char *fpo_runner_arithmetic(const fpo_runner *runner, const fpo_kernel_info *kernel);

/* One kernel over one vector. Errors of the runner itself, memory for instance, are results, too. */
void fpo_runner_run(fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_vector *vector, fpo_run_report report,
                    void *context);

/* Whether this is the description of a module, FILE.json, which the plug-in `module` reads. */
bool fpo_plugin_is_description(const char *name);
/* The path of a plug-in: `name` itself if it has a slash or is a description; else NAME or NAME.so in the folders of the colon-separated
 * list FPO_PLUGINS, beside this program (../lib, as in a build folder) and in the folder of installed plug-ins.
 * malloc'ed. */
fpo_status fpo_plugin_find(const char *name, char **path, fpo_error *error);
/* The folders that are searched, one after the other; NULL beyond the end. malloc'ed. */
char *fpo_plugin_folder(size_t index);

/* The paths of all plug-ins that are found by name: of those with the same name, the one that `run` takes. */
typedef struct fpo_plugin_paths {
    size_t count;
    char **list;
} fpo_plugin_paths;

fpo_status fpo_plugin_find_all(fpo_plugin_paths *paths, fpo_error *error);
void fpo_plugin_paths_free(fpo_plugin_paths *paths);

#endif
