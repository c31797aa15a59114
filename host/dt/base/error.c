/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors end a compilation at once: dt_fail() goes back to dt_compile().
 */
#include "host/dt/base/session.h"

#include <stdlib.h>
#include <string.h>

static bool same_file(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const struct dt_line *error_text_find(const struct dt_text *p, struct dt_location location)
{
    const struct dt_line *lines = p->lines.data;

    for (unsigned i = 0; i < p->lines.n; i++) {
        if (lines[i].number == location.line && same_file(lines[i].file, location.file)) {
            return &lines[i];
        }
    }
    return NULL;
}

/* Replaces control characters: the script may be any file, and they would reach the terminal. */
static const char *error_make_printable(struct dt_session *d, const char *line, size_t length)
{
    char *copy = dt_alloc(d, length + 1);

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];

        copy[i] = (c < ' ' && c != '\t') || c == 0x7f ? '?' : line[i];
    }
    return copy;
}

/* Returns the text of the line, in whichever source it is; NULL: unknown. */
static const char *source_line(struct dt_session *d, struct dt_location location)
{
    for (const struct dt_text *p = d->texts; p && location.line; p = p->earlier) {
        const struct dt_line *line = error_text_find(p, location);
        if (line) {
            const char *newline = memchr(line->start, '\n', (size_t)(p->end - line->start));
            const char *end = newline ? newline : p->end;
            return error_make_printable(d, line->start, (size_t)(end - line->start));
        }
    }
    return NULL;
}

bool dt_try(struct dt_session *d, void (*fn)(void *arg), void *arg)
{
    jmp_buf here, *outer = d->recover;
    struct dt_parse *parse = d->parse;

    if (setjmp(here)) {
        d->recover = outer;
        d->parse = parse;
        d->failed = false;
        return false;
    }
    d->recover = &here;
    fn(arg);
    d->recover = outer;
    return true;
}

const char *dt_caught_tag(const struct dt_session *d)
{
    return d->error.tag;
}

_Noreturn void dt_fail_again(struct dt_session *d)
{
    d->failed = true;
    longjmp(*d->recover, 1);
}

_Noreturn void dt_fail(struct dt_session *d, struct dt_location location, const char *tag,
                       const char *format, ...)
{
    va_list args;

    va_start(args, format);
    d->error = (struct dt_error){
        .tag = tag,
        .file = location.file,
        .line = location.line,
        .column = location.column,
        .source_line = source_line(d, location),
        .text = dt_vsprintf(d, format, args),
    };
    va_end(args);
    d->failed = true;
    if (!d->recover) {
        fprintf(stderr, "dtrace: [%s] %s\n", tag, d->error.text);
        abort();
    }
    longjmp(*d->recover, 1);
}
