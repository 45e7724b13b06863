/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact model for any formats. K is cut into segments in which both scales stand still; the products of a segment
 * are added as integers, scaled, and added to an accumulator as wide as the formats need. */
#include "exact.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 16 }; /* rows of B that are decoded at a time */

/* How a segment's products are added. */
typedef enum fpo_segment_kind {
    SEGMENT_INT64,  /* elements as integers in units of 2^quantum, sum in int64 */
    SEGMENT_INT128, /* the same with a sum of 128 bits */
    SEGMENT_TERMS   /* elements with exponents of their own (bf16, tf32, f32): every product on its own */
} fpo_segment_kind;

typedef struct fpo_plan {
    fpo_segment_kind kind;
    int64_t longest;         /* elements that a segment may have before its sum could overflow */
    int32_t quantum;         /* of a product, where elements have a common one */
    int32_t lowest, highest; /* range of the accumulator */
} fpo_plan;

/* One row of an operand, decoded. */
typedef struct fpo_exact_row {
    int64_t *numbers;   /* integers in units of 2^quantum, or significands */
    int16_t *exponents; /* of the significands; NULL where there is a quantum */
    fpo_value *scales;  /* for each K block; NULL where there are none in the accumulation */
} fpo_exact_row;

static bool has_scales(const fpo_prepared *p)
{
    return p->scale.format != FPO_FORMAT_NONE && p->scale.block_k > 0;
}

/* ---- what the formats need ---- */

static int bits_of(int64_t x)
{
    return 64 - __builtin_clzll((unsigned long long)x);
}

static void add_range(const fpo_prepared *p, fpo_plan *plan)
{
    const fpo_format_info *element = fpo_format_describe(p->element);
    plan->lowest += element->quantum;
    plan->highest += element->max_exponent + 1;
    if (has_scales(p)) {
        const fpo_format_info *scale = fpo_format_describe(p->scale.format);
        plan->lowest += scale->quantum;
        plan->highest += scale->max_exponent + 1;
    }
}

/* Bits of an element as an integer, and of a scale's significand. */
static int element_bits(const fpo_prepared *p)
{
    const fpo_format_info *info = fpo_format_describe(p->element);
    return info->max_exponent - info->quantum + 1;
}

static int scale_bits(const fpo_prepared *p)
{
    return has_scales(p) ? fpo_format_describe(p->scale.format)->mantissa_bits + 1 : 0;
}

static fpo_plan make_plan(const fpo_gemm_context *context)
{
    const fpo_prepared *a = &context->a, *b = &context->b;
    int a_bits = element_bits(a), b_bits = element_bits(b);
    int scales = scale_bits(a) + scale_bits(b);
    fpo_plan plan = {.kind = SEGMENT_TERMS, .longest = INT64_MAX};

    plan.quantum = fpo_format_describe(a->element)->quantum + fpo_format_describe(b->element)->quantum;
    plan.highest = bits_of(a->k);
    add_range(a, &plan);
    add_range(b, &plan);
    /* Room for at least 32 products, so that segments are worth their while. */
    if (a_bits + b_bits <= 63 - 5) {
        plan.kind = SEGMENT_INT64;
        plan.longest = (int64_t)1 << (63 - a_bits - b_bits);
    } else if (a_bits <= 62 && b_bits <= 62 && a_bits + b_bits + scales <= 127 - 5) {
        plan.kind = SEGMENT_INT128;
        int spare = 127 - a_bits - b_bits - scales;
        plan.longest = (int64_t)1 << (spare < 62 ? spare : 62);
    }
    return plan;
}

/* ---- decoding ---- */

/* NaN and infinity count as 0 here: fpo_exact_special has dealt with them. */
static void decode_one(const fpo_plan *plan, fpo_format format, uint32_t code, int64_t *number, int16_t *exponent)
{
    fpo_value value = fpo_decode(format, code);
    int64_t magnitude = value.kind == FPO_FINITE ? (int64_t)value.significand : 0;
    if (plan->kind == SEGMENT_TERMS)
        *exponent = (int16_t)value.exponent;
    else if (magnitude != 0)
        magnitude <<= value.exponent - fpo_format_describe(format)->quantum;
    *number = value.negative ? -magnitude : magnitude;
}

static void decode_row(const fpo_plan *plan, const fpo_prepared *p, int64_t row, fpo_exact_row *decoded)
{
    const fpo_format_info *info = fpo_format_describe(p->element);
    int64_t first = row * p->k;

    if (info->storage_bytes == 1 && plan->kind != SEGMENT_TERMS && p->k > 256) {
        int64_t numbers[256];
        int16_t none;
        for (uint32_t code = 0; code < 256; code++)
            decode_one(plan, p->element, code, &numbers[code], &none);
        const uint8_t *codes = (const uint8_t *)p->codes + first;
        for (int64_t k = 0; k < p->k; k++)
            decoded->numbers[k] = numbers[codes[k]];
    } else {
        int16_t none;
        for (int64_t k = 0; k < p->k; k++)
            decode_one(plan, p->element, fpo_load_code(p->element, p->codes, (size_t)(first + k)), &decoded->numbers[k],
                       plan->kind == SEGMENT_TERMS ? &decoded->exponents[k] : &none);
    }
    if (!has_scales(p))
        return;
    for (int64_t block = 0; block < p->scale_columns; block++) {
        size_t index = (size_t)(fpo_scale_index(p, row, 0) + block);
        decoded->scales[block] = fpo_decode(p->scale.format, fpo_load_code(p->scale.format, p->scales, index));
    }
}

static void free_row(fpo_exact_row *row)
{
    free(row->numbers);
    free(row->exponents);
    free(row->scales);
}

static bool allocate_row(const fpo_plan *plan, const fpo_prepared *p, fpo_exact_row *row)
{
    memset(row, 0, sizeof *row);
    row->numbers = calloc((size_t)p->k, sizeof *row->numbers);
    if (plan->kind == SEGMENT_TERMS)
        row->exponents = calloc((size_t)p->k, sizeof *row->exponents);
    if (has_scales(p))
        row->scales = calloc((size_t)p->scale_columns, sizeof *row->scales);
    return row->numbers != NULL && (plan->kind != SEGMENT_TERMS || row->exponents != NULL) &&
           (!has_scales(p) || row->scales != NULL);
}

/* ---- one element ---- */

/* The product of the two scales of a segment. Zero and what is not finite give significand 0. */
typedef struct fpo_factor {
    uint64_t significand; /* at most 48 bits */
    int32_t exponent;
    bool negative;
} fpo_factor;

static void apply_scale(fpo_factor *factor, const fpo_exact_row *row, int64_t block)
{
    if (row->scales == NULL)
        return;
    fpo_value scale = row->scales[block];
    factor->significand *= scale.kind == FPO_FINITE ? scale.significand : 0;
    factor->exponent += scale.exponent;
    factor->negative ^= scale.negative;
}

/* End of the segment that begins at k: the end of K, of a block, or of what the sum can hold. */
static int64_t segment_end(const fpo_plan *plan, const fpo_prepared *a, const fpo_prepared *b, int64_t k)
{
    int64_t left = a->k - k;
    if (left > plan->longest)
        left = plan->longest;
    if (has_scales(a) && left > a->scale.block_k - k % a->scale.block_k)
        left = a->scale.block_k - k % a->scale.block_k;
    if (has_scales(b) && left > b->scale.block_k - k % b->scale.block_k)
        left = b->scale.block_k - k % b->scale.block_k;
    return k + left;
}

static void add_int64(fpo_sum *sum, const int64_t *a, const int64_t *b, int64_t count, fpo_factor f, int32_t quantum)
{
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++)
        total += a[i] * b[i];
    fpo_u128 magnitude = total < 0 ? -(uint64_t)total : (uint64_t)total;
    fpo_sum_add(sum, f.negative ^ (total < 0), magnitude * f.significand, quantum + f.exponent);
}

static void add_int128(fpo_sum *sum, const int64_t *a, const int64_t *b, int64_t count, fpo_factor f, int32_t quantum)
{
    __extension__ typedef __int128 wide;
    wide total = 0;
    for (int64_t i = 0; i < count; i++)
        total += (wide)a[i] * b[i];
    fpo_u128 magnitude = total < 0 ? -(fpo_u128)total : (fpo_u128)total;
    fpo_sum_add(sum, f.negative ^ (total < 0), magnitude * f.significand, quantum + f.exponent);
}

static void add_terms(fpo_sum *sum, const fpo_exact_row *a, const fpo_exact_row *b, int64_t k, int64_t end,
                      fpo_factor f)
{
    for (; k < end; k++) {
        int64_t product = a->numbers[k] * b->numbers[k];
        if (product == 0)
            continue;
        fpo_u128 magnitude = product < 0 ? -(uint64_t)product : (uint64_t)product;
        fpo_sum_add(sum, f.negative ^ (product < 0), magnitude * f.significand,
                    a->exponents[k] + b->exponents[k] + f.exponent);
    }
}

static void sum_element(const fpo_gemm_context *context, const fpo_plan *plan, const fpo_exact_row *a,
                        const fpo_exact_row *b, fpo_sum *sum)
{
    const fpo_prepared *pa = &context->a, *pb = &context->b;
    fpo_sum_reset(sum);
    for (int64_t k = 0, end; k < pa->k; k = end) {
        end = segment_end(plan, pa, pb, k);
        fpo_factor factor = {1, 0, false};
        apply_scale(&factor, a, has_scales(pa) ? k / pa->scale.block_k : 0);
        apply_scale(&factor, b, has_scales(pb) ? k / pb->scale.block_k : 0);
        if (factor.significand == 0)
            continue;
        switch (plan->kind) {
        case SEGMENT_INT64: add_int64(sum, a->numbers + k, b->numbers + k, end - k, factor, plan->quantum); break;
        case SEGMENT_INT128: add_int128(sum, a->numbers + k, b->numbers + k, end - k, factor, plan->quantum); break;
        case SEGMENT_TERMS: add_terms(sum, a, b, k, end, factor); break;
        }
    }
}

static uint32_t element(const fpo_gemm_context *context, const fpo_plan *plan, const fpo_exact_row *a,
                        const fpo_exact_row *b, int64_t m, int64_t n, fpo_sum *sum)
{
    fpo_exact y;
    y.kind = fpo_exact_special(context, m, n, &y.negative);
    if (y.kind == FPO_FINITE) {
        sum_element(context, plan, a, b, sum);
        fpo_sum_total(sum, &y.magnitude);
        fpo_exact_settle(&y);
    }
    return fpo_exact_epilogue(context, &y, m, n);
}

static void run_tile(const fpo_gemm_context *context, const fpo_plan *plan, fpo_tile tile, fpo_exact_row *a,
                     fpo_exact_row b[COLUMNS], fpo_sum *sum, uint32_t *codes)
{
    int64_t width = tile.n1 - tile.n0;
    for (int64_t n0 = tile.n0; n0 < tile.n1; n0 += COLUMNS) {
        int64_t n1 = n0 + COLUMNS < tile.n1 ? n0 + COLUMNS : tile.n1;
        for (int64_t n = n0; n < n1; n++)
            decode_row(plan, &context->b, n, &b[n - n0]);
        for (int64_t m = tile.m0; m < tile.m1; m++) {
            decode_row(plan, &context->a, m, a);
            for (int64_t n = n0; n < n1; n++)
                codes[(m - tile.m0) * width + n - tile.n0] = element(context, plan, a, &b[n - n0], m, n, sum);
        }
    }
}

fpo_status fpo_exact_wide_tile(const fpo_gemm_context *context, fpo_tile tile, uint32_t *codes, fpo_error *error)
{
    fpo_plan plan = make_plan(context);
    fpo_exact_row a = {0}, b[COLUMNS] = {{0}};
    fpo_sum sum;
    fpo_status status = FPO_OK;

    if (!fpo_sum_open(&sum, plan.lowest, plan.highest))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "exact sums of these formats span 2^%d to 2^%d: too wide",
                        plan.lowest, plan.highest);
    bool allocated = allocate_row(&plan, &context->a, &a);
    for (int i = 0; i < COLUMNS && i < tile.n1 - tile.n0 && allocated; i++)
        allocated = allocate_row(&plan, &context->b, &b[i]);
    if (allocated)
        run_tile(context, &plan, tile, &a, b, &sum, codes);
    else
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for a tile of K = %lld", (long long)context->a.k);
    free_row(&a);
    for (int i = 0; i < COLUMNS; i++)
        free_row(&b[i]);
    return status;
}
