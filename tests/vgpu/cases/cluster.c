/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Clusters: cluster.ptx. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

typedef struct shape {
    unsigned grid[3], cluster[3];
} shape;

static gpu_launch launch_of(const char *kernel, const shape *s, unsigned block)
{
    gpu_launch l = {.kernel = kernel, .block = block};
    memcpy(l.grid, s->grid, sizeof l.grid);
    memcpy(l.cluster, s->cluster, sizeof l.cluster);
    return l;
}

static void places(const shape *s)
{
    unsigned ctas = s->grid[0] * s->grid[1] * s->grid[2];
    uint64_t out = gpu_allocate(64 * ctas);
    uint32_t *got = malloc(64 * ctas), *wanted = malloc(64 * ctas);
    const unsigned *g = s->grid, *c = s->cluster;
    for (unsigned n = 0; n < ctas; n++) {
        unsigned at[3] = {n % g[0], n / g[0] % g[1], n / g[0] / g[1]};
        uint32_t *w = wanted + 16 * n;
        for (int i = 0; i < 3; i++) {
            w[i] = at[i] / c[i];
            w[3 + i] = g[i] / c[i];
            w[6 + i] = at[i] % c[i];
            w[9 + i] = c[i];
        }
        w[12] = at[0] % c[0] + c[0] * (at[1] % c[1] + c[1] * (at[2] % c[2]));
        w[13] = c[0] * c[1] * c[2];
        w[14] = 1;
        w[15] = n;
    }
    gpu_launch l = launch_of("places", s, 32);
    gpu_run(&l, (void *[]){&out});
    gpu_download(got, out, 64 * ctas);
    gpu_compare("places", got, wanted, 64 * ctas);
    free(got);
    free(wanted);
}

/* One dimension: CTA i of cluster i / n has rank i % n. */
static void neighbours(unsigned clusters, unsigned n)
{
    enum { THREADS = 64 };
    const uint32_t multiplier = 2654435761u; /* as in cluster.ptx */
    unsigned words = 8 * THREADS * clusters * n;
    shape s = {{clusters * n, 1, 1}, {n, 1, 1}};
    uint64_t out = gpu_allocate(4 * words);
    uint32_t *got = malloc(4 * words), *wanted = malloc(4 * words);
    for (unsigned i = 0; i < clusters * n * THREADS; i++) {
        unsigned cta = i / THREADS, rank = cta % n, next = (rank + 1) % n, sum = 0;
        unsigned theirs = (cta - rank + next) * THREADS + i % THREADS;
        for (unsigned k = 0; k < n * THREADS; k++)
            sum += ((cta - rank) * THREADS + k) * multiplier;
        uint32_t value = theirs * multiplier;
        uint32_t w[8] = {value, value, value, next, next, n == 1 ? 3 : 2, sum, rank};
        memcpy(wanted + 8 * i, w, sizeof w);
    }
    gpu_launch l = launch_of("neighbours", &s, THREADS);
    gpu_run(&l, (void *[]){&out});
    gpu_download(got, out, 4 * words);
    gpu_compare("neighbours", got, wanted, 4 * words);
    free(got);
    free(wanted);
}

static void gather(unsigned clusters, unsigned n)
{
    uint32_t got[32 * 8], wanted[32 * 8];
    shape s = {{clusters * n, 1, 1}, {n, 1, 1}};
    uint64_t out = gpu_allocate(sizeof got);
    memset(wanted, 0xEE, sizeof wanted);
    for (unsigned c = 0; c < clusters; c++)
        for (unsigned k = 1; k < n; k++)
            wanted[32 * c + k] = 1000 * c + k;
    gpu_launch l = launch_of("gather", &s, 1);
    gpu_run(&l, (void *[]){&out});
    gpu_download(got, out, sizeof got);
    gpu_compare("gather", got, wanted, sizeof got);
}

/* CTA r of a cluster sends its box, 16 rows of 64 words, to the CTAs in masks[r]; a box that does not come stays 0xEE.
 */
static void multicast(unsigned clusters, unsigned n, const uint32_t *masks)
{
    enum { BOX = 1024 };
    unsigned rows = 16 * clusters * n, words = clusters * n * n * BOX;
    uint32_t *tensor = malloc(4 * 64 * rows), *got = malloc(4 * words), *wanted = malloc(4 * words);
    for (unsigned i = 0; i < 64 * rows; i++)
        tensor[i] = i * 2654435761u;
    for (unsigned cta = 0; cta < clusters * n; cta++)
        for (unsigned from = 0; from < n; from++)
            for (unsigned i = 0; i < BOX; i++)
                wanted[(cta * n + from) * BOX + i] =
                    masks[from] >> (cta % n) & 1 ? tensor[(cta / n * n + from) * BOX + i] : 0xEEEEEEEE;
    uint64_t out = gpu_allocate(4 * words), in = gpu_upload(tensor, 4 * 64 * rows), mask = gpu_upload(masks, 4 * n);
    _Alignas(64) uint8_t map[128];
    gpu_map m = {.type = 2, .rank = 2, .address = in, .dim = {64, rows}, .stride = {256}, .box = {64, 16}};
    gpu_expect("a tensor map for multicast", gpu_encode(&m, map) == 0);
    shape s = {{clusters * n, 1, 1}, {n, 1, 1}};
    gpu_launch l = launch_of("multicast", &s, 32);
    l.shared = 4 * BOX * n;
    gpu_run(&l, (void *[]){map, &mask, &out});
    gpu_download(got, out, 4 * words);
    gpu_compare("multicast", got, wanted, 4 * words);
    free(tensor);
    free(got);
    free(wanted);
}

static void pass_on(unsigned clusters, unsigned n)
{
    uint32_t in[64], got[64 * 32], wanted[64 * 32];
    for (unsigned i = 0; i < 64; i++)
        in[i] = i * 0x01010101u;
    for (unsigned i = 0; i < 64 * clusters * n; i++)
        wanted[i] = in[i % 64] + (i / 64 % n + n - 1) % n;
    uint64_t from = gpu_upload(in, sizeof in), out = gpu_allocate(sizeof got);
    shape s = {{clusters * n, 1, 1}, {n, 1, 1}};
    gpu_launch l = launch_of("pass_on", &s, 32);
    gpu_run(&l, (void *[]){&from, &out});
    gpu_download(got, out, 256 * clusters * n);
    gpu_compare("pass_on", got, wanted, 256 * clusters * n);
}

void cases_cluster(void)
{
    static const shape shapes[] = {{{8, 4, 2}, {2, 2, 1}},
                                   {{8, 4, 2}, {1, 2, 2}},
                                   {{6, 2, 4}, {3, 1, 2}},
                                   {{4, 4, 4}, {2, 2, 2}},
                                   {{5, 3, 2}, {1, 1, 1}}};
    gpu_module("cluster.ptx");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        places(&shapes[i]);
    for (unsigned n = 1; n <= 8; n++)
        neighbours(3, n);
    for (unsigned n = 2; n <= 8; n++)
        gather(5, n);
    multicast(3, 2, (uint32_t[]){3, 3});
    multicast(2, 4, (uint32_t[]){15, 15, 15, 15});
    multicast(2, 4, (uint32_t[]){5, 10, 1, 6});
    multicast(1, 8, (uint32_t[]){255, 1, 170, 85, 16, 128, 7, 254});
    pass_on(4, 2);
    pass_on(2, 8);
}
