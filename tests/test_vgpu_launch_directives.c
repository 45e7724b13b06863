/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a kernel's directives ask of its launch: clusters in place of CTAs, a size of clusters, not more than so many.
 */
#include "suite.h"

#include <string.h>
#include <vgpu.h>

enum { WORDS = 64 };

/* Each CTA writes, at its place in the grid, CTAs in the grid and its rank in the cluster. */
#define KERNEL(directives)                                                                                             \
    ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 out) .reqntid 32, 1, "             \
    "1 " directives                                                                                                    \
    "\n{\n.reg .b32 i, n, r, v;\n.reg .b64 o, w;\nmov.u32 i, %ctaid.x;\nmov.u32 n, %nctaid.x;\nmov.u32 r, "            \
    "%cluster_ctarank;\nshl.b32 v, n, 8;\nor.b32 v, v, r;\nld.param.u64 o, [out];\nmul.wide.u32 w, i, 4;\nadd.s64 o, " \
    "o, w;\nst.global.b32 [o], v;\nret;\n}\n"

static const struct {
    const char *ptx;
    uint32_t grid, cluster; /* of the launch; 0: none */
    uint32_t ctas, size;    /* that run; none: it is refused with `says` */
    const char *says;
} launches[] = {
    {KERNEL(""), 6, 0, 6, 1, NULL},
    {KERNEL(".reqnctapercluster 2, 1, 1"), 6, 0, 6, 2, NULL},
    {KERNEL(".reqnctapercluster 2, 1, 1 .blocksareclusters"), 6, 0, 12, 2, NULL},
    {KERNEL(".reqnctapercluster 4, 1, 1 .blocksareclusters"), 5, 4, 20, 4, NULL},
    {KERNEL(".reqnctapercluster 4, 1, 1 .blocksareclusters"), 0x40000000, 0, 0, 0, "a grid of 4294967295"},
    {KERNEL(".explicitcluster"), 6, 0, 0, 0, "has to be launched with a size of clusters"},
    {KERNEL(".explicitcluster"), 6, 3, 6, 3, NULL},
    {KERNEL(".explicitcluster .reqnctapercluster 2, 1, 1"), 6, 0, 6, 2, NULL},
    {KERNEL(".maxclusterrank 2"), 6, 2, 6, 2, NULL},
    {KERNEL(".maxclusterrank 2"), 6, 3, 0, 0, "clusters of 3 CTAs, it is for 2 at most"},
};

START_TEST(grid_and_clusters)
{
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 120};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    const char *ptx = launches[_i].ptx;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, ptx, strlen(ptx), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s", error.message);
    uint32_t *out = fpo_vgpu_allocate(gpu, WORDS * sizeof *out);
    memset(out, 0xFF, WORDS * sizeof *out);
    const void *arguments[] = {&out};
    uint32_t cluster = launches[_i].cluster;
    fpo_vgpu_launch launch = {.grid = {launches[_i].grid, 1, 1}, .block = {32, 1, 1}, .arguments = arguments};
    for (int i = 0; i < 3 && cluster != 0; i++)
        launch.cluster[i] = i == 0 ? cluster : 1;
    fpo_status status = fpo_vgpu_run(function, &launch, NULL, &error);
    uint32_t ctas = launches[_i].ctas;
    if (launches[_i].says != NULL) {
        ck_assert_int_eq(status, FPO_ERR_ARGUMENT);
        ck_assert_msg(strstr(error.message, launches[_i].says) != NULL, "%s", error.message);
    } else {
        ck_assert_msg(status == FPO_OK, "%s", error.message);
    }
    for (uint32_t i = 0; i < WORDS; i++)
        ck_assert_uint_eq(out[i], i < ctas ? ctas << 8 | i % launches[_i].size : UINT32_MAX);
    fpo_vgpu_free(gpu);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_launch_directives");
    TCase *tests = tcase_create("launches");
    tcase_add_loop_test(tests, grid_and_clusters, 0, sizeof launches / sizeof launches[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
