/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The codes on both sides of a code, the midpoints between them, and how each cast policy rounds there. */
#include "explain.h"
#include "number.h"
#include "report.h"
#include "table.h"

#include <stdio.h>

/* What a cast is tried on: the value itself and the midpoints to its neighbours (0: below, 1: itself, 2: above). */
enum { BELOW, ITSELF, ABOVE, TRIALS };

typedef struct neighbourhood {
    bool exists[TRIALS];
    uint32_t code[TRIALS]; /* of the neighbour; beyond the largest number: of the largest number */
    fpo_value trial[TRIALS];
    bool beyond[TRIALS]; /* the neighbour is not a number: trial is where the next number would have its midpoint */
} neighbourhood;

/* The next number of the format in direction `step` (+1 up, -1 down); false at the end of the line. */
static bool next_number(const fpo_format_info *info, fpo_format format, uint32_t code, int step, uint32_t *next)
{
    uint32_t sign_bit = info->sign_bits != 0 ? 1u << (info->bits - 1) : 0;
    uint32_t magnitude = code & (info->code_mask & ~sign_bit);
    bool negative = (code & sign_bit) != 0;
    if (fpo_decode(format, code).kind == FPO_ZERO) { /* both zeros are one place on the line */
        negative = step < 0;
        if (negative && sign_bit == 0)
            return false;
        *next = 1 | (negative ? sign_bit : 0);
        return true;
    }
    bool outward = (step > 0) != negative;
    if (outward ? magnitude == info->max_finite : magnitude == 0)
        return false;
    *next = (outward ? magnitude + 1 : magnitude - 1) | (negative ? sign_bit : 0);
    return true;
}

/* Halfway from code to next; beyond the largest number, half a unit of the last place outward. */
static fpo_value midpoint(fpo_format format, uint32_t code, uint32_t next, bool beyond)
{
    mpfr_t x, y;
    mpfr_inits2(128, x, y, (mpfr_ptr)0);
    fpo_value_to_mpfr(x, fpo_decode(format, code));
    fpo_value_to_mpfr(y, fpo_decode(format, next));
    if (beyond) /* next is the number inside: mirror it */ {
        mpfr_sub(y, x, y, MPFR_RNDN);
        mpfr_add(y, x, y, MPFR_RNDN);
    }
    mpfr_add(x, x, y, MPFR_RNDN);
    mpfr_div_2ui(x, x, 1, MPFR_RNDN);
    fpo_value value = fpo_value_from_mpfr(x);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return value;
}

static neighbourhood find(fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    neighbourhood n = {.exists = {false, true, false}};
    n.code[ITSELF] = code;
    n.trial[ITSELF] = fpo_decode(format, code);
    fpo_class kind = n.trial[ITSELF].kind;
    if (kind == FPO_NAN || kind == FPO_INFINITE)
        return n;
    for (int side = BELOW; side <= ABOVE; side += ABOVE - BELOW) {
        int step = side == ABOVE ? 1 : -1;
        uint32_t next = 0;
        n.exists[side] = next_number(info, format, code, step, &next);
        if (n.exists[side]) {
            n.code[side] = next;
            n.trial[side] = midpoint(format, code, next, false);
        } else if (code != 0 && next_number(info, format, code, -step, &next)) {
            n.beyond[side] = true;
            n.code[side] = code;
            /* ue8m0 and other exponent-only formats: the next power of two would be twice as far, not mirrored. */
            n.trial[side] =
                info->mantissa_bits == 0 ? midpoint(format, code, code, false) : midpoint(format, code, next, true);
            if (info->mantissa_bits == 0) {
                n.trial[side].significand *= 3;
                n.trial[side].exponent -= 1;
            }
        }
    }
    return n;
}

static void print_neighbour(fpo_format format, const neighbourhood *n, int side, const char *name)
{
    if (n->exists[side])
        printf("  %-6s %s = %s, midpoint %s\n", name, fpo_hex_text(format, n->code[side]).text,
               fpo_code_text(format, n->code[side]).text, fpo_value_text(n->trial[side]).text);
    else if (n->beyond[side])
        printf("  %-6s no number: this is the last; another one step on would have its midpoint at %s\n", name,
               fpo_value_text(n->trial[side]).text);
    else
        printf("  %-6s no number: this is the smallest\n", name);
}

static void cast_all(fpo_format format, const neighbourhood *n, fpo_cast_preset preset, uint32_t codes[TRIALS])
{
    for (int trial = 0; trial < TRIALS; trial++)
        codes[trial] = n->exists[trial] || n->beyond[trial]
                           ? fpo_encode(format, n->trial[trial], fpo_cast_describe(preset), 0)
                           : 0;
}

static bool same_codes(const uint32_t *a, const uint32_t *b)
{
    return a[BELOW] == b[BELOW] && a[ITSELF] == b[ITSELF] && a[ABOVE] == b[ABOVE];
}

static void add_cast_cell(fpo_table *table, fpo_format format, const neighbourhood *n, int trial, uint32_t code)
{
    if (n->exists[trial] || n->beyond[trial])
        fpo_table_add(table, "%s (%s)", fpo_hex_text(format, code).text, fpo_code_text(format, code).text);
    else
        fpo_table_add(table, "-");
}

/* One row for all policies that agree. */
static void print_casts(fpo_format format, const neighbourhood *n)
{
    fpo_table *table = fpo_table_new(4);
    fpo_table_add(table, "midpoint below");
    fpo_table_add(table, "value itself");
    fpo_table_add(table, "midpoint above");
    fpo_table_add(table, "under the cast policies");
    bool done[FPO_CAST_COUNT] = {false};
    for (int first = 0; first < FPO_CAST_COUNT; first++) {
        if (done[first])
            continue;
        uint32_t codes[TRIALS];
        cast_all(format, n, (fpo_cast_preset)first, codes);
        char names[512];
        size_t length = 0;
        for (int other = first; other < FPO_CAST_COUNT; other++) {
            uint32_t others[TRIALS];
            cast_all(format, n, (fpo_cast_preset)other, others);
            if (done[other] || !same_codes(codes, others) || length >= sizeof names)
                continue;
            done[other] = true;
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "",
                                       fpo_cast_name((fpo_cast_preset)other));
        }
        for (int trial = 0; trial < TRIALS; trial++)
            add_cast_cell(table, format, n, trial, codes[trial]);
        fpo_table_add(table, "%s", names);
    }
    fpo_table_print(table, 2);
}

void fpo_explain_neighbours(fpo_format format, uint32_t code)
{
    neighbourhood n = find(format, code);
    if (n.exists[BELOW] || n.exists[ABOVE]) {
        fpo_section("neighbours");
        print_neighbour(format, &n, BELOW, "below");
        print_neighbour(format, &n, ABOVE, "above");
    }
    fpo_section("casts to %s", fpo_format_describe(format)->name);
    print_casts(format, &n);
}

static json_t *neighbour_json(fpo_format format, const neighbourhood *n, int side)
{
    if (!n->exists[side])
        return json_null();
    return json_pack("{s:s, s:s, s:s}", "code", fpo_hex_text(format, n->code[side]).text, "decimal",
                     fpo_code_text(format, n->code[side]).text, "midpoint", fpo_value_text(n->trial[side]).text);
}

json_t *fpo_explain_neighbours_json(fpo_format format, uint32_t code)
{
    neighbourhood n = find(format, code);
    json_t *casts = json_object();
    for (int preset = 0; preset < FPO_CAST_COUNT; preset++) {
        uint32_t codes[TRIALS];
        cast_all(format, &n, (fpo_cast_preset)preset, codes);
        static const char *const keys[TRIALS] = {"midpoint_below", "value", "midpoint_above"};
        json_t *entry = json_object();
        for (int trial = 0; trial < TRIALS; trial++) {
            if (n.exists[trial] || n.beyond[trial])
                json_object_set_new(entry, keys[trial], json_string(fpo_hex_text(format, codes[trial]).text));
        }
        json_object_set_new(casts, fpo_cast_name((fpo_cast_preset)preset), entry);
    }
    return json_pack("{s:o, s:o, s:o}", "below", neighbour_json(format, &n, BELOW), "above",
                     neighbour_json(format, &n, ABOVE), "casts", casts);
}
