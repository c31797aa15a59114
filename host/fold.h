/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of words for a terminal: what is longer than the terminal is wide goes on in the next line,
 * further in. A character of UTF-8 is taken for one column. A word that is longer than a line stays
 * whole. Not for several threads. Proof: test/host/stat/columns.py, test/host/why/check.
 */
#ifndef HOST_FOLD_H
#define HOST_FOLD_H

#include <stdio.h>

/* The columns at which a line goes on: at most half of `columns`. */
typedef unsigned fold_indent_fn(const char *line, size_t n, unsigned columns);

/* The width of the terminal that standard output is, 40 or more; 0: it is none, or its width is not
 * known. */
unsigned fold_columns(void);
/* Prints lines that fit into so many columns, which are those of fold_columns(). */
void fold_text(FILE *to, const char *text, unsigned columns, fold_indent_fn *indent);

#endif
