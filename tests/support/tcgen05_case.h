/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A kernel around instructions of tensor memory, whose state comes from the host and goes back to it; and the canonical
 * layouts of matrices in shared memory (cute/atom/mma_traits_sm100.hpp). */
#ifndef FP4ORACLE_TESTS_TCGEN05_CASE_H
#define FP4ORACLE_TESTS_TCGEN05_CASE_H

#include <fp4oracle/status.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    LANES = 128,
    COLUMNS = 512,
    THREADS = 128,
    IMAGE = 96 * 1024 /* of shared memory */
};

typedef struct state {
    uint32_t tmem[COLUMNS][LANES];
    _Alignas(16) uint8_t image[IMAGE];
    _Alignas(16) uint32_t out[4 * COLUMNS * LANES];
} state;

/* What a body finds: r0 the thread, r1 its warp, p2 the first warp, p3 the first thread, r3 an mbarrier for one
 * arrival, r10 the address of tensor memory, r12 that of the warp's lanes, d2 `out`, d3 and d4 the descriptors, r5 the
 * instruction's, p1 `keep`, r16 the CTA's rank, d10 the image's place for descriptors. */
#define WAIT                                                                                                           \
    "WAIT:\nmbarrier.try_wait.parity.shared.b64 p5, [r3], 0;\n@!p5 bra WAIT;\n"                                        \
    "tcgen05.fence::after_thread_sync;\n"
#define COMMIT "@p3 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [r3];\n" WAIT

typedef struct arguments {
    const char *body;
    uint64_t a, b;
    uint32_t id, keep;
    uint64_t seed;
    bool late;
    bool pair; /* two CTAs, each with a state of its own */
} arguments;

fpo_status tcgen05_run(state *s, const arguments *x, char message[FPO_MESSAGE_SIZE]);
void tcgen05_must_run(state *s, const arguments *x);

/* Random, one after the other for the CTAs of a cluster. */
state *tcgen05_states(uint64_t stream, int count);
uint32_t tcgen05_random(uint64_t stream, uint64_t index);

typedef struct layout {
    int swizzle;       /* 0: none, 1: 32 bytes, 2: 64, 3: 128 */
    bool k_contiguous; /* K-major */
    uint32_t lbo, sbo;
} layout;

/* Byte of (row, byte of K), or of (row, k) with elements of `width` bytes. */
uint32_t tcgen05_k_major(const layout *l, uint32_t row, uint32_t byte);
uint32_t tcgen05_mn_major(const layout *l, uint32_t width, uint32_t row, uint32_t k);
uint64_t tcgen05_descriptor(const layout *l, uint32_t start);
/* 32 bytes of K: the whole of a narrow atom, or the first part of a wide one. */
layout tcgen05_contiguous(int swizzle);

#endif
