/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Any bytes as the description of a module: it is refused with a message, or each kernel has what the runner needs, and
 * every expression and argument of it can be evaluated for some problem. */
#include "fuzz.h"

#include "description.h"
#include "expression.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void evaluate(const char *text)
{
    static const fpo_kernel_problem problem = {
        .m = 200, .n = 264, .k = 320, .a_line = 160, .b_line = 192, .d_line = 1072};
    char why[EXPRESSION_WHY];
    int64_t value;
    require(text != NULL);
    require(expression_value(text, &problem, 4, &value, why) == (why[0] == '\0'));
}

static void use(const fpo_kernel *kernel)
{
    const module_kernel *launch = kernel->user;
    const fpo_kernel_problem problem = {0};
    const void *address;
    float scalar;
    require(kernel->name[0] != '\0' && kernel->d[0] != '\0' && launch->entry[0] != '\0');
    require(kernel->a.element[0] != '\0' && kernel->b.element[0] != '\0' && kernel->native[0] > 0);
    for (int i = 0; i < 3; i++) {
        evaluate(launch->grid[i]);
        require(launch->block[i] >= 1 && launch->block[i] <= 1024);
    }
    evaluate(launch->shared);
    evaluate(launch->workspace);
    require(launch->argument_count >= 1 && launch->argument_count <= MODULE_ARGUMENTS);
    for (int i = 0; i < launch->argument_count; i++) {
        const module_argument *argument = &launch->arguments[i];
        if (argument->kind == ARGUMENT_POINTER)
            require(module_pointer(argument->text, &problem, &address));
        else if (argument->kind == ARGUMENT_F32)
            require(module_scalar(argument->text, &problem, &scalar));
        else
            evaluate(argument->text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    module_description description;
    field_errors errors = {""};
    bool read = module_parse((const char *)data, size, "folder/input.json", &description, &errors);
    require(read == (errors.text[0] == '\0'));
    for (const char *c = errors.text; *c != '\0'; c++)
        require((unsigned char)*c >= 0x20 && *c != 0x7F);
    for (uint32_t i = 0; read && i < description.count; i++)
        use(&description.kernels[i]);
    module_free(&description);
    return 0;
}
