/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle list: what there is, from the registries. */
#include "arguments.h"
#include "list.h"
#include "report.h"
#include "table.h"

#include <argp.h>
#include <string.h>

typedef struct topic {
    const char *name;
    json_t *(*entry)(size_t index); /* or */
    json_t *(*entries)(void);
    const char *summary;
} topic;

static const topic topics[] = {
#define FPO_TOPIC(name, entry, summary) {#name, entry, NULL, summary},
#define FPO_TOPIC_FOUND(name, entries, summary) {#name, NULL, entries, summary},
#include "topics.inc"
#undef FPO_TOPIC
#undef FPO_TOPIC_FOUND
};
enum { TOPICS = sizeof topics / sizeof topics[0], MOST_COLUMNS = 16 };

static const char *topic_name(size_t index)
{
    return index < TOPICS ? topics[index].name : NULL;
}

static json_t *all_entries(const topic *t)
{
    if (t->entries != NULL)
        return t->entries();
    json_t *entries = json_array();
    for (size_t i = 0;; i++) {
        json_t *entry = t->entry(i);
        if (entry == NULL)
            return entries;
        json_array_append_new(entries, entry);
    }
}

static bool is_column(const char *key, const json_t *value)
{
    return strcmp(key, "source") != 0 && strcmp(key, "plugin") != 0 && strcmp(key, "reason") != 0 &&
           !json_is_object(value) && !json_is_array(value);
}

static void add_value(fpo_table *table, const json_t *value)
{
    if (json_is_string(value))
        fpo_table_add(table, "%s", json_string_value(value));
    else if (json_is_integer(value))
        fpo_table_add(table, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fpo_table_add(table, "%.9g", json_real_value(value));
    else
        fpo_table_add(table, "%s", json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "-");
}

/* A key as a heading: "block_scale" is "block scale". */
static void add_heading(fpo_table *table, const char *key)
{
    char heading[32];
    size_t length = 0;
    for (; key[length] != '\0' && length + 1 < sizeof heading; length++)
        heading[length] = key[length] == '_' ? ' ' : key[length];
    heading[length] = '\0';
    fpo_table_add(table, "%s", heading);
}

/* All entries of a topic have the same keys in the same order; the first gives the heading. */
static void print_table(const json_t *entries)
{
    const char *columns[MOST_COLUMNS];
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_array_get(entries, 0), key, value)
    {
        if (is_column(key, value) && count < MOST_COLUMNS)
            columns[count++] = key;
    }
    fpo_table *table = fpo_table_new(count);
    for (size_t c = 0; c < count; c++) {
        add_heading(table, columns[c]);
        if (json_is_number(json_object_get(json_array_get(entries, 0), columns[c])))
            fpo_table_align_right(table, c);
    }
    size_t index;
    json_t *entry;
    json_array_foreach(entries, index, entry)
    {
        for (size_t c = 0; c < count; c++)
            add_value(table, json_object_get(entry, columns[c]));
        const json_t *source = json_object_get(entry, "source");
        if (source != NULL && json_string_length(source) > 0)
            fpo_table_note(table, json_string_value(source));
    }
    fpo_table_print(table, 2);
}

static void print_fields(const json_t *object, int indent)
{
    fpo_table *table = fpo_table_new(2);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        if (!json_is_object(value)) {
            fpo_table_add(table, "%s", key);
            add_value(table, value);
        }
    }
    fpo_table_print_plain(table, indent);
    json_object_foreach((json_t *)object, key, value)
    {
        if (json_is_object(value)) {
            printf("%*s%s\n", indent, "", key);
            print_fields(value, indent + 2);
        }
    }
}

static json_t *find_entry(const json_t *entries, const char *name)
{
    size_t index;
    json_t *entry;
    json_array_foreach(entries, index, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
            return entry;
    }
    return NULL;
}

static void print_topics(void)
{
    fpo_table *table = fpo_table_new(3);
    fpo_table_add(table, "topic");
    fpo_table_add(table, "entries");
    fpo_table_add(table, "what");
    fpo_table_align_right(table, 1);
    for (size_t i = 0; i < TOPICS; i++) {
        json_t *entries = all_entries(&topics[i]);
        fpo_table_add(table, "%s", topics[i].name);
        fpo_table_add(table, "%zu", json_array_size(entries));
        fpo_table_add(table, "%s", topics[i].summary);
        json_decref(entries);
    }
    fpo_table_print(table, 2);
    puts("\n`fp4oracle list TOPIC` has the entries, `fp4oracle list TOPIC NAME` everything about one.");
}

static json_t *topics_json(void)
{
    json_t *object = json_object();
    for (size_t i = 0; i < TOPICS; i++)
        json_object_set_new(object, topics[i].name, all_entries(&topics[i]));
    return object;
}

typedef struct parsed {
    const char *topic, *name;
    bool json;
} parsed;

enum { OPTION_JSON = 0x100 };

static const struct argp_option options[] = {
    {.name = "json", .key = OPTION_JSON, .doc = "the same facts for machines"},
    {0},
};

static const char documentation[] = "Shows what there is: every format, layout, recipe and model that the other "
                                    "commands take, and where it comes from.\v"
                                    "Without a topic, the topics. With a name, everything about that entry.\n\n"
                                    "Examples:\n"
                                    "  fp4oracle list blocks\n"
                                    "  fp4oracle list models exact\n"
                                    "  fp4oracle list recipes --json";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *result = state->input;
    switch (key) {
    case OPTION_JSON: result->json = true; return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            result->topic = argument;
        else if (state->arg_num == 1)
            result->name = argument;
        else
            argp_error(state, "one topic and one name at a time");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int list_topic(const char *program, const parsed *p)
{
    const topic *found = NULL;
    for (size_t i = 0; i < TOPICS; i++) {
        if (strcmp(topics[i].name, p->topic) == 0)
            found = &topics[i];
    }
    if (found == NULL) {
        const char *nearest = fpo_suggest(p->topic, topic_name);
        return fpo_report_unusable(program, "there is no topic '%.80s'%s%s%s", p->topic,
                                   nearest != NULL ? "; did you mean '" : "; `fp4oracle list` has all",
                                   nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    }
    json_t *entries = all_entries(found);
    json_t *one = p->name != NULL ? find_entry(entries, p->name) : NULL;
    int status = FPO_EXIT_OK;
    if (p->name != NULL && one == NULL)
        status = fpo_report_unusable(program, "there is no entry '%.80s' in %s; `fp4oracle list %s` has all", p->name,
                                     found->name, found->name);
    else if (p->json)
        status = fpo_print_json(one != NULL ? json_incref(one) : json_pack("{s:O}", found->name, entries));
    else if (one != NULL)
        print_fields(one, 2);
    else if (json_array_size(entries) == 0)
        printf("  none\n");
    else
        print_table(entries);
    json_decref(entries);
    return status;
}

int fpo_cmd_list(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "[TOPIC [NAME]]", .doc = documentation};
    parsed p = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    if (p.topic != NULL)
        return list_topic(argv[0], &p);
    if (p.json)
        return fpo_print_json(topics_json());
    print_topics();
    return FPO_EXIT_OK;
}
