/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See edit.h. The terminal needs only printing characters, backspace and the bell: the text after
 * the cursor is printed again after each change.
 */
#include "apps/console/edit.h"

#include <stdbool.h>
#include <string.h>

#define CTRL(c) ((c) - '@')
#define ESC 0x1b
#define DELETE 0x7f

static char edit_line_text[EDIT_LINE_MOST];
static size_t edit_length, edit_cursor;

static char edit_history[EDIT_HISTORY][EDIT_LINE_MOST + 1]; /* ended by NUL */
/* number of lines so far; the newest EDIT_HISTORY are kept */
static unsigned edit_lines_remembered;
static unsigned edit_lines_back; /* how far the arrows have gone: 0 is the line being typed */

/* An escape sequence: ESC, then [ or O, then parameters, then a final character. */
static enum { PLAIN, AFTER_ESC, IN_SEQUENCE } edit_escape_state;
static unsigned edit_escape_parameter;

static void echo_many(edit_echo echo, char c, size_t count)
{
    for (; count > 0; count--) {
        echo(&c, 1);
    }
}

/* Prints the line from the cursor on and `erased` blanks after it, and goes back to the cursor. */
static void echo_tail(edit_echo echo, size_t erased)
{
    echo(edit_line_text + edit_cursor, edit_length - edit_cursor);
    echo_many(echo, ' ', erased);
    echo_many(echo, '\b', edit_length - edit_cursor + erased);
}

static void move_to(size_t to, edit_echo echo)
{
    if (to < edit_cursor) {
        echo_many(echo, '\b', edit_cursor - to);
    } else {
        echo(edit_line_text + edit_cursor, to - edit_cursor);
    }
    edit_cursor = to;
}

static void edit_insert_char(char c, edit_echo echo)
{
    if (edit_length == EDIT_LINE_MOST) {
        echo("\a", 1);
        return;
    }
    memmove(edit_line_text + edit_cursor + 1, edit_line_text + edit_cursor,
            edit_length - edit_cursor);
    edit_line_text[edit_cursor] = c;
    edit_length++;
    echo(&c, 1);
    edit_cursor++;
    echo_tail(echo, 0);
}

/* Erases from..cursor, or cursor..to. */
static void erase_between(size_t from, size_t to, edit_echo echo)
{
    size_t count = to - from;

    move_to(from, echo);
    memmove(edit_line_text + from, edit_line_text + to, edit_length - to);
    edit_length -= count;
    echo_tail(echo, count);
}

static size_t word_start(void)
{
    size_t at = edit_cursor;

    while (at > 0 && edit_line_text[at - 1] == ' ') {
        at--;
    }
    while (at > 0 && edit_line_text[at - 1] != ' ') {
        at--;
    }
    return at;
}

/* Shows a line of the history; 0: an empty one. */
static void edit_recall_line(unsigned how_far, edit_echo echo)
{
    if (how_far > edit_lines_remembered || how_far > EDIT_HISTORY) {
        echo("\a", 1);
        return;
    }
    erase_between(0, edit_length, echo);
    edit_lines_back = how_far;
    if (edit_lines_back > 0) {
        const char *text = edit_history[(edit_lines_remembered - edit_lines_back) % EDIT_HISTORY];

        edit_length = edit_cursor = strlen(text);
        memcpy(edit_line_text, text, edit_length);
        echo(edit_line_text, edit_length);
    }
}

static void edit_recall_older(edit_echo echo)
{
    edit_recall_line(edit_lines_back + 1, echo);
}

static void edit_recall_newer(edit_echo echo)
{
    if (edit_lines_back > 0) {
        edit_recall_line(edit_lines_back - 1, echo);
    } else {
        echo("\a", 1);
    }
}

/* Handles the key whose sequence ends with this character. */
static void final_char(int c, edit_echo echo)
{
    bool home =
        c == 'H' || (c == '~' && (edit_escape_parameter == 1 || edit_escape_parameter == 7));
    bool end = c == 'F' || (c == '~' && (edit_escape_parameter == 4 || edit_escape_parameter == 8));

    if (c == 'A') {
        edit_recall_older(echo);
    } else if (c == 'B') {
        edit_recall_newer(echo);
    } else if (c == 'C' && edit_cursor < edit_length) {
        move_to(edit_cursor + 1, echo);
    } else if (c == 'D' && edit_cursor > 0) {
        move_to(edit_cursor - 1, echo);
    } else if (home || end) {
        move_to(home ? 0 : edit_length, echo);
    } else if (c == '~' && edit_escape_parameter == 3 && edit_cursor < edit_length) {
        erase_between(edit_cursor, edit_cursor + 1, echo);
    }
}

static void sequence_char(int c, edit_echo echo)
{
    if (edit_escape_state == AFTER_ESC) {
        edit_escape_state = c == '[' || c == 'O' ? IN_SEQUENCE : PLAIN;
        edit_escape_parameter = 0;
    } else if (c >= '0' && c <= '9') {
        edit_escape_parameter = edit_escape_parameter < 1000
                                    ? edit_escape_parameter * 10 + (unsigned)(c - '0')
                                    : edit_escape_parameter;
    } else if (c >= '@' && c <= '~') {
        edit_escape_state = PLAIN;
        final_char(c, echo);
    } else if (c < ' ' || c > '~') {
        edit_escape_state = PLAIN; /* not a sequence: dropped */
    }
}

static void control_char(int c, edit_echo echo)
{
    switch (c) {
    case ESC:
        edit_escape_state = AFTER_ESC;
        break;
    case '\b':
    case DELETE:
        erase_between(edit_cursor - (edit_cursor > 0), edit_cursor, echo);
        break;
    case CTRL('A'):
        move_to(0, echo);
        break;
    case CTRL('E'):
        move_to(edit_length, echo);
        break;
    case CTRL('U'):
        erase_between(0, edit_cursor, echo);
        break;
    case CTRL('K'):
        erase_between(edit_cursor, edit_length, echo);
        break;
    case CTRL('W'):
        erase_between(word_start(), edit_cursor, echo);
        break;
    case CTRL('P'):
        edit_recall_older(echo);
        break;
    case CTRL('N'):
        edit_recall_newer(echo);
        break;
    default:
        echo("\a", 1);
        break;
    }
}

enum edit_result edit_char(int c, edit_echo echo)
{
    if (c == '\r' || c == '\n' || c == CTRL('C')) {
        edit_escape_state = PLAIN;
        move_to(edit_length, echo);
        return c == CTRL('C') ? EDIT_INTERRUPT : EDIT_FINISHED;
    }
    if (edit_escape_state != PLAIN) {
        sequence_char(c, echo);
    } else if (c == CTRL('D')) {
        return edit_length == 0 ? EDIT_END : EDIT_MORE;
    } else if (c < ' ' || c == DELETE) {
        control_char(c, echo);
    } else {
        edit_insert_char((char)c, echo);
    }
    return EDIT_MORE;
}

const char *edit_line(size_t *bytes)
{
    *bytes = edit_length;
    return edit_line_text;
}

static void edit_remember_line(void)
{
    const char *newest = edit_history[(edit_lines_remembered + EDIT_HISTORY - 1) % EDIT_HISTORY];

    if (edit_length == 0 ||
        (strlen(newest) == edit_length && memcmp(newest, edit_line_text, edit_length) == 0)) {
        return;
    }
    memcpy(edit_history[edit_lines_remembered % EDIT_HISTORY], edit_line_text, edit_length);
    edit_history[edit_lines_remembered % EDIT_HISTORY][edit_length] = '\0';
    edit_lines_remembered++;
}

void edit_begin(void)
{
    edit_remember_line();
    edit_length = edit_cursor = 0;
    edit_lines_back = 0;
}
