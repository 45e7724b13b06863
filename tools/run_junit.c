/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Results as JUnit XML: a test case for each kernel, variant and vector; what ran where as properties. A divergence is
 * a failure, a kernel that failed an error, what is not supported is skipped. */
#include "command.h"
#include "output_file.h"
#include "run_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* XML 1.0 has no way to write most control characters. */
static void put_escaped(FILE *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        switch (c) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\n': fputs("&#10;", out); break;
        case '\t': fputs("&#9;", out); break;
        default: fputc(c < 32 || c == 127 ? '?' : c, out); break;
        }
    }
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    put_escaped(out, value);
    fputc('"', out);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void put_property(FILE *out, const char *name, const char *value)
{
    fputs("      <property", out);
    put_attribute(out, "name", name);
    put_attribute(out, "value", value);
    fputs("/>\n", out);
}

static void put_properties(FILE *out, const json_t *document)
{
    const json_t *plugin = json_object_get(document, "plugin"), *device = json_object_get(document, "device");
    fputs("    <properties>\n", out);
    put_property(out, "fp4oracle", text_of(document, "program"));
    put_property(out, "plugin", text_of(plugin, "name"));
    put_property(out, "plugin.version", text_of(plugin, "version"));
    put_property(out, "plugin.path", text_of(plugin, "path"));
    static const char *const keys[] = {"device", "name", "kind", "software", "compute_capability"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "device.%s", keys[i]);
        if (text_of(device, keys[i])[0] != '\0') {
            put_property(out, name, text_of(device, keys[i]));
        }
    }
    const json_t *kernels = json_object_get(document, "kernels");
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        char name[256];
        const json_t *kernel = json_array_get(kernels, i);
        snprintf(name, sizeof name, "kernel.%s.arithmetic", text_of(kernel, "name"));
        put_property(out, name, text_of(kernel, "arithmetic"));
    }
    fputs("    </properties>\n", out);
}

/* What went wrong, with the causes and the way to see it again. */
static void put_body(FILE *out, const json_t *result)
{
    put_escaped(out, text_of(result, "text"));
    fputc('\n', out);
    const json_t *lists[] = {json_object_get(result, "findings"), json_object_get(result, "causes")};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < json_array_size(lists[l]); i++) {
            const json_t *item = json_array_get(lists[l], i);
            fputs(l == 0 ? "finding: " : "cause: ", out);
            put_escaped(out, text_of(item, l == 0 ? "text" : "sentence"));
            fputc('\n', out);
        }
    }
    fputs("reproduce: ", out);
    put_escaped(out, text_of(result, "reproduce"));
    fputc('\n', out);
}

static void put_case(FILE *out, const json_t *result)
{
    char time[64];
    int status = (int)json_integer_value(json_object_get(result, "status"));
    const char *variant = text_of(result, "variant");
    snprintf(time, sizeof time, "%.6f", json_real_value(json_object_get(result, "seconds")));
    fputs("    <testcase", out);
    put_attribute(out, "classname", text_of(result, "kernel"));
    fputs(" name=\"", out);
    put_escaped(out, text_of(result, "vector"));
    if (variant[0] != '\0') {
        fputs(" [", out);
        put_escaped(out, variant);
        fputc(']', out);
    }
    fputc('"', out);
    put_attribute(out, "time", time);
    fputs(">\n", out);
    const char *outcome = text_of(result, "outcome");
    if (strcmp(outcome, fpo_outcome_name(FPO_OUTCOME_UNSUPPORTED)) == 0) {
        fputs("      <skipped", out);
        put_attribute(out, "message", text_of(result, "text"));
        fputs("/>\n", out);
    } else if (status != FPO_EXIT_OK) {
        const char *element = status == FPO_EXIT_DIVERGENCE ? "failure" : "error";
        fprintf(out, "      <%s", element);
        put_attribute(out, "type", outcome);
        put_attribute(out, "message", text_of(result, "text"));
        fputc('>', out);
        put_body(out, result);
        fprintf(out, "</%s>\n", element);
    }
    if (text_of(result, "log")[0] != '\0') {
        fputs("      <system-err>", out);
        put_escaped(out, text_of(result, "log"));
        fputs("</system-err>\n", out);
    }
    fputs("    </testcase>\n", out);
}

static void put_document(FILE *out, const json_t *document)
{
    const json_t *results = json_object_get(document, "results"), *summary = json_object_get(document, "summary");
    double seconds = 0;
    for (size_t i = 0; i < json_array_size(results); i++) {
        seconds += json_real_value(json_object_get(json_array_get(results, i), "seconds"));
    }
    int failed = (int)(json_integer_value(json_object_get(summary, "failed")) +
                       json_integer_value(json_object_get(summary, "unusable")));
    char numbers[256];
    snprintf(numbers, sizeof numbers, " tests=\"%zu\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.6f\"",
             json_array_size(results), (int)json_integer_value(json_object_get(summary, "diverged")), failed,
             (int)json_integer_value(json_object_get(summary, "unsupported")), seconds);
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s>\n  <testsuite", numbers);
    put_attribute(out, "name", text_of(json_object_get(document, "plugin"), "name"));
    fprintf(out, "%s>\n", numbers);
    put_properties(out, document);
    for (size_t i = 0; i < json_array_size(results); i++) {
        put_case(out, json_array_get(results, i));
    }
    fputs("  </testsuite>\n</testsuites>\n", out);
}

fpo_status fpo_run_write_junit(const char *path, const json_t *document, fpo_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) {
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %s", path);
    }
    put_document(memory, document);
    bool complete = ferror(memory) == 0;
    complete = fclose(memory) == 0 && complete;
    fpo_output_file file;
    fpo_status status =
        complete ? fpo_output_open(&file, path, error) : fpo_fail(error, FPO_ERR_MEMORY, "no memory for %s", path);
    if (status == FPO_OK) {
        status = fpo_output_write(&file, text, size, error);
        if (status == FPO_OK) {
            status = fpo_output_commit(&file, error);
        } else {
            fpo_output_discard(&file);
        }
    }
    free(text);
    return status;
}
