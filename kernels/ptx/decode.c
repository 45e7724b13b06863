/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One statement against the table: a row whose pattern is the opcode and whose operands are those written, or an error.
 */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

static const char *const semantics_names[] = {
    "",
#define FPO_PTX_SEMANTICS(ID, name, summary) #name,
#include "semantics.inc"
#undef FPO_PTX_SEMANTICS
};

static bool set_argument(fpo_ptx_arguments *arguments, const char *key, size_t length, const char *text,
                         size_t text_length)
{
    static const struct {
        const char *key;
        size_t offset;
    } words[] = {{"space", offsetof(fpo_ptx_arguments, space)},
                 {"op", offsetof(fpo_ptx_arguments, op)},
                 {"a", offsetof(fpo_ptx_arguments, a)},
                 {"b", offsetof(fpo_ptx_arguments, b)}},
      switches[] = {
          {"trans", offsetof(fpo_ptx_arguments, trans)}, {"parity", offsetof(fpo_ptx_arguments, parity)},
          {"noinc", offsetof(fpo_ptx_arguments, noinc)}, {"try", offsetof(fpo_ptx_arguments, try_wait)},
          {"read", offsetof(fpo_ptx_arguments, read)},   {"multicast", offsetof(fpo_ptx_arguments, multicast)},
          {"pair", offsetof(fpo_ptx_arguments, pair)},   {"tmem", offsetof(fpo_ptx_arguments, tmem)},
          {"ws", offsetof(fpo_ptx_arguments, ws)},
          {"abs", offsetof(fpo_ptx_arguments, abs)},     {"nan", offsetof(fpo_ptx_arguments, nan)},
          {"ftz", offsetof(fpo_ptx_arguments, ftz)},     {"full", offsetof(fpo_ptx_arguments, full)}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].key) != length || memcmp(words[i].key, key, length) != 0)
            continue;
        for (int v = 0; v < FPO_PTX_VALUE_COUNT; v++) {
            const char *name = fpo_ptx_value_name((fpo_ptx_value)v);
            if (strlen(name) == text_length && memcmp(name, text, text_length) == 0) {
                *((uint8_t *)arguments + words[i].offset) = (uint8_t)v;
                return true;
            }
        }
        return false;
    }
    if (length == 4 && memcmp(key, "type", 4) == 0) {
        arguments->type = (uint8_t)fpo_ptx_type_by_name(text, text_length);
        return arguments->type != FPO_PTX_TYPE_COUNT;
    }
    uint64_t number;
    if (!fpo_ptx_integer_text(text, text_length, &number) || number > 65535)
        return false;
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strlen(switches[i].key) == length && memcmp(switches[i].key, key, length) == 0) {
            *((bool *)((char *)arguments + switches[i].offset)) |= number != 0;
            return true;
        }
    }
    if (length == 5 && memcmp(key, "count", 5) == 0)
        arguments->count = (uint8_t)number;
    else if (length == 5 && memcmp(key, "shape", 5) == 0)
        arguments->shape = (uint16_t)number;
    else
        return false;
    return true;
}

/* "@load space=global count=2"; "shared::cta" is what the machine calls shared. */
bool fpo_ptx_parse_semantics(const char *text, fpo_ptx_instruction *instruction)
{
    size_t length = strcspn(++text, " ");
    for (int s = 1; s < FPO_PTX_SEMANTICS_COUNT; s++)
        if (strlen(semantics_names[s]) == length && memcmp(semantics_names[s], text, length) == 0)
            instruction->semantics = (uint16_t)s;
    if (instruction->semantics == FPO_PTX_PURE)
        return false;
    for (text += length; *text != '\0'; text += length) {
        text += strspn(text, " ");
        length = strcspn(text, " ");
        const char *equals = memchr(text, '=', length);
        if (equals == NULL)
            return length == 0;
        size_t rest = length - (size_t)(equals + 1 - text);
        if (rest == 11 && memcmp(equals + 1, "shared::cta", 11) == 0)
            rest = 6;
        if (!set_argument(&instruction->arguments, text, (size_t)(equals - text), equals + 1, rest))
            return false;
    }
    return true;
}

static size_t literal_prefix(const char *pattern)
{
    return strcspn(pattern, "{");
}

static void set_lanes(const fpo_ptx_row *row, const fpo_row_groups *groups, const int *choice,
                      fpo_ptx_instruction *instruction)
{
    int index = 0;
    for (int g = 0; g < groups->count; g++)
        index = index * groups->size[g] + choice[g];
    instruction->lanes = row->lanes[index];
}

/* Tries one row; on success the instruction is complete but for its guard. */
static bool try_row(fpo_ptx_bind *bind, const fpo_ptx_row *row, const char *opcode, fpo_ptx_instruction *instruction)
{
    size_t prefix = literal_prefix(row->pattern);
    if (strncmp(row->pattern, opcode, prefix) != 0)
        return false;
    fpo_row_groups groups;
    int choice[FPO_ROW_GROUPS] = {0};
    if (!fpo_row_parse_groups(row->pattern, &groups) || !fpo_row_match(row->pattern, &groups, opcode, choice))
        return false;
    bind->matched = true;
    char text[FPO_ROW_TEXT];
    fpo_row_operand operands[FPO_ROW_OPERANDS];
    int count = fpo_row_substitute(row->operands, &groups, choice, text, sizeof text)
                    ? fpo_row_parse_operands(text, operands)
                    : -1;
    if (count < 0)
        fpo_ptx_fail(bind->builder->parse, FPO_ERR_ARGUMENT, bind->line, "the table's row %s is malformed",
                     row->pattern);
    memset(instruction, 0, sizeof *instruction);
    bind->pure = row->semantics[0] != '@';
    if (!fpo_ptx_bind_operands(bind, operands, count))
        return false;
    if (bind->pure)
        set_lanes(row, &groups, choice, instruction);
    else if (!fpo_row_substitute(row->semantics, &groups, choice, text, sizeof text) ||
             !fpo_ptx_parse_semantics(text, instruction))
        fpo_ptx_fail(bind->builder->parse, FPO_ERR_ARGUMENT, bind->line, "the table's row %s has semantics %s",
                     row->pattern, row->semantics);
    return true;
}

static bool find_row(fpo_ptx_bind *bind, const char *opcode, fpo_ptx_instruction *instruction)
{
    for (size_t f = 0; f < fpo_ptx_family_count(); f++) {
        const fpo_ptx_family *family = fpo_ptx_family_at(f);
        for (size_t r = 0; r < family->count; r++)
            if (try_row(bind, &family->rows[r], opcode, instruction))
                return true;
    }
    return false;
}

void fpo_ptx_decode(fpo_ptx_builder *b, const char *opcode, const fpo_ptx_node *guard, const fpo_ptx_node *nodes,
                    uint32_t node_count, const char *label, uint32_t line)
{
    fpo_ptx_bind bind = {.builder = b, .nodes = nodes, .node_count = node_count, .line = line};
    fpo_ptx_instruction instruction;
    if (!find_row(&bind, opcode, &instruction)) {
        if (!bind.matched)
            fpo_ptx_fail(b->parse, FPO_ERR_UNSUPPORTED, line, "instruction `%s` is not supported", opcode);
        fpo_ptx_fail(b->parse, FPO_ERR_UNSUPPORTED, line, "operands of `%s`: %s", opcode, bind.reason);
    }
    instruction.opcode = opcode;
    instruction.line = line;
    instruction.operand_count = (uint16_t)bind.count;
    instruction.operands = bind.operands;
    if (guard != NULL) {
        if (guard->kind != FPO_NODE_REGISTER || b->registers[guard->index].bytes != 0)
            fpo_ptx_fail(b->parse, FPO_ERR_FILE, line, "the guard of `%s` is no predicate", opcode);
        instruction.guarded = true;
        instruction.guard_negated = guard->negated;
        instruction.guard = guard->index;
    }
    if (label != NULL) {
        fpo_ptx_fixup *fixup = fpo_ptx_take(b->parse, sizeof *fixup);
        *fixup = (fpo_ptx_fixup){b->fixups, b->code_count, line, label, b->scope};
        b->fixups = fixup;
    }
    b->code = fpo_ptx_grow(b->parse, b->code, b->code_count, sizeof *b->code);
    b->code[b->code_count++] = instruction;
}
