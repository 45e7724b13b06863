/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Random recipes (support/recipe_writer.c): the engine, which leaves out steps, shares memory and keeps results,
 * against every step on every element (support/recipe_twin.c), for all instruction sets and numbers of threads, byte
 * for byte. FPO_LONG=1 takes more of them; FPO_PROGRAM=N takes recipe N alone. */
#include "engine.h"
#include "quantizer.h"
#include "recipe_twin.h"
#include "recipe_writer.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One recipe with numbers to quantise. */
typedef struct job {
    uint64_t number;
    fpo_written_recipe recipe;
    fpo_program program; /* as it is compiled */
    fpo_format dtype;
    int64_t rows, k;
    float *x;
} job;

static int64_t below(const job *j, uint64_t index, uint64_t bound)
{
    return (int64_t)fpo_random_below((fpo_random){UINT64_C(0x5EED), j->number}, index, bound);
}

/* Zeros, subnormals, infinities, NaN, the largest and smallest; NaN has the bits that processors make. */
static float special(uint64_t noise)
{
    const float numbers[] = {0, 1e-45f, 0x1p-127f, 0x1p-126f, 0x1.fffffep127f, 0x1p120f, 6, 2.5f, 0.25f, INFINITY, NAN};
    float x = numbers[noise % (sizeof numbers / sizeof *numbers)];
    return noise >> 40 & 1 && x == x ? -x : x;
}

/* Rows of noise, of noise with a few numbers of other kinds, of other kinds alone; every few regions differ in size. */
static void fill(job *j)
{
    fpo_random random = {UINT64_C(0xDA7A), j->number};
    int exponent = below(j, 10, 8) == 0 ? (int)below(j, 11, 200) - 100 : 0;
    for (int64_t i = 0; i < j->rows * j->k; i++) {
        int64_t row = i / j->k;
        uint64_t noise = fpo_random_bits(random, (uint64_t)i);
        uint64_t rarity = row % 5 == 4 ? 1 : row % 5 == 2 ? 400 : UINT64_MAX;
        float x = fpo_random_normal(random, (uint64_t)i) * (float)(1 + i / 160 % 3);
        x = noise % rarity == 0 && rarity != UINT64_MAX ? special(noise >> 16) : ldexpf(x, exponent);
        uint32_t code = fpo_encode(j->dtype, fpo_value_from_float(x), fpo_cast_describe(FPO_CAST_IEEE), 0);
        j->x[i] = isnan(x) ? x : (float)fpo_decode_double(j->dtype, code);
    }
}

enum { LARGEST_K = 3100, ELEMENTS = 12000 };

static void choose_shape(job *j)
{
    static const int64_t widths[] = {1, 2, 15, 33, 64, 130, 257, 512, 600, 1024, 1040, 1100, 2048, 2050, 2600, 3000};
    j->k = widths[below(j, 0, sizeof widths / sizeof *widths)] + (below(j, 1, 2) != 0 ? below(j, 2, 40) : 0);
    int64_t most = ELEMENTS / j->k < 40 ? ELEMENTS / j->k : 40;
    j->rows = 1 + below(j, 3, (uint64_t)most);
    j->dtype = below(j, 4, 4) == 0 ? FPO_BF16 : FPO_F32;
}

static fpo_quantized places(const job *j)
{
    const fpo_operand_view *view = &j->recipe.info.view;
    fpo_quantized q = {.dtype = j->dtype, .seed = j->number, .given_library_scale = below(j, 5, 3) == 0};
    q.library_scale = q.given_library_scale ? 2.75f : 0;
    q.codes = calloc(1, q.codes_bytes = fpo_operand_codes_bytes(view, j->rows, j->k));
    q.scales = calloc(1, q.scales_bytes = fpo_operand_scales_bytes(view, j->rows, j->k));
    q.row_scales = calloc((size_t)j->rows, sizeof(float));
    q.library_row_scales = calloc((size_t)j->rows, sizeof(float));
    return q;
}

static void release(fpo_quantized *q)
{
    free(q->codes), free(q->scales), free(q->row_scales), free(q->library_row_scales);
}

/* Where two results differ first, in words. */
static void say_where(const job *j, const fpo_quantized *got, const fpo_quantized *expected, char *text, size_t size)
{
    fpo_format element = j->recipe.info.view.element;
    size_t bytes = (size_t)fpo_packing_row_bytes(FPO_PACKING_CANONICAL, element, j->k);
    uint8_t codes[2][LARGEST_K];
    for (int64_t row = 0; row < j->rows; row++) {
        fpo_unpack_row(FPO_PACKING_CANONICAL, element, j->k, (uint8_t *)got->codes + (size_t)row * bytes, codes[0]);
        fpo_unpack_row(FPO_PACKING_CANONICAL, element, j->k, (uint8_t *)expected->codes + (size_t)row * bytes,
                       codes[1]);
        for (int64_t i = 0; i < j->k; i++)
            if (codes[0][i] != codes[1][i]) {
                snprintf(text, size, "row %lld, element %lld, x %a: code %02x, not %02x", (long long)row, (long long)i,
                         (double)j->x[row * j->k + i], codes[0][i], codes[1][i]);
                return;
            }
    }
    for (size_t i = 0; i < got->scales_bytes; i++)
        if (((uint8_t *)got->scales)[i] != ((uint8_t *)expected->scales)[i]) {
            snprintf(text, size, "byte %zu of the scales: %02x, not %02x", i, ((uint8_t *)got->scales)[i],
                     ((uint8_t *)expected->scales)[i]);
            return;
        }
    for (int64_t i = 0; i < j->rows; i++)
        if (memcmp(&got->row_scales[i], &expected->row_scales[i], sizeof(float)) != 0) {
            snprintf(text, size, "scale of row %lld: %a, not %a", (long long)i, (double)got->row_scales[i],
                     (double)expected->row_scales[i]);
            return;
        }
    snprintf(text, size, "tensor scale %a, library scale %a, not %a, %a, or a row's library scale",
             (double)got->tensor_scale, (double)got->library_scale, (double)expected->tensor_scale,
             (double)expected->library_scale);
}

static bool same(const job *j, const fpo_quantized *a, const fpo_quantized *b)
{
    size_t rows = (size_t)j->rows * sizeof(float);
    return memcmp(a->codes, b->codes, a->codes_bytes) == 0 && memcmp(a->scales, b->scales, a->scales_bytes) == 0 &&
           memcmp(a->row_scales, b->row_scales, rows) == 0 &&
           memcmp(a->library_row_scales, b->library_row_scales, rows) == 0 &&
           memcmp(&a->tensor_scale, &b->tensor_scale, sizeof(float)) == 0 &&
           memcmp(&a->library_scale, &b->library_scale, sizeof(float)) == 0;
}

/* What the engine has to do for a recipe: each is asserted to have come up. */
#define MECHANISMS(M)                                                                                                  \
    M(DROPPED, "steps that nothing depends on")                                                                        \
    M(SHARED, "registers that share memory")                                                                           \
    M(LATE, "a register read many steps later")                                                                        \
    M(BLOCK_CHOICE, "a choice by a block's value")                                                                     \
    M(ROW_CHOICE, "a choice by a row's or the tensor's value")                                                         \
    M(ELEMENT_CHOICE, "a choice by an element's value")                                                                \
    M(IDLE_CHOICE, "a choice by a constant")                                                                           \
    M(STAND_IN, "a register that is read after its last step for the one that it stands for")                          \
    M(X_STANDS_IN, "x itself among what is chosen from by a block's value or a wider one")                             \
    M(INPUT, "an input's part")                                                                                        \
    M(KEPT, "an input's results kept")                                                                                 \
    M(KEPT_CHOICE, "an input's results kept where another register may stand for x")                                   \
    M(INPUT_AGAIN, "an input's part that runs again for the elements")                                                 \
    M(SEARCH, "a search")                                                                                              \
    M(ERROR_OF_CODE, "errors that read the code")                                                                      \
    M(ERROR_WITHOUT, "errors that do not")                                                                             \
    M(LAST_ROUNDING, "codes stored by a rounding")                                                                     \
    M(LAST_WRAP, "codes stored by wrap")                                                                               \
    M(LAST_NEAREST, "codes stored by nearest")                                                                         \
    M(NO_LAST, "codes of values")                                                                                      \
    M(BY_CONSTANT, "a constant that is a scalar to the loops")                                                         \
    M(BY_BLOCKS, "an argument taken block by block")                                                                   \
    M(SWAPPED, "a constant that comes second")                                                                         \
    M(NAN_ROUNDING, "NaN made zero by the rounding")                                                                   \
    M(SIGNED_ROUNDING, "a sign set before the rounding")                                                               \
    M(FTZ, "subnormals flushed")                                                                                       \
    M(TENSOR_AMAX, "the tensor's amax")                                                                                \
    M(ROW_AMAX, "a row's amax")                                                                                        \
    M(BLOCK_AMAX, "a block's amax")                                                                                    \
    M(SQUARE, "an amax of several rows")                                                                               \
    M(PARTIAL, "K that is no multiple of the block")                                                                   \
    M(CHUNKS, "several chunks of a row")                                                                               \
    M(MANY_REGIONS, "more regions than are worked on at once")                                                         \
    M(BLOCK_1, "blocks of 1")                                                                                          \
    M(BLOCK_2, "blocks of 2")                                                                                          \
    M(BLOCK_16, "blocks of 16")                                                                                        \
    M(BLOCK_32, "blocks of 32")                                                                                        \
    M(BLOCK_128, "blocks of 128")                                                                                      \
    M(BLOCK_OF_CHUNKS, "blocks of several chunks")

typedef enum mechanism {
#define M(ID, text) ID,
    MECHANISMS(M)
#undef M
        MECHANISM_COUNT
} mechanism;

static const char *const mechanism_texts[] = {
#define M(ID, text) text,
    MECHANISMS(M)
#undef M
};

static int seen[MECHANISM_COUNT];

static void saw(mechanism which, bool whether)
{
    seen[which] += whether;
}

static int scope_of(const fpo_program *program, int r)
{
    return program->registers[r].scope;
}

/* The last planned step that reads a register; the plan's end if it makes the codes; -1: none does. */
static int last_read(const fpo_quantizer *q, int r)
{
    int end = q->plan.begin[FPO_SCOPE_COUNT], last = -1;
    for (int i = 0; i < end; i++)
        for (int a = 0; a < 3; a++)
            if (q->plan.steps[i].step->argument[a] == r)
                last = i;
    bool stored = q->program->code == r || q->program->error == r;
    for (int a = 0; a < 2 && q->last != NULL; a++)
        stored = stored || q->last->argument[a] == r;
    return stored ? end : last;
}

static void look_at_choice(const fpo_quantizer *q, const fpo_recipe_step *step)
{
    const fpo_program *program = q->program;
    int scope = scope_of(program, step->argument[0]), result = last_read(q, step->to);
    bool wide = !fpo_per_element(scope);
    saw(BLOCK_CHOICE, wide && scope > FPO_SCOPE_ROW);
    saw(ROW_CHOICE, scope <= FPO_SCOPE_ROW);
    saw(ELEMENT_CHOICE, !wide);
    for (int a = 1; a < 3; a++) {
        int arm = step->argument[a];
        saw(STAND_IN, wide && scope_of(program, arm) == FPO_SCOPE_ELEMENT && last_read(q, arm) + 1 < result);
        saw(X_STANDS_IN, wide && arm == program->x);
    }
}

/* Loops are told that results go where no argument is; most would do without, so that no bytes show it. */
static void look_at_steps(const job *j, const fpo_quantizer *q)
{
    const fpo_program *program = q->program;
    const fpo_plan *plan = &q->plan;
    bool error_reads = false;
    for (int i = 0; i < plan->begin[FPO_SCOPE_COUNT]; i++) {
        const fpo_recipe_step *step = plan->steps[i].step;
        int second = step->argument[1];
        bool element = step->scope >= FPO_SCOPE_ELEMENT, by_blocks = plan->steps[i].by_blocks;
        if (element && step->function == FPO_FN_SELECT)
            look_at_choice(q, step);
        saw(LATE, element && last_read(q, step->to) > i + 3);
        saw(BY_CONSTANT, by_blocks && scope_of(program, second) <= FPO_SCOPE_ROW);
        saw(BY_BLOCKS, by_blocks && scope_of(program, second) > FPO_SCOPE_ROW);
        saw(SIGNED_ROUNDING, step->cast.no_nan == FPO_NO_NAN_LARGEST_SIGNED);
        for (int a = 0; a < 3 && step->argument[a] != FPO_NO_REGISTER; a++)
            ck_assert_msg(plan->slot[step->to] != plan->slot[step->argument[a]],
                          "step %d writes where its argument %d is:\n%s\nFPO_PROGRAM=%llu test_recipe_programs", i, a,
                          j->recipe.text, (unsigned long long)j->number);
        for (int a = 0; a < 3; a++)
            error_reads = error_reads || (step->scope == FPO_SCOPE_ERROR && step->argument[a] == program->code);
    }
    saw(NAN_ROUNDING, q->last != NULL && q->last->cast.no_nan == FPO_NO_NAN_ZERO);
    saw(SIGNED_ROUNDING, q->last != NULL && q->last->cast.no_nan == FPO_NO_NAN_LARGEST_SIGNED);
    saw(SHARED, plan->slots < program->register_count);
    saw(ERROR_OF_CODE, error_reads);
    saw(ERROR_WITHOUT, program->try_count > 0 && !error_reads);
}

/* Whether `input:` ends with a choice that is one for all elements. */
static bool chooses_x(const fpo_program *program)
{
    for (int i = 0; i < program->step_count; i++) {
        const fpo_recipe_step *step = &program->steps[i];
        if (step->to == program->x && step->function == FPO_FN_SELECT)
            return !fpo_per_element(scope_of(program, step->argument[0]));
    }
    return false;
}

static void look_at_plan(const job *j, const fpo_quantizer *q)
{
    const fpo_program *program = q->program;
    int live = q->last != NULL;
    for (int i = 0; i < program->step_count; i++)
        live += q->live[i];
    saw(DROPPED, live < program->step_count);
    saw(INPUT, program->raw_x != FPO_NO_REGISTER);
    saw(KEPT, q->keeps_input);
    saw(KEPT_CHOICE, q->keeps_input && chooses_x(program));
    saw(INPUT_AGAIN, program->raw_x != FPO_NO_REGISTER && !q->keeps_input);
    saw(SEARCH, program->try_count > 0);
    saw(LAST_ROUNDING, q->last != NULL && q->last->function == FPO_FN_ENCODE);
    saw(LAST_WRAP, q->last != NULL && q->last->function == FPO_FN_WRAP);
    saw(LAST_NEAREST, q->last != NULL && q->last->function == FPO_FN_NEAREST);
    saw(NO_LAST, q->last == NULL);
    saw(TENSOR_AMAX, fpo_uses(q, program->tensor_amax));
    saw(ROW_AMAX, fpo_uses(q, program->row_amax));
    saw(BLOCK_AMAX, fpo_uses(q, program->amax));
    saw(SQUARE, q->region_rows > 1);
    saw(PARTIAL, j->k % q->region_k != 0);
    saw(CHUNKS, j->k > FPO_CHUNK);
    saw(BLOCK_OF_CHUNKS, q->region_k > FPO_CHUNK);
    saw(MANY_REGIONS, q->regions > FPO_REGIONS);
    static const struct {
        int64_t block;
        mechanism which;
    } blocks[] = {{1, BLOCK_1}, {2, BLOCK_2}, {16, BLOCK_16}, {32, BLOCK_32}, {128, BLOCK_128}};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        saw(blocks[i].which, blocks[i].block == q->region_k);
}

/* What fpo_simplify sees. */
static void look_at_program(const fpo_program *program)
{
    for (int i = 0; i < program->step_count; i++) {
        const fpo_recipe_step *step = &program->steps[i];
        bool commutes = step->function == FPO_FN_MUL || step->function == FPO_FN_ADD;
        const fpo_register *first = &program->registers[step->argument[0]];
        saw(FTZ, step->ftz);
        saw(SWAPPED, commutes && step->scope >= FPO_SCOPE_ELEMENT && first->constant);
        saw(IDLE_CHOICE, step->scope >= FPO_SCOPE_ELEMENT && step->function == FPO_FN_SELECT && first->constant);
    }
}

/* Plans the recipe as fpo_quantize_by does, only to look at what is planned. */
static void look_at(const job *j, fpo_quantized *result)
{
    fpo_program program = j->program;
    fpo_quantizer q = {.kernels = &fpo_quantize_portable};
    look_at_program(&program);
    fpo_simplify(&program);
    fpo_plan_program(&q, &program, &j->recipe.info.view, j->x, j->rows, j->k, result);
    look_at_plan(j, &q);
    look_at_steps(j, &q);
}

static void compare(const job *j, const fpo_quantized *expected)
{
    static const fpo_isa isas[] = {FPO_ISA_PORTABLE, FPO_ISA_AVX2, FPO_ISA_AVX512};
    for (int run = 0; run < 6; run++) {
        fpo_isa isa = isas[run / 2];
        fpo_execution execution = {.isa = isa, .threads = run % 2 == 0 ? 1 : 3};
        if (fpo_isa_resolve(isa) != isa)
            continue;
        fpo_quantized got = places(j);
        fpo_error error;
        const fpo_recipe_info *info = &j->recipe.info;
        ck_assert_msg(fpo_quantize_by(info, j->x, j->rows, j->k, &got, &execution, &error) == FPO_OK, "%s\n%s",
                      error.message, info->text);
        char where[256];
        if (!same(j, &got, expected)) {
            say_where(j, &got, expected, where, sizeof where);
            ck_abort_msg("%s\n%lld x %lld %s to %s, blocks of %d, instruction set %d, %d threads%s:\n%s\n"
                         "FPO_PROGRAM=%llu test_recipe_programs",
                         where, (long long)j->rows, (long long)j->k, fpo_format_describe(j->dtype)->name,
                         fpo_format_describe(info->view.element)->name, info->view.scale.block_k, (int)isa,
                         execution.threads, got.given_library_scale ? ", the tensor scale given" : "", info->text,
                         (unsigned long long)j->number);
        }
        release(&got);
    }
}

/* False: it does not compile. */
static bool try_recipe(uint64_t number)
{
    static job j;
    j = (job){.number = number};
    fpo_write_recipe(number, &j.recipe);
    choose_shape(&j);
    fpo_error error;
    if (fpo_recipe_compile(j.recipe.text, &j.recipe.info.view, j.dtype, &j.program, &error) != FPO_OK) {
        if (getenv("FPO_PROGRAM") != NULL)
            printf("%s\n%s\n", error.message, j.recipe.text);
        return false;
    }
    j.x = malloc((size_t)(j.rows * j.k) * sizeof *j.x);
    fill(&j);
    fpo_quantized expected = places(&j);
    look_at(&j, &expected);
    ck_assert(fpo_twin_quantize(&j.program, &j.recipe.info.view, j.x, j.rows, j.k, &expected));
    compare(&j, &expected);
    release(&expected);
    free(j.x);
    return true;
}

START_TEST(random_recipes)
{
    unsigned long long count = getenv("FPO_LONG") != NULL ? 100000 : 3000, agree = 0;
    const char *one = getenv("FPO_PROGRAM");
    if (one != NULL) {
        printf("recipe %s %s\n", one, try_recipe(strtoull(one, NULL, 10)) ? "agrees" : "does not compile");
        return;
    }
    for (uint64_t number = 0; number < count; number++)
        agree += try_recipe(number);
    printf("%llu of %llu random recipes agree, the others do not compile%s\n", agree, count,
           getenv("FPO_LONG") != NULL ? "" : " (FPO_LONG=1 takes 100000)");
    fflush(stdout);
    ck_assert_msg(agree * 100 > count * 99, "%llu of %llu recipes were compared", agree, count);
    for (int i = 0; i < MECHANISM_COUNT; i++)
        ck_assert_msg(seen[i] >= 3, "%s: seen %d times in %llu recipes", mechanism_texts[i], seen[i], count);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recipe programs");
    TCase *tests = tcase_create("random recipes");
    tcase_set_timeout(tests, 3600);
    tcase_add_test(tests, random_recipes);
    suite_add_tcase(suite, tests);
    return suite;
}
