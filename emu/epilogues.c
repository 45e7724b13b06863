/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The registries of epilogue operations and of epilogues. */
#include <fp4oracle/spec.h>

#include <string.h>

const fpo_epilogue_op_info *fpo_epilogue_op_describe(fpo_epilogue_op op)
{
    static const fpo_epilogue_op_info ops[] = {
#define FPO_EPILOGUE_OP(ID, name, takes_operand, summary) [FPO_EPI_##ID] = {name, summary, takes_operand},
#include <fp4oracle/epilogue_ops.inc>
#undef FPO_EPILOGUE_OP
    };
    return (size_t)op < sizeof ops / sizeof ops[0] ? &ops[op] : NULL;
}

static const fpo_epilogue_info epilogues[FPO_EPILOGUE_COUNT] = {
#define DO(op)                                                                                                         \
    {                                                                                                                  \
        FPO_EPI_##op, FPO_EPI_NOTHING                                                                                  \
    }
#define WITH(op, operand)                                                                                              \
    {                                                                                                                  \
        FPO_EPI_##op, FPO_EPI_##operand                                                                                \
    }
#define FPO_EPILOGUE(ID, name, summary, ...) [FPO_EPILOGUE_##ID] = {name, summary, {__VA_ARGS__}},
#include <fp4oracle/epilogues.inc>
#undef FPO_EPILOGUE
#undef WITH
#undef DO
};

const fpo_epilogue_info *fpo_epilogue_describe(fpo_epilogue_preset preset)
{
    return (unsigned)preset < FPO_EPILOGUE_COUNT ? &epilogues[preset] : NULL;
}

fpo_epilogue_preset fpo_epilogue_by_name(const char *name)
{
    int preset = 0;
    while (preset < FPO_EPILOGUE_COUNT && strcmp(epilogues[preset].name, name) != 0)
        preset++;
    return (fpo_epilogue_preset)preset;
}

bool fpo_epilogue_append(fpo_epilogue *epilogue, fpo_epilogue_op op, fpo_epilogue_operand operand)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS; i++) {
        if (epilogue->steps[i].op == FPO_EPI_END) {
            epilogue->steps[i] = (fpo_epilogue_step){op, operand};
            return true;
        }
    }
    return false;
}
