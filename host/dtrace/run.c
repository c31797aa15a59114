/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace` from end to end: opens the target, compiles, lists or traces, cleans up. Tested by
 * test/d/rows/command.rows.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/saved.h"
#include "host/kymo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For cpp, system() and the command of -c. */
static void change_environment(const struct setting *s)
{
    const char *equals = s->value ? strchr(s->value, '=') : NULL;
    char *name = strndup(s->value ? s->value : "", equals ? (size_t)(equals - s->value) : SIZE_MAX);

    if (name && strcmp(s->name, "setenv") == 0) {
        setenv(name, equals ? equals + 1 : "", 1);
    } else if (name && strcmp(s->name, "unsetenv") == 0) {
        unsetenv(name);
    }
    free(name);
}

static int apply_settings(struct command *c)
{
    for (unsigned i = 0; i < c->nsettings; i++) {
        const struct setting *s = &c->settings[i];
        const char *why = d_option_set(c->session, s->name, s->value, D_FROM_COMMAND);
        if (why && s->shown) {
            fprintf(stderr, "dtrace: failed to set %s %s: %s\n", s->shown, s->value, why);
        } else if (why) {
            fprintf(stderr, "dtrace: failed to set -x %s: %s\n", s->name, why);
        }
        if (why) {
            return 1;
        }
        change_environment(s);
    }
    return 0;
}

/* The line and a caret under the column. */
static void show_place(const struct d_error *e)
{
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

static void show_error(const struct command *c, const struct program_source *s)
{
    const struct d_error *e = d_session_error(c->session);
    bool tags = d_option_on(c->session, "errtags") && e->tag && *e->tag;

    if (s->is_script && !s->contents && access(s->text, R_OK) != 0) {
        fprintf(stderr, "dtrace: %s\n", e->text);
        return;
    }
    if (s->is_script) {
        fprintf(stderr, "dtrace: failed to compile script %s: ", s->text);
    } else {
        fprintf(stderr, "dtrace: invalid probe specifier %s: ", s->text);
    }
    if (tags) {
        fprintf(stderr, "[%s] ", e->tag);
    }
    if (s->is_script && e->line && e->tag && *e->tag) {
        fprintf(stderr, "line %u: ", e->line);
    }
    fprintf(stderr, "%s\n", e->text);
    show_place(e);
}

static int compile(struct command *c, struct program_source *s)
{
    const char **argv = calloc((size_t)c->nargs + 2, sizeof(*argv));
    struct d_source source = {
        .text = s->is_script ? s->contents : s->text,
        .file = s->is_script ? s->text : NULL,
        .spec = s->spec,
        .is_description = !s->is_script,
        .argc = c->nargs + 1,
        .argv = argv,
    };

    s->argv = argv;
    argv[0] = s->text;
    for (int i = 0; i < c->nargs; i++) {
        argv[i + 1] = c->args[i];
    }
    s->program = d_compile(c->session, &source);
    if (!s->program) {
        show_error(c, s);
        return 1;
    }
    return 0;
}

static void say_matched(const struct command *c, const struct program_source *s)
{
    unsigned n = d_program_matched(s->program);

    if (!d_option_on(c->session, "quiet") && !c->json) {
        fprintf(stderr, "dtrace: %s '%s' matched %u probe%s\n",
                s->is_script ? "script" : "description", s->name, n, n == 1 ? "" : "s");
    }
}

static int compile_all(struct command *c)
{
    for (unsigned i = 0; i < c->nsources; i++) {
        int status = compile(c, &c->sources[i]);
        if (status) {
            return status;
        }
        if (c->disassemble || d_option_on(c->session, "verbose")) {
            d_program_disassemble(c->sources[i].program, stderr);
        }
    }
    return 0;
}

static void report_all(struct command *c)
{
    for (unsigned i = 0; i < c->nsources; i++) {
        if (!c->compile_only) {
            say_matched(c, &c->sources[i]);
        }
        if (c->verbose) {
            command_report(c, &c->sources[i]);
        }
    }
}

static bool open_output(struct command *c)
{
    if (c->out) {
        return true;
    }
    c->out = c->output ? fopen(c->output, "ae") : stdout;
    if (!c->out) {
        fprintf(stderr, "dtrace: failed to open output file '%s': %s\n", c->output,
                strerror(errno));
    }
    return c->out != NULL;
}

static void *make_image(struct command *c, size_t *size)
{
    struct d_program **programs = calloc(c->nsources + 1u, sizeof(*programs));
    void *image;

    for (unsigned i = 0; i < c->nsources; i++) {
        programs[i] = c->sources[i].program;
    }
    image = d_image_make(c->session, programs, c->nsources, size);
    free(programs);
    return image;
}

/* Sizes that the target prefers, before the user's. */
static void apply_target_defaults(struct command *c)
{
    static const char *const names[] = {"bufsize", "aggsize", "specsize", "dynvarsize", "strsize"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        uint64_t value = c->target->ops->option_default(c->target, names[i]);
        if (value != D_OPTION_UNSET) {
            d_option_put(c->session, names[i], value);
        }
    }
}

static bool add_elves(struct command *c)
{
    const struct target_ops *ops = c->target->ops;

    if (!ops->elves) {
        return command_add_elves_here(c);
    }
    return ops->elves(c->target, c->session, c->elves, c->nelves,
                      d_option_on(c->session, "quiet") || c->json);
}

static int open_session(struct command *c)
{
    const char *why;

    c->target = c->target ? c->target : target_open(c->target_spec, &why);
    if (!c->target) {
        fprintf(stderr, "dtrace: failed to open target %s: %s\n", c->target_spec, why);
        return 1;
    }
    unsigned bits = c->target->ops->model(c->target)->pointer * 8u;
    if (c->bits && c->bits != bits) {
        fprintf(stderr, "dtrace: -%u is not available: the target has %u bits\n", c->bits, bits);
        return 1;
    }
    c->session = d_session_new(c->target->ops->model(c->target), c->target->ops->probes(c->target));
    apply_target_defaults(c);
    return apply_settings(c) ? 1 : !add_elves(c);
}

/* ---- -a ----------------------------------------------------------------------------------------
 */

static void say_claim_failed(int error)
{
    if (error == -ENOENT) {
        fputs("dtrace: no anonymous tracing state: the boot traces nothing, or somebody has it\n",
              stderr);
    } else if (error != -EPIPE && error != -EPROTO) {
        fprintf(stderr, "dtrace: could not claim what the boot traces: %s\n", strerror(-error));
    }
}

/* The boot's program, with the options that it was compiled under; the user's own sources go before
 * those that came with it. What it may do to this machine is for the user to say. Nothing is
 * claimed yet: whoever is refused leaves it to the next one. */
static int look_at_claim(struct command *c)
{
    const struct target_ops *ops = c->target->ops;
    size_t size = 0;
    int error = ops->look ? ops->look(c->target, &c->claimed, &size) : -ENOENT;

    if (error) {
        say_claim_failed(error);
    } else if (!c->nsources && !saved_read(c, c->claimed, size)) {
        fputs("dtrace: the boot's program came without its source: give it with -s\n", stderr);
        error = -EINVAL;
    }
    if (!error && !saved_options(c, c->claimed, size)) {
        fputs("dtrace: the boot's program makes no sense\n", stderr);
        error = -EINVAL;
    }
    return error ? 1 : 0;
}

/* What records mean is known only if the source is the one of the program that runs. */
static bool is_claimed(struct command *c, const void *image, size_t size)
{
    const struct d_image *claimed = c->claimed;

    if (claimed->size != size || memcmp(claimed, image, size) != 0) {
        fputs("dtrace: what the boot traces is another program than this\n", stderr);
        return false;
    }
    if (d_option_on(c->session, "destructive") && !c->destructive) {
        fputs("dtrace: the boot's program may be destructive on this machine: -w allows it\n",
              stderr);
        return false;
    }
    return true;
}

static bool take_claim(struct command *c, const void *image, size_t size)
{
    int error = is_claimed(c, image, size) ? c->target->ops->claim(c->target, image, size) : 1;

    if (error < 0) {
        say_claim_failed(error);
    }
    return error == 0;
}

static bool any_matched(const struct command *c)
{
    unsigned n = 0;

    for (unsigned i = 0; i < c->nsources; i++) {
        n += d_program_matched(c->sources[i].program);
    }
    return n != 0;
}

static int only_compile(struct command *c, const void *image, size_t size)
{
    if (c->verbose) {
        command_costs(c, image);
    }
    if (!command_affordable(c, image)) {
        return 1;
    }
    return c->compile_to && image ? saved_write(c, image, size) : 0;
}

static int trace(struct command *c, const void *image, size_t size)
{
    if (d_option_on(c->session, "log") && (c->claim || c->compile_to)) {
        fputs("dtrace: log=1 is not for what the boot traces\n", stderr);
        return 1;
    }
    if (c->claim) {
        return take_claim(c, image, size) ? command_trace(c, image, size) : 1;
    }
    report_all(c);
    if (c->compile_only && !c->claim) {
        return only_compile(c, image, size);
    }
    if (c->target->ops->only_compiles) {
        fputs("dtrace: this target is only an ELF: --compile or -e\n", stderr);
        return 1;
    }
    if (!any_matched(c) && !d_option_on(c->session, "zdefs")) {
        fprintf(stderr, "dtrace: no probes %s\n", c->nsources ? "matched" : "specified");
        return 1;
    }
    return command_affordable(c, image) ? command_trace(c, image, size) : 1;
}

static int compile_and_run(struct command *c)
{
    size_t size;
    int status = compile_all(c);

    if (status || !open_output(c)) {
        return 1;
    }
    void *image = c->nsources ? make_image(c, &size) : NULL;
    status = c->list ? command_list(c, image) : trace(c, image, size);
    free(image);
    return status;
}

/* Whatever went wrong before: this is why. */
static bool say_gone(const struct command *c)
{
    const struct target_ops *ops = c->target->ops;
    const char *why = ops->gone ? ops->gone(c->target) : NULL;

    if (why) {
        fprintf(stderr, "dtrace: lost the target: %s\n", why);
    }
    return why != NULL;
}

/* -c and -p. A process of another machine can't be looked at. */
static bool take_process(struct command *c)
{
    if (c->run && !c->target->ops->is_here) {
        fputs("dtrace: -c is not available: the command would run on this machine, not on the "
              "target\n",
              stderr);
        return false;
    }
    if (c->run) {
        return command_start_child(c);
    }
    return !c->pid || !c->target->ops->is_here || command_grab(c);
}

int command_run(struct command *c)
{
    if (c->list || c->claim || strncmp(c->target_spec, "elf:", 4) == 0) {
        command_set(c, "zdefs", NULL, NULL);
    }
    int status = open_session(c);
    if (status) {
        return status;
    }
    if (!take_process(c) || (c->claim && look_at_claim(c))) {
        return say_gone(c) || true;
    }
    d_session_target(c->session, c->pid);
    status = compile_and_run(c);
    command_drop_child(c);
    return say_gone(c) ? 1 : status;
}

static int close_output(const struct command *c, int status)
{
    if (c->out && fflush(c->out) != 0 && status == 0) {
        fprintf(stderr, "dtrace: failed to write output: %s\n", strerror(errno));
        status = 1;
    }
    if (c->out && c->out != stdout) {
        fclose(c->out);
    }
    return status;
}

void command_clean_up(struct command *c)
{
    if (c->session) {
        d_session_free(c->session);
    }
    if (c->target) {
        c->target->ops->close(c->target);
    }
    for (unsigned i = 0; i < c->nsources; i++) {
        free((char *)c->sources[i].name);
        free(c->sources[i].argv);
    }
    free(c->sources);
    free(c->settings);
    free(c->elves);
    free(c->args);
    free(c->claimed);
}

static int dtrace_run(int argc, char **argv)
{
    struct command c = {.target_spec = "boot", .run_gate = -1};
    int status = command_parse(&c, argc, argv);

    if (status == 0 && c.version) {
        puts("dtrace: Sun D 1.13");
    } else if (status == 0) {
        status = close_output(&c, c.capture ? command_replay(&c) : command_run(&c));
    }
    command_clean_up(&c);
    return status;
}

const struct kymo_command kymo_dtrace_command = {
    .name = "dtrace",
    .summary = "run D programs on a target and print what they record",
    .run = dtrace_run,
    .help = command_help,
};
