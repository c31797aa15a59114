/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo export: writes a capture in the format of another program. One format a run; the frame
 * opens, selects, reads and reports, the format writes (export.h).
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/export/export.h"
#include "host/fleet/fleet.h"
#include "host/kymo.h"
#include "host/output.h"
#include "host/select.h"
#include "host/symbols/item.h"
#include "host/verify/verify.h"

static const char export_help[] =
    "Usage: kymo export FORMAT [options] FILE\n"
    "       kymo export --parquet DIR [options] CAPTURE|FOLDER...\n"
    "\n"
    "Writes a capture in the format of other programs. FILE - is standard input.\n"
    "\n"
    "  --csv          RFC 4180, with a line of names first\n"
    "  --jsonl        one JSON object a line\n"
    "  --chrome       Chrome's trace event JSON, for chrome://tracing and ui.perfetto.dev\n"
    "  --ctf          a folder in CTF 1.8, for Trace Compass and babeltrace2: -o FOLDER\n"
    "  --perfetto     Perfetto's protocol buffers, for ui.perfetto.dev\n"
    "  --speedscope   what CPUs ran, calls and functions, for speedscope\n"
    "  --trace-dat    a trace.dat, for KernelShark and trace-cmd report\n"
    "\n"
    "  --parquet DIR  add captures to a folder of Parquet files, for kymo query (needs\n"
    "                 make install-query); of a FOLDER all *.kev below it, whose device is\n"
    "                 the first folder below FOLDER, or what its index of kymo collect says\n"
    "  --compact      with --parquet: then make few files of many; no CAPTURE is needed\n"
    "  --path RULE    with --parquet: which parts of the path below FOLDER are DEVICE,\n"
    "                 FIRMWARE and DATE, as DATE/*/DEVICE or */DEVICE.kev; default DEVICE\n"
    "  --device NAME, --firmware NAME, --date YYYY-MM-DD\n"
    "                 with --parquet: where all these captures are from\n"
    "\n"
    "  -o OUT         write to a file instead of to standard output\n"
    "  --force        with -o: replace even a capture\n"
    "  --recover      read the undamaged parts of a damaged file\n"
    "  --symbols PATH with --chrome, --perfetto, --speedscope: names of functions, from the\n"
    "                 ELF file of the recorded kernel, or from a folder; may be repeated\n"
    "\n" SELECT_HELP "\n"
    "  -h, --help     print this text\n";

/* A format is added here, in the help above and in docs/reference/export.md. */
static const struct export_format *const export_format_table[] = {
    &export_csv,      &export_jsonl,    &export_chrome,    &export_ctf,
    &export_tracedat, &export_perfetto, &export_speedscope};
#define FORMATS (sizeof(export_format_table) / sizeof(export_format_table[0]))

/* ---- options ----------------------------------------------------------------------- */

enum { OPT_FORCE = 256, OPT_RECOVER, OPT_SYMBOLS, OPT_OF_PARQUET, OPT_FORMAT };

static const struct option common_options[] = {
    SELECT_OPTIONS,
    {"force", no_argument, NULL, OPT_FORCE},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"symbols", required_argument, NULL, OPT_SYMBOLS},
    {"device", required_argument, NULL, OPT_OF_PARQUET},
    {"firmware", required_argument, NULL, OPT_OF_PARQUET},
    {"date", required_argument, NULL, OPT_OF_PARQUET},
    {"path", required_argument, NULL, OPT_OF_PARQUET},
    {"compact", no_argument, NULL, OPT_OF_PARQUET},
    {"help", no_argument, NULL, 'h'},
};
#define COMMON (sizeof(common_options) / sizeof(common_options[0]))

/* A command line in the making: the selection is checked here, for its messages, and given to the
 * library. */
struct command {
    struct export export;
    struct kymo_select select;
    struct option options[COMMON + FORMATS + 1];
};

static void options_make(struct command *command)
{
    memcpy(command->options, common_options, sizeof(common_options));
    for (unsigned i = 0; i < FORMATS; i++) {
        command->options[COMMON + i] =
            (struct option){export_format_table[i]->name, no_argument, NULL, OPT_FORMAT + (int)i};
    }
    kymo_select_init(&command->select);
}

static int selection_use(struct command *command, int option, const char *value)
{
    int status = kymo_select_option(&command->select, "export", option, value);

    command->export.partial |= option == SELECT_CPU || option == SELECT_EVENT ||
                               option == SELECT_PID || option == SELECT_TID ||
                               option == SELECT_NAME;

    for (unsigned i = 0; status == KYMO_OK && i < COMMON; i++) {
        if (common_options[i].val == option &&
            kev_capture_select(command->export.capture, common_options[i].name, value) !=
                KEV_COMPLETE) {
            if (kev_capture_fault(command->export.capture)->code == KEV_FAULT_SYSTEM) {
                return verify_refuse_fault(kev_capture_fault(command->export.capture));
            }
            return kymo_usage("export", "export: %s",
                              kev_capture_fault(command->export.capture)->text);
        }
    }
    return status;
}

static int export_option_use(struct command *command, int option, int argc, char **argv)
{
    struct export *export = &command->export;
    int status = selection_use(command, option, optarg);

    if (status >= 0) {
        return status;
    }
    switch (option) {
    case 'o':
        export->path = optarg;
        return 0;
    case OPT_FORCE:
        export->force = true;
        return 0;
    case OPT_RECOVER:
        export->recover = true;
        return 0;
    case OPT_SYMBOLS:
        if (export->nsymbols == EXPORT_SYMBOLS) {
            return kymo_usage("export", "export: --symbols: at most %d times", EXPORT_SYMBOLS);
        }
        export->symbol_paths[export->nsymbols++] = optarg;
        return 0;
    case OPT_OF_PARQUET: /* with that, host/fleet/parquet.c reads the options */
        return kymo_usage("export", "export: --device, --firmware, --date, --path and --compact go "
                                    "with --parquet");
    default:
        break;
    }
    if (option < OPT_FORMAT || option >= OPT_FORMAT + (int)FORMATS) {
        return kymo_bad_option("export", command->options, argc, argv, option);
    }
    if (export->format != NULL && export->format != export_format_table[option - OPT_FORMAT]) {
        return kymo_usage("export", "export: either --%s or --%s", export->format->name,
                          export_format_table[option - OPT_FORMAT]->name);
    }
    export->format = export_format_table[option - OPT_FORMAT];
    return 0;
}

/* Returns the exit status, -1 to continue. */
static int export_options_parse(struct command *command, int argc, char **argv)
{
    struct export *export = &command->export;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", command->options, NULL)) != -1) {
        int status = option == 'h' ? 0 : export_option_use(command, option, argc, argv);

        if (option == 'h') {
            return kymo_help(&kymo_export_command);
        }
        if (status != 0) {
            return status;
        }
    }
    if (export->format == NULL) {
        return kymo_usage("export", "export: which format? --csv, --jsonl ...");
    }
    if (optind == argc) {
        return kymo_usage("export", "export: which capture?");
    }
    export->input = argv[optind++];
    if (optind < argc) {
        return kymo_usage("export", "export: one capture at a time, not %s too", argv[optind]);
    }
    if (export->nsymbols > 0 && !export->format->draws) {
        return kymo_usage("export",
                          "export: --symbols goes with --chrome, --perfetto and --speedscope");
    }
    if (export->path == NULL && export->format->folder) {
        return kymo_usage("export", "export: --%s makes a folder: -o FOLDER", export->format->name);
    }
    if (export->path == NULL && export->format->binary && isatty(STDOUT_FILENO)) {
        return kymo_usage("export", "export: --%s is not written to a terminal: -o OUT",
                          export->format->name);
    }
    export->path = export->path == NULL ? "-" : export->path;
    return -1;
}

/* ---- the command ------------------------------------------------------------------- */

static void item_count(struct export *export, const struct kev_item *item)
{
    if (item->kind == KEV_ITEM_EVENT) {
        count_event(&export->count, item->class_id, (item->flags & KEV_FLAG_INJECTED) != 0);
    } else if (item->kind == KEV_ITEM_LOSS) {
        export->losses++;
        export->lost += item->loss->events;
    }
}

/* All items into the format. An exit status; *broken: nothing of it may stay. */
static int items_take(struct export *export, bool *broken)
{
    const struct kev_item *item;
    int status, outcome;
    uint64_t n = 0;

    *broken = true;
    while ((outcome = kev_capture_next(export->capture, &item)) == KEV_GIVEN) {
        item_count(export, item);
        if (export->symbols != NULL && item->kind == KEV_ITEM_EVENT) {
            symbols_learn_item(export->symbols, export->capture, item);
        }
        if (export->format->item(export, item) != 0) {
            return KYMO_FAILURE;
        }
        if (++n % KEV_PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"exporting", item->offset, export->facts->bytes);
            if (export->out != NULL && export->out->error != 0) {
                return KYMO_FAILURE; /* output_commit() says why */
            }
        }
    }
    kymo_progress_end();
    if (outcome == KEV_FAILED) {
        return verify_refuse_fault(kev_capture_fault(export->capture));
    }
    if (outcome == KEV_LOSSY) {
        export->fault = kev_capture_fault(export->capture)->code;
    }
    *broken = export->format->end(export) != 0;
    status = verify_end_capture(export->capture, outcome, true);
    return *broken ? KYMO_FAILURE : status;
}

int export_format_run(struct export *export, bool *broken)
{
    int status = KYMO_FAILURE;

    *broken = true;
    if (export->format->begin(export) == 0) {
        status = items_take(export, broken);
    }
    kymo_progress_end();
    if (export->format->discard != NULL) {
        export->format->discard(export);
    }
    return status;
}

static int file_write(struct export *export)
{
    struct output output;
    bool broken, unread;
    int status;

    export->out = calloc(1, sizeof(*export->out));
    if (export->out == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    if (output_open(&output, export->path, export->force ? OUTPUT_FORCE : OUTPUT_REPLACE) != 0) {
        free(export->out);
        return KYMO_FAILURE;
    }
    export->out->fd = output.fd;
    status = export_format_run(export, &broken);
    out_flush(export->out);
    output.error = export->out->error;
    unread = output.error == EPIPE;
    if (broken && output.error == 0) {
        output_abandon(&output);
    } else if (output_commit(&output) != 0) {
        status = unread ? KYMO_OK : KYMO_FAILURE;
    }
    free(export->out);
    return status;
}

int export_names_learn(struct export *export)
{
    export->facts = kev_capture_facts(export->capture);
    if (kev_capture_learn(export->capture) == KEV_FAILED) {
        return verify_refuse_fault(kev_capture_fault(export->capture));
    }
    return KYMO_OK;
}

static int export_open(struct export *export)
{
    static const char who[] = "kev_capture_select(): ";
    const struct kev_fault *fault;
    const char *text;

    if (export->recover) {
        kev_capture_set_recover(export->capture, 1);
    }
    if (kev_capture_open(export->capture, export->input) == KEV_COMPLETE) {
        return export_names_learn(export);
    }
    fault = kev_capture_fault(export->capture);
    if (fault->code != KEV_FAULT_USE) {
        return verify_refuse_fault(kev_capture_fault(export->capture));
    }
    text = fault->text;
    text += strncmp(text, who, strlen(who)) == 0 ? strlen(who) : 0;
    return kymo_usage("export", "export: %s", text);
}

static int export_run(struct export *export)
{
    bool broken;
    int status = export_open(export);

    if (status != KYMO_OK) {
        return status;
    }
    output_reads(export->input);
    if (export->nsymbols > 0) {
        export->symbols = symbols_open_capture(export->capture, "--symbols", export->symbol_paths,
                                               export->nsymbols);
        if (export->symbols == NULL) {
            return KYMO_FAILURE;
        }
    }
    status = export->format->folder ? export_format_run(export, &broken) : file_write(export);
    symbols_close(export->symbols);
    return status;
}

static int export_main(int argc, char **argv)
{
    if (fleet_is_wanted(argc, argv)) {
        return fleet_export(argc, argv);
    }
    struct command *command = calloc(1, sizeof(*command));
    int status = KYMO_FAILURE;

    if (command != NULL) {
        options_make(command);
        command->export.capture = kev_capture_new();
    }
    if (command == NULL || command->export.capture == NULL) {
        kymo_error("out of memory");
        free(command);
        return status;
    }
    status = export_options_parse(command, argc, argv);
    status = status < 0 ? export_run(&command->export) : status;
    kev_capture_free(command->export.capture);
    free(command);
    return status;
}

const struct kymo_command kymo_export_command = {
    .name = "export",
    .summary = "write a capture in the format of other programs",
    .run = export_main,
    .help = export_help,
};
