/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace`: its command line. Messages and exit statuses are dtrace(1M)'s: 0, 1 for a failure,
 * 2 for usage. Tested by test/dtrace/rows/command.rows.
 */
#include "host/dtrace/command.h"
#include "host/kymo.h"
#include "host/remote/target.h"
#include "host/nearest.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = 256, OPT_HELP, OPT_ELF, OPT_COMPILE, OPT_TIMEOUT, OPT_LIST };

static const char short_options[] = "+3:6:aAb:Bc:CD:eF"
                                    "f:GhHi:I:lL:m:n:o:p:P:qr:s:St:U:vVwx:X:Z";

const char command_help[] =
    "Usage: kymo dtrace [-aCeFHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]] [-I path]\n"
    "           [-L path] [-o output] [-p pid|name] [-r capture] [-s script]\n"
    "           [-t target] [-U name] [-x opt[=val]] [-X a|c|s|t] [--json] [--elf path]\n"
    "           [--compile file] [--timeout seconds] [--list]\n"
    "           [-P provider[[predicate]action]] [-m [provider:]module[[predicate]action]]\n"
    "           [-f [[provider:]module:]func[[predicate]action]]\n"
    "           [-n [[[provider:]module:]func:]name[[predicate]action]]\n"
    "           [-i probe-id[[predicate]action]] [args ...]\n"
    "\n"
    "  -a  claim the program that the boot traces  -n  enable or list probes by name\n"
    "  -b  set the size of the principal buffers   -o  append the output to a file\n"
    "  -c  run a command, trace until it ends      -p  trace a process: its pid or name\n"
    "  -C  run the C preprocessor on scripts       -P  enable or list probes by provider\n"
    "  -D  define a name for the preprocessor      -q  print only the program's output\n"
    "  -e  compile only                            -s  enable the program in a script\n"
    "  -f  enable or list probes by function       -S  print the generated code\n"
    "  -F  indent by entry and return              -t  set the target, see below\n"
    "  -H  print the included files                -U  undefine a preprocessor name\n"
    "  -i  enable or list a probe by id            -v  print stability, costs, arguments\n"
    "  -I  add a folder for include files          -V  print the version\n"
    "  -l  list probes                             -w  allow destructive actions\n"
    "  -L  add a folder of D libraries             -x  set an option\n"
    "  -m  enable or list probes by module         -X  set the preprocessor's C standard\n"
    "  --json  print one JSON object a record      -Z  allow descriptions without a match\n"
    "  --elf   an ELF file of the target, or a folder of them\n"
    "  --compile  write the compiled program to a file, for BOOT_D\n"
    "  --timeout  how long to wait for an answer of the target (120 seconds)\n"
    "  --list  list the scripts that come with kymo; -s takes their names, like -s heap.d\n"
    "  -r      with a program or -l: run it on a capture, whose events are the probes; else\n"
    "          print what programs recorded into the capture, with -x log=1 or retain\n"
    "\n"
    "Targets: boot[:BOARD[,icount][,image=IMAGE]] (boots a board, virt-a64 by default, with the\n"
    "demo workload or another image; icount: instructions are time), self (this process),\n"
    "unix:PATH, tcp:HOST:PORT, /dev/tty...[@BAUD] (a board at the other end), elf:PATH (only to\n"
    "compile).\n"
    "Without -t the environment variable KYMO_TARGET names the target; without it, boot.\n";

void command_usage(FILE *out)
{
    fputs(command_help, out);
}

static void *dtrace_command_grow_array(void *array, unsigned n, size_t size)
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
    c->settings = dtrace_command_grow_array(c->settings, c->nsettings, sizeof(*c->settings));
    c->settings[c->nsettings++] = (struct setting){name, value, shown, DT_FROM_COMMAND};
}

struct program_source *command_source(struct command *c, bool is_script, enum dt_spec spec,
                                      const char *text)
{
    char *name = kymo_memory(strdup(text));

    if (!is_script) {
        name[strcspn(name, "{/;")] = '\0';
    }
    c->sources = dtrace_command_grow_array(c->sources, c->nsources, sizeof(*c->sources));
    c->sources[c->nsources++] =
        (struct program_source){.is_script = is_script, .spec = spec, .text = text, .name = name};
    return &c->sources[c->nsources - 1];
}

void command_add_elf(struct command *c, const char *path)
{
    c->elf_files = dtrace_command_grow_array(c->elf_files, c->nelf_files, sizeof(*c->elf_files));
    c->elf_files[c->nelf_files++] = path;
}

void command_argument(struct command *c, const char *text)
{
    c->args = dtrace_command_grow_array(c->args, (unsigned)c->nargs, sizeof(*c->args));
    c->args[c->nargs++] = text;
}

/* Options of dtrace(1M) that this command refuses. */
static bool is_refused(int option)
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

/* Returns a number within the limits, or -1. */
static long number_within(const char *text, long least, long most)
{
    char *end;
    long number = strtol(text, &end, 10);

    return *end || end == text || number < least || number > most ? -1 : number;
}

/* Options that only set something: -P -m -f -n -i a program, whose letter says what a bare word
 * means; others an option of -x, a flag or a word of the command. Returns false for any other
 * option. */
static bool take_simple(struct command *c, int option, const char *value)
{
    const struct {
        int option;
        const char *setting, *shown; /* as -x has it, and as messages name it */
        bool *flag;
        const char **word;
    } rows[] = {{'b', "bufsize", "-b", NULL, NULL},
                {'C', "cpp", NULL, NULL, NULL},
                {'D', "define", NULL, NULL, NULL},
                {'F', "flowindent", NULL, NULL, NULL},
                {'H', "cpphdrs", NULL, NULL, NULL},
                {'I', "incdir", NULL, NULL, NULL},
                {'L', "libdir", NULL, NULL, NULL},
                {'q', "quiet", NULL, NULL, NULL},
                {'U', "undef", NULL, NULL, NULL},
                {'w', "destructive", NULL, &c->destructive, NULL},
                {'X', "stdc", "-X", NULL, NULL},
                {'Z', "zdefs", NULL, NULL, NULL},
                {'a', NULL, NULL, &c->claim, NULL},
                {'e', NULL, NULL, &c->compile_only, NULL},
                {'l', NULL, NULL, &c->list, NULL},
                {'S', NULL, NULL, &c->disassemble, NULL},
                {'v', NULL, NULL, &c->verbose, NULL},
                {'V', NULL, NULL, &c->version, NULL},
                {OPT_JSON, NULL, NULL, &c->json, NULL},
                {'c', NULL, NULL, NULL, &c->run},
                {'o', NULL, NULL, NULL, &c->output},
                {'p', NULL, NULL, NULL, &c->grab},
                {'r', NULL, NULL, NULL, &c->capture},
                {'t', NULL, NULL, NULL, &c->target_spec},
                {OPT_COMPILE, NULL, NULL, &c->compile_only, &c->compile_to}};
    static const char kinds[] = "Pmfni";
    static const enum dt_spec specs[] = {DT_SPEC_PROVIDER, DT_SPEC_MODULE, DT_SPEC_FUNCTION,
                                         DT_SPEC_NAME, DT_SPEC_ID};
    const char *kind = option < 128 ? strchr(kinds, option) : NULL;
    bool found = kind != NULL;

    if (kind) {
        command_source(c, false, specs[kind - kinds], value);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !found; i++) {
        found = rows[i].option == option;
        if (found && rows[i].setting) {
            command_set(c, rows[i].setting, value, rows[i].shown);
        }
        if (found && rows[i].flag) {
            *rows[i].flag = true;
        }
        if (found && rows[i].word) {
            *rows[i].word = value;
        }
    }
    return found;
}

/* Returns 0, or the status to end with. */
static int take_option(struct command *c, int option, char *value)
{
    char *equals, *path;
    long number;

    if (option == 'c' && c->run) {
        fprintf(stderr, "dtrace: -c %s: one command can be run, and -c %s was given\n", value,
                c->run);
        return 2;
    }
    if (take_simple(c, option, value)) {
        return 0;
    }
    switch (option) {
    case '3': /* -32 */
    case '6': /* -64 */
        if (strcmp(value, option == '3' ? "2" : "4") != 0) {
            fprintf(stderr, "dtrace: illegal option -- %c%s\n", option, value);
            break;
        }
        c->bits = option == '3' ? 32 : 64;
        return 0;
    case 's':
        path = scripts_find(value);
        command_source(c, true, DT_SPEC_NAME, path ? path : value)->path = path;
        return 0;
    case 'x':
        equals = strchr(value, '=');
        if (equals) {
            *equals++ = '\0';
        }
        command_set(c, value, equals, NULL);
        return 0;
    case OPT_ELF:
        command_add_elf(c, value);
        return 0;
    case OPT_TIMEOUT: /* how long a target may leave a request unanswered */
        number = number_within(value, 1, 86400);
        if (number < 0) {
            fprintf(stderr, "dtrace: --timeout takes 1 to 86400 seconds, not %s\n", value);
            return 2;
        }
        remote_patience((unsigned)number);
        return 0;
    case OPT_LIST:
        exit(kymo_stdout_end(scripts_list()));
    case OPT_HELP:
        command_usage(stdout);
        exit(kymo_stdout_end(KYMO_OK));
    }
    return is_refused(option) ? 1 : 2;
}

/* getopt_long() has reported the word. */
static int command_unknown_option(const char *word, const struct option *longs)
{
    struct nearest nearest = {.word = word};

    nearest_offer_options(&nearest, longs);
    if (nearest.name) {
        fprintf(stderr, "dtrace: did you mean --%s?\n", nearest.name);
    }
    command_usage(stderr);
    return 2;
}

/* As with dtrace(1M), options may stand between and after the macro arguments; -- ends them. -l
 * and -V are different modes of work. */
int command_parse(struct command *c, int argc, char **argv)
{
    static const struct option longs[] = {{"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, OPT_HELP},
                                          {"list", no_argument, NULL, OPT_LIST},
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
        status = option == '?' ? command_unknown_option(argv[optind - 1], longs)
                               : take_option(c, option, optarg);
        if (status) {
            return status;
        }
    }
    if (c->run && c->grab) {
        fprintf(stderr, "dtrace: -c %s and -p %s: $target is one process\n", c->run, c->grab);
        return 2;
    }
    if (c->list && c->version) {
        fputs("dtrace: only one of the [-AGhlV] options can be specified at a time\n", stderr);
        return 2;
    }
    return 0;
}
