/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sh's patterns, as probe descriptions use them: * ? [a-z] [!a-z] and \ before a character. No
 * recursion: after a mismatch only the last * can take more; so a match takes at most as many steps
 * as pattern times name. Of many matches with somebody's patterns the sum is limited. Any context
 * while no limit is set.
 */
#include "trace/dtrace/dtrace.h"

struct dtrace_glob_work dtrace_glob_work = {0, UINT32_MAX};

static inline bool spend(void)
{
    return ++dtrace_glob_work.spent <= dtrace_glob_work.most;
}

/* The character at *p, which a \ may stand before; moves *p behind it. */
static unsigned char set_char(const char **p)
{
    if (**p == '\\' && (*p)[1]) {
        ++*p;
    }
    return (unsigned char)*(*p)++;
}

/* Behind the set whose first character is at p, or NULL if it doesn't end. */
static const char *set_match(const char *p, char c, bool *in)
{
    bool negated = *p == '!' || *p == '^';
    bool first = true;

    *in = negated;
    for (p += negated; *p && (*p != ']' || first) && spend(); first = false) {
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

/* One element of the pattern against one character; NULL: no match, else what follows. */
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
        return c == '[' ? p + 1 : NULL; /* a lone [ is itself */
    case '\\':
        p += p[1] != '\0';
        break;
    }
    return *p == c ? p + 1 : NULL;
}

bool dtrace_glob(const char *pattern, const char *name)
{
    const char *star = NULL, *star_name = NULL;

    if (*pattern == '\0') {
        return true;
    }
    while (*name && spend()) {
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
    while (*pattern == '*' && spend()) {
        pattern++;
    }
    return *pattern == '\0' && *name == '\0';
}
