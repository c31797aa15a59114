/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the generators of docs/ share: lists of the tables as Markdown.
 */
#ifndef HOST_GEN_GEN_H
#define HOST_GEN_GEN_H

#include <stdio.h>
#include <string.h>

/* Prints text with | made safe for a table cell. */
static inline void gen_cell(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            putchar('\\');
        }
        putchar(*text);
    }
}

/* A list of words in code style, `-` if empty. */
static inline void gen_code(const char *text)
{
    if (*text == '\0') {
        fputs("-", stdout);
        return;
    }
    printf("`%s`", text);
}

#endif
