/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the findings of `kymo diagnose` as a member of a page's tables
 * (docs/reference/report-data.md). The capture is opened anew, since a diagnosis takes all of its
 * items; memory is that of the flow. Proof: test/host/report/findings.py.
 */
#include <stdio.h>
#include <string.h>

#include "host/diagnose/diagnose.h"
#include "host/kymo.h"
#include "host/report/report.h"
#include "host/verify/verify.h"

static void report_findings_text(struct bytes *json, const char *name, const char *text)
{
    bytes_text(json, ",\"");
    bytes_text(json, name);
    bytes_text(json, "\":");
    bytes_json(json, text, strlen(text));
}

static void report_findings_number(struct bytes *json, const char *name, int64_t number)
{
    bytes_text(json, ",\"");
    bytes_text(json, name);
    bytes_text(json, "\":");
    bytes_number(json, number);
}

static void report_findings_one(const struct finding *finding, struct bytes *json)
{
    bytes_text(json, "{\"kind\":");
    bytes_number(json, finding->kind);
    report_findings_number(json, "count", (int64_t)finding->count);
    report_findings_number(json, "from", finding->from);
    report_findings_number(json, "to", finding->to);
    report_findings_number(json, "cpu", finding->cpu);
    report_findings_number(json, "pid", finding->pid);
    report_findings_number(json, "tid", finding->tid);
    report_findings_text(json, "text", finding->text);
    bytes_text(json, "}");
}

static void report_findings_json(const struct diagnosis_result *result, struct bytes *json)
{
    bytes_text(json, ",\n\"findings\":{\"kinds\":[");
    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        bytes_text(json, kind == 0 ? "[" : ",[");
        bytes_json(json, finding_name(kind), strlen(finding_name(kind)));
        bytes_text(json, ",");
        bytes_json(json, finding_title(kind), strlen(finding_title(kind)));
        bytes_text(json, ",");
        bytes_json(json, finding_confidence(kind), strlen(finding_confidence(kind)));
        bytes_text(json, "]");
    }
    bytes_text(json, "],\n\"list\":[");
    for (unsigned i = 0; i < result->count; i++) {
        bytes_text(json, i == 0 ? "" : ",\n");
        report_findings_one(&result->findings[i], json);
    }
    bytes_text(json, "],\n\"untold\":[");
    for (unsigned kind = 0, n = 0; kind < FINDINGS; kind++) {
        if (result->untold[kind].reason[0] != '\0') {
            bytes_text(json, n++ == 0 ? "{\"kind\":" : ",\n{\"kind\":");
            bytes_number(json, kind);
            report_findings_text(json, "reason", result->untold[kind].reason);
            report_findings_text(json, "remedy", result->untold[kind].remedy);
            bytes_text(json, "}");
        }
    }
    bytes_text(json, "]");
    report_findings_text(json, "fault", result->fault);
    bytes_text(json, "}");
}

static int report_findings_open(const struct report *report, struct kev_capture *capture)
{
    kev_capture_set_recover(capture, report->recover);
    if (report->by_descriptor) {
        return kev_capture_open_descriptor(capture, report->descriptor, report->input);
    }
    return report->memory == NULL ? kev_capture_open(capture, report->input)
                                  : kev_capture_open_memory(capture, report->memory,
                                                            report->memory_bytes, report->input);
}

bool findings_write(struct report *report, struct bytes *json)
{
    struct kev_capture *capture;
    struct diagnosis_result result = {.count = 0};
    bool good;

    if (report->grows) {
        return true; /* what lasts until the end is judged at the end */
    }
    capture = kymo_memory(kev_capture_new());
    if (report_findings_open(report, capture) < 0) {
        verify_fault_text(kev_capture_fault(capture), VERIFY_CUT, result.fault,
                          sizeof(result.fault));
    } else {
        diagnose_run(capture, UINT32_MAX, &result);
    }
    good = kev_capture_fault(capture)->code != KEV_FAULT_SYSTEM;
    if (!good) { /* the file was readable a moment ago */
        snprintf(report->fault, sizeof(report->fault), "%s", kev_capture_fault(capture)->text);
    }
    report_findings_json(&result, json);
    diagnose_free(&result);
    kev_capture_free(capture);
    return good;
}
