/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a recipe made of a tensor, in numbers that a person looks at. */
#include "number.h"
#include "quantized.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

static void count_scales(const fpo_quantized_tensor *tensor, fpo_quantized_summary *s)
{
    const fpo_scale_view *view = &tensor->view.scale;
    s->scales = fpo_scale_rows(view, tensor->rows) * fpo_scale_columns(view, tensor->k);
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < s->scales; i++) {
        uint32_t code = fpo_load_code(view->format, tensor->data.scales, (size_t)i);
        double value = fpo_decode_double(view->format, code);
        s->zero_scales += value == 0;
        if (value < least) {
            least = value;
            s->least_scale = code;
        }
        if (value > most) {
            most = value;
            s->most_scale = code;
        }
    }
}

/* What a code of the elements is. */
typedef struct code_facts {
    double value;
    bool zero, nan, largest;
} code_facts;

enum { ELEMENT_CODES = 256 }; /* of formats of a byte at most */

static void find_facts(fpo_format element, code_facts *facts)
{
    const fpo_format_info *info = fpo_format_describe(element);
    for (uint32_t code = 0; code < ELEMENT_CODES; code++) {
        fpo_class kind = fpo_decode(element, code).kind;
        facts[code] = (code_facts){.value = fpo_decode_double(element, code),
                                   .zero = kind == FPO_ZERO,
                                   .nan = kind == FPO_NAN,
                                   .largest = (code & (info->code_mask >> 1)) == info->max_finite};
    }
}

static double scale_from(const fpo_quantized_tensor *tensor, int64_t row, int64_t k)
{
    const fpo_scale_view *view = &tensor->view.scale;
    int64_t scale_row = view->block_rows > 0 ? row / view->block_rows : 0;
    int64_t at = scale_row * fpo_scale_columns(view, tensor->k) + (view->block_k > 0 ? k / view->block_k : 0);
    return fpo_decode_double(view->format, fpo_load_code(view->format, tensor->data.scales, (size_t)at));
}

/* One row of codes against its numbers. Sums are in the order of the elements, the same on every machine. */
static void count_row(const fpo_quantized_tensor *tensor, const fpo_tensor_numbers *numbers, int64_t row,
                      const code_facts *facts, uint8_t *codes, fpo_quantized_summary *s, double *signal)
{
    fpo_format element = tensor->view.element;
    const fpo_scale_view *view = &tensor->view.scale;
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, element, tensor->k);
    fpo_unpack_row(FPO_PACKING_CANONICAL, element, tensor->k, (const char *)tensor->data.codes + row * row_bytes,
                   codes);
    double outer = (double)tensor->data.tensor_scale, scale = 0;
    if (tensor->data.row_scales != NULL)
        outer *= (double)tensor->data.row_scales[row];
    for (int64_t k = 0; k < tensor->k; k++) {
        if (k == 0 || (view->block_k > 0 && k % view->block_k == 0))
            scale = scale_from(tensor, row, k);
        code_facts code = facts[codes[k]];
        double x = (double)numbers->values[row * tensor->k + k], y = code.value * scale * outer;
        s->zeros += code.zero;
        s->nans += code.nan;
        s->largest += code.largest;
        s->clipped += code.largest && fabs(x) > fabs(y);
        if (isfinite(x) && isfinite(y)) {
            s->mean_square_error += (x - y) * (x - y);
            *signal += x * x;
        }
    }
}

fpo_quantized_summary fpo_quantized_summarise(const fpo_quantized_tensor *tensor, const fpo_tensor_numbers *numbers)
{
    fpo_quantized_summary s = {.elements = tensor->rows * tensor->k};
    count_scales(tensor, &s);
    double signal = 0;
    code_facts facts[ELEMENT_CODES];
    find_facts(tensor->view.element, facts);
    uint8_t *codes = malloc((size_t)tensor->k);
    for (int64_t row = 0; codes != NULL && row < tensor->rows; row++)
        count_row(tensor, numbers, row, facts, codes, &s, &signal);
    free(codes);
    s.signal_to_noise = 10 * log10(signal / s.mean_square_error);
    s.mean_square_error /= (double)s.elements;
    return s;
}

json_t *fpo_quantized_summary_json(const fpo_quantized_tensor *tensor, const fpo_quantized_summary *s,
                                   const char *output)
{
    const fpo_recipe_info *recipe = fpo_recipe_describe(tensor->recipe);
    fpo_format scale = tensor->view.scale.format;
    return json_pack("{s:o, s:s, s:s, s:[I, I], s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:o, s:o}", "output",
                     fpo_json_text(output), "recipe", recipe->name, "format", fpo_recipe_format_text(recipe).text,
                     "shape", (json_int_t)tensor->rows, (json_int_t)tensor->k, "tensor_scale",
                     fpo_json_number((double)tensor->data.tensor_scale), "zeros", (json_int_t)s->zeros, "largest",
                     (json_int_t)s->largest, "clipped", (json_int_t)s->clipped, "nan", (json_int_t)s->nans, "scales",
                     (json_int_t)s->scales, "zero_scales", (json_int_t)s->zero_scales, "least_scale",
                     fpo_hex_text(scale, s->least_scale).text, "largest_scale", fpo_hex_text(scale, s->most_scale).text,
                     "mean_square_error", fpo_json_number(s->mean_square_error), "signal_to_noise_db",
                     fpo_json_number(s->signal_to_noise));
}

static void print_part(const char *name, int64_t count, int64_t all)
{
    printf("  %-18s %lld of %lld (%.3g%%)\n", name, (long long)count, (long long)all,
           100.0 * (double)count / (double)all);
}

int fpo_quantized_summary_print(const fpo_quantized_tensor *tensor, const fpo_quantized_summary *s, const char *input,
                                const char *output)
{
    const fpo_recipe_info *recipe = fpo_recipe_describe(tensor->recipe);
    fpo_format scale = tensor->view.scale.format;
    fpo_heading("%s to %s by %s", input, fpo_recipe_format_text(recipe).text, recipe->name);
    printf("  %-18s %lld x %lld\n", "shape", (long long)tensor->rows, (long long)tensor->k);
    if (tensor->has_tensor_scale)
        printf("  %-18s %.9g%s", "tensor scale", (double)tensor->data.tensor_scale,
               tensor->data.library_scale == tensor->data.tensor_scale ? "\n" : "");
    if (tensor->has_tensor_scale && tensor->data.library_scale != tensor->data.tensor_scale)
        printf(" (the library keeps %.9g)\n", (double)tensor->data.library_scale);
    printf("  %-18s %lld of %s, from %s = %s to %s = %s\n", "block scales", (long long)s->scales,
           fpo_format_describe(scale)->name, fpo_hex_text(scale, s->least_scale).text,
           fpo_code_text(scale, s->least_scale).text, fpo_hex_text(scale, s->most_scale).text,
           fpo_code_text(scale, s->most_scale).text);
    if (s->zero_scales > 0)
        print_part("scales that are 0", s->zero_scales, s->scales);
    print_part("zeros", s->zeros, s->elements);
    print_part("at the largest", s->largest, s->elements);
    print_part("clipped", s->clipped, s->elements);
    if (s->nans > 0)
        print_part("NaN", s->nans, s->elements);
    printf("  %-18s %.6g (signal to noise %.4g dB)\n", "mean square error", s->mean_square_error, s->signal_to_noise);
    printf("written %s\n", output);
    return FPO_EXIT_OK;
}
