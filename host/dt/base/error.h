/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors of a compilation, and the locations in sources that they name. dt_fail() does not return:
 * control continues in the innermost dt_try(), or in dt_compile(). Internal to host/dt.
 */
#ifndef HOST_DT_BASE_ERROR_H
#define HOST_DT_BASE_ERROR_H

#include "host/dt/base/arena.h"

#include <stdbool.h>

struct dt_location { /* where in the source */
    const char *file;
    unsigned line, column;
};

struct dt_line { /* where a line of the text comes from, and where it lies */
    const char *file, *start;
    unsigned number;
};

/* The text of a source that was or is being compiled. */
struct dt_text {
    const char *start, *end;
    struct dt_array lines;   /* struct dt_line */
    struct dt_text *earlier; /* the source before, for an error's source line */
};

_Noreturn void dt_fail(struct dt_session *, struct dt_location, const char *tag, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* Runs fn(arg); true if it did not fail. The compilation goes on in both cases. */
bool dt_try(struct dt_session *, void (*fn)(void *arg), void *arg);
/* Returns the tag of the last error that dt_try() caught. */
const char *dt_caught_tag(const struct dt_session *);
/* Fails with the last error that dt_try() caught. */
_Noreturn void dt_fail_again(struct dt_session *);

#endif
