/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking # lines apart, and finding them in a text ahead of the parser.
 */
#include "host/dt/syntax/pragma.h"

#include <ctype.h>
#include <string.h>

static bool is_blank(char c)
{
    return c != '\n' && isspace((unsigned char)c);
}

/* The word at `at`, quoted or not; returns what is behind it. */
static const char *word_end(const char *at, const char *end)
{
    if (*at == '"') {
        for (at++; at < end && *at != '"'; at++) {
            at += *at == '\\' && at + 1 < end;
        }
        return at < end ? at + 1 : at;
    }
    while (at < end && !is_blank(*at) && *at != '"') {
        at++;
    }
    return at;
}

void dt_words_split(struct dt_session *d, struct dt_words *w, const char *text, size_t n)
{
    const char *at = text, *end = text + n;

    *w = (struct dt_words){0};
    for (;;) {
        while (at < end && is_blank(*at)) {
            at++;
        }
        if (at == end) {
            return;
        }
        const char *start = at;
        at = word_end(at, end);
        if (w->n < DT_WORDS_MAX) {
            bool quoted = *start == '"';
            bool closed = quoted && at - start >= 2 && at[-1] == '"';
            w->is_quoted[w->n] = quoted;
            w->word[w->n] = dt_strndup(d, start + quoted, (size_t)(at - start) - quoted - closed);
        }
        w->n++;
    }
}

bool dt_is_pragma(struct dt_session *d, const char *line, size_t n, const char *name,
                  struct dt_words *w)
{
    const char *hash = memchr(line, '#', n);

    if (!hash) {
        return false;
    }
    dt_words_split(d, w, hash + 1, n - (size_t)(hash + 1 - line));
    if (w->n < 3 || strcmp(w->word[0], "pragma") != 0 || strcmp(w->word[1], "D") != 0 ||
        strcmp(w->word[2], name) != 0) {
        return false;
    }
    w->n -= 3;
    for (unsigned i = 0; i + 3 < DT_WORDS_MAX; i++) {
        w->word[i] = w->word[i + 3];
        w->is_quoted[i] = w->is_quoted[i + 3];
    }
    return true;
}

/* ---- lines in a text --------------------------------------------------------------- */

void dt_directives_each(const char *text, size_t n, void (*fn)(void *, const char *, size_t),
                        void *arg)
{
    const char *at = text, *end = text + n;
    bool at_start = true;

    while (at < end) {
        if (at_start && *at == '#') {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            const char *stop = newline ? newline : end;
            fn(arg, at, (size_t)(stop - at));
            at = stop;
        } else if (*at == '/' && at + 1 < end && at[1] == '*') {
            for (at += 2; at < end && !(*at == '*' && at + 1 < end && at[1] == '/'); at++) {
            }
            at = at < end ? at + 2 : end;
            at_start = false;
        } else if (*at == '"' || *at == '\'') {
            char quote = *at;

            for (at++; at < end && *at != quote && *at != '\n'; at++) {
                at += *at == '\\' && at + 1 < end && at[1] != '\n';
            }
            at = at < end && *at == quote ? at + 1 : at;
            at_start = false;
        } else {
            at_start = *at == '\n' || (at_start && is_blank(*at));
            at++;
        }
    }
}
