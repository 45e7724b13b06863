/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the runner asks of its worker process. The worker knows a plug-in and its buffers and nothing else: what goes
 * into them, and what comes out, is decided by the runner, which no kernel can damage. One request, one reply, each a
 * packet of a SOCK_SEQPACKET pair; bulk data goes through a shared mapping, the arena. Both ends are the same program,
 * so the structs need no versions. */
#ifndef FP4ORACLE_RUNNER_PROTOCOL_H
#define FP4ORACLE_RUNNER_PROTOCOL_H

#include <fp4oracle/kernel_plugin.h>

typedef enum fpo_slot {
#define FPO_SLOT(ID, name) FPO_SLOT_##ID,
#include "slots.inc"
#undef FPO_SLOT
    FPO_SLOT_COUNT,
    FPO_SLOT_NONE = FPO_SLOT_COUNT
} fpo_slot;

typedef enum fpo_worker_op {
    FPO_WORKER_LOAD,     /* path -> JSON of the plug-in in the arena, value: its length */
    FPO_WORKER_DEVICES,  /* -> JSON of the devices, value: its length */
    FPO_WORKER_OPEN,     /* device */
    FPO_WORKER_MAP,      /* the arena has `bytes` bytes now */
    FPO_WORKER_ALLOCATE, /* slot, bytes */
    FPO_WORKER_RELEASE,  /* slot, or all of them (FPO_SLOT_NONE) */
    FPO_WORKER_UPLOAD,   /* arena[arena, arena + bytes) -> slot at offset */
    FPO_WORKER_DOWNLOAD, /* slot at offset -> arena */
    FPO_WORKER_CHECK,    /* problem[0] -> value: number of variants */
    FPO_WORKER_VARIANT,  /* problem[0] -> JSON of the variant, value: its length, workspace: bytes */
    FPO_WORKER_LAUNCH,   /* problem[0 ... launches - 1], one after the other, then wait for the last */
    FPO_WORKER_TRACE,    /* problem[0], traced -> what is wrong in the arena, value: its length */
    FPO_WORKER_QUIT,
    FPO_WORKER_OP_COUNT
} fpo_worker_op;

typedef struct fpo_wire_buffer {
    uint32_t slot; /* FPO_SLOT_NONE: a null pointer */
    uint32_t host; /* 1: a scalar of the host, in `scalar` */
    uint64_t offset;
    float scalar;
} fpo_wire_buffer;

typedef struct fpo_wire_problem {
    uint32_t kernel, variant;
    int64_t m, n, k;
    int64_t a_line, b_line, c_line, d_line;
    int64_t a_scale_bytes, b_scale_bytes, d_scale_bytes;
    uint64_t workspace_bytes;
    float d_norm;
    fpo_wire_buffer buffer[FPO_SLOT_COUNT]; /* by role: a role's bytes may lie in its OTHER slot */
} fpo_wire_problem;

enum { FPO_WORKER_LAUNCHES = 2, FPO_WORKER_PATH = 4096 };

typedef struct fpo_worker_request {
    uint32_t op;
    int32_t device;
    uint32_t slot;
    uint32_t launches;
    uint64_t offset, bytes, arena;
    fpo_wire_problem problem[FPO_WORKER_LAUNCHES];
    char path[FPO_WORKER_PATH];
} fpo_worker_request;

typedef struct fpo_worker_reply {
    fpo_plugin_status status;
    uint32_t reserved;
    uint64_t value;
    uint64_t workspace;
    char why[FPO_PLUGIN_TEXT];
} fpo_worker_reply;

#endif
