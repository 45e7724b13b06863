/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a kernel asks of the system: clocks, printf, assertions. Clocks are counters: each read of any warp advances its
 * CTA's, so that loops that wait for a time end, and nothing is said about speed. */
#include "execute.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLOCK_STEP = 100, TEXT_MOST = 1024 };

fpo_outcome fpo_do_clock(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint64_t now = warp->cta->clock += CLOCK_STEP;
    fpo_ptx_special which = (fpo_ptx_special)(FPO_PTX_SR_CLOCK + ins->arguments.count);
    if (which == FPO_PTX_SR_CLOCK_HI || which == FPO_PTX_SR_GLOBALTIMER_HI)
        now >>= 32;
    const fpo_ptx_operand *d = &ins->operands[0];
    for (FPO_EACH_LANE(lane, warp->mask))
        memcpy((uint8_t *)fpo_lanes_of(warp, d) + (size_t)lane * d->bytes, &now, d->bytes);
    return FPO_NEXT;
}

fpo_outcome fpo_do_bfind(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_ptx_type type = (fpo_ptx_type)ins->arguments.type;
    unsigned bits = 8 * fpo_ptx_type_bytes(type);
    bool is_signed = type == FPO_PTX_S32 || type == FPO_PTX_S64;
    uint32_t *d = fpo_lanes_of(warp, &ins->operands[0]);
    const uint8_t *a = fpo_lanes_of(warp, &ins->operands[1]);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t value = 0;
        memcpy(&value, a + lane * (bits / 8), bits / 8);
        if (is_signed && value >> (bits - 1))
            value = ~value & (UINT64_MAX >> (64 - bits));
        uint32_t place = value == 0 ? UINT32_MAX : 63u - (uint32_t)__builtin_clzll(value);
        d[lane] = ins->arguments.count == 1 && value != 0 ? bits - 1 - place : place;
    }
    return FPO_NEXT;
}

/* Eight bytes of what the function was handed. */
static bool argument(fpo_warp *warp, const fpo_ptx_operand *operand, uint32_t bytes, int lane, uint64_t *value)
{
    const void *at = fpo_locate(warp, FPO_PTX_V_LOCAL, fpo_address(warp, operand, lane), bytes, bytes, lane);
    *value = 0;
    if (at != NULL)
        memcpy(value, at, bytes);
    return at != NULL;
}

/* Text in global memory, as much of it as there is. */
static void read_text(const fpo_warp *warp, uint64_t address, char text[TEXT_MOST])
{
    const fpo_vgpu *gpu = warp->cta->grid->gpu;
    size_t n = 0;
    while (n + 1 < TEXT_MOST && fpo_vgpu_find(gpu, address + n, 1, NULL) != NULL &&
           (text[n] = *(const char *)(uintptr_t)(address + n)) != '\0')
        n++;
    text[n] = '\0';
}

/* One conversion with its value; values lie in local memory, each aligned to its size. */
static bool print_value(fpo_warp *warp, const char *conversion, size_t length, uint64_t *next, int lane)
{
    char form[32];
    if (length + 1 > sizeof form || memchr(conversion, '*', length) != NULL)
        return true;
    memcpy(form, conversion, length);
    form[length] = '\0';
    char kind = form[length - 1];
    bool wide = strchr("eEfgGaAsp", kind) != NULL || strpbrk(form, "ljzt") != NULL;
    uint64_t bytes = wide ? 8 : 4;
    *next = (*next + bytes - 1) / bytes * bytes;
    const void *at = fpo_locate(warp, FPO_PTX_V_GENERIC, *next, (uint32_t)bytes, 1, lane);
    if (at == NULL)
        return false;
    *next += bytes;
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    char text[TEXT_MOST];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (strchr("eEfgGaA", kind) != NULL) {
        double number;
        memcpy(&number, &bits, sizeof number);
        printf(form, number);
    } else if (kind == 's') {
        read_text(warp, bits, text);
        printf(form, text);
    } else if (kind == 'p') {
        printf(form, (void *)(uintptr_t)bits);
    } else if (wide) {
        printf(form, (long long)bits);
    } else {
        printf(form, (int)bits);
    }
#pragma GCC diagnostic pop
    return true;
}

static bool print(fpo_warp *warp, const char *format, uint64_t values, int lane)
{
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        printf("%.*s", (int)plain, format);
        format += plain;
        if (*format == '\0')
            break;
        if (format[1] == '%') {
            putchar('%');
            format += 2;
            continue;
        }
        size_t length = strcspn(format, "diouxXeEfgGaAcsp");
        if (format[length] == '\0')
            break;
        if (!print_value(warp, format, length + 1, &values, lane))
            return false;
        format += length + 1;
    }
    return true;
}

fpo_outcome fpo_do_print(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t format, values;
        char text[TEXT_MOST];
        if (!argument(warp, &ins->operands[1], 8, (int)lane, &format) ||
            !argument(warp, &ins->operands[2], 8, (int)lane, &values))
            return FPO_FAULT;
        read_text(warp, format, text);
        if (!print(warp, text, values, (int)lane))
            return FPO_FAULT;
    }
    fflush(stdout);
    return FPO_NEXT;
}

fpo_outcome fpo_do_assert_fail(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    int lane = fpo_first_lane(warp->mask);
    uint64_t message, file, line;
    if (!argument(warp, &ins->operands[0], 8, lane, &message) || !argument(warp, &ins->operands[1], 8, lane, &file) ||
        !argument(warp, &ins->operands[2], 4, lane, &line))
        return FPO_FAULT;
    char texts[2][TEXT_MOST];
    read_text(warp, message, texts[0]);
    read_text(warp, file, texts[1]);
    return fpo_fault(warp, lane, "assertion `%.120s` failed, %.80s:%u", texts[0], texts[1], (uint32_t)line);
}
