/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iteration: scope, then events and losses by time, then the losses that show at the end. An event
 * is held until its losses have been given. Memory: the reader's, a buffer per CPU and 64 bytes for
 * each buffer of the file. Proof: test/host/kev/kev_test.c, test/host/kev/check.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/states.h"
#include "host/kev/capture.h"
#include "host/when.h"
#include "trace/dtrace/log_event.h"
#include "trace/slot.h"

#define NS 1000000000u
#define PLAIN_MOST UINT32_MAX /* below so many seconds 64 bits are enough */

static const char *const d_names[] = {
    [DTRACE_LOG_NOTES] = "NOTES",     [DTRACE_LOG_RECORD] = "RECORD",
    [DTRACE_LOG_TAKEN] = "TAKEN",     [DTRACE_LOG_ENTRY] = "ENTRY",
    [DTRACE_LOG_ENTRIES] = "ENTRIES", [DTRACE_LOG_STATUS] = "STATUS",
    [DTRACE_LOG_PROCESS] = "PROCESS",
};

/* Like kymo_when_ns(), without 128 bits where 64 are enough. */
int64_t capture_ns(const struct kev_capture *capture, uint64_t cycles)
{
    uint64_t start = capture->facts.start, hz = capture->facts.cycles_per_second;
    uint64_t since = cycles - start, seconds = since / hz;

    if (cycles < start || seconds > PLAIN_MOST || hz > UINT64_MAX / NS) {
        return kymo_when_ns(cycles, start, hz);
    }
    return (int64_t)(seconds * NS + since % hz * NS / hz);
}

/* ---- items ------------------------------------------------------------------------- */

static int32_t kev_item_state_of(const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;

    return record_is_thread(event) && number < STATE_MAX ? (int32_t)number : -1;
}

static const char *kev_item_name_of(const struct kev_event *event, const struct record *record)
{
    if (event->class == TRACE_CLASS_D && event->number > 0 &&
        event->number < sizeof(d_names) / sizeof(d_names[0])) {
        return d_names[event->number];
    }
    return record->event;
}

void item_event(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;
    const struct owner *owner = &capture->owner;
    struct kev_item *item = &capture->item;
    struct record record;

    record_name(&record, capture->kev, event);
    item->kind = KEV_ITEM_EVENT;
    item->flags = (event->injected ? KEV_FLAG_INJECTED : 0) | (event->gap ? KEV_FLAG_GAP : 0) |
                  (event->dumped ? KEV_FLAG_DUMP : 0);
    item->ns = capture_ns(capture, event->time);
    item->cycles = event->time;
    item->offset = event->offset;
    item->cpu = event->cpu;
    item->state = kev_item_state_of(event);
    item->class_id = event->class;
    item->number = event->number;
    item->class_name = record.class;
    item->name = kev_item_name_of(event, &record);
    item->code = record.number;
    item->pid = owner->known ? owner->pid : KEV_NOBODY;
    item->tid = owner->known ? owner->tid : KEV_NOBODY;
    item->about_pid = owner->about ? owner->about_pid : KEV_NOBODY;
    item->about_tid = owner->about ? owner->about_tid : KEV_NOBODY;
    item->loss = NULL;
    capture->given = true;
}

void item_loss(struct kev_capture *capture, int cpu, uint64_t cycles, uint64_t offset)
{
    capture->item = (struct kev_item){.kind = KEV_ITEM_LOSS,
                                      .ns = capture_ns(capture, cycles),
                                      .cycles = cycles,
                                      .offset = offset,
                                      .cpu = cpu,
                                      .state = -1,
                                      .pid = KEV_NOBODY,
                                      .tid = KEV_NOBODY,
                                      .about_pid = KEV_NOBODY,
                                      .about_tid = KEV_NOBODY,
                                      .loss = &capture->loss};
}

/* ---- the stages -------------------------------------------------------------------- */

/* Takes the reader's next event, and follows it. False: the end, or a fault. */
static bool kev_item_event_take(struct kev_capture *capture)
{
    struct kev_error error;

    switch (kev_next(capture->kev, &capture->event, &error)) {
    case KEV_EVENT:
        capture->owner = owners_follow(capture->owners, &capture->event);
        capture->last = capture->event.time > capture->last ? capture->event.time : capture->last;
        capture->held = true;
        capture->told = 0;
        if (owners_lack_memory(capture->owners)) {
            capture->no_memory = true;
        }
        return true;
    case KEV_END:
        capture->stage = CAPTURE_ENDING;
        capture->told = 0;
        return false;
    default:
        if (error.given) {
            capture->end = error;
            capture->stage = CAPTURE_ENDING;
            capture->told = 0;
        } else {
            capture->stage = CAPTURE_BROKEN;
            capture_fault_of(capture, &error);
        }
        return false;
    }
}

/* The event and the losses that it reports; false: none of them is wanted. */
static bool event_next(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;
    bool wanted = event->time >= capture->from;

    if (wanted && (event->class == TRACE_CLASS_CONTROL || event->gap) && loss_of_event(capture)) {
        return true;
    }
    loss_follow(capture);
    capture->held = false;
    if (!wanted || !kymo_select_event(&capture->select, event, &capture->owner, capture->owners)) {
        return false;
    }
    item_event(capture);
    return true;
}

static int kev_item_report_end(struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);
    const char *path = capture->facts.path;

    if (info->buffers == 0 && kev_damage(capture->kev)->first[0] != '\0') {
        return capture_fault(capture, KEV_FAULT_DAMAGED, NULL,
                             "%s: nothing to recover: no buffer of events is in its %" PRIu64
                             " bytes",
                             path, info->size);
    }
    if (capture->losses == 0) {
        return KEV_COMPLETE;
    }
    char count[80] = "";

    if (capture->lost > 0) {
        snprintf(count, sizeof(count), ", %s%" PRIu64 " of them, in %" PRIu64 " place%s",
                 capture->uncounted ? "at least " : "", capture->lost, capture->losses,
                 capture->losses == 1 ? "" : "s");
    }
    capture_fault(
        capture, capture->cut_short ? KEV_FAULT_CUT_SHORT : KEV_FAULT_LOSSY,
        capture->lost > 0 ? "tracelogger with more buffers (-k) or fewer classes loses less" : NULL,
        "%s: events are missing%s; the first: %s", path, count, capture->first_loss);
    return KEV_LOSSY;
}

static int not_open(struct kev_capture *capture, const char *function)
{
    return capture_fault(capture, KEV_FAULT_USE, "open it first", "%s(): the capture is not open",
                         function);
}

int kev_capture_next(struct kev_capture *capture, const struct kev_item **item)
{
    *item = &capture->item;
    capture->given = capture->decoded = false;
    for (;;) {
        if (capture->no_memory && capture->stage != CAPTURE_BROKEN) {
            capture->stage = CAPTURE_BROKEN;
            capture_fault(capture, KEV_FAULT_SYSTEM, NULL, "%s: out of memory",
                          capture->facts.path);
        }
        switch (capture->stage) {
        case CAPTURE_SCOPE:
            if (scope_next(capture)) {
                return KEV_GIVEN;
            }
            capture->stage = CAPTURE_EVENTS;
            break;
        case CAPTURE_EVENTS:
            if (capture->held ? event_next(capture)
                              : kev_item_event_take(capture) && event_next(capture)) {
                return KEV_GIVEN;
            }
            if (!capture->held && capture->stage == CAPTURE_EVENTS && loss_is_past(capture)) {
                capture->stage = CAPTURE_ENDED;
            }
            break;
        case CAPTURE_ENDING:
            if (loss_of_end(capture)) {
                return KEV_GIVEN;
            }
            capture->stage = CAPTURE_ENDED;
            break;
        case CAPTURE_ENDED:
            *item = NULL;
            return kev_item_report_end(capture);
        case CAPTURE_NEW:
            *item = NULL;
            return not_open(capture, __func__);
        default:
            *item = NULL;
            return KEV_FAILED;
        }
    }
}

/* ---- seeking ----------------------------------------------------------------------- */

/* Back to the first event, as after opening. */
static void rewind_all(struct kev_capture *capture)
{
    kev_rewind(capture->kev);
    owners_begin(capture->owners);
    loss_rewind(capture);
    capture->held = false;
    capture->last = 0;
    capture->end.text[0] = '\0';
}

int kev_capture_seek(struct kev_capture *capture, int64_t ns)
{
    const struct kev_facts *facts = &capture->facts;
    bool before = ns < 0;
    uint64_t away = before ? (uint64_t)0 - (uint64_t)ns : (uint64_t)ns;
    struct kymo_when when = {.given = true, .value = away, .scale = 9};
    uint64_t cycles;

    if (capture->stage == CAPTURE_NEW) {
        return not_open(capture, __func__);
    }
    if (capture->kev == NULL || capture->owners == NULL) {
        return KEV_FAILED;
    }
    cycles = kymo_when_cycles(&when, before ? 0 : facts->start, facts->cycles_per_second);
    if (before) {
        cycles = cycles < facts->start ? facts->start - cycles : 0;
    }
    capture->given = capture->decoded = false;
    /* Reading forward gets only to events after the one last given. */
    if (capture->stage != CAPTURE_EVENTS || cycles <= capture->last) {
        rewind_all(capture);
    }
    capture->from = cycles;
    capture->stage = CAPTURE_EVENTS;
    return KEV_COMPLETE;
}
