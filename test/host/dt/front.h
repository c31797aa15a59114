/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of the compiler for the tests of its front end, on the probes BEGIN, END, ERROR of
 * dtrace and tick-1sec of profile.
 */
#ifndef TEST_HOST_DT_FRONT_H
#define TEST_HOST_DT_FRONT_H

#include "host/dt/check/check.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct front {
    struct dt_session *d;
    const char *argv[8]; /* $0 … */
    int argc;
};
extern struct front front;

int front_open(void **state); /* LP64; a test's setup */
int front_open_arm(void **state);
int front_open_model(const struct dt_model *);
int front_close(void **state);

/* As a script, whose path is "test.d": NULL if it doesn't compile. */
struct dt_program *script(const char *text);
/* As `-n text`. */
struct dt_program *description(const char *text);
void compiles(const char *text);
/* The tag of the error, "ok" if there is none. */
const char *tag_of(const char *text);
/* The script's error has this tag and place. */
void fails_at(const char *text, const char *tag, unsigned line, unsigned column);
const struct dt_type *type(const char *name); /* must be known */
int64_t value(const char *expression);        /* an integer constant's */
/* A global, which must be there. */
struct dt_ident *global(const char *name);
/* Writes a file below a temporary directory, which front_close() removes; its path. */
const char *file_write(const char *name, const char *text);
const char *directory(void);

#define EQUAL(expected, actual) assert_int_equal(actual, expected)
#define SAME(expected, actual) assert_string_equal(actual, expected)

#endif
