/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands as written bound to the operands of a row: kinds, widths, vectors. Nothing is converted: a register of
 * another width is refused unless the row says that it may be wider. */
#include "bind.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool refuse(fpo_ptx_bind *bind, const char *format, ...) FPO_PRINTF(2, 3);
static bool refuse(fpo_ptx_bind *bind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bind->reason, sizeof bind->reason, format, arguments);
    va_end(arguments);
    return false;
}

static void push(fpo_ptx_bind *bind, fpo_ptx_operand operand)
{
    bind->operands = fpo_ptx_grow(bind->builder->parse, bind->operands, bind->count, sizeof *bind->operands);
    bind->operands[bind->count++] = operand;
}

/* A register that takes a result which nobody wants. */
static fpo_ptx_operand sink(fpo_ptx_bind *bind, unsigned bytes)
{
    uint32_t index = fpo_ptx_new_register(bind->builder, "_", -1, bytes);
    return (fpo_ptx_operand){.kind = FPO_PTX_REGISTER, .bytes = (uint8_t)bytes, .written = true, .slot = index};
}

static void push_nothing(fpo_ptx_bind *bind, const fpo_row_operand *row)
{
    unsigned bytes = fpo_ptx_type_bytes(fpo_ptx_type_by_name(row->type, strlen(row->type)));
    if (!bind->pure)
        push(bind, (fpo_ptx_operand){.kind = FPO_PTX_NO_OPERAND});
    else if (row->written)
        push(bind, sink(bind, bytes));
    else
        push(bind, fpo_ptx_number(bind->builder, bytes, 0, 0));
}

/* A clock is read each time: by an instruction of its own before the one that names it. */
static fpo_ptx_operand clock_operand(fpo_ptx_builder *b, fpo_ptx_special special, unsigned bytes)
{
    uint32_t index = fpo_ptx_new_register(b, "clock", -1, bytes);
    fpo_ptx_operand *d = fpo_ptx_take(b->parse, sizeof *d);
    *d = (fpo_ptx_operand){.kind = FPO_PTX_REGISTER, .bytes = (uint8_t)bytes, .written = true, .slot = index};
    b->code = fpo_ptx_grow(b->parse, b->code, b->code_count, sizeof *b->code);
    b->code[b->code_count++] = (fpo_ptx_instruction){.operands = d,
                                                     .operand_count = 1,
                                                     .semantics = FPO_PTX_CLOCK,
                                                     .arguments.count = (uint8_t)(special - FPO_PTX_SR_CLOCK),
                                                     .line = b->parse->line,
                                                     .opcode = "clock"};
    return (fpo_ptx_operand){.kind = FPO_PTX_REGISTER, .bytes = (uint8_t)bytes, .slot = index};
}

static fpo_ptx_operand special_operand(fpo_ptx_builder *b, fpo_ptx_special special)
{
    static const uint8_t widths[] = {
#define FPO_PTX_SPECIAL(ID, name, bytes) bytes,
#include "specials.inc"
#undef FPO_PTX_SPECIAL
    };
    for (uint32_t i = 0; i < b->special_count; i++)
        if (b->specials[i].special == special)
            return (fpo_ptx_operand){.kind = FPO_PTX_REGISTER, .bytes = widths[special], .slot = b->specials[i].slot};
    if (special >= FPO_PTX_SR_CLOCK)
        return clock_operand(b, special, widths[special]);
    uint32_t index = fpo_ptx_new_register(b, "special register", -1, widths[special]);
    b->registers[index].special = true;
    b->specials = fpo_ptx_grow(b->parse, b->specials, b->special_count, sizeof *b->specials);
    b->specials[b->special_count++] = (fpo_ptx_special_use){index, widths[special], (uint8_t)special};
    return (fpo_ptx_operand){.kind = FPO_PTX_REGISTER, .bytes = widths[special], .slot = index};
}

/* The address of a symbol: 32 bits inside shared memory, 64 bits elsewhere unless 32 are wanted. */
static bool symbol_operand(fpo_ptx_bind *bind, const fpo_ptx_node *node, unsigned wanted, fpo_ptx_operand *operand)
{
    fpo_ptx_builder *b = bind->builder;
    unsigned bytes = wanted == 0 ? 8 : wanted;
    const fpo_ptx_variable *v = fpo_ptx_local_variable(b, node->text);
    if (v != NULL) {
        fpo_ptx_symbol_kind kind = v->external                    ? FPO_PTX_SYM_DYNAMIC_SHARED
                                   : v->space == FPO_PTX_V_SHARED ? FPO_PTX_SYM_SHARED
                                                                  : FPO_PTX_SYM_LOCAL;
        *operand = fpo_ptx_symbol_constant(b, bytes, kind, v->shared_offset, node->offset);
        return true;
    }
    for (uint32_t i = 0; i < b->kernel->param_count; i++) {
        const fpo_ptx_param *p = &b->kernel->params[i];
        if (strcmp(p->name, node->text) == 0) {
            *operand = fpo_ptx_symbol_constant(b, 8, FPO_PTX_SYM_PARAM, p->offset, node->offset);
            return wanted != 4 || refuse(bind, "%s is a parameter, with a 64-bit address", node->text);
        }
    }
    size_t index;
    if (fpo_ptx_find_variable(b->module, node->text, &index) == NULL)
        return refuse(bind, "%s is neither a register, a parameter nor a variable", node->text);
    *operand = fpo_ptx_symbol_constant(b, 8, FPO_PTX_SYM_GLOBAL, index, node->offset);
    return wanted != 4 || refuse(bind, "%s has a 64-bit address", node->text);
}

static bool register_operand(fpo_ptx_bind *bind, const fpo_row_operand *row, const fpo_ptx_node *node, unsigned bytes,
                             fpo_ptx_operand *operand)
{
    const fpo_ptx_register *r = &bind->builder->registers[node->index];
    bool predicate = strcmp(row->type, "pred") == 0;
    bool fits = predicate ? r->bytes == 0 : r->bytes == bytes || (row->wider && r->bytes > bytes);
    if (!fits)
        return refuse(bind, "register %s%.0d has %u bytes, %s wants %u", r->name, r->number, r->bytes, row->type,
                      bytes);
    if (node->negated && (!predicate || row->written))
        return refuse(bind, "`!` before an operand that cannot be negated");
    *operand =
        (fpo_ptx_operand){.kind = FPO_PTX_REGISTER, .bytes = r->bytes, .negated = node->negated, .slot = node->index};
    return true;
}

static bool number_operand(fpo_ptx_bind *bind, const fpo_row_operand *row, const fpo_ptx_node *node, unsigned bytes,
                           fpo_ptx_operand *operand)
{
    bool floating = strcmp(row->type, "f32") == 0 || strcmp(row->type, "f64") == 0;
    bool narrowed = node->decimal && floating && bytes == 4;
    bool ok = node->kind == FPO_NODE_F32   ? bytes == 4
              : node->kind == FPO_NODE_F64 ? bytes == 8 || narrowed
                                           : !floating;
    if (!ok || row->written)
        return refuse(bind, "a number stands where %s is wanted", row->type);
    uint64_t value = node->value;
    if (narrowed) {
        double wide;
        memcpy(&wide, &value, sizeof wide);
        float narrow = (float)wide;
        value = 0;
        memcpy(&value, &narrow, sizeof narrow);
    }
    bool high = node->negative && bytes == 16;
    *operand = fpo_ptx_number(bind->builder, bytes, value, high ? UINT64_MAX : 0);
    return true;
}

static bool bind_scalar(fpo_ptx_bind *bind, const fpo_row_operand *row, const fpo_ptx_node *node)
{
    if (node->kind == FPO_NODE_NOTHING) {
        if (!row->written || row->read)
            return refuse(bind, "`_` stands where a value is wanted");
        push_nothing(bind, row);
        return true;
    }
    bool immediate = strcmp(row->type, "imm32") == 0;
    unsigned bytes = immediate ? 4 : fpo_ptx_type_bytes(fpo_ptx_type_by_name(row->type, strlen(row->type)));
    fpo_ptx_operand operand = {0};
    bool ok;
    switch (node->kind) {
    case FPO_NODE_REGISTER:
        ok = immediate ? refuse(bind, "a register stands where a number is wanted")
                       : register_operand(bind, row, node, bytes, &operand);
        break;
    case FPO_NODE_INTEGER:
    case FPO_NODE_F32:
    case FPO_NODE_F64: ok = number_operand(bind, row, node, bytes, &operand); break;
    case FPO_NODE_SPECIAL:
        operand = special_operand(bind->builder, (fpo_ptx_special)node->value);
        ok = (operand.bytes == bytes && !row->written) || refuse(bind, "a special register of another width");
        break;
    case FPO_NODE_SYMBOL:
        ok = (!row->written && (bytes == 4 || bytes == 8)) ||
             refuse(bind, "`%s` stands where %s is wanted", node->text, row->type);
        ok = ok && symbol_operand(bind, node, bytes, &operand);
        break;
    default: ok = refuse(bind, "brackets, braces or `|` where %s is wanted", row->type);
    }
    if (!ok)
        return false;
    operand.written = row->written;
    operand.read = row->read;
    push(bind, operand);
    return true;
}

static bool bind_address(fpo_ptx_bind *bind, const fpo_row_operand *coordinates, const fpo_ptx_node *node)
{
    if (node->kind != FPO_NODE_ADDRESS || node->child_count != (coordinates != NULL ? 2 : 1))
        return refuse(bind, "an address %sin brackets is wanted", coordinates != NULL ? "and coordinates " : "");
    const fpo_ptx_node *base = &node->children[0];
    fpo_ptx_operand operand = {0};
    if (base->kind == FPO_NODE_REGISTER) {
        const fpo_ptx_register *r = &bind->builder->registers[base->index];
        if (r->bytes != 4 && r->bytes != 8)
            return refuse(bind, "an address in a register of %u bytes", r->bytes);
        operand = (fpo_ptx_operand){.kind = FPO_PTX_REGISTER, .bytes = r->bytes, .slot = base->index};
        operand.offset = base->offset;
    } else if (base->kind == FPO_NODE_INTEGER) {
        operand = fpo_ptx_number(bind->builder, 8, base->value, 0);
        operand.offset = base->offset;
    } else if (base->kind != FPO_NODE_SYMBOL) {
        return refuse(bind, "an address that is neither a register nor a symbol");
    } else if (!symbol_operand(bind, base, 0, &operand)) {
        return false;
    }
    operand.read = true;
    push(bind, operand);
    if (coordinates == NULL)
        return true;
    const fpo_ptx_node *list = &node->children[1];
    if (list->kind != FPO_NODE_VECTOR || (int)list->child_count != coordinates->vector)
        return refuse(bind, "%d coordinates are wanted", coordinates->vector);
    for (uint32_t i = 0; i < list->child_count; i++)
        if (!bind_scalar(bind, coordinates, &list->children[i]))
            return false;
    return true;
}

/* Operands [from, to) of the row stand in one pair of braces. */
static bool bind_braces(fpo_ptx_bind *bind, const fpo_row_operand *row, int from, int to, const fpo_ptx_node *node)
{
    int wanted = 0;
    for (int i = from; i < to; i++)
        wanted += row[i].vector > 0 ? row[i].vector : 1;
    if (node->kind != FPO_NODE_VECTOR || (int)node->child_count != wanted)
        return refuse(bind, "%d operands in braces are wanted", wanted);
    uint32_t child = 0;
    for (int i = from; i < to; i++)
        for (int k = 0; k < (row[i].vector > 0 ? row[i].vector : 1); k++)
            if (!bind_scalar(bind, &row[i], &node->children[child++]))
                return false;
    return true;
}

static bool bind_plain(fpo_ptx_bind *bind, const fpo_row_operand *row, const fpo_ptx_node *node)
{
    if (row->vector > 1)
        return bind_braces(bind, row, 0, 1, node);
    if (row->vector == 1 && node->kind == FPO_NODE_VECTOR && node->child_count == 1)
        node = &node->children[0];
    return bind_scalar(bind, row, node);
}

bool fpo_ptx_bind_operands(fpo_ptx_bind *bind, const fpo_row_operand *row, int row_count)
{
    bind->operands = NULL;
    bind->count = 0;
    uint32_t next = 0;
    for (int i = 0; i < row_count; i++) {
        if (strcmp(row[i].name, "label") == 0)
            continue;
        if (next == bind->node_count) {
            if (!row[i].optional)
                return refuse(bind, "operand %u is missing", next + 1);
            push_nothing(bind, &row[i]);
            continue;
        }
        const fpo_ptx_node *node = &bind->nodes[next++];
        if (row[i].brace != 0) {
            int end = i + 1;
            while (end < row_count && row[end].brace == row[i].brace)
                end++;
            if (!bind_braces(bind, row, i, end, node))
                return false;
            i = end - 1;
        } else if (row[i].address) {
            bool tensor = i + 1 < row_count && row[i + 1].tensor;
            if (!bind_address(bind, tensor ? &row[i + 1] : NULL, node))
                return false;
            i += tensor;
        } else if (i + 1 < row_count && row[i + 1].pair) {
            bool both = node->kind == FPO_NODE_PAIR;
            if (!bind_plain(bind, &row[i], both ? &node->children[0] : node))
                return false;
            i++;
            if (!both)
                push_nothing(bind, &row[i]);
            else if (!bind_scalar(bind, &row[i], &node->children[1]))
                return false;
        } else if (!bind_plain(bind, &row[i], node)) {
            return false;
        }
    }
    return next == bind->node_count || refuse(bind, "%u operands are too many", bind->node_count);
}
