/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The limits of a capture: which of its events were lost, or not recorded, and which results are
 * worthless for it. See diff.h.
 */
#include <stdio.h>
#include <string.h>

#include "host/diff/diff.h"
#include "trace/slot.h"

const char *const diff_doubt_names[DOUBTS] = {"loss", "gate", "pauses", "unknown", "noise"};

static void doubt_note(struct diff_capture *capture, enum diff_doubt doubt, const char *text)
{
    if (capture->doubt[doubt][0] == '\0') {
        snprintf(capture->doubt[doubt], DIFF_TEXT, "%s", text);
    }
}

/* Classes of slots that a name of the header's filters stands for. */
static void filter_note(struct diff_capture *capture, const char *text)
{
    static const struct {
        const char *word;
        int classes[3];
    } filters[] = {
        {" KERCALL", {TRACE_CLASS_KER_CALL, TRACE_CLASS_KYMO_CALL}},
        {" INT", {TRACE_CLASS_INT}},
        {" COMM", {TRACE_CLASS_COMM}},
        {" SYSTEM", {TRACE_CLASS_SYSTEM}},
    };

    if (strncmp(text, "all classes without", 19) != 0) {
        return;
    }
    capture->no_threads |= strstr(text, " THREAD") != NULL;
    for (unsigned i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        for (unsigned n = 0; n < 3 && filters[i].classes[n] > 0; n++) {
            capture->absent[filters[i].classes[n]] |= strstr(text, filters[i].word) != NULL;
        }
    }
}

void doubt_scope(struct diff_capture *capture, const struct kev_loss *scope)
{
    switch (scope->kind) {
    case KEV_SCOPE_FILTER:
        filter_note(capture, scope->text);
        if (strcmp(scope->text, "set by applications") == 0 ||
            strncmp(scope->text, "limits to processes", 19) == 0) {
            doubt_note(capture, DOUBT_UNKNOWN, "applications set the filters");
        }
        break;
    case KEV_SCOPE_GATE:
        doubt_note(capture, DOUBT_GATE, "a D program decided what was recorded");
        break;
    case KEV_SCOPE_PAUSES:
        doubt_note(capture, DOUBT_PAUSES, "applications started and stopped the recording");
        break;
    case KEV_SCOPE_UNKNOWN:
        doubt_note(capture, DOUBT_UNKNOWN, "the header does not say what was recorded");
        break;
    case KEV_SCOPE_FOREIGN:
        doubt_note(capture, DOUBT_UNKNOWN, "another kernel's: missing events go unnoticed");
        break;
    default: /* rings and cuts begin later */
        break;
    }
}

void doubt_loss(struct diff_capture *capture, const struct kev_loss *loss)
{
    if (loss->class_id < 0 || loss->class_id >= DIFF_CLASSES) {
        capture->lost_any = true;
    } else {
        capture->lost[loss->class_id] = true;
    }
    doubt_note(capture, DOUBT_LOSS, loss->text);
}

/* ---- judging ------------------------------------------------------------------------ */

/* Why a capture says nothing of a series; NULL: it does. */
static const char *capture_doubt(const struct diff *diff, const struct diff_capture *capture,
                                 const struct diff_series *series)
{
    unsigned needs[DIFF_KINDS][2] = {{TRACE_CLASS_PR_TH, TRACE_CLASS_PR_TH},
                                     {TRACE_CLASS_COMM, TRACE_CLASS_PR_TH},
                                     {TRACE_CLASS_INT, TRACE_CLASS_INT},
                                     {series->class_id, series->class_id}};
    bool lost = capture->lost_any;

    if (capture->no_threads) { /* the timeline covers nothing then */
        return "THREAD events were not recorded";
    }
    for (unsigned i = 0; i < 2; i++) {
        unsigned class_id = needs[series->kind][i];

        lost |= capture->lost[class_id];
        if (capture->absent[class_id]) {
            return "events that it needs were not recorded";
        }
    }
    if (lost && !diff->accept[DOUBT_LOSS]) {
        return capture->doubt[DOUBT_LOSS];
    }
    for (unsigned i = DOUBT_GATE; i < DOUBTS; i++) {
        if (capture->doubt[i][0] != '\0' && !diff->accept[i]) {
            return capture->doubt[i];
        }
    }
    if (100 * capture->covered < DIFF_COVERED * capture->seconds) {
        return "most of its time is not covered";
    }
    return capture->covered > 0 ? NULL : "nothing in it is covered";
}

/* A thread is missing on a side, of which not all threads have names: it may be one of those. */
static bool is_perhaps_nameless(const struct diff *diff, const struct diff_result *result)
{
    const struct diff_series *series = result->series;
    bool nameless = false;

    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            nameless |= series->part[side].captures == 0 && diff->side[side].captures[i].nameless;
        }
    }
    return series->kind == DIFF_CPU && (nameless || strncmp(series->name, "?/", 2) == 0);
}

void doubt_judge(const struct diff *diff, struct diff_result *result)
{
    if (is_perhaps_nameless(diff, result)) {
        result->verdict = DIFF_UNDECIDED;
        snprintf(result->reason, sizeof(result->reason),
                 "a capture does not name all processes of its threads");
    }
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            const struct diff_capture *capture = &diff->side[side].captures[i];
            const char *doubt = capture_doubt(diff, capture, result->series);

            if (doubt != NULL) {
                result->verdict = DIFF_UNDECIDED;
                snprintf(result->reason, sizeof(result->reason), "%c: %.80s: %.160s", "AB"[side],
                         capture -> path, doubt);
                return;
            }
        }
    }
}
