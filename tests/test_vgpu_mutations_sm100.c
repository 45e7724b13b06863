/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Faults planted in the PTX of CUTLASS's and DeepGEMM's kernels for SM100, under their own host code: what `run
 * --check` says of each. The unmodified kernels raise nothing. A few of them always, all with FPO_LONG=1; skipped
 * without the plug-ins. docs/vgpu.md has the table. */
#include "ptx_edit.h"
#include "ptx_library.h"
#include "scratch.h"
#include "suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct subject {
    const char *plugin, *kernel;
    const char *word;   /* of its name in the PTX, the first that has it */
    const char *vector; /* arguments of gen */
} subject;

enum { NVFP4, MXFP8, DEEPGEMM, SUBJECTS };

static const subject subjects[SUBJECTS] = {
    {"cutlass_sm100", "cutlass_sm100/nvfp4/f32", "float_e2m1_tENS_13float_ue4m3_t",
     "--data gaussian --shape 128x384x1536 --format nvfp4 --model sm100_mxf4nvf4"},
    {"cutlass_sm100", "cutlass_sm100/mxfp8/f32", "float_e4m3_t",
     "--data uniform --shape 128x384x768 --format mxfp8_e4m3 --model sm100_mxf8f6f4"},
    {"deepgemm_sm100", "deepgemm_sm100/mxfp8/f32", "sm100_fp8_fp4_gemm_1d1d_implILN4cute4UMMA5MajorE0ELS3_0ELj32ELj32E",
     "--data uniform --shape 384x512x640 --format mxfp8_e4m3 --model sm100_mxf8f6f4"},
};

typedef struct mutation {
    int subject;
    const char *what;
    ptx_edit edit;
    const char *device; /* of the virtual GPU: seed and more */
    const char *caught; /* words of the output */
    bool quick;
} mutation;

#define MMA "tcgen05.mma.cta_group"
#define CP "tcgen05.cp.cta_group"
#define LD "tcgen05.ld.sync"
#define COMMIT "tcgen05.commit"
#define LOAD2 "cp.async.bulk.tensor.2d.shared::cluster.global"
#define LOAD3 "cp.async.bulk.tensor.3d.shared::cluster.global"
#define STORE "cp.async.bulk.tensor.3d.global.shared::cta"
#define STORE2 "cp.async.bulk.tensor.2d.global.shared::cta"
#define TRY "mbarrier.try_wait.parity"
#define PASS "setp.eq.u32 P1, 0, 0; //"
#define EXPECT "mbarrier.arrive.expect_tx.shared::cta.b64"
#define DIFFER "elements differ"
#define UNWRITTEN "reads tensor memory that nothing has written"
#define MATCH "\nmatch "

static const mutation mutations[] = {
    {NVFP4, "none", {EDIT_REPLACE, ".target", 1, NULL, ".target", ".target"}, "seed=3", MATCH, true},
    {NVFP4, "a copy of scales dropped", {EDIT_DELETE, CP, 1, NULL, NULL, NULL}, "seed=0", UNWRITTEN, true},
    {NVFP4, "scales to a shifted column", {EDIT_REPLACE, CP, 2, NULL, "],", "+1],"}, "seed=0", UNWRITTEN, false},
    {NVFP4, "scales of another tile", {EDIT_BORROW, CP, 1, NULL, "1", NULL}, "seed=0", DIFFER, false},
    {NVFP4,
     "scales to one partition only",
     {EDIT_REPLACE, CP, 1, NULL, "32x128b.warpx4", "128x128b"},
     "seed=0",
     "differ between the four partitions",
     true},
    {NVFP4, "scales of A for B", {EDIT_COPY, MMA, 1, NULL, "4", "5"}, "seed=0", DIFFER, false},
    {NVFP4, "scales of B for A", {EDIT_COPY, MMA, 1, NULL, "5", "4"}, "seed=0", DIFFER, false},
    {NVFP4, "A in place of B", {EDIT_COPY, MMA, 1, NULL, "1", "2"}, "seed=0", DIFFER, false},
    {NVFP4, "scales of A of another K step", {EDIT_BORROW, MMA, 1, NULL, "4", NULL}, "seed=0", DIFFER, false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {NVFP4,
     "scales of another K step (instruction descriptor)",
     {EDIT_BORROW, MMA, 1, NULL, "3", NULL},
     "seed=0",
     MATCH,
     false},
    {NVFP4,
     "accumulation the other way round",
     {EDIT_REPLACE, MMA, 1, NULL, ", p;", ", !p;"},
     "seed=0",
     UNWRITTEN,
     false},
    {NVFP4, "an mma dropped", {EDIT_DELETE, MMA, 2, NULL, NULL, NULL}, "seed=0", DIFFER, true},
    {NVFP4, "an mma twice", {EDIT_REPEAT, MMA, 3, NULL, NULL, NULL}, "seed=0", DIFFER, false},
    {NVFP4,
     "instruction descriptor of zeros",
     {EDIT_SET, MMA, 1, NULL, "3", "0"},
     "seed=0",
     "instruction descriptor 0x00000000: type of A (bits 7-9)",
     false},
    {NVFP4,
     "matrix descriptor of zeros",
     {EDIT_SET, MMA, 1, NULL, "1", "0"},
     "seed=0",
     "of A: constant in bits 46-48",
     false},
    {NVFP4, "accumulator shifted by a column", {EDIT_REPLACE, MMA, 1, NULL, "],", "+1],"}, "seed=0", UNWRITTEN, false},
    {NVFP4,
     "accumulator beyond tensor memory",
     {EDIT_REPLACE, MMA, 1, NULL, "],", "+448],"},
     "seed=0",
     "columns 448 to 575 of tensor memory, which has 512",
     false},
    {NVFP4,
     "one mma of two CTAs",
     {EDIT_REPLACE, MMA, 1, NULL, "group::1", "group::2"},
     "seed=0",
     "cta_group::2 in a cluster of 1",
     false},
    {NVFP4, "a commit of a stage dropped", {EDIT_DELETE, COMMIT, 1, NULL, NULL, NULL}, "seed=0", "deadlock", true},
    {NVFP4,
     "the commit of the accumulator dropped",
     {EDIT_DELETE, COMMIT, 2, NULL, NULL, NULL},
     "seed=0",
     "deadlock",
     false},
    {NVFP4, "a commit twice", {EDIT_REPEAT, COMMIT, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {NVFP4,
     "an arrival in place of the commit of a stage",
     {EDIT_REPLACE, COMMIT, 1, NULL, "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [",
      "mbarrier.arrive.shared::cta.b64 _, ["},
     "seed=0",
     "copies to shared memory, with no ordering after an access of a tensor core",
     true},
    {NVFP4,
     "an arrival in place of the commit of the accumulator",
     {EDIT_REPLACE, COMMIT, 2, NULL, "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [",
      "mbarrier.arrive.shared::cta.b64 _, ["},
     "seed=0",
     "reads tensor memory, with no ordering after a write of a tensor core",
     false},
    {NVFP4, "no bytes announced", {EDIT_DELETE, EXPECT, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {NVFP4, "too few bytes announced", {EDIT_SET, EXPECT, 1, NULL, "2", "16"}, "seed=3", "deadlock", false},
    {NVFP4, "too many bytes announced", {EDIT_SET, EXPECT, 1, NULL, "2", "131072"}, "seed=0", "deadlock", false},
    {NVFP4, "a load dropped", {EDIT_DELETE, LOAD3, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {NVFP4, "a load of the other matrix", {EDIT_BORROW, LOAD3, 1, NULL, "1", NULL}, "seed=0", DIFFER, false},
    {NVFP4,
     "a load to a shifted place",
     {EDIT_REPLACE, LOAD3, 1, NULL, "], [", "+16], ["},
     "seed=0",
     "is not aligned to 128",
     false},
    {NVFP4, "a barrier misses an arrival", {EDIT_SET, "mbarrier.init", 1, NULL, "1", "2"}, "seed=0", "deadlock", false},
    {NVFP4,
     "no barrier after the set-up",
     {EDIT_DELETE, "bar.sync 0;", 0, NULL, NULL, NULL},
     "seed=1",
     "deadlock",
     false},
    {NVFP4,
     "no barrier before a store",
     {EDIT_DELETE, "bar.sync", -1, STORE, NULL, NULL},
     "seed=5",
     "reads shared memory",
     false},
    {NVFP4, "no wait for the tiles", {EDIT_REPLACE, TRY, -1, CP, TRY, PASS}, "seed=3", "deadlock", false},
    {NVFP4,
     "no wait for an accumulator that was read",
     {EDIT_REPLACE, TRY, -3, CP, TRY, PASS},
     "seed=3",
     "writes or frees tensor memory, with no ordering after an access of warp",
     true},
    {NVFP4,
     "no wait for an empty stage",
     {EDIT_REPLACE, TRY, -1, LOAD3, TRY, PASS},
     "seed=3",
     "arrivals at an mbarrier",
     false},
    {NVFP4, "no wait for the accumulator", {EDIT_REPLACE, TRY, -3, LD, TRY, PASS}, "seed=0", UNWRITTEN, false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {NVFP4, "no tcgen05.wait::ld", {EDIT_DELETE, "tcgen05.wait::ld", 0, NULL, NULL, NULL}, "seed=0", MATCH, false},
    {NVFP4, "tcgen05.ld of a shifted column", {EDIT_REPLACE, LD, 1, NULL, "]", "+1]"}, "seed=0", DIFFER, false},
    {NVFP4,
     "no proxy fence",
     {EDIT_DELETE, "fence.proxy.async.shared::cta", 0, NULL, NULL, NULL},
     "seed=0",
     "without a proxy fence",
     false},
    {NVFP4,
     "no wait for stores",
     {EDIT_DELETE, "cp.async.bulk.wait_group", 0, NULL, NULL, NULL},
     "seed=3",
     "store has still to read",
     false},
    {NVFP4,
     "no dealloc",
     {EDIT_DELETE, "tcgen05.dealloc", 1, NULL, NULL, NULL},
     "seed=0",
     "nothing frees before the CTA ends",
     true},
    {NVFP4,
     "too few columns allocated",
     {EDIT_SET, "tcgen05.alloc", 1, NULL, "1", "32"},
     "seed=0",
     "column 256 of tensor memory is not allocated",
     false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {NVFP4,
     "the right to allocate kept",
     {EDIT_DELETE, "tcgen05.relinquish", 0, NULL, NULL, NULL},
     "seed=0",
     MATCH,
     false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {NVFP4,
     "no fence of the mbarriers",
     {EDIT_DELETE, "fence.mbarrier_init", 0, NULL, NULL, NULL},
     "seed=3",
     MATCH,
     false},
    {MXFP8, "none", {EDIT_REPLACE, ".target", 1, NULL, ".target", ".target"}, "seed=3", MATCH, false},
    {MXFP8, "a copy of scales dropped", {EDIT_DELETE, CP, 1, NULL, NULL, NULL}, "seed=0", UNWRITTEN, false},
    {MXFP8, "scales of A for B", {EDIT_COPY, MMA, 1, NULL, "4", "5"}, "seed=0", DIFFER, false},
    {MXFP8,
     "scales of A of another K step",
     {EDIT_BORROW, MMA, 1, NULL, "4", NULL},
     "seed=0",
     "scales of A at 0x40000100: a column, and the scale id 0",
     false},
    {MXFP8,
     "scales of another K step (instruction descriptor)",
     {EDIT_BORROW, MMA, 1, NULL, "3", NULL},
     "seed=0",
     DIFFER,
     false},
    {MXFP8,
     "an arrival in place of the commit of a stage",
     {EDIT_REPLACE, COMMIT, 1, NULL, "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [",
      "mbarrier.arrive.shared::cta.b64 _, ["},
     "seed=0",
     "copies to shared memory, with no ordering after an access of a tensor core",
     false},
    {MXFP8, "no bytes announced", {EDIT_DELETE, EXPECT, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {MXFP8, "no wait for the accumulator", {EDIT_REPLACE, TRY, -3, LD, TRY, PASS}, "seed=0", UNWRITTEN, false},
    {DEEPGEMM, "none", {EDIT_REPLACE, ".target", 1, NULL, ".target", ".target"}, "seed=3", MATCH, true},
    {DEEPGEMM, "a copy of scales dropped", {EDIT_DELETE, CP, 1, NULL, NULL, NULL}, "seed=0", DIFFER, false},
    {DEEPGEMM, "scales to a shifted column", {EDIT_REPLACE, CP, 2, NULL, "],", "+1],"}, "seed=0", DIFFER, false},
    {DEEPGEMM,
     "scales to one partition only",
     {EDIT_REPLACE, CP, 1, NULL, "32x128b.warpx4", "128x128b"},
     "seed=0",
     "with no ordering after a write of warp",
     false},
    {DEEPGEMM,
     "a copy form that does not exist",
     {EDIT_REPLACE, CP, 1, NULL, "warpx4", "warpx3"},
     "seed=0",
     "is not supported",
     true},
    {DEEPGEMM, "scales of A for B", {EDIT_COPY, MMA, 1, NULL, "4", "5"}, "seed=0", DIFFER, false},
    {DEEPGEMM, "scales of B for A", {EDIT_COPY, MMA, 1, NULL, "5", "4"}, "seed=0", DIFFER, false},
    {DEEPGEMM, "A in place of B", {EDIT_COPY, MMA, 1, NULL, "1", "2"}, "seed=0", DIFFER, false},
    {DEEPGEMM, "A of another K step", {EDIT_BORROW, MMA, 1, NULL, "1", NULL}, "seed=0", DIFFER, false},
    {DEEPGEMM,
     "accumulation the other way round",
     {EDIT_REPLACE, MMA, 1, NULL, ", p;", ", !p;"},
     "seed=0",
     DIFFER,
     false},
    {DEEPGEMM, "an mma dropped", {EDIT_DELETE, MMA, 2, NULL, NULL, NULL}, "seed=0", DIFFER, false},
    {DEEPGEMM, "an mma twice", {EDIT_REPEAT, MMA, 3, NULL, NULL, NULL}, "seed=0", DIFFER, false},
    {DEEPGEMM,
     "instruction descriptor of zeros",
     {EDIT_SET, MMA, 1, NULL, "3", "0"},
     "seed=0",
     "instruction descriptor 0x00000000: scale type (bit 23)",
     false},
    {DEEPGEMM,
     "matrix descriptor of zeros",
     {EDIT_SET, MMA, 1, NULL, "1", "0"},
     "seed=0",
     "of A: constant in bits 46-48",
     false},
    {DEEPGEMM,
     "accumulator shifted by a column",
     {EDIT_REPLACE, MMA, 1, NULL, "],", "+1],"},
     "seed=0",
     UNWRITTEN,
     false},
    {DEEPGEMM,
     "accumulator beyond tensor memory",
     {EDIT_REPLACE, MMA, 1, NULL, "],", "+448],"},
     "seed=0",
     "columns 448 to 575 of tensor memory, which has 512",
     false},
    {DEEPGEMM,
     "one mma of two CTAs",
     {EDIT_REPLACE, MMA, 1, NULL, "group::1", "group::2"},
     "seed=0",
     "cta_group::2 in a cluster of 1",
     false},
    {DEEPGEMM, "a commit of a stage dropped", {EDIT_DELETE, COMMIT, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {DEEPGEMM,
     "the commit of the accumulator dropped",
     {EDIT_DELETE, COMMIT, 2, NULL, NULL, NULL},
     "seed=0",
     "deadlock",
     false},
    {DEEPGEMM, "a commit twice", {EDIT_REPEAT, COMMIT, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {DEEPGEMM,
     "an arrival in place of the commit of a stage",
     {EDIT_REPLACE, COMMIT, 1, NULL, "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [",
      "mbarrier.arrive.shared::cta.b64 _, ["},
     "seed=0",
     "copies to shared memory, with no ordering after an access of a tensor core",
     false},
    {DEEPGEMM,
     "an arrival in place of the commit of the accumulator",
     {EDIT_REPLACE, COMMIT, 2, NULL, "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [",
      "mbarrier.arrive.shared::cta.b64 _, ["},
     "seed=0",
     "reads tensor memory, with no ordering after a write of a tensor core",
     false},
    {DEEPGEMM, "no bytes announced", {EDIT_DELETE, EXPECT, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {DEEPGEMM, "too few bytes announced", {EDIT_SET, EXPECT, 1, NULL, "2", "16"}, "seed=3", "deadlock", false},
    {DEEPGEMM, "too many bytes announced", {EDIT_SET, EXPECT, 1, NULL, "2", "131072"}, "seed=0", "deadlock", false},
    {DEEPGEMM, "a load dropped", {EDIT_DELETE, LOAD2, 1, NULL, NULL, NULL}, "seed=0", "deadlock", false},
    {DEEPGEMM, "a load of the other matrix", {EDIT_BORROW, LOAD2, 1, NULL, "1", NULL}, "seed=0", DIFFER, false},
    {DEEPGEMM,
     "a load to a shifted place",
     {EDIT_REPLACE, LOAD2, 1, NULL, "], [", "+16], ["},
     "seed=0",
     "is not aligned to 128",
     false},
    {DEEPGEMM,
     "a barrier misses an arrival",
     {EDIT_SET, "mbarrier.init", 1, NULL, "1", "2"},
     "seed=0",
     "deadlock",
     false},
    {DEEPGEMM,
     "no barrier after the set-up",
     {EDIT_DELETE, "bar.sync 0;", 0, NULL, NULL, NULL},
     "seed=3",
     "trap",
     false},
    {DEEPGEMM,
     "no barrier before a store",
     {EDIT_DELETE, "bar.sync", -1, STORE2, NULL, NULL},
     "seed=5",
     "reads shared memory",
     false},
    {DEEPGEMM, "no wait for the tiles", {EDIT_REPLACE, TRY, -1, CP, TRY, PASS}, "seed=3", "deadlock", false},
    {DEEPGEMM,
     "no wait for an empty stage",
     {EDIT_REPLACE, TRY, -1, LOAD2, TRY, PASS},
     "seed=3",
     "arrivals at an mbarrier",
     false},
    {DEEPGEMM, "no wait for the accumulator", {EDIT_REPLACE, TRY, -1, LD, TRY, PASS}, "seed=0", UNWRITTEN, false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {DEEPGEMM, "no tcgen05.wait::ld", {EDIT_DELETE, "tcgen05.wait::ld", 0, NULL, NULL, NULL}, "seed=0", MATCH, false},
    {DEEPGEMM,
     "no tcgen05.wait::ld, late_loads=1",
     {EDIT_DELETE, "tcgen05.wait::ld", 0, NULL, NULL, NULL},
     "late_loads=1",
     "uses a register before a tcgen05.wait::ld",
     true},
    {DEEPGEMM, "tcgen05.ld of a shifted column", {EDIT_REPLACE, LD, 1, NULL, "]", "+1]"}, "seed=0", DIFFER, false},
    {DEEPGEMM,
     "no proxy fence",
     {EDIT_DELETE, "fence.proxy.async.shared::cta", 0, NULL, NULL, NULL},
     "seed=0",
     "without a proxy fence",
     false},
    {DEEPGEMM,
     "no wait for stores",
     {EDIT_DELETE, "cp.async.bulk.wait_group", 0, NULL, NULL, NULL},
     "seed=3",
     "store has still to read",
     false},
    {DEEPGEMM,
     "no dealloc",
     {EDIT_DELETE, "tcgen05.dealloc", 1, NULL, NULL, NULL},
     "seed=0",
     "nothing frees before the CTA ends",
     false},
    {DEEPGEMM,
     "too few columns allocated",
     {EDIT_SET, "tcgen05.alloc", 1, NULL, "1", "32"},
     "seed=0",
     "column 256 of tensor memory is not allocated",
     false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {DEEPGEMM,
     "no wait for the grid before",
     {EDIT_DELETE, "griddepcontrol.wait", 0, NULL, NULL, NULL},
     "seed=0",
     MATCH,
     false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {DEEPGEMM,
     "no fence of the mbarriers",
     {EDIT_DELETE, "fence.mbarrier_init", 0, NULL, NULL, NULL},
     "seed=3",
     MATCH,
     false},
    /* Nothing catches it: docs/vgpu.md says why. */
    {DEEPGEMM, "no tcgen05 fences", {EDIT_DELETE, "tcgen05.fence", 0, NULL, NULL, NULL}, "seed=3", MATCH, false},
    {DEEPGEMM,
     "no transposition of the scales",
     {EDIT_DELETE, "st.shared.v4.u32", 1, NULL, NULL, NULL},
     "seed=0",
     DIFFER,
     false},
};

enum { MUTATIONS = sizeof mutations / sizeof mutations[0] };
static int chosen[MUTATIONS]; /* those that run */

static fpo_scratch scratch;
static const char *const fp4oracle = FPO_BINARY_DIR "/bin/fp4oracle";

static void run(const char *command, char *output, size_t size)
{
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = fread(output, 1, size - 1, pipe);
    output[length] = '\0';
    while (fgetc(pipe) != EOF)
        continue;
    pclose(pipe);
}

static void library_of(const subject *s, char path[512])
{
    snprintf(path, 512, FPO_BINARY_DIR "/lib/%s.so", s->plugin);
}

START_TEST(is_caught)
{
    const mutation *m = &mutations[chosen[_i]];
    const subject *s = &subjects[m->subject];
    static char output[1 << 16];
    char library[512], command[4096];
    library_of(s, library);
    char *module = ptx_of_library(library, s->word), *ptx = ptx_of_kernel(module, s->word),
         *edited = ptx_edited(ptx, &m->edit);
    fpo_scratch_path(&scratch, "edited.ptx");
    FILE *file = fopen(scratch.path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(edited, file);
    fclose(file);
    snprintf(command, sizeof command,
             "cd %s && FP4ORACLE_VGPU_PTX=%s %s run --once --no-diagnosis --check --kernel %s:%s "
             "--device virtual:sm100,sms=1,max_instructions=1000000,%s %d.safetensors 2>&1",
             scratch.folder, scratch.path, fp4oracle, library, s->kernel, m->device, m->subject);
    run(command, output, sizeof output);
    const char *start = strstr(output, "\nkernel ");
    ck_assert_msg(strstr(output, m->caught) != NULL, "%s, %s: `%s` is not in: %.700s", s->kernel, m->what, m->caught,
                  start != NULL ? start : output);
    ck_assert_msg(strcmp(m->caught, MATCH) != 0 || strstr(output, "check_failed") == NULL, "%s, %s: %.400s", s->kernel,
                  m->what, output);
    free(module);
    free(ptx);
    free(edited);
}
END_TEST

static void clean(void)
{
    fpo_scratch_close(&scratch);
}

static void prepare(void)
{
    static char output[4096];
    char command[4096];
    fpo_scratch_open(&scratch);
    for (int i = 0; i < SUBJECTS; i++) {
        snprintf(command, sizeof command, "%s gen %s -o %s/%d.safetensors 2>&1", fp4oracle, subjects[i].vector,
                 scratch.folder, i);
        run(command, output, sizeof output);
    }
}

static bool is_built(void)
{
    char path[512];
    bool all = access(fp4oracle, X_OK) == 0;
    for (int i = 0; i < SUBJECTS; i++) {
        library_of(&subjects[i], path);
        all = all && access(path, R_OK) == 0;
    }
    return all;
}

Suite *fpo_suite(void)
{
    if (!is_built()) {
        printf("the plug-ins for SM100 are not built (docs/plugins.md)\n");
        exit(77);
    }
    Suite *suite = suite_create("vgpu_mutations_sm100");
    TCase *tests = tcase_create("sm100");
    tcase_set_timeout(tests, 300);
    tcase_add_unchecked_fixture(tests, prepare, clean);
    int count = 0;
    for (int i = 0; i < MUTATIONS; i++)
        if (mutations[i].quick || getenv("FPO_LONG") != NULL)
            chosen[count++] = i;
    tcase_add_loop_test(tests, is_caught, 0, count);
    suite_add_tcase(suite, tests);
    return suite;
}
