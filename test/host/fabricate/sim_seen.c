/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of the truth the capture shows, by the rules of truth.h: from the events that are in the
 * file, in order, with what a careful reader can know of each CPU at each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "test/host/fabricate/sim.h"

struct seen_cpu {
    uint32_t current;  /* life, TRUTH_NONE: not known */
    uint32_t running;  /* event that says so */
    bool in_call;      /* its call is open */
    uint32_t call;     /* number */
    bool interrupted;  /* since that call began; without one, since `running` */
    uint32_t last;     /* number of the last interrupt since a thread was in user mode */
    bool several;      /* other numbers came before it */
    uint32_t delivers; /* number whose handler's event is being delivered; TRUTH_NONE */
    uint32_t before;   /* the event before */
};

struct seen {
    struct sim *sim;
    const struct sim_written *file;
    struct truth *truth;
    struct seen_cpu cpus[SIM_CPUS_MOST];
    uint32_t *span_of;    /* the span that an event ends but by THRUNNING, TRUTH_NONE */
    uint32_t *began_of;   /* that it begins, or will when its thread leaves the CPU */
    uint32_t *message_of; /* the message that an event is part of */
    uint32_t *call_of;    /* truth_call of an event */
    uint8_t *in_call;     /* by life: it is in a kernel call */
    uint32_t *life_of;    /* of THRUNNING events */
};

/* ---- coverage ---------------------------------------------------------------------- */

static bool seen_covered(const struct seen *seen, unsigned cpu, uint64_t from, uint64_t to)
{
    const struct sim_cover *covers = seen->file->covers[cpu];
    uint32_t low = 0, high = seen->file->ncovers[cpu];

    while (low < high) { /* the last that begins at `from` or before */
        uint32_t middle = low + (high - low) / 2;

        if (covers[middle].from <= from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && covers[low - 1].to >= to;
}

static bool seen_all_covered(const struct seen *seen, uint64_t from, uint64_t to)
{
    for (unsigned cpu = 0; cpu < seen->sim->options.cpus; cpu++) {
        if (!seen_covered(seen, cpu, from, to)) {
            return false;
        }
    }
    return true;
}

static bool seen_in_file(const struct seen *seen, uint32_t event)
{
    return event != TRUTH_NONE && seen->sim->events[event].in_file;
}

/* The CPU's thread is known at the event, and is this one. */
static bool seen_runs(const struct seen *seen, unsigned cpu, uint32_t life, uint64_t until)
{
    const struct seen_cpu *c = &seen->cpus[cpu];

    return c->current == life && life != TRUTH_NONE &&
           seen_covered(seen, cpu, seen->sim->events[c->running].time, until);
}

/* ---- the events in order ----------------------------------------------------------- */

static void seen_interrupt(struct seen_cpu *c, const struct sim_event *event)
{
    uint32_t number = event->words[event->number == 3 ? 1 : 0];

    switch (event->number) {
    case 1:
        c->several = c->last != TRUTH_NONE && (c->last != number || c->several);
        c->last = number;
        c->interrupted = true;
        break;
    case 3:
        c->delivers = number;
        break;
    case 4:
        c->delivers = TRUTH_NONE;
        break;
    default:
        break;
    }
}

static void seen_event(struct seen *seen, uint32_t index)
{
    const struct sim_event *event = &seen->sim->events[index];
    struct seen_cpu *c = &seen->cpus[event->cpu];

    if (event->class == TRACE_CLASS_INT) {
        seen_interrupt(c, event);
    } else if (trace_class_is_call(event->class) && seen->call_of[index] != TRUTH_NONE) {
        bool enter = event->number < TRACE_KERCALL_EXIT;

        seen->in_call[seen->truth->calls[seen->call_of[index]].thread] = enter;
        c->in_call = enter;
        c->call = event->number % 128;
        if (enter) { /* all work of interrupts is done before */
            c->interrupted = c->several = false;
            c->last = TRUTH_NONE;
        }
    } else if (event->class == TRACE_CLASS_PR_TH && event->number == STATE_RUNNING) {
        c->current = seen->life_of[index];
        c->running = index;
        c->in_call = c->current != TRUTH_NONE && seen->in_call[c->current];
    }
    c->before = index;
}

/* ---- what ended a wait --------------------------------------------------------------- */

/* The event before names the thread as the one whose wait is over. */
static bool seen_named(const struct seen *seen, const struct seen_cpu *c, uint32_t life)
{
    const struct truth_thread *thread = &seen->truth->threads[life];
    const struct sim_event *event;

    if (c->before == TRUTH_NONE) {
        return false;
    }
    event = &seen->sim->events[c->before];
    return event->class == TRACE_CLASS_COMM && event->number >= COMM_REPLY &&
           event->words[0] == (uint32_t)thread->tid && event->words[1] == (uint32_t)thread->pid;
}

static bool seen_kills(uint32_t call)
{
    return call == CALL_SIGNAL_KILL || call == CALL_THREAD_DESTROY || call == CALL_PROC_EXIT;
}

static unsigned seen_by_interrupt(const struct seen *seen, const struct seen_cpu *c,
                                  const struct truth_span *span)
{
    bool idle = c->current != TRUTH_NONE && seen->truth->threads[c->current].idle;

    if (c->delivers == span->end.by) {
        return TRUTH_SEEN;
    }
    if (c->last != span->end.by || c->several) {
        return TRUTH_ALIKE;
    }
    if (seen->truth->threads[c->current].seen != TRUTH_SEEN) {
        return TRUTH_LOST; /* it looks as if it were an earlier thread, which was in a call */
    }
    if (idle || (!c->in_call && !seen->file->no_calls)) {
        return TRUTH_SEEN;
    }
    return span->state == STATE_NANOSLEEP && c->in_call && !seen_kills(c->call) ? TRUTH_SEEN
                                                                                : TRUTH_ALIKE;
}

static unsigned seen_cause(const struct seen *seen, const struct truth_span *span)
{
    const struct sim_event *event = &seen->sim->events[span->ended];
    const struct seen_cpu *c = &seen->cpus[event->cpu];
    bool running = c->current != TRUTH_NONE &&
                   seen_covered(seen, event->cpu, seen->sim->events[c->running].time, event->time);

    if (span->seen != TRUTH_SEEN) {
        return span->seen;
    }
    if (!running) {
        return TRUTH_LOST;
    }
    switch (span->end.kind) {
    case TRUTH_END_INTERRUPT:
    case TRUTH_END_TIMER:
        return seen->file->no_interrupts ? TRUTH_FILTERED : seen_by_interrupt(seen, c, span);
    case TRUTH_END_THREAD:
    case TRUTH_END_DEATH:
    case TRUTH_END_KILL:
        if (c->current != span->end.actor) {
            return TRUTH_ALIKE;
        }
        if (seen_named(seen, c, span->thread)) {
            return TRUTH_SEEN;
        }
        if (seen->file->no_interrupts) {
            return TRUTH_FILTERED;
        }
        return c->interrupted || c->delivers != TRUTH_NONE ? TRUTH_ALIKE : TRUTH_SEEN;
    default:
        return TRUTH_SEEN;
    }
}

/* ---- the facts --------------------------------------------------------------------- */

static unsigned seen_text(const struct seen *seen, uint32_t event)
{
    return seen->file->no_processes    ? TRUTH_FILTERED
           : seen_in_file(seen, event) ? TRUTH_SEEN
                                       : TRUTH_LOST;
}

static void seen_threads(struct seen *seen)
{
    struct truth *truth = seen->truth;

    for (uint32_t i = 0; i < truth->nthreads; i++) {
        struct truth_thread *thread = &truth->threads[i];
        bool shown = seen_in_file(seen, thread->began) &&
                     (thread->ended == TRUTH_NONE || seen_in_file(seen, thread->ended));

        thread->seen_process = (uint8_t)seen_text(seen, thread->process_is);
        thread->seen_name = (uint8_t)seen_text(seen, thread->name_is);
        thread->seen = seen->file->no_threads ? TRUTH_FILTERED : shown ? TRUTH_SEEN : TRUTH_LOST;
        for (uint32_t j = 0; j < i && thread->seen == TRUTH_SEEN; j++) {
            const struct truth_thread *before = &truth->threads[j];

            if (before->pid == thread->pid && before->tid == thread->tid &&
                before->to > truth->from && !seen_in_file(seen, before->ended)) {
                thread->seen = TRUTH_LOST; /* they look like one */
            }
        }
    }
}

static unsigned seen_span(const struct seen *seen, const struct truth_span *span)
{
    const struct truth *truth = seen->truth;
    const struct sim_event *events = seen->sim->events;
    uint64_t from = span->from;

    if (seen->file->no_threads) {
        return TRUTH_FILTERED;
    }
    if (span->from < truth->from || span->ended == TRUTH_NONE) {
        return TRUTH_EDGE;
    }
    if (truth->threads[span->thread].seen != TRUTH_SEEN || !seen_in_file(seen, span->began) ||
        !seen_in_file(seen, span->ended)) {
        return TRUTH_LOST;
    }
    if (span->state == STATE_RUNNING) {
        return seen_covered(seen, (unsigned)span->cpu, from, span->to) ? TRUTH_SEEN : TRUTH_LOST;
    }
    from = events[span->began].time;
    return seen_all_covered(seen, from, span->to) ? TRUTH_SEEN : TRUTH_LOST;
}

/* What ended it, before the events are gone through: of a run it was the state after it. */
static unsigned seen_left(const struct seen *seen, const struct truth_span *span)
{
    if (span->seen != TRUTH_SEEN || span->end.kind == TRUTH_END_RUN) {
        return span->seen;
    }
    return span->state == STATE_RUNNING && seen_in_file(seen, span->call) &&
                   seen_all_covered(seen, seen->sim->events[span->call].time, span->to)
               ? TRUTH_SEEN
               : TRUTH_LOST;
}

/* At the event of its state: which thread ran there must be known. */
static void seen_began(const struct seen *seen, struct truth_span *span,
                       const struct sim_event *event)
{
    const struct seen_cpu *c = &seen->cpus[event->cpu];

    if (span->seen == TRUTH_SEEN &&
        (c->current == TRUTH_NONE ||
         !seen_covered(seen, event->cpu, seen->sim->events[c->running].time, event->time))) {
        span->seen = span->seen_end = TRUTH_LOST;
    }
}

static unsigned seen_message_of(const struct seen *seen, const struct truth_span *span)
{
    const struct truth_message *message;

    if (span->seen != TRUTH_SEEN || span->other == TRUTH_NONE) {
        return span->seen;
    }
    message = &seen->truth->messages[span->other];
    if (message->seen != TRUTH_SEEN) {
        return message->seen;
    }
    return seen_all_covered(seen, message->sent, span->from) ? TRUTH_SEEN : TRUTH_LOST;
}

static void seen_object(const struct seen *seen, struct truth_span *span)
{
    const struct sim_event *call = span->call == TRUTH_NONE ? NULL : &seen->sim->events[span->call];
    unsigned shown = span->seen;

    if (shown == TRUTH_SEEN && seen->file->no_calls) {
        shown = TRUTH_FILTERED;
    }
    if (shown == TRUTH_SEEN &&
        (call == NULL || !call->in_file || !seen_all_covered(seen, call->time, span->from))) {
        shown = call != NULL && call->time < seen->truth->from ? TRUTH_EDGE : TRUTH_LOST;
    }
    span->seen_object = (uint8_t)shown;
    span->seen_other = (uint8_t)shown;
    if (span->state == STATE_SEND || span->state == STATE_REPLY) {
        span->seen_other = (uint8_t)seen_message_of(seen, span);
    } else if (span->state == STATE_MUTEX && shown == TRUTH_SEEN && span->other != TRUTH_NONE &&
               seen->truth->threads[span->other].seen != TRUTH_SEEN) {
        span->seen_other = TRUTH_LOST;
    } else if (span->state == STATE_MUTEX && shown == TRUTH_SEEN && span->other != TRUTH_NONE &&
               (call->number != CALL_MUTEX_LOCK ||
                (call->words[1] & 0x7fffffffu) !=
                    (uint32_t)seen->truth->threads[span->other].tid)) {
        span->seen_other = TRUTH_ALIKE; /* no event names that owner */
    }
    span->seen_priority =
        (uint8_t)(seen->sim->options.fast && span->seen == TRUTH_SEEN ? TRUTH_FILTERED
                                                                      : span->seen);
}

static void seen_message_sent(struct seen *seen, struct truth_message *message)
{
    const struct sim_event *event = &seen->sim->events[message->events[0]];

    message->seen = seen->file->no_messages || seen->file->no_threads ? TRUTH_FILTERED
                    : message->sent < seen->truth->from               ? TRUTH_EDGE
                    : seen_runs(seen, event->cpu, message->client, event->time) &&
                            seen->truth->threads[message->client].seen == TRUTH_SEEN
                        ? TRUTH_SEEN
                        : TRUTH_LOST;
    message->seen_server = message->seen_end = message->seen;
}

static void seen_message_received(struct seen *seen, struct truth_message *message)
{
    const struct sim_event *event = &seen->sim->events[message->events[1]];
    bool shown = seen_all_covered(seen, message->sent, event->time) &&
                 seen->truth->threads[message->server].seen == TRUTH_SEEN;

    if (message->events[2] == TRUTH_NONE) {
        shown &= seen_runs(seen, event->cpu, message->server, event->time);
    } else {
        shown &=
            seen_runs(seen, event->cpu, message->client, event->time) &&
            seen_in_file(seen, message->events[2]) &&
            seen_covered(seen, event->cpu, event->time, seen->sim->events[message->events[2]].time);
    }
    if (message->seen == TRUTH_SEEN && !shown) {
        message->seen_server = TRUTH_LOST;
    }
}

static void seen_messages_end(struct seen *seen)
{
    for (uint32_t i = 0; i < seen->truth->nmessages; i++) {
        struct truth_message *message = &seen->truth->messages[i];

        if (message->seen == TRUTH_SEEN && !seen_in_file(seen, message->events[0])) {
            message->seen = message->seen_server = message->seen_end = TRUTH_LOST;
        }
        if (message->seen_server == TRUTH_SEEN && message->server != TRUTH_NONE &&
            !seen_in_file(seen, message->events[1])) {
            message->seen_server = TRUTH_LOST;
        }
        if (message->seen_end != TRUTH_SEEN) {
            continue;
        }
        if (message->end == TRUTH_MESSAGE_OPEN) {
            message->seen_end = TRUTH_EDGE;
        } else if (!seen_in_file(seen, message->events[3]) ||
                   !seen_all_covered(seen, message->sent, message->replied)) {
            message->seen_end = TRUTH_LOST;
        }
    }
}

/* The depth of one is known if those are seen that it interrupts. */
static void seen_interrupts(struct seen *seen)
{
    struct truth *truth = seen->truth;
    uint64_t outermost[SIM_CPUS_MOST] = {0};

    for (uint32_t i = 0; i < truth->ninterrupts; i++) {
        struct truth_interrupt *interrupt = &truth->interrupts[i];
        uint64_t *from = &outermost[interrupt->cpu];
        bool shown;

        *from = interrupt->depth == 0 ? interrupt->from : *from;
        shown = seen_in_file(seen, interrupt->events[0]) &&
                seen_in_file(seen, interrupt->events[1]) &&
                seen_covered(seen, (unsigned)interrupt->cpu, *from, interrupt->to);
        interrupt->seen = *from < truth->from         ? TRUTH_EDGE
                          : seen->file->no_interrupts ? TRUTH_FILTERED
                          : shown                     ? TRUTH_SEEN
                                                      : TRUTH_LOST;
    }
}

static void seen_others(struct seen *seen)
{
    struct truth *truth = seen->truth;

    seen_interrupts(seen);
    for (uint32_t i = 0; i < truth->nspans; i++) {
        seen_object(seen, &truth->spans[i]);
    }
    for (uint32_t i = 0; i < truth->ncalls; i++) {
        struct truth_call *call = &truth->calls[i];
        bool shown = seen_in_file(seen, call->events[0]) && seen_in_file(seen, call->events[1]) &&
                     seen_all_covered(seen, call->from, call->to) &&
                     truth->threads[call->thread].seen == TRUTH_SEEN;

        if (call->seen != TRUTH_SEEN) {
            continue;
        }
        call->seen = call->from < truth->from || call->events[1] == TRUTH_NONE ? TRUTH_EDGE
                     : seen->file->no_calls || seen->file->no_threads          ? TRUTH_FILTERED
                     : shown                                                   ? TRUTH_SEEN
                                                                               : TRUTH_LOST;
    }
}

/* ---- all of it --------------------------------------------------------------------- */

static uint32_t *seen_indexes(uint32_t count)
{
    uint32_t *all = malloc((count + 1) * sizeof(*all));

    if (all == NULL) {
        abort();
    }
    memset(all, 0xff, (count + 1) * sizeof(*all)); /* TRUTH_NONE */
    return all;
}

static void seen_index(struct seen *seen)
{
    struct truth *truth = seen->truth;

    for (uint32_t i = 0; i < truth->nspans; i++) {
        const struct truth_span *span = &truth->spans[i];

        if (span->state == STATE_RUNNING) {
            seen->life_of[span->began] = span->thread;
            continue;
        }
        seen->began_of[span->began] = i;
        if (span->ended != TRUTH_NONE && span->end.kind != TRUTH_END_RUN) {
            seen->span_of[span->ended] = i;
        }
    }
    for (uint32_t i = 0; i < truth->nmessages; i++) {
        for (unsigned n = 0; n < 2; n++) {
            if (truth->messages[i].events[n] != TRUTH_NONE) {
                seen->message_of[truth->messages[i].events[n]] = i;
            }
        }
    }
    for (uint32_t i = 0; i < truth->ncalls; i++) {
        for (unsigned n = 0; n < 2; n++) {
            if (truth->calls[i].events[n] != TRUTH_NONE) {
                seen->call_of[truth->calls[i].events[n]] = i;
            }
        }
    }
}

/* THRUNNING events that begin no span: of the thread that runs there already, or of the dump. */
static void seen_running(struct seen *seen)
{
    struct sim *sim = seen->sim;
    uint32_t traced[SIM_CPUS_MOST];

    memset(traced, 0xff, sizeof(traced));
    for (uint32_t i = 0; i < sim->nevents; i++) {
        const struct sim_event *event = &sim->events[i];

        if (event->class != TRACE_CLASS_PR_TH || event->number != STATE_RUNNING) {
            continue;
        }
        if (seen->life_of[i] == TRUTH_NONE) {
            seen->life_of[i] = traced[event->cpu];
        }
        traced[event->cpu] = seen->life_of[i];
    }
}

void sim_seen(struct sim *sim, const struct sim_written *written)
{
    struct seen seen = {.sim = sim, .file = written, .truth = sim->truth};

    seen.span_of = seen_indexes(sim->nevents);
    seen.began_of = seen_indexes(sim->nevents);
    seen.message_of = seen_indexes(sim->nevents);
    seen.call_of = seen_indexes(sim->nevents);
    seen.life_of = seen_indexes(sim->nevents);
    seen.in_call = calloc(sim->truth->nthreads + 1, 1);
    for (unsigned cpu = 0; cpu < SIM_CPUS_MOST; cpu++) {
        seen.cpus[cpu] = (struct seen_cpu){.current = TRUTH_NONE,
                                           .running = TRUTH_NONE,
                                           .last = TRUTH_NONE,
                                           .delivers = TRUTH_NONE,
                                           .before = TRUTH_NONE};
    }
    seen_index(&seen);
    seen_running(&seen);
    seen_threads(&seen);
    for (uint32_t i = 0; i < sim->truth->nspans; i++) {
        struct truth_span *span = &sim->truth->spans[i];

        span->seen = (uint8_t)seen_span(&seen, span);
        span->seen_end = (uint8_t)seen_left(&seen, span);
    }
    for (uint32_t i = 0; i < sim->nevents; i++) {
        uint32_t span = seen.span_of[i], message = seen.message_of[i];

        if (!sim->events[i].in_file) {
            continue;
        }
        if (seen.began_of[i] != TRUTH_NONE) {
            seen_began(&seen, &sim->truth->spans[seen.began_of[i]], &sim->events[i]);
        }
        if (span != TRUTH_NONE) {
            sim->truth->spans[span].seen_end = (uint8_t)seen_cause(&seen, &sim->truth->spans[span]);
        }
        if (message != TRUTH_NONE && sim->truth->messages[message].events[0] == i) {
            seen_message_sent(&seen, &sim->truth->messages[message]);
        } else if (message != TRUTH_NONE) {
            seen_message_received(&seen, &sim->truth->messages[message]);
        }
        if (seen.call_of[i] != TRUTH_NONE && sim->events[i].number < TRACE_KERCALL_EXIT &&
            !seen_runs(&seen, sim->events[i].cpu, sim->truth->calls[seen.call_of[i]].thread,
                       sim->events[i].time)) {
            sim->truth->calls[seen.call_of[i]].seen = TRUTH_LOST;
        }
        seen_event(&seen, i);
    }
    seen_messages_end(&seen);
    seen_others(&seen);
    free(seen.span_of);
    free(seen.began_of);
    free(seen.message_of);
    free(seen.call_of);
    free(seen.life_of);
    free(seen.in_call);
}
