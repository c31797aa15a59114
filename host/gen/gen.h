/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the generators of docs/: rows of Markdown tables with at most GEN_COLUMNS columns. A
 * row that would be longer becomes several, whose first cells are empty where they have no more
 * text. scripts/check-docs checks the lines' length; test/dtrace reads docs/reference/providers.md,
 * rows of this kind too.
 */
#ifndef HOST_GEN_GEN_H
#define HOST_GEN_GEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GEN_COLUMNS = 120, GEN_CELLS = 8, GEN_TEXT = 1024 };

struct gen_row {
    unsigned cells;
    char text[GEN_CELLS][GEN_TEXT];
};

/* Appends text to the cell; ends the program if the cell is full. */
static inline void gen_append(char *cell, const char *text)
{
    if (strlen(cell) + strlen(text) >= GEN_TEXT) {
        fprintf(stderr, "gen: a cell is longer than %d bytes: %s\n", GEN_TEXT, cell);
        exit(1);
    }
    strcat(cell, text);
}

/* Adds an empty cell to the row and returns it. */
static inline char *gen_new_cell(struct gen_row *row)
{
    if (row->cells == GEN_CELLS) {
        fputs("gen: too many cells\n", stderr);
        exit(1);
    }
    row->text[row->cells][0] = '\0';
    return row->text[row->cells++];
}

/* Adds a cell of plain text; | is escaped. */
static inline void gen_cell(struct gen_row *row, const char *text)
{
    char *cell = gen_new_cell(row);

    for (; *text != '\0'; text++) {
        char c[3] = {*text, '\0', '\0'};

        if (*text == '|') {
            c[0] = '\\';
            c[1] = '|';
        }
        gen_append(cell, c);
    }
}

/* Adds a cell with a list of words "a, b, c", each in code style; `-` if the list is empty. */
static inline void gen_code(struct gen_row *row, const char *words)
{
    char *cell = gen_new_cell(row);

    if (*words == '\0') {
        gen_append(cell, "-");
        return;
    }
    gen_append(cell, "`");
    for (; *words != '\0'; words++) {
        char c[2] = {*words, '\0'};

        gen_append(cell, strncmp(words, ", ", 2) == 0 ? "`, `" : c);
        words += strncmp(words, ", ", 2) == 0;
    }
    gen_append(cell, "`");
}

/* Returns the length of the cell's next line: as many words as fit, at least one. A word ends at a
 * space outside of code style. */
static inline size_t gen_line(const char *text, size_t most)
{
    size_t line = 0;
    int code = 0;

    for (size_t i = 0;; i++) {
        code ^= text[i] == '`';
        if (text[i] == '\0' || (text[i] == ' ' && !code)) {
            line = line == 0 || i <= most ? i : line;
            if (text[i] == '\0' || i > most) {
                return line;
            }
        }
    }
}

/* Returns whether the row fits with cells of at most `most` columns. */
static inline int gen_fits(const struct gen_row *row, size_t most)
{
    size_t columns = 1;

    for (unsigned i = 0; i < row->cells; i++) {
        size_t widest = 0, n;

        for (const char *at = row->text[i]; *at != '\0'; at += n + (at[n] == ' ')) {
            n = gen_line(at, most);
            widest = n > widest ? n : widest;
        }
        columns += widest + 3;
    }
    return columns <= GEN_COLUMNS;
}

/* Prints the row, as several rows if it is long, and empties it. */
static inline void gen_print(struct gen_row *row)
{
    const char *at[GEN_CELLS];
    size_t most = GEN_COLUMNS, left;

    while (most > 1 && !gen_fits(row, most)) {
        most--;
    }
    for (unsigned i = 0; i < row->cells; i++) {
        at[i] = row->text[i];
    }
    do {
        left = 0;
        for (unsigned i = 0; i < row->cells; i++) {
            size_t n = gen_line(at[i], most);

            printf(n == 0 ? "| " : "| %.*s ", (int)n, at[i]);
            at[i] += n + (at[i][n] == ' ');
            left += strlen(at[i]);
        }
        fputs("|\n", stdout);
    } while (left > 0);
    row->cells = 0;
}

#endif
