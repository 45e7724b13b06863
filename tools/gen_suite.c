/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Suites of vectors as files. */
#include "gen_suite.h"
#include "arguments.h"
#include "coverage.h"
#include "gen_report.h"
#include "report.h"
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *fpo_gen_suite_complaint(const fpo_gen_arguments *a)
{
    if (a->has_data || a->has_shape || a->a != NULL || a->b != NULL || a->checkpoint != NULL || a->recipe != NULL)
        return "--suite brings its own operands: no --data, --shape, --a, --b, --recipe or --checkpoint";
    if (a->c != NULL || a->bias != NULL || a->generate.c != FPO_FORMAT_NONE || a->generate.bias != FPO_FORMAT_NONE ||
        a->has_alpha || a->has_beta)
        return "--suite brings its own C, bias, alpha and beta";
    if (a->d_scale != FPO_FORMAT_NONE || a->has_norm)
        return "suites have no mxfp8 outputs, and no factor of D";
    if (a->layer != NULL || a->has_rows || a->purpose != NULL)
        return "--layer, --rows and --purpose do not go with --suite";
    if (!a->has_format)
        return "which format: --format F or --format A,B";
    return a->output == NULL ? "where to: -o FOLDER" : NULL;
}

static const char *suite_name_at(size_t index)
{
    return fpo_suite_name((fpo_vector_suite)index);
}

static fpo_status make_folder(const char *folder, fpo_error *error)
{
    struct stat status;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fpo_fail(error, FPO_ERR_IO, "%s: cannot make the folder: %s", folder, strerror(errno));
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return fpo_fail(error, FPO_ERR_IO, "%s: is there and is no folder", folder);
    return access(folder, W_OK | X_OK) == 0
               ? FPO_OK
               : fpo_fail(error, FPO_ERR_IO, "%s: cannot write there: %s", folder, strerror(errno));
}

/* What is said in the end. */
typedef struct making {
    const fpo_gen_arguments *arguments;
    fpo_suite_target target;
    fpo_table *table;
    json_t *vectors, *left_out;
} making;

static char *path_of(const making *m, const fpo_suite_vector *entry)
{
    size_t size = strlen(m->arguments->output) + strlen(entry->name) + sizeof "/.safetensors";
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s.safetensors", m->arguments->output, entry->name);
    return path;
}

/* {"nibble_order": ["operand=A", "operand=B"], ...}: what the vector kills. */
static json_t *kills_json(const fpo_coverage *coverage)
{
    json_t *object = json_object();
    for (size_t e = 0; e < coverage->edit_count; e++) {
        char parameters[256];
        const char *name = fpo_edit_describe(coverage->edits[e].edit.kind)->name;
        if (coverage->edits[e].killers == 0)
            continue;
        if (json_object_get(object, name) == NULL)
            json_object_set_new(object, name, json_array());
        fpo_edit_parameters(&coverage->edits[e].edit, parameters, sizeof parameters);
        json_array_append_new(json_object_get(object, name), json_string(parameters));
    }
    return object;
}

static fpo_status add_separates(const making *m, fpo_vector *vector, fpo_error *error)
{
    fpo_coverage_options how = {.model = fpo_suite_model(m->target.a, m->target.b), .samples_only = true};
    fpo_coverage *coverage;
    fpo_status status = fpo_coverage_compute(&vector, 1, &how, &coverage, error);
    if (status != FPO_OK)
        return status;
    json_t *kills = kills_json(coverage);
    char *text = json_dumps(kills, JSON_COMPACT);
    vector->separates = text != NULL ? fpo_vector_text(vector, text) : NULL;
    free(text);
    json_decref(kills);
    fpo_coverage_free(coverage);
    return vector->separates != NULL ? FPO_OK : fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
}

static void note(making *m, const fpo_suite_vector *entry, const fpo_vector *vector, const char *path)
{
    const fpo_gemm_problem *p = &vector->problem;
    json_array_append_new(m->vectors, fpo_gen_report_json(vector, path));
    fpo_table_add(m->table, "%s", entry->name);
    fpo_table_add(m->table, "%" PRId64 "x%" PRId64 "x%" PRId64, p->m, p->n, p->k);
    fpo_table_add(m->table, "%s", fpo_format_describe(vector->spec.epilogue.d)->name);
    fpo_table_add(m->table, "%s", vector->purpose);
}

static void note_left_out(making *m, const fpo_suite_vector *entry, const char *why)
{
    json_array_append_new(m->left_out, json_pack("{s:s, s:s}", "name", entry->name, "reason", why));
    fpo_table_add(m->table, "%s", entry->name);
    fpo_table_add(m->table, "-");
    fpo_table_add(m->table, "-");
    fpo_table_add(m->table, "left out: %s", why);
}

static fpo_status make_vector(making *m, const fpo_suite_vector *entry, fpo_error *error)
{
    fpo_vector *vector = NULL;
    fpo_status status = fpo_suite_generate(entry, &m->target, &vector, error);
    if (status == FPO_ERR_UNSUPPORTED) {
        note_left_out(m, entry, error->message);
        return FPO_OK;
    }
    char *path = path_of(m, entry);
    if (status == FPO_OK)
        status = path != NULL ? fpo_gen_compute(m->arguments, vector, error)
                              : fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    if (status == FPO_OK && m->arguments->separates)
        status = add_separates(m, vector, error);
    if (status == FPO_OK)
        status = fpo_vector_write(path, vector, m->arguments->digests_only, error);
    if (status == FPO_OK)
        note(m, entry, vector, path);
    free(path);
    fpo_vector_free(vector);
    return status;
}

static fpo_status make_all(making *m, fpo_error *error)
{
    const fpo_gen_arguments *a = m->arguments;
    fpo_vector_suite suite = fpo_suite_by_name(a->suite);
    if (suite == FPO_SUITE_COUNT)
        return fpo_no_such_name("suite", a->suite, suite_name_at, "suites", error);
    fpo_status status = make_folder(a->output, error);
    const fpo_suite_vector *entry;
    for (size_t i = 0; status == FPO_OK && (entry = fpo_suite_vector_at(i)) != NULL; i++)
        if (fpo_suite_has(suite, entry) && fpo_suite_applies(entry, &m->target))
            status = make_vector(m, entry, error);
    return status;
}

int fpo_gen_suite(const char *program, const fpo_gen_arguments *a)
{
    making m = {.arguments = a,
                .target = {.a = a->generate.a,
                           .b = a->generate.b,
                           .d = a->has_d ? a->generate.d : FPO_FORMAT_NONE,
                           .seed = a->generate.seed},
                .table = fpo_table_new(4),
                .vectors = json_array(),
                .left_out = json_array()};
    static const char *const headings[] = {"vector", "M x N x K", "D", "purpose"};
    for (int i = 0; i < 4; i++)
        fpo_table_add(m.table, "%s", headings[i]);
    fpo_error error;
    fpo_status status = make_all(&m, &error);
    if (status != FPO_OK || a->json) {
        fpo_table_free(m.table);
    } else {
        fpo_heading("%s in %s", a->suite, a->output);
        fpo_table_print(m.table, 2);
    }
    int result = status != FPO_OK ? fpo_report_error(program, &error)
                 : a->json
                     ? fpo_print_json(json_pack("{s:s, s:o, s:O, s:O}", "suite", a->suite, "folder",
                                                fpo_json_text(a->output), "vectors", m.vectors, "left_out", m.left_out))
                     : FPO_EXIT_OK;
    json_decref(m.vectors);
    json_decref(m.left_out);
    return result;
}
