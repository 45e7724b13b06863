/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Status names, error messages and the library's version. */
#include <fp4oracle/fp4oracle.h>
#include <stdarg.h>
#include <stdio.h>

const char *fpo_version(void)
{
    return FPO_VERSION;
}

const char *fpo_status_name(fpo_status status)
{
    switch (status) {
    case FPO_OK: return "ok";
    case FPO_ERR_ARGUMENT: return "argument";
    case FPO_ERR_SHAPE: return "shape";
    case FPO_ERR_UNSUPPORTED: return "unsupported";
    case FPO_ERR_MEMORY: return "memory";
    case FPO_ERR_IO: return "io";
    case FPO_ERR_FILE: return "file";
    case FPO_ERR_KERNEL: return "kernel";
    }
    return "unknown";
}

fpo_status fpo_fail(fpo_error *error, fpo_status status, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}
