/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages, pulses, interrupts, kernel calls and user events of the timeline, and what caused a
 * state: the interrupt that the CPU of its event was busy with, else the thread that ran there.
 * Messages are matched as `kymo stat` does (host/stat/messages.c). Proof:
 * test/timeline/test_timeline.c.
 */
#include "host/timeline/make.h"
#include "abi/sys/trace.h"
#include "trace/slot.h"

#define BUCKETS 65536 /* a power of two */
#define CHAIN_MOST 64 /* messages looked at for one that is received */
#define COMM_SEND 0
#define COMM_RECEIVE 2
#define COMM_RECEIVE_PULSE 3
#define COMM_PULSES_END 8
#define COMM_REPLY 10
#define COMM_ERROR 11
#define INT_ENTRY 1
#define INT_EXIT 2
#define CALL_TRACE_EVENT 1
#define CALL_SYNC_FIRST 78
#define CALL_SYNC_LAST 87
#define CALL_CONDVAR_WAIT 82

/* Behind an interrupt its doing can't be told from that of a kernel call that it interrupted, or
 * that was not recorded, but for what only interrupts end. */
static bool is_interrupts(const struct make *make, unsigned on, uint32_t thread)
{
    const struct make_cpu *cpu = &make->cpus[on];
    uint32_t open = make->threads[thread].open;
    unsigned was = open == TIMELINE_NONE ? TIMELINE_UNKNOWN : make->timeline->spans[open].state;
    bool calls = make->filters.no_calls ||
                 (cpu->current != TIMELINE_NONE && !make->timeline->threads[cpu->current].idle &&
                  make->threads[cpu->current].call != TIMELINE_NONE);

    return !calls || cpu->depth > 0 || was == STATE_NANOSLEEP || was == STATE_INTR;
}

void others_cause(const struct make *make, unsigned on, uint32_t thread, struct make_state *state)
{
    const struct make_cpu *cpu = &make->cpus[on];
    bool current = make->threads[thread].cpu == (int)on;

    if (!cpu->covered) {
        return;
    }
    if (current && state->state == STATE_READY) {
        state->cause = TIMELINE_CAUSE_PREEMPTED;
    } else if (current) {
        state->cause = TIMELINE_CAUSE_SELF;
    } else if (cpu->after_interrupt && state->state == STATE_READY) {
        if (is_interrupts(make, on, thread)) {
            state->cause = TIMELINE_CAUSE_INTERRUPT;
            state->by = cpu->interrupt;
        }
    } else if (cpu->current != TIMELINE_NONE) {
        state->cause = TIMELINE_CAUSE_THREAD;
        state->by = cpu->current;
    }
}

/* ---- messages ---------------------------------------------------------------------- */

static uint32_t *bucket_of(const struct make *make, int32_t pid, uint32_t rcvid)
{
    uint64_t key = (uint64_t)(uint32_t)pid << 32 | rcvid;

    return &make->buckets[(key * 0x9e3779b97f4a7c15ull) >> 40 & (BUCKETS - 1)];
}

static void message_sent(struct make *make, const struct kev_item *item, const uint32_t *words)
{
    struct timeline *timeline = make->timeline;
    uint32_t client = make->cpus[item->cpu].current, index = timeline->nmessages, links = index;
    uint32_t *bucket = bucket_of(make, (int32_t)words[1], words[0]), *link;
    struct timeline_message *message;

    make->cpus[item->cpu].handed = TIMELINE_NONE;
    message = make_more(make, &timeline->messages, &timeline->nmessages, &make->messages_room,
                        sizeof(*message));
    link = make_more(make, &make->chain, &links, &make->chain_room, sizeof(*link));
    if (message == NULL || link == NULL) {
        return;
    }
    *link = *bucket;
    *bucket = index;
    *message = (struct timeline_message){.sent = item->ns,
                                         .received = KEV_NEVER,
                                         .replied = KEV_NEVER,
                                         .client = client,
                                         .server = TIMELINE_NONE,
                                         .rcvid = words[0],
                                         .server_pid = (int32_t)words[1]};
    if (client != TIMELINE_NONE) {
        make->threads[client].message = index;
        make->threads[client].message_epoch = make->epoch;
    }
}

/* The message that is received, taken out of its chain. */
static uint32_t message_take(struct make *make, int32_t pid, uint32_t rcvid)
{
    const struct timeline *timeline = make->timeline;
    uint32_t *link = bucket_of(make, pid, rcvid);

    for (unsigned i = 0; i < CHAIN_MOST && *link != TIMELINE_NONE; i++) {
        const struct timeline_message *message = &timeline->messages[*link];
        uint32_t index = *link;

        if (message->server_pid == pid && message->rcvid == rcvid) {
            *link = make->chain[index];
            return index;
        }
        link = &make->chain[index];
    }
    return TIMELINE_NONE;
}

static void message_received(struct make *make, const struct kev_item *item, const uint32_t *words)
{
    struct timeline *timeline = make->timeline;
    struct make_cpu *cpu = &make->cpus[item->cpu];
    uint32_t index = message_take(make, (int32_t)words[1], words[0]);
    struct timeline_message *message;
    const struct make_thread *client;

    cpu->handed = TIMELINE_NONE;
    if ((int32_t)words[1] < 0 || index == TIMELINE_NONE) {
        return; /* a receive that failed; one whose sending was not recorded */
    }
    message = &timeline->messages[index];
    client = message->client == TIMELINE_NONE ? NULL : &make->threads[message->client];
    if (client == NULL || client->message != index || !make_known(make, client->message_epoch)) {
        return; /* rcvids are used again */
    }
    message->received = item->ns;
    if (cpu->current == message->client) {
        cpu->handed = index;
    } else if (cpu->current != TIMELINE_NONE &&
               timeline->threads[cpu->current].pid == message->server_pid) {
        message->server = cpu->current;
    }
}

/* The client goes on, or is gone. */
static void message_end(struct make *make, uint32_t client, int64_t ns, uint32_t flags)
{
    struct make_thread *of = &make->threads[client];
    struct timeline_message *message;

    if (of->message == TIMELINE_NONE) {
        return;
    }
    if (make_known(make, of->message_epoch)) {
        message = &make->timeline->messages[of->message];
        message->flags |= flags;
        message->replied = ns;
    }
    of->message = TIMELINE_NONE;
}

void others_over(struct make *make, uint32_t thread, unsigned on, int64_t ns, bool ready)
{
    struct make_cpu *cpu = &make->cpus[on];
    uint32_t handed = cpu->handed;

    cpu->handed = TIMELINE_NONE;
    if (ready && handed != TIMELINE_NONE &&
        make->timeline->threads[thread].pid == make->timeline->messages[handed].server_pid) {
        make->timeline->messages[handed].server = thread;
    }
    message_end(make, thread, ns, TIMELINE_ABORTED);
}

static void pulse_sent(struct make *make, const struct kev_item *item, const uint32_t *words)
{
    struct timeline *timeline = make->timeline;
    const struct make_cpu *cpu = &make->cpus[item->cpu];
    struct timeline_pulse *pulse =
        make_more(make, &timeline->pulses, &timeline->npulses, &make->pulses_room, sizeof(*pulse));

    if (pulse == NULL) {
        return;
    }
    *pulse = (struct timeline_pulse){.sent = item->ns,
                                     .by = TIMELINE_NONE,
                                     .to_pid = (int32_t)words[1],
                                     .scoid = words[0],
                                     .code = (uint8_t)item->code};
    if (cpu->covered && cpu->after_interrupt) {
        pulse->cause = TIMELINE_CAUSE_INTERRUPT;
        pulse->by = cpu->interrupt;
    } else if (cpu->covered && cpu->current != TIMELINE_NONE) {
        pulse->cause = TIMELINE_CAUSE_THREAD;
        pulse->by = cpu->current;
    }
}

static void comm_event(struct make *make, const struct kev_item *item, const uint32_t *words)
{
    if (item->code == COMM_SEND || item->code == COMM_RECEIVE || item->code >= COMM_REPLY) {
        make->cpus[item->cpu].after_interrupt = false; /* no interrupt's doing */
    }
    if (item->code == COMM_SEND) {
        message_sent(make, item, words);
    } else if (item->code == COMM_RECEIVE) {
        message_received(make, item, words);
    } else if (item->code == COMM_REPLY || item->code == COMM_ERROR) {
        uint32_t client = make_thread_of(make, (int32_t)words[1], (int32_t)words[0], item->ns);

        if (client != TIMELINE_NONE) {
            message_end(make, client, item->ns, item->code == COMM_ERROR ? TIMELINE_ERROR : 0);
        }
    } else if (item->code < COMM_PULSES_END && item->code != COMM_RECEIVE_PULSE) {
        pulse_sent(make, item, words);
    }
}

/* ---- interrupts -------------------------------------------------------------------- */

static void interrupt_begin(struct make *make, const struct kev_item *item, uint32_t number)
{
    struct timeline *timeline = make->timeline;
    struct make_cpu *cpu = &make->cpus[item->cpu];
    struct timeline_interrupt *interrupt;

    if (cpu->depth == MAKE_NESTED) {
        return;
    }
    interrupt = make_more(make, &timeline->interrupts, &timeline->ninterrupts,
                          &make->interrupts_room, sizeof(*interrupt));
    if (interrupt == NULL) {
        return;
    }
    *interrupt = (struct timeline_interrupt){.from = item->ns,
                                             .to = KEV_NEVER,
                                             .number = number,
                                             .cpu = (int16_t)item->cpu,
                                             .depth = (uint8_t)cpu->depth,
                                             .flags = TIMELINE_FROM};
    cpu->nested[cpu->depth++] = timeline->ninterrupts - 1;
    cpu->after_interrupt = true;
    cpu->interrupt = number;
}

static void interrupts_end(struct make *make, unsigned on, unsigned depth, int64_t ns)
{
    struct make_cpu *cpu = &make->cpus[on];

    while (cpu->depth > depth) {
        make->timeline->interrupts[cpu->nested[--cpu->depth]].to = ns;
    }
}

/* An entry may have been lost: only a matching one counts. */
static void interrupt_end(struct make *make, const struct kev_item *item, uint32_t number)
{
    struct make_cpu *cpu = &make->cpus[item->cpu];
    struct timeline_interrupt *interrupts = make->timeline->interrupts;
    unsigned depth = cpu->depth;

    while (depth > 0 && interrupts[cpu->nested[depth - 1]].number != number) {
        depth--;
    }
    if (depth > 0) {
        interrupts[cpu->nested[depth - 1]].flags |= TIMELINE_TO;
        interrupts_end(make, (unsigned)item->cpu, depth - 1, item->ns);
    }
    cpu->after_interrupt = true;
    cpu->interrupt = number;
}

void others_lose_cpu(struct make *make, unsigned on, int64_t ns)
{
    interrupts_end(make, on, 0, ns);
    make->cpus[on].after_interrupt = false;
    make->cpus[on].handed = TIMELINE_NONE;
}

/* ---- kernel calls and user events -------------------------------------------------- */

static void call_end(struct make *make, uint32_t thread, int64_t ns, int number)
{
    struct make_thread *of = &make->threads[thread];
    struct timeline_call *call;

    if (of->call == TIMELINE_NONE) {
        return;
    }
    call = &make->timeline->calls[of->call];
    of->call = TIMELINE_NONE;
    of->call_owner = 0;
    call->to = ns;
    if (!make_known(make, of->call_epoch) && of->call_epoch < make->epoch) {
        call->to = make->epoch_end[of->call_epoch];
    } else if (number == call->number) {
        call->flags |= TIMELINE_TO;
    }
}

static void call_begin(struct make *make, const struct kev_item *item, uint32_t thread)
{
    struct timeline *timeline = make->timeline;
    struct make_thread *of = &make->threads[thread];
    struct timeline_call *call =
        make_more(make, &timeline->calls, &timeline->ncalls, &make->calls_room, sizeof(*call));

    if (call == NULL) {
        return;
    }
    *call = (struct timeline_call){.from = item->ns,
                                   .to = KEV_NEVER,
                                   .thread = thread,
                                   .number = (uint16_t)(item->number % 128),
                                   .class_id = (uint8_t)item->class_id,
                                   .flags = TIMELINE_FROM};
    if (call->number >= CALL_SYNC_FIRST && call->number <= CALL_SYNC_LAST) {
        const struct kev_value *sync = kev_capture_value_of(timeline->capture, "sync");
        const struct kev_value *owner = kev_capture_value_of(timeline->capture, "owner");

        call->object = sync == NULL ? 0 : sync->number;
        of->call_owner = owner == NULL || call->number == CALL_CONDVAR_WAIT
                             ? 0
                             : (uint32_t)owner->number & 0x7fffffffu;
    }
    of->call = timeline->ncalls - 1;
    of->call_epoch = make->epoch;
}

bool timeline_hides(const uint32_t *words, unsigned nwords, bool wide)
{
    uint32_t class_id = nwords > (wide ? 2u : 1u) ? words[wide ? 2 : 1] : 0;
    bool matters = class_id == _NTO_TRACE_THREAD || class_id == _NTO_TRACE_COMM ||
                   class_id == _NTO_TRACE_INT || class_id == _NTO_TRACE_INTENTER ||
                   class_id == _NTO_TRACE_INTEXIT;

    switch (nwords > 0 ? words[0] : 0) {
    case _NTO_TRACE_DELALLCLASSES:
    case KYMO_TRACE_SETGATE:
        return true;
    case _NTO_TRACE_DELCLASS:
    case _NTO_TRACE_DELEVENT:
    case _NTO_TRACE_SETCLASSPID:
    case _NTO_TRACE_SETCLASSTID:
    case _NTO_TRACE_SETEVENTPID:
    case _NTO_TRACE_SETEVENTTID:
        return matters;
    default:
        return false;
    }
}

static void call_event(struct make *make, const struct kev_item *item, const uint32_t *words,
                       unsigned nwords)
{
    bool enter = (item->number & (TRACE_KERCALL_EXIT | TRACE_KERCALL_INT)) == TRACE_KERCALL_ENTER;
    uint32_t thread = make_thread_of(make, item->pid, item->tid, item->ns);

    make->cpus[item->cpu].after_interrupt = false;
    if (enter && item->number % 128 == CALL_TRACE_EVENT &&
        kev_capture_facts(make->timeline->capture)->is_kymo &&
        timeline_hides(words, nwords, (item->number & TRACE_EVENT_64) != 0)) {
        make->timeline->doubt = "a program changed the filters meanwhile: what threads did behind "
                                "that is unknown";
        cover_stop(make, item->ns);
    }
    if (thread == TIMELINE_NONE) {
        return;
    }
    call_end(make, thread, item->ns, enter ? -1 : (int)(item->number % 128));
    if (enter) {
        call_begin(make, item, thread);
    }
}

static void user_event(struct make *make, const struct kev_item *item)
{
    struct timeline *timeline = make->timeline;
    struct timeline_user *user =
        make_more(make, &timeline->users, &timeline->nusers, &make->users_room, sizeof(*user));

    make->cpus[item->cpu].after_interrupt = false;
    if (user != NULL) {
        *user = (struct timeline_user){.ns = item->ns,
                                       .offset = item->offset,
                                       .thread = make->cpus[item->cpu].current,
                                       .number = (uint16_t)item->number,
                                       .cpu = (int16_t)item->cpu};
    }
}

void others_event(struct make *make, const struct kev_item *item)
{
    const uint32_t *words;
    unsigned nwords = kev_capture_words(make->timeline->capture, &words);

    switch (item->class_id) {
    case TRACE_CLASS_COMM:
        if (nwords >= 2) {
            comm_event(make, item, words);
        }
        break;
    case TRACE_CLASS_INT:
        if (nwords > 0 && item->code == INT_ENTRY) {
            interrupt_begin(make, item, words[0]);
        } else if (nwords > 0 && item->code == INT_EXIT) {
            interrupt_end(make, item, words[0]);
        }
        break;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        call_event(make, item, words, nwords);
        break;
    case TRACE_CLASS_USER:
        user_event(make, item);
        break;
    default:
        break;
    }
}

void others_end(struct make *make)
{
    struct timeline *timeline = make->timeline;

    for (unsigned cpu = 0; cpu < TIMELINE_CPUS; cpu++) {
        interrupts_end(make, cpu, 0, timeline->to);
    }
    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        call_end(make, i, timeline->to, -1);
    }
}
