/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual SM100's tensor memory and tensor cores, which no GPU at hand has, on random data: tcgen05.ld and st
 * against CuTe's layouts of their fragments, cp against the places that PTX names, mma of every kind against the
 * emulator's step on operands that are laid out here by CuTe's canonical layouts. */
#include "engine.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

enum {
    LANES = 128,
    COLUMNS = 512,
    THREADS = 128,
    IMAGE = 96 * 1024, /* of shared memory: A from 0, B from B_AT */
    B_AT = 32 * 1024,
    MOST_N = 256,
    A_COLUMN = 256, /* A, then its scales and B's */
    SCALES_COLUMN = 264
};

typedef struct state {
    uint32_t tmem[COLUMNS][LANES];
    _Alignas(16) uint8_t image[IMAGE];
    _Alignas(16) uint32_t out[4 * COLUMNS * LANES];
} state;

static uint32_t random_word(uint64_t stream, uint64_t index)
{
    return (uint32_t)(fpo_random_bits((fpo_random){20261130, stream}, index) >> 32);
}

/* Tensor memory is filled from a table, the body runs, and tensor memory goes back to the table. In a pair of CTAs each
 * has a table and an image of its own, `apart` bytes after the other's. */
#define PROGRAM                                                                                                        \
    ".version 8.7\n.target sm_100a\n.address_size 64\n"                                                                \
    ".extern .shared .align 1024 .b8 image[];\n"                                                                       \
    ".visible .entry k(.param .u64 tmem, .param .u64 bytes, .param .u64 out, .param .u64 da, .param .u64 db,\n"        \
    ".param .u32 id, .param .u32 keep, .param .u32 apart) {\n"                                                         \
    ".reg .pred p<9>; .reg .b16 h<3>; .reg .b32 r<40>, v<129>; .reg .b64 d<20>;\n"                                     \
    ".shared .align 8 .b64 bar; .shared .align 4 .b32 place;\n"                                                        \
    "mov.u32 r0, %%tid.x; shr.u32 r1, r0, 5; mov.u32 r2, place; mov.u32 r3, bar; mov.u32 r4, image;\n"                 \
    "ld.param.u64 d0, [tmem]; ld.param.u64 d1, [bytes]; ld.param.u64 d2, [out]; ld.param.u64 d3, [da];\n"              \
    "ld.param.u64 d4, [db]; ld.param.u32 r5, [id]; ld.param.u32 r6, [keep]; setp.ne.u32 p1, r6, 0;\n"                  \
    "ld.param.u32 r15, [apart]; mov.u32 r16, %%cluster_ctarank; mul.wide.u32 d9, r15, r16;\n"                          \
    "add.s64 d0, d0, d9; add.s64 d1, d1, d9; setp.eq.u32 p2, r1, 0; setp.eq.u32 p3, r0, 0;\n"                          \
    "and.b32 r17, r4, 0x3FFFF; cvt.u64.u32 d10, r17; shr.u64 d10, d10, 4;\n"                                           \
    "@p3 mbarrier.init.shared.b64 [r3], 1;\n"                                                                          \
    "@p2 tcgen05.alloc.cta_group::%s.sync.aligned.shared::cta.b32 [r2], 512;\n"                                        \
    "@p2 tcgen05.relinquish_alloc_permit.cta_group::%s.sync.aligned;\n"                                                \
    "mul.lo.u32 r7, r0, 16; cvt.u64.u32 d5, r7; add.s64 d5, d5, d1; add.u32 r8, r4, r7; mov.u32 r9, 0;\n"              \
    "COPY:\nld.global.v4.b32 {v0, v1, v2, v3}, [d5]; st.shared.v4.b32 [r8], {v0, v1, v2, v3};\n"                       \
    "add.s64 d5, d5, 2048; add.u32 r8, r8, 2048; add.u32 r9, r9, 2048; setp.lt.u32 p4, r9, 98304;\n@p4 bra COPY;\n"    \
    "bar.sync 0;\nld.shared.b32 r10, [r2];\nshl.b32 r11, r1, 21; add.u32 r12, r10, r11;\n"                             \
    "mul.lo.u32 r13, r0, 4; cvt.u64.u32 d6, r13; add.s64 d7, d0, d6; mov.u32 r14, 0;\n"                                \
    "FILL:\nld.global.b32 v0, [d7];\ntcgen05.st.sync.aligned.32x32b.x1.b32 [r12], {v0};\n"                             \
    "add.s64 d7, d7, 512; add.u32 r12, r12, 1; add.u32 r14, r14, 1; setp.lt.u32 p4, r14, 512;\n@p4 bra FILL;\n"        \
    "tcgen05.wait::st.sync.aligned;\nbar.sync 0;\nbarrier.cluster.arrive; barrier.cluster.wait;\n"                     \
    "tcgen05.fence::after_thread_sync;\nadd.u32 r12, r10, r11;\n%s"                                                    \
    "bar.sync 0;\nadd.s64 d7, d0, d6; mov.u32 r14, 0;\n"                                                               \
    "DRAIN:\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {v0}, [r12];\ntcgen05.wait::ld.sync.aligned;\n"                     \
    "st.global.b32 [d7], v0; add.s64 d7, d7, 512; add.u32 r12, r12, 1; add.u32 r14, r14, 1;\n"                         \
    "setp.lt.u32 p4, r14, 512;\n@p4 bra DRAIN;\n"                                                                      \
    "bar.sync 0;\n@p2 tcgen05.dealloc.cta_group::%s.sync.aligned.b32 r10, 512;\nret;\n}\n"
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

static fpo_status run(state *s, const arguments *x, char message[FPO_MESSAGE_SIZE])
{
    static char text[32768];
    const char *group = x->pair ? "2" : "1";
    snprintf(text, sizeof text, PROGRAM, group, group, x->body, group);
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 100, .seed = x->seed, .late_loads = x->late};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    fpo_status status = fpo_vgpu_load(gpu, text, strlen(text), &module, &error);
    if (status == FPO_OK)
        status = fpo_vgpu_get_function(module, "k", &function, &error);
    void *tmem = s->tmem, *image = s->image, *out = s->out;
    uint32_t ctas = x->pair ? 2 : 1, apart = sizeof *s;
    fpo_vgpu_attach(gpu, s, ctas * sizeof *s);
    const void *list[] = {&tmem, &image, &out, &x->a, &x->b, &x->id, &x->keep, &apart};
    fpo_vgpu_launch launch = {.grid = {ctas, 1, 1},
                              .block = {THREADS, 1, 1},
                              .cluster = {ctas, 1, 1},
                              .dynamic_shared = IMAGE,
                              .arguments = list};
    if (status == FPO_OK)
        status = fpo_vgpu_run(function, &launch, NULL, &error);
    snprintf(message, FPO_MESSAGE_SIZE, "%s", error.message);
    fpo_vgpu_free(gpu);
    return status;
}

static void must_run(state *s, const arguments *x)
{
    char message[FPO_MESSAGE_SIZE];
    ck_assert_msg(run(s, x, message) == FPO_OK, "%s", message);
}

static state *new_states(uint64_t stream, int count)
{
    state *s = calloc((size_t)count, sizeof *s);
    for (int c = 0; c < count; c++) {
        for (size_t i = 0; i < sizeof s->tmem / 4; i++)
            ((uint32_t *)s[c].tmem)[i] = random_word(stream + 10 * (uint64_t)c, i);
        for (size_t i = 0; i < IMAGE / 4; i++)
            ((uint32_t *)s[c].image)[i] = random_word(stream + 10 * (uint64_t)c + 1, i);
    }
    return s;
}

static state *new_state(uint64_t stream)
{
    return new_states(stream, 1);
}

/* ---- ld and st ---- */

/* CuTe's (thread, value) -> bit of the fragment, in units of 32 bits: two or three modes of each, for one repetition
 * count n; the stride of a lane is that of a row (cute/atom/copy_traits_sm100.hpp). */
typedef struct fragment {
    const char *shape;
    int per; /* registers of one repetition */
    int row; /* words of a lane in one repetition */
    int thread_extent[3], thread_lane[3], thread_word[3];
    int value_extent[2], value_lane[2], value_word[2]; /* the last mode goes over repetitions */
} fragment;

static const fragment fragments[] = {
    {"32x32b", 1, 1, {32, 1, 1}, {1, 0, 0}, {0, 0, 0}, {1, 1}, {0, 0}, {0, 0}},
    {"16x64b", 1, 2, {2, 2, 8}, {8, 0, 1}, {0, 1, 0}, {1, 1}, {0, 0}, {0, 0}},
    {"16x128b", 2, 4, {4, 8, 1}, {0, 1, 0}, {1, 0, 0}, {2, 1}, {8, 0}, {0, 0}},
    {"16x256b", 4, 8, {4, 8, 1}, {0, 1, 0}, {2, 0, 0}, {2, 2}, {0, 8}, {1, 0}},
};

static void place(const fragment *f, int thread, int r, int *lane, int *word)
{
    *lane = *word = 0;
    for (int i = 0; i < 3; i++) {
        int digit = thread % f->thread_extent[i];
        thread /= f->thread_extent[i];
        *lane += digit * f->thread_lane[i];
        *word += digit * f->thread_word[i];
    }
    for (int i = 0; i < 2; i++) {
        int digit = r % f->value_extent[i];
        r /= f->value_extent[i];
        *lane += digit * f->value_lane[i];
        *word += digit * f->value_word[i];
    }
    *word += r * f->row;
}

static void registers(char *text, size_t size, int count)
{
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%sv%d", i > 0 ? ", " : "", i);
}

/* Reads a fragment of every warp from column 5 (and the lower or upper half), and writes it to column 200 + a bit. */
static void check_fragment(const fragment *f, int repetitions, int half, bool packed, bool late)
{
    int count = f->per * repetitions, columns = f->row * repetitions * (packed ? 2 : 1);
    char list[1024], body[8192];
    registers(list, sizeof list, count);
    size_t used = (size_t)snprintf(
        body, sizeof body,
        "add.u32 r20, r12, %u;\ntcgen05.ld.sync.aligned.%s.x%d%s.b32 {%s}, [r20+5];\ntcgen05.wait::ld.sync.aligned;\n"
        "mul.lo.u32 r21, r0, %d; cvt.u64.u32 d8, r21; add.s64 d8, d8, d2;\n",
        (unsigned)half << 20, f->shape, repetitions, packed ? ".pack::16b" : "", list, 4 * count);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "st.global.b32 [d8+%d], v%d;\n", 4 * i, i);
    snprintf(body + used, sizeof body - used,
             "bar.sync 0;\ntcgen05.st.sync.aligned.%s.x%d%s.b32 [r20+250], {%s};\ntcgen05.wait::st.sync.aligned;\n",
             f->shape, repetitions, packed ? ".unpack::16b" : "", list);
    state *s = new_state((uint64_t)(repetitions + half)), *before = malloc(sizeof *before);
    memcpy(before, s, sizeof *s);
    must_run(s, &(arguments){.body = body, .late = late});
    for (int t = 0; t < THREADS; t++) {
        for (int r = 0; r < count; r++) {
            int lane, word;
            place(f, t % 32, r, &lane, &word);
            lane += t / 32 * 32 + 16 * half;
            uint32_t want = before->tmem[5 + word][lane];
            if (packed)
                want = (before->tmem[5 + 2 * word][lane] & 0xFFFF) | before->tmem[6 + 2 * word][lane] << 16;
            if (s->out[t * count + r] != want) /* asserting is slow */
                ck_abort_msg("%s x%d half %d packed %d: thread %d register %d", f->shape, repetitions, half, packed, t,
                             r);
            if (packed) {
                before->tmem[250 + 2 * word][lane] = want & 0xFFFF;
                before->tmem[251 + 2 * word][lane] = want >> 16;
            } else {
                before->tmem[250 + word][lane] = want;
            }
        }
    }
    ck_assert_int_le(250 + columns, COLUMNS);
    ck_assert_msg(memcmp(s->tmem, before->tmem, sizeof s->tmem) == 0, "%s x%d: what was written", f->shape,
                  repetitions);
    free(before);
    free(s);
}

START_TEST(fragments_of_registers)
{
    const fragment *f = &fragments[_i];
    for (int repetitions = 1; f->per * repetitions <= 128 && f->row * repetitions <= 64; repetitions *= 4)
        for (int half = 0; half < (_i == 0 ? 1 : 2); half++)
            for (int packed = 0; packed < 2; packed++)
                check_fragment(f, repetitions, half, packed, repetitions == 4);
}
END_TEST

/* Half of the warp takes the columns from the immediate on. */
START_TEST(fragments_in_two_halves)
{
    state *s = new_state(5);
    must_run(s, &(arguments){.body = "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {v0, v1}, [r12+3], 40;\n"
                                     "tcgen05.wait::ld.sync.aligned;\nmul.lo.u32 r21, r0, 8; cvt.u64.u32 d8, r21;\n"
                                     "add.s64 d8, d8, d2; st.global.v2.b32 [d8], {v0, v1};\n"});
    for (int t = 0; t < THREADS; t++)
        for (int r = 0; r < 2; r++)
            ck_assert_uint_eq(s->out[2 * t + r], s->tmem[3 + r + (t % 32 < 16 ? 0 : 40)][t / 32 * 32 + t % 16]);
    free(s);
}
END_TEST

/* ---- layouts of shared memory ---- */

typedef struct layout {
    int swizzle;       /* 0: none, 1: 32 bytes, 2: 64, 3: 128 */
    bool k_contiguous; /* K-major */
    uint32_t lbo, sbo;
} layout;

/* Byte of (row, byte of K) or (row, k): CuTe's canonical layouts (cute/atom/mma_traits_sm100.hpp). */
static uint32_t k_major(const layout *l, uint32_t row, uint32_t byte)
{
    if (l->swizzle == 0)
        return row % 8 * 16 + row / 8 * l->sbo + byte / 16 * l->lbo + byte % 16;
    uint32_t at = row % 8 * (16u << l->swizzle) + row / 8 * l->sbo + byte;
    return at ^ (at >> 7 & ((1u << l->swizzle) - 1)) << 4;
}

static uint32_t mn_major(const layout *l, uint32_t width, uint32_t row, uint32_t k)
{
    uint32_t t = 16 / width, chunk = row / t, span = 1u << l->swizzle;
    if (l->swizzle == 0)
        return row % t * width + chunk * l->sbo + k % 8 * 16 + k / 8 * l->lbo;
    uint32_t at = row % t * width + chunk % span * 16 + chunk / span * l->lbo + k % 8 * span * 16 + k / 8 * l->sbo;
    return at ^ (at >> 7 & (span - 1)) << 4;
}

static uint64_t descriptor_of(const layout *l, uint32_t start)
{
    static const uint64_t modes[] = {0, 6, 4, 2};
    return start >> 4 | (uint64_t)(l->lbo >> 4) << 16 | (uint64_t)(l->sbo >> 4) << 32 | (uint64_t)1 << 46 |
           modes[l->swizzle] << 61;
}

/* ---- mma ---- */

typedef struct instruction {
    const char *opcode; /* from the kind on */
    const char *model;
    fpo_format a, b;
    uint32_t a_code, b_code; /* in the instruction descriptor */
    int k;
    int scales;
    fpo_format scale;
} instruction;

static const instruction plain[] = {
    {"kind::f16", "sm100_f16", FPO_F16, FPO_F16, 0, 0, 16, 0, FPO_FORMAT_NONE},
    {"kind::f16", "sm100_bf16", FPO_BF16, FPO_BF16, 1, 1, 16, 0, FPO_FORMAT_NONE},
    {"kind::tf32", "sm100_tf32", FPO_F32, FPO_F32, 2, 2, 8, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E4M3, FPO_E5M2, 0, 1, 32, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E5M2, FPO_E2M1, 1, 5, 32, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E2M3, FPO_E3M2, 3, 4, 32, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E2M1, FPO_E4M3, 5, 0, 32, 0, FPO_FORMAT_NONE},
};
static const instruction scaled[] = {
    {"kind::mxf8f6f4.block_scale", "sm100_mxf8f6f4", FPO_E4M3, FPO_E4M3, 0, 0, 32, 1, FPO_UE8M0},
    {"kind::mxf8f6f4.block_scale.block32", "sm100_mxf8f6f4", FPO_E2M1, FPO_E3M2, 5, 4, 32, 1, FPO_UE8M0},
    {"kind::mxf4.block_scale.scale_vec::2X", "sm100_mxf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 2, FPO_UE8M0},
    {"kind::mxf4nvf4.block_scale.scale_vec::2X", "sm100_mxf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 2, FPO_UE8M0},
    {"kind::mxf4nvf4.block_scale.scale_vec::4X", "sm100_mxf4nvf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 4, FPO_UE4M3},
    {"kind::mxf4nvf4.block_scale.block16", "sm100_mxf4nvf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 4, FPO_UE8M0},
};

typedef struct form {
    int m, n;
    layout a, b;
    bool ws, tmem, accumulate, f16, negate_a, negate_b, leave_out;
    bool pair;
    int id_a, id_b; /* of scales */
    uint64_t seed;
} form;

typedef struct codes {
    uint32_t a[MOST_N][64], b[MOST_N][64];
    uint8_t sa[MOST_N][4], sb[MOST_N][4];
} codes;

static uint32_t random_code(fpo_format format, uint64_t stream, uint64_t index)
{
    uint32_t word = random_word(stream, index);
    if (format == FPO_F32 && index % 16 != 0) /* exponents near 1, or anything now and then */
        return (word & 0x807FFFFF) | (120 + (word >> 24) % 16) << 23;
    return word & fpo_format_describe(format)->code_mask;
}

static void fill_codes(codes *c, const instruction *ins, uint64_t stream)
{
    for (int r = 0; r < MOST_N; r++) {
        for (int k = 0; k < ins->k; k++) {
            uint64_t index = (uint64_t)(r * 64 + k);
            c->a[r][k] = random_code(ins->a, stream, index);
            c->b[r][k] = random_code(ins->b, stream + 1, index);
        }
        for (int i = 0; i < 4; i++) {
            uint32_t word = random_word(stream + 2, (uint64_t)(r * 4 + i)), near = ins->scale == FPO_UE8M0 ? 120 : 0x30;
            c->sa[r][i] = (uint8_t)(r % 16 == 0 ? word : near + word % 12);
            c->sb[r][i] = (uint8_t)(r % 16 == 1 ? word >> 8 : near + (word >> 8) % 12);
        }
    }
}

/* With K = 32, elements of 4 and 6 bits lie packed in the low bytes of 16. */
static void put(uint8_t *image, const layout *l, fpo_format format, int k_of_instruction, uint32_t row, uint32_t k,
                uint32_t code)
{
    uint32_t bits = fpo_format_describe(format)->bits;
    if (!l->k_contiguous) {
        memcpy(image + mn_major(l, bits / 8, row, k), &code, bits / 8);
        return;
    }
    uint32_t bit = bits < 8 && k_of_instruction == 32 ? k / 16 * 128 + k % 16 * bits : k * bits;
    for (uint32_t i = 0; i < bits; i++) {
        uint8_t *byte = image + k_major(l, row, (bit + i) / 8);
        *byte = (uint8_t)((*byte & ~(1u << (bit + i) % 8)) | (code >> i & 1) << (bit + i) % 8);
    }
}

/* Where D's (m, n) lies: PTX figures of layouts D, F (M = 64), E and G (.ws with 64 and 32); A and B of pairs. */
static void place_of_d(const form *f, int m, int n, int *cta, int *lane, int *column)
{
    *cta = f->pair ? m / (f->m / 2) : 0;
    if (f->pair)
        m %= f->m / 2;
    *lane = m;
    *column = n;
    if (f->pair && f->m == 128 && n >= f->n / 2) {
        *lane = m + 64;
        *column = n - f->n / 2;
    }
    if (f->m == 64 && !f->ws)
        *lane = m % 16 + 32 * (m / 16);
    if (f->m == 64 && f->ws) {
        *lane = m + (n >= f->n / 2 ? 64 : 0);
        *column = n % (f->n / 2);
    }
    if (f->m == 32) {
        *lane = m + 32 * (n / (f->n / 4));
        *column = n % (f->n / 4);
    }
}

static void put_tmem_a(state *s, const instruction *ins, const form *f, int row, int k, uint32_t code)
{
    int bits = ins->k == 32 ? 8 : fpo_format_describe(ins->a)->bits, lane = row;
    uint32_t *word = &s->tmem[A_COLUMN + k * bits / 32][0], shift = (uint32_t)(k * bits % 32);
    if (f->m == 64 && !f->ws)
        lane = row % 16 + 32 * (row / 16);
    uint32_t mask = bits == 32 ? UINT32_MAX : ((1u << bits) - 1) << shift;
    word[lane] = (word[lane] & ~mask) | (ins->a == FPO_E2M1 && bits == 8 ? code << 2 : code) << shift;
}

/* Scales of B lie in every CTA; with a pair and M = 128, those of the second half of the rows in the upper lanes. */
static void put_b_scales(state *s, const codes *c, const form *f)
{
    bool halves = f->pair && f->m == 128;
    for (int r = 0; r < f->n; r++) {
        int half = halves ? f->n / 2 : f->n, upper = r / half;
        for (int p = 0; p < 4; p++)
            if (!halves || p / 2 == upper)
                memcpy(&s->tmem[SCALES_COLUMN + 4 + r % half / 32][32 * p + r % half % 32], c->sb[r], 4);
    }
}

/* What a CTA has: its rows of A, and half of B's with a pair. */
static void prepare(state *s, const codes *c, const instruction *ins, const form *f, int cta)
{
    int rows = f->pair ? f->m / 2 : f->m, columns = f->pair ? f->n / 2 : f->n;
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < ins->k; k++) {
            uint32_t code = c->a[cta * rows + r][k];
            if (f->tmem)
                put_tmem_a(s, ins, f, r, k, code);
            else
                put(s->image, &f->a, ins->a, ins->k, (uint32_t)r, (uint32_t)k, code);
        }
        for (int p = 0; p < 4 && ins->scales > 0; p++)
            memcpy(&s->tmem[SCALES_COLUMN + r / 32][32 * p + r % 32], c->sa[cta * rows + r], 4);
    }
    for (int r = 0; r < columns; r++)
        for (int k = 0; k < ins->k; k++)
            put(s->image + B_AT, &f->b, ins->b, ins->k, (uint32_t)r, (uint32_t)k, c->b[cta * columns + r][k]);
    if (ins->scales > 0)
        put_b_scales(s, c, f);
}

static uint32_t expected(const codes *c, const instruction *ins, const form *f, int m, int n, uint32_t word)
{
    union {
        uint8_t small[64];
        uint16_t half[64];
        uint32_t word[64];
    } a, b;
    uint8_t sa[4], sb[4];
    uint32_t sign_a = f->negate_a ? 1u << (fpo_format_describe(ins->a)->bits - 1) : 0,
             sign_b = f->negate_b ? 1u << (fpo_format_describe(ins->b)->bits - 1) : 0;
    for (int k = 0; k < ins->k; k++) {
        uint32_t x = c->a[m][k] ^ sign_a, y = c->b[n][k] ^ sign_b;
        if (ins->k == 8) {
            a.word[k] = x;
            b.word[k] = y;
        } else if (ins->k == 16) {
            a.half[k] = (uint16_t)x;
            b.half[k] = (uint16_t)y;
        } else {
            a.small[k] = (uint8_t)x;
            b.small[k] = (uint8_t)y;
        }
    }
    uint8_t mask = ins->scale == FPO_UE4M3 ? 0x7F : 0xFF;
    for (int i = 0; i < ins->scales; i++) {
        sa[i] = c->sa[m][f->id_a + i] & mask;
        sb[i] = c->sb[n][f->id_b + i] & mask;
    }
    fpo_step_operands operands = {.a_element = ins->a, .b_element = ins->b, .a = &a, .b = &b};
    if (ins->scales > 0) {
        operands.a_scale = operands.b_scale = ins->scale;
        operands.block_k = ins->k / ins->scales;
        operands.sa = sa;
        operands.sb = sb;
    }
    const fpo_model *model = fpo_model_by_name(ins->model);
    uint32_t accumulator = f->accumulate ? word : 0;
    return fpo_step_run(&model->accumulation.step, &operands, f->f16 ? accumulator & 0xFFFF : accumulator);
}

static uint32_t descriptor(const instruction *ins, const form *f)
{
    uint32_t id = ins->a_code << 7 | ins->b_code << 10 | (uint32_t)f->negate_a << 13 | (uint32_t)f->negate_b << 14 |
                  (uint32_t)!f->a.k_contiguous << 15 | (uint32_t)!f->b.k_contiguous << 16 | (uint32_t)f->n / 8 << 17 |
                  (uint32_t)f->m / 16 << 24;
    if (ins->scales == 0)
        return id | (f->f16 ? 0u : 1u) << 4;
    return id | (uint32_t)f->id_b << 4 | (ins->scale == FPO_UE8M0 ? 1u : 0u) << 23 | (uint32_t)f->id_a << 29;
}

static void body_of(const instruction *ins, const form *f, char *body, size_t size)
{
    char scales[64] = "", lanes[64] = "";
    if (ins->scales > 0)
        snprintf(scales, sizeof scales, ", [r25], [r26]");
    if (f->leave_out)
        snprintf(lanes, sizeof lanes, ", {r30, r31, r32, r33}");
    snprintf(
        body, size,
        "add.s64 d3, d3, d10; add.s64 d4, d4, d10;\nadd.u32 r24, r10, %d; add.u32 r25, r10, %d; add.u32 r26, r10, %d;\n"
        "mov.u32 r30, 0x80000001; mov.u32 r31, 0; mov.u32 r32, 0xFFFF0000; mov.u32 r33, 2; mov.u16 h1, 3;\n"
        "setp.eq.and.u32 p6, r16, 0, p3;\n@p6 tcgen05.mma%s.cta_group::%s.%s [r10], %s, d4, r5%s%s, p1;\n%s",
        A_COLUMN, SCALES_COLUMN, SCALES_COLUMN + 4, f->ws ? ".ws" : "", f->pair ? "2" : "1", ins->opcode,
        f->tmem ? "[r24]" : "d3", scales, lanes,
        f->pair ? "@p6 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                  "[r3], h1;\n" WAIT
                : COMMIT);
}

static bool is_left_out(const form *f, int lane)
{
    static const uint32_t words[] = {0x80000001, 0, 0xFFFF0000, 2};
    return f->leave_out && (words[lane / 32] >> (lane % 32) & 1) != 0;
}

static void check_mma(const instruction *ins, const form *f)
{
    static codes c;
    static char body[4096];
    int ctas = f->pair ? 2 : 1;
    state *s = new_states((uint64_t)(f->m * f->n), ctas), *before = malloc((size_t)ctas * sizeof *before);
    fill_codes(&c, ins, (uint64_t)(ins->a_code + 16 * ins->b_code));
    for (int cta = 0; cta < ctas; cta++)
        prepare(&s[cta], &c, ins, f, cta);
    memcpy(before, s, (size_t)ctas * sizeof *s);
    body_of(ins, f, body, sizeof body);
    must_run(s, &(arguments){.body = body,
                             .a = descriptor_of(&f->a, 0),
                             .b = descriptor_of(&f->b, B_AT),
                             .id = descriptor(ins, f),
                             .keep = f->accumulate,
                             .seed = f->seed,
                             .pair = f->pair});
    for (int m = 0; m < f->m; m++) {
        for (int n = 0; n < f->n; n++) {
            int cta, lane, column;
            place_of_d(f, m, n, &cta, &lane, &column);
            uint32_t *word = &before[cta].tmem[column][lane], want = expected(&c, ins, f, m, n, *word);
            *word = is_left_out(f, lane) ? *word : want;
        }
    }
    for (int i = 0; i < ctas * COLUMNS * LANES; i++) {
        int cta = i / (COLUMNS * LANES), column = i / LANES % COLUMNS, lane = i % LANES;
        uint32_t got = s[cta].tmem[column][lane], want = before[cta].tmem[column][lane];
        if (got != want) /* asserting is slow */
            ck_abort_msg("%s, M %d, N %d%s%s: CTA %d, lane %d, column %d has 0x%08x, not 0x%08x", ins->opcode, f->m,
                         f->n, f->ws ? ", ws" : "", f->pair ? ", pair" : "", cta, lane, column, got, want);
    }
    free(before);
    free(s);
}

/* 32 bytes of K: the whole of a narrow atom, or the first part of a wide one. */
static layout contiguous(int swizzle)
{
    return (layout){swizzle, true, 4096, 8 * (16u << swizzle)};
}

static layout across(int swizzle, int rows, int width)
{
    uint32_t atom = 8 * (16u << swizzle), chunks = (uint32_t)(rows * width) / (16u << swizzle);
    if (swizzle == 0)
        return (layout){0, false, chunks * 128, 128};
    return (layout){swizzle, false, atom, atom * chunks};
}

START_TEST(plain_kinds)
{
    const instruction *ins = &plain[_i];
    for (int swizzle = 0; swizzle < 4; swizzle++) {
        check_mma(
            ins,
            &(form){.m = 128, .n = 32, .a = contiguous(swizzle), .b = contiguous(3 - swizzle), .accumulate = true});
        check_mma(
            ins,
            &(form){.m = 64, .n = 24, .a = contiguous(swizzle), .b = contiguous(swizzle), .accumulate = swizzle & 1});
    }
    check_mma(ins, &(form){.m = 128,
                           .n = 256,
                           .a = contiguous(3),
                           .b = contiguous(3),
                           .negate_a = true,
                           .accumulate = true,
                           .seed = 3});
    check_mma(ins,
              &(form){.m = 64, .n = 48, .a = contiguous(3), .b = contiguous(2), .negate_b = true, .leave_out = true});
    check_mma(ins, &(form){.m = 128,
                           .n = 16,
                           .a = contiguous(3),
                           .b = contiguous(3),
                           .tmem = true,
                           .accumulate = true,
                           .leave_out = true});
    check_mma(ins, &(form){.m = 64, .n = 16, .a = contiguous(3), .b = contiguous(3), .tmem = true});
}
END_TEST

START_TEST(weight_stationary)
{
    const instruction *ins = &plain[_i];
    for (int m = 32; m <= 128; m *= 2)
        check_mma(ins,
                  &(form){.m = m, .n = 64, .a = contiguous(3), .b = contiguous(1), .ws = true, .accumulate = true});
}
END_TEST

START_TEST(transposed_operands)
{
    static const struct {
        int instruction, width;
    } cases[] = {{0, 2}, {1, 2}, {3, 1}};
    for (int i = 0; i < 3; i++)
        for (int swizzle = 0; swizzle < 4; swizzle++)
            check_mma(&plain[cases[i].instruction], &(form){.m = 128,
                                                            .n = 128,
                                                            .a = across(swizzle, 128, cases[i].width),
                                                            .b = across(3 - swizzle, 128, cases[i].width),
                                                            .accumulate = true});
}
END_TEST

START_TEST(half_precision_accumulators)
{
    instruction f16 = plain[0], f8 = plain[3];
    f16.model = "sm100_f16_f16acc";
    f8.model = "sm100_f8f6f4_f16acc";
    form f = {.m = 128, .n = 32, .a = contiguous(3), .b = contiguous(3), .accumulate = true, .f16 = true};
    check_mma(&f16, &f);
    check_mma(&f8, &f);
}
END_TEST

START_TEST(scaled_kinds)
{
    const instruction *ins = &scaled[_i];
    for (int id = 0; id + ins->scales <= 4; id += ins->scales)
        check_mma(ins, &(form){.m = 128,
                               .n = 24,
                               .a = contiguous(3),
                               .b = contiguous(2),
                               .accumulate = true,
                               .id_a = id,
                               .id_b = 4 - ins->scales - id});
    check_mma(ins, &(form){.m = 128, .n = 256, .a = contiguous(3), .b = contiguous(3), .accumulate = true, .seed = 9});
    check_mma(ins, &(form){.m = 128, .n = 8, .a = contiguous(1), .b = contiguous(0), .tmem = true});
    if (ins->k == 32)
        check_mma(ins, &(form){.m = 128, .n = 16, .a = contiguous(3), .b = contiguous(3), .negate_a = true});
}
END_TEST

/* One instruction over two CTAs. */
START_TEST(pairs_of_ctas)
{
    const instruction *ins = _i < 3 ? &plain[2 * _i] : &scaled[2 * (_i - 3)];
    for (int m = 128; m <= 256; m *= 2)
        for (int n = 32; n <= 256; n += 224)
            check_mma(ins, &(form){.m = m,
                                   .n = n,
                                   .a = contiguous(3),
                                   .b = contiguous(2),
                                   .accumulate = true,
                                   .pair = true,
                                   .seed = (uint64_t)(n == 32)});
}
END_TEST

/* ---- cp and shift ---- */

typedef struct copy_shape {
    const char *text;
    int rows, words;
    int partition[4][2]; /* rows [partition[p][0], +32) go to lanes 32 p; -1: none */
} copy_shape;

static const copy_shape copies[] = {{"128x256b", 128, 8, {{0, 0}, {32, 0}, {64, 0}, {96, 0}}},
                                    {"128x128b", 128, 4, {{0, 0}, {32, 0}, {64, 0}, {96, 0}}},
                                    {"32x128b.warpx4", 32, 4, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}},
                                    {"64x128b.warpx2::02_13", 64, 4, {{0, 0}, {32, 0}, {0, 0}, {32, 0}}},
                                    {"64x128b.warpx2::01_23", 64, 4, {{0, 0}, {0, 0}, {32, 0}, {32, 0}}}};

START_TEST(copies_from_shared_memory)
{
    const copy_shape *shape = &copies[_i];
    for (int swizzle = 0; swizzle < 4; swizzle += 3) {
        layout l = contiguous(swizzle);
        char body[1024];
        snprintf(body, sizeof body,
                 "add.s64 d3, d3, d10;\n"
                 "@p3 tcgen05.cp.cta_group::1.%s [r10+7], d3;\n" COMMIT,
                 shape->text);
        state *s = new_state(11), *before = malloc(sizeof *before);
        memcpy(before, s, sizeof *s);
        must_run(s, &(arguments){.body = body, .a = descriptor_of(&l, 0), .seed = (uint64_t)swizzle});
        for (int lane = 0; lane < LANES; lane++)
            for (int w = 0; w < shape->words; w++)
                memcpy(&before->tmem[7 + w][lane],
                       s->image +
                           k_major(&l, (uint32_t)(shape->partition[lane / 32][0] + lane % 32), (uint32_t)(4 * w)),
                       4);
        ck_assert_msg(memcmp(s->tmem, before->tmem, sizeof s->tmem) == 0, "%s, swizzle %d", shape->text, swizzle);
        free(before);
        free(s);
    }
}
END_TEST

START_TEST(copies_of_four_lanes_and_shifts)
{
    layout l = contiguous(0);
    state *s = new_state(12), *before = malloc(sizeof *before);
    memcpy(before, s, sizeof *s);
    must_run(s, &(arguments){.body = "add.s64 d3, d3, d10;\n"
                                     "add.u32 r20, r10, 0x1C0000;\n" /* lane 28 */
                                     "@p3 tcgen05.cp.cta_group::1.4x256b [r20+9], d3;\n"
                                     "add.u32 r21, r10, 0x400000;\n" /* lane 64 */
                                     "@p3 tcgen05.shift.cta_group::1.down [r21+16];\n" COMMIT,
                             .a = descriptor_of(&l, 0)});
    for (int row = 0; row < 4; row++)
        for (int w = 0; w < 8; w++)
            memcpy(&before->tmem[9 + w][28 + 32 * row], s->image + k_major(&l, (uint32_t)row, (uint32_t)(4 * w)), 4);
    for (int column = 16; column < 24; column++)
        for (int lane = 64; lane < 95; lane++)
            before->tmem[column][lane] = before->tmem[column][lane + 1];
    ck_assert_int_eq(memcmp(s->tmem, before->tmem, sizeof s->tmem), 0);
    free(before);
    free(s);
}
END_TEST

/* Packed elements become bytes on their way: the A of kind::f8f6f4 in tensor memory. */
START_TEST(copies_that_unpack)
{
    static const struct {
        const char *text;
        int bits, shift;
    } cases[] = {{"b8x16.b4x16_p64", 4, 2}, {"b8x16.b6x16_p32", 6, 0}};
    layout l = contiguous(3);
    char body[1024];
    snprintf(body, sizeof body,
             "add.s64 d3, d3, d10;\n"
             "@p3 tcgen05.cp.cta_group::1.128x256b.%s [r10+32], d3;\n" COMMIT,
             cases[_i].text);
    state *s = new_state(13);
    must_run(s, &(arguments){.body = body, .a = descriptor_of(&l, 0)});
    for (uint32_t lane = 0; lane < LANES; lane++) {
        for (uint32_t e = 0; e < 32; e++) {
            uint32_t bits = (uint32_t)cases[_i].bits, code = 0;
            for (uint32_t i = 0; i < bits; i++) {
                uint32_t bit = e % 16 * bits + i;
                code |= (uint32_t)(s->image[k_major(&l, lane, 16 * (e / 16) + bit / 8)] >> bit % 8 & 1) << i;
            }
            if ((s->tmem[32 + e / 4][lane] >> (8 * (e % 4)) & 255) != code << cases[_i].shift)
                ck_abort_msg("%s: lane %u, element %u", cases[_i].text, lane, e);
        }
    }
    free(s);
}
END_TEST

/* ---- what is refused ---- */

static void refuse(const arguments *x, const char *what)
{
    char message[FPO_MESSAGE_SIZE];
    state *s = new_state(14);
    fpo_status status = run(s, x, message);
    ck_assert_msg(status != FPO_OK && strstr(message, what) != NULL, "'%s' expected, got: %s", what, message);
    free(s);
}

START_TEST(refusals)
{
    static char body[4096];
    form f = {.m = 128, .n = 32, .a = contiguous(3), .b = contiguous(3)};
    uint64_t a = descriptor_of(&f.a, 0), b = descriptor_of(&f.b, B_AT);
    uint32_t id = descriptor(&plain[3], &f);
    body_of(&plain[3], &f, body, sizeof body);
    static const struct {
        uint32_t flip;
        const char *what;
    } fields[] = {{1, "sparsity (bits 0-2)"},        {1u << 3, "saturation (bit 3)"}, {1u << 6, "reserved bits"},
                  {2u << 7, "type of A (bits 7-9)"}, {1u << 23, "reserved bits"},     {1u << 30, "maximum shift"},
                  {1u << 24, "M (bits 24-28)"},      {5u << 17, "N (bits 17-22)"},    {3u << 4, "accumulator type"}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        refuse(&(arguments){.body = body, .a = a, .b = b, .id = id ^ fields[i].flip}, fields[i].what);
    refuse(&(arguments){.body = body, .a = a ^ (uint64_t)1 << 46, .b = b, .id = id}, "constant in bits 46-48");
    refuse(&(arguments){.body = body, .a = a, .b = b ^ (uint64_t)1 << 61, .id = id}, "swizzle (bits 61-63)");
    refuse(&(arguments){.body = body, .a = a ^ (uint64_t)1 << 49, .b = b, .id = id}, "base offset");
    refuse(&(arguments){.body = body, .a = a ^ (uint64_t)1 << 55, .b = b, .id = id}, "reserved bits");
    form s = {.m = 128, .n = 32, .a = contiguous(3), .b = contiguous(3)};
    body_of(&scaled[2], &s, body, sizeof body);
    id = descriptor(&scaled[2], &s);
    refuse(&(arguments){.body = body, .a = a, .b = b, .id = id ^ 1u << 31}, "K (bit 31)");
    refuse(&(arguments){.body = body, .a = a, .b = b, .id = id ^ 1u << 4}, "scale id");
    refuse(&(arguments){.body = body, .a = a, .b = b, .id = id ^ 1u << 23}, "scale type (bit 23)");
    refuse(&(arguments){.body = "add.u32 r20, r10, 0x600000;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {v0}, [r20];\n"},
           "lane 96 of tensor memory");
    refuse(&(arguments){.body = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {v0, v1}, [r12+511];\n"}, "columns 511 to 512");
    refuse(&(arguments){.body = "@p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 r10, 512;\nbar.sync 0;\n"},
           "column 0 of tensor memory is not allocated");
    refuse(&(arguments){.body = "@p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [r2], 32;\n"},
           "given up its right to allocate");
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_tcgen05");
    TCase *tests = tcase_create("tcgen05");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, fragments_of_registers, 0, 4);
    tcase_add_test(tests, fragments_in_two_halves);
    tcase_add_loop_test(tests, plain_kinds, 0, sizeof plain / sizeof *plain);
    tcase_add_loop_test(tests, weight_stationary, 0, sizeof plain / sizeof *plain);
    tcase_add_test(tests, transposed_operands);
    tcase_add_test(tests, half_precision_accumulators);
    tcase_add_loop_test(tests, scaled_kinds, 0, sizeof scaled / sizeof *scaled);
    tcase_add_loop_test(tests, pairs_of_ctas, 0, 6);
    tcase_add_loop_test(tests, copies_from_shared_memory, 0, sizeof copies / sizeof *copies);
    tcase_add_test(tests, copies_of_four_lanes_and_shifts);
    tcase_add_loop_test(tests, copies_that_unpack, 0, 2);
    tcase_add_test(tests, refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
