/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo verify: whether captures are whole, by the judge through which all commands end (verify.h).
 * Reads each file once; one that is damaged once more, with recovery, for what else is wrong and
 * for what of it is valid. Memory: libkev's, which grows with the number of buffers only.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kev/inside.h"
#include "host/kymo.h"
#include "host/report/report.h"
#include "host/verify/verify.h"
#include "host/verify/show.h"

static const char verify_help[] =
    "Usage: kymo verify [--json] FILE...\n"
    "\n"
    "Tells whether captures are whole: sums, missing buffers, the end, what was not\n"
    "to be recorded, and what was lost, by reason and CPU. Each other command that\n"
    "reads a capture says the same of it, with the same exit status.\n"
    "FILE - is standard input.\n"
    "\n"
    "  --json       for programs: one JSON object a line, one for each file\n"
    "  -h, --help   print this text\n"
    "\n"
    "Exit status: 0 all are whole, 1 one is not, 2 usage error.\n";

enum { OPT_JSON = 256 };

static const struct option verify_options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* ---- one file ---------------------------------------------------------------------- */

static void loss_count(struct verify_result *result, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;
    unsigned reason = 1, class = loss->class_id < 0 ? VERIFY_CLASSES - 1 : (unsigned)loss->class_id;

    if (loss->kind != KEV_LOSS_COUNTED || item->cpu < 0 || item->cpu >= KEV_CPUS) {
        return;
    }
    while (reason < VERIFY_REASONS && (record_drop_reason(reason) == NULL ||
                                       strcmp(record_drop_reason(reason), loss->reason) != 0)) {
        reason++;
    }
    result->counts->lost[item->cpu][class][reason % VERIFY_REASONS] += loss->events;
    result->lost += loss->events;
}

static bool scope_keep(struct verify_result *result, const struct kev_item *item)
{
    struct verify_scope *scope;

    if (result->nscopes == VERIFY_SCOPES) {
        return true;
    }
    scope = &result->scopes[result->nscopes];
    *scope = (struct verify_scope){item->loss->kind, item->cpu, strdup(item->loss->text)};
    result->nscopes += scope->text != NULL;
    return scope->text != NULL;
}

static void result_clear(struct verify_result *result)
{
    for (unsigned i = 0; i < result->nscopes; i++) {
        free(result->scopes[i].text);
    }
    result->nscopes = 0;
    result->lost = 0;
    memset(result->counts, 0, sizeof(*result->counts));
}

/* Reads all of it. Returns kev_capture_next()'s last outcome. */
static int capture_read(struct verify_result *result, struct kev_capture *capture)
{
    const struct kev_item *item;
    uint64_t n = 0;
    int outcome;

    while ((outcome = kev_capture_next(capture, &item)) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_LOSS) {
            loss_count(result, item);
        } else if (item->kind == KEV_ITEM_SCOPE) {
            result->no_memory |= !scope_keep(result, item);
        }
        if (++n % KEV_PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"verifying", item->offset, kev_capture_facts(capture)->bytes);
        }
    }
    kymo_progress_end();
    return outcome;
}

static enum verify_kind kind_of_fault(const struct kev_fault *fault)
{
    return fault->code == KEV_FAULT_CUT_SHORT ? VERIFY_CUT_SHORT
           : fault->code == KEV_FAULT_DAMAGED ? VERIFY_DAMAGED
                                              : VERIFY_UNREADABLE;
}

/* The verdict on a capture of which all could be read. */
static enum verify_kind kind_of_end(const struct kev *kev)
{
    const struct kev_error *ended = kev_ended_by(kev);
    const struct kev_info *info = kev_info(kev);

    return ended == NULL                                   ? VERIFY_WHOLE
           : ended->incomplete                             ? VERIFY_CUT_SHORT
           : info->nmissing > 0 || info->missing_bytes > 0 ? VERIFY_INCOMPLETE
           : info->next_capture != 0                       ? VERIFY_FOLLOWED
                                                           : VERIFY_DAMAGED;
}

/* Reads the valid part of a damaged capture, for what else is wrong. */
static void valid_part_read(struct verify_result *result)
{
    struct kev_capture *capture = kev_capture_new();

    result_clear(result);
    if (capture == NULL || kev_capture_set_recover(capture, 1) != KEV_COMPLETE ||
        kev_capture_open(capture, result->path) == KEV_FAILED) {
        kev_capture_free(capture);
        return;
    }
    if (capture_read(result, capture) != KEV_FAILED) {
        verify_end_capture(capture, KEV_COMPLETE, false);
    }
    kev_capture_free(result->capture);
    result->capture = capture;
}

/* Returns the exit status. */
static int file_verify(struct verify_result *result)
{
    int status, outcome;

    result->capture = kev_capture_new();
    if (result->capture == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    outcome = kev_capture_open(result->capture, result->path);
    kymo_progress_end();
    if (outcome != KEV_FAILED) {
        outcome = capture_read(result, result->capture);
    }
    status = verify_end_capture(result->capture, outcome, false);
    if (outcome == KEV_FAILED) {
        const struct kev_fault *fault = kev_capture_fault(result->capture);

        result->kind = kind_of_fault(fault);
        verify_fault_text(fault, VERIFY_RECOVER, result->message, sizeof(result->message));
        if (fault->recoverable) {
            valid_part_read(result);
        }
    } else {
        const struct kev *kev = capture_inside(result->capture).kev;

        result->kind = kind_of_end(kev);
        if (result->kind != VERIFY_WHOLE) {
            verify_error_text(kev_ended_by(kev), VERIFY_RECOVER, result->message,
                              sizeof(result->message));
        }
    }
    return status;
}

static int file_take(const char *path, bool json)
{
    struct verify_result result = {.path = path};
    int status;

    result.counts = calloc(1, sizeof(*result.counts));
    if (result.counts == NULL || !report_input_keep(path, true)) {
        if (result.counts == NULL) {
            kymo_error("out of memory");
        }
        free(result.counts);
        return KYMO_FAILURE;
    }
    status = file_verify(&result);
    if (result.no_memory) {
        kymo_error("out of memory");
        status = KYMO_FAILURE;
    } else if (json) {
        verify_show_json(&result);
    } else {
        verify_show_text(&result);
    }
    result_clear(&result);
    kev_capture_free(result.capture);
    free(result.counts);
    return status;
}

/* ---- the command ------------------------------------------------------------------- */

static int verify_main(int argc, char **argv)
{
    int option, status = KYMO_OK;
    bool json = false;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", verify_options, NULL)) != -1) {
        if (option == 'h') {
            return kymo_help(&kymo_verify_command);
        }
        if (option != OPT_JSON) {
            return kymo_bad_option("verify", verify_options, argc, argv, option);
        }
        json = true;
    }
    if (optind == argc) {
        return kymo_usage("verify", "verify: which captures?");
    }
    for (int i = optind; i < argc; i++) {
        int its = file_take(argv[i], json);

        status = status == KYMO_OK ? its : status;
        fflush(stdout);
    }
    return kymo_stdout_end(status);
}

const struct kymo_command kymo_verify_command = {
    .name = "verify",
    .summary = "tell whether captures are whole",
    .run = verify_main,
    .help = verify_help,
};
