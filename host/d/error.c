/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors end a compilation at once: d_fail() goes back to d_compile().
 */
#include "host/d/front.h"

#include <stdlib.h>
#include <string.h>

static bool same_file(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const struct d_line *find_in(const struct d_parse *p, struct d_place place)
{
    const struct d_line *lines = p->lines.data;

    for (unsigned i = 0; i < p->lines.n; i++) {
        if (lines[i].number == place.line && same_file(lines[i].file, place.file)) {
            return &lines[i];
        }
    }
    return NULL;
}

/* A terminal obeys no script, which may be any file. */
static const char *printable(struct d_session *d, const char *line, size_t length)
{
    char *copy = d_alloc(d, length + 1);

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];

        copy[i] = (c < ' ' && c != '\t') || c == 0x7f ? '?' : line[i];
    }
    return copy;
}

/* The text of the place's line: of whatever source it was. */
static const char *source_line(struct d_session *d, struct d_place place)
{
    for (const struct d_parse *p = d->parses; p && place.line; p = p->earlier) {
        const struct d_line *line = find_in(p, place);
        if (line) {
            const char *newline = memchr(line->start, '\n', (size_t)(p->end - line->start));
            const char *end = newline ? newline : p->end;
            return printable(d, line->start, (size_t)(end - line->start));
        }
    }
    return NULL;
}

bool d_try(struct d_session *d, void (*fn)(void *arg), void *arg)
{
    jmp_buf here, *outer = d->recover;
    struct d_parse *parse = d->parse;

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

const char *d_caught_tag(const struct d_session *d)
{
    return d->error.tag;
}

_Noreturn void d_fail_again(struct d_session *d)
{
    d->failed = true;
    longjmp(*d->recover, 1);
}

_Noreturn void d_fail(struct d_session *d, struct d_place place, const char *tag,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    d->error = (struct d_error){
        .tag = tag,
        .file = place.file,
        .line = place.line,
        .column = place.column,
        .source_line = source_line(d, place),
        .text = d_vsprintf(d, format, args),
    };
    va_end(args);
    d->failed = true;
    if (!d->recover) {
        fprintf(stderr, "dtrace: [%s] %s\n", tag, d->error.text);
        abort();
    }
    longjmp(*d->recover, 1);
}
