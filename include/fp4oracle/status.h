/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Errors are values. A function that can fail returns an fpo_status and takes an fpo_error as its last argument
 * (NULL if the caller does not want the message). The library never prints, exits or aborts. */
#ifndef FP4ORACLE_STATUS_H
#define FP4ORACLE_STATUS_H

#include <fp4oracle/api.h>

FPO_BEGIN_DECLS

typedef enum fpo_status {
    FPO_OK = 0,
    FPO_ERR_ARGUMENT,    /* an argument, a name or a spec that makes no sense */
    FPO_ERR_SHAPE,       /* a size, shape or number of bytes that does not fit the rest */
    FPO_ERR_UNSUPPORTED, /* well-formed, but nothing here (or in hardware) does it */
    FPO_ERR_MEMORY,      /* out of memory */
    FPO_ERR_IO,          /* the operating system refused to read or write */
    FPO_ERR_FILE,        /* a file whose content is malformed */
    FPO_ERR_KERNEL       /* a kernel, plug-in or device failed */
} fpo_status;

enum { FPO_MESSAGE_SIZE = 512 };

/* A message names the offending thing with its numbers. Longer ones are cut at FPO_MESSAGE_SIZE. */
typedef struct fpo_error {
    fpo_status status;
    char message[FPO_MESSAGE_SIZE];
} fpo_error;

/* "shape", "unsupported", ...: a short name for reports. Never NULL. */
FPO_API const char *fpo_status_name(fpo_status status);

/* Fills `error` (if not NULL) and returns `status`, so that a failing function ends with `return fpo_fail(...)`. */
FPO_API fpo_status fpo_fail(fpo_error *error, fpo_status status, const char *format, ...) FPO_PRINTF(3, 4);

FPO_END_DECLS

#endif
