/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The instruction and shared-memory descriptors of tcgen05 are decoded strictly. The fields of both are listed here
 * once more, from PTX 9.7.16.4 (tables 40, 43 and 44), with their legal values; together they cover every bit. Of each
 * field, all values are tried in a valid descriptor: a legal one changes what is decoded, any other is refused with the
 * field's name. Every flip of a single bit is among them. */
#include "matrix_descriptor.h"
#include "suite.h"
#include "tcgen05_case.h"
#include "tmem_instruction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct field {
    int first, count;
    uint64_t legal;   /* values, a bit each; ANY: all of them, however many there are */
    const char *name; /* in the refusal of the others */
} field;

#define ANY UINT64_MAX
#define ONLY(value) ((uint64_t)1 << (value))
/* N / 8 up to 32. */
#define EVERY_8 0x1FFFFFFFEu
#define EVERY_16 0x155555554u
#define EVERY_32 0x111111110u
#define FIVE_TYPES 0x3Bu /* 0, 1, 3, 4, 5 */

#define ELEMENTS(legal)                                                                                                \
    {7, 3, legal, "type of A (bits 7-9)"},                                                                             \
    {                                                                                                                  \
        10, 3, legal, "type of B (bits 10-12)"                                                                         \
    }
#define ORDER(legal)                                                                                                   \
    {15, 1, legal, "transposition (bits 15-16)"},                                                                      \
    {                                                                                                                  \
        16, 1, legal, "transposition (bits 15-16)"                                                                     \
    }
#define SIGNS                                                                                                          \
    {13, 1, ANY, ""},                                                                                                  \
    {                                                                                                                  \
        14, 1, ANY, ""                                                                                                 \
    }
#define SHAPE(n, m)                                                                                                    \
    {17, 6, n, "N (bits 17-22)"},                                                                                      \
    {                                                                                                                  \
        24, 5, m, "M (bits 24-28)"                                                                                     \
    }
#define PLAIN_REST(accumulators)                                                                                       \
    {0, 3, ONLY(0), "sparsity (bits 0-2)"}, {3, 1, ONLY(0), "saturation (bit 3)"},                                     \
        {4, 2, accumulators, "accumulator type (bits 4-5)"}, {6, 1, ONLY(0), "reserved bits (6, 23, 29)"},             \
        {23, 1, ONLY(0), "reserved bits (6, 23, 29)"}, {29, 1, ONLY(0), "reserved bits (6, 23, 29)"},                  \
    {                                                                                                                  \
        30, 2, ONLY(0), "maximum shift (bits 30-31)"                                                                   \
    }
#define SCALED_REST(ids, types, last)                                                                                  \
    {0, 3, ONLY(0), "sparsity (bits 0-2)"}, {3, 1, ONLY(0), "reserved bits (3, 6"},                                    \
        {4, 2, ids, "scale id (bits 4-5, 29-30)"}, {6, 1, ONLY(0), "reserved bits (3, 6"},                             \
        {23, 1, types, "scale type (bit 23)"}, {29, 2, ids, "scale id (bits 4-5, 29-30)"},                             \
    {                                                                                                                  \
        31, 1, ONLY(0), last                                                                                           \
    }

typedef struct instruction_case {
    const char *what;
    fpo_ptx_arguments how;
    uint32_t descriptor;
    field fields[16]; /* until one without bits */
} instruction_case;

#define M_N(m, n) ((uint32_t)(m) / 16 << 24 | (uint32_t)(n) / 8 << 17)
#define F32 (1u << 4)
#define UE8M0 (1u << 23)
#define M_ONE (ONLY(4) | ONLY(8))   /* 64, 128 */
#define M_PAIR (ONLY(8) | ONLY(16)) /* 128, 256 */
#define M_WS (ONLY(2) | ONLY(4) | ONLY(8))
#define N_WS (ONLY(8) | ONLY(16) | ONLY(32))

static const instruction_case instructions[] = {
    {"f16",
     {.a = FPO_PTX_V_F16},
     M_N(128, 64) | F32,
     {ELEMENTS(ONLY(0)), SIGNS, ORDER(ANY), SHAPE(EVERY_16, M_ONE), PLAIN_REST(ONLY(0) | ONLY(1))}},
    {"bf16",
     {.a = FPO_PTX_V_F16},
     M_N(64, 64) | F32 | 1u << 7 | 1u << 10,
     {ELEMENTS(ONLY(1)), SIGNS, ORDER(ANY), SHAPE(EVERY_8, M_ONE), PLAIN_REST(ONLY(1))}},
    {"tf32",
     {.a = FPO_PTX_V_TF32},
     M_N(128, 64) | F32 | 2u << 7 | 2u << 10,
     {ELEMENTS(ONLY(2)), SIGNS, ORDER(ANY), SHAPE(EVERY_16, M_ONE), PLAIN_REST(ONLY(1))}},
    {"f8f6f4",
     {.a = FPO_PTX_V_F8F6F4},
     M_N(128, 64) | F32,
     {ELEMENTS(FIVE_TYPES), SIGNS, ORDER(ANY), SHAPE(EVERY_16, M_ONE), PLAIN_REST(ONLY(0) | ONLY(1))}},
    {"f8f6f4 of 4 and 6 bits",
     {.a = FPO_PTX_V_F8F6F4},
     M_N(128, 64) | F32 | 5u << 7 | 3u << 10,
     {ELEMENTS(FIVE_TYPES), SIGNS, ORDER(ONLY(0)), SHAPE(EVERY_16, M_ONE), PLAIN_REST(ONLY(0) | ONLY(1))}},
    {"f8f6f4 of a pair, M = 256",
     {.a = FPO_PTX_V_F8F6F4, .pair = true},
     M_N(256, 64) | F32,
     {ELEMENTS(FIVE_TYPES), SIGNS, ORDER(ANY), SHAPE(EVERY_16, M_PAIR), PLAIN_REST(ONLY(0) | ONLY(1))}},
    {"f8f6f4 of a pair, M = 128",
     {.a = FPO_PTX_V_F8F6F4, .pair = true},
     M_N(128, 64) | F32,
     {ELEMENTS(FIVE_TYPES), SIGNS, ORDER(ANY), SHAPE(EVERY_32, M_PAIR), PLAIN_REST(ONLY(0) | ONLY(1))}},
    {"f8f6f4, weight stationary",
     {.a = FPO_PTX_V_F8F6F4, .ws = true},
     M_N(32, 64) | F32,
     {ELEMENTS(FIVE_TYPES), SIGNS, ORDER(ANY), SHAPE(N_WS, M_WS), PLAIN_REST(ONLY(0) | ONLY(1))}},
    {"mxf8f6f4",
     {.a = FPO_PTX_V_MXF8F6F4, .count = 1},
     M_N(128, 64) | UE8M0,
     {ELEMENTS(FIVE_TYPES), SIGNS, ORDER(ANY), SHAPE(EVERY_8, ONLY(8)),
      SCALED_REST(ANY, ONLY(1), "reserved bits (3, 6, 31)")}},
    {"mxf8f6f4 of a pair",
     {.a = FPO_PTX_V_MXF8F6F4, .count = 1, .pair = true},
     M_N(256, 64) | UE8M0 | 3u << 29,
     {ELEMENTS(FIVE_TYPES), SIGNS, ORDER(ANY), SHAPE(EVERY_16, M_PAIR),
      SCALED_REST(ANY, ONLY(1), "reserved bits (3, 6, 31)")}},
    {"mxf4",
     {.a = FPO_PTX_V_MXF4, .count = 2},
     M_N(128, 64) | UE8M0 | 1u << 7 | 1u << 10,
     {ELEMENTS(ONLY(1)), SIGNS, ORDER(ONLY(0)), SHAPE(EVERY_8, ONLY(8)),
      SCALED_REST(ONLY(0) | ONLY(2), ONLY(1), "K (bit 31)")}},
    {"mxf4nvf4 with two scales",
     {.a = FPO_PTX_V_MXF4NVF4, .count = 2},
     M_N(128, 64) | UE8M0 | 1u << 7 | 1u << 10,
     {ELEMENTS(ONLY(1)), SIGNS, ORDER(ONLY(0)), SHAPE(EVERY_8, ONLY(8)),
      SCALED_REST(ONLY(0) | ONLY(2), ONLY(1), "K (bit 31)")}},
    {"mxf4nvf4 with four scales",
     {.a = FPO_PTX_V_MXF4NVF4, .count = 4},
     M_N(128, 64) | 1u << 7 | 1u << 10,
     {ELEMENTS(ONLY(1)), SIGNS, ORDER(ONLY(0)), SHAPE(EVERY_8, ONLY(8)), SCALED_REST(ONLY(0), ANY, "K (bit 31)")}},
};

static const field matrix_fields[] = {{0, 14, ANY, ""},
                                      {14, 2, ONLY(0), "reserved bits (14-15, 30-31, 53-60)"},
                                      {16, 14, ANY, ""},
                                      {30, 2, ONLY(0), "reserved bits (14-15, 30-31, 53-60)"},
                                      {32, 14, ANY, ""},
                                      {46, 3, ONLY(1), "constant in bits 46-48"},
                                      {49, 3, ONLY(0), "base offset (bits 49-51)"},
                                      {52, 1, ONLY(0), "absolute leading address (bit 52)"},
                                      {53, 8, ONLY(0), "reserved bits (14-15, 30-31, 53-60)"},
                                      {61, 3, ONLY(0) | ONLY(1) | ONLY(2) | ONLY(4) | ONLY(6), "swizzle (bits 61-63)"},
                                      {0}};

/* A decoder's answer for a descriptor: NULL, or the refusal; and all that it decoded. */
typedef const char *decoder(const void *context, uint64_t descriptor, void *decoded, size_t size);

static const char *decode_instruction(const void *context, uint64_t descriptor, void *decoded, size_t size)
{
    fpo_tmem_instruction instruction;
    const instruction_case *c = context;
    memset(&instruction, 0, sizeof instruction);
    const char *problem = fpo_tmem_decode(&c->how, (uint32_t)descriptor, &instruction);
    ck_assert_uint_ge(size, sizeof instruction);
    memcpy(decoded, &instruction, sizeof instruction);
    return problem;
}

static const char *decode_matrix(const void *context, uint64_t descriptor, void *decoded, size_t size)
{
    fpo_matrix matrix;
    (void)context;
    memset(&matrix, 0, sizeof matrix);
    const char *problem = fpo_matrix_of_tcgen05(descriptor, &matrix);
    ck_assert_uint_ge(size, sizeof matrix);
    memcpy(decoded, &matrix, sizeof matrix);
    return problem;
}

/* How many values were refused. */
static int check_field(const char *what, decoder *decode, const void *context, uint64_t valid, const field *f)
{
    uint64_t mask = ((uint64_t)1 << f->count) - 1, own = valid >> f->first & mask;
    uint8_t expected[256] = {0}, decoded[256] = {0};
    int refused = 0;
    ck_assert_ptr_null(decode(context, valid, expected, sizeof expected));
    for (uint64_t value = 0; value <= mask; value++) {
        uint64_t descriptor = (valid & ~(mask << f->first)) | value << f->first;
        const char *problem = decode(context, descriptor, decoded, sizeof decoded);
        bool legal = f->legal == ANY || (value < 64 && (f->legal >> value & 1) != 0);
        if (legal != (problem == NULL))
            ck_abort_msg("%s: 0x%llx in bits %d-%d: %s", what, (unsigned long long)value, f->first,
                         f->first + f->count - 1, problem != NULL ? problem : "taken");
        if (problem != NULL && strstr(problem, f->name) == NULL)
            ck_abort_msg("%s: '%s' expected, got: %s", what, f->name, problem);
        if (legal && (value == own) != (memcmp(decoded, expected, sizeof expected) == 0))
            ck_abort_msg("%s: 0x%llx in bits %d-%d decodes to the same", what, (unsigned long long)value, f->first,
                         f->first + f->count - 1);
        refused += problem != NULL;
    }
    return refused;
}

static int check_fields(const char *what, decoder *decode, const void *context, uint64_t valid, int bits,
                        const field *fields)
{
    uint64_t covered = 0;
    int refused = 0;
    for (const field *f = fields; f->count != 0; f++) {
        uint64_t mask = (((uint64_t)1 << f->count) - 1) << f->first;
        ck_assert_msg((covered & mask) == 0, "%s: bit %d is in two fields", what, f->first);
        covered |= mask;
        refused += check_field(what, decode, context, valid, f);
    }
    ck_assert_msg(covered == (bits == 64 ? UINT64_MAX : UINT32_MAX), "%s: fields cover 0x%llx", what,
                  (unsigned long long)covered);
    return refused;
}

START_TEST(instruction_descriptors)
{
    const instruction_case *c = &instructions[_i];
    ck_assert_int_gt(check_fields(c->what, decode_instruction, c, c->descriptor, 32, c->fields), 60);
}
END_TEST

START_TEST(matrix_descriptors)
{
    layout l = tcgen05_contiguous(3);
    ck_assert_int_eq(check_fields("matrix", decode_matrix, NULL, tcgen05_descriptor(&l, 1024), 64, matrix_fields),
                     2 * 3 + 7 + 7 + 1 + 255 + 3);
}
END_TEST

/* ---- in a kernel ---- */

static void refuse(const arguments *x, const char *what)
{
    char message[FPO_MESSAGE_SIZE];
    state *s = tcgen05_states(14, 1);
    fpo_status status = tcgen05_run(s, x, message);
    ck_assert_msg(status != FPO_OK && strstr(message, what) != NULL, "'%s' expected, got: %s", what, message);
    free(s);
}

#define MMA(kind, scales)                                                                                              \
    "add.s64 d3, d3, d10; add.s64 d4, d4, d10;\nadd.u32 r25, r10, 264; add.u32 r26, r10, 268;\n"                       \
    "@p3 tcgen05.mma.cta_group::1.kind::" kind " [r10], d3, d4, r5" scales ", p1;\n" COMMIT

START_TEST(refused_by_a_kernel)
{
    layout l = tcgen05_contiguous(3);
    uint64_t a = tcgen05_descriptor(&l, 0), b = tcgen05_descriptor(&l, 32 * 1024);
    uint32_t plain = M_N(128, 32) | F32, scaled = M_N(128, 32) | UE8M0 | 1u << 7 | 1u << 10;
    const arguments cases[] = {
        {.body = MMA("f8f6f4", ""), .a = a, .b = b, .id = plain ^ 1u << 2},
        {.body = MMA("f8f6f4", ""), .a = a ^ (uint64_t)1 << 46, .b = b, .id = plain},
        {.body = MMA("f8f6f4", ""), .a = a, .b = b ^ (uint64_t)1 << 61, .id = plain},
        {.body = MMA("f8f6f4", ""), .a = a, .b = (b & ~((uint64_t)7 << 61)) | (uint64_t)1 << 61, .id = plain},
        {.body = MMA("mxf4.block_scale", ", [r25], [r26]"), .a = a, .b = b, .id = scaled ^ 1u << 31},
        {.body = "add.s64 d3, d3, d10;\n@p3 tcgen05.cp.cta_group::1.128x128b [r10], d3;\n" COMMIT,
         .a = a ^ (uint64_t)1 << 49},
    };
    static const char *const words[] = {"instruction descriptor 0x08080014: sparsity (bits 0-2)",
                                        "of A: constant in bits 46-48",
                                        "of B: swizzle (bits 61-63)",
                                        "of B: swizzle of 32-byte units (bits 61-63)",
                                        "K (bit 31)",
                                        "matrix descriptor 0x"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(&cases[i], words[i]);
}
END_TEST

START_TEST(places_that_are_refused)
{
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
    Suite *suite = suite_create("vgpu_tcgen05_descriptors");
    TCase *tests = tcase_create("tcgen05");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, instruction_descriptors, 0, sizeof instructions / sizeof *instructions);
    tcase_add_test(tests, matrix_descriptors);
    tcase_add_test(tests, refused_by_a_kernel);
    tcase_add_test(tests, places_that_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
