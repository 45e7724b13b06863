/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of PTX text: planted faults. */
#ifndef FP4ORACLE_TESTS_PTX_EDIT_H
#define FP4ORACLE_TESTS_PTX_EDIT_H

typedef enum ptx_edit_kind {
    EDIT_DELETE,  /* the line */
    EDIT_REPLACE, /* `from` by `to` in the line */
    EDIT_COPY,    /* operand number atoi(to) takes the text of operand number atoi(from) */
    EDIT_SET,     /* operand number atoi(from) becomes `to` */
    EDIT_BORROW,  /* operand number atoi(from) takes its text from the next line with the pattern */
    EDIT_REPEAT,  /* the line is there twice */
    EDIT_AFTER    /* `to` follows on the same line, $i in it being operand i, $i.j element j of operand i in braces */
} ptx_edit_kind;

typedef struct ptx_edit {
    ptx_edit_kind kind;
    const char *pattern; /* a line with this text ... */
    int occurrence;      /* the n-th, 0: every one, -1: the last before `anchor`, -2 the one before it, and so on */
    const char *anchor;  /* the first line with this text; where the number is negative */
    const char *from, *to;
} ptx_edit;

/* The edited text, to be freed; ends the running Check test if nothing matches. */
char *ptx_edited(const char *text, const ptx_edit *edit);
/* The same in lines edit->occurrence to `until`. */
char *ptx_edited_until(const char *text, const ptx_edit *edit, int until);

#endif
