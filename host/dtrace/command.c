/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace`: its command line. Messages and exit statuses are dtrace(1M)'s: 0, 1 for a failure,
 * 2 for usage. Tested by test/d/rows/command.rows.
 */
#include "host/dtrace/command.h"
#include "host/kymo.h"
#include "host/remote/target.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = 256, OPT_HELP, OPT_ELF, OPT_COMPILE, OPT_TIMEOUT };

static const char short_options[] = "+3:6:aAb:Bc:CD:eF"
                                    "f:GhHi:I:lL:m:n:o:p:P:qr:s:St:U:vVwx:X:Z";

const char command_help[] =
    "Usage: kymo dtrace [-aCeFHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]] [-I path]\n"
    "           [-L path] [-o output] [-p pid] [-r capture] [-s script]\n"
    "           [-t target] [-U name] [-x opt[=val]] [-X a|c|s|t] [--json] [--elf path]\n"
    "           [--compile file] [--timeout seconds]\n"
    "           [-P provider[[predicate]action]] [-m [provider:]module[[predicate]action]]\n"
    "           [-f [[provider:]module:]func[[predicate]action]]\n"
    "           [-n [[[provider:]module:]func:]name[[predicate]action]]\n"
    "           [-i probe-id[[predicate]action]] [args ...]\n"
    "\n"
    "  -a  claim what the boot traces\n"
    "  -b  size of the principal buffers           -n  enable or list probes by name\n"
    "  -c  run a command, trace until it ends      -o  write to a file\n"
    "  -C  run the C preprocessor on scripts       -p  a process for $target\n"
    "  -D  define a name for it                    -P  enable or list probes by provider\n"
    "  -e  compile only                            -q  quiet: only what the program prints\n"
    "  -f  enable or list probes by function       -s  a script\n"
    "  -F  indent by entry and return              -S  show the generated code\n"
    "  -H  print the files included                -t  what to trace, see below\n"
    "  -i  enable or list a probe by id            -U  undefine a name\n"
    "  -I  a folder for include files              -v  say more: stability, costs, arguments\n"
    "  -l  list probes                             -V  print the version\n"
    "  -L  a folder of D libraries                 -w  allow destructive actions\n"
    "  -m  enable or list probes by module         -x  set an option\n"
    "  --json  one JSON object a record            -Z  allow descriptions that match nothing\n"
    "  --elf   an ELF of what the target runs, or a folder of them\n"
    "  --compile  write the compiled program to a file, for BOOT_D\n"
    "  --timeout  how long to wait for a target that does not answer (120 seconds)\n"
    "  -r      print what programs have put into a capture, with -x log=1\n"
    "\n"
    "Targets: boot[:BOARD] (virt-a64 unless named, booted for it), self (this process), "
    "unix:PATH,\n"
    "tcp:HOST:PORT, /dev/tty...[@BAUD] (a board at the other end), elf:PATH (only to compile).\n"
    "Without -t it is what KYMO_TARGET in the environment names, else boot.\n";

void command_usage(FILE *out)
{
    fputs(command_help, out);
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

void command_set(struct command *c, const char *name, const char *value, const char *shown)
{
    c->settings = grow(c->settings, c->nsettings, sizeof(*c->settings));
    c->settings[c->nsettings++] = (struct setting){name, value, shown, DT_FROM_COMMAND};
}

/* "opt=value" or "opt" */
static void add_assignment(struct command *c, char *text)
{
    char *equals = strchr(text, '=');

    if (equals) {
        *equals++ = '\0';
    }
    command_set(c, text, equals, NULL);
}

struct program_source *command_source(struct command *c, bool is_script, enum dt_spec spec,
                                      const char *text)
{
    char *name = strdup(text);

    if (!is_script && name) {
        name[strcspn(name, "{/;")] = '\0';
    }
    c->sources = grow(c->sources, c->nsources, sizeof(*c->sources));
    c->sources[c->nsources++] =
        (struct program_source){.is_script = is_script, .spec = spec, .text = text, .name = name};
    return &c->sources[c->nsources - 1];
}

void command_add_elf(struct command *c, const char *path)
{
    c->elves = grow(c->elves, c->nelves, sizeof(*c->elves));
    c->elves[c->nelves++] = path;
}

void command_argument(struct command *c, const char *text)
{
    c->args = grow(c->args, (unsigned)c->nargs, sizeof(*c->args));
    c->args[c->nargs++] = text;
}

static bool unsupported(int option)
{
    static const struct {
        int option;
        const char *why;
    } rows[] = {
        {'A', "a boot image is built with BOOT_D"},
        {'G', "programs have no D objects here"},
        {'h', "programs have no D objects here"},
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

/* dtrace(1M) has these as different modes of work. */
static bool one_mode(const struct command *c)
{
    if (c->list && c->version) {
        fputs("dtrace: only one of the [-AGhlV] options can be specified at a time\n", stderr);
        return false;
    }
    return true;
}

/* -32, -64 */
static int take_model(struct command *c, int option, const char *rest)
{
    if (strcmp(rest, option == '3' ? "2" : "4") != 0) {
        fprintf(stderr, "dtrace: illegal option -- %c%s\n", option, rest);
        command_usage(stderr);
        return 2;
    }
    c->bits = option == '3' ? 32 : 64;
    return 0;
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

/* --timeout: how long a target may leave a request unanswered. */
static bool take_timeout(const char *text)
{
    char *end;
    long seconds = strtol(text, &end, 10);

    if (*end || end == text || seconds < 1 || seconds > 86400) {
        fprintf(stderr, "dtrace: --timeout takes 1 to 86400 seconds, not %s\n", text);
        return false;
    }
    remote_patience((unsigned)seconds);
    return true;
}

/* -P -m -f -n -i: a program's text, of which the letter says what a bare word means. */
static bool take_program(struct command *c, int option, const char *text)
{
    static const char kinds[] = "Pmfni";
    static const enum dt_spec specs[] = {DT_SPEC_PROVIDER, DT_SPEC_MODULE, DT_SPEC_FUNCTION,
                                         DT_SPEC_NAME, DT_SPEC_ID};
    const char *kind = option < 128 ? strchr(kinds, option) : NULL;

    if (kind) {
        command_source(c, false, specs[kind - kinds], text);
    }
    return kind != NULL;
}

/* Letters that stand for an option of -x. */
static bool take_setting(struct command *c, int option, const char *value)
{
    static const struct {
        int option;
        const char *name, *shown;
    } rows[] = {{'b', "bufsize", "-b"},     {'C', "cpp", NULL},     {'D', "define", NULL},
                {'F', "flowindent", NULL},  {'H', "cpphdrs", NULL}, {'I', "incdir", NULL},
                {'L', "libdir", NULL},      {'q', "quiet", NULL},   {'U', "undef", NULL},
                {'w', "destructive", NULL}, {'X', "stdc", "-X"},    {'Z', "zdefs", NULL}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].option == option) {
            command_set(c, rows[i].name, value, rows[i].shown);
            return true;
        }
    }
    return false;
}

/* Letters that are yes or no. */
static bool take_flag(struct command *c, int option)
{
    const struct {
        int option;
        bool *flag;
    } rows[] = {{'a', &c->claim},       {'e', &c->compile_only}, {'l', &c->list},
                {'S', &c->disassemble}, {'v', &c->verbose},      {'V', &c->version},
                {OPT_JSON, &c->json}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].option == option) {
            *rows[i].flag = true;
            return true;
        }
    }
    return false;
}

/* Letters with a word of the command's own. */
static bool take_word(struct command *c, int option, const char *value)
{
    const struct {
        int option;
        const char **word;
    } rows[] = {{'c', &c->run},
                {'o', &c->output},
                {'r', &c->capture},
                {'t', &c->target_spec},
                {OPT_COMPILE, &c->compile_to}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].option == option) {
            *rows[i].word = value;
            return true;
        }
    }
    return false;
}

/* 0, or the status to end with. */
static int take_option(struct command *c, int option, char *value)
{
    if (option == 'c' && c->run) {
        fprintf(stderr, "dtrace: -c %s: one command can be run, and -c %s was given\n", value,
                c->run);
        return 2;
    }
    c->destructive |= option == 'w';
    c->compile_only |= option == OPT_COMPILE;
    if (take_program(c, option, value) || take_setting(c, option, value) || take_flag(c, option) ||
        take_word(c, option, value)) {
        return 0;
    }
    switch (option) {
    case '3':
    case '6':
        return take_model(c, option, value);
    case 's':
        command_source(c, true, DT_SPEC_NAME, value);
        return 0;
    case 'p':
        return take_pid(c, value) ? 0 : 1;
    case 'x':
        add_assignment(c, value);
        return 0;
    case OPT_ELF:
        command_add_elf(c, value);
        return 0;
    case OPT_TIMEOUT:
        return take_timeout(value) ? 0 : 2;
    case OPT_HELP:
        command_usage(stdout);
        exit(kymo_stdout_end(KYMO_OK));
    default:
        if (option != '?' && unsupported(option)) {
            return 1;
        }
        command_usage(stderr);
        return 2;
    }
}

/* Options may stand between and behind the macro arguments, as with dtrace(1M); -- ends them. */
int command_parse(struct command *c, int argc, char **argv)
{
    static const struct option longs[] = {{"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, OPT_HELP},
                                          {"elf", required_argument, NULL, OPT_ELF},
                                          {"compile", required_argument, NULL, OPT_COMPILE},
                                          {"timeout", required_argument, NULL, OPT_TIMEOUT},
                                          {NULL, 0, NULL, 0}};
    int option, status;

    optind = 1;
    if (argc == 1) {
        command_usage(stderr);
        return 2;
    }
    while (optind < argc) {
        option = getopt_long(argc, argv, short_options, longs, NULL);
        if (option == -1) {
            bool ended = strcmp(argv[optind - 1], "--") == 0;
            do {
                if (optind < argc) {
                    command_argument(c, argv[optind++]);
                }
            } while (ended && optind < argc);
            continue;
        }
        status = take_option(c, option, optarg);
        if (status) {
            return status;
        }
    }
    return one_mode(c) ? 0 : 2;
}
