/* SPDX-License-Identifier: BSD-2-Clause */
/* Start scripts: one line into options, words and a trailing &. */
#include <string.h>

#include "apps/init/script.h"

static char *init_line_skip_blanks(char *at)
{
    return at + strspn(at, " \t\r");
}

/* Takes the next word from *at; quotes keep blanks. NULL: a missing closing quote. */
static char *init_line_next_word(char **at)
{
    char *word = *at;
    char *end;

    if (*word == '"') {
        end = strchr(++word, '"');
        if (!end) {
            return NULL;
        }
    } else {
        end = word + strcspn(word, " \t\r");
    }
    *at = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static const char *init_line_take_brackets(char **at, struct line *line)
{
    char *close = strchr(*at, ']');

    if (!close) {
        return "[ without ]";
    }
    *close = '\0';
    char *options = *at + 1;
    *at = init_line_skip_blanks(close + 1);
    line->bracketed = true;
    return options_parse(options, line);
}

/* A # begins a comment at the line's start or after a blank, but not in quotes. */
static void cut_comment(char *text)
{
    bool quoted = false;

    for (char *at = text; *at; at++) {
        quoted ^= *at == '"';
        if (*at == '#' && !quoted && (at == text || at[-1] == ' ' || at[-1] == '\t')) {
            *at = '\0';
            return;
        }
    }
}

static const char *init_line_split_words(char *at, struct line *line)
{
    while (*(at = init_line_skip_blanks(at))) {
        bool quoted = *at == '"';
        char *word = init_line_next_word(&at);

        if (!word) {
            return "\" without its end";
        }
        if (line->background) {
            return "something after &";
        }
        if (!quoted && strcmp(word, "&") == 0) {
            line->background = true;
        } else if (line->nwords == LINE_WORDS - 1) {
            return "too many words";
        } else {
            line->words[line->nwords++] = word;
        }
    }
    return line->nwords == 0 && (line->bracketed || line->background) ? "no program" : NULL;
}

const char *line_parse(char *text, struct line *line)
{
    memset(line, 0, sizeof(*line));
    cut_comment(text);
    char *at = init_line_skip_blanks(text);
    if (*at == '[') {
        const char *error = init_line_take_brackets(&at, line);

        if (error) {
            return error;
        }
    }
    return init_line_split_words(at, line);
}
