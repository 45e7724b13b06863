/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Inside the recipe compiler: tokens, and the state that its files share. */
#ifndef FP4ORACLE_EMU_RECIPE_TEXT_H
#define FP4ORACLE_EMU_RECIPE_TEXT_H

#include "recipe.h"

typedef enum fpo_token_kind { FPO_TOKEN_END, FPO_TOKEN_NAME, FPO_TOKEN_NUMBER, FPO_TOKEN_SYMBOL } fpo_token_kind;

typedef struct fpo_token {
    fpo_token_kind kind;
    const char *text;
    size_t length;
    double number;
} fpo_token;

typedef struct fpo_recipe_parser {
    const char *text;
    const char *at; /* behind `token` */
    fpo_token token;
    fpo_program *program;
    const fpo_operand_view *view;
    fpo_format dtype;
    fpo_scope scope; /* of the label that we are under */
    bool ftz, f64;
    int depth;             /* of nested expressions */
    fpo_recipe_step spare; /* written when there is no room: the text is refused by then */
    fpo_status status;
    fpo_error *error;
} fpo_recipe_parser;

void fpo_token_next(fpo_recipe_parser *p);
bool fpo_token_is(const fpo_token *token, const char *word);
/* The first complaint counts; the rest of the text is skipped. */
void fpo_recipe_complain(fpo_recipe_parser *p, const char *format, ...) FPO_PRINTF(2, 3);

/* recipe_names.c */
bool fpo_recipe_constant(const fpo_recipe_parser *p, const fpo_token *name, double *number); /* inf, flt_max, d_eps */
/* Where the engine keeps a value with a name of its own (amax, x, scale, ...); NULL if the name is not one. *input says
 * that the engine provides it, with `scope`; else the text assigns it. */
int16_t *fpo_recipe_slot(fpo_program *program, const fpo_token *name, bool *input, fpo_scope *scope);
/* `e4m3`, `e2m1.away`, ...: the format and how to round to it. False if the name starts with no format. */
bool fpo_recipe_format(fpo_recipe_parser *p, const fpo_token *name, fpo_recipe_step *step);

#endif
