/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line that is being typed at the console: editing with a cursor, and a history of finished
 * lines. One thread. Tested by test/apps/console/edit_test.c (random keys on a model of a terminal)
 * and test/board/shell.py.
 */
#ifndef APPS_CONSOLE_EDIT_H
#define APPS_CONSOLE_EDIT_H

#include <stddef.h>

#define EDIT_LINE_MOST 255 /* bytes of a line without its newline; a longer one rings the bell */
#ifndef EDIT_HISTORY
#define EDIT_HISTORY 16 /* finished lines that the arrow keys bring back */
#endif

typedef void (*edit_echo)(const char *text, size_t bytes);

enum edit_result {
    EDIT_MORE,      /* the line continues */
    EDIT_FINISHED,  /* Enter: edit_line() has the line; then call edit_begin() */
    EDIT_INTERRUPT, /* ^C: the line is discarded */
    EDIT_END,       /* ^D on an empty line */
};

/*
 * Handles one typed character; `echo` gets the output for the terminal. Keys: backspace, Delete,
 * arrows, Home and End, ^A ^E (start, end), ^U (erases the line up to the cursor), ^K (from the
 * cursor on), ^W (the word before it), ^P ^N (as up and down). Unknown escape sequences are
 * ignored.
 */
enum edit_result edit_char(int c, edit_echo echo);
/* Returns the line so far, without a NUL at its end. */
const char *edit_line(size_t *bytes);
/* Begins an empty line; the previous one is stored in the history unless it is empty or equal to
 * the newest there. */
void edit_begin(void);

#endif
