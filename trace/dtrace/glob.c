/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shell patterns, as used in probe descriptions: * ? [a-z] [!a-z] and \ before a character. No
 * recursion: after a mismatch only the last * can match more, so a match takes at most as many
 * steps as pattern times name. For the many matches of an untrusted program's patterns the sum is
 * limited. Any context while no limit is set.
 */
#include "trace/dtrace/dtrace.h"

struct dtrace_glob_work dtrace_glob_work = {0, UINT32_MAX};
void (*dtrace_window_hook)(void);

static inline bool glob_spend(void)
{
    return ++dtrace_glob_work.spent <= dtrace_glob_work.most;
}

/* Returns the character at *p, which may be escaped by \; advances *p. */
static unsigned char set_char(const char **p)
{
    if (**p == '\\' && (*p)[1]) {
        ++*p;
    }
    return (unsigned char)*(*p)++;
}

/* Returns the end of the set whose first character is at p, or NULL if it is unterminated. */
static const char *set_match(const char *p, char c, bool *in)
{
    bool negated = *p == '!' || *p == '^';
    bool first = true;

    *in = negated;
    for (p += negated; *p && (*p != ']' || first) && glob_spend(); first = false) {
        unsigned char low = set_char(&p), high = low;
        if (p[0] == '-' && p[1] && p[1] != ']') {
            p++;
            high = set_char(&p);
        }
        if (low <= (unsigned char)c && (unsigned char)c <= high) {
            *in = !negated;
        }
    }
    return *p == ']' ? p + 1 : NULL;
}

/* Matches one element of the pattern against one character. Returns the rest of the pattern, or
 * NULL if it doesn't match. */
static const char *one_match(const char *p, char c)
{
    const char *rest;
    bool in;

    switch (*p) {
    case '\0':
        return NULL;
    case '?':
        return p + 1;
    case '[':
        rest = set_match(p + 1, c, &in);
        if (rest) {
            return in ? rest : NULL;
        }
        return c == '[' ? p + 1 : NULL; /* a lone [ matches itself */
    case '\\':
        p += p[1] != '\0';
        break;
    }
    return *p == c ? p + 1 : NULL;
}

bool dtrace_glob(const char *pattern, const char *name)
{
    const char *star = NULL, *star_name = NULL;

    dtrace_window();
    if (*pattern == '\0') {
        return true;
    }
    while (*name && glob_spend()) {
        const char *next;
        if (*pattern == '*') {
            star = ++pattern;
            star_name = name;
        } else if ((next = one_match(pattern, *name)) != NULL) {
            pattern = next;
            name++;
        } else if (star) {
            pattern = star;
            name = ++star_name;
        } else {
            return false;
        }
    }
    while (*pattern == '*' && glob_spend()) {
        pattern++;
    }
    return *pattern == '\0' && *name == '\0';
}
