/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace`: options, compiling, listing. Messages and exit statuses are dtrace(1M)'s: 0, 1 for
 * a failure, 2 for usage.
 */
#include "host/dtrace/command.h"
#include "host/kymo.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = 256, OPT_HELP };

static const char short_options[] = "+3:6aAb:Bc:CD:eF"
                                    "f:GhHi:I:lL:m:n:o:p:P:qs:St:U:vVwx:X:Z";

static const char help[] =
    "Usage: kymo dtrace [-CeFHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]] [-I path]\n"
    "           [-L path] [-o output] [-p pid] [-s script] [-t target] [-U name]\n"
    "           [-x opt[=val]] [-X a|c|s|t] [--json]\n"
    "           [-P provider[[predicate]action]] [-m [provider:]module[[predicate]action]]\n"
    "           [-f [[provider:]module:]func[[predicate]action]]\n"
    "           [-n [[[provider:]module:]func:]name[[predicate]action]]\n"
    "           [-i probe-id[[predicate]action]] [args ...]\n"
    "\n"
    "  -b  size of the principal buffers           -n  enable or list probes by name\n"
    "  -c  run a command, trace until it ends      -o  write to a file\n"
    "  -C  run the C preprocessor on scripts       -p  a process for $target\n"
    "  -D  define a name for it                    -P  enable or list probes by provider\n"
    "  -e  compile only                            -q  quiet: only what the program prints\n"
    "  -f  enable or list probes by function       -s  a script\n"
    "  -F  indent by entry and return              -S  show the generated code\n"
    "  -H  print the files included                -t  what to trace: self\n"
    "  -i  enable or list a probe by id            -U  undefine a name\n"
    "  -I  a folder for include files              -v  say more: stability, costs, arguments\n"
    "  -l  list probes                             -V  print the version\n"
    "  -L  a folder of D libraries                 -w  allow destructive actions\n"
    "  -m  enable or list probes by module         -x  set an option\n"
    "  --json  one JSON object a record            -Z  allow descriptions that match nothing\n";

void command_usage(FILE *out)
{
    fputs(help, out);
}

static void *grow(void *array, unsigned n, size_t size)
{
    void *bigger = realloc(array, (n + 1) * size);

    if (!bigger) {
        perror("dtrace");
        exit(1);
    }
    return bigger;
}

static void add_setting(struct command *c, const char *name, const char *value, const char *shown)
{
    c->settings = grow(c->settings, c->nsettings, sizeof(*c->settings));
    c->settings[c->nsettings++] = (struct setting){name, value, shown};
}

/* "opt=value" or "opt" */
static void add_assignment(struct command *c, char *text)
{
    char *equals = strchr(text, '=');

    if (equals) {
        *equals++ = '\0';
    }
    add_setting(c, text, equals, NULL);
}

static void add_source(struct command *c, bool is_script, enum d_spec spec, const char *text)
{
    char *name = strdup(text);

    if (!is_script && name) {
        name[strcspn(name, "{/;")] = '\0';
    }
    c->sources = grow(c->sources, c->nsources, sizeof(*c->sources));
    c->sources[c->nsources++] = (struct program_source){is_script, spec, text, name, NULL, NULL};
}

static bool unsupported(int option)
{
    static const struct {
        int option;
        const char *why;
    } rows[] = {
        {'3', "the target says its own data model"},  {'6', "the target says its own data model"},
        {'a', "no target has anonymous tracing yet"}, {'A', "no target has anonymous tracing yet"},
        {'G', "programs have no D objects here"},     {'h', "programs have no D objects here"},
        {'B', "there are no buffers to show"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].option == option) {
            fprintf(stderr, "dtrace: -%c is not available: %s\n", option, rows[i].why);
            return true;
        }
    }
    return false;
}

static bool take_pid(struct command *c, const char *text)
{
    char *end;
    long pid = strtol(text, &end, 10);

    if (*end || pid <= 0) {
        fprintf(stderr, "dtrace: invalid pid: %s\n", text);
        return false;
    }
    c->pid = (pid_t)pid;
    return true;
}

/* 0, or the status to end with. */
static int take_option(struct command *c, int option, char *value)
{
    static const char kinds[] = "Pmfni";
    static const enum d_spec specs[] = {D_SPEC_PROVIDER, D_SPEC_MODULE, D_SPEC_FUNCTION,
                                        D_SPEC_NAME, D_SPEC_ID};
    const char *kind = option < 128 ? strchr(kinds, option) : NULL;

    if (kind) {
        add_source(c, false, specs[kind - kinds], value);
        return 0;
    }
    switch (option) {
    case 's':
        add_source(c, true, D_SPEC_NAME, value);
        break;
    case 'b':
        add_setting(c, "bufsize", value, "-b");
        break;
    case 'c':
        c->run = value;
        break;
    case 'C':
        add_setting(c, "cpp", NULL, NULL);
        break;
    case 'D':
        add_setting(c, "define", value, NULL);
        break;
    case 'e':
        c->compile_only = true;
        break;
    case 'F':
        add_setting(c, "flowindent", NULL, NULL);
        break;
    case 'H':
        add_setting(c, "cpphdrs", NULL, NULL);
        break;
    case 'I':
        add_setting(c, "incdir", value, NULL);
        break;
    case 'l':
        c->list = true;
        break;
    case 'L':
        add_setting(c, "libdir", value, NULL);
        break;
    case 'o':
        c->output = value;
        break;
    case 'p':
        return take_pid(c, value) ? 0 : 1;
    case 'q':
        add_setting(c, "quiet", NULL, NULL);
        break;
    case 'S':
        c->disassemble = true;
        break;
    case 't':
        c->target_spec = value;
        break;
    case 'U':
        add_setting(c, "undef", value, NULL);
        break;
    case 'v':
        c->verbose = true;
        break;
    case 'V':
        c->version = true;
        break;
    case 'w':
        add_setting(c, "destructive", NULL, NULL);
        break;
    case 'x':
        add_assignment(c, value);
        break;
    case 'X':
        add_setting(c, "stdc", value, "-X");
        break;
    case 'Z':
        add_setting(c, "zdefs", NULL, NULL);
        break;
    case OPT_JSON:
        c->json = true;
        break;
    case OPT_HELP:
        command_usage(stdout);
        exit(0);
    default:
        if (option != '?' && unsupported(option)) {
            return 1;
        }
        command_usage(stderr);
        return 2;
    }
    return 0;
}

/* Options may stand between and behind the macro arguments, as with dtrace(1M); -- ends them. */
int command_parse(struct command *c, int argc, char **argv)
{
    static const struct option longs[] = {{"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, OPT_HELP},
                                          {NULL, 0, NULL, 0}};
    const char **rest = calloc((size_t)argc + 1, sizeof(*rest));
    int option, status;

    c->args = rest;
    optind = 1;
    while (optind < argc) {
        option = getopt_long(argc, argv, short_options, longs, NULL);
        if (option == -1) {
            bool ended = strcmp(argv[optind - 1], "--") == 0;
            do {
                if (optind < argc) {
                    rest[c->nargs++] = argv[optind++];
                }
            } while (ended && optind < argc);
            continue;
        }
        status = take_option(c, option, optarg);
        if (status) {
            return status;
        }
    }
    return 0;
}

/* ---- compiling ---------------------------------------------------------------------------------
 */

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
    }
    return 0;
}

static bool flag(const struct command *c, const char *name)
{
    uint64_t value = d_option(c->session, name);

    return value != 0 && value != D_OPTION_UNSET;
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
    bool tags = flag(c, "errtags") && e->tag && *e->tag;

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
        .text = s->is_script ? NULL : s->text,
        .file = s->is_script ? s->text : NULL,
        .spec = s->spec,
        .is_description = !s->is_script,
        .argc = c->nargs + 1,
        .argv = argv,
    };

    s->argv = argv;
    argv[0] = s->text;
    memcpy(argv + 1, c->args, (size_t)c->nargs * sizeof(*argv));
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

    if (!flag(c, "quiet") && !c->json) {
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
        if (c->disassemble) {
            d_program_disassemble(c->sources[i].program, stderr);
        }
        if (c->verbose) {
            command_report(c, &c->sources[i]);
        }
        if (!c->compile_only) {
            say_matched(c, &c->sources[i]);
        }
    }
    return 0;
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

static int open_session(struct command *c)
{
    const char *why;

    c->target = target_open(c->target_spec, &why);
    if (!c->target) {
        fprintf(stderr, "dtrace: failed to open target %s: %s\n", c->target_spec, why);
        return 1;
    }
    c->session = d_session_new(c->target->ops->model(c->target), c->target->ops->probes(c->target));
    return apply_settings(c);
}

static int compile_and_trace(struct command *c)
{
    size_t size;
    int status = compile_all(c);

    if (status) {
        return status;
    }
    void *image = make_image(c, &size);
    if (c->verbose) {
        command_costs(c, image);
    }
    if (!c->compile_only) {
        status = command_trace(c, image, size);
    }
    free(image);
    return status;
}

static int run(struct command *c)
{
    int status = open_session(c);

    if (status) {
        return status;
    }
    if (c->list) {
        return command_list(c);
    }
    if (c->nsources == 0) {
        fputs("dtrace: no probes specified\n", stderr);
        return 1;
    }
    if (c->run && !command_start_child(c)) {
        return 1;
    }
    d_session_target(c->session, c->pid);
    return compile_and_trace(c);
}

static int dtrace_run(int argc, char **argv)
{
    struct command c = {.target_spec = "self", .run_gate = -1};
    int status = command_parse(&c, argc, argv);

    if (status == 0 && c.version) {
        puts("dtrace: Sun D 1.13");
        return 0;
    }
    status = status ? status : run(&c);
    if (c.session) {
        d_session_free(c.session);
    }
    if (c.target) {
        c.target->ops->close(c.target);
    }
    for (unsigned i = 0; i < c.nsources; i++) {
        free((char *)c.sources[i].name);
        free(c.sources[i].argv);
    }
    free(c.sources);
    free(c.settings);
    free((void *)c.args);
    return status;
}

const struct kymo_command kymo_dtrace_command = {
    .name = "dtrace",
    .summary = "run D programs on a target and print what they record",
    .run = dtrace_run,
    .help = help,
};
