/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The choice of a device by its name on the command line. */
#ifndef FP4ORACLE_RUNNER_DEVICE_H
#define FP4ORACLE_RUNNER_DEVICE_H

#include "runner.h"

/* Sets runner->device from options.device; plug-in and devices must be known. */
fpo_status fpo_device_choose(fpo_runner *runner, fpo_error *error);

#endif
