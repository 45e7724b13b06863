/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Entries of the registries as JSON objects, which `fp4oracle list` shows as a table or as they are. Strings, numbers
 * and booleans are columns of the table; "source" is a line under it; objects are shown for a single entry only. */
#ifndef FP4ORACLE_TOOLS_LIST_H
#define FP4ORACLE_TOOLS_LIST_H

#include <jansson.h>

#define FPO_TOPIC(name, entry, summary) json_t *entry(size_t index);
#define FPO_TOPIC_FOUND(name, entries, summary) json_t *entries(void);
#include "topics.inc"
#undef FPO_TOPIC
#undef FPO_TOPIC_FOUND

#endif
