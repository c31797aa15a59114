/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print: prints a capture as text, one event after the other, merged by time across CPUs.
 * Tested by test/host and the golden captures.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/log/log.h"
#include "host/output.h"
#include "host/print/print.h"
#include "host/print/row.h"
#include "host/print/symbols.h"
#include "host/verify/verify.h"

#define WAIT_USUAL "1"

static const char print_help[] =
    "Usage: kymo print [options] [FILE]\n"
    "\n"
    "Prints a capture in traceprinter's line format, merged by time across CPUs.\n"
    "FILE - is standard input.\n"
    "\n"
    "  -p FORMAT      print this before each event's arguments, with printf's conversions:\n"
    "                 %c cycles, %C CPU, %e number of the event, %t time since the first\n"
    "                 one, %Z class, %z event, %% a percent sign; traceprinter's format is\n"
    "                 \"" FORMAT_DEFAULT "\"\n"
    "  -n             print all arguments of an event on its line\n"
    "  -f FILE        the capture (same as FILE)\n"
    "  -o FILE        write to a file instead of to standard output\n"
    "  -v             also print the system page; count the events at the end\n"
    "  --time UNIT    print times as cycles (the default, hexadecimal), s (seconds since the\n"
    "                 start, with nine decimals) or ns (nanoseconds since the start)\n"
    "  --style N      print the text of QNX's traceprinter 6 (6.x), 7 (7.x) or 8 (8.0)\n"
    "  --names        print each event's owner, and names after the ids of processes and\n"
    "                 threads\n"
    "  --json         for programs: one JSON object a line\n"
    "  --csv          for programs: RFC 4180, with a line of names first\n"
    "\n" SELECT_HELP "\n"
    "  --symbols PATH print names for the addresses of FUNC_ENTER, FUNC_EXIT and ADDRESS,\n"
    "                 from the ELF file of the recorded kernel and the programs in and beside\n"
    "                 it: a file, or a folder to search; may be given again\n"
    "  --follow       continue while the file is being written, until interrupted\n"
    "  --wait TIME    with --follow: how long an event waits at least for earlier ones of\n"
    "                 CPUs that have nothing new: 1 (second), 500ms\n"
    "  --force        with -o: replace even a capture\n"
    "  --recover      read the undamaged parts of a damaged file\n"
    "  -h, --help     print this text\n";

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

/* Returns the index of optarg among the n choices, which may have gaps, or -1. */
static int option_choice(const char *const *choices, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (choices[i] != NULL && strcmp(choices[i], optarg) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Options with a value. Returns the exit status, 0 to continue, -1: another option. */
static int option_value(struct print *print, int option)
{
    static const char *const units[] = {
        [LINE_CYCLES] = "cycles", [LINE_SECONDS] = "s", [LINE_NS] = "ns"};
    static const char *const styles[] = {[LINE_QNX6] = "6", [LINE_QNX7] = "7", [LINE_QNX8] = "8"};
    const char *bad;
    int choice;

    switch (option) {
    case 'f':
        print->input = optarg;
        return 0;
    case 'o':
        print->output = optarg;
        return 0;
    case 'p':
        if (format_parse(&print->format, optarg, &bad) == 0) {
            print->style.format = &print->format;
            return 0;
        }
        return bad == NULL
                   ? kymo_usage("print", "print: -p: at most %d conversions", FORMAT_PIECES / 2)
                   : kymo_usage("print",
                                "print: -p: %.16s is not one of %%c %%C %%e %%t %%Z %%z %%%%", bad);
    case OPT_SYMBOLS:
        if (print->npaths == PRINT_PATHS) {
            return kymo_usage("print", "print: --symbols: at most %d times", PRINT_PATHS);
        }
        print->paths[print->npaths++] = optarg;
        return 0;
    case OPT_TIME:
        choice = option_choice(units, sizeof(units) / sizeof(units[0]));
        print->style.time = choice < 0 ? LINE_CYCLES : (enum line_time)choice;
        return choice >= 0 ? 0
                           : kymo_usage("print", "print: --time %s: one of cycles, s, ns", optarg);
    case OPT_STYLE:
        choice = option_choice(styles, sizeof(styles) / sizeof(styles[0]));
        print->style.dialect = choice < 0 ? LINE_KYMO : (enum line_dialect)choice;
        return choice >= 0 ? 0 : kymo_usage("print", "print: --style %s: one of 6, 7, 8", optarg);
    case OPT_WAIT:
        if (kymo_parse_when(optarg, &print->wait) != 0 || print->wait.absolute) {
            return kymo_usage("print", "print: --wait %s: not a time: 1, 500ms", optarg);
        }
        return 0;
    default:
        return -1;
    }
}

static int print_option_use(struct print *print, int option, int argc, char **argv)
{
    const struct {
        int option;
        bool *flag;
    } flags[] = {{'n', &print->style.one_line}, {'v', &print->verbose},
                 {OPT_FOLLOW, &print->follow},  {OPT_RECOVER, &print->recover},
                 {OPT_NAMES, &print->names},    {OPT_FORCE, &print->force}};
    int status = kymo_select_option(&print->select, "print", option, optarg);

    status = status >= 0 ? status : option_value(print, option);
    if (status >= 0) {
        return status;
    }
    for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (flags[i].option == option) {
            *flags[i].flag = true;
            return 0;
        }
    }
    switch (option) {
    case OPT_JSON:
        print->both_shapes |= print->shape == PRINT_CSV;
        print->shape = PRINT_JSON;
        return 0;
    case OPT_CSV:
        print->both_shapes |= print->shape == PRINT_JSON;
        print->shape = PRINT_CSV;
        return 0;
    default:
        return kymo_bad_option("print", print_options, argc, argv, option);
    }
}

/* Refuses options that contradict each other. --style has the head of a line, too: that of 7 and 8
 * is a format. Returns the exit status, -1 to continue. */
static int options_check(struct print *print)
{
    bool lines = print->shape == PRINT_LINES, format = print->style.format != NULL;
    bool styled = print->style.dialect != LINE_KYMO;
    bool columns = print->names || print->style.time != LINE_CYCLES;
    const char *bad;

    if (print->both_shapes) {
        return kymo_usage("print", "print: either --json or --csv");
    }
    if (styled && (!lines || columns)) {
        return kymo_usage("print", "print: --style is the text of another program: without --json, "
                                   "--csv, --names and --time");
    }
    if (format && print->style.dialect == LINE_QNX6) {
        return kymo_usage("print", "print: -p: traceprinter 6 has no format; --style 7 and 8 have");
    }
    if (!lines && (format || print->style.one_line || columns || print->npaths > 0)) {
        return kymo_usage("print", "print: --json and --csv have columns of their own: without -p, "
                                   "-n, --names, --time and --symbols");
    }
    if (format && columns) {
        return kymo_usage("print", "print: -p is the beginning of each line: without --names and "
                                   "--time");
    }
    if (print->wait.given && !print->follow) {
        return kymo_usage("print", "print: --wait goes with --follow");
    }
    if (styled && !format && print->style.dialect != LINE_QNX6) {
        format_parse(&print->format, FORMAT_DEFAULT, &bad);
        print->style.format = &print->format;
    }
    if (!print->wait.given) {
        kymo_parse_when(WAIT_USUAL, &print->wait);
    }
    print->owners_wanted = !lines || print->names || print->select.pids.n > 0 ||
                           print->select.tids.n > 0 || print->select.nnames > 0;
    return -1;
}

/* Returns the exit status, -1 to continue. */
static int print_options_parse(struct print *print, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":nf:o:p:vh", print_options, NULL)) != -1) {
        int status;

        if (option == 'h') {
            return kymo_help(&kymo_print_command);
        }
        status = print_option_use(print, option, argc, argv);
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

static void print_count(const struct print *print, const char *path)
{
    char control[48] = "", added[48] = "";

    if (print->count.control > 0) {
        snprintf(control, sizeof(control), " and %" PRIu64 " of class CONTROL",
                 print->count.control);
    }
    if (print->count.added > 0) {
        snprintf(added, sizeof(added), ", %" PRIu64 " added afterwards", print->count.added);
    }
    kymo_error("%s: %" PRIu64 " events%s%s", path, print->count.events, control, added);
}

/* Prints all to print->out; returns the exit status. */
static int print_capture(struct print *print, struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);
    struct kev_error error = {.no_memory = false};
    enum kev_result result;
    int status;

    if (print->shape == PRINT_CSV) {
        csv_header(print->out);
    } else if (print->shape == PRINT_LINES) {
        line_header(print->out, kev, print->verbose);
    }
    result = print->follow ? print_follow(print, kev, &error) : print_events(print, kev, &error);
    out_flush(print->out);
    kymo_progress_end();
    print->no_memory = result == KEV_ERROR && error.no_memory;
    if (result == KEV_ERROR && kev_ended_by(kev) == NULL) { /* of --follow, not of an event */
        status = verify_refuse(&error);
    } else {
        status = verify_end(kev);
    }
    if (print->owners != NULL && owners_lack_memory(print->owners)) {
        kymo_error("%s: out of memory: names of processes and threads are missing", info->path);
        print->no_memory = true;
        status = KYMO_FAILURE;
    }
    if (print->follow && print->late > 0 && info->kymo) {
        kymo_error("%s: %" PRIu64 " events came after later ones of other CPUs had been printed; "
                   "`--wait` makes events wait longer",
                   info->path, print->late);
    }
    if (print->verbose) {
        print_count(print, info->path);
    }
    return status;
}

/* An output file gets its name once it is complete; with --follow at once, since it is read while
 * it grows. */
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
    if (print->no_memory && !print->follow) {
        output_abandon(&output);
    } else if (output_commit(&output) != 0 && print->out->error != EPIPE) {
        status = KYMO_FAILURE;
    }
    return status;
}

/* Reads what must be known before the first event is printed: names are in the capture where a
 * process or thread was created, or at its end. */
static int print_prepare(struct print *print, struct kev *kev)
{
    int status = kymo_select_bind(&print->select, "print", kev);

    log_paths(print->paths, print->npaths);
    print->out = calloc(1, sizeof(*print->out));
    print->owners = print->owners_wanted ? owners_new(kev) : NULL;
    if (print->out == NULL || (print->owners_wanted && print->owners == NULL)) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    print->style.owners = print->names || print->shape != PRINT_LINES ? print->owners : NULL;
    if (status == KYMO_OK && print->npaths > 0) {
        print->symbols.symbols =
            symbols_open(kev, "--symbols", print->paths, print->npaths, NULL, NULL);
        print->style.symbols = &print->symbols;
        status = print->symbols.symbols == NULL ? KYMO_FAILURE : KYMO_OK;
    }
    if (status == KYMO_OK && !print_learn(print, kev)) {
        status = KYMO_FAILURE;
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
    status = print_options_parse(&print, argc, argv);
    if (status >= 0) {
        return status;
    }
    kev = print_open(&print, &error);
    kymo_progress_end();
    if (kev == NULL) {
        return verify_refuse(&error);
    }
    status = print_prepare(&print, kev);
    kymo_progress_end();
    status = status == KYMO_OK ? print_to_output(&print, kev) : status;
    owners_free(print.owners);
    symbols_close(print.symbols.symbols);
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
