/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Streams and events. Work is done when it is asked for, so that streams have nothing to order and their handles are
 * only numbers; an event keeps the host's time, so that programs that measure get a number, which says nothing about a
 * GPU. */
#include "standin.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct event {
    struct timespec time;
} event;

static int new_stream(void **stream)
{
    static atomic_uintptr_t number = 16; /* small numbers name the default streams */
    *stream = (void *)atomic_fetch_add(&number, 16);
    return FPO_CUDA_OK;
}

static int new_event(void **handle)
{
    event *e = calloc(1, sizeof *e);
    *handle = e;
    return e != NULL ? FPO_CUDA_OK : FPO_CUDA_MEMORY;
}

static int record(event *e)
{
    if (e != NULL)
        clock_gettime(CLOCK_MONOTONIC, &e->time);
    return e != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_HANDLE;
}

static int elapsed(float *milliseconds, const event *from, const event *to)
{
    if (from == NULL || to == NULL)
        return FPO_CUDA_INVALID_HANDLE;
    *milliseconds = (float)((double)(to->time.tv_sec - from->time.tv_sec) * 1e3 +
                            (double)(to->time.tv_nsec - from->time.tv_nsec) * 1e-6);
    return FPO_CUDA_OK;
}

static int finished(const void *handle)
{
    return fpo_cuda_last(false);
}

static int nothing(const void *handle)
{
    return FPO_CUDA_OK;
}

static int not_capturing(int *status)
{
    *status = 0;
    return FPO_CUDA_OK;
}

#define ALIAS(type, name, parameters, call)                                                                            \
    FPO_CUDA_EXPORT type name parameters                                                                               \
    {                                                                                                                  \
        return call;                                                                                                   \
    }

ALIAS(int, cudaStreamCreate, (void **s), new_stream(s))
ALIAS(int, cudaStreamCreateWithFlags, (void **s, unsigned flags), new_stream(s))
ALIAS(int, cudaStreamCreateWithPriority, (void **s, unsigned flags, int priority), new_stream(s))
ALIAS(int, cuStreamCreate, (void **s, unsigned flags), new_stream(s))
ALIAS(int, cuStreamCreateWithPriority, (void **s, unsigned flags, int priority), new_stream(s))
ALIAS(int, cudaStreamDestroy, (void *s), nothing(s))
ALIAS(int, cuStreamDestroy_v2, (void *s), nothing(s))
ALIAS(int, cudaStreamSynchronize, (void *s), finished(s))
ALIAS(int, cuStreamSynchronize, (void *s), finished(s))
ALIAS(int, cudaStreamQuery, (void *s), finished(s))
ALIAS(int, cuStreamQuery, (void *s), finished(s))
ALIAS(int, cudaStreamWaitEvent, (void *s, void *e, unsigned flags), nothing(s))
ALIAS(int, cuStreamWaitEvent, (void *s, void *e, unsigned flags), nothing(s))
ALIAS(int, cudaStreamIsCapturing, (void *s, int *status), not_capturing(status))
ALIAS(int, cuStreamIsCapturing, (void *s, int *status), not_capturing(status))
ALIAS(int, cudaStreamGetCaptureInfo, (void *s, int *status), not_capturing(status))

ALIAS(int, cudaEventCreate, (void **e), new_event(e))
ALIAS(int, cudaEventCreateWithFlags, (void **e, unsigned flags), new_event(e))
ALIAS(int, cuEventCreate, (void **e, unsigned flags), new_event(e))
ALIAS(int, cudaEventRecord, (event * e, void *s), record(e))
ALIAS(int, cudaEventRecordWithFlags, (event * e, void *s, unsigned flags), record(e))
ALIAS(int, cuEventRecord, (event * e, void *s), record(e))
ALIAS(int, cudaEventSynchronize, (event * e), finished(e))
ALIAS(int, cuEventSynchronize, (event * e), finished(e))
ALIAS(int, cudaEventQuery, (event * e), finished(e))
ALIAS(int, cuEventQuery, (event * e), finished(e))
ALIAS(int, cudaEventElapsedTime, (float *ms, event *from, event *to), elapsed(ms, from, to))
ALIAS(int, cudaEventElapsedTime_v2, (float *ms, event *from, event *to), elapsed(ms, from, to))
ALIAS(int, cuEventElapsedTime, (float *ms, event *from, event *to), elapsed(ms, from, to))
ALIAS(int, cuEventElapsedTime_v2, (float *ms, event *from, event *to), elapsed(ms, from, to))

static int free_event(event *e)
{
    free(e);
    return FPO_CUDA_OK;
}

ALIAS(int, cudaEventDestroy, (event * e), free_event(e))
ALIAS(int, cuEventDestroy_v2, (event * e), free_event(e))

FPO_CUDA_EXPORT int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaStreamGetPriority(void *stream, int *priority)
{
    *priority = 0;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaStreamGetDevice(void *stream, int *device)
{
    *device = 0;
    return FPO_CUDA_OK;
}

/* A host function runs at once. */
FPO_CUDA_EXPORT int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    function(data);
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaStreamAttachMemAsync(void *stream, void *pointer, size_t bytes, unsigned flags)
{
    return nothing(stream);
}
