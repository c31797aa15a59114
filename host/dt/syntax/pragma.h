/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that begin with #, taken apart. Internal to the parser.
 */
#ifndef HOST_DT_SYNTAX_PRAGMA_H
#define HOST_DT_SYNTAX_PRAGMA_H

#include "host/dt/syntax/parse.h"

enum { DT_WORDS_MAX = 8 };

struct dt_words {
    const char *word[DT_WORDS_MAX];
    bool is_quoted[DT_WORDS_MAX];
    unsigned n; /* may be more than are kept */
};

/* True if what `#pragma D depends_on KIND NAME` asks for exists. */
bool dt_dependency_met(struct dt_session *, const char *kind, const char *name);

/* Calls fn for each # line outside of comments and strings. */
void dt_directives_each(const char *text, size_t n,
                        void (*fn)(void *arg, const char *line, size_t n), void *arg);
/* True for `#pragma D NAME …`, with the words after NAME. */
bool dt_is_pragma(struct dt_session *, const char *line, size_t n, const char *name,
                  struct dt_words *);

#endif
