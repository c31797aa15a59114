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

/* Whether what `#pragma D depends_on KIND NAME` asks for is there. */
bool dt_dependency_met(struct dt_session *, const char *kind, const char *name);

/* Calls fn for each # line that stands in no comment or string. */
void dt_directives_each(const char *text, size_t n,
                        void (*fn)(void *arg, const char *line, size_t n), void *arg);
/* `#pragma D NAME …`: the words behind NAME; false: another line. */
bool dt_is_pragma(struct dt_session *, const char *line, size_t n, const char *name,
                  struct dt_words *);

#endif
