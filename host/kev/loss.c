/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses as items, before the event after them: events that DROPPED slots count, missing buffers,
 * bytes that recovering passed over, an end that comes too early. Each says when the missing events
 * were made, by the stretches over which their CPU is covered (host/reader/cover.c). A selection
 * has only the losses that may be of its events. Proof: test/host/kev/kev_test.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/trace.h"
#include "host/kev/capture.h"
#include "trace/slot.h"

/* ---- when a CPU is covered --------------------------------------------------------- */

static bool has_pauses(const struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);

    for (unsigned i = 0; i < info->nattrs; i++) {
        if (strncmp(info->attrs[i].key, "FILTER_", 7) == 0 &&
            strcmp(info->attrs[i].value, "applications start and stop") == 0) {
            return true;
        }
    }
    return false;
}

bool loss_cover(struct kev_capture *capture)
{
    struct kev_cover cover = {.classes = UINT32_MAX, .seams = has_pauses(capture->kev)};

    for (unsigned i = 0; kev_info(capture->kev)->kymo && i < KEV_CPUS; i++) {
        struct capture_cpu *cpu = &capture->cpus[i];

        cpu->nspans = kev_covered(capture->kev, i, &cover, &cpu->spans);
        if (cpu->nspans < 0) {
            return false;
        }
    }
    loss_rewind(capture);
    return true;
}

void loss_rewind(struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);
    unsigned at = 0;

    for (unsigned i = 0; i < KEV_CPUS; i++) {
        struct capture_cpu *cpu = &capture->cpus[i];

        cpu->head = cpu->passed = false;
        cpu->row = at;
        while (at < info->nmissing && info->missing[at].cpu == i) {
            at++;
        }
        cpu->rows = at;
    }
    capture->losses = capture->lost = 0;
    capture->cut_short = capture->uncounted = capture->lacks = false;
    capture->first_loss[0] = '\0';
    capture->told = 0;
}

/* When events that a CPU lost were made: in front of its stretch that `time` is in, which begins
 * with the buffer that reports them, or after that stretch. */
static struct kev_span span_missing(const struct capture_cpu *cpu, uint64_t time, bool front)
{
    struct kev_span missing = {0, front ? time : UINT64_MAX};
    long at = 0;

    while (at < cpu->nspans && cpu->spans[at].from <= time) {
        at++;
    }
    at -= front;
    if (at > 0) {
        missing.from = cpu->spans[at - 1].to;
    }
    if (at >= 0 && at < cpu->nspans) {
        missing.to = cpu->spans[at].from;
    }
    if (missing.from > missing.to) { /* damaged times: nothing is known */
        missing = (struct kev_span){0, UINT64_MAX};
    }
    return missing;
}

/* ---- one loss ---------------------------------------------------------------------- */

static bool in_window(const struct kev_capture *capture, struct kev_span span)
{
    const struct kymo_select *select = &capture->select;

    return span.to >= select->first && (span.from < select->end || select->end == UINT64_MAX);
}

static bool cpu_wanted(const struct kev_capture *capture, unsigned cpu)
{
    return capture->select.cpus == 0 || (capture->select.cpus >> cpu & 1) != 0;
}

static void bounds_fill(struct kev_capture *capture, struct kev_span span)
{
    struct kev_loss *loss = &capture->loss;

    loss->from_ns = span.from == 0 ? KEV_EVER : capture_ns(capture, span.from);
    loss->to_ns = span.to == UINT64_MAX ? KEV_NEVER : capture_ns(capture, span.to);
}

/* The loss is in the item; its text is written by then. */
static bool loss_give(struct kev_capture *capture, int cpu, uint64_t cycles, uint64_t offset)
{
    capture->loss.text = capture->loss_text;
    item_loss(capture, cpu, cycles, offset);
    if (capture->losses++ == 0) {
        snprintf(capture->first_loss, sizeof(capture->first_loss), "%s", capture->loss_text);
    }
    capture->lost += capture->loss.events;
    capture->uncounted |= capture->loss.kind != KEV_LOSS_COUNTED;
    capture->lacks |=
        capture->loss.kind == KEV_LOSS_MISSING || capture->loss.kind == KEV_LOSS_CUT_SHORT;
    return true;
}

static bool dropped_give(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;
    struct capture_cpu *cpu = &capture->cpus[event->cpu];
    uint32_t reason = kev_word(event, 0) >> 8, class = kev_word(event, 0) & 0xff;
    uint64_t events = kev_word(event, 1);
    bool any = class == 0 || class >= KEV_CLASSES;
    struct kev_span span = span_missing(cpu, event->time, cpu->head);
    const char *why = record_drop_reason(reason);

    if (event->number != TRACE_CONTROL_DROPPED || events == 0 || reason == KYMO_DROP_RECYCLED ||
        !cpu_wanted(capture, event->cpu) || (!any && (capture->wanted >> class & 1) == 0) ||
        !in_window(capture, span)) {
        return false;
    }
    snprintf(capture->class_text, sizeof(capture->class_text), "%s", kev_class_name(class));
    capture->loss = (struct kev_loss){.kind = KEV_LOSS_COUNTED,
                                      .class_id = any ? -1 : (int32_t) class,
                                      .events = events,
                                      .class_name = any ? NULL : capture->class_text,
                                      .reason = why == NULL ? "unknown" : why};
    bounds_fill(capture, span);
    snprintf(capture->loss_text, sizeof(capture->loss_text),
             "%" PRIu64 " events of %s%s were lost on CPU %u: %s", events,
             any ? "any class" : "class ", any ? "" : capture->class_text, event->cpu,
             capture->loss.reason);
    return loss_give(capture, event->cpu, event->time, event->offset);
}

/* Buffers that are missing and that no DROPPED slot counts. */
static bool row_give(struct kev_capture *capture, const struct kev_missing *row, uint64_t cycles)
{
    struct kev_span span = span_missing(&capture->cpus[row->cpu], cycles, cycles != UINT64_MAX);

    if (!cpu_wanted(capture, row->cpu) || !in_window(capture, span)) {
        return false;
    }
    capture->loss =
        (struct kev_loss){.kind = KEV_LOSS_MISSING, .class_id = -1, .buffers = row->buffers};
    bounds_fill(capture, span);
    char names[48] = "before here"; /* they are here, but elsewhere */

    if (row->first <= row->last) {
        snprintf(names, sizeof(names), "%" PRIu32 " to %" PRIu32, row->first, row->last);
    }
    snprintf(capture->loss_text, sizeof(capture->loss_text),
             "%" PRIu32 " of the buffers %s of CPU %u are missing, %s", row->buffers, names,
             row->cpu,
             row->written ? "but were in the capture when it was written"
                          : "and no DROPPED accounts for them");
    return loss_give(capture, (int)row->cpu, cycles == UINT64_MAX ? capture->last : cycles,
                     row->offset);
}

static bool gap_give(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;
    struct kev_span span = {0, event->time};

    if (!event->gap || !cpu_wanted(capture, event->cpu) || !in_window(capture, span)) {
        return false;
    }
    capture->loss = (struct kev_loss){.kind = KEV_LOSS_DAMAGED, .class_id = -1};
    bounds_fill(capture, span);
    snprintf(capture->loss_text, sizeof(capture->loss_text),
             "slots of CPU %u right before byte %" PRIu64 " are damaged and were passed over",
             event->cpu, event->offset);
    return loss_give(capture, event->cpu, event->time, event->offset);
}

/* ---- losses of an event ------------------------------------------------------------ */

static bool kev_loss_is_control(const struct kev_capture *capture, unsigned number)
{
    return capture->event.class == TRACE_CLASS_CONTROL && capture->event.number == number;
}

void loss_follow(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;
    struct capture_cpu *cpu = &capture->cpus[event->cpu];
    bool head = kev_loss_is_control(capture, TRACE_CONTROL_TIME) ||
                kev_loss_is_control(capture, TRACE_CONTROL_DROPPED);

    if (kev_loss_is_control(capture, TRACE_CONTROL_BUFFER)) {
        cpu->head = true;
    } else if (!head) {
        cpu->head = false;
        cpu->passed |= event->time >= capture->select.end && capture->select.end != UINT64_MAX;
    }
}

bool loss_is_past(const struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);

    for (unsigned cpu = 0; cpu < info->ncpu && cpu < KEV_CPUS; cpu++) {
        if (info->cpu[cpu].buffers > 0 && cpu_wanted(capture, cpu) && !capture->cpus[cpu].passed) {
            return false;
        }
    }
    return info->kymo && capture->select.end != UINT64_MAX;
}

bool loss_of_event(struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);
    struct capture_cpu *cpu = &capture->cpus[capture->event.cpu];

    if (capture->told == 0) {
        while (kev_loss_is_control(capture, TRACE_CONTROL_BUFFER) && cpu->row < cpu->rows &&
               info->missing[cpu->row].last < kev_word(&capture->event, 0)) {
            if (row_give(capture, &info->missing[cpu->row++], capture->event.time)) {
                return true;
            }
        }
        capture->told = 1;
        if (gap_give(capture)) {
            return true;
        }
    }
    if (capture->told == 1) {
        capture->told = 2;
        return info->kymo && capture->event.class == TRACE_CLASS_CONTROL && dropped_give(capture);
    }
    return false;
}

/* ---- losses that show at the end --------------------------------------------------- */

static bool rows_give(struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);

    for (unsigned i = 0; i < KEV_CPUS; i++) {
        struct capture_cpu *cpu = &capture->cpus[i];

        while (cpu->row < cpu->rows) {
            if (row_give(capture, &info->missing[cpu->row++], UINT64_MAX)) {
                return true;
            }
        }
    }
    return false;
}

/* The reader's error instead of an end: the file ends too early, or bytes are missing. */
static bool end_give(struct kev_capture *capture)
{
    const struct kev_error *end = &capture->end;
    const char *text = end->text;
    size_t path = strlen(capture->facts.path);

    if (text[0] == '\0' || (!end->incomplete && kev_info(capture->kev)->nmissing > 0)) {
        return false;
    }
    if (strncmp(text, capture->facts.path, path) == 0 && strncmp(text + path, ": ", 2) == 0) {
        text += path + 2;
    }
    capture->loss = (struct kev_loss){
        .kind = end->incomplete ? KEV_LOSS_CUT_SHORT : KEV_LOSS_MISSING, .class_id = -1};
    bounds_fill(capture, (struct kev_span){end->incomplete ? capture->last : 0, UINT64_MAX});
    snprintf(capture->loss_text, sizeof(capture->loss_text), "%s", text);
    capture->cut_short |= end->incomplete;
    return loss_give(capture, -1, capture->last, end->offset);
}

static bool damage_give(struct kev_capture *capture)
{
    const struct kev_damage *damage = kev_damage(capture->kev);

    uint64_t counted =
        damage->places + damage->slots + damage->events + damage->sequences + damage->sums;

    /* A note alone may be about the buffers whose losses have been given; what DROPPED slots count
     * is not about it. */
    if (counted == 0 && (damage->first[0] == '\0' || capture->uncounted)) {
        return false;
    }
    capture->loss = (struct kev_loss){.kind = KEV_LOSS_DAMAGED, .class_id = -1};
    bounds_fill(capture, (struct kev_span){0, UINT64_MAX});
    snprintf(capture->loss_text, sizeof(capture->loss_text),
             "damage was passed over: %" PRIu64 " bytes in %" PRIu64 " places, %" PRIu64
             " slots, %" PRIu64 " incomplete events, %" PRIu64 " buffers out of order, %" PRIu64
             " buffers with a wrong sum (their events were given)%s%s",
             damage->bytes, damage->places, damage->slots, damage->events, damage->sequences,
             damage->sums, damage->first[0] == '\0' ? "" : "; first: ", damage->first);
    return loss_give(capture, -1, capture->last, damage->first_offset);
}

/* Gives the doubt about the capture that this one was cut out of, as its attributes have it. */
static bool doubt_give(struct kev_capture *capture)
{
    const char *doubt = kev_cut_doubt(capture->kev);

    if (doubt == NULL) {
        return false;
    }
    capture->loss = (struct kev_loss){.kind = KEV_LOSS_DAMAGED, .class_id = -1};
    bounds_fill(capture, (struct kev_span){0, UINT64_MAX});
    snprintf(capture->loss_text, sizeof(capture->loss_text),
             "the capture that it was cut out of is cut short or damaged: %s", doubt);
    return loss_give(capture, -1, capture->last, 0);
}

bool loss_of_end(struct kev_capture *capture)
{
    if (capture->told == 0) {
        if (rows_give(capture)) {
            return true;
        }
        capture->told = 1;
    }
    if (capture->told == 1) {
        capture->told = 2;
        if (end_give(capture)) {
            return true;
        }
    }
    if (capture->told == 2) {
        capture->told = 3;
        if (damage_give(capture)) {
            return true;
        }
    }
    if (capture->told == 3) {
        capture->told = 4;
        return doubt_give(capture);
    }
    return false;
}
