/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/console/edit.c: keys at random, against a naive line and a model of the terminal, whose
 * screen and cursor must always show that line. Built with ASan and UBSan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "apps/console/edit.h"

#define KEYS 400000
#define WIDE 1024

/* The terminal: one row, wide enough. */
static char screen[WIDE];
static size_t column;
static unsigned bells;

static void terminal(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\a') {
            bells++;
        } else if (text[i] == '\b') {
            assert_true(column > 0);
            column--;
        } else {
            assert_true(column < WIDE);
            screen[column++] = text[i];
        }
    }
}

/* What the line should be. */
static char want[EDIT_LINE_MOST + 1];
static size_t at;

static char earlier[1000][EDIT_LINE_MOST + 1];
static unsigned nearlier, back;

static void cut_out(size_t from, size_t to)
{
    memmove(want + from, want + to, strlen(want + to) + 1);
    at = from;
}

static void show_earlier(unsigned how_far)
{
    if (how_far > nearlier || how_far > EDIT_HISTORY) {
        return;
    }
    back = how_far;
    strcpy(want, how_far ? earlier[nearlier - how_far] : "");
    at = strlen(want);
}

static void keep_earlier(void)
{
    if (want[0] && (nearlier == 0 || strcmp(earlier[nearlier - 1], want) != 0)) {
        if (nearlier == 1000) {
            memmove(earlier, earlier + 500, sizeof(earlier) / 2);
            nearlier = 500;
        }
        strcpy(earlier[nearlier++], want);
    }
    want[0] = '\0';
    at = back = 0;
}

static void back_a_word(void)
{
    size_t to = at;

    while (at > 0 && want[at - 1] == ' ') {
        at--;
    }
    while (at > 0 && want[at - 1] != ' ') {
        at--;
    }
    cut_out(at, to);
}

static const struct key {
    const char *bytes, *name;
} keys[] = {
    {"\x1b[A", "up"},   {"\x1b[B", "down"}, {"\x1b[C", "right"},    {"\x1b[D", "left"},
    {"\x1bOA", "up"},   {"\x1b[H", "home"}, {"\x1b[F", "end"},      {"\x1b[1~", "home"},
    {"\x1b[4~", "end"}, {"\x7f", "rub"},    {"\b", "rub"},          {"\x1b[3~", "delete"},
    {"\x01", "home"},   {"\x05", "end"},    {"\x15", "kill"},       {"\x0b", "rest"},
    {"\x17", "word"},   {"\x10", "up"},     {"\x0e", "down"},       {"\x1b[5~", ""},
    {"\x1b[1;5P", ""},  {"\x1bx", ""},      {"\x1b[99999999~", ""}, {"\x07", ""},
};

static void act(const char *name)
{
    size_t length = strlen(want);

    if (strcmp(name, "up") == 0) {
        show_earlier(back + 1);
    } else if (strcmp(name, "down") == 0 && back > 0) {
        show_earlier(back - 1);
    } else if (strcmp(name, "right") == 0) {
        at += at < length;
    } else if (strcmp(name, "left") == 0) {
        at -= at > 0;
    } else if (strcmp(name, "home") == 0) {
        at = 0;
    } else if (strcmp(name, "end") == 0) {
        at = length;
    } else if (strcmp(name, "rub") == 0 && at > 0) {
        cut_out(at - 1, at);
    } else if (strcmp(name, "delete") == 0 && at < length) {
        cut_out(at, at + 1);
    } else if (strcmp(name, "kill") == 0) {
        cut_out(0, at);
    } else if (strcmp(name, "rest") == 0) {
        want[at] = '\0';
    } else if (strcmp(name, "word") == 0) {
        back_a_word();
    }
}

static void press(const char *bytes)
{
    for (; *bytes; bytes++) {
        assert_int_equal(edit_char((uint8_t)*bytes, terminal), EDIT_MORE);
    }
}

static void type_letter(char c)
{
    size_t length = strlen(want);
    unsigned before = bells;

    press((char[]){c, '\0'});
    if (length == EDIT_LINE_MOST) {
        assert_int_equal(bells, before + 1);
        return;
    }
    memmove(want + at + 1, want + at, length - at + 1);
    want[at++] = c;
}

static void check(void)
{
    size_t bytes;
    const char *line = edit_line(&bytes);

    assert_int_equal(bytes, strlen(want));
    assert_memory_equal(line, want, bytes);
    assert_memory_equal(screen, want, bytes);
    for (size_t i = bytes; i < WIDE; i++) {
        assert_true(screen[i] == ' ' || screen[i] == '\0');
    }
    assert_int_equal(column, at);
}

static void end_line(int c)
{
    assert_int_equal(edit_char(c, terminal), EDIT_FINISHED);
    at = strlen(want);
    check();
}

static void test_random_keys(void **state)
{
    const char *seed = getenv("SEED");

    (void)state;
    srand(seed ? (unsigned)atoi(seed) : 1);
    for (int i = 0; i < KEYS; i++) {
        int what = rand() % 100;

        if (what < 60) {
            type_letter(" abc\xe4"[rand() % 5]);
        } else if (what < 97) {
            const struct key *key = &keys[(size_t)rand() % (sizeof(keys) / sizeof(keys[0]))];

            press(key->bytes);
            act(key->name);
        } else {
            end_line(rand() % 2 ? '\r' : '\n');
            keep_earlier();
            edit_begin();
            memset(screen, 0, sizeof(screen));
            column = 0;
        }
        check();
    }
}

static void test_ends(void **state)
{
    (void)state;
    edit_begin();
    memset(screen, 0, sizeof(screen));
    column = 0;
    want[0] = '\0';
    at = 0;
    assert_int_equal(edit_char(4, terminal), EDIT_END);
    assert_int_equal(edit_char('x', terminal), EDIT_MORE);
    assert_int_equal(edit_char(4, terminal), EDIT_MORE); /* not at the line's start */
    assert_int_equal(edit_char(0x1b, terminal), EDIT_MORE);
    assert_int_equal(edit_char(3, terminal), EDIT_INTERRUPT); /* in the middle of a sequence */
    edit_begin();
    assert_int_equal(edit_char('[', terminal), EDIT_MORE); /* no part of one */
    size_t bytes;
    assert_int_equal(edit_line(&bytes)[0], '[');
    assert_int_equal(bytes, 1);
    for (int i = 0; i < 2 * EDIT_LINE_MOST; i++) {
        assert_int_equal(edit_char('y', terminal), EDIT_MORE);
    }
    edit_line(&bytes);
    assert_int_equal(bytes, EDIT_LINE_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_keys),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
