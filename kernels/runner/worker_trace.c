/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A launch on a virtual GPU that traces where the operands of its tensor cores come from. */
#include "worker_trace.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

typedef int trace_function(fpo_vgpu_trace *trace);
typedef uint64_t unread_function(const void *memory, uint64_t bytes, uint8_t *unread);

typedef struct side {
    int64_t rows, k, line, scale_bytes;
    const void *codes, *scales;
    int32_t (*places)[2];
} side;

/* False: this operand does not lie along K, or is packed or scaled in a way that a trace does not know. */
static bool describe(const fpo_kernel_operand *o, side *s, fpo_vgpu_operand *out)
{
    enum { SAMPLE = 128 };
    fpo_format element = fpo_format_by_name(o->element);
    fpo_packing packing = fpo_packing_by_name(o->packing != NULL ? o->packing : "canonical");
    fpo_layout layout = fpo_layout_by_name(o->scale_layout != NULL ? o->scale_layout : "linear");
    fpo_format scale = o->scale != NULL ? fpo_format_by_name(o->scale) : FPO_FORMAT_COUNT;
    if (element == FPO_FORMAT_COUNT || packing == FPO_PACKING_COUNT || layout == FPO_LAYOUT_COUNT ||
        scale == FPO_FORMAT_COUNT || o->major != FPO_MAJOR_K || o->scale_rows < 1 || o->scale_k <= 0 || s->line <= 0)
        return false;
    int64_t columns = (s->k + o->scale_k - 1) / o->scale_k, rows = (s->rows + o->scale_rows - 1) / o->scale_rows;
    int64_t bytes = fpo_format_describe(scale)->storage_bytes;
    s->places = malloc((size_t)s->scale_bytes * sizeof *s->places + 1);
    if (s->places == NULL)
        return false;
    memset(s->places, 0xFF, (size_t)s->scale_bytes * sizeof *s->places);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t column = 0; column < columns; column++) {
            int64_t at = fpo_layout_offset(layout, rows, columns, row, column) * bytes;
            for (int64_t b = 0; b < bytes && at >= 0 && at + b < s->scale_bytes; b++) {
                s->places[at + b][0] = (int32_t)(row * o->scale_rows);
                s->places[at + b][1] = (int32_t)column;
            }
        }
    }
    *out = (fpo_vgpu_operand){.codes = s->codes,
                              .bytes = (uint64_t)(s->rows * s->line),
                              .line = (uint64_t)s->line,
                              .bits = (int)(fpo_packing_row_bytes(packing, element, SAMPLE) * 8 / SAMPLE),
                              .element = element,
                              .scale = scale,
                              .scales = s->scales,
                              .scale_bytes = (uint64_t)s->scale_bytes,
                              .scale_places = (const int32_t(*)[2])s->places,
                              .block_k = o->scale_k};
    return true;
}

/* "scales of A that no launch read: 3, the first of row 5, K block 2"; known with check=1 alone. */
static void tell_unread(const char *name, const side *s, unread_function *unread, char *text, size_t size)
{
    uint8_t *flags = malloc((size_t)s->scale_bytes + 1);
    int64_t count = 0, first = -1;
    if (flags != NULL)
        unread(s->scales, (uint64_t)s->scale_bytes, flags);
    for (int64_t i = 0; flags != NULL && i < s->scale_bytes; i++) {
        if (!flags[i] || s->places[i][0] < 0)
            continue;
        count++;
        first = first < 0 ? i : first;
    }
    size_t length = strlen(text);
    if (count > 0)
        snprintf(text + length, size - length,
                 "%s%lld scale bytes of %s were never read, the first of row %d, K block %d",
                 length > 0 && text[length - 1] != '\n' ? "; " : "", (long long)count, name, s->places[first][0],
                 s->places[first][1]);
    free(flags);
}

/* Scales in f32 are factors of sums, which have no source: what is said must say so. */
static void tell(const fpo_vgpu_trace *trace, char *text, size_t size)
{
    if (trace->interval == 0)
        snprintf(text, size, "%s\n", trace->finding);
    else if (trace->finding[0] != '\0')
        snprintf(text, size, "%s; block scales are applied outside of the mma and are not traced\n", trace->finding);
    else
        snprintf(text, size,
                 "every mma gets rows, columns and accumulators that belong together, and sums end where blocks of %d "
                 "do; block scales are applied outside of it and are not traced: look at these, and at what follows\n",
                 trace->interval);
}

fpo_plugin_status fpo_worker_trace(const fpo_loaded_plugin *plugin, const fpo_kernel *kernel,
                                   const fpo_kernel_problem *problem, char *finding, size_t size, char *why)
{
    static fpo_vgpu_trace trace;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    trace_function *set = NULL;
    unread_function *unread = NULL;
    fpo_kernel copy = {0};
    memcpy(&copy, kernel, plugin->table.kernel_size < sizeof copy ? plugin->table.kernel_size : sizeof copy);
    if (library != NULL) {
        *(void **)&set = dlsym(library, "cufp4oracle_trace");
        *(void **)&unread = dlsym(library, "cufp4oracle_unread");
    }
    side a = {problem->m, problem->k, problem->a_line, problem->a_scale_bytes, problem->a, problem->a_scale, NULL};
    side b = {problem->n, problem->k, problem->b_line, problem->b_scale_bytes, problem->b, problem->b_scale, NULL};
    trace = (fpo_vgpu_trace){.k = problem->k, .split = copy.order != NULL && copy.order->split != NULL};
    bool outside = copy.a.scale != NULL && strcmp(copy.a.scale, "f32") == 0;
    trace.interval = outside ? copy.a.scale_k : 0;
    fpo_plugin_status status = FPO_PLUGIN_UNSUPPORTED;
    finding[0] = '\0';
    if (set != NULL && unread != NULL && describe(&copy.a, &a, &trace.a) && describe(&copy.b, &b, &trace.b)) {
        set(&trace);
        status = plugin->table.run(kernel, problem, why);
        if (status == FPO_PLUGIN_OK)
            status = plugin->memory.synchronise(why);
        set(NULL);
        tell(&trace, finding, size);
        tell_unread("A", &a, unread, finding, size);
        tell_unread("B", &b, unread, finding, size);
    }
    free(a.places);
    free(b.places);
    if (library != NULL)
        dlclose(library);
    return status;
}
