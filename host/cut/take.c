/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selects the original's events for the cut, and records losses.
 *
 * Losses are kept: DROPPED slots inside the window, and for each CPU those at the head of the first
 * buffer after it, which report losses that may have been in it. A gap of the sequence remains
 * one, with the DROPPED that accounts for it. Unaccounted losses of the original (missing buffers,
 * slots that --recover skips) are a gap with a DROPPED that counts the least possible loss, and an
 * attribute (CUT_DOUBT_1) says so. Events left out by the selection are not losses.
 */
#include <string.h>

#include "host/cut/cut.h"
#include "host/event_numbers.h"
#include "abi/sys/trace.h"

#define NAME_EVENT(number) \
    ((number) == 192 || (number) == 320) /* PROCCREATE_NAME, PROCTHREAD_NAME */
/* Lost, but in no DROPPED slot of the original; of no class. */
#define UNTOLD (KYMO_DROP_UNWRITTEN << 8)

bool cut_has_cpu(const struct cut *cut, unsigned cpu)
{
    return cut->select.cpus == 0 || (cut->select.cpus >> cpu & 1) != 0;
}

static bool cut_take_is_control(const struct kev_event *event, unsigned number)
{
    return event->class == TRACE_CLASS_CONTROL && event->number == number && !event->combined &&
           !event->injected;
}

bool cut_is_buffer(const struct kev_event *event)
{
    return cut_take_is_control(event, TRACE_CONTROL_BUFFER);
}

/* A buffer of the original begins. Returns how many are missing before it. */
static uint32_t buffer_follow(struct cut_cpu *cpu, const struct kev_event *event)
{
    uint32_t sequence = kev_word(event, 0);
    bool next = !cpu->buffers || sequence > cpu->sequence;
    uint32_t gap = cpu->buffers && next ? sequence - cpu->sequence - 1 : 0;

    cpu->buffers = true;
    cpu->sequence = next ? sequence : cpu->sequence;
    cpu->end = event->offset + (uint64_t)kev_word(event, 1) * TRACE_SLOT_BYTES;
    cpu->head = true;
    return gap;
}

/* CPUs that are being recorded: one of their buffers has begun, or their first one is the one that
 * the recording began with. */
static uint64_t cpus_covered(const struct cut *cut, const struct kev_info *info)
{
    uint64_t covered = 0;

    for (unsigned cpu = 0; cpu < info->ncpu; cpu++) {
        covered |= (uint64_t)(cut->cpu[cpu].buffers || info->cpu[cpu].first_sequence == 1) << cpu;
    }
    return covered;
}

/* The window begins at --from if the recording began before that time, else with the first event
 * that is in it; if there is none, at its end. `event`: the first one that is not before it. */
static uint64_t window_begin(const struct cut *cut, const struct kev_event *event)
{
    const struct kymo_select *select = &cut->select;

    if (event == NULL || (select->from.given && cut->before)) {
        return select->first;
    }
    return kymo_select_time(select, event->time) ? event->time : select->end;
}

/* Before the window: notes lost events that DROPPED counts outside of buffers, those of a buffer
 * that the medium refused. They account for the gap before the CPU's next buffer, which may begin
 * inside the window. */
static void ahead_note(struct cut_cpu *cpu, const struct kev_event *event)
{
    uint32_t reason = kev_word(event, 0) >> 8, class = kev_word(event, 0) & 0xff;

    if (cut_take_is_control(event, TRACE_CONTROL_DROPPED) && event->offset >= cpu->end &&
        (reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_UNWRITTEN)) {
        cpu->ahead[reason == KYMO_DROP_UNWRITTEN][class % KYMO_TRACE_CLASSES] += kev_word(event, 1);
    }
}

/* Writes them as DROPPED outside of buffers, before the gap. */
static void ahead_write(struct cut *cut, unsigned cpu)
{
    for (uint32_t class = 0; class < KYMO_TRACE_CLASSES; class ++) {
        const uint64_t events[2] = {cut->cpu[cpu].ahead[0][class], cut->cpu[cpu].ahead[1][class]};

        if (events[0] > 0) {
            cut_tail(&cut->file, cpu, KYMO_DROP_OVERWRITTEN << 8 | class, events[0]);
        }
        if (events[1] > 0) {
            cut_tail(&cut->file, cpu, KYMO_DROP_UNWRITTEN << 8 | class, events[1]);
        }
    }
}

/* event NULL: no event is inside the window or after it. Returns 0, or -1 after a message that
 * there is no memory. */
static int cut_take_begin_window(struct cut *cut, const struct kev *kev,
                                 const struct kev_event *event)
{
    struct cut_prelude prelude = {.select = &cut->select,
                                  .kev = kev,
                                  .owners = cut->owners,
                                  .maps = cut->maps,
                                  .time = window_begin(cut, event),
                                  .covered = cpus_covered(cut, kev_info(kev))};

    cut->begun = true;
    cut->unnamed = cut_prelude_write(&cut->file, &prelude);
    return cut->unnamed < 0 ? -1 : 0;
}

/* 0, or -1: no memory, said. */
static int cut_take_check_result(struct cut_cpu *cpu, enum cut_result result)
{
    cpu->left_out += result == CUT_LEFT_OUT;
    return result == CUT_NO_MEMORY ? -1 : 0;
}

/* A reader expects an account of missing buffers at the head of a buffer or outside of buffers; any
 * other DROPPED is a slot like all others. A DROPPED with an impossible time is put outside of
 * buffers, where slots have no time of their own. */
static int dropped_inside(struct cut *cut, const struct kev_event *event)
{
    struct cut_cpu *cpu = &cut->cpu[event->cpu];
    enum cut_result result = CUT_LEFT_OUT;

    if (event->offset < cpu->end) {
        result = cpu->head ? cut_dropped(&cut->file, event) : cut_event(&cut->file, event);
    }
    if (result == CUT_LEFT_OUT) {
        cut_tail(&cut->file, event->cpu, kev_word(event, 0), kev_word(event, 1));
    }
    return result == CUT_NO_MEMORY ? -1 : 0;
}

static int control_inside(struct cut *cut, const struct kev_event *event)
{
    if (cut_take_is_control(event, TRACE_CONTROL_DROPPED)) {
        return dropped_inside(cut, event);
    }
    return cut_is_buffer(event) ? cut_begin(&cut->file, event->cpu, event->time) : 0;
}

/* So many buffers are missing before an event, or some of its CPU's slots. */
static int gap_inside(struct cut *cut, const struct kev_event *event, uint32_t gap)
{
    if (gap == 0 && !event->gap) {
        return 0;
    }
    ahead_write(cut, event->cpu);
    return cut_gap(&cut->file, event->cpu, gap > 0 ? gap : 1);
}

/* Names are kept even if they are not selected, as no events of the selection's. */
static bool cut_take_is_name(const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;

    return (event->class == TRACE_CLASS_PR_TH && NAME_EVENT(number)) ||
           (event->class == TRACE_CLASS_SYSTEM && number == NUMBER_mapname);
}

static int event_inside(struct cut *cut, struct kev_event *event, const struct owner *owner,
                        uint32_t gap)
{
    bool in = cut_has_cpu(cut, event->cpu);

    if (in && gap_inside(cut, event, gap) != 0) {
        return -1;
    }
    if (event->class == TRACE_CLASS_CONTROL) {
        return in ? control_inside(cut, event) : 0;
    }
    if (!in || !kymo_select_event(&cut->select, event, owner, cut->owners)) {
        if (!cut_take_is_name(event)) {
            return 0;
        }
        event->injected = true;
    }
    return cut_take_check_result(&cut->cpu[event->cpu], cut_event(&cut->file, event));
}

/* After the window. */
static int event_behind(struct cut *cut, const struct kev_event *event, uint32_t gap)
{
    struct cut_cpu *cpu = &cut->cpu[event->cpu];

    if (!cut->ended) {
        cut->ended = true;
        cut_flush(&cut->file);
    }
    if (!cut_has_cpu(cut, event->cpu) || cpu->settled) {
        return 0;
    }
    cpu->behind |= cut_is_buffer(event);
    if (gap > 0) { /* they may have been inside */
        ahead_write(cut, event->cpu);
        if (cut_gap(&cut->file, event->cpu, gap) != 0) {
            return -1;
        }
    }
    if (cut_take_is_control(event, TRACE_CONTROL_DROPPED)) {
        cut_tail(&cut->file, event->cpu, kev_word(event, 0), kev_word(event, 1));
    }
    cpu->settled = cpu->behind && cut_unaccounted(&cut->file, event->cpu) == 0 &&
                   event->class != TRACE_CLASS_CONTROL;
    return 0;
}

bool cut_settled(const struct cut *cut, const struct kev *kev)
{
    for (unsigned cpu = 0; cpu < kev_info(kev)->ncpu; cpu++) {
        if (cut_has_cpu(cut, cpu) && !cut->cpu[cpu].settled) {
            return false;
        }
    }
    return cut->ended;
}

int cut_take(struct cut *cut, const struct kev *kev, struct kev_event *event)
{
    bool before = event->time < cut->select.first;
    struct cut_cpu *cpu = &cut->cpu[event->cpu];
    struct owner owner;
    uint32_t gap = 0;
    int result = 0;

    /* The account of a CPU's first buffer, which the medium refused, has no time. */
    bool timeless = cut_take_is_control(event, TRACE_CONTROL_DROPPED) &&
                    event->offset >= cpu->end && !cpu->buffers;

    if (!before && !timeless && !cut->begun && cut_take_begin_window(cut, kev, event) != 0) {
        return -1;
    }
    owner = owners_follow(cut->owners, event);
    cut_maps_follow(cut->maps, event);
    cut->before |= before;
    if (cut_is_buffer(event)) {
        gap = buffer_follow(cpu, event);
    } else if (event->class != TRACE_CLASS_CONTROL) {
        cpu->head = false;
    }
    if (before) {
        ahead_note(cpu, event);
    } else if (kymo_select_time(&cut->select, event->time)) {
        result = event_inside(cut, event, &owner, gap);
    } else {
        result = event_behind(cut, event, gap);
    }
    if (!before || cut_is_buffer(event)) { /* written, or of a gap before the window */
        memset(cpu->ahead, 0, sizeof(cpu->ahead));
    }
    return result;
}

/* Writes losses that no DROPPED slot of the original counts. */
static void untold_write(struct cut *cut, const struct kev *kev)
{
    for (unsigned cpu = 0; cpu < kev_info(kev)->ncpu; cpu++) {
        uint64_t least = cut_unaccounted(&cut->file, cpu) + cut->cpu[cpu].left_out;

        if (least > 0) {
            cut_tail(&cut->file, cpu, UNTOLD, least);
        }
    }
}

int cut_finish(struct cut *cut, const struct kev *kev)
{
    int result = cut->begun ? 0 : cut_take_begin_window(cut, kev, NULL);

    cut_flush(&cut->file);
    untold_write(cut, kev);
    cut_end(&cut->file, kev_info(kev)->ncpu);
    return result;
}
