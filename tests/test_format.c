/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every code of every format, decoded, against the definition in MPFR; FPO_LONG=1 takes 70 million codes of f32. */
#include "format_oracle.h"
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ck_assert writes to a pipe even if it holds: in long loops only failures reach Check. */
static void check_code(fpo_oracle *oracle, uint32_t code)
{
    fpo_value value = fpo_decode(oracle->format, code);
    double x = fpo_decode_double(oracle->format, code);
    unsigned magnitude_bits = (unsigned)(oracle->exponent_bits + oracle->mantissa_bits);
    uint32_t magnitude = code & ((1u << magnitude_bits) - 1);
    bool negative = oracle->sign_bits == 1 && (code >> magnitude_bits & 1) != 0;
    bool good = value.kind == fpo_oracle_class(oracle, code) && value.negative == negative && !value.sticky;
    switch (value.kind) {
    case FPO_NAN: good = good && isnan(x); break;
    case FPO_INFINITE: good = good && x == (negative ? -INFINITY : INFINITY); break;
    case FPO_ZERO: good = good && x == 0 && (signbit(x) != 0) == negative && value.significand == 0; break;
    case FPO_FINITE:
        fpo_oracle_number(oracle, oracle->low, magnitude);
        mpfr_set_ui_2exp(oracle->high, value.significand, value.exponent, MPFR_RNDN);
        good = good && value.significand != 0 && mpfr_equal_p(oracle->low, oracle->high);
        good = good && mpfr_cmp_d(oracle->low, negative ? -x : x) == 0 && (signbit(x) != 0) == negative;
        break;
    }
    if (!good)
        ck_abort_msg("%s 0x%X: class %d, %c%llu * 2^%d, %a", oracle->name, code, value.kind, value.negative ? '-' : '+',
                     (unsigned long long)value.significand, value.exponent, x);
}

START_TEST(every_code_has_the_defined_value)
{
    fpo_oracle oracle;
    fpo_oracle_init(&oracle, (fpo_format)_i);
    uint64_t codes = UINT64_C(1) << (oracle.sign_bits + oracle.exponent_bits + oracle.mantissa_bits);
    uint64_t step = codes <= 1 << 19 ? 1 : getenv("FPO_LONG") != NULL ? 61 : 4099;
    for (uint64_t code = 0; code < codes; code += step)
        check_code(&oracle, (uint32_t)code);
    if (step > 1) { /* every exponent with the ends of its mantissas */
        for (uint64_t exponent = 0; exponent < 512; exponent++)
            for (int near = -3; near <= 3; near++)
                check_code(&oracle, (uint32_t)((exponent << oracle.mantissa_bits) + (uint64_t)(int64_t)near));
    }
    fpo_oracle_clear(&oracle);
}
END_TEST

START_TEST(derived_parameters_follow)
{
    fpo_oracle oracle;
    fpo_oracle_init(&oracle, (fpo_format)_i);
    const fpo_format_info *f = fpo_format_describe((fpo_format)_i);
    ck_assert_str_eq(f->name, oracle.name);
    ck_assert_int_eq(fpo_format_by_name(oracle.name), _i);
    ck_assert_int_eq(f->sign_bits, oracle.sign_bits);
    ck_assert_int_eq(f->exponent_bits, oracle.exponent_bits);
    ck_assert_int_eq(f->mantissa_bits, oracle.mantissa_bits);
    ck_assert_int_eq(f->bias, oracle.bias);
    ck_assert_int_eq(f->bits, oracle.sign_bits + oracle.exponent_bits + oracle.mantissa_bits);
    ck_assert_uint_eq(f->code_mask, (UINT64_C(1) << f->bits) - 1);
    ck_assert_uint_eq(f->max_finite, oracle.last);
    double smallest_normal = fpo_decode_double((fpo_format)_i, _i == FPO_UE8M0 ? 0 : 1u << f->mantissa_bits);
    ck_assert_int_eq(f->min_exponent, ilogb(smallest_normal));
    ck_assert_int_eq(f->max_exponent, ilogb(fpo_decode_double((fpo_format)_i, f->max_finite)));
    double smallest = fpo_decode_double((fpo_format)_i, _i == FPO_UE8M0 ? 0 : 1);
    ck_assert_double_eq(smallest, ldexp(1, f->quantum));
    ck_assert_uint_ge(8u * f->storage_bytes, f->bits);
    fpo_oracle_clear(&oracle);
}
END_TEST

START_TEST(bits_beyond_the_code_are_ignored)
{
    const fpo_format_info *f = fpo_format_describe((fpo_format)_i);
    for (uint32_t code = 0; code < 256 && f->bits < 32; code++) {
        fpo_value plain = fpo_decode((fpo_format)_i, code & f->code_mask);
        fpo_value stray = fpo_decode((fpo_format)_i, (code & f->code_mask) | ~f->code_mask);
        if (plain.kind != stray.kind || plain.significand != stray.significand || plain.exponent != stray.exponent ||
            plain.negative != stray.negative)
            ck_abort_msg("%s 0x%X with stray bits", f->name, code);
    }
}
END_TEST

START_TEST(codes_in_memory_are_little_endian)
{
    uint8_t bytes[12];
    for (unsigned format = 1; format < FPO_FORMAT_COUNT; format++) {
        const fpo_format_info *f = fpo_format_describe((fpo_format)format);
        memset(bytes, 0xA5, sizeof bytes);
        uint32_t code = 0x89ABCDEF & f->code_mask;
        fpo_store_code((fpo_format)format, bytes, 1, code);
        ck_assert_uint_eq(fpo_load_code((fpo_format)format, bytes, 1), code);
        for (unsigned i = 0; i < sizeof bytes; i++) {
            bool inside = i / f->storage_bytes == 1;
            ck_assert_uint_eq(bytes[i], inside ? code >> 8 * (i % f->storage_bytes) & 0xFF : 0xA5);
        }
    }
}
END_TEST

START_TEST(names)
{
    ck_assert_str_eq(fpo_format_describe(FPO_FORMAT_NONE)->name, "none");
    ck_assert_uint_eq(fpo_format_describe(FPO_FORMAT_NONE)->bits, 0);
    ck_assert_ptr_null(fpo_format_describe(FPO_FORMAT_COUNT));
    ck_assert_ptr_null(fpo_format_describe((fpo_format)-1));
    ck_assert_int_eq(fpo_format_by_name("e4m4"), FPO_FORMAT_COUNT);
    ck_assert_int_eq(fpo_format_by_name(NULL), FPO_FORMAT_COUNT);
    for (unsigned preset = 0; preset < FPO_CAST_COUNT; preset++)
        ck_assert_uint_eq(fpo_cast_by_name(fpo_cast_name((fpo_cast_preset)preset)), preset);
    ck_assert_uint_eq(fpo_cast_by_name("e4m4"), FPO_CAST_COUNT);
    ck_assert_uint_eq(fpo_cast_by_name(NULL), FPO_CAST_COUNT);
    ck_assert_ptr_nonnull(strstr(fpo_cast_summary(FPO_CAST_PTX), "cvt.rn.satfinite"));
    ck_assert_ptr_null(fpo_cast_summary(FPO_CAST_COUNT));
    ck_assert_ptr_null(fpo_cast_describe(FPO_CAST_COUNT));
}
END_TEST

/* An operand without scales has scales of no format: nothing is read or written, and all is zero. */
START_TEST(no_format_is_harmless)
{
    static const fpo_format none[] = {FPO_FORMAT_NONE, FPO_FORMAT_COUNT};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fpo_decode(none[i], 0x7F).kind, FPO_ZERO);
        ck_assert_double_eq(fpo_decode_double(none[i], 0x7F), 0);
        ck_assert_uint_eq(fpo_encode_double(none[i], 448, fpo_cast_describe(FPO_CAST_PTX)), 0);
    }
    uint8_t byte = 0xA5;
    fpo_store_code(FPO_FORMAT_NONE, &byte, 0, 0x5A);
    ck_assert_uint_eq(byte, 0xA5);
    ck_assert_uint_eq(fpo_load_code(FPO_FORMAT_NONE, &byte, 0), 0);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("format");
    TCase *tests = tcase_create("format");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, every_code_has_the_defined_value, 1, FPO_FORMAT_COUNT);
    tcase_add_loop_test(tests, derived_parameters_follow, 1, FPO_FORMAT_COUNT);
    tcase_add_loop_test(tests, bits_beyond_the_code_are_ignored, 1, FPO_FORMAT_COUNT);
    tcase_add_test(tests, codes_in_memory_are_little_endian);
    tcase_add_test(tests, names);
    tcase_add_test(tests, no_format_is_harmless);
    suite_add_tcase(suite, tests);
    return suite;
}
