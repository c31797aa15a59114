/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles the command's programs, and reports errors or the number of matching probes. Tested by
 * test/dtrace/rows/command.rows.
 */
#include "host/dtrace/command.h"
#include "host/kymo.h"

#include "trace/dtrace/action.h"
#include "trace/dtrace/image.h"

#include <stdlib.h>
#include <unistd.h>

/* Prints the error; of a compile error also the line, with a caret under the column. */
static void show_error(const struct command *c, const struct program_source *s)
{
    const struct dt_error *e = dt_session_error(c->session);
    bool tag = e->tag && *e->tag;

    if (s->is_script && !s->contents && access(s->text, R_OK) != 0) {
        fprintf(stderr, "dtrace: %s\n", e->text);
        return;
    }
    fprintf(stderr, "dtrace: %s %s: ",
            s->is_script ? "failed to compile script" : "invalid probe specifier", s->text);
    if (tag && dt_option_on(c->session, "errtags")) {
        fprintf(stderr, "[%s] ", e->tag);
    }
    if (s->is_script && e->line && tag) {
        fprintf(stderr, "line %u: ", e->line);
    }
    fprintf(stderr, "%s\n", e->text);
    if (!e->source_line || e->column == 0) {
        return;
    }
    fprintf(stderr, "  %s:%u:%u:\n    %s\n    ", e->file ? e->file : "command line", e->line,
            e->column, e->source_line);
    for (unsigned i = 1; i < e->column && e->source_line[i - 1]; i++) {
        putc(e->source_line[i - 1] == '\t' ? '\t' : ' ', stderr);
    }
    fputs("^\n", stderr);
}

int command_compile(struct command *c)
{
    for (unsigned i = 0; i < c->nsources; i++) {
        struct program_source *s = &c->sources[i];
        s->argv = kymo_memory(calloc((size_t)c->nargs + 2, sizeof(*s->argv)));
        s->argv[0] = s->text;
        for (int k = 0; k < c->nargs; k++) {
            s->argv[k + 1] = c->args[k];
        }
        struct dt_source source = {
            .text = s->is_script ? s->contents : s->text,
            .file = s->is_script ? s->text : NULL,
            .spec = s->spec,
            .is_description = !s->is_script,
            .argc = c->nargs + 1,
            .argv = s->argv,
        };
        s->program = dt_compile(c->session, &source);
        if (!s->program) {
            show_error(c, s);
            return 1;
        }
        if (c->disassemble || dt_option_on(c->session, "verbose")) {
            dt_program_disassemble(s->program, stderr);
        }
    }
    return 0;
}

/* Returns the function if it acts on this machine's files or programs, else NULL. */
static const char *dtrace_compile_acting_function(const struct dtrace_image_action *a)
{
    switch (a->kind) {
    case DTRACE_ACT_SYSTEM:
        return "system()";
    case DTRACE_ACT_FREOPEN:
        return "freopen()";
    case DTRACE_ACT_LIBACT:
        return a->arg == DTRACE_LIBACT_FTRUNCATE ? "ftruncate()" : NULL;
    default:
        return DTRACE_ACT_IS_DESTRUCTIVE(a->kind) ? "a destructive action" : NULL;
    }
}

bool command_allows(const struct command *c, const void *bytes)
{
    const struct dtrace_image *image = bytes;

    if (!c->foreign || c->destructive || !image) {
        return true;
    }
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);
    for (uint32_t i = 0; i < image->actions.count; i++) {
        if (dtrace_compile_acting_function(&a[i])) {
            fprintf(stderr,
                    "dtrace: this program has %s, which may act on this machine: -w allows it\n",
                    dtrace_compile_acting_function(&a[i]));
            return false;
        }
    }
    return true;
}

bool command_prints(const void *bytes)
{
    const struct dtrace_image *image = bytes;
    const struct dtrace_image_ecb *e =
        image ? DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb) : NULL;
    uint32_t align;

    for (uint32_t i = 0; image && i < image->ecbs.count; i++) {
        const struct dtrace_image_action *a =
            DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action) + e[i].first_action;
        if (e[i].clause == DTRACE_CLAUSE_FAULT) {
            continue;
        }
        for (uint32_t n = 0; n < e[i].nactions; n++) {
            bool printed = a[n].kind == DTRACE_ACT_PRINTF || a[n].kind == DTRACE_ACT_PRINTA ||
                           (a[n].kind == DTRACE_ACT_LIBACT && a[n].arg == DTRACE_LIBACT_PRINT);
            if (printed ||
                (!DTRACE_ACT_IS_AGG(a[n].kind) && !dtrace_action_is_key(a, n, e[i].nactions) &&
                 dtrace_action_bytes(image, &a[n], 1, &align) > 0)) {
                return true;
            }
        }
        if (e[i].nactions == 0) { /* the probe itself */
            return true;
        }
    }
    return false;
}

void command_say_matched(struct command *c)
{
    for (unsigned i = 0; i < c->nsources && !dt_option_on(c->session, "quiet") && !c->json; i++) {
        const struct program_source *s = &c->sources[i];
        unsigned n = dt_program_matched(s->program);
        fprintf(stderr, "dtrace: %s '%s' matched %u probe%s\n",
                s->is_script ? "script" : "description", s->name, n, n == 1 ? "" : "s");
    }
}

bool command_any_matched(const struct command *c)
{
    unsigned n = 0;

    for (unsigned i = 0; i < c->nsources; i++) {
        n += dt_program_matched(c->sources[i].program);
    }
    return n != 0;
}

void *command_image(struct command *c, size_t *size)
{
    struct dt_program **programs = kymo_memory(calloc(c->nsources + 1u, sizeof(*programs)));
    void *image;

    for (unsigned i = 0; i < c->nsources; i++) {
        programs[i] = c->sources[i].program;
    }
    image = dt_image_make(c->session, programs, c->nsources, size);
    free(programs);
    return image;
}
