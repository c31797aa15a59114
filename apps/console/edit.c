/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See edit.h. The terminal needs only printing characters, backspace and the bell: the text behind
 * the cursor is printed again after each change.
 */
#include "apps/console/edit.h"

#include <stdbool.h>
#include <string.h>

#define CTRL(c) ((c) - '@')
#define ESC 0x1b
#define DELETE 0x7f

static char line[EDIT_LINE_MOST];
static size_t length, cursor;

static char history[EDIT_HISTORY][EDIT_LINE_MOST + 1]; /* ended by NUL */
static unsigned remembered; /* lines so far; the newest EDIT_HISTORY stay */
static unsigned back;       /* how far the arrows have gone: 0 is the line being typed */

/* An escape sequence: ESC, then [ or O, then parameters, then a final character. */
static enum { PLAIN, AFTER_ESC, IN_SEQUENCE } state;
static unsigned parameter;

static void echo_many(edit_echo echo, char c, size_t count)
{
    for (; count > 0; count--) {
        echo(&c, 1);
    }
}

/* Prints the line from the cursor on, `erased` blanks behind it, and goes back to the cursor. */
static void echo_tail(edit_echo echo, size_t erased)
{
    echo(line + cursor, length - cursor);
    echo_many(echo, ' ', erased);
    echo_many(echo, '\b', length - cursor + erased);
}

static void move_to(size_t to, edit_echo echo)
{
    if (to < cursor) {
        echo_many(echo, '\b', cursor - to);
    } else {
        echo(line + cursor, to - cursor);
    }
    cursor = to;
}

static void insert(char c, edit_echo echo)
{
    if (length == EDIT_LINE_MOST) {
        echo("\a", 1);
        return;
    }
    memmove(line + cursor + 1, line + cursor, length - cursor);
    line[cursor] = c;
    length++;
    echo(&c, 1);
    cursor++;
    echo_tail(echo, 0);
}

/* Erases from..cursor, or cursor..to. */
static void erase_between(size_t from, size_t to, edit_echo echo)
{
    size_t count = to - from;

    move_to(from, echo);
    memmove(line + from, line + to, length - to);
    length -= count;
    echo_tail(echo, count);
}

static size_t word_start(void)
{
    size_t at = cursor;

    while (at > 0 && line[at - 1] == ' ') {
        at--;
    }
    while (at > 0 && line[at - 1] != ' ') {
        at--;
    }
    return at;
}

/* Shows a line of the history; 0: an empty one. */
static void recall(unsigned how_far, edit_echo echo)
{
    if (how_far > remembered || how_far > EDIT_HISTORY) {
        echo("\a", 1);
        return;
    }
    erase_between(0, length, echo);
    back = how_far;
    if (back > 0) {
        const char *text = history[(remembered - back) % EDIT_HISTORY];

        length = cursor = strlen(text);
        memcpy(line, text, length);
        echo(line, length);
    }
}

static void up(edit_echo echo)
{
    recall(back + 1, echo);
}

static void down(edit_echo echo)
{
    if (back > 0) {
        recall(back - 1, echo);
    } else {
        echo("\a", 1);
    }
}

/* The key whose sequence ends with this character. */
static void final_char(int c, edit_echo echo)
{
    bool home = c == 'H' || (c == '~' && (parameter == 1 || parameter == 7));
    bool end = c == 'F' || (c == '~' && (parameter == 4 || parameter == 8));

    if (c == 'A') {
        up(echo);
    } else if (c == 'B') {
        down(echo);
    } else if (c == 'C' && cursor < length) {
        move_to(cursor + 1, echo);
    } else if (c == 'D' && cursor > 0) {
        move_to(cursor - 1, echo);
    } else if (home || end) {
        move_to(home ? 0 : length, echo);
    } else if (c == '~' && parameter == 3 && cursor < length) {
        erase_between(cursor, cursor + 1, echo);
    }
}

static void sequence_char(int c, edit_echo echo)
{
    if (state == AFTER_ESC) {
        state = c == '[' || c == 'O' ? IN_SEQUENCE : PLAIN;
        parameter = 0;
    } else if (c >= '0' && c <= '9') {
        parameter = parameter < 1000 ? parameter * 10 + (unsigned)(c - '0') : parameter;
    } else if (c >= '@' && c <= '~') {
        state = PLAIN;
        final_char(c, echo);
    } else if (c < ' ' || c > '~') {
        state = PLAIN; /* no sequence: dropped */
    }
}

static void control_char(int c, edit_echo echo)
{
    switch (c) {
    case ESC:
        state = AFTER_ESC;
        break;
    case '\b':
    case DELETE:
        erase_between(cursor - (cursor > 0), cursor, echo);
        break;
    case CTRL('A'):
        move_to(0, echo);
        break;
    case CTRL('E'):
        move_to(length, echo);
        break;
    case CTRL('U'):
        erase_between(0, cursor, echo);
        break;
    case CTRL('K'):
        erase_between(cursor, length, echo);
        break;
    case CTRL('W'):
        erase_between(word_start(), cursor, echo);
        break;
    case CTRL('P'):
        up(echo);
        break;
    case CTRL('N'):
        down(echo);
        break;
    default:
        echo("\a", 1);
        break;
    }
}

enum edit_result edit_char(int c, edit_echo echo)
{
    if (c == '\r' || c == '\n' || c == CTRL('C')) {
        state = PLAIN;
        move_to(length, echo);
        return c == CTRL('C') ? EDIT_INTERRUPT : EDIT_FINISHED;
    }
    if (state != PLAIN) {
        sequence_char(c, echo);
    } else if (c == CTRL('D')) {
        return length == 0 ? EDIT_END : EDIT_MORE;
    } else if (c < ' ' || c == DELETE) {
        control_char(c, echo);
    } else {
        insert((char)c, echo);
    }
    return EDIT_MORE;
}

const char *edit_line(size_t *bytes)
{
    *bytes = length;
    return line;
}

static void remember(void)
{
    const char *newest = history[(remembered + EDIT_HISTORY - 1) % EDIT_HISTORY];

    if (length == 0 || (strlen(newest) == length && memcmp(newest, line, length) == 0)) {
        return;
    }
    memcpy(history[remembered % EDIT_HISTORY], line, length);
    history[remembered % EDIT_HISTORY][length] = '\0';
    remembered++;
}

void edit_begin(void)
{
    remember();
    length = cursor = 0;
    back = 0;
}
