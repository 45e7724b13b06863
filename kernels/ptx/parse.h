/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Inside the front end: tokens, syntax of operands, and a failure that leaves the parser at once. A parse keeps all its
 * memory in one arena, so that leaving it by longjmp loses nothing. */
#ifndef FP4ORACLE_KERNELS_PTX_PARSE_H
#define FP4ORACLE_KERNELS_PTX_PARSE_H

#include "arena.h"
#include "ptx.h"

#include <setjmp.h>

typedef struct fpo_ptx_token {
    char kind; /* 'w' word, '"' string, 0 end, else the character */
    const char *text;
    size_t length;
    uint32_t line;
} fpo_ptx_token;

typedef struct fpo_ptx_parse {
    fpo_ptx_arena *arena;
    fpo_error *error;
    const char *kernel; /* its name, for messages; NULL outside a kernel */
    const char *at, *end;
    uint32_t line;
    fpo_ptx_token token; /* the current one */
    jmp_buf escape;
} fpo_ptx_parse;

/* Ends the parse with a message that names the kernel and the line. */
_Noreturn void fpo_ptx_fail(fpo_ptx_parse *parse, fpo_status status, uint32_t line, const char *format, ...)
    FPO_PRINTF(4, 5);

/* Calls `body`; FPO_OK if it returns, else the status that it failed with. */
fpo_status fpo_ptx_try(fpo_ptx_parse *parse, void (*body)(fpo_ptx_parse *parse, void *context), void *context);

void *fpo_ptx_take(fpo_ptx_parse *parse, size_t bytes);
char *fpo_ptx_copy(fpo_ptx_parse *parse, const char *text, size_t length);
/* Room for one more element: the array moves when it is full. */
void *fpo_ptx_grow(fpo_ptx_parse *parse, void *array, size_t count, size_t element);

/* lex.c */
void fpo_ptx_start(fpo_ptx_parse *parse, const char *text, const char *end, uint32_t line);
void fpo_ptx_next(fpo_ptx_parse *parse);
bool fpo_ptx_is(const fpo_ptx_parse *parse, const char *word); /* the current token is this word or character */
bool fpo_ptx_accept(fpo_ptx_parse *parse, const char *word);   /* and goes on if it is */
void fpo_ptx_expect(fpo_ptx_parse *parse, const char *word);
void fpo_ptx_skip_line(fpo_ptx_parse *parse);    /* to the token after the end of the current token's line */
uint64_t fpo_ptx_unsigned(fpo_ptx_parse *parse); /* an integer token, and goes on */
bool fpo_ptx_integer_text(const char *text, size_t length, uint64_t *value);

/* Registers of a kernel; until they have slots, an operand's slot is the index here. */
typedef struct fpo_ptx_register {
    const char *name; /* without the number of a range */
    int32_t number;   /* in its range, -1: a single register */
    uint8_t bytes;    /* 0: predicate */
    bool special;     /* filled in by the machine */
    bool used;
    uint32_t slot;
} fpo_ptx_register;

typedef enum fpo_ptx_node_kind {
    FPO_NODE_REGISTER, /* index */
    FPO_NODE_INTEGER,  /* value, negative */
    FPO_NODE_F32,      /* value: bits */
    FPO_NODE_F64,
    FPO_NODE_SYMBOL,  /* text + offset */
    FPO_NODE_SPECIAL, /* value: fpo_ptx_special */
    FPO_NODE_VECTOR,
    FPO_NODE_ADDRESS, /* child 0 is the base, offset; child 1, if any, a vector of coordinates */
    FPO_NODE_PAIR,    /* d|p */
    FPO_NODE_NOTHING  /* _ */
} fpo_ptx_node_kind;

typedef struct fpo_ptx_node {
    fpo_ptx_node_kind kind;
    bool negated; /* !p */
    bool negative;
    bool decimal; /* an F64 that may stand for an f32 */
    uint32_t index;
    uint64_t value;
    int64_t offset;
    const char *text;
    struct fpo_ptx_node *children;
    uint32_t child_count;
    uint32_t line;
} fpo_ptx_node;

typedef struct fpo_ptx_scope {
    struct fpo_ptx_scope *outer;
    struct fpo_ptx_declared *registers;
    struct fpo_ptx_label *labels;
} fpo_ptx_scope;

typedef struct fpo_ptx_declared {
    struct fpo_ptx_declared *next;
    const char *name;
    size_t length;
    uint32_t first; /* index of the register, or of the range's number 0 */
    uint32_t count; /* 0: a single register */
} fpo_ptx_declared;

typedef struct fpo_ptx_label {
    struct fpo_ptx_label *next;
    const char *name;
    uint32_t target;
} fpo_ptx_label;

/* A list of labels that brx.idx chooses from. */
typedef struct fpo_ptx_branch_list {
    struct fpo_ptx_branch_list *next;
    const char *name;
    const char **labels;
    uint32_t count;
} fpo_ptx_branch_list;

/* A function of the module; `body` is NULL where it is only declared. */
typedef struct fpo_ptx_function {
    const char *name;
    const fpo_ptx_variable *parameters; /* results first */
    uint32_t result_count, parameter_count;
    const char *body, *body_end;
    uint32_t body_line;
} fpo_ptx_function;

typedef struct fpo_ptx_fixup {
    struct fpo_ptx_fixup *next;
    uint32_t instruction, line;
    const char *name;
    fpo_ptx_scope *scope;
} fpo_ptx_fixup;

/* A kernel while it is decoded. */
typedef struct fpo_ptx_builder {
    fpo_ptx_parse *parse;
    const fpo_ptx_module *module;
    fpo_ptx_kernel *kernel;
    fpo_ptx_scope *scope;
    fpo_ptx_register *registers;
    uint32_t register_count;
    fpo_ptx_instruction *code;
    uint32_t code_count;
    fpo_ptx_variable *variables; /* of the kernel: shared and local */
    uint32_t variable_count;
    fpo_ptx_special_use *specials;
    uint32_t special_count;
    uint8_t *constants;
    uint32_t constant_bytes, constant_room;
    fpo_ptx_relocation *relocations;
    uint32_t relocation_count;
    struct fpo_ptx_constant *constant_list;
    fpo_ptx_fixup *fixups;
    fpo_ptx_branch_list *branch_lists;
    uint32_t call_depth; /* of functions that the current statement stands in */
} fpo_ptx_builder;

/* operand.c */
uint32_t fpo_ptx_new_register(fpo_ptx_builder *b, const char *name, int32_t number, unsigned bytes);
bool fpo_ptx_find_register(const fpo_ptx_builder *b, const char *name, size_t length, uint32_t *index);
fpo_ptx_node fpo_ptx_parse_operand(fpo_ptx_builder *b);

/* constant.c */
fpo_ptx_operand fpo_ptx_number(fpo_ptx_builder *b, unsigned bytes, uint64_t low, uint64_t high);
fpo_ptx_operand fpo_ptx_symbol_constant(fpo_ptx_builder *b, unsigned bytes, fpo_ptx_symbol_kind kind, uint64_t value,
                                        int64_t addend);

/* decode.c: appends an instruction. `nodes` are the operands as written. */
void fpo_ptx_decode(fpo_ptx_builder *b, const char *opcode, const fpo_ptx_node *guard, const fpo_ptx_node *nodes,
                    uint32_t node_count, const char *label, uint32_t line);

/* flow.c: finds reads of registers that nothing has defined, and gives registers their slots. */
void fpo_ptx_flow(fpo_ptx_builder *b);

/* module.c */
const fpo_ptx_variable *fpo_ptx_find_variable(const fpo_ptx_module *module, const char *name, size_t *index);
/* `.align 8 .b8 name[16]` after the state space; stops before `=`, `,` or `;`. */
fpo_ptx_variable fpo_ptx_parse_variable(fpo_ptx_parse *parse);

const fpo_ptx_function *fpo_ptx_find_function(const fpo_ptx_module *module, const char *name);

/* body.c */
void fpo_ptx_parse_body(fpo_ptx_builder *b);
void fpo_ptx_open_scope(fpo_ptx_builder *b);
void fpo_ptx_declare_label(fpo_ptx_builder *b, const char *name, size_t length, uint32_t line);
bool fpo_ptx_parse_statement(fpo_ptx_builder *b); /* false: the outermost scope has ended */

/* call.c: `call` and what follows it. */
void fpo_ptx_parse_call(fpo_ptx_builder *b, const fpo_ptx_node *guard);
/* The kernel's variable of that name that is in scope, or NULL. */
const fpo_ptx_variable *fpo_ptx_local_variable(const fpo_ptx_builder *b, const char *name);

#endif
