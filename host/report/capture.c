/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as blocks: opening it, the passes over it, and the tables that name the numbers that
 * the blocks hold. For `kymo report`, which writes them into a page, and `kymo view`, which keeps
 * them and the timeline. One thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/reader/kev.h"
#include "host/report/report.h"
#include "host/temporary.h"
#include "host/verify/verify.h"
#include "trace/slot.h"

#define LOSSES_MOST 4096
#define SPANS_MOST 4096
#define CPUS_MOST 64

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

/* All members but those that depend on the window shown. */
static void report_tables_begin(struct report *report)
{
    const struct kev_facts *facts = kev_capture_facts(report->capture);
    struct bytes *json = &report->json;

    bytes_text(json, "{\"version\":3");
    json_number(json, "hasMarks", report->pack.marks != NULL);
    json_member(json, "file", report->name == NULL ? facts->path : report->name);
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
    json_number(json, "events", (int64_t)report->count.events);
    json_number(json, "first", report->first);
    json_number(json, "last", report->last);
    json_number(json, "lossCount", (int64_t)report->nlosses);
    json_number(json, "lostEvents", (int64_t)report->lost);
    json_member(json, "doubt", report->timeline->doubt);
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
    if (report->usage.used > 0) {
        bytes_text(json, ",\n");
        bytes_put(json, report->usage.data, report->usage.used);
    }
    report->pack.failed |=
        report->losses.failed || report->shares.failed || report->usage.failed || json->failed;
}

void report_tables(const struct report *report, struct pack *pack, const char *members)
{
    struct bytes json = {0};

    bytes_put(&json, report->json.data, report->json.used);
    bytes_text(&json, members);
    bytes_text(&json, ",\n");
    lanes_json(report->lanes, &json);
    bytes_text(&json, "}\n");
    pack_block(pack, "tables", 1, &json);
    bytes_free(&json);
}

/* ---- items ------------------------------------------------------------------------- */

static void report_loss_take(struct report *report, const struct kev_item *item)
{
    struct bytes *json = &report->losses;
    const struct kev_loss *loss = item->loss;

    if (report->grows && loss->kind == KEV_LOSS_CUT_SHORT) {
        return; /* there is more to come */
    }
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

static bool report_event_take(struct report *report, const struct kev_item *item)
{
    uint32_t thread = threads_find(report->threads, item->pid, item->tid, item->ns);

    report->has_d |= item->class_id == TRACE_CLASS_D;
    count_event(&report->count, item->class_id, (item->flags & KEV_FLAG_INJECTED) != 0);
    if (report->nevents++ == 0) {
        report->first = item->ns;
    }
    report->last = item->ns > report->last || report->nevents == 1 ? item->ns : report->last;
    lanes_note(report->lanes, item, thread);
    return (!report->has_events || events_take(report->events, item, thread)) &&
           !report->pack.failed;
}

static bool report_item_take(void *arg, const struct kev_item *item)
{
    struct report *report = arg;

    if (item->kind == KEV_ITEM_LOSS || item->kind == KEV_ITEM_SCOPE) {
        report_loss_take(report, item);
    } else if (item->kind == KEV_ITEM_EVENT) {
        return report_event_take(report, item);
    }
    return true;
}

static void aggregations_write(struct report *report)
{
    char path[32];
    struct aggregate_source source = {
        .path = report->input, .descriptor = -1, .grows = report->grows};

    if (report->by_descriptor) { /* the file may have no name any more */
        snprintf(path, sizeof(path), "/proc/self/fd/%d", report->descriptor);
        source.path = path;
        source.descriptor = report->descriptor;
    }
    aggregate_write(&source, &report->pack, &report->usage);
}

/* Writes the data that the views need besides the events. */
static bool views_write(struct report *report)
{
    if (!usage_write(report, &report->pack, &report->usage)) {
        return false;
    }
    if (report->has_d && report->memory == NULL) {
        aggregations_write(report);
    }
    return true;
}

/* Runs after the events. Sets report->levels of a report that is kept. */
static bool rest_write(struct report *report)
{
    const struct report_window whole = window_whole(report->timeline);
    bool good = true;

    if (report->is_kept) {
        report->levels = report->nevents > report->whole_most;
        report->reach = reach_new(report->timeline);
        good = report->reach != NULL;
    } else if (report->has_events) {
        good = lanes_write(report->lanes, report->timeline, &whole);
    }
    if (good && report->levels) {
        good = levels_write(report->timeline, &report->pack, &report->shares);
    }
    good =
        good && (report->has_events ? views_write(report) : usage_summary(report, &report->usage));
    return good && findings_write(report, &report->usage);
}

int report_blocks(struct report *report, bool *good)
{
    struct timeline *timeline = timeline_new_with(report->capture, report->progress,
                                                  report->progress_arg, report_item_take, report);

    report->timeline = timeline;
    *good = timeline != NULL && (timeline->outcome != KEV_FAILED || timeline->fault[0] != '\0');
    if (!*good || timeline->outcome == KEV_FAILED) {
        snprintf(report->fault, sizeof(report->fault), "%s", *good ? timeline->fault : "");
        return KEV_FAILED;
    }
    events_end(report->events);
    *good = rest_write(report);
    report_tables_begin(report);
    return timeline->outcome;
}

/* ---- opening and closing ----------------------------------------------------------- */

static int report_no_memory(void)
{
    kymo_error("out of memory");
    return KYMO_FAILURE;
}

static bool all_written(int fd, const char *bytes, ssize_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, (size_t)len);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? n : 0;
    }
    return true;
}

/* A stream can be read once, a page needs two passes: standard input becomes a copy of it. What is
 * no capture is copied no further than shows that; recover: its beginning may be damaged. */
static bool stream_keep(bool recover)
{
    bool begun = recover;
    static char bytes[65536];
    struct stat st;
    ssize_t n;
    int fd;

    if (fstat(STDIN_FILENO, &st) != 0 || S_ISREG(st.st_mode)) {
        return true;
    }
    fd = temporary_open();
    while (fd >= 0 && (n = read(STDIN_FILENO, bytes, sizeof(bytes))) != 0) {
        if (n < 0 ? errno != EINTR : !all_written(fd, bytes, n)) {
            return false;
        }
        if (n > 0 && !begun && !kev_may_begin(bytes, (size_t)n)) {
            break;
        }
        begun |= n > 0;
    }
    return fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO && close(fd) == 0;
}

bool report_input_keep(const char *input, bool recover)
{
    if (strcmp(input, "-") == 0 && !stream_keep(recover)) {
        kymo_error("standard input: cannot keep a copy of the stream: %s", strerror(errno));
        return false;
    }
    return true;
}

int report_open(struct report *report)
{
    int outcome;

    report->capture = kev_capture_new();
    if (report->capture == NULL) {
        return report_no_memory();
    }
    kev_capture_set_recover(report->capture, report->recover);
    outcome = report->by_descriptor
                  ? kev_capture_open_descriptor(report->capture, report->descriptor, report->input)
              : report->memory == NULL
                  ? kev_capture_open(report->capture, report->input)
                  : kev_capture_open_memory(report->capture, report->memory, report->memory_bytes,
                                            report->input);
    if (outcome == KEV_COMPLETE) {
        outcome = kev_capture_learn(report->capture);
    }
    if (outcome == KEV_FAILED) {
        if (!report->grows) {
            verify_refuse_fault(kev_capture_fault(report->capture));
        }
        return KYMO_FAILURE;
    }
    if (outcome == KEV_LOSSY) {
        kymo_error("%s: more processes and threads than the page can name", report->input);
    }
    report->threads = threads_new(report->capture);
    report->events = events_new(report->capture, &report->pack);
    report->lanes = lanes_new(report->capture, &report->pack);
    if (report->lanes != NULL && report->nsymbols > 0 &&
        !lanes_symbols(report->lanes, report->symbols, report->nsymbols)) {
        if (report->no_symbols == NULL) {
            return KYMO_FAILURE;
        }
        *report->no_symbols = true;
    }
    return report->threads == NULL || report->lanes == NULL || report->events == NULL
               ? report_no_memory()
               : KYMO_OK;
}

void report_close(struct report *report)
{
    reach_free(report->reach);
    timeline_free(report->timeline);
    lanes_free(report->lanes);
    report->pack.marks = NULL; /* they are the events' */
    events_free(report->events);
    threads_free(report->threads);
    kev_capture_free(report->capture);
    bytes_free(&report->losses);
    bytes_free(&report->json);
    bytes_free(&report->shares);
    bytes_free(&report->usage);
    pack_free(&report->pack);
}
