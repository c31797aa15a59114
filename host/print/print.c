/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print: a capture as text, one event after the other, merged by time across CPUs.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output.h"
#include "host/print/print.h"
#include "host/print/record.h"
#include "host/print/symbols.h"

#define WAIT_USUAL "1"

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
    "  --time UNIT    times as cycles (the usual, hexadecimal), s (seconds since the start,\n"
    "                 with nine decimals) or ns (nanoseconds since the start)\n"
    "  --style N      the text of QNX's traceprinter 6 (6.x), 7 (7.x) or 8 (8.0)\n"
    "  --names        whose each event is, and names behind the ids of processes and threads\n"
    "  --json         for programs: one JSON object a line\n"
    "  --csv          for programs: RFC 4180, with a line of names first\n"
    "\n" SELECT_HELP "\n"
    "  --symbols PATH names for the addresses of FUNC_ENTER, FUNC_EXIT and ADDRESS, from the\n"
    "                 kernel's ELF that was recorded and the programs in and beside it:\n"
    "                 a file, or a folder to look into; may be given again\n"
    "  --follow       go on while the file is being written, until interrupted\n"
    "  --wait TIME    with --follow: how long an event waits at least for earlier ones of\n"
    "                 CPUs that have nothing new: 1 (second), 500ms\n"
    "  --force        -o may replace a capture, too\n"
    "  --recover      read the undamaged parts of a damaged file\n"
    "  -h, --help     this text\n";

enum {
    OPT_FOLLOW = 256,
    OPT_RECOVER,
    OPT_SYMBOLS,
    OPT_TIME,
    OPT_NAMES,
    OPT_JSON,
    OPT_CSV,
    OPT_WAIT,
    OPT_FORCE,
    OPT_STYLE,
};

static const struct option print_options[] = {
    SELECT_OPTIONS,
    {"time", required_argument, NULL, OPT_TIME},
    {"style", required_argument, NULL, OPT_STYLE},
    {"names", no_argument, NULL, OPT_NAMES},
    {"json", no_argument, NULL, OPT_JSON},
    {"csv", no_argument, NULL, OPT_CSV},
    {"wait", required_argument, NULL, OPT_WAIT},
    {"force", no_argument, NULL, OPT_FORCE},
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

static int option_time(struct print *print)
{
    static const char *const units[] = {
        [LINE_CYCLES] = "cycles", [LINE_SECONDS] = "s", [LINE_NS] = "ns"};

    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i], optarg) == 0) {
            print->style.time = (enum line_time)i;
            return 0;
        }
    }
    return kymo_usage("print", "print: --time %s: one of cycles, s, ns", optarg);
}

static int option_style(struct print *print)
{
    static const char *const styles[] = {[LINE_QNX6] = "6", [LINE_QNX7] = "7", [LINE_QNX8] = "8"};

    for (unsigned i = LINE_QNX6; i <= LINE_QNX8; i++) {
        if (strcmp(styles[i], optarg) == 0) {
            print->style.dialect = (enum line_dialect)i;
            return 0;
        }
    }
    return kymo_usage("print", "print: --style %s: one of 6, 7, 8", optarg);
}

static int option_wait(struct print *print)
{
    if (kymo_parse_when(optarg, &print->wait) == 0 && !print->wait.absolute) {
        return 0;
    }
    return kymo_usage("print", "print: --wait %s: not a time: 1, 500ms", optarg);
}

static int option_symbols(struct print *print)
{
    if (print->npaths < PRINT_PATHS) {
        print->paths[print->npaths++] = optarg;
        return 0;
    }
    return kymo_usage("print", "print: --symbols: at most %d times", PRINT_PATHS);
}

static int option_use(struct print *print, int option, int argc, char **argv)
{
    int status = kymo_select_option(&print->select, "print", option, optarg);

    if (status >= 0) {
        return status;
    }
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
        return option_symbols(print);
    case OPT_TIME:
        return option_time(print);
    case OPT_STYLE:
        return option_style(print);
    case OPT_WAIT:
        return option_wait(print);
    case OPT_NAMES:
        print->names = true;
        return 0;
    case OPT_JSON:
        print->both_shapes |= print->shape == PRINT_CSV;
        print->shape = PRINT_JSON;
        return 0;
    case OPT_CSV:
        print->both_shapes |= print->shape == PRINT_JSON;
        print->shape = PRINT_CSV;
        return 0;
    case OPT_FORCE:
        print->force = true;
        return 0;
    default:
        return kymo_bad_option("print", argc, argv, option);
    }
}

/* --style says what a line begins with, too; that of 7 and 8 is a format. -1: go on. */
static int style_check(struct print *print)
{
    const char *bad;

    if (print->shape != PRINT_LINES || print->names || print->style.time != LINE_CYCLES) {
        return kymo_usage("print", "print: --style is the text of another program: without --json, "
                                   "--csv, --names and --time");
    }
    if (print->style.format == NULL && print->style.dialect != LINE_QNX6) {
        format_parse(&print->format, FORMAT_DEFAULT, &bad);
        print->style.format = &print->format;
    } else if (print->style.format != NULL && print->style.dialect == LINE_QNX6) {
        return kymo_usage("print", "print: -p: traceprinter 6 has no format; --style 7 and 8 have");
    }
    return -1;
}

/* Options that make no sense together. -1: go on. */
static int options_check(struct print *print)
{
    bool lines = print->shape == PRINT_LINES;

    if (print->both_shapes) {
        return kymo_usage("print", "print: either --json or --csv");
    }
    if (print->style.dialect != LINE_KYMO && style_check(print) >= 0) {
        return KYMO_USAGE;
    }
    if (!lines && (print->style.format != NULL || print->style.one_line || print->names ||
                   print->style.time != LINE_CYCLES || print->npaths > 0)) {
        return kymo_usage("print", "print: --json and --csv have columns of their own: without -p, "
                                   "-n, --names, --time and --symbols");
    }
    if (print->style.format != NULL && (print->names || print->style.time != LINE_CYCLES)) {
        return kymo_usage("print", "print: -p says what the line begins with: without --names and "
                                   "--time");
    }
    if (print->wait.given && !print->follow) {
        return kymo_usage("print", "print: --wait goes with --follow");
    }
    if (!print->wait.given) {
        kymo_parse_when(WAIT_USUAL, &print->wait);
    }
    print->owners_wanted = !lines || print->names || print->select.pids.n > 0 ||
                           print->select.tids.n > 0 || print->select.nnames > 0;
    return -1;
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
    return options_check(print);
}

static void header_print(struct print *print, const struct kev *kev)
{
    if (print->shape == PRINT_CSV) {
        csv_header(print->out);
    } else if (print->shape == PRINT_LINES) {
        line_header(print->out, kev, print->verbose);
    }
}

static void late_report(const struct print *print, const struct kev *kev)
{
    if (print->follow && print->late > 0 && kev_info(kev)->kymo) {
        kymo_error("%s: %" PRIu64 " events came after later ones of other CPUs had been printed; "
                   "`--wait` makes events wait longer",
                   kev_info(kev)->path, print->late);
    }
}

/* Prints all to print->out. */
static int print_capture(struct print *print, struct kev *kev)
{
    struct kev_error error;
    enum kev_result result;
    int status = KYMO_OK;

    header_print(print, kev);
    result = print->follow ? print_follow(print, kev, &error) : print_events(print, kev, &error);
    out_flush(print->out);
    kymo_progress_end();
    if (result == KEV_ERROR) {
        kymo_report_error(&error);
        status = KYMO_FAILURE;
    }
    if (!kymo_report_damage(kev)) {
        status = KYMO_FAILURE;
    }
    late_report(print, kev);
    if (print->verbose) {
        kymo_error("%s: %" PRIu64 " events", kev_info(kev)->path, print->events);
    }
    return status;
}

/* A file has its name once it is whole; one that follows a capture is read while it grows. */
static int print_to_output(struct print *print, struct kev *kev)
{
    enum output_policy policy = print->force ? OUTPUT_FORCE : OUTPUT_REPLACE;
    struct output output;
    int status;

    output_reads(print->input);
    if ((print->follow ? output_open_in_place : output_open)(
            &output, print->output == NULL ? "-" : print->output, policy) != 0) {
        return KYMO_FAILURE;
    }
    print->out->fd = output.fd;
    status = print_capture(print, kev);
    output.error = print->out->error;
    if (output_commit(&output) != 0 && print->out->error != EPIPE) {
        status = KYMO_FAILURE;
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
    return print->symbols == NULL ? KYMO_FAILURE : KYMO_OK;
}

/* All that is to be known before the first event is printed. */
static int print_prepare(struct print *print, struct kev *kev)
{
    int status = kymo_select_bind(&print->select, "print", kev);

    print->out = calloc(1, sizeof(*print->out));
    print->owners = print->owners_wanted ? owners_new(kev) : NULL;
    if (print->out == NULL || (print->owners_wanted && print->owners == NULL)) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    print->style.owners = print->names || print->shape != PRINT_LINES ? print->owners : NULL;
    status = status == KYMO_OK ? symbols_open(print, kev) : status;
    if (status == KYMO_OK) {
        print_learn(print, kev);
    }
    if (status == KYMO_OK && !print->follow) {
        status = kymo_select_check_names(&print->select, kev);
    }
    return status;
}

static int print_main(int argc, char **argv)
{
    struct print print = {0};
    struct kev_error error;
    struct kev *kev;
    int status;

    kymo_select_init(&print.select);
    status = options_parse(&print, argc, argv);
    if (status >= 0) {
        return status;
    }
    kev = print_open(&print, &error);
    kymo_progress_end();
    if (kev == NULL) {
        kymo_report_error(&error);
        return KYMO_FAILURE;
    }
    status = print_prepare(&print, kev);
    kymo_progress_end();
    status = status == KYMO_OK ? print_to_output(&print, kev) : status;
    owners_free(print.owners);
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
