/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every recorded step is reproduced by its own model, and its neighbours fail: fraction bits one off and 25, the other
 * rules of zero terms, other lengths of the sums. Where the data cannot tell, a list here says so. */
#include "suite.h"

#include "panel.h"
#include "step_data.h"

#include <stdio.h>
#include <string.h>

static step_data *data;

static void set_up(void)
{
    data = step_data_open();
}

static void tear_down(void)
{
    step_data_close(data);
}

static const fpo_model *model_of(const step_data_set *set)
{
    const fpo_model *model = fpo_model_by_name(set->model);
    ck_assert_msg(model != NULL, "no model %s", set->model);
    return model;
}

START_TEST(test_reproduced)
{
    int64_t rows = 0;
    for (size_t i = 0; i < data->count; i++) {
        const step_data_set *set = &data->sets[i];
        fpo_steps_result result;
        ck_assert_msg(fpo_steps_applicable(set->rows, model_of(set)), "%s: %s does not apply", set->file, set->model);
        fpo_steps_compare(set->rows, &model_of(set)->accumulation.step, &result);
        ck_assert_msg(result.different == 0, "%s %s: %lld of %lld rows differ from %s; row %lld: %08x, recorded %08x",
                      set->file, set->rows->label, (long long)result.different, (long long)result.rows, set->model,
                      (long long)result.first[0].row, result.first[0].expected, result.first[0].recorded);
        rows += result.rows;
    }
    printf("%zu files, %zu result tensors, %lld rows: 0 differ\n", data->files, data->count, (long long)rows);
    ck_assert_uint_eq(data->files, 182);
    ck_assert_int_eq(rows, 366616);
}
END_TEST

static fpo_prepared prepared(const fpo_step_rows *rows, fpo_format element, const uint8_t *codes, const uint8_t *scales)
{
    fpo_prepared operand = {.rows = rows->rows, .k = rows->k, .element = element, .codes = (void *)codes};
    operand.scale = (fpo_scale_view){rows->scale, 1, rows->block_k, FPO_LAYOUT_LINEAR};
    operand.scales = (void *)scales;
    operand.scale_rows = rows->rows;
    operand.scale_columns = scales != NULL ? rows->k / rows->block_k : 0;
    return operand;
}

/* The same through the panels of a GEMM, which take the fast paths. */
START_TEST(test_fast_paths)
{
    int64_t rows = 0;
    for (size_t i = 0; i < data->count; i++) {
        const step_data_set *set = &data->sets[i];
        const fpo_step_rows *r = set->rows;
        fpo_prepared a = prepared(r, r->a_element, r->a, r->sa), b = prepared(r, r->b_element, r->b, r->sb);
        fpo_fast_path path = fpo_panel_path(&model_of(set)->accumulation.step, &a, &b);
        ck_assert_msg(path.kind != FPO_FAST_NONE, "%s has no fast path", set->model);
        fpo_panel x, y;
        ck_assert_int_eq(fpo_panel_build_fast(&path, &a, 0, r->rows, &x, NULL), FPO_OK);
        ck_assert_int_eq(fpo_panel_build_fast(&path, &b, 0, r->rows, &y, NULL), FPO_OK);
        for (int64_t row = 0; row < r->rows; row++) {
            uint32_t accumulator = r->c[row];
            fpo_chain_row(&path, &x, &y, row, row, 1, 0, 1, &accumulator);
            ck_assert_msg(accumulator == r->d[row], "%s row %lld: %08x, recorded %08x", set->file, (long long)row,
                          accumulator, r->d[row]);
        }
        rows += r->rows;
        fpo_panel_free(&x);
        fpo_panel_free(&y);
    }
    ck_assert_int_eq(rows, 366616);
}
END_TEST

/* Neighbours. False: the step has no such neighbour. */
static bool one_bit_less(fpo_step *s)
{
    s->fraction_bits--;
    return true;
}

static bool one_bit_more(fpo_step *s)
{
    s->fraction_bits++;
    return true;
}

static bool bits_25(fpo_step *s)
{
    s->fraction_bits = 25;
    return s->group > 1;
}

static bool zero_rule(fpo_step *s)
{
    bool *rule = s->group > 1 ? &s->zero_group_enters : &s->zero_product_enters;
    *rule = !*rule;
    return true;
}

static bool cancelled_rule(fpo_step *s)
{
    s->cancelled_group_enters = !s->cancelled_group_enters;
    return s->group > 1;
}

static bool half_the_sum(fpo_step *s)
{
    s->fused = (int16_t)(s->fused / 2);
    s->interleaved = false;
    return s->group == 1;
}

static bool twice_the_sum(fpo_step *s)
{
    s->fused = (int16_t)(s->fused * 2);
    s->interleaved = false;
    return s->fused <= s->k;
}

static const struct {
    const char *name;
    bool (*change)(fpo_step *);
} neighbours[] = {
    {"F-1", one_bit_less},        {"F+1", one_bit_more},         {"F=25", bits_25},
    {"zero rule", zero_rule},     {"cancelled", cancelled_rule}, {"half sum", half_the_sum},
    {"twice sum", twice_the_sum},
};
enum { NEIGHBOURS = sizeof neighbours / sizeof neighbours[0] };

/* Neighbours that no recorded row of this model tells apart. `by`: a model of the same unit, or of one with the same
 * numbers, whose rows do. */
static const struct {
    const char *model, *neighbour, *by;
} untold[] = {
    {"sm89_mma_fp8_k16", "zero rule", "sm89_mma_fp8"},
    {"sm90_mma_fp8_f16acc", "zero rule", "sm90_mma_fp8"},
    {"sm90_mma_fp8_k16", "zero rule", "sm90_mma_fp8"},
    /* The B200 rows of MATLAB-tensor-core have no ladders; mmaemu too found that more than a hundred models fit. */
    {"sm100_mma_fp8", "F-1", "sm90_mma_fp8"},
    {"sm100_mma_fp8", "F+1", "sm90_mma_fp8"},
    {"sm100_mma_fp8", "zero rule", "sm90_mma_fp8"},
    {"sm100_mma_fp8", "half sum", "sm90_mma_fp8"},
    {"sm100_mma_fp8", "twice sum", "sm90_mma_fp8"},
    {"sm100_mma_fp8_f16acc", "F-1", "sm90_mma_fp8_f16acc"},
    {"sm100_mma_fp8_f16acc", "F+1", "sm90_mma_fp8_f16acc"},
    {"sm100_mma_fp8_f16acc", "zero rule", "sm90_mma_fp8"},
    {"sm100_f8f6f4_f16acc", "zero rule", "sm120_f8f6f4_f16acc"},
};
enum { UNTOLD = sizeof untold / sizeof untold[0] };

static bool is_untold(const char *model, const char *neighbour)
{
    for (size_t i = 0; i < UNTOLD; i++)
        if (strcmp(untold[i].model, model) == 0 && strcmp(untold[i].neighbour, neighbour) == 0)
            return true;
    return false;
}

static int64_t recorded_rows(const fpo_model *model)
{
    int64_t rows = 0;
    for (size_t i = 0; i < data->count; i++)
        rows += strcmp(data->sets[i].model, model->name) == 0 ? data->sets[i].rows->rows : 0;
    return rows;
}

/* Rows of all files of a model that a neighbour gets wrong. -1: there is no such neighbour. */
static int64_t wrong_rows(const fpo_model *model, size_t neighbour)
{
    fpo_step step = model->accumulation.step;
    int64_t wrong = 0;
    if (!neighbours[neighbour].change(&step))
        return -1;
    for (size_t i = 0; i < data->count; i++) {
        if (strcmp(data->sets[i].model, model->name) != 0)
            continue;
        fpo_steps_result result;
        fpo_steps_compare(data->sets[i].rows, &step, &result);
        wrong += result.different;
    }
    return wrong;
}

START_TEST(test_neighbours_fail)
{
    int missed = 0;
    printf("%-26s %8s", "rows wrong under", "rows");
    for (size_t j = 0; j < NEIGHBOURS; j++)
        printf(" %9s", neighbours[j].name);
    putchar('\n');
    for (size_t i = 0; fpo_model_at(i) != NULL; i++) {
        const fpo_model *model = fpo_model_at(i);
        int64_t rows = recorded_rows(model), wrong[NEIGHBOURS];
        if (rows == 0)
            continue;
        for (size_t j = 0; j < NEIGHBOURS; j++)
            wrong[j] = wrong_rows(model, j);
        printf("%-26s %8lld", model->name, (long long)rows);
        for (size_t j = 0; j < NEIGHBOURS; j++) {
            if (wrong[j] < 0)
                printf(" %9s", "-");
            else
                printf(" %9lld", (long long)wrong[j]);
            /* Both ways: the list above must not excuse what the data can tell. */
            if ((wrong[j] == 0) != is_untold(model->name, neighbours[j].name))
                missed++;
        }
        putchar('\n');
    }
    ck_assert_msg(missed == 0, "%d neighbours give no wrong row, or one although listed as untold", missed);
}
END_TEST

/* The model that stands in tells, and has the same numbers apart from lengths and the accumulator. */
START_TEST(test_stand_ins)
{
    for (size_t i = 0; i < UNTOLD; i++) {
        const fpo_model *model = fpo_model_by_name(untold[i].model), *by = fpo_model_by_name(untold[i].by);
        ck_assert(model != NULL && by != NULL);
        ck_assert_int_eq(model->accumulation.step.fraction_bits, by->accumulation.step.fraction_bits);
        ck_assert_int_eq(model->accumulation.step.zero_product_enters, by->accumulation.step.zero_product_enters);
        ck_assert_msg(!is_untold(untold[i].by, untold[i].neighbour), "%s does not tell %s", untold[i].by,
                      untold[i].neighbour);
        ck_assert_int_gt(recorded_rows(by), 0);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recorded steps");
    TCase *c = tcase_create("rows");
    tcase_set_timeout(c, 600);
    tcase_add_unchecked_fixture(c, set_up, tear_down);
    tcase_add_test(c, test_reproduced);
    tcase_add_test(c, test_fast_paths);
    tcase_add_test(c, test_neighbours_fail);
    tcase_add_test(c, test_stand_ins);
    suite_add_tcase(suite, c);
    return suite;
}
