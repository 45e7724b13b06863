/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The PTX in a shared library that nvcc has made. */
#ifndef FP4ORACLE_TESTS_PTX_LIBRARY_H
#define FP4ORACLE_TESTS_PTX_LIBRARY_H

/* The first PTX text of the library that has this word in it, to be freed; ends the running Check test if there is
 * none. */
char *ptx_of_library(const char *path, const char *word);
/* The head of a module and one of its kernels, the first whose name has this word, to be freed. */
char *ptx_of_kernel(const char *module, const char *word);

#endif
