/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Modules: directives, variables, and where each kernel stands. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

/* A kernel as the module knows it: parsed up to its body. */
typedef struct entry {
    fpo_ptx_kernel head; /* code and what belongs to it is not set */
    const char *body, *body_end;
    uint32_t body_line;
} entry;

struct fpo_ptx_module {
    fpo_ptx_arena *arena;
    const char *text;
    const char *target;
    entry *entries;
    uint32_t entry_count;
    fpo_ptx_function *functions;
    uint32_t function_count;
    fpo_ptx_variable *variables;
    uint32_t variable_count;
};

static bool accept_any(fpo_ptx_parse *parse, const char *const *words)
{
    for (; *words != NULL; words++)
        if (fpo_ptx_accept(parse, *words))
            return true;
    return false;
}

_Noreturn static void refuse_directive(fpo_ptx_parse *parse, const char *what, const char *name)
{
    fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, parse->token.line, "%s%s%sdirective `%.*s`", what, name,
                 name[0] != '\0' ? ": " : "", (int)parse->token.length, parse->token.text);
}

fpo_ptx_variable fpo_ptx_parse_variable(fpo_ptx_parse *parse)
{
    fpo_ptx_variable v = {.align = 0, .line = parse->token.line};
    if (fpo_ptx_accept(parse, ".align"))
        v.align = (uint32_t)fpo_ptx_unsigned(parse);
    if (v.align > 65536 || (v.align & (v.align - 1)) != 0)
        fpo_ptx_fail(parse, FPO_ERR_FILE, v.line, "alignment %u", v.align);
    fpo_ptx_token type = parse->token;
    fpo_ptx_type t = type.kind == 'w' ? fpo_ptx_type_by_name(type.text + 1, type.length - 1) : FPO_PTX_TYPE_COUNT;
    v.element = fpo_ptx_type_bytes(t);
    if (v.element == 0)
        fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, type.line, "a variable of type `%.*s`", (int)type.length, type.text);
    if (v.align == 0)
        v.align = v.element;
    fpo_ptx_next(parse);
    /* A parameter that is a pointer says so after its type: .ptr .global .align 16. */
    if (fpo_ptx_accept(parse, ".ptr")) {
        while (accept_any(parse, (const char *const[]){".global", ".shared", ".local", ".const", NULL}))
            continue;
        if (fpo_ptx_accept(parse, ".align"))
            fpo_ptx_unsigned(parse);
    }
    if (parse->token.kind != 'w' || parse->token.text[0] == '.')
        fpo_ptx_fail(parse, FPO_ERR_FILE, parse->token.line, "the name of a variable expected at `%.*s`",
                     (int)parse->token.length, parse->token.text);
    v.name = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
    fpo_ptx_next(parse);
    v.size = v.element;
    while (fpo_ptx_accept(parse, "[")) {
        uint64_t count = fpo_ptx_is(parse, "]") ? 0 : fpo_ptx_unsigned(parse);
        fpo_ptx_expect(parse, "]");
        if (count > (UINT64_C(1) << 40) / v.size)
            fpo_ptx_fail(parse, FPO_ERR_FILE, v.line, "variable %s is too large", v.name);
        v.size *= count;
    }
    return v;
}

static void skip_braces(fpo_ptx_parse *parse)
{
    int depth = 0;
    do {
        if (parse->token.kind == 0)
            fpo_ptx_fail(parse, FPO_ERR_FILE, parse->line, "`}` is missing");
        depth += parse->token.kind == '{';
        depth -= parse->token.kind == '}';
        fpo_ptx_next(parse);
    } while (depth > 0);
}

static void parse_module_variable(fpo_ptx_parse *parse, fpo_ptx_module *module, fpo_ptx_value space, bool external)
{
    for (bool more = true; more;) {
        fpo_ptx_variable v = fpo_ptx_parse_variable(parse);
        v.space = space;
        v.external = external;
        if (fpo_ptx_accept(parse, "=")) {
            v.line = parse->token.line;
            if (fpo_ptx_is(parse, "{")) {
                v.initialiser = parse->at;
                skip_braces(parse);
                const char *end = parse->token.text;
                while (end > v.initialiser && end[-1] != '}')
                    end--;
                v.initialiser_length = end > v.initialiser ? (size_t)(end - 1 - v.initialiser) : 0;
            } else {
                v.initialiser = parse->token.text;
                v.initialiser_length = parse->token.length;
                if (fpo_ptx_is(parse, "-")) {
                    fpo_ptx_next(parse);
                    v.initialiser_length = (size_t)(parse->token.text + parse->token.length - v.initialiser);
                }
                fpo_ptx_next(parse);
            }
        }
        module->variables = fpo_ptx_grow(parse, module->variables, module->variable_count, sizeof *module->variables);
        module->variables[module->variable_count++] = v;
        more = fpo_ptx_accept(parse, ",");
    }
    fpo_ptx_expect(parse, ";");
}

static void parse_params(fpo_ptx_parse *parse, fpo_ptx_kernel *kernel)
{
    fpo_ptx_param *params = NULL;
    uint64_t offset = 0;
    while (!fpo_ptx_accept(parse, ")")) {
        if (kernel->param_count != 0)
            fpo_ptx_expect(parse, ",");
        fpo_ptx_expect(parse, ".param");
        fpo_ptx_variable v = fpo_ptx_parse_variable(parse);
        offset = (offset + v.align - 1) / v.align * v.align;
        params = fpo_ptx_grow(parse, params, kernel->param_count, sizeof *params);
        params[kernel->param_count++] = (fpo_ptx_param){v.name, (uint32_t)offset, (uint32_t)v.size};
        offset += v.size;
        if (offset > 32764)
            fpo_ptx_fail(parse, FPO_ERR_FILE, v.line, "the parameters of %s take more than 32764 bytes", kernel->name);
    }
    kernel->params = params;
    kernel->param_bytes = (uint32_t)offset;
}

static void parse_three(fpo_ptx_parse *parse, uint32_t numbers[3])
{
    numbers[1] = numbers[2] = 1;
    for (int i = 0; i < 3; i++) {
        numbers[i] = (uint32_t)fpo_ptx_unsigned(parse);
        if (!fpo_ptx_accept(parse, ","))
            return;
    }
}

static void parse_entry(fpo_ptx_parse *parse, fpo_ptx_module *module)
{
    entry e = {.head.line = parse->token.line};
    e.head.name = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
    fpo_ptx_next(parse);
    if (fpo_ptx_accept(parse, "("))
        parse_params(parse, &e.head);
    while (!fpo_ptx_is(parse, "{")) {
        uint32_t three[3];
        if (fpo_ptx_accept(parse, ".reqntid")) {
            parse_three(parse, e.head.required_threads);
        } else if (fpo_ptx_accept(parse, ".maxntid")) {
            parse_three(parse, three);
            e.head.max_threads = three[0] * three[1] * three[2];
        } else if (fpo_ptx_accept(parse, ".reqnctapercluster")) {
            parse_three(parse, e.head.cluster);
        } else if (fpo_ptx_accept(parse, ".maxclusterrank")) {
            e.head.max_cluster = (uint32_t)fpo_ptx_unsigned(parse);
        } else if (fpo_ptx_accept(parse, ".explicitcluster")) {
            e.head.explicit_cluster = true;
        } else if (fpo_ptx_accept(parse, ".blocksareclusters")) {
            e.head.grid_of_clusters = true;
        } else if (accept_any(parse, (const char *const[]){".minnctapersm", ".maxnctapersm", ".maxnreg", NULL})) {
            fpo_ptx_unsigned(parse); /* how many registers a thread may get: nothing that a kernel could see */
        } else {
            refuse_directive(parse, "kernel ", e.head.name);
        }
    }
    if (e.head.grid_of_clusters && (e.head.required_threads[0] == 0 || e.head.cluster[0] == 0))
        fpo_ptx_fail(parse, FPO_ERR_FILE, e.head.line,
                     "kernel %s: .blocksareclusters without .reqntid and .reqnctapercluster", e.head.name);
    e.body = parse->token.text;
    e.body_line = parse->token.line;
    skip_braces(parse);
    e.body_end = parse->token.kind != 0 ? parse->token.text : parse->end;
    module->entries = fpo_ptx_grow(parse, module->entries, module->entry_count, sizeof *module->entries);
    module->entries[module->entry_count++] = e;
}

/* Parameters of a function, up to the closing parenthesis. */
static uint32_t parse_function_params(fpo_ptx_parse *parse, fpo_ptx_variable **list, uint32_t count)
{
    while (!fpo_ptx_accept(parse, ")")) {
        fpo_ptx_accept(parse, ",");
        if (!fpo_ptx_accept(parse, ".param"))
            fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, parse->token.line, "a function's parameter `%.*s`",
                         (int)parse->token.length, parse->token.text);
        *list = fpo_ptx_grow(parse, *list, count, sizeof **list);
        (*list)[count++] = fpo_ptx_parse_variable(parse);
    }
    return count;
}

/* Bodies are read where they are called. */
static void parse_function(fpo_ptx_parse *parse, fpo_ptx_module *module)
{
    fpo_ptx_function f = {0};
    fpo_ptx_variable *list = NULL;
    if (fpo_ptx_accept(parse, "("))
        f.result_count = f.parameter_count = parse_function_params(parse, &list, 0);
    f.name = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
    fpo_ptx_next(parse);
    if (fpo_ptx_accept(parse, "("))
        f.parameter_count = parse_function_params(parse, &list, f.parameter_count);
    f.parameters = list;
    /* What a function promises its callers, and how registers are kept over a call, changes no result. */
    while (!fpo_ptx_is(parse, "{") && !fpo_ptx_is(parse, ";") && parse->token.kind != 0) {
        if (accept_any(parse, (const char *const[]){".abi_preserve", ".abi_preserve_control", NULL}))
            fpo_ptx_unsigned(parse);
        else if (!accept_any(parse, (const char *const[]){".noreturn", ".unique", NULL}))
            refuse_directive(parse, "function ", f.name);
    }
    if (fpo_ptx_is(parse, "{")) {
        f.body = parse->token.text;
        f.body_line = parse->token.line;
        skip_braces(parse);
        f.body_end = parse->token.kind != 0 ? parse->token.text : parse->end;
    } else {
        fpo_ptx_expect(parse, ";");
    }
    module->functions = fpo_ptx_grow(parse, module->functions, module->function_count, sizeof *module->functions);
    module->functions[module->function_count++] = f;
}

/* A definition rather than a declaration, where both are there. */
const fpo_ptx_function *fpo_ptx_find_function(const fpo_ptx_module *module, const char *name)
{
    const fpo_ptx_function *found = NULL;
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].name, name) == 0 && (found == NULL || module->functions[i].body != NULL))
            found = &module->functions[i];
    return found;
}

static void parse_declaration(fpo_ptx_parse *parse, fpo_ptx_module *module)
{
    bool external = false;
    while (fpo_ptx_is(parse, ".visible") || fpo_ptx_is(parse, ".extern") || fpo_ptx_is(parse, ".weak") ||
           fpo_ptx_is(parse, ".common")) {
        external |= fpo_ptx_is(parse, ".extern");
        fpo_ptx_next(parse);
    }
    if (fpo_ptx_accept(parse, ".entry"))
        parse_entry(parse, module);
    else if (fpo_ptx_accept(parse, ".func"))
        parse_function(parse, module);
    else if (fpo_ptx_accept(parse, ".global"))
        parse_module_variable(parse, module, FPO_PTX_V_GLOBAL, external);
    else if (fpo_ptx_accept(parse, ".const"))
        parse_module_variable(parse, module, FPO_PTX_V_CONST, external);
    else if (fpo_ptx_accept(parse, ".shared"))
        parse_module_variable(parse, module, FPO_PTX_V_SHARED, external);
    else
        refuse_directive(parse, "at module scope: ", "");
}

/* sm_90a, debug: the first is the target. Modes of textures matter to no instruction that there is. */
static void parse_target(fpo_ptx_parse *parse, fpo_ptx_module *module)
{
    module->target = fpo_ptx_copy(parse, parse->token.text, parse->token.length);
    fpo_ptx_next(parse);
    while (fpo_ptx_accept(parse, ",")) {
        static const char *const harmless[] = {"debug", "texmode_unified", "texmode_independent", NULL};
        if (!accept_any(parse, harmless))
            fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, parse->token.line, "target option `%.*s`",
                         (int)parse->token.length, parse->token.text);
    }
}

static void parse_module(fpo_ptx_parse *parse, fpo_ptx_module *module)
{
    while (parse->token.kind != 0) {
        /* Places in sources, and pragmas, which by definition change no result; instructions are known by their names,
         * whatever the version. */
        if (fpo_ptx_is(parse, ".version") || fpo_ptx_is(parse, ".file") || fpo_ptx_is(parse, ".loc") ||
            fpo_ptx_is(parse, ".pragma")) {
            fpo_ptx_skip_line(parse);
        } else if (fpo_ptx_accept(parse, ".address_size")) {
            uint32_t line = parse->token.line;
            uint64_t bits = fpo_ptx_unsigned(parse);
            if (bits != 64)
                fpo_ptx_fail(parse, FPO_ERR_UNSUPPORTED, line, "addresses of %llu bits", (unsigned long long)bits);
        } else if (fpo_ptx_accept(parse, ".target")) {
            parse_target(parse, module);
        } else if (fpo_ptx_accept(parse, ".section")) {
            while (!fpo_ptx_is(parse, "{") && parse->token.kind != 0)
                fpo_ptx_next(parse);
            skip_braces(parse);
        } else if (!fpo_ptx_accept(parse, ";")) {
            parse_declaration(parse, module);
        }
    }
    if (module->target == NULL)
        fpo_ptx_fail(parse, FPO_ERR_FILE, parse->line, "no .target: this is not a PTX module");
}

typedef struct loading {
    const char *text;
    size_t length;
    fpo_ptx_module *module;
} loading;

static void load(fpo_ptx_parse *parse, void *context)
{
    loading *l = context;
    l->module = fpo_ptx_take(parse, sizeof *l->module);
    l->module->arena = parse->arena;
    l->module->text = fpo_ptx_copy(parse, l->text, l->length);
    fpo_ptx_start(parse, l->module->text, l->module->text + l->length, 1);
    parse_module(parse, l->module);
}

/* Runs `body` with an arena of its own, which is freed if it fails. */
static fpo_status with_arena(fpo_ptx_parse *parse, void (*body)(fpo_ptx_parse *, void *), void *context)
{
    parse->arena = fpo_ptx_arena_new();
    if (parse->arena == NULL)
        return FPO_ERR_MEMORY;
    fpo_status status = fpo_ptx_try(parse, body, context);
    if (status != FPO_OK)
        fpo_ptx_arena_free(parse->arena);
    return status;
}

fpo_status fpo_ptx_module_load(const char *text, size_t length, fpo_ptx_module **result, fpo_error *error)
{
    fpo_ptx_parse parse = {.error = error};
    const char *nul = memchr(text, '\0', length);
    loading l = {text, nul != NULL ? (size_t)(nul - text) : length, NULL};
    fpo_status status = with_arena(&parse, load, &l);
    *result = status == FPO_OK ? l.module : NULL;
    return status;
}

void fpo_ptx_module_free(fpo_ptx_module *module)
{
    if (module != NULL)
        fpo_ptx_arena_free(module->arena);
}

size_t fpo_ptx_kernel_count(const fpo_ptx_module *module)
{
    return module->entry_count;
}

const char *fpo_ptx_kernel_name(const fpo_ptx_module *module, size_t index)
{
    return index < module->entry_count ? module->entries[index].head.name : NULL;
}

const char *fpo_ptx_target(const fpo_ptx_module *module)
{
    return module->target;
}

size_t fpo_ptx_variable_count(const fpo_ptx_module *module)
{
    return module->variable_count;
}

const fpo_ptx_variable *fpo_ptx_variable_at(const fpo_ptx_module *module, size_t index)
{
    return index < module->variable_count ? &module->variables[index] : NULL;
}

const fpo_ptx_variable *fpo_ptx_find_variable(const fpo_ptx_module *module, const char *name, size_t *index)
{
    for (size_t i = 0; i < module->variable_count; i++) {
        if (strcmp(module->variables[i].name, name) == 0) {
            *index = i;
            return &module->variables[i];
        }
    }
    return NULL;
}

static void finish(fpo_ptx_builder *b)
{
    fpo_ptx_kernel *k = b->kernel;
    k->code = b->code;
    k->code_count = b->code_count;
    k->constants = b->constants;
    k->constant_bytes = b->constant_bytes;
    k->relocations = b->relocations;
    k->relocation_count = b->relocation_count;
    k->specials = b->specials;
    k->special_count = b->special_count;
}

typedef struct decoding {
    const fpo_ptx_module *module;
    fpo_ptx_kernel *kernel;
} decoding;

static void decode(fpo_ptx_parse *parse, void *context)
{
    decoding *d = context;
    const entry *e = NULL;
    for (uint32_t i = 0; i < d->module->entry_count; i++)
        if (strcmp(d->module->entries[i].head.name, parse->kernel) == 0)
            e = &d->module->entries[i];
    if (e == NULL)
        fpo_ptx_fail(parse, FPO_ERR_ARGUMENT, 0, "the module has no such kernel");
    d->kernel = fpo_ptx_take(parse, sizeof *d->kernel);
    *d->kernel = e->head;
    d->kernel->memory = parse->arena;
    fpo_ptx_builder *b = fpo_ptx_take(parse, sizeof *b);
    b->parse = parse;
    b->module = d->module;
    b->kernel = d->kernel;
    fpo_ptx_start(parse, e->body, e->body_end, e->body_line);
    fpo_ptx_parse_body(b);
    fpo_ptx_flow(b);
    finish(b);
}

fpo_status fpo_ptx_kernel_decode(const fpo_ptx_module *module, const char *name, fpo_ptx_kernel **result,
                                 fpo_error *error)
{
    fpo_ptx_parse parse = {.error = error, .kernel = name};
    decoding d = {module, NULL};
    fpo_status status = with_arena(&parse, decode, &d);
    *result = status == FPO_OK ? d.kernel : NULL;
    return status;
}

void fpo_ptx_kernel_free(fpo_ptx_kernel *kernel)
{
    if (kernel != NULL)
        fpo_ptx_arena_free(kernel->memory);
}
