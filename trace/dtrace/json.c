/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json(): one element of a JSON text. The text is read once, from the front, only as far as the
 * element; skipped parts are checked only for brackets and strings. No recursion: other containers
 * are skipped by counting brackets; a container on the path to the element is entered and never
 * left again. Probe context. Tested by test/trace/dtrace/machine/json_test.c.
 */
#include "trace/dtrace/subr.h"

/* Text and selector, each up to a limit. Beyond it they read as ended. */
struct json {
    struct dtrace_text text, selector;
    size_t at, end, selector_end;
    size_t element, element_end; /* of the selector: the current target */
};

static uint8_t json_here(struct json *j)
{
    return j->at < j->end ? dtrace_text_byte(&j->text, j->at) : 0;
}

static uint8_t json_selected(struct json *j, size_t at)
{
    return at < j->selector_end ? dtrace_text_byte(&j->selector, at) : 0;
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (9 <= byte && byte <= 13);
}

static bool is_digit(uint8_t byte)
{
    return '0' <= byte && byte <= '9';
}

/* Returns the next byte that is not a blank. */
static uint8_t skip_blanks(struct json *j)
{
    while (is_blank(json_here(j))) {
        j->at++;
    }
    return json_here(j);
}

/* Consumes this byte, after blanks. Returns false if there is another one. */
static bool json_take(struct json *j, uint8_t byte)
{
    if (skip_blanks(j) != byte) {
        return false;
    }
    j->at++;
    return true;
}

/* Skips the rest of an escape after the backslash: \u needs four digits. */
static bool skip_escape(struct json *j)
{
    static const char plain[] = "\"\\/bfnrt";
    uint8_t byte = json_here(j);

    j->at++;
    for (unsigned i = 0; i < sizeof(plain) - 1; i++) {
        if (byte == (uint8_t)plain[i]) {
            return true;
        }
    }
    for (unsigned i = 0; i < 4 && byte == 'u'; i++, j->at++) {
        uint8_t digit = json_here(j), letter = digit | 32;
        if (!is_digit(digit) && (letter < 'a' || letter > 'f')) {
            return false;
        }
    }
    return byte == 'u';
}

/* Skips from the opening quote past the closing one. Returns false for control characters
 * inside. */
static bool skip_string(struct json *j)
{
    for (;;) { /* terminates with the text */
        uint8_t byte = json_here(j);
        if (byte < ' ') {
            return false;
        }
        j->at++;
        if (byte == '"') {
            return true;
        }
        if (byte == '\\' && !skip_escape(j)) {
            return false;
        }
    }
}

static bool skip_digits(struct json *j)
{
    size_t first = j->at;

    while (is_digit(json_here(j))) {
        j->at++;
    }
    return j->at > first;
}

static bool skip_number(struct json *j)
{
    j->at += json_here(j) == '-';
    if (!skip_digits(j)) {
        return false;
    }
    if (json_here(j) == '.') {
        j->at++;
        if (!skip_digits(j)) {
            return false;
        }
    }
    if ((json_here(j) | 32) == 'e') {
        j->at++;
        j->at += json_here(j) == '+' || json_here(j) == '-';
        return skip_digits(j);
    }
    return true;
}

/* Skips true, false, null. */
static bool skip_word(struct json *j)
{
    static const char words[] = "true\0false\0null\0";
    const char *word = words;

    while (*word && json_here(j) != (uint8_t)*word) {
        word += 5 + (*word == 'f');
    }
    for (const char *p = word; *p; p++, j->at++) {
        if (json_here(j) != (uint8_t)*p) {
            return false;
        }
    }
    return *word != 0;
}

/* Skips from the opening bracket past the matching one. */
static bool skip_container(struct json *j)
{
    size_t depth = 0;

    do {
        uint8_t byte = json_here(j);
        if (byte == 0) {
            return false;
        }
        j->at++;
        if (byte == '"' && !skip_string(j)) {
            return false;
        }
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
    } while (depth > 0);
    return true;
}

/* Skips a value, and a separator after it. */
static bool skip_value(struct json *j)
{
    uint8_t byte = json_here(j);
    bool ok;

    if (byte == '"') {
        j->at++;
        ok = skip_string(j);
    } else if (byte == '{' || byte == '[') {
        ok = skip_container(j);
    } else {
        ok = byte == '-' || is_digit(byte) ? skip_number(j) : skip_word(j);
    }
    byte = json_here(j);
    return ok && (is_blank(byte) || byte == ',' || byte == '}' || byte == ']');
}

static void begin_element(struct json *j, size_t at)
{
    j->element = at;
    for (;; at++) { /* terminates with the selector */
        uint8_t byte = json_selected(j, at);
        if (byte == 0 || byte == '.' || byte == '[' || byte == ']') {
            j->element_end = at;
            return;
        }
    }
}

/* Returns whether the element equals the text from `first` to `last`. */
static bool element_is(struct json *j, size_t first, size_t last)
{
    if (j->element_end - j->element != last - first) {
        return false;
    }
    for (size_t i = 0; i < last - first; i++) {
        if (json_selected(j, j->element + i) != dtrace_text_byte(&j->text, first + i)) {
            return false;
        }
    }
    return true;
}

/* After a {: advances to the value of the member that the element names. */
static bool find_member(struct json *j)
{
    while (json_take(j, '"')) { /* terminates with the text */
        size_t first = j->at;
        if (!skip_string(j)) {
            return false;
        }
        bool found = element_is(j, first, j->at - 1);
        if (!json_take(j, ':')) {
            return false;
        }
        skip_blanks(j);
        if (found) {
            return true;
        }
        if (!skip_value(j) || !json_take(j, ',')) {
            return false;
        }
    }
    return false;
}

/* After a [: advances to the value with the element's index. Returns false if the element is not an
 * index. */
static bool find_index(struct json *j)
{
    uint64_t index = 0;

    for (size_t at = j->element; at < j->element_end; at++) {
        if (!is_digit(json_selected(j, at))) {
            return false;
        }
        index = index * 10 + (json_selected(j, at) - '0');
    }
    if (j->element_end == j->element) {
        return false;
    }
    for (skip_blanks(j); index > 0; index--) { /* terminates with the text */
        if (!skip_value(j) || !json_take(j, ',')) {
            return false;
        }
        skip_blanks(j);
    }
    return json_here(j) != ']';
}

/* Advances to the value that the whole selector refers to. */
static bool json_find(struct json *j)
{
    begin_element(j, json_selected(j, 0) == '[');
    for (;;) { /* terminates with the selector */
        bool found = json_take(j, '{') ? find_member(j) : json_take(j, '[') && find_index(j);
        size_t at = j->element_end;
        while (json_selected(j, at) == ']') {
            at++;
        }
        if (!found || json_selected(j, at) == 0) {
            return found;
        }
        begin_element(j, at + 1);
    }
}

uint64_t dtrace_subr_json(struct dtrace_context *c)
{
    struct json j = {.end = c->code->strsize, .selector_end = dtrace_arg_length(c, 1)};
    struct dtrace_writer w;

    dtrace_text_open(&j.text, c, dtrace_arg(c, 0), false);
    dtrace_text_open(&j.selector, c, dtrace_arg(c, 1), false);
    dtrace_writer_open(&w, c, c->code->strsize - 1);
    if (!json_find(&j)) {
        return 0;
    }
    size_t first = j.at;
    if (!skip_value(&j)) {
        return 0;
    }
    size_t quote = dtrace_text_byte(&j.text, first) == '"';
    for (size_t at = first + quote, last = j.at - quote; at < last; at++) {
        dtrace_writer_put(&w, dtrace_text_byte(&j.text, at));
    }
    return dtrace_writer_close(&w);
}
