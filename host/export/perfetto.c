/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --perfetto: a trace of Perfetto, in protocol buffers (perfetto.proto), packet by packet. Each
 * event of the capture is a track event with its values: a slice begins, ends, or it is an instant.
 * Who ran where is in ftrace's words beside them (sched_switch, sched_waking, irq_handler_*), from
 * which Perfetto makes tracks of CPUs. Messages are flows and slices of their own, states slices of
 * a track below the thread's; losses instants, slices and `lost_events`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "host/export/perfetto.h"
#include "host/kymo.h"
#include "host/export/follow.h"
#include "host/pr_th.h"
#include "trace/slot.h"

/* ---- tracks ------------------------------------------------------------------------ */

static uint64_t cpu_track(struct export *export, int cpu)
{
    struct perfetto *perfetto = perfetto_of(export);
    char name[64];

    if (cpu < 0 || cpu >= FLOW_CPUS) {
        return perfetto_uuid(OF_CAPTURE, 0);
    }
    if (!perfetto->told[cpu]) {
        perfetto->told[cpu] = true;
        snprintf(name, sizeof(name), "CPU %d: interrupts, events of no thread", cpu);
        perfetto_track_put(export, perfetto_uuid(OF_CPU, (uint64_t)cpu), 0, name, false);
    }
    return perfetto_uuid(OF_CPU, (uint64_t)cpu);
}

static void process_put(struct export *export, int32_t pid)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;

    track.has_uuid = 1;
    track.uuid = perfetto_uuid(OF_PROCESS, (uint32_t)pid);
    process.has_pid = 1;
    process.pid = pid;
    process.process_name =
        perfetto_string_of(export, kev_capture_name(export->capture, pid, KEV_NOBODY));
    track.process = &process;
    packet.track_descriptor = &track;
    perfetto_packet_put(export, &packet);
}

static uint64_t thread_track(struct export *export, struct flow_thread *thread)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__ThreadDescriptor descriptor = PERFETTO__THREAD_DESCRIPTOR__INIT;
    uint64_t uuid = perfetto_uuid(OF_THREAD, thread->serial);
    char name[512];

    if (thread->described) {
        return uuid;
    }
    thread->described = true;
    process_put(export, thread->pid);
    linux_comm(export, thread, name, sizeof(name));
    track.has_uuid = 1;
    track.uuid = uuid;
    if (thread->idle) { /* all of these have the same number: 0 */
        track.name = perfetto_string_of(export, name);
    } else {
        descriptor.has_pid = descriptor.has_tid = 1;
        descriptor.pid = thread->pid;
        descriptor.tid = linux_tid(thread);
        descriptor.thread_name = perfetto_string_of(export, name);
        track.thread = &descriptor;
    }
    packet.track_descriptor = &track;
    perfetto_packet_put(export, &packet);
    perfetto_track_put(export, perfetto_uuid(OF_STATES, thread->serial), uuid, "state", false);
    return uuid;
}

/* ---- what the flow gives ------------------------------------------------------------- */

static void perfetto_span(void *arg, const struct flow_thread *thread,
                          const struct flow_state *state, int64_t to, bool ended)
{
    struct export *export = arg;
    uint64_t track = perfetto_uuid(OF_STATES, thread->serial);

    (void)ended;
    if (!export_flow_shows(state, to)) {
        return;
    }
    if (state->cpu >= 0) {
        perfetto_note_number(export, "cpu", state->cpu);
    }
    perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN, track, state->since,
                       "state", flow_state_name((unsigned)state->state));
    perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_END, track, to, NULL, NULL);
}

static void perfetto_bundle_put(struct export *export, int cpu, int64_t ns,
                                Perfetto__FtraceEvent *event)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__FtraceEventBundle bundle = PERFETTO__FTRACE_EVENT_BUNDLE__INIT;

    event->has_timestamp = event->has_pid = bundle.has_cpu = 1;
    event->timestamp = ns < 0 ? 0 : (uint64_t)ns;
    bundle.cpu = (uint32_t)cpu;
    bundle.n_event = 1;
    bundle.event = &event;
    packet.ftrace_events = &bundle;
    perfetto_packet_put(export, &packet);
}

/* ftrace's begin of an interrupt has an end, too: readers draw it up to the next one otherwise. */
static void perfetto_interrupt_close(struct export *export, int cpu, const struct flow_open *open,
                                     int64_t ns)
{
    Perfetto__FtraceEvent event = PERFETTO__FTRACE_EVENT__INIT;
    Perfetto__IrqExit end = PERFETTO__IRQ_EXIT__INIT;

    end.has_irq = end.has_ret = 1;
    end.irq = (int32_t)open->what;
    end.ret = 1;
    event.irq_handler_exit = &end;
    event.pid = UINT32_MAX; /* who ran then is not known */
    perfetto_bundle_put(export, cpu, ns, &event);
}

static void perfetto_close(void *arg, const struct flow_thread *thread, int cpu,
                           const struct flow_open *open, int64_t ns, enum flow_ending ending)
{
    struct export *export = arg;
    uint64_t track =
        thread == NULL ? cpu_track(export, cpu) : perfetto_uuid(OF_THREAD, thread->serial);

    (void)ending;
    perfetto_note_text(export, "end", "not known");
    perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_END, track, ns, NULL, NULL);
    if (open->kind == FLOW_INTERRUPT) {
        perfetto_interrupt_close(export, cpu, open, ns);
    }
}

static void perfetto_abandon(void *arg, const struct flow_thread *thread, int64_t ns,
                             enum flow_ending ending)
{
    struct export *export = arg;

    (void)ending;
    perfetto_note_text(export, "end", "no reply");
    perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_END,
                       perfetto_uuid(OF_MESSAGE, thread->message), ns, NULL, NULL);
}

static const struct flow_ops perfetto_ops = {
    .span = perfetto_span, .close = perfetto_close, .abandon = perfetto_abandon};

/* ---- events ------------------------------------------------------------------------ */

static void switch_fill(struct export *export, const struct flow_step *step,
                        Perfetto__SchedSwitch *to)
{
    char next[512], previous[512];

    linux_comm(export, step->previous, previous, sizeof(previous));
    linux_comm(export, step->running, next, sizeof(next));
    to->prev_comm = perfetto_copy_of(export, previous);
    to->next_comm = perfetto_copy_of(export, next);
    to->has_prev_pid = to->has_prev_prio = to->has_prev_state = 1;
    to->has_next_pid = to->has_next_prio = 1;
    to->prev_pid = linux_tid(step->previous);
    to->prev_prio = linux_priority(step->previous);
    to->prev_state = linux_previous_state(step);
    to->next_pid = linux_tid(step->running);
    to->next_prio = linux_priority(step->running);
}

/* The event in ftrace's words, if ftrace has it. */
static void ftrace_put(struct export *export, const struct kev_item *item,
                       const struct flow_step *step)
{
    Perfetto__FtraceEvent event = PERFETTO__FTRACE_EVENT__INIT;
    Perfetto__SchedSwitch to = PERFETTO__SCHED_SWITCH__INIT;
    Perfetto__SchedWaking waking = PERFETTO__SCHED_WAKING__INIT;
    Perfetto__IrqEntry entry = PERFETTO__IRQ_ENTRY__INIT;
    Perfetto__IrqExit end = PERFETTO__IRQ_EXIT__INIT;
    const struct kev_value *irq = kev_capture_value_of(export->capture, "interrupt");
    char name[512];

    switch (linux_event_of(item, step)) {
    case LINUX_SWITCH:
        switch_fill(export, step, &to);
        event.sched_switch = &to;
        break;
    case LINUX_WAKE:
        linux_comm(export, step->woken, name, sizeof(name));
        waking.comm = perfetto_string_of(export, name);
        waking.has_pid = waking.has_prio = waking.has_success = waking.has_target_cpu = 1;
        waking.pid = linux_tid(step->woken);
        waking.prio = linux_priority(step->woken);
        waking.success = 1;
        waking.target_cpu = item->cpu;
        event.sched_waking = &waking;
        break;
    case LINUX_IRQ_ENTRY:
        entry.has_irq = 1;
        entry.irq = irq == NULL ? -1 : (int32_t)irq->integer;
        entry.name = perfetto_string_of(export, irq == NULL ? NULL : irq->text);
        event.irq_handler_entry = &entry;
        break;
    case LINUX_IRQ_EXIT:
        end.has_irq = end.has_ret = 1;
        end.irq = irq == NULL ? -1 : (int32_t)irq->integer;
        end.ret = 1;
        event.irq_handler_exit = &end;
        break;
    default:
        return;
    }
    event.pid = (uint32_t)linux_current(item, step);
    perfetto_bundle_put(export, item->cpu, step->ns, &event);
}

static void perfetto_message_put(struct export *export, const struct flow_step *step)
{
    uint64_t track = perfetto_uuid(OF_MESSAGE, step->message_id);

    if (step->message == FLOW_SENT) {
        perfetto_track_put(export, track, perfetto_uuid(OF_PROCESS, (uint32_t)step->party->pid),
                           "messages", false);
        perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN, track, step->ns,
                           "message", "message");
    } else if (step->message == FLOW_RECEIVED) {
        perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__INSTANT, track, step->ns, "message",
                           "received");
    } else if (step->message == FLOW_REPLIED) {
        perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_END, track, step->ns, NULL,
                           NULL);
    }
}

/* The counters of threads, if they have changed. */
static void perfetto_threads_count(struct export *export, int64_t ns)
{
    struct perfetto *perfetto = perfetto_of(export);
    unsigned ready, unknown;

    perfetto->last = ns;
    flow_count(perfetto->flow, &ready, &unknown);
    if (!perfetto->counted || ready != perfetto->ready) {
        perfetto_counter_put(export, perfetto_uuid(OF_COUNTER, 0), ns, ready);
    }
    if (!perfetto->counted || unknown != perfetto->unknown) {
        perfetto_counter_put(export, perfetto_uuid(OF_COUNTER, 1), ns, unknown);
    }
    perfetto->counted = true;
    perfetto->ready = ready;
    perfetto->unknown = unknown;
}

/* An event that names a thread or a process, of which there is a track by another name: the last
 * description of a track holds for all of it. */
static void perfetto_name_take(struct export *export, const struct kev_item *item)
{
    struct flow_thread *named = linux_named(perfetto_of(export)->flow, item);

    if (named != NULL && named->described) {
        named->described = false;
        thread_track(export, named);
    } else if (item->class_id == TRACE_CLASS_PR_TH && item->code == PR_TH_PROCCREATE_NAME) {
        process_put(export, item->about_pid);
    }
}

static int perfetto_event_take(struct export *export, const struct kev_item *item)
{
    static const Perfetto__TrackEvent__Type types[] = {
        [FLOW_POINT] = PERFETTO__TRACK_EVENT__TYPE__INSTANT,
        [FLOW_BEGIN] = PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN,
        [FLOW_END] = PERFETTO__TRACK_EVENT__TYPE__SLICE_END};
    struct perfetto *perfetto = perfetto_of(export);
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
    char *categories[1], name[256];
    bool renamed;
    struct flow_step step;
    uint64_t track;

    if (export_flow_take(perfetto->flow, item, &step) != 0) {
        return -1;
    }
    perfetto_name_take(export, item);
    track = step.thread == NULL ? cpu_track(export, item->cpu) : thread_track(export, step.thread);
    if (step.party != NULL) {
        thread_track(export, step.party);
    }
    renamed = export_slice_name(export, item, name, sizeof(name));
    categories[0] = perfetto_string_of(export, item->class_name);
    event.n_categories = 1;
    event.categories = categories;
    event.name = perfetto_string_of(export, name);
    if (step.message == FLOW_REPLIED) {
        event.n_terminating_flow_ids = 1;
        event.terminating_flow_ids = &step.message_id;
    } else if (step.party != NULL) {
        event.n_flow_ids = 1;
        event.flow_ids = &step.message_id;
    }
    perfetto_note_number(export, "cpu", item->cpu);
    perfetto_note_number(export, "cycles", (int64_t)item->cycles);
    if (renamed) {
        perfetto_note_text(export, "event", item->name);
    }
    perfetto_note_values(export);
    if ((item->flags & KEV_FLAG_DUMP) != 0) {
        perfetto_note_number(export, "dump", 1);
    }
    perfetto_event_put(export, &event, types[step.role], track, step.ns);
    ftrace_put(export, item, &step);
    perfetto_message_put(export, &step);
    perfetto_threads_count(export, step.ns);
    return perfetto->failed ? -1 : 0;
}

/* ---- losses ------------------------------------------------------------------------ */

static void perfetto_loss_note(struct export *export, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;

    perfetto_note_text(export, "what", export_loss_kind(loss->kind));
    perfetto_note_number(export, "cpu", item->cpu);
    perfetto_note_text(export, "class", loss->class_name);
    perfetto_note_number(export, "events", (int64_t)loss->events);
    perfetto_note_number(export, "buffers", (int64_t)loss->buffers);
    perfetto_note_number(export, "from_ns", loss->from_ns);
    perfetto_note_number(export, "to_ns", loss->to_ns);
    perfetto_note_text(export, "reason", loss->reason);
    perfetto_note_text(export, "text", loss->text);
}

/* So that Perfetto's statistics have it. */
static void lost_events_put(struct export *export, int cpu)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__FtraceEventBundle bundle = PERFETTO__FTRACE_EVENT_BUNDLE__INIT;

    bundle.has_cpu = bundle.has_lost_events = bundle.lost_events = 1;
    bundle.cpu = (uint32_t)cpu;
    packet.ftrace_events = &bundle;
    perfetto_packet_put(export, &packet);
}

static void perfetto_loss_take(struct export *export, const struct kev_item *item)
{
    struct perfetto *perfetto = perfetto_of(export);
    const struct kev_loss *loss = item->loss;
    bool is_loss = item->kind == KEV_ITEM_LOSS;
    int cpu = item->cpu >= 0 && item->cpu < FLOW_CPUS ? item->cpu : -1;
    uint64_t counter = perfetto_uuid(OF_COUNTER, 16 + (uint64_t)(cpu + 1));
    const char *title = is_loss ? "LOST" : "NOT RECORDED";
    char name[64];

    perfetto_loss_note(export, item);
    perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__INSTANT, perfetto_uuid(OF_CAPTURE, 0),
                       is_loss ? item->ns : 0, is_loss ? "loss" : "scope", title);
    if (loss->from_ns != KEV_EVER && loss->to_ns != KEV_NEVER && loss->to_ns >= loss->from_ns) {
        uint64_t track = perfetto_uuid(OF_LOSS, ++perfetto->losses);

        snprintf(name, sizeof(name), "%s on CPU %d", title, cpu);
        perfetto_track_put(export, track, 0, name, false);
        perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN, track, loss->from_ns,
                           "lost", title);
        perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__SLICE_END, track, loss->to_ns, NULL,
                           NULL);
    }
    if (!is_loss) {
        return;
    }
    if (cpu >= 0) {
        lost_events_put(export, cpu);
    }
    if (!perfetto->lost_told[cpu + 1]) {
        perfetto->lost_told[cpu + 1] = true;
        snprintf(name, sizeof(name), "lost events, CPU %d", cpu);
        perfetto_track_put(export, counter, 0, name, true);
    }
    perfetto->lost[cpu + 1] += loss->events;
    perfetto_counter_put(export, counter, item->ns, perfetto->lost[cpu + 1]);
}

/* ---- the format -------------------------------------------------------------------- */

static int perfetto_item(struct export *export, const struct kev_item *item)
{
    if (item->kind == KEV_ITEM_EVENT) {
        return perfetto_event_take(export, item);
    }
    if (item->kind == KEV_ITEM_LOSS || item->kind == KEV_ITEM_SCOPE) {
        perfetto_loss_take(export, item);
    }
    return perfetto_of(export)->failed ? -1 : 0;
}

static int perfetto_begin(struct export *export)
{
    const struct kev_facts *facts = export->facts;
    struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

    export->state = perfetto;
    if (perfetto == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    perfetto->flow = export_flow_new(export, &perfetto_ops);
    if (perfetto->flow == NULL) {
        return -1;
    }
    perfetto_track_put(export, perfetto_uuid(OF_CAPTURE, 0), 0, "capture", false);
    perfetto_track_put(export, perfetto_uuid(OF_COUNTER, 0), 0, "threads ready", true);
    perfetto_track_put(export, perfetto_uuid(OF_COUNTER, 1), 0, "threads whose state is not known",
                       true);
    perfetto_note_text(export, "path", facts->path);
    perfetto_note_text(export, "board", facts->board);
    perfetto_note_text(export, "processor", facts->processor);
    perfetto_note_text(export, "release", facts->release);
    perfetto_note_text(export, "image", facts->image);
    perfetto_note_text(export, "build_id", facts->build_id);
    perfetto_note_number(export, "cpus", facts->cpus);
    perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__INSTANT, perfetto_uuid(OF_CAPTURE, 0),
                       0, "capture", "begin");
    return perfetto->failed ? -1 : 0;
}

static int perfetto_end(struct export *export)
{
    struct perfetto *perfetto = perfetto_of(export);

    flow_end(perfetto->flow);
    perfetto_note_number(export, "events", (int64_t) export->count.events);
    perfetto_note_number(export, "control", (int64_t) export->count.control);
    perfetto_note_number(export, "added", (int64_t) export->count.added);
    perfetto_note_number(export, "losses", (int64_t) export->losses);
    perfetto_note_number(export, "lost_events", (int64_t) export->lost);
    perfetto_note_number(export, "complete", export->fault == KEV_FAULT_NONE);
    perfetto_named_put(export, PERFETTO__TRACK_EVENT__TYPE__INSTANT, perfetto_uuid(OF_CAPTURE, 0),
                       perfetto->last, "capture", "end");
    return perfetto->failed ? -1 : 0;
}

static void perfetto_discard(struct export *export)
{
    struct perfetto *perfetto = perfetto_of(export);

    if (perfetto == NULL) {
        return;
    }
    while (perfetto->ntexts > 0) {
        free(perfetto->texts[--perfetto->ntexts]);
    }
    flow_free(perfetto->flow);
    free(perfetto->bytes);
    free(perfetto);
}

const struct export_format export_perfetto = {.name = "perfetto",
                                              .draws = true,
                                              .binary = true,
                                              .begin = perfetto_begin,
                                              .item = perfetto_item,
                                              .end = perfetto_end,
                                              .discard = perfetto_discard};
