/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Between the parts of a runner: its process and its device. */
#ifndef FP4ORACLE_RUNNER_RUNNER_PROCESS_H
#define FP4ORACLE_RUNNER_RUNNER_PROCESS_H

#include "runner.h"

/* Sets runner->device from options.device; plug-in and devices must be known. */
fpo_status fpo_device_choose(fpo_runner *runner, fpo_error *error);

/* A worker with the plug-in in it; what it declares is read the first time. */
fpo_status fpo_runner_load(fpo_runner *runner, fpo_error *error);
fpo_status fpo_runner_open_device(fpo_runner *runner, fpo_error *error);
/* Ends the worker; one that fails when it is told to end is remembered in runner->bad_end. */
void fpo_runner_stop(fpo_runner *runner, bool kill_it);

#endif
