/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact dot product, block by block of K. */
#include "trace.h"

enum { UNSCALED_BLOCK = 32 };

static int64_t gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* Elements of K under which no scale changes. */
static int64_t block_size(const fpo_gemm_context *context)
{
    int64_t a = fpo_trace_has_block_scales(&context->a) ? context->a.scale.block_k : 0;
    int64_t b = fpo_trace_has_block_scales(&context->b) ? context->b.scale.block_k : 0;
    int64_t size = gcd(a, b);
    return size > 0 ? size : UNSCALED_BLOCK;
}

static json_t *codes_json(const fpo_prepared *operand, int64_t row, int64_t k0, int64_t k1, bool values)
{
    json_t *array = json_array();
    for (int64_t k = k0; k < k1; k++) {
        uint32_t code = fpo_trace_code(operand, row, k);
        json_array_append_new(array, json_string(values ? fpo_code_text(operand->element, code).text
                                                        : fpo_hex_text(operand->element, code).text));
    }
    return array;
}

/* product = a * b of one k. */
static void multiply(const fpo_trace *t, int64_t k, mpfr_ptr product, mpfr_ptr scratch)
{
    const fpo_gemm_context *c = t->context;
    fpo_value_to_mpfr(product, fpo_decode(c->a.element, fpo_trace_code(&c->a, t->row, k)));
    fpo_value_to_mpfr(scratch, fpo_decode(c->b.element, fpo_trace_code(&c->b, t->column, k)));
    mpfr_mul(product, product, scratch, MPFR_RNDN);
}

static json_t *products_json(const fpo_trace *t, int64_t k0, int64_t k1)
{
    mpfr_t product, scratch;
    mpfr_inits2(FPO_WIDE_BITS, product, scratch, (mpfr_ptr)0);
    json_t *array = json_array();
    for (int64_t k = k0; k < k1; k++) {
        multiply(t, k, product, scratch);
        json_array_append_new(array, json_string(fpo_mpfr_text(product).text));
    }
    mpfr_clears(product, scratch, (mpfr_ptr)0);
    return array;
}

static void add_scale(json_t *block, const char *key, const fpo_prepared *operand, int64_t row, int64_t k,
                      mpfr_ptr scale)
{
    mpfr_set_ui(scale, 1, MPFR_RNDN);
    if (!fpo_trace_has_block_scales(operand))
        return;
    uint32_t code = fpo_trace_scale(operand, row, k);
    fpo_value_to_mpfr(scale, fpo_decode(operand->scale.format, code));
    json_object_set_new(block, key,
                        json_pack("{s:s, s:s, s:s}", "format", fpo_format_describe(operand->scale.format)->name, "code",
                                  fpo_hex_text(operand->scale.format, code).text, "value", fpo_mpfr_text(scale).text));
}

/* The scaled sum of the products of [k0, k1), in `result`. A scale that is no number meets every product on its own:
 * infinity times a sum is not the sum of infinities. */
static json_t *trace_block(const fpo_trace *t, int64_t k0, int64_t k1, bool detailed, mpfr_ptr result)
{
    const fpo_gemm_context *c = t->context;
    mpfr_t sa, sb, product, scratch, sum;
    mpfr_inits2(FPO_WIDE_BITS, sa, sb, product, scratch, sum, (mpfr_ptr)0);
    json_t *block = json_pack("{s:[I, I]}", "k", (json_int_t)k0, (json_int_t)k1);
    if (detailed) {
        json_object_set_new(block, "a", codes_json(&c->a, t->row, k0, k1, false));
        json_object_set_new(block, "a_values", codes_json(&c->a, t->row, k0, k1, true));
        json_object_set_new(block, "b", codes_json(&c->b, t->column, k0, k1, false));
        json_object_set_new(block, "b_values", codes_json(&c->b, t->column, k0, k1, true));
        json_object_set_new(block, "products", products_json(t, k0, k1));
    }
    add_scale(block, "a_scale", &c->a, t->row, k0, sa);
    add_scale(block, "b_scale", &c->b, t->column, k0, sb);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(result, 1);
    for (int64_t k = k0; k < k1; k++) {
        multiply(t, k, product, scratch);
        mpfr_add(sum, sum, product, MPFR_RNDN);
        mpfr_mul(product, product, sa, MPFR_RNDN);
        mpfr_mul(product, product, sb, MPFR_RNDN);
        mpfr_add(result, result, product, MPFR_RNDN);
    }
    json_object_set_new(block, "sum_of_products", json_string(fpo_mpfr_text(sum).text));
    json_object_set_new(block, "scaled", json_string(fpo_mpfr_text(result).text));
    mpfr_clears(sa, sb, product, scratch, sum, (mpfr_ptr)0);
    return block;
}

void fpo_trace_exact(const fpo_trace *t, json_t *object, mpfr_ptr accumulator)
{
    int64_t size = block_size(t->context);
    int64_t k = t->context->problem->k;
    json_t *blocks = json_array();
    mpfr_t block;
    mpfr_init2(block, FPO_WIDE_BITS);
    mpfr_set_zero(accumulator, 1);
    for (int64_t k0 = 0; k0 < k; k0 += size) {
        json_t *entry = trace_block(t, k0, k0 + size < k ? k0 + size : k, k0 / size < t->detailed, block);
        mpfr_add(accumulator, accumulator, block, MPFR_RNDN);
        json_object_set_new(entry, "total", json_string(fpo_mpfr_text(accumulator).text));
        json_array_append_new(blocks, entry);
    }
    if (mpfr_zero_p(accumulator) != 0)
        mpfr_set_zero(accumulator, 1); /* the accumulator starts at +0 */
    json_object_set_new(object, "blocks", blocks);
    json_object_set_new(object, "accumulator", json_string(fpo_mpfr_text(accumulator).text));
    json_object_set_new(object, "accumulator_exact", json_string(fpo_dyadic_text(accumulator).text));
    mpfr_clear(block);
}
