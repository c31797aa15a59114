/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a source to a program: read, preprocessed, parsed; each clause is compiled as soon as it is
 * parsed.
 */
#include "host/d/back.h"
#include "host/d/front.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static _Noreturn void unreadable(struct d_session *d, const char *path)
{
    d_fail(d, (struct d_place){.file = path}, "", "failed to open %s: %s", path, strerror(errno));
}

const char *d_file_read(struct d_session *d, const char *path, size_t *size)
{
    FILE *f = fopen(path, "r");
    struct d_array text = {0};
    size_t got;

    if (!f) {
        unreadable(d, path);
    }
    do {
        char part[4096];
        got = fread(part, 1, sizeof(part), f);
        for (size_t i = 0; i < got; i++) {
            d_room(d, &text, 1);
            ((char *)text.data)[text.n++] = part[i];
        }
    } while (got);
    bool bad = ferror(f) != 0;
    fclose(f);
    if (bad) {
        unreadable(d, path);
    }
    *size = text.n;
    return text.data ? text.data : "";
}

static struct d_parse *parse_new(struct d_session *d, const struct d_source *s, const char *text,
                                 size_t size, struct d_program *program)
{
    struct d_parse *p = d_alloc(d, sizeof(*p));

    *p = (struct d_parse){
        .session = d,
        .source = s,
        .program = program,
        .earlier = d->parses,
        .text = text,
        .end = text + size,
        .at = text,
        .token = text,
        .place = {.file = s->file, .line = 1, .column = 1},
    };
    p->argument_used = d_alloc(d, (size_t)s->argc + 1);
    d_room(d, &p->lines, sizeof(struct d_line));
    *(struct d_line *)p->lines.data = (struct d_line){s->file, text, 1};
    p->lines.n = 1;
    d_scope_push(p);
    d->parses = p;
    return p;
}

void d_source_parse(struct d_session *d, const struct d_source *s, const char *text, size_t size,
                    struct d_program *program)
{
    struct d_parse *outer = d->parse, *p = parse_new(d, s, text, size, program);

    d->parse = p;
    d_lexer_start(p);
    d_yyparse(p);
    if (program) {
        if (p->items == 0 && !d->options.values[D_O_empty]) {
            d_fail(d, p->place, "D_EMPTY", "empty D program translation unit");
        }
        d_pragmas_check_used(p);
        d_macros_check_used(p);
    }
    d->parse = outer;
}

static struct d_program *compile(struct d_session *d, const struct d_source *source)
{
    size_t size = source->text ? strlen(source->text) : 0;
    const char *text = source->text;

    if (!d->libraries_loaded) {
        d->libraries_loaded = true;
        d_libraries_load(d);
    }
    if (!text) {
        text = d_file_read(d, source->file, &size);
    }
    if (d->options.values[D_O_cpp]) {
        text = d_preprocess(d, source, text, &size);
    }
    d_pragma_options_scan(d, text, size);
    struct d_program *program = d_program_new(d);
    program->text = text;
    program->text_size = size;
    d_source_parse(d, source, text, size, program);
    return program;
}

struct d_program *d_compile(struct d_session *d, const struct d_source *source)
{
    struct d_source *copy = d_alloc(d, sizeof(*copy)); /* places and parses keep it */
    jmp_buf recover;

    *copy = *source;
    d->failed = false;
    d->pending = NULL;
    if (setjmp(recover)) {
        d->recover = NULL;
        d->parse = NULL;
        d_back_forget(d);
        return NULL;
    }
    d->recover = &recover;
    struct d_program *program = compile(d, copy);
    d->recover = NULL;
    d->parse = NULL;
    return program;
}
