/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Kernels of one instruction: see row_kernel.h. */
#include "row_kernel.h"

#include <fp4oracle/random.h>
#include <row_text.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum column_kind { COLUMN_INTEGER, COLUMN_F32, COLUMN_F64, COLUMN_F16, COLUMN_BF16, COLUMN_COUNT } column_kind;

typedef struct writer {
    char *at, *end;
    bool full;
} writer;

static void put(writer *w, const char *format, ...) FPO_PRINTF(2, 3);
static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(w->at, (size_t)(w->end - w->at), format, arguments);
    va_end(arguments);
    w->full = w->full || length < 0 || length >= w->end - w->at;
    if (!w->full)
        w->at += length;
}

static column_kind kind_of(const fpo_row_operand *o)
{
    if (strcmp(o->type, "f32") == 0 || strcmp(o->type, "f32x2") == 0 || strcmp(o->type, "tf32") == 0)
        return COLUMN_F32;
    if (strcmp(o->type, "f64") == 0)
        return COLUMN_F64;
    if (strncmp(o->type, "f16", 3) == 0)
        return COLUMN_F16;
    if (strncmp(o->type, "bf16", 4) == 0)
        return COLUMN_BF16;
    return o->name[0] == 'n' || o->name[0] == 'm' ? COLUMN_COUNT : COLUMN_INTEGER;
}

static unsigned bytes_of(const fpo_row_operand *o)
{
    return fpo_ptx_type_bytes(fpo_ptx_type_by_name(o->type, strlen(o->type)));
}

/* A register of an 8-bit operand that may be wider has 32 bits. */
static unsigned register_bytes(const fpo_row_operand *o)
{
    return bytes_of(o) == 1 && o->wider ? 4 : bytes_of(o);
}

static void declare(writer *w, const fpo_row_operand *o)
{
    if (strcmp(o->type, "pred") == 0)
        put(w, ".reg .pred %s_;\n", o->name);
    else if (strcmp(o->type, "imm32") != 0)
        put(w, ".reg .b%u %s_;\n", 8 * register_bytes(o), o->name);
}

static void load(writer *w, const fpo_row_operand *o, int source)
{
    size_t column = ((size_t)kind_of(o) * FPO_ROW_SOURCES + (size_t)source % FPO_ROW_SOURCES) * FPO_ROW_CASES * 8;
    unsigned bytes = register_bytes(o);
    if (strcmp(o->type, "imm32") == 0)
        return;
    if (strcmp(o->type, "pred") == 0)
        put(w, "ld.global.b32 word, [at+%zu];\nand.b32 word, word, 1;\nsetp.ne.b32 %s_, word, 0;\n", column, o->name);
    else if (bytes == 16)
        put(w, "ld.global.b64 low, [at+%zu];\nld.global.b64 high, [at+%zu];\nmov.b128 %s_, {low, high};\n", column,
            column + 8 * FPO_ROW_CASES, o->name);
    else
        put(w, "ld.global.b%u %s_, [at+%zu];\n", 8 * bytes, o->name, column);
}

static void store(writer *w, const fpo_row_operand *o, int result)
{
    size_t column = (size_t)result * FPO_ROW_CASES * 8;
    unsigned bytes = register_bytes(o);
    if (strcmp(o->type, "pred") == 0)
        put(w, "selp.b64 low, 1, 0, %s_;\n", o->name);
    else if (bytes == 16)
        put(w, "mov.b128 {low, high}, %s_;\nxor.b64 low, low, high;\n", o->name);
    else if (bytes == 8)
        put(w, "mov.b64 low, %s_;\n", o->name);
    else
        put(w, "cvt.u64.u%u low, %s_;\n", 8 * bytes, o->name);
    put(w, "st.global.b64 [to+%zu], low;\n", column);
}

static void name_operand(writer *w, const fpo_row_operand *o)
{
    if (strcmp(o->type, "imm32") == 0)
        put(w, "0xCA");
    else
        put(w, "%s_", o->name);
}

static void write_statement(writer *w, const char *opcode, const fpo_row_operand *operands, int count)
{
    put(w, "%s ", opcode);
    int brace = 0;
    for (int i = 0; i < count; i++) {
        const fpo_row_operand *o = &operands[i];
        if (brace != 0 && o->brace != brace)
            put(w, "}");
        if (i > 0)
            put(w, "%s", o->pair ? "|" : ", ");
        if (o->brace != 0 && o->brace != brace)
            put(w, "{");
        brace = o->brace;
        name_operand(w, o);
    }
    put(w, "%s;\n", brace != 0 ? "}" : "");
}

static void choose(const fpo_row_groups *groups, int index, int *choice)
{
    for (int g = groups->count - 1; g >= 0; g--) {
        choice[g] = index % groups->size[g];
        index /= groups->size[g];
    }
}

static void write_opcode(const char *pattern, const fpo_row_groups *groups, const int *choice, writer *w)
{
    for (int g = 0; *pattern != '\0'; pattern++) {
        if (*pattern != '{') {
            put(w, "%c", *pattern);
            continue;
        }
        put(w, "%.*s", (int)groups->choices[g][choice[g]].name_length, groups->choices[g][choice[g]].name);
        g++;
        pattern = strchr(pattern, '}');
    }
}

int fpo_row_kernel_count(const fpo_ptx_row *row)
{
    fpo_row_groups groups;
    int count = 1;
    if (strncmp(row->semantics, "@mufu", 5) != 0 && strncmp(row->semantics, "@quotient", 9) != 0)
        return row->lanes_count;
    if (!fpo_row_parse_groups(row->pattern, &groups))
        return 0;
    for (int g = 0; g < groups.count; g++)
        count *= groups.size[g];
    return count;
}

bool fpo_row_kernel_write(const fpo_ptx_row *row, int index, const char *target, fpo_row_kernel *kernel)
{
    fpo_row_groups groups;
    int choice[FPO_ROW_GROUPS];
    char text[FPO_ROW_TEXT];
    fpo_row_operand operands[FPO_ROW_OPERANDS];
    if (!fpo_row_parse_groups(row->pattern, &groups))
        return false;
    choose(&groups, index, choice);
    if (!fpo_row_substitute(row->operands, &groups, choice, text, sizeof text))
        return false;
    int count = fpo_row_parse_operands(text, operands);
    writer name = {kernel->opcode, kernel->opcode + sizeof kernel->opcode, false};
    write_opcode(row->pattern, &groups, choice, &name);
    writer w = {kernel->ptx, kernel->ptx + sizeof kernel->ptx, false};
    put(&w, ".version 8.8\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n",
        target);
    put(&w, ".reg .b32 word, thread;\n.reg .b64 at, to, offset, low, high;\n");
    for (int i = 0; i < count; i++) {
        if (bytes_of(&operands[i]) == 1 && !operands[i].wider)
            return false;
        declare(&w, &operands[i]);
    }
    put(&w, "mov.u32 word, %%ctaid.x;\nmov.u32 thread, %%tid.x;\nmad.lo.u32 word, word, 128, thread;\n"
            "mul.wide.u32 offset, word, 8;\nld.param.u64 at, [in];\nadd.s64 at, at, offset;\n"
            "ld.param.u64 to, [out];\nadd.s64 to, to, offset;\n");
    int source = 0;
    kernel->results = 0;
    for (int i = 0; i < count; i++)
        if (!operands[i].written)
            load(&w, &operands[i], source++);
    write_statement(&w, kernel->opcode, operands, count);
    for (int i = 0; i < count; i++)
        if (operands[i].written)
            store(&w, &operands[i], kernel->results++);
    put(&w, "ret;\n}\n");
    return !w.full && !name.full && source <= 2 * FPO_ROW_SOURCES && kernel->results <= FPO_ROW_RESULTS;
}

size_t fpo_row_input_bytes(void)
{
    return (size_t)FPO_ROW_KINDS * FPO_ROW_SOURCES * FPO_ROW_CASES * sizeof(uint64_t);
}

/* A number of a binary format of `bits` bits: any bits, near 1, near the ends, a special, or a tie of a short format.
 */
static uint64_t floating(uint64_t r, unsigned bits, unsigned exponent_bits)
{
    unsigned mantissa_bits = bits - 1 - exponent_bits;
    uint64_t one = (((uint64_t)1 << (exponent_bits - 1)) - 1) << mantissa_bits,
             top = ((uint64_t)1 << exponent_bits) - 1;
    uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1, any = r >> 16;
    any = any << 16 | (any >> 20 & 0xFFFF);
    uint64_t mantissa = any & (((uint64_t)1 << mantissa_bits) - 1), sign = (r >> 8 & 1) << (bits - 1), exponent;
    switch (r & 15) {
    case 0: exponent = 0; break;                             /* subnormal */
    case 1: return sign;                                     /* zero */
    case 2: return sign | top << mantissa_bits;              /* infinity */
    case 3: return (sign | top << mantissa_bits | mantissa); /* NaN, nearly always */
    case 4: exponent = 1 + (r >> 9 & 3); break;
    case 5: exponent = top - 1 - (r >> 9 & 3); break;
    case 6:
    case 7:
    case 8:
    case 9: exponent = (one >> mantissa_bits) - 12 + (r >> 9 & 31) % 24; break;
    case 10: /* few bits: ties of shorter formats */
        exponent = (one >> mantissa_bits) - 8 + (r >> 9 & 15);
        mantissa &= ~(((uint64_t)1 << (mantissa_bits - (mantissa_bits > 6 ? 6 : 3))) - 1);
        break;
    case 11: return sign | one;
    default: return any & mask;
    }
    return sign | (exponent & top) << mantissa_bits | mantissa;
}

static uint64_t integer(uint64_t r, uint64_t s)
{
    static const uint64_t corners[] = {0,
                                       1,
                                       2,
                                       0x7F,
                                       0x80,
                                       0xFF,
                                       0x7FFF,
                                       0x8000,
                                       0xFFFF,
                                       0x7FFFFFFF,
                                       0x80000000,
                                       0xFFFFFFFF,
                                       ~UINT64_C(0),
                                       ~UINT64_C(0) >> 1,
                                       (uint64_t)1 << 63,
                                       0x80008000};
    return (r & 7) == 0   ? corners[r >> 8 & 15]
           : (r & 7) == 1 ? corners[r >> 8 & 15] * 0x100000001u
           : (r & 7) == 2 ? s >> (r >> 8 & 63)
                          : s;
}

void fpo_row_inputs(uint64_t *in)
{
    for (uint64_t i = 0; i < fpo_row_input_bytes() / sizeof *in; i++) {
        uint32_t w[4];
        fpo_random_block((fpo_random){2026, 90}, i, w);
        uint64_t r = (uint64_t)w[0] << 32 | w[1], s = (uint64_t)w[2] << 32 | w[3];
        switch ((column_kind)(i / (FPO_ROW_SOURCES * FPO_ROW_CASES))) {
        case COLUMN_INTEGER: in[i] = integer(r, s); break;
        case COLUMN_F32: in[i] = floating(r, 32, 8) | floating(s, 32, 8) << 32; break;
        case COLUMN_F64: in[i] = floating(r, 64, 11); break;
        case COLUMN_F16: in[i] = floating(r, 16, 5) | floating(s, 16, 5) << 16; break;
        case COLUMN_BF16: in[i] = floating(r, 16, 8) | floating(s, 16, 8) << 16; break;
        case COLUMN_COUNT: in[i] = (r & 7) == 0 ? s : (r & 7) == 1 ? s & 0x3FF : s % 70; break;
        }
    }
}

uint64_t fpo_row_hash(const uint64_t *out, int results)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < (size_t)results * FPO_ROW_CASES; i++)
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ (out[i] >> (8 * byte) & 255)) * 1099511628211u;
    return hash;
}
