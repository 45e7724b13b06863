/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Names of outcomes, and which one an answer or an ending is. */
#include "outcome.h"

#include <signal.h>

static const struct {
    const char *name, *sentence;
    int exit_status;
} outcomes[FPO_OUTCOME_COUNT] = {
#define FPO_OUTCOME(ID, name, exit_status, sentence) {name, sentence, exit_status},
#include "outcomes.inc"
#undef FPO_OUTCOME
};

const char *fpo_outcome_name(fpo_outcome outcome)
{
    return (unsigned)outcome < FPO_OUTCOME_COUNT ? outcomes[outcome].name : "unknown";
}

const char *fpo_outcome_sentence(fpo_outcome outcome)
{
    return (unsigned)outcome < FPO_OUTCOME_COUNT ? outcomes[outcome].sentence : "unknown";
}

int fpo_outcome_exit_status(fpo_outcome outcome)
{
    return (unsigned)outcome < FPO_OUTCOME_COUNT ? outcomes[outcome].exit_status : 3;
}

fpo_outcome fpo_outcome_of_status(fpo_plugin_status status)
{
    switch (status) {
    case FPO_PLUGIN_UNSUPPORTED: return FPO_OUTCOME_UNSUPPORTED;
    case FPO_PLUGIN_OUT_OF_MEMORY: return FPO_OUTCOME_OUT_OF_MEMORY;
    case FPO_PLUGIN_DEVICE_LOST: return FPO_OUTCOME_DEVICE_LOST;
    default: return FPO_OUTCOME_FAILED;
    }
}

fpo_outcome fpo_outcome_of_ending(const fpo_ending *ending)
{
    switch (ending->kind) {
    case FPO_ENDING_TIME: return FPO_OUTCOME_TIMED_OUT;
    case FPO_ENDING_SIGNAL: return ending->number == SIGABRT ? FPO_OUTCOME_ABORTED : FPO_OUTCOME_CRASHED;
    default: return FPO_OUTCOME_EXITED;
    }
}
