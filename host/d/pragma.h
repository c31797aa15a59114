/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that begin with #, taken apart. Internal to the front end.
 */
#ifndef HOST_D_PRAGMA_H
#define HOST_D_PRAGMA_H

#include "host/d/front.h"

enum { D_WORDS_MAX = 8 };

struct d_words {
    const char *word[D_WORDS_MAX];
    bool is_quoted[D_WORDS_MAX];
    unsigned n; /* may be more than are kept */
};

/* A line of #pragma D that is being taken. */
struct d_pragma_line {
    struct d_parse *p;
    struct d_session *d;
    struct d_place place;
    const char *name; /* of the pragma */
};
_Noreturn void d_pragma_malformed(const struct d_pragma_line *, const char *form);
/* pragma_attributes.c */
void d_pragma_attributes(const struct d_pragma_line *, const struct d_words *);
void d_pragma_binding(const struct d_pragma_line *, const struct d_words *);

void d_words_split(struct d_session *, struct d_words *, const char *text, size_t n);
/* Calls fn for each # line that stands in no comment or string. */
void d_directives_each(const char *text, size_t n,
                       void (*fn)(void *arg, const char *line, size_t n), void *arg);
/* `#pragma D NAME …`: the words behind NAME; false: another line. */
bool d_is_pragma(struct d_session *, const char *line, size_t n, const char *name,
                 struct d_words *);

#endif
