/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Clusters: what must end a launch, and what an H200 does not have (launch control, pairs of CTAs). What both have is
 * in vgpu/cases/cluster.c. */
#include "suite.h"
#include "tensor_map.h"

#include <stdio.h>
#include <string.h>
#include <vgpu.h>

#define HEAD                                                                                                           \
    ".version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 "   \
    "out)\n"
#define REGISTERS                                                                                                      \
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %rd<9>; .reg .b128 %q<2>;\n"                       \
    ".shared .align 1024 .b8 box[4096]; .shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar[2];\n"             \
    "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, bar; mov.u32 %r3, box; setp.eq.u32 %p1, %r1, 0;\n"                    \
    "ld.param.u64 %rd1, [out]; mov.b64 %rd2, map;\n"
#define SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"

typedef struct run_of {
    const char *body;
    uint32_t grid, block, cluster;
    uint64_t seed;
    uint32_t *out; /* 1024 words of 0 before */
    const uint8_t *map;
    void *tensor;
    size_t tensor_bytes;
} run_of;

static fpo_status run(const run_of *r, char message[FPO_MESSAGE_SIZE])
{
    char text[8192];
    uint8_t map[128] = {0};
    snprintf(text, sizeof text, "%s{\n%s%s\nret;\n}\n", HEAD, REGISTERS, r->body);
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 120, .multiprocessors = 6, .seed = r->seed};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function = NULL;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    uint32_t *out = fpo_vgpu_allocate(gpu, 4096);
    memset(out, 0, 4096);
    if (r->tensor != NULL)
        fpo_vgpu_attach(gpu, r->tensor, r->tensor_bytes);
    fpo_status status = fpo_vgpu_load(gpu, text, strlen(text), &module, &error);
    if (status == FPO_OK)
        status = fpo_vgpu_get_function(module, "k", &function, &error);
    const void *arguments[] = {r->map != NULL ? r->map : map, &out};
    fpo_vgpu_launch launch = {
        .grid = {r->grid, 1, 1}, .block = {r->block, 1, 1}, .cluster = {r->cluster, 1, 1}, .arguments = arguments};
    if (status == FPO_OK)
        status = fpo_vgpu_run(function, &launch, NULL, &error);
    if (r->out != NULL)
        memcpy(r->out, out, 4096);
    snprintf(message, FPO_MESSAGE_SIZE, "%s", error.message);
    fpo_vgpu_free(gpu);
    return status;
}

static const struct {
    const char *body, *says;
    uint32_t grid, cluster;
    fpo_status status;
} refusals[] = {
    {"mapa.shared::cluster.u32 %r4, %r3, 2; ld.shared::cluster.u32 %r5, [%r4];\n",
     "belongs to CTA 2 of a cluster that has 2", 4, 2, FPO_ERR_KERNEL},
    {"xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r4, %r3, %r4; ld.shared.u32 %r5, [%r4];\n",
     "belongs to CTA 1 of the cluster, this one is 0", 2, 2, FPO_ERR_KERNEL},
    {"@%p1 ret; mapa.shared::cluster.u32 %r4, %r3, 0; WAIT: st.shared::cluster.u32 [%r4], 1; bra WAIT;\n",
     "which has exited", 2, 2, FPO_ERR_KERNEL},
    {"mbarrier.init.shared.b64 [%r2], 1; xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r4, %r2, %r4;\n" SYNC
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 16, [%r4];\n",
     "a copy to CTA 1 of the cluster with an mbarrier of CTA 0", 2, 2, FPO_ERR_KERNEL},
    {"mov.b16 %h1, 5; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], "
     "[%rd1], 16, [%r2], %h1;\n",
     "a copy to the CTAs 0x5 of a cluster that has 2", 2, 2, FPO_ERR_KERNEL},
    {"mbarrier.init.shared.b64 [%r2], 1; @!%p1 bra WAIT; " SYNC
     " WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra WAIT;\n",
     "deadlock", 2, 2, FPO_ERR_KERNEL},
    {"barrier.cluster.wait;\n", "waits without having arrived", 2, 2, FPO_ERR_KERNEL},
    {"", "a grid of 3 x 1 x 1 CTAs in clusters of 2 x 1 x 1", 3, 2, FPO_ERR_ARGUMENT},
    {"", "in clusters of 32 x 1 x 1 (16 at most)", 32, 32, FPO_ERR_ARGUMENT},
};

START_TEST(faults)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char message[FPO_MESSAGE_SIZE];
        run_of r = {.body = refusals[i].body, .grid = refusals[i].grid, .block = 1, .cluster = refusals[i].cluster};
        fpo_status status = run(&r, message);
        ck_assert_msg(status == refusals[i].status && strstr(message, refusals[i].says) != NULL, "case %zu: %d: %s", i,
                      status, message);
    }
}
END_TEST

/* A warp that has exited is not waited for, whether it had arrived or not. */
START_TEST(exits)
{
    static const char *const bodies[] = {
        "@!%p1 ret; " SYNC "st.global.u32 [%rd1], 1;\n",
        "@!%p1 barrier.cluster.arrive; @!%p1 ret; " SYNC SYNC "st.global.u32 [%rd1], 1;\n",
    };
    for (int i = 0; i < 2; i++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            uint32_t out[1024];
            char message[FPO_MESSAGE_SIZE];
            run_of r = {.body = bodies[i], .grid = 4, .block = 64, .cluster = 4, .seed = seed, .out = out};
            ck_assert_msg(run(&r, message) == FPO_OK, "%s", message);
            ck_assert_uint_eq(out[0], 1);
        }
    }
}
END_TEST

/* Clusters take others over until none is left: each CTA of the grid is counted once. */
START_TEST(launch_control)
{
    static const char body[] =
        "mov.u32 %r4, answer; mov.u32 %r5, %ctaid.x; mov.u32 %r6, 0; sub.u32 %r7, %r5, %r1;\n"
        "mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster;\n" SYNC
        "AGAIN: add.u32 %r8, %r7, %r1; mul.wide.u32 %rd3, %r8, 4; add.u64 %rd3, %rd1, %rd3; red.global.add.u32 [%rd3], "
        "1;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;\n" SYNC
        "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all"
        ".b128 [%r4], [%r2];\n"
        "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r6; @!%p2 bra WAIT; xor.b32 %r6, %r6, 1;\n"
        "ld.shared.b128 %q1, [%r4]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r7, %q1;\n" SYNC "@%p3 bra AGAIN;\n";
    for (uint32_t n = 1; n <= 4; n++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            uint32_t out[1024];
            char message[FPO_MESSAGE_SIZE];
            run_of r = {.body = body, .grid = 48, .block = 1, .cluster = n, .seed = seed, .out = out};
            ck_assert_msg(run(&r, message) == FPO_OK, "%s", message);
            for (uint32_t i = 0; i < 48; i++)
                ck_assert_msg(out[i] == 1, "clusters of %u, seed %d: CTA %u counts %u", n, (int)seed, i, out[i]);
        }
    }
}
END_TEST

/* cta_group::2: CTA r of four loads a row for itself and the next but one, and the pair's even CTA is told of both. */
START_TEST(pairs)
{
    static const char body[] =
        "mov.u32 %r4, 0; shl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r3; and.b32 %r6, %r2, 0xFEFFFFFF;\n"
        "mbarrier.init.shared.b64 [%r2], 1; and.b32 %r7, %r1, 1; setp.eq.u32 %p2, %r7, 0;\n"
        "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;\n" SYNC
        "mov.u32 %r9, 5; shl.b32 %r9, %r9, %r7; cvt.u16.u32 %h1, %r9;\n"
        "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r5], [%rd2, {%r4, %r1}], [%r6], %h1;\n"
        "@!%p2 bra TOLD; WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0; @!%p3 bra WAIT;\n"
        "TOLD: " SYNC
        "mul.wide.u32 %rd3, %r1, 16; add.u64 %rd3, %rd1, %rd3; ld.shared.u32 %r10, [%r3]; ld.shared.u32 %r11, "
        "[%r3+128];\n"
        "ld.shared.u32 %r12, [%r3+256]; ld.shared.u32 %r13, [%r3+384];\n"
        "st.global.v4.u32 [%rd3], {%r10, %r11, %r12, %r13};\n";
    static uint32_t tensor[4][32];
    for (uint32_t i = 0; i < 128; i++)
        tensor[i / 32][i % 32] = 1000 * (i / 32 + 1) + i % 32;
    fpo_tensor_request request = {.type = 2,
                                  .rank = 2,
                                  .address = (uint64_t)(uintptr_t)tensor,
                                  .dim = {32, 4},
                                  .stride = {128},
                                  .box = {32, 1},
                                  .element_stride = {1, 1}};
    _Alignas(64) uint8_t map[128];
    ck_assert(fpo_tensor_map_encode(&request, 120, map));
    for (uint64_t seed = 0; seed < 6; seed++) {
        uint32_t out[1024];
        char message[FPO_MESSAGE_SIZE];
        run_of r = {.body = body,
                    .grid = 4,
                    .block = 1,
                    .cluster = 4,
                    .seed = seed,
                    .out = out,
                    .map = map,
                    .tensor = tensor,
                    .tensor_bytes = sizeof tensor};
        ck_assert_msg(run(&r, message) == FPO_OK, "%s", message);
        for (uint32_t rank = 0; rank < 4; rank++)
            for (uint32_t from = rank % 2; from < 4; from += 2)
                ck_assert_uint_eq(out[4 * rank + from], 1000 * (from + 1));
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_cluster");
    TCase *tests = tcase_create("cluster");
    tcase_add_test(tests, faults);
    tcase_add_test(tests, exits);
    tcase_add_test(tests, launch_control);
    tcase_add_test(tests, pairs);
    suite_add_tcase(suite, tests);
    return suite;
}
