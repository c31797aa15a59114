/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages, pulses, interrupts and user events of the timeline, and the causes of states: the
 * interrupt that the CPU of its event was busy with, else the thread that ran there. Messages are
 * matched as `kymo stat` does (host/stat/messages.c). Proof: test/host/timeline/timeline_test.c.
 */
#include "host/timeline/make.h"
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
#define HANDLER_ENTRY 3
#define HANDLER_EXIT 4
#define FUNCTION_ENTER 10
#define FUNCTION_EXIT 11

/* After an interrupt its doing can't be told from that of a kernel call that it interrupted, or
 * that was not recorded, but for waits that only interrupts end. */
static bool is_interrupts(const struct make *make, unsigned on, uint32_t thread)
{
    const struct make_cpu *cpu = &make->cpus[on];
    uint32_t open = make->threads[thread].open;
    unsigned was = open == TIMELINE_NONE ? TIMELINE_UNKNOWN : make->timeline->spans[open].state;
    bool calls = make->filters.no_calls ||
                 (cpu->current != TIMELINE_NONE && !make->timeline->threads[cpu->current].idle &&
                  make->threads[cpu->current].call != TIMELINE_NONE);

    return !calls || cpu->interrupts.depth > 0 || was == STATE_NANOSLEEP || was == STATE_INTR;
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

static uint32_t *timeline_bucket_of(const struct make *make, int32_t pid, uint32_t rcvid)
{
    uint64_t key = (uint64_t)(uint32_t)pid << 32 | rcvid;

    return &make->buckets[(key * 0x9e3779b97f4a7c15ull) >> 40 & (BUCKETS - 1)];
}

static void timeline_message_sent(struct make *make, const struct kev_item *item,
                                  const uint32_t *words)
{
    struct timeline *timeline = make->timeline;
    uint32_t client = make->cpus[item->cpu].current, index = timeline->nmessages, links = index;
    uint32_t *bucket = timeline_bucket_of(make, (int32_t)words[1], words[0]), *link;
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
static uint32_t timeline_message_take(struct make *make, int32_t pid, uint32_t rcvid)
{
    const struct timeline *timeline = make->timeline;
    uint32_t *link = timeline_bucket_of(make, pid, rcvid);

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

static void timeline_message_received(struct make *make, const struct kev_item *item,
                                      const uint32_t *words)
{
    struct timeline *timeline = make->timeline;
    struct make_cpu *cpu = &make->cpus[item->cpu];
    uint32_t index = timeline_message_take(make, (int32_t)words[1], words[0]);
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
static void timeline_message_end(struct make *make, uint32_t client, int64_t ns, uint32_t flags)
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
    timeline_message_end(make, thread, ns, TIMELINE_ABORTED);
}

static void timeline_pulse_sent(struct make *make, const struct kev_item *item,
                                const uint32_t *words)
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

static void timeline_comm_event(struct make *make, const struct kev_item *item,
                                const uint32_t *words)
{
    if (item->code == COMM_SEND || item->code == COMM_RECEIVE || item->code >= COMM_REPLY) {
        make->cpus[item->cpu].after_interrupt = false; /* no interrupt's doing */
    }
    if (item->code == COMM_SEND) {
        timeline_message_sent(make, item, words);
    } else if (item->code == COMM_RECEIVE) {
        timeline_message_received(make, item, words);
    } else if (item->code == COMM_REPLY || item->code == COMM_ERROR) {
        uint32_t client = make_thread_of(make, (int32_t)words[1], (int32_t)words[0], item->ns);

        if (client != TIMELINE_NONE) {
            timeline_message_end(make, client, item->ns,
                                 item->code == COMM_ERROR ? TIMELINE_ERROR : 0);
        }
    } else if (item->code < COMM_PULSES_END && item->code != COMM_RECEIVE_PULSE) {
        timeline_pulse_sent(make, item, words);
    }
}

/* ---- interrupts -------------------------------------------------------------------- */

/* The array that the runs of one nest are in. */
static struct timeline_interrupt *nest_array(const struct make *make, const struct make_nest *nest,
                                             unsigned on)
{
    return nest == &make->cpus[on].interrupts ? make->timeline->interrupts
                                              : make->timeline->handlers;
}

static void nest_begin(struct make *make, struct make_nest *nest, const struct kev_item *item,
                       uint32_t number)
{
    struct timeline *timeline = make->timeline;
    bool handler = nest == &make->cpus[item->cpu].handlers;
    uint32_t *count = handler ? &timeline->nhandlers : &timeline->ninterrupts;
    struct timeline_interrupt *interrupt;

    if (nest->depth == MAKE_NESTED) {
        return;
    }
    interrupt = handler ? make_more(make, &timeline->handlers, count, &make->handlers_room,
                                    sizeof(*interrupt))
                        : make_more(make, &timeline->interrupts, count, &make->interrupts_room,
                                    sizeof(*interrupt));
    if (interrupt == NULL) {
        return;
    }
    *interrupt = (struct timeline_interrupt){.from = item->ns,
                                             .to = KEV_NEVER,
                                             .number = number,
                                             .cpu = (int16_t)item->cpu,
                                             .depth = (uint8_t)nest->depth,
                                             .flags = TIMELINE_FROM};
    nest->open[nest->depth++] = *count - 1;
}

static void nest_end_to(struct make *make, struct make_nest *nest, unsigned on, unsigned depth,
                        int64_t ns)
{
    while (nest->depth > depth) {
        nest_array(make, nest, on)[nest->open[--nest->depth]].to = ns;
    }
}

/* An entry may have been lost: only a matching one counts. */
static void nest_end(struct make *make, struct make_nest *nest, const struct kev_item *item,
                     uint32_t number)
{
    struct timeline_interrupt *array = nest_array(make, nest, (unsigned)item->cpu);
    unsigned depth = nest->depth;

    while (depth > 0 && array[nest->open[depth - 1]].number != number) {
        depth--;
    }
    if (depth > 0) {
        array[nest->open[depth - 1]].flags |= TIMELINE_TO;
        nest_end_to(make, nest, (unsigned)item->cpu, depth - 1, item->ns);
    }
}

static void timeline_interrupt_event(struct make *make, const struct kev_item *item,
                                     uint32_t number)
{
    struct make_cpu *cpu = &make->cpus[item->cpu];

    switch (item->code) {
    case INT_ENTRY:
        if (cpu->interrupts.depth == MAKE_NESTED) {
            return;
        }
        nest_begin(make, &cpu->interrupts, item, number);
        break;
    case INT_EXIT:
        nest_end(make, &cpu->interrupts, item, number);
        break;
    case HANDLER_ENTRY:
        nest_begin(make, &cpu->handlers, item, number);
        return;
    case HANDLER_EXIT:
        nest_end(make, &cpu->handlers, item, number);
        return;
    default:
        return;
    }
    cpu->after_interrupt = true;
    cpu->interrupt = number;
}

/* A thread enters a kernel call: no interrupt is open any more, even if no event said so. */
void others_in_thread(struct make *make, unsigned on, int64_t ns)
{
    nest_end_to(make, &make->cpus[on].interrupts, on, 0, ns);
    nest_end_to(make, &make->cpus[on].handlers, on, 0, ns);
    make->cpus[on].after_interrupt = false;
}

void others_lose_cpu(struct make *make, unsigned on, int64_t ns)
{
    others_in_thread(make, on, ns);
    make->cpus[on].handed = TIMELINE_NONE;
}

/* ---- events -------------------------------------------------------------------------- */

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
            timeline_comm_event(make, item, words);
        }
        break;
    case TRACE_CLASS_INT:
        if (nwords > 0) {
            timeline_interrupt_event(make, item, words[0]);
        }
        break;
    case TRACE_CLASS_SYSTEM:
        if (item->code == FUNCTION_ENTER || item->code == FUNCTION_EXIT) {
            functions_event(make, item);
        }
        break;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        calls_event(make, item, words, nwords);
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
        nest_end_to(make, &make->cpus[cpu].interrupts, cpu, 0, timeline->to);
        nest_end_to(make, &make->cpus[cpu].handlers, cpu, 0, timeline->to);
    }
}
