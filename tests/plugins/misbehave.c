/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One right kernel (MXFP8, 128x4 scales, multiply-add in order of k) and one for each thing that can go wrong. */
#include <fp4oracle/kernel_plugin.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef enum misdeed {
#define MISDEED(ID, name, sentence) ID,
#include "misdeeds.inc"
#undef MISDEED
    MISDEEDS
} misdeed;

static float e4m3(uint8_t code)
{
    int exponent = code >> 3 & 15, mantissa = code & 7;
    float magnitude = exponent == 0 ? ldexpf((float)mantissa, -9) : ldexpf((float)(mantissa + 8), exponent - 10);
    magnitude = (code & 0x7F) == 0x7F ? NAN : magnitude;
    return (code & 0x80) != 0 ? -magnitude : magnitude;
}

static int64_t scale_offset(int64_t row, int64_t column, int64_t columns)
{
    return (row / 128 * ((columns + 3) / 4) + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

static float ue8m0(const void *scales, int64_t row, int64_t column, int64_t columns)
{
    uint8_t code = ((const uint8_t *)scales)[scale_offset(row, column, columns)];
    return code == 0xFF ? NAN : ldexpf(1.0f, code - 127);
}

static float element(const fpo_kernel_problem *p, const void *b_scale, int64_t m, int64_t n)
{
    int64_t columns = (p->k + 31) / 32;
    float sum = 0;
    for (int64_t k = 0; k < p->k; k++) {
        float a = e4m3(((const uint8_t *)p->a)[m * p->a_line + k]) * ue8m0(p->a_scale, m, k / 32, columns);
        float b = e4m3(((const uint8_t *)p->b)[n * p->b_line + k]) * ue8m0(b_scale, n, k / 32, columns);
        sum = fmaf(a, b, sum);
    }
    return sum;
}

static void store(const fpo_kernel_problem *p, int64_t m, int64_t n, float x)
{
    uint32_t bits = 0x7FFFFFFF;
    if (!isnan(x)) {
        memcpy(&bits, &x, sizeof bits);
    }
    memcpy((uint8_t *)p->d + m * p->d_line + 4 * n, &bits, sizeof bits);
}

/* What takes place before the computation; not FPO_PLUGIN_OK: instead of it. */
static fpo_plugin_status before(misdeed deed, const fpo_kernel_problem *p, char *why)
{
    switch (deed) {
    case CRASHES: *(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1; break;
    case ABORTS: abort();
    case EXITS: exit(5);
    case EXITS_WITH_0: _exit(0);
    case IS_KILLED: kill(getpid(), SIGKILL); break;
    case HANGS:
        for (;;) {
            pause();
        }
    case CLOSES_EVERYTHING:
        for (int i = 0; i < 64; i++) {
            close(i);
        }
        for (;;) {
            pause();
        }
    case SPEAKS:
        puts("a line on standard output\n\033[31mred\033[0m");
        fputs("a line on standard error\n", stderr);
        fflush(stdout);
        break;
    case LAST_WORDS: fputs("kernel: assertion failed: tile_k == 128\n", stderr); abort();
    case RUNS_OUT_OF_MEMORY:
        snprintf(why, FPO_PLUGIN_TEXT, "no 137438953472 bytes on the device");
        return FPO_PLUGIN_OUT_OF_MEMORY;
    case FAILS: snprintf(why, FPO_PLUGIN_TEXT, "launch failed: error 719"); return FPO_PLUGIN_FAILED;
    case FAILS_IN_SILENCE: return FPO_PLUGIN_FAILED;
    case LOSES_THE_DEVICE:
        snprintf(why, FPO_PLUGIN_TEXT, "an illegal memory access was encountered");
        return FPO_PLUGIN_DEVICE_LOST;
    case IS_UNSUPPORTED_AT_LAUNCH:
        snprintf(why, FPO_PLUGIN_TEXT, "no algorithm for %lld columns", (long long)p->n);
        return FPO_PLUGIN_UNSUPPORTED;
    default: break;
    }
    return FPO_PLUGIN_OK;
}

/* What takes place after it. */
static void after(misdeed deed, const fpo_kernel_problem *p)
{
    static int launches;
    int64_t end = (p->m - 1) * p->d_line + 4 * p->n;
    launches++;
    switch (deed) {
    case WRITES_BEFORE: ((uint8_t *)p->d)[-8] = 1; break;
    case WRITES_AFTER: memset((uint8_t *)p->d + end + 16, 1, 32); break;
    case WRITES_BETWEEN_LINES: ((uint8_t *)p->d)[4 * p->n + 4] = 1; break;
    case WRITES_WORKSPACE_END: ((uint8_t *)p->workspace)[p->workspace_bytes] = 1; break;
    case CHANGES_INPUT: ((uint8_t *)(uintptr_t)p->b)[3] ^= 0x80; break;
    case CHANGES_SCALES: ((uint8_t *)(uintptr_t)p->a_scale)[0] ^= 1; break;
    case ONE_BIT_WRONG: ((uint8_t *)p->d)[p->d_line + 8] ^= 1; break;
    case RACES: store(p, 1, 2, (float)launches); break;
    case READS_PADDING: {
        int64_t columns = (p->k + 31) / 32;
        store(p, 0, 1,
              element(p, p->b_scale, 0, 1) + (float)((const uint8_t *)p->a_scale)[scale_offset(p->m, 0, columns)]);
        break;
    }
    case NEEDS_NUMBERS:
    case NEEDS_NUMBERS_IN_SILENCE:
    case NEEDS_ZEROS:
    case NEEDS_ZEROS_TELLS_LESS: {
        int64_t columns = (p->k + 31) / 32;
        uint8_t padding = ((const uint8_t *)p->a_scale)[scale_offset(p->m, 0, columns)];
        int zero_wanted = deed == NEEDS_ZEROS || deed == NEEDS_ZEROS_TELLS_LESS;
        if (zero_wanted ? padding != 0 : padding == 0xFF) {
            store(p, 0, 0, NAN);
        }
        break;
    }
    case READS_BEYOND_A: store(p, 2, 0, (float)((const uint8_t *)p->a)[(p->m - 1) * p->a_line + p->k + 8]); break;
    case READS_WORKSPACE: store(p, 1, 1, (float)((const uint8_t *)p->workspace)[7]); break;
    default: break;
    }
}

static void compute(misdeed deed, const fpo_kernel_problem *p, const void *b_scale)
{
    for (int64_t m = 0; m < p->m; m++) {
        for (int64_t n = 0; n < p->n; n++) {
            int missing = (deed == MISSES_A_TILE && m >= p->m / 2 && n >= p->n / 2) || deed == WRITES_NOTHING;
            float x = element(p, b_scale, m, n);
            if (deed == ADDS_TO_OUTPUT && m == 1) {
                float was;
                memcpy(&was, (const uint8_t *)p->d + m * p->d_line + 4 * n, sizeof was);
                x += was;
            }
            if (!missing) {
                store(p, m, n, x);
            }
        }
    }
}

/* Scales that were seen the first time at this address are kept, as in a cache of prepared weights. */
static const void *cached(const void *scales, int64_t bytes, int for_ever)
{
    static const void *seen;
    static void *copy;
    if (copy == NULL || (seen != scales && !for_ever)) {
        seen = scales;
        free(copy);
        copy = malloc((size_t)bytes);
        memcpy(copy, scales, (size_t)bytes);
    }
    return copy;
}

/* The scales of the launch before, if nothing happened since: a wait that is missing. Nothing happened if D still holds
 * what that launch wrote, since the runner poisons it otherwise. */
static const void *late(const fpo_kernel_problem *p)
{
    static const void *previous, *previous_d;
    static float written;
    int right_behind = previous_d == p->d && memcmp(p->d, &written, sizeof written) == 0;
    const void *taken = right_behind ? previous : p->b_scale;
    previous = p->b_scale;
    previous_d = p->d;
    written = element(p, taken, 0, 0);
    return taken;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    misdeed deed = (misdeed)((const int *)kernel->user)[0];
    fpo_plugin_status status = before(deed, p, why);
    if (status == FPO_PLUGIN_OK) {
        const void *b_scale = deed == KEEPS_OLD_SCALES || deed == KEEPS_FIRST_SCALES
                                  ? cached(p->b_scale, p->b_scale_bytes, deed == KEEPS_FIRST_SCALES)
                              : deed == DOES_NOT_WAIT ? late(p)
                                                      : p->b_scale;
        compute(deed, p, b_scale);
        after(deed, p);
    }
    return status;
}

static fpo_plugin_status check(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    misdeed deed = (misdeed)((const int *)kernel->user)[0];
    if (deed == IS_UNSUPPORTED) {
        snprintf(why, FPO_PLUGIN_TEXT, "K = %lld is more than 16", (long long)p->k);
        return FPO_PLUGIN_UNSUPPORTED;
    }
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *p, uint64_t *bytes, char *why)
{
    misdeed deed = (misdeed)((const int *)kernel->user)[0];
    (void)p;
    (void)why;
    *bytes = deed == READS_WORKSPACE || deed == WRITES_WORKSPACE_END ? 1000
             : deed == WANTS_TOO_MUCH                                ? UINT64_MAX / 2
                                                                     : 0;
    return FPO_PLUGIN_OK;
}

static const fpo_kernel_order in_order = {.size = sizeof(fpo_kernel_order), .models = "fma_f32"};

#define MXFP8(padding)                                                                                                 \
    {                                                                                                                  \
        .element = "e4m3", .scale = "ue8m0", .scale_layout = "128x4", .scale_rows = 1, .scale_k = 32,                  \
        .scale_padding = padding                                                                                       \
    }
#define PADDING_RULE(ID)                                                                                               \
    (ID == NEEDS_ZEROS                                     ? FPO_PADDING_ZERO                                          \
     : ID == NEEDS_NUMBERS || ID == NEEDS_ZEROS_TELLS_LESS ? FPO_PADDING_NUMBERS                                       \
                                                           : FPO_PADDING_ANY)

static const fpo_kernel kernels[] = {
#define MISDEED(ID, kernel_name, sentence)                                                                             \
    {.name = kernel_name,                                                                                              \
     .summary = sentence,                                                                                              \
     .fault = ID == BEHAVES ? NULL : sentence,                                                                         \
     .user = &(const int){ID},                                                                                         \
     .a = MXFP8(PADDING_RULE(ID)),                                                                                     \
     .b = MXFP8(FPO_PADDING_ANY),                                                                                      \
     .d = "f32",                                                                                                       \
     .any_line = 1,                                                                                                    \
     .arithmetic = FPO_ARITHMETIC_PLAIN,                                                                               \
     .order = &in_order},
#include "misdeeds.inc"
#undef MISDEED
};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static const fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "misbehave",
        .version = "1",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof(fpo_kernel),
        .check = check,
        .workspace = workspace,
        .run = run,
    };
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}
