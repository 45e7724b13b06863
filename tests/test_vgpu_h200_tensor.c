/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual GPU against an H200: tensor maps, tensor loads (every swizzle, narrow boxes, fills) and tensor stores. */
#include "h200.h"
#include "suite.h"
#include "tensor_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP = 4096, TENSOR = 1 << 16, CASES = 7, STORE_TENSOR = 40960 };

static uint64_t word_at(const fpo_tensor *t, size_t index)
{
    uint64_t word;
    memcpy(&word, (const uint8_t *)t->data + 8 * index, sizeof word);
    return word;
}

static uint32_t half_word_at(const fpo_tensor *t, size_t index)
{
    uint32_t word;
    memcpy(&word, (const uint8_t *)t->data + 4 * index, sizeof word);
    return word;
}

/* Every recorded call: the same answer, and the same 128 bytes where the driver accepted it. */
START_TEST(encoding)
{
    enum { COLUMNS = 27, RC = 26 };
    fpo_h200 h200;
    fpo_h200_open(&h200, 0);
    const fpo_tensor *arguments = fpo_h200_find(&h200, "encode/args_u64"),
                     *maps = fpo_h200_find(&h200, "encode/map_u64");
    size_t accepted = 0, wrong_answers = 0, wrong_bytes = 0;
    for (size_t i = 0; i < (size_t)arguments->shape[0]; i++) {
        uint64_t a[COLUMNS];
        for (size_t k = 0; k < COLUMNS; k++)
            a[k] = word_at(arguments, i * COLUMNS + k);
        fpo_tensor_request r = {.type = (uint32_t)a[0], .rank = (uint32_t)a[1], .address = a[2]};
        for (int d = 0; d < FPO_BOX_RANK; d++) {
            r.dim[d] = a[3 + d];
            r.box[d] = (uint32_t)a[12 + d];
            r.element_stride[d] = (uint32_t)a[17 + d];
            if (d < 4)
                r.stride[d] = a[8 + d];
        }
        r.interleave = (uint32_t)a[22];
        r.swizzle = (uint32_t)a[23];
        r.l2_promotion = (uint32_t)a[24];
        r.fill = (uint32_t)a[25];
        uint8_t map[FPO_TENSOR_MAP_BYTES];
        bool ok = fpo_tensor_map_encode(&r, 90, map);
        if (ok != (a[RC] == 0)) {
            if (wrong_answers++ < 5)
                printf("call %zu: type %u rank %u swizzle %u box %u dim %llu: the driver answered %llu\n", i, r.type,
                       r.rank, r.swizzle, r.box[0], (unsigned long long)r.dim[0], (unsigned long long)a[RC]);
        } else if (ok) {
            accepted++;
            wrong_bytes += memcmp(map, (const uint8_t *)maps->data + 128 * i, sizeof map) != 0;
        }
    }
    printf("encode: %zu accepted, %zu wrong answers, %zu wrong maps\n", accepted, wrong_answers, wrong_bytes);
    ck_assert_uint_eq(wrong_bytes, 0);
    ck_assert_uint_eq(wrong_answers, 0);
    fpo_h200_close(&h200);
}
END_TEST

/* The recording's generator, which filled the tensors: xorshift seeded by the case's name. */
static uint64_t generator;

static uint32_t next_random(void)
{
    generator ^= generator << 13;
    generator ^= generator >> 7;
    generator ^= generator << 17;
    return (uint32_t)(generator >> 16);
}

static void seed_by_name(const char *name)
{
    uint64_t hash = 1469598103934665603u;
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 1099511628211u;
    generator = (UINT64_C(0x9E3779B97F4A7C15) * (hash % 1000003 + 1)) | 1;
    for (int i = 0; i < 8; i++)
        next_random();
}

static void encode_case(const uint32_t *d, uint32_t rank, const uint8_t *tensor, uint8_t map[FPO_TENSOR_MAP_BYTES])
{
    fpo_tensor_request r = {
        .type = d[2], .rank = rank, .address = (uint64_t)(uintptr_t)tensor, .swizzle = d[0], .fill = d[3]};
    const uint64_t dim[] = {d[9], 20, 5, 2}, stride[] = {d[10], d[10] * 20, d[10] * 100};
    const uint32_t box[] = {d[8], rank == 4 ? 4 : 9, rank == 4 ? 2 : 3, 2};
    for (uint32_t i = 0; i < rank; i++) {
        r.dim[i] = dim[i];
        r.box[i] = box[i];
        r.element_stride[i] = 1;
        if (i > 0)
            r.stride[i - 1] = stride[i - 1];
    }
    ck_assert(fpo_tensor_map_encode(&r, 90, map));
}

/* _i: rank; the seed delays the copy. */
static void loads(uint32_t rank, uint64_t seed)
{
    static const char *const kernels[] = {"k525", "k526", "k527"};
    fpo_h200 h200;
    fpo_h200_open(&h200, seed);
    const fpo_tensor *descriptions = fpo_h200_find(&h200, "tma%u/desc", rank);
    const fpo_tensor *digests = fpo_h200_find(&h200, "tma%u/sha256_of_4096B_dump", rank);
    const fpo_tensor *start = fpo_h200_find(&h200, "tma%u/tensor", rank);
    ck_assert(descriptions != NULL && digests != NULL && start != NULL);
    char name[32];
    snprintf(name, sizeof name, "cp.async.bulk.tensor.%ud", rank);
    uint8_t *tensor = fpo_vgpu_allocate(h200.gpu, TENSOR), *dump = fpo_vgpu_allocate(h200.gpu, 2 * DUMP);
    uint8_t *map = fpo_vgpu_allocate(h200.gpu, FPO_TENSOR_MAP_BYTES);
    seed_by_name(name);
    for (int i = 0; i < TENSOR; i++)
        tensor[i] = (uint8_t)next_random();
    ck_assert_msg(memcmp(tensor, start->data, start->bytes) == 0, "the recording's tensor is not made from `%s`", name);
    size_t differences = 0;
    for (size_t i = 0; i < (size_t)descriptions->shape[0]; i++) {
        uint32_t d[11];
        for (size_t k = 0; k < 11; k++)
            d[k] = half_word_at(descriptions, 11 * i + k);
        encode_case(d, rank, tensor, map);
        uint32_t which = i % CASES, bytes = rank == 4 ? d[7] * 16 : d[7] * 9 * (rank == 3 ? 3 : 1), dump_bytes = DUMP;
        uint32_t c3 = which & 1 ? UINT32_MAX : which & 2 ? 1 : 0;
        const void *arguments[] = {&map, &dump, &bytes, &dump_bytes, &d[4], &d[5], &d[6], &c3};
        fpo_error error = {FPO_OK, ""};
        ck_assert_msg(fpo_h200_run(&h200, kernels[rank - 2], 1, 128, arguments, &error) == FPO_OK, "%zu: %s", i,
                      error.message);
        uint8_t digest[32];
        fpo_sha256(dump, DUMP, digest);
        if (memcmp(digest, (const uint8_t *)digests->data + 16 * i, 16) != 0 && differences++ < 5)
            printf("load %zu of rank %u: swizzle %u half %u type %u fill %u at %d %d %d\n", i, rank, d[0], d[1], d[2],
                   d[3], (int)d[4], (int)d[5], (int)d[6]);
    }
    ck_assert_uint_eq(descriptions->shape[0], 336);
    ck_assert_uint_eq(differences, 0);
    fpo_h200_close(&h200);
}

START_TEST(tensor_loads)
{
    loads((uint32_t)_i, 0);
}
END_TEST

START_TEST(delayed_tensor_loads)
{
    loads((uint32_t)_i, 7);
}
END_TEST

/* The store configurations are in the recording program's order: swizzle, narrow box, type, coordinates. */
START_TEST(tensor_stores)
{
    static const uint32_t types[] = {0, 1, 7, 9}, type_bytes[] = {1, 2, 4, 2};
    uint32_t rank = (uint32_t)_i;
    fpo_h200 h200;
    fpo_h200_open(&h200, (uint64_t)rank);
    const fpo_tensor *hashes = fpo_h200_find(&h200, "tmastore%u/fnv64", rank);
    const fpo_tensor *image = fpo_h200_find(&h200, "tmastore%u/image", rank);
    ck_assert(hashes != NULL && image != NULL);
    uint8_t *source = fpo_h200_upload(&h200, image->data, image->bytes);
    uint8_t *tensor = fpo_vgpu_allocate(h200.gpu, STORE_TENSOR),
            *map = fpo_vgpu_allocate(h200.gpu, FPO_TENSOR_MAP_BYTES);
    size_t index = 0, differences = 0;
    for (uint32_t swizzle = 0; swizzle < 4; swizzle++) {
        for (uint32_t half = 0; half < 2; half++) {
            for (int t = 0; t < 4; t++) {
                uint32_t span = swizzle == 0 ? (half ? 48 : 64) : (16u << swizzle) >> half, box = span / type_bytes[t];
                uint32_t dim = box * 2 + box / 2, pitch = (dim * type_bytes[t] + 15) / 16 * 16, q = 16 / type_bytes[t];
                uint32_t d[11] = {swizzle, half, types[t], 0, 0, 0, 0, span, box, dim, pitch};
                const uint32_t at[CASES][3] = {{0, 0, 0},        {box, 7, 1}, {q, 19, 4},
                                               {2 * box, 15, 4}, {q, 3, 2},   {(dim + 10 + q - 1) / q * q, 2, 1},
                                               {0, 21, 1}};
                for (int k = 0; k < CASES; k++, index++) {
                    encode_case(d, rank, tensor, map);
                    memset(tensor, 0x5A, STORE_TENSOR);
                    const void *arguments[] = {&map, &source, &at[k][0], &at[k][1], &at[k][2]};
                    fpo_error error = {FPO_OK, ""};
                    ck_assert_msg(fpo_h200_run(&h200, rank == 2 ? "k528" : "k529", 1, 128, arguments, &error) == FPO_OK,
                                  "%s", error.message);
                    uint64_t hash = 1469598103934665603u;
                    for (int i = 0; i < STORE_TENSOR; i++)
                        hash = (hash ^ tensor[i]) * 1099511628211u;
                    if (hash != word_at(hashes, index) && differences++ < 5)
                        printf("store %zu of rank %u: swizzle %u half %u type %u case %d\n", index, rank, swizzle, half,
                               types[t], k);
                }
            }
        }
    }
    ck_assert_uint_eq(index, 224);
    ck_assert_uint_eq(differences, 0);
    fpo_h200_close(&h200);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_h200_tensor");
    TCase *tests = tcase_create("tensor");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, encoding);
    tcase_add_loop_test(tests, tensor_loads, 2, 5);
    tcase_add_loop_test(tests, delayed_tensor_loads, 2, 5);
    tcase_add_loop_test(tests, tensor_stores, 2, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
