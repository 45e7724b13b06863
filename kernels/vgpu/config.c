/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A configuration as text: "capability=120,sms=4,seed=1,mxf4nvf4=sm120_mxf4nvf4_f25". */
#include "vgpu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const mma_names[] = {
#define FPO_VGPU_MMA(ID, sm120, sm100, sm90, summary) #ID,
#include "mma_kinds.inc"
#undef FPO_VGPU_MMA
};

static bool same_name(const char *text, size_t length, const char *name)
{
    if (strlen(name) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)text[i]) != tolower((unsigned char)name[i]))
            return false;
    return true;
}

static bool parse_number(const char *text, size_t length, uint64_t *number)
{
    char copy[24];
    if (length == 0 || length >= sizeof copy || !isdigit((unsigned char)text[0]))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *end;
    *number = strtoull(copy, &end, 0);
    return *end == '\0';
}

static bool find_isa(const char *text, size_t length, fpo_isa *isa)
{
    static const char *const names[] = {"best", "portable", "avx2", "avx512"};
    for (int i = 0; i < 4; i++) {
        if (same_name(text, length, names[i])) {
            *isa = (fpo_isa)i;
            return true;
        }
    }
    return false;
}

static fpo_status set(fpo_vgpu_config *config, const char *key, size_t key_length, const char *value, size_t length,
                      fpo_error *error)
{
    uint64_t number = 0;
    bool numeric = parse_number(value, length, &number);
    for (int i = 0; i < FPO_VGPU_MMA_COUNT; i++) {
        if (!same_name(key, key_length, mma_names[i]))
            continue;
        char name[128];
        if (length < sizeof name) {
            memcpy(name, value, length);
            name[length] = '\0';
            config->models[i] = fpo_model_by_name(name);
        }
        if (config->models[i] == NULL || config->models[i]->accumulation.step.kind != FPO_STEP_FUSED)
            return fpo_fail(error, FPO_ERR_ARGUMENT, "no model of an instruction is called %.*s", (int)length, value);
        return FPO_OK;
    }
    if (same_name(key, key_length, "isa") && find_isa(value, length, &config->isa))
        return FPO_OK;
    if (same_name(key, key_length, "capability") && numeric)
        config->capability = (int)number;
    else if (same_name(key, key_length, "sms") && numeric && number >= 1 && number <= 1024)
        config->multiprocessors = (int)number;
    else if (same_name(key, key_length, "threads") && numeric && number <= 1024)
        config->threads = (int)number;
    else if (same_name(key, key_length, "seed") && numeric)
        config->seed = number;
    else if (same_name(key, key_length, "late_loads") && numeric && number <= 1)
        config->late_loads = number == 1;
    else if (same_name(key, key_length, "check") && numeric && number <= 1)
        config->check = number == 1;
    else if (same_name(key, key_length, "max_instructions") && numeric)
        config->max_instructions = number;
    else
        return fpo_fail(error, FPO_ERR_ARGUMENT, "virtual GPU: %.*s=%.*s is not understood", (int)key_length, key,
                        (int)length, value);
    return FPO_OK;
}

fpo_status fpo_vgpu_config_parse(const char *text, fpo_vgpu_config *config, fpo_error *error)
{
    *config = (fpo_vgpu_config){.capability = 120};
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        if (equals == NULL)
            return fpo_fail(error, FPO_ERR_ARGUMENT, "virtual GPU: %.*s is no KEY=VALUE", (int)length, text);
        fpo_status status =
            set(config, text, (size_t)(equals - text), equals + 1, length - (size_t)(equals + 1 - text), error);
        if (status != FPO_OK)
            return status;
        text += length + (text[length] == ',');
    }
    return FPO_OK;
}
