/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated system: see model.h. Its kernel makes events in the order in which Kymo's does
 * (kernel/ipc/msg.c, kernel/thread/sched.c): a state's event comes while the thread is still
 * current, the receive of a message that is handed over stands on the sender's CPU before the
 * receiver is READY.
 */
#include "test/host/fabricate/model.h"

#include <stdlib.h>
#include <string.h>

#define PR_TH TRACE_CLASS_PR_TH
#define COMM TRACE_CLASS_COMM
#define SERVER_PID 20 /* this and the next are servers; the first sends to the second */

uint32_t model_random(struct model *model)
{
    model->random = model->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(model->random >> 33);
}

static unsigned below(struct model *model, unsigned n)
{
    return model_random(model) % n;
}

static void segment(struct model *model, int thread)
{
    const struct model_thread *t = &model->threads[thread];
    int state = t->cpu >= 0 ? STATE_RUNNING : t->state;

    model->segments = mk_grown(model->segments, model->nsegments, sizeof(*model->segments));
    if (model->last[thread] >= 0) {
        model->segments[model->last[thread]].end = model->now;
    }
    model->last[thread] = (int)model->nsegments;
    model->segments[model->nsegments++] =
        (struct model_segment){model->now, UINT64_MAX, thread, state, t->cpu};
}

/* Each server that runs works for the client that it received last, and for that one's. */
static void charge(struct model *model, uint64_t from)
{
    for (unsigned cpu = 0; cpu < model->ncpu; cpu++) {
        int32_t server = model->threads[model->current[cpu]].pid;
        const struct model_thread *t = &model->threads[model->current[cpu]];

        while (t->nclients > 0) {
            int client = t->clients[t->nclients - 1];

            model->charges = mk_grown(model->charges, model->ncharges, sizeof(*model->charges));
            model->charges[model->ncharges++] =
                (struct model_charge){from, model->now, client, server};
            t = &model->threads[client];
        }
    }
}

static void event(struct model *model, unsigned cpu, unsigned class, unsigned number, uint32_t a,
                  uint32_t b)
{
    uint64_t before = model->now;

    model->now += MODEL_STEP + below(model, 8) * below(model, 60);
    charge(model, before);
    model->events = mk_grown(model->events, model->nevents, sizeof(*model->events));
    model->events[model->nevents++] =
        (struct model_event){model->now, (uint8_t)cpu, (uint8_t) class, (uint16_t)number, {a, b}};
}

/* Any state but RUNNING. */
static void set_state(struct model *model, unsigned cpu, int thread, int state)
{
    struct model_thread *t = &model->threads[thread];

    event(model, cpu, PR_TH, (unsigned)state, (uint32_t)t->pid, (uint32_t)t->tid);
    t->state = state;
    if (t->cpu < 0) {
        segment(model, thread);
    }
}

static void run(struct model *model, unsigned cpu, int thread)
{
    struct model_thread *t = &model->threads[thread];
    int before = model->current[cpu];

    event(model, cpu, PR_TH, STATE_RUNNING, (uint32_t)t->pid, (uint32_t)t->tid);
    if (before >= 0) {
        model->threads[before].cpu = -1;
        segment(model, before);
    }
    t->cpu = (int)cpu;
    t->state = STATE_RUNNING;
    model->current[cpu] = thread;
    segment(model, thread);
}

/* A thread that is READY and runs nowhere, at random; else the CPU's idle thread. */
static int ready_pick(struct model *model, unsigned cpu)
{
    unsigned from = below(model, model->nthreads);

    for (unsigned i = 0; i < model->nthreads; i++) {
        unsigned n = (from + i) % model->nthreads;
        const struct model_thread *t = &model->threads[n];

        if (n >= model->ncpu && t->state == STATE_READY && t->cpu < 0) {
            return (int)n;
        }
    }
    return (int)cpu;
}

static void switch_away(struct model *model, unsigned cpu)
{
    int next = ready_pick(model, cpu);

    if (next != model->current[cpu]) {
        run(model, cpu, next);
    }
}

/* Wakes a thread that waits for no message. */
static void wake(struct model *model, unsigned cpu)
{
    unsigned from = below(model, model->nthreads);

    for (unsigned i = 0; i < model->nthreads; i++) {
        unsigned n = (from + i) % model->nthreads;
        int state = model->threads[n].state;

        if (state == STATE_SEM || state == STATE_NANOSLEEP || state == STATE_MUTEX) {
            set_state(model, cpu, (int)n, STATE_READY);
            return;
        }
    }
}

static void received(struct model *model, int server, int client)
{
    struct model_thread *s = &model->threads[server];
    struct model_message *message = &model->messages[model->threads[client].message];

    message->server = server;
    message->received = model->now;
    s->clients[s->nclients++] = client;
}

static void send(struct model *model, unsigned cpu, int32_t to)
{
    int self = model->current[cpu], receiver = -1;
    struct model_thread *t = &model->threads[self];
    uint32_t rcvid = 0x100u + (uint32_t)self;

    for (unsigned i = 0; i < model->nthreads; i++) {
        const struct model_thread *r = &model->threads[i];

        if (r->pid == to && r->state == STATE_RECEIVE && r->cpu < 0) {
            receiver = (int)i;
        }
    }
    event(model, cpu, COMM, 0, rcvid, (uint32_t)to);
    model->messages = mk_grown(model->messages, model->nmessages, sizeof(*model->messages));
    t->message = (int)model->nmessages;
    model->messages[model->nmessages++] =
        (struct model_message){.client = self, .server = -1, .to = to, .sent = model->now};
    set_state(model, cpu, self, receiver >= 0 ? STATE_REPLY : STATE_SEND);
    if (receiver >= 0) {
        event(model, cpu, COMM, 2, rcvid, (uint32_t)to);
        received(model, receiver, self);
        set_state(model, cpu, receiver, STATE_READY);
    }
    switch_away(model, cpu);
}

static void receive(struct model *model, unsigned cpu)
{
    int self = model->current[cpu];

    for (unsigned i = 0; i < model->nthreads; i++) {
        const struct model_thread *c = &model->threads[i];

        if (c->state == STATE_SEND && model->messages[c->message].to == model->threads[self].pid) {
            set_state(model, cpu, (int)i, STATE_REPLY);
            event(model, cpu, COMM, 2, 0x100u + i, (uint32_t)model->threads[self].pid);
            received(model, self, (int)i);
            return;
        }
    }
    set_state(model, cpu, self, STATE_RECEIVE);
    switch_away(model, cpu);
}

static void reply(struct model *model, unsigned cpu)
{
    struct model_thread *s = &model->threads[model->current[cpu]];
    int n = (int)below(model, (unsigned)s->nclients), client = s->clients[n];
    struct model_thread *c = &model->threads[client];

    event(model, cpu, COMM, below(model, 4) == 0 ? 11 : 10, (uint32_t)c->tid, (uint32_t)c->pid);
    model->messages[c->message].replied = model->now;
    c->message = -1;
    memmove(&s->clients[n], &s->clients[n + 1], (size_t)(--s->nclients - n) * sizeof(int));
    set_state(model, cpu, client, STATE_READY);
}

static void interrupt(struct model *model, unsigned cpu)
{
    event(model, cpu, TRACE_CLASS_INT, 1, 27 + cpu, 0);
    if (below(model, 2) == 0) {
        wake(model, cpu);
    }
    event(model, cpu, TRACE_CLASS_INT, 2, 27 + cpu, 0);
}

static void server_step(struct model *model, unsigned cpu)
{
    const struct model_thread *s = &model->threads[model->current[cpu]];

    if (s->nclients > 0 && s->pid == SERVER_PID && below(model, 3) == 0) {
        send(model, cpu, SERVER_PID + 1);
    } else if (s->nclients > 0 && (s->nclients > 3 || below(model, 3) > 0)) {
        reply(model, cpu);
    } else {
        receive(model, cpu);
    }
}

static void client_step(struct model *model, unsigned cpu)
{
    static const int states[] = {STATE_SEM, STATE_NANOSLEEP, STATE_MUTEX};

    if (below(model, 3) == 0) {
        set_state(model, cpu, model->current[cpu], states[below(model, 3)]);
        switch_away(model, cpu);
    } else {
        send(model, cpu, SERVER_PID + (int32_t)below(model, 2));
    }
}

static void step(struct model *model, unsigned cpu)
{
    int self = model->current[cpu];
    unsigned what = below(model, 8);

    if (self == (int)cpu) {
        if (what < 3) {
            interrupt(model, cpu);
        }
        int next = ready_pick(model, cpu);
        if (next != self) {
            set_state(model, cpu, self, STATE_READY);
            run(model, cpu, next);
        }
    } else if (what == 0) {
        interrupt(model, cpu);
    } else if (what == 1) {
        wake(model, cpu);
    } else if (what == 2) {
        set_state(model, cpu, self, STATE_READY);
        int next = ready_pick(model, cpu);
        run(model, cpu, next);
    } else if (model->threads[self].pid >= SERVER_PID) {
        server_step(model, cpu);
    } else {
        client_step(model, cpu);
    }
}

struct model *model_run(unsigned ncpu, unsigned events, uint64_t seed)
{
    struct model *model = calloc(1, sizeof(*model));

    model->ncpu = ncpu;
    model->nthreads = ncpu + 4 + (unsigned)(seed % (MODEL_THREADS - MODEL_CPUS - 4));
    model->random = seed * 2 + 1;
    model->now = 1000 + (seed % 3 == 0 ? 0xfffff000u : 0);
    for (unsigned i = 0; i < model->nthreads; i++) {
        struct model_thread *t = &model->threads[i];
        bool server = i >= ncpu && i < ncpu + 3;

        t->pid = i < ncpu ? 1 : server ? SERVER_PID + (i == ncpu + 2) : 10 + (int32_t)(i % 3);
        t->tid = 1 + (int32_t)i;
        t->state = i < ncpu ? STATE_RUNNING : server ? STATE_RECEIVE : STATE_READY;
        t->cpu = i < ncpu ? (int)i : -1;
        t->message = model->last[i] = -1;
        if (i < ncpu) {
            model->current[i] = (int)i;
        }
        segment(model, (int)i);
    }
    while (model->nevents < events) {
        step(model, below(model, 3) == 0 ? 0 : below(model, ncpu)); /* CPU 0 is the busiest */
    }
    model->now += MODEL_STEP;
    return model;
}

void model_free(struct model *model)
{
    free(model->events);
    free(model->segments);
    free(model->messages);
    free(model->charges);
    free(model);
}

static uint64_t overlap(uint64_t from, uint64_t to, struct kev_span span)
{
    from = from > span.from ? from : span.from;
    to = to < span.to ? to : span.to;
    return to > from ? to - from : 0;
}

uint64_t model_state_time(const struct model *model, int thread, int state, struct kev_span span)
{
    uint64_t time = 0;

    for (unsigned i = 0; i < model->nsegments; i++) {
        const struct model_segment *s = &model->segments[i];

        if (s->thread == thread && s->state == state && s->time < span.to) {
            time += overlap(s->time, s->end, span);
        }
    }
    return time;
}

uint64_t model_cpu_time(const struct model *model, unsigned cpu, bool idle, struct kev_span span)
{
    uint64_t time = 0;

    for (unsigned i = 0; i < model->nsegments; i++) {
        const struct model_segment *s = &model->segments[i];

        if (s->cpu == (int)cpu && (s->thread < (int)model->ncpu) == idle && s->time < span.to) {
            time += overlap(s->time, s->end, span);
        }
    }
    return time;
}

uint64_t model_imposed(const struct model *model, int client, int32_t server, struct kev_span span)
{
    uint64_t time = 0;

    for (unsigned i = 0; i < model->ncharges; i++) {
        const struct model_charge *charge = &model->charges[i];

        if (charge->client == client && charge->server == server) {
            time += overlap(charge->from, charge->to, span);
        }
    }
    return time;
}
