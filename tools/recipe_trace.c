/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The events of fpo_recipe_trace as JSON. */
#include "recipe_trace.h"
#include "number.h"
#include "report.h"

#include <fp4oracle/recipe_trace.h>
#include <stdio.h>

typedef struct builder {
    json_t *object;
    const fpo_recipe_info *recipe;
} builder;

/* Nine digits tell f32 numbers apart. */
static json_t *value_json(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    return json_string(text);
}

static json_t *hex_json(fpo_format format, double code)
{
    return json_string(fpo_hex_text(format, (uint32_t)code).text);
}

/* The array of this name, made where it is not there. */
static json_t *list_of(json_t *object, const char *name)
{
    if (json_object_get(object, name) == NULL)
        json_object_set_new(object, name, json_array());
    return json_object_get(object, name);
}

static json_t *single(const fpo_trace_event *event)
{
    double value = event->values[0];
    uint32_t bits = fpo_encode_double(FPO_F32, value, fpo_cast_describe(FPO_CAST_IEEE));
    return json_pack("{s:s, s:o, s:s}", "step", event->text, "result", value_json(value), "bits",
                     fpo_hex_text(FPO_F32, bits).text);
}

static json_t *column(const fpo_trace_event *event)
{
    json_t *results = json_array();
    for (int64_t i = 0; i < event->count; i++)
        json_array_append_new(results, value_json(event->values[i]));
    return json_pack("{s:s, s:o}", "step", event->text, "results", results);
}

static void add_results(const builder *b, const fpo_trace_event *event)
{
    if (event->scope == FPO_TRACE_SCALE) {
        fpo_format format = b->recipe->view.scale.format;
        json_object_set_new(b->object, "scale",
                            json_pack("{s:s, s:o, s:s}", "format", fpo_format_describe(format)->name, "code",
                                      hex_json(format, event->values[0]), "value",
                                      fpo_code_text(format, (uint32_t)event->values[0]).text));
        return;
    }
    for (int64_t i = 0; i < event->count; i++)
        json_array_append_new(list_of(b->object, "codes"), hex_json(b->recipe->view.element, event->values[i]));
}

static void add(void *context, const fpo_trace_event *event)
{
    const builder *b = context;
    switch (event->scope) {
    case FPO_TRACE_TENSOR: json_array_append_new(list_of(b->object, "tensor"), single(event)); break;
    case FPO_TRACE_ROW: json_array_append_new(list_of(b->object, "row"), single(event)); break;
    case FPO_TRACE_BLOCK: json_array_append_new(list_of(b->object, "block"), single(event)); break;
    case FPO_TRACE_INPUT:
    case FPO_TRACE_ELEMENT: json_array_append_new(list_of(b->object, "elements"), column(event)); break;
    case FPO_TRACE_CANDIDATE: {
        json_t *candidate =
            json_pack("{s:o, s:o}", "try", value_json(event->values[0]), "error", value_json(event->values[1]));
        if (event->chosen)
            json_object_set_new(candidate, "chosen", json_true());
        json_array_append_new(list_of(b->object, "tries"), candidate);
        break;
    }
    case FPO_TRACE_SCALE:
    case FPO_TRACE_CODES: add_results(b, event); break;
    }
}

fpo_status fpo_trace_recipe(const fpo_recipe_info *recipe, const float *x, int64_t k, fpo_format dtype,
                            const float *library_scale, json_t *object, fpo_error *error)
{
    builder b = {object, recipe};
    static const char *const lists[] = {"tensor", "row", "block", "elements"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        list_of(object, lists[i]);
    return fpo_recipe_trace(recipe, x, k, dtype, library_scale, add, &b, error);
}
