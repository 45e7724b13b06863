/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Opens the recorded instructions: see h200.h. */
#include "h200.h"

#include "assertions.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fpo_h200_open(fpo_h200 *h200, uint64_t seed)
{
    fpo_error error = {FPO_OK, ""};
    void *text = NULL;
    size_t size = 0;
    *h200 = (fpo_h200){0};
    ck_assert_msg(fpo_recorded_open("h200/ptx.safetensors", &h200->recorded, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_read_zstd(FPO_SOURCE_DIR "/tests/data/h200/ptx.json.zst", &text, &size, &error) == FPO_OK, "%s",
                  error.message);
    h200->json = json_loadb(text, size, 0, NULL);
    ck_assert_ptr_nonnull(h200->json);
    free(text);
    ck_assert_msg(fpo_read_zstd(FPO_SOURCE_DIR "/tests/data/h200/ptx.ptx.zst", &text, &size, &error) == FPO_OK, "%s",
                  error.message);
    fpo_vgpu_config config = {.capability = 90, .multiprocessors = 4, .seed = seed};
    ck_assert_int_eq(fpo_vgpu_new(&config, &h200->gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(h200->gpu, text, size, &h200->module, &error) == FPO_OK, "%s", error.message);
    free(text);
}

void fpo_h200_close(fpo_h200 *h200)
{
    fpo_vgpu_free(h200->gpu);
    json_decref(h200->json);
    fpo_recorded_close(&h200->recorded);
}

const fpo_tensor *fpo_h200_find(const fpo_h200 *h200, const char *format, ...)
{
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return fpo_safetensors_find(h200->recorded.file, name);
}

void *fpo_h200_upload(fpo_h200 *h200, const void *bytes, size_t size)
{
    void *memory = fpo_vgpu_allocate(h200->gpu, size);
    ck_assert_ptr_nonnull(memory);
    memcpy(memory, bytes, size);
    return memory;
}

fpo_status fpo_h200_run(fpo_h200 *h200, const char *kernel, uint32_t grid, uint32_t block, const void *const *arguments,
                        fpo_error *error)
{
    fpo_vgpu_function *function;
    fpo_status status = fpo_vgpu_get_function(h200->module, kernel, &function, error);
    if (status != FPO_OK)
        return status;
    fpo_vgpu_launch launch = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .arguments = arguments};
    return fpo_vgpu_run(function, &launch, NULL, error);
}

/* FIPS 180-4. */
static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void sha256_block(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_k[i] + w[i];
        uint32_t t2 =
            (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(&s[1], &s[0], 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

void fpo_sha256(const void *bytes, size_t size, uint8_t digest[32])
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *p = bytes;
    size_t left = size;
    for (; left >= 64; left -= 64, p += 64)
        sha256_block(h, p);
    uint8_t last[128] = {0};
    memcpy(last, p, left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        last[end - 1 - (size_t)i] = (uint8_t)((uint64_t)size * 8 >> (8 * i));
    for (size_t at = 0; at < end; at += 64)
        sha256_block(h, last + at);
    for (int i = 0; i < 32; i++)
        digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
