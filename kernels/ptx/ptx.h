/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* PTX text -> decoded program. A module is read once (declarations; where each kernel's body stands); a kernel is
 * decoded on request against the table of instructions (isa/), which holds exact (opcode, modifiers, type) rows. What
 * the table does not have is an error that names the instruction, its line and the kernel; nothing is guessed.
 *
 * The decoded program knows no machine: a pure row has its semantics as a function over lanes, any other row names what
 * the machine must do (fpo_ptx_semantics) with the row's arguments. */
#ifndef FP4ORACLE_KERNELS_PTX_H
#define FP4ORACLE_KERNELS_PTX_H

#include <fp4oracle/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FPO_PTX_WARP = 32 };

typedef struct fpo_ptx_b128 {
    uint64_t low, high;
} fpo_ptx_b128;

typedef enum fpo_ptx_type {
#define FPO_PTX_TYPE(ID, name, bytes, ctype) FPO_PTX_##ID,
#include "types.inc"
#undef FPO_PTX_TYPE
    FPO_PTX_TYPE_COUNT
} fpo_ptx_type;

fpo_ptx_type fpo_ptx_type_by_name(const char *name, size_t length); /* FPO_PTX_TYPE_COUNT if there is none */
const char *fpo_ptx_type_name(fpo_ptx_type type);
unsigned fpo_ptx_type_bytes(fpo_ptx_type type); /* of one lane; 0 for a predicate */

/* Values of a row's arguments (values.inc): state spaces, operations, orders, shapes. */
typedef enum fpo_ptx_value {
#define FPO_PTX_VALUE(ID, name) FPO_PTX_V_##ID,
#include "values.inc"
#undef FPO_PTX_VALUE
    FPO_PTX_VALUE_COUNT
} fpo_ptx_value;

const char *fpo_ptx_value_name(fpo_ptx_value value);

/* What a row that is not pure asks of the machine. */
typedef enum fpo_ptx_semantics {
    FPO_PTX_PURE = 0,
#define FPO_PTX_SEMANTICS(ID, name, summary) FPO_PTX_##ID,
#include "semantics.inc"
#undef FPO_PTX_SEMANTICS
    FPO_PTX_SEMANTICS_COUNT
} fpo_ptx_semantics;

/* Arguments of a row, written after its semantics in the table: `@load space=global count=2 type=f32`. */
typedef struct fpo_ptx_arguments {
    uint8_t space, op, a, b; /* fpo_ptx_value */
    uint8_t type;            /* fpo_ptx_type */
    uint8_t count;           /* vector elements, matrices, dimensions, scales */
    uint16_t shape;          /* K of mma, N of wgmma */
    bool trans, parity, noinc, try_wait, read;
    bool multicast; /* to the CTAs of a mask */
    bool pair;      /* a copy's mbarrier may be the other CTA's of a pair; tcgen05: cta_group::2 */
    bool tmem, ws;  /* tcgen05.mma: A lies in tensor memory; weight stationary */
    bool abs, nan;  /* of redux: without signs; a NaN is the result */
    bool ftz, full; /* of approximations: subnormal numbers are zeros; div.full, which scales */
} fpo_ptx_arguments;

typedef enum fpo_ptx_operand_kind {
    FPO_PTX_NO_OPERAND, /* `_`, or an optional operand that is not there */
    FPO_PTX_REGISTER,   /* slot: byte offset in the warp's registers */
    FPO_PTX_CONSTANT    /* slot: byte offset in the kernel's constants */
} fpo_ptx_operand_kind;

/* Every value is an array of 32 lanes, constants too; a predicate is one uint32_t. */
typedef struct fpo_ptx_operand {
    uint8_t kind;
    uint8_t bytes; /* of one lane of the register; 0: predicate */
    bool negated;  /* !p */
    bool written;
    bool read;
    uint32_t slot;
    int64_t offset; /* added to an address */
} fpo_ptx_operand;

/* Semantics of a pure row: operands as arrays of lanes in the row's order, their register widths in bytes, and the
 * lanes to compute. */
typedef void (*fpo_ptx_lanes)(void *const *operands, const uint8_t *bytes, uint32_t mask);

enum { FPO_PTX_PURE_OPERANDS = 8 };

typedef struct fpo_ptx_instruction {
    fpo_ptx_lanes lanes; /* NULL unless semantics is FPO_PTX_PURE */
    const fpo_ptx_operand *operands;
    fpo_ptx_arguments arguments;
    uint16_t semantics;
    uint16_t row;
    uint16_t operand_count;
    bool guarded, guard_negated;
    uint32_t guard;   /* slot of the predicate */
    uint32_t target;  /* of a branch: index of an instruction */
    uint32_t line;
    const char *opcode; /* as written */
} fpo_ptx_instruction;

/* Constants whose value is known when the kernel is launched. */
typedef enum fpo_ptx_symbol_kind {
    FPO_PTX_SYM_PARAM,  /* value: offset in the parameters */
    FPO_PTX_SYM_SHARED, /* value: offset in the CTA's static shared memory */
    FPO_PTX_SYM_DYNAMIC_SHARED,
    FPO_PTX_SYM_LOCAL, /* value: offset in the thread's local memory */
    FPO_PTX_SYM_GLOBAL /* value: index of the variable in the module */
} fpo_ptx_symbol_kind;

typedef struct fpo_ptx_relocation {
    uint32_t slot;
    uint8_t bytes; /* 4 or 8 a lane */
    uint8_t kind;
    uint64_t value;
    int64_t addend;
} fpo_ptx_relocation;

typedef enum fpo_ptx_special {
#define FPO_PTX_SPECIAL(ID, name, bytes) FPO_PTX_SR_##ID,
#include "specials.inc"
#undef FPO_PTX_SPECIAL
    FPO_PTX_SPECIAL_COUNT
} fpo_ptx_special;

/* A register that holds a special register: the machine fills it in when a warp starts (clocks: at each read). */
typedef struct fpo_ptx_special_use {
    uint32_t slot;
    uint8_t bytes;
    uint8_t special; /* fpo_ptx_special */
} fpo_ptx_special_use;

typedef struct fpo_ptx_param {
    const char *name;
    uint32_t offset, size;
} fpo_ptx_param;

typedef struct fpo_ptx_variable {
    const char *name;
    fpo_ptx_value space; /* GLOBAL or CONST; SHARED inside a module */
    uint64_t size;       /* bytes */
    uint32_t align;
    uint32_t element; /* bytes */
    uint32_t line;
    const char *initialiser; /* text between the braces, or the scalar; NULL */
    size_t initialiser_length;
    bool external; /* `.extern .shared`: the dynamic part */
    uint64_t shared_offset;
    const void *scope; /* of a kernel's variable: where its name is known; NULL: everywhere */
} fpo_ptx_variable;

typedef struct fpo_ptx_undefined {
    const char *name; /* a register that may be read before anything defines it */
    uint32_t line;    /* of such a read */
    bool never;       /* no instruction defines it */
} fpo_ptx_undefined;

typedef struct fpo_ptx_kernel {
    const char *name;
    uint32_t line;
    const fpo_ptx_param *params;
    uint32_t param_count, param_bytes;
    uint32_t required_threads[3]; /* .reqntid, 0 where not given */
    uint32_t max_threads;         /* .maxntid product, 0 where not given */
    uint32_t cluster[3];          /* .reqnctapercluster, 0 where not given */
    uint32_t max_cluster;         /* .maxclusterrank, 0 where not given */
    bool explicit_cluster;        /* a launch has to say how large clusters are, or the kernel does */
    bool grid_of_clusters;        /* .blocksareclusters: a launch counts clusters, not CTAs */

    const fpo_ptx_instruction *code;
    uint32_t code_count;
    uint32_t register_bytes;  /* of a warp */
    const uint8_t *constants; /* initial content; relocations are added at launch */
    uint32_t constant_bytes;
    const fpo_ptx_relocation *relocations;
    uint32_t relocation_count;
    const fpo_ptx_special_use *specials;
    uint32_t special_count;
    uint32_t shared_bytes; /* static */
    uint32_t shared_align; /* of the dynamic part */
    uint32_t local_bytes;  /* of a thread */
    const fpo_ptx_undefined *undefined;
    uint32_t undefined_count;
    struct fpo_ptx_arena *memory;
} fpo_ptx_kernel;

typedef struct fpo_ptx_module fpo_ptx_module;

/* `text` need not end with a NUL and is copied. */
fpo_status fpo_ptx_module_load(const char *text, size_t length, fpo_ptx_module **module, fpo_error *error);
void fpo_ptx_module_free(fpo_ptx_module *module);

size_t fpo_ptx_kernel_count(const fpo_ptx_module *module);
const char *fpo_ptx_kernel_name(const fpo_ptx_module *module, size_t index); /* NULL beyond the end */
const char *fpo_ptx_target(const fpo_ptx_module *module);                    /* "sm_120a" */
size_t fpo_ptx_variable_count(const fpo_ptx_module *module);
const fpo_ptx_variable *fpo_ptx_variable_at(const fpo_ptx_module *module, size_t index);
/* The bytes of a variable's initialiser, zero beyond it; `bytes` has variable->size of them. */
fpo_status fpo_ptx_variable_initialise(const fpo_ptx_variable *variable, uint8_t *bytes, fpo_error *error);

/* The kernel lives until it is freed, and needs the module until then. */
fpo_status fpo_ptx_kernel_decode(const fpo_ptx_module *module, const char *name, fpo_ptx_kernel **kernel,
                                 fpo_error *error);
void fpo_ptx_kernel_free(fpo_ptx_kernel *kernel);

/* The table, for documentation and for tests. */
typedef struct fpo_ptx_row {
    const char *pattern;        /* "add.{s32,u32}" */
    const char *operands;       /* "d:$1 a:$1 b:$1" */
    const char *semantics;      /* "d = a + b", or "@load space=..." */
    const fpo_ptx_lanes *lanes; /* pure: one for each combination of the pattern's alternatives, last group fastest */
    uint16_t lanes_count;
    uint16_t line; /* in the table's file */
} fpo_ptx_row;

typedef struct fpo_ptx_family {
    const char *name; /* "integer" */
    const fpo_ptx_row *rows;
    size_t count;
} fpo_ptx_family;

size_t fpo_ptx_family_count(void);
const fpo_ptx_family *fpo_ptx_family_at(size_t index);

#endif
