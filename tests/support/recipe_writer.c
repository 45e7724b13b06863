/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "recipe_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 48, NAME = 16 };

typedef struct writer {
    fpo_random random;
    uint64_t drawn;
    fpo_written_recipe *recipe;
    size_t length;
    char last[2][NAME];         /* the newest values of elements, often read by the next step */
    char elements[NAMES][NAME]; /* names that a step may read: values of elements, */
    int element_count;
    const char *wide[NAMES]; /* of blocks, rows and the tensor, */
    int wide_count;
    const char *conditions[NAMES]; /* and of those what is 0 or 1 */
    int condition_count;
    bool has_row; /* blocks are of one row then */
    bool searches, has_error, flushes;
} writer;

static int below(writer *w, int bound)
{
    return (int)fpo_random_below(w->random, w->drawn++, (uint64_t)bound);
}

static bool chance(writer *w, int percent)
{
    return below(w, 100) < percent;
}

/* One of a list of strings. */
#define ONE_OF(w, list) ((list)[below((w), (int)(sizeof(list) / sizeof *(list)))])

static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof w->recipe->text - w->length;
    int length = vsnprintf(w->recipe->text + w->length, room, format, arguments);
    va_end(arguments);
    w->length += length < 0 || (size_t)length >= room ? room - 1 : (size_t)length;
}

static const char *number(writer *w)
{
    static const char *const numbers[] = {"0", "0.1", "0.5", "1",   "1.5",   "2",      "2.5",   "3",
                                          "6", "-6",  "-1",  "448", "-0.25", "1p-126", "1p127", "nan"};
    return ONE_OF(w, numbers);
}

/* A value of elements most often; `first` of a step's arguments nearly always, or few codes would depend on x. */
static const char *operand(writer *w, bool first)
{
    int dice = below(w, first && !chance(w, 10) ? 85 : 100);
    if (w->element_count > 0 && dice < 40)
        return w->last[below(w, 2)];
    if (w->element_count > 0 && dice < 72)
        return w->elements[below(w, w->element_count)];
    if (dice < 85)
        return "x";
    return dice < 94 && w->wide_count > 0 ? w->wide[below(w, w->wide_count)] : number(w);
}

static void put_letter(writer *w, char letter, bool first)
{
    const fpo_operand_view *view = &w->recipe->info.view;
    switch (letter) {
    case '@': put(w, "%s", operand(w, first)); break;
    case '~': put(w, "%s", number(w)); break;
    case '$': put(w, "%s", w->wide_count > 0 ? w->wide[below(w, w->wide_count)] : number(w)); break;
    case '&': put(w, "%s", w->conditions[below(w, w->condition_count)]); break;
    case '^': put(w, "%s", fpo_format_describe(view->element)->name); break;
    default: put(w, "%c", letter); break;
    }
}

/* A template: @ is a value; ~ a number; $ a value of blocks or wider, & a condition of these; ^ the element's format.
 */
static void expand(writer *w, const char *text)
{
    bool first = true;
    for (; *text != '\0'; text++) {
        put_letter(w, *text, first);
        first = first && *text != '@';
    }
}

static void knows(writer *w, const char *wide)
{
    w->wide[w->wide_count++] = wide;
}

static void decides_by(writer *w, const char *condition)
{
    w->conditions[w->condition_count++] = condition;
}

static void knows_element(writer *w, const char *name)
{
    snprintf(w->elements[w->element_count++], NAME, "%s", name);
    memcpy(w->last[0], w->last[1], NAME);
    snprintf(w->last[1], NAME, "%s", name);
    if (w->element_count == 1)
        memcpy(w->last[0], w->last[1], NAME);
}

/* What an element's step may be. Many choices: what stands for their results is read as late as these are. */
static const char *const steps[] = {
    "@ + @",
    "@ - @",
    "@ * ~",
    "~ * @",
    "~ + @",
    "@ * $",
    "@ / $",
    "@ - ~",
    "~ - @",
    "~ / @",
    "min(@, ~)",
    "max(@, ~)",
    "fmin(@, ~)",
    "fmax(@, @)",
    "fma(@, $, @)",
    "abs(@)",
    "-@",
    "rint(@)",
    "ceil(@)",
    "floor(@)",
    "grid(@)",
    "wrap(@)",
    "nearest(@, $)",
    "nearest(@, @)",
    "signed(@, @ < ~)",
    "e2m1(@)",
    "e2m1.away(@)",
    "e4m3(@)",
    "bf16(@)",
    "f16(@)",
    "D(@)",
    "div_full(@, $)",
    "rcpa(@)",
    "rcp(@)",
    "random + @",
    "e2m1.rs(@)",
    "@",
    "@ * ~ + @ * $",
    "(@ + @) / $",
    "min(max(@, -6), 6)",
    "abs(@) - abs(@)",
    "e3m2(@)",
    "field(@)",
    "@ > ~",
    "addbits(fmin(abs(@), 1p126), 2097152)",
    "mantissa(fmin(@, 1p126)) * 1p-23",
    "max(min(@, ~), $)",
    "@ != @",
};
static const char *const choices[] = {
    "& ? @ : @",     "& ? @ : @",      "& ? @ : x",      "& ? @ : ~",         "& ? $ : @", "$ > ~ ? @ : @",
    "@ < ~ ? @ : @", "@ != @ ? ~ : @", "@ >= @ ? @ : $", "& ? @ : & ? @ : @", "@ ? @ : @", "$ == $ ? @ : @",
};

/* An error may come before the code, and be read by what the code needs. */
static void write_early_error(writer *w)
{
    expand(w, "error = abs(@ - x); ");
    w->has_error = true;
    knows_element(w, "error");
}

static void write_elements(writer *w)
{
    static const char *const first[] = {"x * m", "x / s", "x", "x * m + 0", "div_full(x, s)", "x * rcpa(s)"};
    int count = 1 + below(w, 11);
    for (int i = 0; i < count; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "v%d", i);
        put(w, "%s = ", name);
        expand(w, i == 0 ? ONE_OF(w, first) : chance(w, 40) ? ONE_OF(w, choices) : ONE_OF(w, steps));
        put(w, "; ");
        knows_element(w, name);
        if (w->searches && i == count / 2 && chance(w, 25))
            write_early_error(w);
    }
}

static void write_code(writer *w)
{
    static const char *const codes[] = {
        "code = ^(@)",
        "code = ^(@)",
        "code = ^.away(@)",
        "code = ^.down(@)",
        "code = ^.rz(@)",
        "code = ^.rs(@)",
        "code = ^.no_minus_zero(@)",
        "code = @",
        "code = wrap(@)",
        "code = wrap(grid(@))",
        "code = nearest(@, $)",
        "code = nearest(@, s)",
        "code = nearest(@, @)",
        "code = & ? ^(@) : @",
        "code = & ? @ : @",
        "code = & ? ^(@) : ^(@)",
        "code = @ < ~ ? ^(@) : ~",
        "code = ^(max(min(@, 448), -448))",
        "code = ^(max(min(@, 6), -6))",
        "code = ^(min(@, ~))",
        "code = ^(max(@, ~))",
        "y = @ * $; z = y + @; z = max(z, @); code = nearest(z, y)",
        "code = ^(is_f32 ? @ : @)",
        "z = ^(@); code = z",
        "z = @; code = ^(z != z ? 0 : z)",
        "z = @; code = z != z ? 0 : ^(z)",
        "z = @; code = z != z ? 0 : ^(abs(z))",
        "z = @; code = ^(z != z ? 0 : @)",
        "z = @; code = z != z ? 0 : ^(@)",
        "z = @; code = signed(^(abs(z)), z < 0)",
        "z = @; code = signed(^.no_minus_zero(abs(z)), z < 0)",
        "z = @; code = z == 0 ? z : signed(^(abs(z)), @ <= ~)",
    };
    expand(w, ONE_OF(w, codes));
    put(w, "; ");
}

static void write_errors(writer *w)
{
    static const char *const labels[] = {"", "", " 4", " 8", " fma", " max"};
    static const char *const differences[] = {"code * scale - x", "code - x * m", "code * $ - @", "@ - x", "@ * s - x"};
    static const char *const errors[] = {
        "error = e * e",
        "error = abs(e)",
        "error = abs(e)",
        "error = e",
        "error = & ? abs(e) : e * e",
        "n = x > ~ ? nan : 0; error = yc ? abs(e) : abs(e) + n",
        "n = x > 2 ? nan : 0; error = yc ? abs(e) + n : e * e",
    };
    put(w, "error%s: e = ", ONE_OF(w, labels));
    expand(w, ONE_OF(w, differences));
    put(w, "; ");
    expand(w, ONE_OF(w, errors));
    put(w, ";");
}

/* A scale that suits s, the amax over the largest element. */
static void write_scale(writer *w)
{
    static const char *const ue4m3[] = {"e4m3(s)", "e4m3(min(s, 448))", "e4m3(max(s, 1p-9))", "~ * e4m3(s)"};
    static const char *const ue8m0[] = {"ue8m0.rp(s)", "e8(field(s))", "e8(max(field(s) - 2, 0))",
                                        "exp2(rint(log2(s)))"};
    static const char *const f32[] = {"s", "max(s, 1p-20)", "s == 0 ? 1 : s", "rcp(rcp(s))"};
    fpo_format format = w->recipe->info.view.scale.format;
    put(w, "scale = ");
    expand(w, format == FPO_UE4M3 ? ONE_OF(w, ue4m3) : format == FPO_UE8M0 ? ONE_OF(w, ue8m0) : ONE_OF(w, f32));
    put(w, "; m = %s; ", chance(w, 50) ? "rcp(scale)" : chance(w, 50) ? "rcpa(s)" : "scale == 0 ? 0 : 1 / s");
    knows(w, "scale");
    knows(w, "m");
}

static void write_tensor(writer *w, bool amax)
{
    put(w, "tensor: %s", chance(w, 20) ? "f64; " : "");
    put(w, amax ? "tensor_scale = tensor_amax / 6; " : "tensor_scale = 1.25; ");
    put(w, "%st0 = tensor_scale * 0.5; tc = tensor_scale > %s; ieee; ",
        chance(w, 50) ? "multiplier = 1 / tensor_scale; " : "", number(w));
    put(w, "%s", w->flushes ? "ftz; " : "");
    knows(w, "t0");
    decides_by(w, "tc");
}

static void write_row(writer *w)
{
    w->has_row = true;
    put(w, "row: row_scale = row_amax / 6; %sr0 = rcp(row_scale); rc = row_amax > %s; ",
        chance(w, 50) ? "row_multiplier = rcp(row_scale * 2); " : "", number(w));
    knows(w, "row_scale");
    knows(w, "r0");
    decides_by(w, "rc");
}

/* The input's own part changes x in one or several steps, the last of which may be a choice: then another register
 * stands for x. What it makes besides x, elements may read. */
static void write_input(writer *w, int known_before)
{
    static const char *const all[] = {"x * 1.5", "D(x)",    "bf16(x)",    "max(x, -2)",    "fma(x, 2, 1)",
                                      "-x",      "x * 0.3", "& ? x : -x", "& ? x : x * 2", "hadamard(x)"};
    const char *single = all[below(w, w->flushes ? 9 : 10)]; /* which does not flush */
    static const char *const pairs[] = {"x = & ? x : i0", "x = & ? i0 : x", "x = i0 < ~ ? x : i0", "x = x + i0",
                                        "x = i0"};
    int known = w->condition_count;
    w->condition_count = known_before;
    put(w, "input: ");
    if (chance(w, 60)) {
        put(w, "i0 = ");
        expand(w, single);
        if (chance(w, 90)) {
            put(w, "; ");
            expand(w, ONE_OF(w, pairs));
        }
        if (chance(w, 50))
            knows_element(w, "i0");
    } else {
        put(w, "x = ");
        expand(w, single);
    }
    put(w, "; ");
    w->condition_count = known;
}

static void write_block(writer *w, const char *amax)
{
    const fpo_scale_view *scale = &w->recipe->info.view.scale;
    bool square = scale->block_k == 16 && !w->has_row && strcmp(amax, "amax") == 0 && chance(w, 25);
    static const char *const regions[] = {" 16, 16", " 3, 32", " 1, 64"};
    static const char *const between[] = {"2", "2.5", "3", "4", "6"}; /* some blocks' amax of noise and others' */
    put(w, "block%s: b0 = %s / 6; bc = %s > %s; ", square ? ONE_OF(w, regions) : "", amax, amax,
        chance(w, 60) ? ONE_OF(w, between) : number(w));
    knows(w, "b0");
    decides_by(w, "bc");
    if (!w->searches) {
        put(w, "s = b0; ");
        write_scale(w);
        return;
    }
    static const char *const tries[] = {"1, 1.5", "0, 1, 1.5", "1.5, 1, 0.5, 2", "2, 0.25, -1", "1, 0, 1"};
    put(w, "try %s: s = b0 * try; yc = try > %s; ", ONE_OF(w, tries), number(w));
    knows(w, "try");
    decides_by(w, "yc");
    write_scale(w);
}

static void choose_view(writer *w)
{
    static const fpo_format elements[] = {FPO_E2M1, FPO_E2M1, FPO_E2M1, FPO_E4M3, FPO_E5M2, FPO_E3M2};
    static const fpo_format scales[] = {FPO_UE4M3, FPO_UE8M0, FPO_F32};
    static const int blocks[] = {1, 1, 2, 2, 16, 16, 16, 16, 32, 32, 128, 128, 0}; /* 0: all of a row */
    fpo_operand_view *view = &w->recipe->info.view;
    *view = (fpo_operand_view){.element = ONE_OF(w, elements), .packing = FPO_PACKING_CANONICAL};
    view->scale = (fpo_scale_view){ONE_OF(w, scales), 1, ONE_OF(w, blocks), FPO_LAYOUT_LINEAR};
}

void fpo_write_recipe(uint64_t number, fpo_written_recipe *recipe)
{
    static const char *const rules[] = {"", "", "nan_loses; ", "nan_zero; ", "even_odd; "};
    static const char *const draws[] = {"", "", "", "te_row_bits; ", "te_row_bits_of_both; ", "te_column_bits; "};
    *recipe = (fpo_written_recipe){.info = {.name = "a random recipe"}};
    recipe->info.text = recipe->text;
    writer w = {.random = {UINT64_C(0x9A7), number}, .recipe = recipe};
    choose_view(&w);
    decides_by(&w, "is_f32");
    decides_by(&w, "is_bf16");
    decides_by(&w, "0");
    w.searches = recipe->info.view.scale.block_k > 0 && chance(&w, 35);
    w.flushes = chance(&w, 25);
    /* The last rule is not for more than a chunk of elements. */
    const char *rule = rules[below(&w, recipe->info.view.scale.block_k == 0 ? 4 : 5)];
    put(&w, "%s%s%s", rule, ONE_OF(&w, draws), w.flushes ? "ftz; " : "");
    const char *amax = chance(&w, 95) ? "amax" : "3";
    /* What the input's part may ask: of its own amax it would have no meaning. */
    int known_before = w.condition_count;
    if (chance(&w, 50)) {
        bool of_amax = chance(&w, 50);
        write_tensor(&w, of_amax);
        known_before += of_amax ? 0 : 1;
        amax = of_amax && chance(&w, 20) ? "tensor_amax" : amax;
    }
    if (chance(&w, 30)) {
        write_row(&w);
        amax = chance(&w, 30) ? "row_amax" : amax;
    }
    if (chance(&w, 40))
        write_input(&w, known_before);
    write_block(&w, amax);
    knows(&w, "s");
    put(&w, "element: ");
    write_elements(&w);
    write_code(&w);
    if (w.searches && !w.has_error)
        write_errors(&w);
}
