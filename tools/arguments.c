/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Numbers, shapes and file names from the command line. */
#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The magnitude of a number with an optional 0x or 0b before it; false if the text is anything else or too large. */
static bool parse_unsigned(const char *text, uint64_t *value)
{
    int base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        base = 16;
    else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
        base = 2;
    if (base != 10)
        text += 2;
    if (!isxdigit((unsigned char)text[0])) /* strtoull would take blanks and signs */
        return false;
    char *end = NULL;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, base);
    if (errno != 0 || *end != '\0')
        return false;
    *value = parsed;
    return true;
}

fpo_status fpo_parse_integer(const char *what, const char *text, int64_t smallest, int64_t largest, int64_t *value,
                             fpo_error *error)
{
    bool negative = text[0] == '-';
    uint64_t magnitude = 0;
    if (!parse_unsigned(negative ? text + 1 : text, &magnitude) || magnitude > INT64_MAX)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s '%.80s' is no whole number from %lld to %lld", what, text,
                        (long long)smallest, (long long)largest);
    int64_t parsed = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    if (parsed < smallest || parsed > largest)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s %lld is not between %lld and %lld", what, (long long)parsed,
                        (long long)smallest, (long long)largest);
    *value = parsed;
    return FPO_OK;
}

fpo_status fpo_parse_seed(const char *text, uint64_t *seed, fpo_error *error)
{
    if (!parse_unsigned(text, seed))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "seed '%.80s' is no whole number from 0 to 2^64-1", text);
    return FPO_OK;
}

fpo_status fpo_parse_code(const char *text, int bits, const char *format, uint32_t *code, fpo_error *error)
{
    uint64_t parsed = 0;
    if (!parse_unsigned(text, &parsed))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "'%.80s' is no code: write it as 0x3A, 58 or 0b111010", text);
    if (parsed >> bits != 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "0x%llX has more than the %d bits that a unit of %s takes in memory",
                        (unsigned long long)parsed, bits, format);
    *code = (uint32_t)parsed;
    return FPO_OK;
}

/* Whether a number has a digit that is not zero before its exponent. */
static bool is_written_nonzero(const char *text)
{
    text += *text == '-' || *text == '+';
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    text += hexadecimal ? 2 : 0;
    size_t significand = strcspn(text, hexadecimal ? "pP" : "eE");
    return strspn(text, "0.") < significand;
}

fpo_status fpo_parse_float(const char *what, const char *text, float *value, fpo_error *error)
{
    char *end = NULL;
    float parsed = isspace((unsigned char)text[0]) ? 0 : strtof(text, &end);
    if (end == NULL || end == text || *end != '\0')
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s '%.80s' is no number", what, text);
    bool spelled = strpbrk(text, "iInN") != NULL; /* inf, nan: "1e39" has neither letter, but is as infinite */
    if (!spelled && isinf(parsed))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s '%.80s' is beyond the largest f32; write inf if that is meant",
                        what, text);
    if (parsed == 0 && is_written_nonzero(text))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s '%.80s' is below the smallest f32; write 0 if that is meant", what,
                        text);
    *value = parsed;
    return FPO_OK;
}

/* One dimension of a shape; *text is moved behind it. */
static bool parse_dimension(const char **text, char separator, int64_t *size)
{
    char digits[16];
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length >= sizeof digits || (*text)[length] != separator)
        return false;
    memcpy(digits, *text, length);
    digits[length] = '\0';
    *text += length + (separator != '\0');
    *size = strtoll(digits, NULL, 10);
    return *size >= 1 && *size <= INT32_MAX;
}

fpo_status fpo_parse_shape(const char *text, int64_t *m, int64_t *n, int64_t *k, fpo_error *error)
{
    const char *rest = text;
    if (!parse_dimension(&rest, 'x', m) || !parse_dimension(&rest, 'x', n) || !parse_dimension(&rest, '\0', k))
        return fpo_fail(error, FPO_ERR_ARGUMENT,
                        "shape '%.80s' is not MxNxK with M, N and K from 1 to 2147483647, for instance 128x256x512",
                        text);
    return FPO_OK;
}
