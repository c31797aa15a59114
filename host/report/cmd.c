/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo report: a capture as one page of HTML that any browser opens offline. The head and tail of
 * the page are part of the command (page.S); between them stand the blocks. Man page
 * docs/man/kymo-report.1, use docs/guide/report.md, what the page holds
 * docs/reference/report-data.md.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kymo.h"
#include "host/output.h"
#include "host/report/report.h"
#include "host/verify/verify.h"

#define MOST_DEFAULT 400 /* MB: about 20 million events, a page of 120 MB */
#define MOST_LIMIT 1000000

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

struct page {
    struct report report;
    const char *path;
    bool force;
    unsigned long most; /* megabytes */
    struct output output;
};

/* 0, or -1: it is no number. */
static int report_most_parse(struct page *page)
{
    char *end;
    unsigned long most = strtoul(optarg, &end, 10);

    page->most = most;
    return optarg[0] < '0' || optarg[0] > '9' || *end != '\0' || most > MOST_LIMIT ? -1 : 0;
}

/* Returns the exit status, -1 to continue. */
static int report_options_parse(struct page *page, int argc, char **argv)
{
    struct report *report = &page->report;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", report_options, NULL)) != -1) {
        switch (option) {
        case 'h':
            return kymo_help(&kymo_report_command);
        case 'o':
            page->path = optarg;
            break;
        case OPT_FORCE:
            page->force = true;
            break;
        case OPT_RECOVER:
            report->recover = true;
            break;
        case OPT_MOST:
            if (report_most_parse(page) != 0) {
                return kymo_usage("report", "report: --most: a number of megabytes, from 0 to %d",
                                  MOST_LIMIT);
            }
            break;
        case OPT_SYMBOLS:
            if (report->nsymbols == REPORT_SYMBOLS) {
                return kymo_usage("report", "report: --symbols: at most %d times", REPORT_SYMBOLS);
            }
            report->symbols[report->nsymbols++] = optarg;
            break;
        default:
            return kymo_bad_option("report", report_options, argc, argv, option);
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

/* ---- the command ------------------------------------------------------------------- */

static int out_of_memory(void)
{
    kymo_error("out of memory");
    return KYMO_FAILURE;
}

static int page_write(struct page *page)
{
    struct report *report = &page->report;
    bool good;
    int outcome;

    output_reads(report->input);
    if (output_open(&page->output, page->path, page->force ? OUTPUT_FORCE : OUTPUT_NEW) != 0) {
        return KYMO_FAILURE;
    }
    report->pack.output = &page->output;
    pack_raw(&report->pack, report_page_head, (size_t)(report_page_head_end - report_page_head));
    outcome = report_blocks(report, &good);
    kymo_progress_end();
    if (good && outcome != KEV_FAILED) {
        report_tables(report, &report->pack, "");
    }
    pack_raw(&report->pack, report_page_tail, (size_t)(report_page_tail_end - report_page_tail));
    if (outcome == KEV_FAILED && good) {
        kymo_error("%s", report->fault);
        output_abandon(&page->output);
        return KYMO_FAILURE;
    }
    if (!good || report->pack.failed) {
        if (page->output.error == 0) {
            output_abandon(&page->output);
            if (report->fault[0] != '\0') {
                kymo_error("%s", report->fault);
                return KYMO_FAILURE;
            }
            return out_of_memory();
        }
    }
    if (output_commit(&page->output) != 0) {
        return KYMO_FAILURE;
    }
    return verify_end_capture(report->capture, outcome, true);
}

static int report_main(int argc, char **argv)
{
    struct page page = {.path = "report.html", .most = MOST_DEFAULT};
    struct report *report = &page.report;
    int status = report_options_parse(&page, argc, argv);

    if (status >= 0) {
        return status;
    }
    if (!report_input_keep(report->input, report->recover)) {
        return KYMO_FAILURE;
    }
    report->progress = kymo_progress;
    report->progress_arg = (void *)"writing the page";
    status = report_open(report);
    if (status == KYMO_OK) {
        report->levels = kev_capture_facts(report->capture)->bytes / 1000000 >= page.most;
        report->has_events = !report->levels;
        status = page_write(&page);
    }
    report_close(report);
    return status;
}

const struct kymo_command kymo_report_command = {
    .name = "report",
    .summary = "write a capture as a page of HTML with a timeline",
    .run = report_main,
    .help = report_help,
};
