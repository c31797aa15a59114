/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print: a capture as text, one event after the other, merged by time across CPUs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/print/print.h"

static const char print_help[] =
    "Usage: kymo print [options] [FILE]\n"
    "\n"
    "Prints a capture in traceprinter's line format, merged by time across CPUs.\n"
    "FILE - is standard input.\n"
    "\n"
    "  -p FORMAT      what stands before each event's arguments, as printf would have\n"
    "                 it: %c cycles, %C CPU, %e number of the event, %t time since the\n"
    "                 first one, %Z class, %z event, %% a percent sign; traceprinter's\n"
    "                 is \"" FORMAT_DEFAULT "\"\n"
    "  -n             all arguments of an event on its line\n"
    "  -f FILE        the capture (same as FILE)\n"
    "  -o FILE        write there instead of to standard output\n"
    "  -v             also print the system page; count the events at the end\n"
    "  --class LIST   only these classes: control, kercall (or kercallenter,\n"
    "                 kercallexit, kercallint), int, process, thread, vthread,\n"
    "                 system, user, comm, other\n"
    "  --cpu LIST     only these CPUs: 0,2-3\n"
    "  --symbols PATH names for the addresses of FUNC_ENTER, FUNC_EXIT and ADDRESS, from the\n"
    "                 kernel's ELF that was recorded and the programs in and beside it:\n"
    "                 a file, or a folder to look into; may be given again\n"
    "  --follow       go on while the file is being written, until interrupted\n"
    "  --recover      read what is sound of a damaged file\n"
    "  -h, --help     this text\n";

enum { OPT_CLASS = 256, OPT_CPU, OPT_FOLLOW, OPT_RECOVER, OPT_SYMBOLS };

static const struct option print_options[] = {
    {"class", required_argument, NULL, OPT_CLASS},
    {"cpu", required_argument, NULL, OPT_CPU},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"symbols", required_argument, NULL, OPT_SYMBOLS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int option_format(struct print *print)
{
    const char *bad;

    if (format_parse(&print->format, optarg, &bad) == 0) {
        print->style.format = &print->format;
        return 0;
    }
    if (bad == NULL) {
        return kymo_usage("print", "print: -p: at most %d conversions", FORMAT_PIECES / 2);
    }
    return kymo_usage("print", "print: -p: %.16s is not one of %%c %%C %%e %%t %%Z %%z %%%%", bad);
}

static int option_use(struct print *print, int option, int argc, char **argv)
{
    const char *bad;

    switch (option) {
    case 'n':
        print->style.one_line = true;
        return 0;
    case 'f':
        print->input = optarg;
        return 0;
    case 'o':
        print->output = optarg;
        return 0;
    case 'p':
        return option_format(print);
    case 'v':
        print->verbose = true;
        return 0;
    case OPT_FOLLOW:
        print->follow = true;
        return 0;
    case OPT_RECOVER:
        print->recover = true;
        return 0;
    case OPT_SYMBOLS:
        if (print->npaths < PRINT_PATHS) {
            print->paths[print->npaths++] = optarg;
            return 0;
        }
        return kymo_usage("print", "print: --symbols: at most %d times", PRINT_PATHS);
    case OPT_CPU:
        if (kymo_parse_cpus(optarg, &print->cpus) == 0) {
            return 0;
        }
        return kymo_usage("print", "print: --cpu %s: not a list of CPUs (0,2-3)", optarg);
    case OPT_CLASS:
        if (kymo_parse_classes(optarg, &print->classes, &bad) == 0) {
            return 0;
        }
        return kymo_usage("print", "print: --class: there is no class %.*s", (int)strcspn(bad, ","),
                          bad);
    default:
        return kymo_bad_option("print", argc, argv, option);
    }
}

/* -1: go on; else the exit status. */
static int options_parse(struct print *print, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":nf:o:p:vh", print_options, NULL)) != -1) {
        int status;

        if (option == 'h') {
            return kymo_help(&kymo_print_command);
        }
        status = option_use(print, option, argc, argv);
        if (status != 0) {
            return status;
        }
    }
    if (optind < argc && print->input == NULL) {
        print->input = argv[optind++];
    }
    if (optind < argc) {
        return kymo_usage("print", "print: one capture at a time, not %s too", argv[optind]);
    }
    if (print->input == NULL) {
        return kymo_usage("print", "print: which capture?");
    }
    return -1;
}

static int output_open(struct print *print)
{
    print->out->fd = STDOUT_FILENO;
    if (print->output == NULL) {
        return 0;
    }
    print->out->fd = open(print->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (print->out->fd < 0) {
        kymo_error("%s: cannot write: %s", print->output, strerror(errno));
        return -1;
    }
    return 0;
}

static int output_close(struct print *print)
{
    out_flush(print->out);
    if (print->output != NULL && close(print->out->fd) != 0 && print->out->error == 0) {
        print->out->error = errno;
    }
    if (print->out->error == 0 || print->out->error == EPIPE) {
        return KYMO_OK;
    }
    kymo_error("%s: cannot write: %s", print->output == NULL ? "standard output" : print->output,
               strerror(print->out->error));
    return KYMO_FAILURE;
}

static int print_capture(struct print *print, struct kev *kev)
{
    struct kev_error error;
    enum kev_result result;
    int status;

    if (output_open(print) != 0) {
        return KYMO_FAILURE;
    }
    line_header(print->out, kev, print->verbose);
    result = print->follow ? print_follow(print, kev, &error) : print_events(print, kev, &error);
    status = output_close(print);
    kymo_progress_end();
    if (result == KEV_ERROR) {
        kymo_report_error(&error);
        status = KYMO_FAILURE;
    }
    if (!kymo_report_damage(kev)) {
        status = KYMO_FAILURE;
    }
    if (print->verbose) {
        kymo_error("%s: %" PRIu64 " events", kev_info(kev)->path, print->events);
    }
    return status;
}

/* Before the first event: names are in the capture where somebody was born, or at its end. */
static int symbols_open(struct print *print, const struct kev *kev)
{
    if (print->npaths == 0) {
        return KYMO_OK;
    }
    print->symbols = symbols_new(kev, print->paths, print->npaths);
    print->style.symbols = print->symbols;
    if (print->symbols == NULL) {
        return KYMO_FAILURE;
    }
    print_learn(print);
    return KYMO_OK;
}

static int print_main(int argc, char **argv)
{
    struct print print = {.classes = {.any = true}};
    struct kev_error error;
    int status = options_parse(&print, argc, argv);
    struct kev *kev;

    if (status >= 0) {
        return status;
    }
    kev = print_open(&print, &error);
    kymo_progress_end();
    if (kev == NULL) {
        kymo_report_error(&error);
        return KYMO_FAILURE;
    }
    print.out = calloc(1, sizeof(*print.out));
    status = print.out == NULL ? KYMO_FAILURE : symbols_open(&print, kev);
    status = status == KYMO_OK ? print_capture(&print, kev) : status;
    symbols_free(print.symbols);
    free(print.out);
    kev_close(kev);
    return status;
}

const struct kymo_command kymo_print_command = {
    .name = "print",
    .summary = "print a capture, one event a line",
    .run = print_main,
    .help = print_help,
};
