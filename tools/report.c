/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Styles, errors, JSON and progress of the command. */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static bool is_styled(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fileno(out)) == 1 && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

const char *fpo_style(FILE *out, fpo_style_kind kind)
{
    if (!is_styled(out))
        return "";
    switch (kind) {
    case FPO_PLAIN: return "\033[0m";
    case FPO_BOLD: return "\033[1m";
    case FPO_DIM: return "\033[2m";
    case FPO_GOOD: return "\033[1;32m";
    case FPO_BAD: return "\033[1;31m";
    case FPO_WARN: return "\033[1;33m";
    }
    return "";
}

int fpo_terminal_width(FILE *out)
{
    struct winsize size;
    if (isatty(fileno(out)) != 1 || ioctl(fileno(out), TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

static int report(const char *program, const char *message, int status)
{
    fflush(stdout);
    fprintf(stderr, "%s: %serror:%s %s\n", program, fpo_style(stderr, FPO_BAD), fpo_style(stderr, FPO_PLAIN), message);
    return status;
}

int fpo_report_error(const char *program, const fpo_error *error)
{
    return report(program, error->message, error->status == FPO_ERR_KERNEL ? FPO_EXIT_KERNEL : FPO_EXIT_UNUSABLE);
}

int fpo_report_unusable(const char *program, const char *format, ...)
{
    char message[FPO_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return report(program, message, FPO_EXIT_UNUSABLE);
}

void fpo_heading(const char *format, ...)
{
    fputs(fpo_style(stdout, FPO_BOLD), stdout);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("%s\n", fpo_style(stdout, FPO_PLAIN));
}

void fpo_section(const char *format, ...)
{
    printf("\n%s", fpo_style(stdout, FPO_BOLD));
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("%s\n", fpo_style(stdout, FPO_PLAIN));
}

int fpo_print_json(json_t *object)
{
    int failed = object == NULL ? -1 : json_dumpf(object, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(object);
    if (failed == 0 && putchar('\n') != EOF)
        return FPO_EXIT_OK;
    fputs("fp4oracle: the JSON report could not be made\n", stderr);
    return FPO_EXIT_UNUSABLE;
}

json_t *fpo_json_number(double x)
{
    if (isnan(x))
        return json_string("nan");
    if (isinf(x))
        return json_string(x < 0 ? "-inf" : "inf");
    return json_real(x);
}

/* Bytes of the UTF-8 sequence that begins here, 0 if none does. jansson checks the rest. */
static size_t sequence_length(const char *text)
{
    for (size_t length = 1; length <= 4; length++) {
        json_t *sequence = json_stringn(text, length);
        bool valid = sequence != NULL;
        json_decref(sequence);
        if (valid)
            return length;
        if (text[length] == '\0')
            break;
    }
    return 0;
}

json_t *fpo_json_text(const char *text)
{
    json_t *whole = json_string(text);
    if (whole != NULL)
        return whole;
    char *valid = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&valid, &size);
    if (out == NULL)
        return NULL;
    while (*text != '\0') {
        size_t length = sequence_length(text);
        if (length > 0)
            fwrite(text, 1, length, out);
        else
            fputs("\xEF\xBF\xBD", out);
        text += length > 0 ? length : 1;
    }
    json_t *result = fclose(out) == 0 ? json_string(valid) : NULL;
    free(valid);
    return result;
}

static bool is_plain_word(const char *word)
{
    return word[0] != '\0' && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                           "_-+=./,:@%") == strlen(word);
}

char *fpo_command_line(int argc, char *const *argv)
{
    char *line = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&line, &length);
    if (out == NULL)
        return NULL;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (i > 0)
            fputc(' ', out);
        if (i == 0 || is_plain_word(word)) { /* word 0 is "fp4oracle NAME" */
            fputs(word, out);
            continue;
        }
        fputc('\'', out);
        for (; *word != '\0'; word++) {
            if (*word == '\'')
                fputs("'\\''", out);
            else
                fputc(*word, out);
        }
        fputc('\'', out);
    }
    if (fclose(out) != 0) {
        free(line);
        return NULL;
    }
    return line;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void fpo_progress(void *context, double fraction_done)
{
    static const double first_after = 0.33, renewed_after = 0.2;
    fpo_progress_line *line = context;
    if (isatty(STDERR_FILENO) != 1)
        return;
    double time = now();
    if (line->started == 0)
        line->started = time;
    if (time - line->started < first_after || time - line->shown < renewed_after)
        return;
    line->shown = time;
    if (line->searching)
        fprintf(stderr, "\r%s, %.0f s\033[K", line->label, time - line->started);
    else
        fprintf(stderr, "\r%s, %.0f%%\033[K", line->label, 100 * fraction_done);
    fflush(stderr);
}

void fpo_progress_end(const fpo_progress_line *line)
{
    if (line->shown != 0)
        fputs("\r\033[K", stderr);
}
