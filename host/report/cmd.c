/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo report: a capture as one page of HTML that any browser opens offline. The head and tail of
 * the page are part of the command (page.S); between them stand the blocks. Man page
 * docs/man/kymo-report.1, use docs/report.md, what the page holds docs/report-data.md.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output.h"
#include "host/report/report.h"
#include "host/temporary.h"
#include "trace/slot.h"

#define LOSSES_MOST 4096
#define MOST_DEFAULT 400 /* MB: about 20 million events, a page of 120 MB */
#define MOST_LIMIT 1000000
#define SYMBOLS_MOST 64 /* times that --symbols is given */
#define SPANS_MOST 4096
#define CPUS_MOST 64

static const char report_help[] =
    "Usage: kymo report [options] FILE\n"
    "\n"
    "Writes a capture as one page of HTML, which any browser opens without a network: a timeline\n"
    "of CPUs and threads, with the events behind it. FILE - is standard input.\n"
    "\n"
    "  -o PAGE.html   the page; default: report.html. An existing file is not replaced\n"
    "  --force        replace an existing file\n"
    "  --recover      take the undamaged parts of a damaged file\n"
    "  --symbols PATH names for the addresses of functions, from the ELF file of the recorded\n"
    "                 kernel and the programs in and beside it: a file, or a folder to search;\n"
    "                 may be given again\n"
    "  --most N       megabytes of a capture whose page has all events; that of a larger one\n"
    "                 has shares of states over time only; default: 400\n"
    "  -h, --help     print this text\n";

enum { OPT_FORCE = 256, OPT_RECOVER, OPT_SYMBOLS, OPT_MOST };

static const struct option report_options[] = {
    {"force", no_argument, NULL, OPT_FORCE},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"symbols", required_argument, NULL, OPT_SYMBOLS},
    {"most", required_argument, NULL, OPT_MOST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct report {
    const char *input, *path;
    bool force, recover;
    bool levels;                       /* shares of states instead of events */
    bool has_d;                        /* D programs have logged into it */
    unsigned long most;                /* megabytes */
    const char *symbols[SYMBOLS_MOST]; /* of --symbols */
    unsigned nsymbols;
    struct kev_capture *capture;
    struct output output;
    struct pack pack;
    struct report_threads *threads;
    struct report_events *events;
    struct report_lanes *lanes;
    struct bytes losses, json, shares, usage;
    uint64_t nevents, nlosses, lost;
    int64_t first, last; /* of the events */
    char fault[512];     /* of the timeline */
};

/* 0, or -1: it is no number. */
static int most_parse(struct report *report)
{
    char *end;
    unsigned long most = strtoul(optarg, &end, 10);

    report->most = most;
    return optarg[0] < '0' || optarg[0] > '9' || *end != '\0' || most > MOST_LIMIT ? -1 : 0;
}

/* Returns the exit status, -1 to continue. */
static int options_parse(struct report *report, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", report_options, NULL)) != -1) {
        switch (option) {
        case 'h':
            return kymo_help(&kymo_report_command);
        case 'o':
            report->path = optarg;
            break;
        case OPT_FORCE:
            report->force = true;
            break;
        case OPT_RECOVER:
            report->recover = true;
            break;
        case OPT_MOST:
            if (most_parse(report) != 0) {
                return kymo_usage("report", "report: --most: a number of megabytes, from 0 to %d",
                                  MOST_LIMIT);
            }
            break;
        case OPT_SYMBOLS:
            if (report->nsymbols == SYMBOLS_MOST) {
                return kymo_usage("report", "report: --symbols: at most %d times", SYMBOLS_MOST);
            }
            report->symbols[report->nsymbols++] = optarg;
            break;
        default:
            return kymo_bad_option("report", argc, argv, option);
        }
    }
    if (optind + 1 != argc) {
        return optind == argc ? kymo_usage("report", "report: which capture?")
                              : kymo_usage("report", "report: one capture at a time, not %s too",
                                           argv[optind + 1]);
    }
    report->input = argv[optind];
    return -1;
}

/* ---- tables ------------------------------------------------------------------------ */

static void json_member(struct bytes *json, const char *name, const char *text)
{
    bytes_text(json, ",\n\"");
    bytes_text(json, name);
    bytes_text(json, "\":");
    bytes_json(json, text, text == NULL ? 0 : strlen(text));
}

static void json_number(struct bytes *json, const char *name, int64_t number)
{
    bytes_text(json, ",\n\"");
    bytes_text(json, name);
    bytes_text(json, "\":");
    if (number == KEV_EVER || number == KEV_NEVER) {
        bytes_text(json, "null");
    } else {
        bytes_number(json, number);
    }
}

static void json_covered(struct report *report)
{
    struct bytes *json = &report->json;
    const struct kev_facts *facts = kev_capture_facts(report->capture);
    int64_t from, to;

    bytes_text(json, ",\n\"covered\":[");
    for (unsigned cpu = 0; cpu < facts->cpus && cpu < CPUS_MOST; cpu++) {
        bytes_text(json, cpu == 0 ? "[" : ",[");
        for (unsigned i = 0;
             i < SPANS_MOST && kev_capture_covered(report->capture, cpu, i, &from, &to) == 1; i++) {
            bytes_text(json, i == 0 ? "[" : ",[");
            bytes_number(json, from);
            bytes_text(json, ",");
            bytes_number(json, to);
            bytes_text(json, "]");
        }
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
}

static void json_attributes(struct report *report)
{
    struct bytes *json = &report->json;
    const char *key, *value;

    bytes_text(json, ",\n\"attributes\":[");
    for (unsigned i = 0; kev_capture_attribute_at(report->capture, i, &key, &value) == 1; i++) {
        bytes_text(json, i == 0 ? "[" : ",\n[");
        bytes_json(json, key, strlen(key));
        bytes_text(json, ",");
        bytes_json(json, value, strlen(value));
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
}

static void json_states(struct report *report)
{
    struct bytes *json = &report->json;

    bytes_text(json, ",\n\"states\":[");
    for (unsigned state = 0; state < 64; state++) {
        const char *name = kev_capture_term(report->capture, KEV_MEANS_STATE, state);

        bytes_text(json, state == 0 ? "" : ",");
        bytes_json(json, name, name == NULL ? 0 : strlen(name));
    }
    bytes_text(json, "]");
}

static void tables_write(struct report *report, const struct timeline *timeline)
{
    const struct kev_facts *facts = kev_capture_facts(report->capture);
    struct bytes *json = &report->json;

    bytes_text(json, "{\"version\":2");
    json_member(json, "file", facts->path);
    json_member(json, "board", facts->board);
    json_member(json, "processor", facts->processor);
    json_member(json, "release", facts->release);
    json_member(json, "image", facts->image);
    json_member(json, "build", facts->build_id);
    json_number(json, "cpus", facts->cpus);
    json_number(json, "hz", (int64_t)facts->cycles_per_second);
    json_number(json, "isKymo", facts->is_kymo);
    json_number(json, "skewCycles", (int64_t)facts->skew_cycles);
    json_number(json, "bytes", (int64_t)facts->bytes);
    json_number(json, "buffers", (int64_t)facts->buffers);
    json_number(json, "isWhole", facts->is_whole);
    json_number(json, "events", (int64_t)report->nevents);
    json_number(json, "first", report->first);
    json_number(json, "last", report->last);
    json_number(json, "lossCount", (int64_t)report->nlosses);
    json_number(json, "lostEvents", (int64_t)report->lost);
    json_member(json, "doubt", timeline->doubt);
    json_attributes(report);
    json_covered(report);
    json_states(report);
    bytes_text(json, ",\n\"losses\":[");
    bytes_put(json, report->losses.data, report->losses.used);
    bytes_text(json, "],\n");
    bytes_put(json, report->shares.data, report->shares.used);
    threads_json(report->threads, json);
    bytes_text(json, ",\n");
    events_json(report->events, json);
    bytes_text(json, ",\n");
    lanes_json(report->lanes, json);
    if (!report->levels) {
        bytes_text(json, ",\n");
        bytes_put(json, report->usage.data, report->usage.used);
    }
    bytes_text(json, "}\n");
    report->pack.failed |= report->losses.failed || report->shares.failed || report->usage.failed;
    pack_block(&report->pack, "tables", 1, json);
}

/* ---- items ------------------------------------------------------------------------- */

static void loss_take(struct report *report, const struct kev_item *item)
{
    struct bytes *json = &report->losses;
    const struct kev_loss *loss = item->loss;

    if (item->kind == KEV_ITEM_LOSS) {
        report->nlosses++;
        report->lost += loss->events;
    }
    if (report->nlosses > LOSSES_MOST) {
        return;
    }
    bytes_text(json, json->used == 0 ? "{\"scope\":" : ",\n{\"scope\":");
    bytes_number(json, item->kind == KEV_ITEM_SCOPE);
    json_number(json, "kind", loss->kind);
    json_number(json, "cpu", item->cpu);
    json_number(json, "at", item->ns);
    json_number(json, "from", loss->from_ns);
    json_number(json, "to", loss->to_ns);
    json_number(json, "events", (int64_t)loss->events);
    json_number(json, "buffers", (int64_t)loss->buffers);
    json_member(json, "class", loss->class_name);
    json_member(json, "reason", loss->reason);
    json_member(json, "text", loss->text);
    bytes_text(json, "}");
}

static bool event_take(struct report *report, const struct kev_item *item)
{
    uint32_t thread = threads_find(report->threads, item->pid, item->tid, item->ns);

    report->has_d |= item->class_id == TRACE_CLASS_D;
    if (report->nevents++ == 0) {
        report->first = item->ns;
    }
    report->last = item->ns > report->last || report->nevents == 1 ? item->ns : report->last;
    lanes_note(report->lanes, item, thread);
    return (report->levels || events_take(report->events, item, thread)) && !report->pack.failed;
}

static bool item_take(void *arg, const struct kev_item *item)
{
    struct report *report = arg;

    if (item->kind == KEV_ITEM_LOSS || item->kind == KEV_ITEM_SCOPE) {
        loss_take(report, item);
    } else if (item->kind == KEV_ITEM_EVENT) {
        return event_take(report, item);
    }
    return true;
}

/* Writes what a page with all events has besides them. */
static bool views_write(struct report *report, const struct timeline *timeline)
{
    if (!lanes_write(report->lanes, timeline) ||
        !usage_write(report->input, report->recover, report->threads, &report->pack,
                     &report->usage)) {
        return false;
    }
    if (report->has_d) {
        aggregate_write(report->input, &report->pack, &report->usage);
    }
    return true;
}

/* Returns the timeline's outcome; *good is false after a failure that it has no words for. */
static int blocks_write(struct report *report, bool *good)
{
    struct timeline *timeline = timeline_new_with(report->capture, kymo_progress,
                                                  (void *)"writing the page", item_take, report);
    int outcome;

    kymo_progress_end();
    *good = timeline != NULL && (timeline->outcome != KEV_FAILED || timeline->fault[0] != '\0');
    if (!*good || timeline->outcome == KEV_FAILED) {
        snprintf(report->fault, sizeof(report->fault), "%s", *good ? timeline->fault : "");
        timeline_free(timeline);
        return KEV_FAILED;
    }
    events_end(report->events);
    outcome = timeline->outcome;
    *good = report->levels ? levels_write(timeline, &report->pack, &report->shares)
                           : views_write(report, timeline);
    tables_write(report, timeline);
    timeline_free(timeline);
    return outcome;
}

/* ---- the command ------------------------------------------------------------------- */

static int out_of_memory(void)
{
    kymo_error("out of memory");
    return KYMO_FAILURE;
}

static int page_write(struct report *report)
{
    bool good;
    int outcome;

    output_reads(report->input);
    if (output_open(&report->output, report->path, report->force ? OUTPUT_FORCE : OUTPUT_NEW) !=
        0) {
        return KYMO_FAILURE;
    }
    report->pack.output = &report->output;
    pack_raw(&report->pack, report_page_head, (size_t)(report_page_head_end - report_page_head));
    outcome = blocks_write(report, &good);
    pack_raw(&report->pack, report_page_tail, (size_t)(report_page_tail_end - report_page_tail));
    if (outcome == KEV_FAILED && good) {
        kymo_error("%s", report->fault);
        output_abandon(&report->output);
        return KYMO_FAILURE;
    }
    if (!good || report->pack.failed) {
        if (report->output.error == 0) {
            output_abandon(&report->output);
            return out_of_memory();
        }
    }
    if (output_commit(&report->output) != 0) {
        return KYMO_FAILURE;
    }
    if (outcome == KEV_LOSSY) {
        kymo_report_fault(kev_capture_fault(report->capture));
    }
    return outcome == KEV_LOSSY && kev_capture_fault(report->capture)->code == KEV_FAULT_CUT_SHORT
               ? KYMO_FAILURE
               : KYMO_OK;
}

/* A stream can be read once, a page needs two passes: standard input becomes a copy of it. */
static bool stream_keep(void)
{
    static char bytes[65536];
    struct stat st;
    ssize_t n;
    int fd;

    if (fstat(STDIN_FILENO, &st) != 0 || S_ISREG(st.st_mode)) {
        return true;
    }
    fd = temporary_open();
    while (fd >= 0 && (n = read(STDIN_FILENO, bytes, sizeof(bytes))) != 0) {
        if (n < 0 ? errno != EINTR : write(fd, bytes, (size_t)n) != n) {
            return false;
        }
    }
    return fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO && close(fd) == 0;
}

static int report_capture(struct report *report)
{
    int outcome;

    if (strcmp(report->input, "-") == 0 && !stream_keep()) {
        kymo_error("standard input: cannot keep a copy of the stream: %s", strerror(errno));
        return KYMO_FAILURE;
    }

    report->capture = kev_capture_new();
    if (report->capture == NULL) {
        return out_of_memory();
    }
    kev_capture_set_recover(report->capture, report->recover);
    outcome = kev_capture_open(report->capture, report->input);
    if (outcome == KEV_COMPLETE) {
        outcome = kev_capture_learn(report->capture);
    }
    if (outcome == KEV_FAILED) {
        kymo_report_fault(kev_capture_fault(report->capture));
        return KYMO_FAILURE;
    }
    if (outcome == KEV_LOSSY) {
        kymo_error("%s: more processes and threads than the page can name", report->input);
    }
    report->levels = kev_capture_facts(report->capture)->bytes / 1000000 >= report->most;
    report->threads = threads_new(report->capture);
    report->events = events_new(report->capture, &report->pack);
    report->lanes = lanes_new(report->capture, &report->pack);
    if (report->lanes != NULL && report->nsymbols > 0 &&
        !lanes_symbols(report->lanes, report->symbols, report->nsymbols)) {
        return KYMO_FAILURE;
    }
    return report->threads == NULL || report->lanes == NULL || report->events == NULL
               ? out_of_memory()
               : page_write(report);
}

static int report_main(int argc, char **argv)
{
    struct report report = {.path = "report.html", .most = MOST_DEFAULT};
    int status = options_parse(&report, argc, argv);

    if (status >= 0) {
        return status;
    }
    status = report_capture(&report);
    lanes_free(report.lanes);
    events_free(report.events);
    threads_free(report.threads);
    kev_capture_free(report.capture);
    bytes_free(&report.losses);
    bytes_free(&report.json);
    bytes_free(&report.shares);
    bytes_free(&report.usage);
    pack_free(&report.pack);
    return status;
}

const struct kymo_command kymo_report_command = {
    .name = "report",
    .summary = "write a capture as a page of HTML with a timeline",
    .run = report_main,
    .help = report_help,
};
