/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a source to a program: read, preprocessed, parsed; each clause is compiled as soon as it is
 * parsed.
 */
#include "host/dt/clause/clause.h"
#include "host/dt/clause/helper.h"
#include "host/dt/session/compile.h"
#include "host/dt/syntax/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static _Noreturn void compile_report_unreadable(struct dt_session *d, const char *path)
{
    dt_fail(d, (struct dt_location){.file = path}, "", "failed to open %s: %s", path,
            strerror(errno));
}

const char *dt_file_read(struct dt_session *d, const char *path, size_t *size)
{
    FILE *f = fopen(path, "r");
    struct dt_array text = {0};
    size_t got;

    if (!f) {
        compile_report_unreadable(d, path);
    }
    do {
        char part[4096];
        got = fread(part, 1, sizeof(part), f);
        for (size_t i = 0; i < got; i++) {
            dt_room(d, &text, 1);
            ((char *)text.data)[text.n++] = part[i];
        }
    } while (got);
    bool bad = ferror(f) != 0;
    fclose(f);
    if (bad) {
        compile_report_unreadable(d, path);
    }
    *size = text.n;
    return text.data ? text.data : "";
}

static struct dt_parse *parse_new(struct dt_session *d, const struct dt_source *s, const char *text,
                                  size_t size, struct dt_program *program)
{
    struct dt_parse *p = dt_alloc(d, sizeof(*p));

    *p = (struct dt_parse){
        .session = d,
        .source = s,
        .program = program,
        .text = dt_alloc(d, sizeof(*p->text)),
        .at = text,
        .token = text,
        .location = {.file = s->file, .line = 1, .column = 1},
    };
    p->argument_used = dt_alloc(d, (size_t)s->argc + 1);
    *p->text = (struct dt_text){.start = text, .end = text + size, .earlier = d->texts};
    *(struct dt_line *)dt_list_add(d, &p->text->lines, sizeof(struct dt_line)) =
        (struct dt_line){s->file, text, 1};
    dt_scope_push(p);
    d->texts = p->text;
    return p;
}

void dt_source_parse(struct dt_session *d, const struct dt_source *s, const char *text, size_t size,
                     struct dt_program *program)
{
    struct dt_parse *outer = d->parse, *p = parse_new(d, s, text, size, program);

    d->parse = p;
    dt_lexer_start(p);
    dt_yyparse(p);
    if (program) {
        if (p->items == 0 && !d->options.values[DT_O_empty]) {
            dt_fail(d, p->location, "D_EMPTY", "empty D program translation unit");
        }
        dt_pragmas_check_used(p);
        dt_macros_check_used(p);
    }
    d->parse = outer;
}

const char *dt_inline_define(struct dt_session *d, const char *type, const char *text)
{
    struct dt_source *source = dt_alloc(d, sizeof(*source));
    const char *name = dt_sprintf(d, "_derived_%u", d->inlines++);
    /* A translation's result has its type, and can't be cast. */
    const char *cast = strncmp(text, "xlate ", 6) == 0 ? "" : dt_sprintf(d, "(%s)", type);
    const char *all = dt_sprintf(d, "inline %s %s = %s(%s);", type, name, cast, text);

    *source = (struct dt_source){.file = "(derived)", .spec = DT_SPEC_NAME};
    dt_source_parse(d, source, all, strlen(all), NULL);
    return name;
}

static struct dt_program *compile_source(struct dt_session *d, const struct dt_source *source)
{
    size_t size = source->text ? strlen(source->text) : 0;
    const char *text = source->text;

    if (!d->libraries_loaded) {
        d->libraries_loaded = true;
        dt_libraries_load(d);
    }
    if (!text) {
        text = dt_file_read(d, source->file, &size);
    }
    if (d->options.values[DT_O_cpp]) {
        text = dt_preprocess(d, source, text, &size);
    }
    dt_pragma_options_scan(d, text, size);
    struct dt_program *program = dt_program_new(d);
    program->text = text;
    program->text_size = size;
    dt_source_parse(d, source, text, size, program);
    if (d->helper) {
        dt_helper_end(d, program);
    }
    return program;
}

struct dt_program *dt_compile(struct dt_session *d, const struct dt_source *source)
{
    struct dt_source *copy = dt_alloc(d, sizeof(*copy)); /* locations and parses keep it */
    jmp_buf recover;

    *copy = *source;
    d->failed = false;
    d->pending = NULL;
    if (setjmp(recover)) {
        d->recover = NULL;
        d->parse = NULL;
        dt_programs_forget(d);
        return NULL;
    }
    d->recover = &recover;
    struct dt_program *program = compile_source(d, copy);
    d->recover = NULL;
    d->parse = NULL;
    return program;
}
