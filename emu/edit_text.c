/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits in words: parameters by their names, sentences with the parameters filled in. */
#include <fp4oracle/edit.h>
#include <fp4oracle/quantize.h>

#include <stdio.h>
#include <string.h>

typedef enum parameter {
    NONE,
    NUMBER,
    NUMBER_HEX,
    FORMAT,
    LAYOUT,
    PACKING,
    MODEL,
    EPILOGUE,
    RECIPE,
    ROUNDING,
    OVERFLOW,
    NAN_POLICY,
    PROMOTION,
    SPLIT,
    SUBNORMALS,
    CODE,
    VALUE
} parameter;

static const struct {
    parameter from, to;
} parameters[] = {
#define FPO_EDIT(ID, name, fault_class, scope, standing, group, from, to, sentence, look) {from, to},
#include <fp4oracle/edits.inc>
#undef FPO_EDIT
};

enum { WORD = 96 };

static const char *choice(const char *const *names, int count, int value)
{
    return value >= 0 && value < count ? names[value] : "?";
}

static const char *name_of(const char *name)
{
    return name != NULL ? name : "?";
}

/* A kind of split and a reduction, "contiguous parts, added in order". */
static void split_words(int value, char *text)
{
    static const char *const kinds[] = {"one part", "contiguous parts", "even parts", "interleaved parts",
                                        "cuBLASLt's parts"};
    static const char *const reductions[] = {"added in order", "added in pairs", "added by halves",
                                             "added to the last"};
    snprintf(text, WORD, "%s, %s", choice(kinds, 5, value & 0xFF), choice(reductions, 4, value >> 8));
}

/* The name of a parameter; what is no name in a registry is written into `text`. */
static const char *parameter_name(parameter kind, const fpo_edit *edit, int value, char *text)
{
    static const char *const roundings[] = {"to nearest even",
                                            "to nearest, ties away from zero",
                                            "to nearest, ties toward zero",
                                            "toward zero",
                                            "away from zero",
                                            "up",
                                            "down"};
    static const char *const overflows[] = {"the largest number", "infinity or NaN"};
    static const char *const nans[] = {"the canonical NaN", "the canonical NaN with a sign", "the IEEE NaN"};
    static const char *const promotions[] = {
        "t + p",         "fma(p, sA*sB, t)", "fma(p*sB, sA, t)", "fma(p*sA, sB, t)",
        "t + p*(sA*sB)", "t + (p*sA)*sB",    "t + (p*sB)*sA"};
    switch (kind) {
    case FORMAT: {
        const fpo_format_info *info = fpo_format_describe((fpo_format)value);
        return name_of(info != NULL ? info->name : NULL);
    }
    case LAYOUT: return fpo_layout_name((fpo_layout)value);
    case PACKING: return fpo_packing_name((fpo_packing)value);
    case MODEL:
        return value < 0 || fpo_model_at((size_t)value) == NULL ? "the spec's own" : fpo_model_at((size_t)value)->name;
    case EPILOGUE:
        return (unsigned)value < FPO_EPILOGUE_COUNT ? fpo_epilogue_describe((fpo_epilogue_preset)value)->name : "?";
    case RECIPE: return (unsigned)value < FPO_RECIPE_COUNT ? fpo_recipe_describe((fpo_recipe)value)->name : "?";
    case ROUNDING: return choice(roundings, 7, value);
    case OVERFLOW: return value == FPO_SATURATE ? overflows[0] : overflows[1];
    case NAN_POLICY: return choice(nans, 3, value);
    case PROMOTION: return choice(promotions, 7, value);
    case SUBNORMALS: return value != 0 ? "rounded to f16's subnormals" : "zero";
    case SPLIT: split_words(value, text); break;
    case NUMBER_HEX: snprintf(text, WORD, "0x%02X", (unsigned)value); break;
    case CODE: {
        const fpo_format_info *info = fpo_format_describe((fpo_format)edit->from);
        snprintf(text, WORD, "0x%0*X", info != NULL ? (info->bits + 3) / 4 : 8, (unsigned)value);
        break;
    }
    case VALUE: snprintf(text, WORD, "%.9g", (double)edit->value); break;
    case NUMBER:
    case NONE: snprintf(text, WORD, "%d", value); break;
    }
    return text;
}

static const char *operand_names(int operands)
{
    static const char *const names[] = {"", "A", "B", "A and B"};
    return names[operands & 3];
}

void fpo_edit_sentence(const fpo_edit *edit, char *text, size_t size)
{
    char words[WORD];
    size_t used = 0;
    for (const char *p = fpo_edit_describe(edit->kind)->sentence; *p != '\0' && used + 1 < size; ++p) {
        const char *piece = NULL;
        if (p[0] == '%' && p[1] == 's')
            piece = operand_names(edit->operands);
        else if (p[0] == '%' && p[1] == '1')
            piece = parameter_name(parameters[edit->kind].from, edit, edit->from, words);
        else if (p[0] == '%' && p[1] == '2')
            piece = parameter_name(parameters[edit->kind].to, edit, edit->to, words);
        else if (p[0] == '%' && p[1] == 'v')
            piece = parameter_name(VALUE, edit, 0, words);
        if (piece == NULL) {
            text[used++] = *p;
            continue;
        }
        ++p;
        for (; *piece != '\0' && used + 1 < size; ++piece)
            text[used++] = *piece;
    }
    if (size > 0)
        text[used] = '\0';
}

static void append(char *text, size_t size, const char *name, const char *value)
{
    size_t used = strlen(text);
    if (used < size)
        snprintf(text + used, size - used, "%s%s=%s", used > 0 ? "," : "", name, value);
}

void fpo_edit_parameters(const fpo_edit *edit, char *text, size_t size)
{
    char words[WORD];
    parameter from = parameters[edit->kind].from, to = parameters[edit->kind].to;
    if (size == 0)
        return;
    text[0] = '\0';
    if (edit->operands != 0)
        append(text, size, "operand", operand_names(edit->operands));
    if (from != NONE)
        append(text, size, "from", parameter_name(from, edit, edit->from, words));
    if (to == VALUE)
        append(text, size, "factor", parameter_name(to, edit, 0, words));
    else if (to != NONE)
        append(text, size, "to", parameter_name(to, edit, edit->to, words));
}
