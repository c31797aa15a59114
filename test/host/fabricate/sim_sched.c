/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated system's events, states, scheduler and kernel exit: kernel/thread/sched.c and
 * kernel/entry/exit.c in short. The acting CPU is sim->on; it has the kernel lock.
 */
#include <stdlib.h>
#include <string.h>

#include "test/host/fabricate/sim.h"

#define SCHED_QUANTUM 3000 /* cycles */
#define SCHED_RR 2

/* ---- events ------------------------------------------------------------------------ */

uint32_t sim_event(struct sim *sim, unsigned cpu, unsigned class, unsigned number,
                   const uint32_t *words, unsigned nwords)
{
    struct sim_event *event;

    if (!sim->quiet) {
        sim->quiet = true;
        sim_between(sim, cpu);
        sim->quiet = false;
    }
    sim->now += SIM_STEP + sim_below(sim, 8) * sim_below(sim, 30);
    sim->events = mk_grown(sim->events, sim->nevents, sizeof(*sim->events));
    event = &sim->events[sim->nevents];
    *event = (struct sim_event){.time = sim->now,
                                .cpu = (uint8_t)cpu,
                                .class = (uint8_t) class,
                                .number = (uint16_t)number,
                                .nwords = (uint8_t)nwords};
    memcpy(event->words, words, nwords * sizeof(*words));
    return sim->nevents++;
}

uint32_t sim_event2(struct sim *sim, unsigned cpu, unsigned class, unsigned number, uint32_t a,
                    uint32_t b)
{
    return sim_event(sim, cpu, class, number, (uint32_t[]){a, b}, 2);
}

/* ---- spans ------------------------------------------------------------------------- */

void sim_cause(struct sim *sim, unsigned kind, uint32_t by, uint32_t actor)
{
    sim->cause = (struct truth_cause){
        .kind = (uint8_t)kind, .by = by, .actor = actor, .cpu = (int16_t)sim->on};
}

static void sim_span_begin(struct sim *sim, int thread, const struct truth_span *span)
{
    struct truth *truth = sim->truth;

    truth->spans = mk_grown(truth->spans, truth->nspans, sizeof(*truth->spans));
    sim->threads[thread].span = truth->nspans;
    truth->spans[truth->nspans++] = *span;
}

/* At the event; sim->cause has ended it. */
void sim_span_end(struct sim *sim, int thread, uint32_t event)
{
    struct sim_thread *t = &sim->threads[thread];
    struct truth_span *span;

    if (t->span == TRUTH_NONE) {
        return;
    }
    span = &sim->truth->spans[t->span];
    span->to = sim->events[event].time;
    span->ended = event;
    span->end = sim->cause;
    span->end.at = span->to;
    span->end.cpu = sim->events[event].cpu;
    t->span = TRUTH_NONE;
}

static struct truth_span sim_span_of(const struct sim *sim, int thread, int state, uint32_t event)
{
    const struct sim_thread *t = &sim->threads[thread];
    struct truth_span span = {.from = sim->events[event].time,
                              .to = UINT64_MAX,
                              .thread = t->life,
                              .other = TRUTH_NONE,
                              .cpu = -1,
                              .state = (uint8_t)state,
                              .priority = t->priority,
                              .own = t->own,
                              .began = event,
                              .ended = TRUTH_NONE,
                              .end.cpu = -1,
                              .call = t->call_event};

    if (state == STATE_MUTEX || state == STATE_SEM || state == STATE_CONDVAR) {
        span.object = t->address;
    }
    if (state == STATE_MUTEX && t->owner >= 0) {
        span.other = sim->threads[t->owner].life;
    }
    if (state == STATE_SEND || state == STATE_REPLY) {
        span.other = t->message;
    }
    return span;
}

uint32_t sim_state(struct sim *sim, int thread, int state)
{
    struct sim_thread *t = &sim->threads[thread];
    uint32_t pid = (uint32_t)sim->procs[t->proc].pid;
    uint32_t event = sim_event(sim, sim->on, TRACE_CLASS_PR_TH, (unsigned)state,
                               (uint32_t[]){pid, (uint32_t)t->tid, t->priority, SCHED_RR}, 4);
    struct truth_span span = sim_span_of(sim, thread, state, event);

    t->state = state;
    if (t->traced_cpu >= 0) { /* begins when it leaves that CPU */
        t->left = t->next_set ? t->left : sim->cause;
        t->next = span;
        t->next_set = true;
        return event;
    }
    sim_span_end(sim, thread, event);
    sim_span_begin(sim, thread, &span);
    return event;
}

/* The CPU's thread by the events changes; `thread` gets it. */
void sim_running(struct sim *sim, unsigned cpu, int thread)
{
    struct sim_thread *t = &sim->threads[thread];
    struct sim_cpu *c = &sim->cpus[cpu];
    struct truth_cause cause = sim->cause;
    uint32_t event = sim_event(
        sim, cpu, TRACE_CLASS_PR_TH, STATE_RUNNING,
        (uint32_t[]){(uint32_t)sim->procs[t->proc].pid, (uint32_t)t->tid, t->priority, SCHED_RR},
        4);
    struct truth_span span = sim_span_of(sim, thread, STATE_RUNNING, event);
    int left = c->traced;

    t->state = STATE_RUNNING;
    if (left == thread) {
        t->next_set = false;
        return;
    }
    if (left != SIM_NOBODY) {
        struct sim_thread *before = &sim->threads[left];
        uint32_t span_left = before->span;

        before->traced_cpu = -1;
        if (before->next_set || before->state == STATE_DEAD) { /* what made it leave */
            sim->cause = before->left;
        }
        sim_span_end(sim, left, event);
        sim->truth->spans[span_left].call = before->next_set ? before->next.began : event;
        if (before->next_set) {
            before->next.from = sim->events[event].time;
            sim_span_begin(sim, left, &before->next);
            before->next_set = false;
        }
    }
    sim_cause(sim, TRUTH_END_RUN, TRUTH_NONE, TRUTH_NONE);
    sim_span_end(sim, thread, event);
    span.cpu = (int16_t)cpu;
    sim_span_begin(sim, thread, &span);
    t->traced_cpu = (int)cpu;
    c->traced = thread;
    sim->cause = cause;
}

/* ---- waiting ----------------------------------------------------------------------- */

void sim_block(struct sim *sim, int thread, int state)
{
    struct sim_thread *t = &sim->threads[thread];
    struct truth_cause cause = sim->cause;

    sim_cause(sim, TRUTH_END_SELF, t->life, t->life);
    sim_state(sim, thread, state);
    sim->cause = cause;
    t->order = ++sim->order;
    if (t->timeout_states >> state & 1) {
        t->timed = true;
        t->timeout_at = t->timeout_next;
        t->timeout_cpu = (int)sim->on;
    }
}

void sim_ready(struct sim *sim, int thread)
{
    struct sim_cpu *c = &sim->cpus[sim->on];

    sim->threads[thread].order = ++sim->order;
    if (c->current == SIM_NOBODY ||
        sim->threads[thread].priority > sim->threads[c->current].priority ||
        sim->options.cpus > 1) {
        c->resched = true;
    }
}

void sim_wake(struct sim *sim, int thread, int32_t result, int32_t error)
{
    struct sim_thread *t = &sim->threads[thread];

    t->result = result;
    t->error = error;
    t->timed = t->deferred = false;
    t->timeout_states = 0;
    t->address = 0;
    t->owner = -1;
    sim_state(sim, thread, STATE_READY);
    sim_ready(sim, thread);
}

int sim_first(struct sim *sim, int proc, int state, uint64_t address)
{
    int best = -1;

    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *t = &sim->threads[i], *b = &sim->threads[best < 0 ? 0 : best];

        if (!t->used || t->state != state || (state != STATE_SEND && t->proc != proc) ||
            (state == STATE_SEND && (t->target != proc || t->server >= 0)) ||
            (address != 0 && t->address != address)) {
            continue;
        }
        if (best < 0 || t->priority > b->priority ||
            (t->priority == b->priority && t->order < b->order)) {
            best = i;
        }
    }
    return best;
}

void sim_priority(struct sim *sim, int thread)
{
    struct sim_thread *t = &sim->threads[thread];
    uint8_t highest = t->own;

    highest = t->message_priority > highest ? t->message_priority : highest;
    highest = t->sync_priority > highest ? t->sync_priority : highest;
    highest = t->call_priority > highest ? t->call_priority : highest;
    if (highest == t->priority) {
        return;
    }
    t->priority = highest;
    sim->cpus[sim->on].resched = true;
    if (t->state == STATE_MUTEX && t->owner >= 0) {
        sim_inherit(sim, t->owner);
    } else if (t->state == STATE_RUNNING && t->cpu >= 0 && t->cpu != (int)sim->on) {
        sim->cpus[t->cpu].resched = sim->cpus[t->cpu].ipi = true;
    }
}

/* ---- the scheduler ----------------------------------------------------------------- */

static int sched_best(const struct sim *sim)
{
    int best = SIM_NOBODY;

    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *t = &sim->threads[i], *b = &sim->threads[best < 0 ? 0 : best];

        if (t->used && !t->idle && t->state == STATE_READY &&
            (best < 0 || t->priority > b->priority ||
             (t->priority == b->priority && t->order < b->order))) {
            best = i;
        }
    }
    return best;
}

/* Kicks the CPUs that should run what is left READY: an idle one, else the one that runs least. */
static void sched_kick(struct sim *sim, unsigned self)
{
    uint32_t left = ((1u << sim->options.cpus) - 1) & ~(1u << self);
    bool tried[SIM_THREADS] = {false};

    while (left != 0) {
        int best = -1, cpu = -1, lowest = 256;

        for (int i = 0; i < SIM_THREADS; i++) {
            const struct sim_thread *t = &sim->threads[i];

            if (t->used && !t->idle && !tried[i] && t->state == STATE_READY && t->cpu < 0 &&
                (best < 0 || t->priority > sim->threads[best].priority)) {
                best = i;
            }
        }
        for (unsigned i = 0; best >= 0 && i < sim->options.cpus; i++) {
            int current = sim->cpus[i].current;
            int priority = current == SIM_NOBODY ? -1 : sim->threads[current].priority;

            if ((left >> i & 1) && priority < lowest && priority < sim->threads[best].priority) {
                cpu = (int)i;
                lowest = priority;
            }
        }
        if (cpu < 0) {
            return;
        }
        tried[best] = true;
        left &= ~(1u << cpu);
        if (!sim->cpus[cpu].resched) {
            sim->cpus[cpu].resched = sim->cpus[cpu].ipi = true;
        }
    }
}

static void sched_switch_to(struct sim *sim, unsigned cpu, int before, int next)
{
    struct sim_cpu *c = &sim->cpus[cpu];
    struct truth_cause cause = sim->cause;

    if (before == SIM_NOBODY && next == SIM_NOBODY &&
        sim->threads[c->idle].state == STATE_RUNNING) {
        return;
    }
    if (before != SIM_NOBODY && before != next) {
        sim->threads[before].cpu = -1;
    }
    if (before == SIM_NOBODY && sim->threads[c->idle].state == STATE_RUNNING) {
        sim_cause(sim, TRUTH_END_PREEMPTED, TRUTH_NONE, TRUTH_NONE);
        sim_state(sim, c->idle, STATE_READY);
    }
    c->current = next;
    if (next != SIM_NOBODY) {
        sim->threads[next].cpu = (int)cpu;
        c->quantum_end = sim->now + SCHED_QUANTUM;
    }
    sim_running(sim, cpu, next == SIM_NOBODY ? c->idle : next);
    sim->cause = cause;
}

/* The most urgent thread whose timeout is deferred, if it is more urgent than all READY ones. */
static int sched_service(const struct sim *sim, int next)
{
    int best = SIM_NOBODY;

    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *t = &sim->threads[i];

        if (t->used && t->timed && t->deferred &&
            (best < 0 || t->priority > sim->threads[best].priority)) {
            best = i;
        }
    }
    return best >= 0 && next >= 0 && sim->threads[next].priority > sim->threads[best].priority
               ? SIM_NOBODY
               : best;
}

/* The CPU's thread from now on, SIM_NOBODY: it idles. */
static int sched_switch(struct sim *sim, unsigned cpu)
{
    struct sim_cpu *c = &sim->cpus[cpu];
    int self = c->current, next = sched_best(sim), service = sched_service(sim, next);
    bool running = self != SIM_NOBODY && sim->threads[self].state == STATE_RUNNING;
    int priority = service >= 0 ? sim->threads[service].priority
                   : next >= 0  ? sim->threads[next].priority
                                : -1;

    c->resched = false;
    if (running && priority <= sim->threads[self].priority) {
        sched_kick(sim, cpu);
        return self;
    }
    if (running) {
        struct truth_cause cause = sim->cause;

        sim_cause(sim, TRUTH_END_PREEMPTED, sim->threads[self].life, sim->threads[self].life);
        sim_state(sim, self, STATE_READY);
        sim->threads[self].order = 0; /* first of its priority */
        sim->cause = cause;
    }
    if (service >= 0) { /* it idles, and does the work first */
        next = SIM_NOBODY;
        c->service = service;
    }
    sched_switch_to(sim, cpu, self, next);
    sched_kick(sim, cpu);
    return next;
}

/* The end of a quantum: another one of its priority gets the CPU. */
static void sched_quantum(struct sim *sim, unsigned cpu)
{
    struct sim_cpu *c = &sim->cpus[cpu];
    int self = c->current, next = sched_best(sim);

    if (self == SIM_NOBODY || next == SIM_NOBODY || sim->now < c->quantum_end ||
        sim->threads[self].state != STATE_RUNNING ||
        sim->threads[next].priority != sim->threads[self].priority) {
        return;
    }
    sim_cause(sim, TRUTH_END_PREEMPTED, sim->threads[self].life, sim->threads[self].life);
    sim_state(sim, self, STATE_READY);
    sim->threads[self].order = ++sim->order;
    c->resched = true;
}

/* ---- the kernel's exit --------------------------------------------------------------- */

static void exit_line(struct sim *sim, unsigned cpu, unsigned line)
{
    int thread = sim->attached[line];
    uint32_t number = SIM_LINE + line, pid;

    if (thread < 0) {
        return;
    }
    pid = (uint32_t)sim->procs[sim->threads[thread].proc].pid;
    sim_event(sim, cpu, TRACE_CLASS_INT, 3, (uint32_t[]){pid, number, 0, 0}, 4);
    sim_cause(sim, TRUTH_END_INTERRUPT, number, TRUTH_NONE);
    if (sim->attached_pulse[line]) {
        sim_pulse_to(sim, sim->threads[thread].proc, COMM_SND_PULSE_EXE, 0x20000001u);
    } else if (sim->threads[thread].state == STATE_INTR) {
        sim_wake(sim, thread, 0, 0);
    } else {
        sim->threads[thread].intr_pulses++;
    }
    sim_event(sim, cpu, TRACE_CLASS_INT, 4,
              (uint32_t[]){number, sim->attached_pulse[line] ? 4 : 6, 0, 0, 0}, 5);
}

/* A thread of another process that is more urgent runs: the timeout waits (kernel/time/timer.c,
 * timer_waits()). */
static bool exit_defers(const struct sim *sim, unsigned cpu, int thread)
{
    int current = sim->cpus[cpu].current;

    return current != SIM_NOBODY && sim->threads[current].state == STATE_RUNNING &&
           sim->threads[current].priority > sim->threads[thread].priority &&
           sim->threads[current].proc != sim->threads[thread].proc;
}

static void exit_timer_fires(struct sim *sim, int thread)
{
    sim->threads[thread].timed = sim->threads[thread].deferred = false;
    sim_cause(sim, TRUTH_END_TIMER, SIM_TIMER, TRUTH_NONE);
    sim->cause.timed_out = true;
    sim_cancel(sim, thread, 116);
}

/* Timers of processes, each of which sends a pulse to its own channel. */
static void exit_pulses(struct sim *sim, unsigned cpu)
{
    for (int i = 0; i < SIM_PROCS; i++) {
        struct sim_proc *proc = &sim->procs[i];

        if (proc->used && !proc->dying && proc->timer_at != 0 && proc->timer_cpu == (int)cpu &&
            proc->timer_at <= sim->now) {
            proc->timer_at = proc->timer_every == 0 ? 0 : sim->now + proc->timer_every;
            sim_cause(sim, TRUTH_END_TIMER, SIM_TIMER, TRUTH_NONE);
            sim_pulse_to(sim, i, COMM_SND_PULSE_EXE, 0x20000001u);
        }
    }
}

static void exit_timers(struct sim *sim, unsigned cpu)
{
    for (;;) {
        int first = -1;

        for (int i = 0; i < SIM_THREADS; i++) {
            const struct sim_thread *t = &sim->threads[i];

            if (t->used && t->timed && !t->deferred && t->timeout_cpu == (int)cpu &&
                t->timeout_at <= sim->now &&
                (first < 0 || t->timeout_at < sim->threads[first].timeout_at)) {
                first = i;
            }
        }
        if (first < 0) {
            return;
        }
        if (exit_defers(sim, cpu, first)) {
            sim->threads[first].deferred = true;
            sim->cpus[cpu].resched = true;
        } else {
            exit_timer_fires(sim, first);
        }
    }
}

static void exit_work(struct sim *sim, unsigned cpu)
{
    struct sim_cpu *c = &sim->cpus[cpu];
    uint32_t lines = c->lines;
    int current;

    c->lines = 0;
    for (unsigned line = 0; line < SIM_LINES; line++) {
        if (lines >> line & 1) {
            exit_line(sim, cpu, line);
        }
    }
    if (c->timer) {
        c->timer = false;
        sched_quantum(sim, cpu);
        exit_pulses(sim, cpu);
        exit_timers(sim, cpu);
    }
    if (c->service >= 0) {
        int service = c->service;

        c->service = SIM_NOBODY;
        c->resched = true;
        if (sim->threads[service].used && sim->threads[service].deferred &&
            sim->threads[service].timed) {
            exit_timer_fires(sim, service);
        }
    }
    current = c->current;
    if (current != SIM_NOBODY && sim->threads[current].dying) {
        sim_cause(sim, TRUTH_END_KILL, sim->threads[current].killer, sim->threads[current].life);
        sim_thread_end(sim, current);
    }
}

void sim_aborted(struct sim *sim, int thread, unsigned cpu)
{
    const struct sim_thread *t = &sim->threads[thread];
    unsigned number = (unsigned)t->call.number;

    sim_event2(sim, cpu, trace_kercall_class(number), number | TRACE_KERCALL_INT, 0, 0);
    sim->truth->calls[t->call_truth].aborted = true;
}

static void exit_call_event(struct sim *sim, int thread, unsigned cpu)
{
    struct sim_thread *t = &sim->threads[thread];
    unsigned number = (unsigned)t->call.number;
    uint32_t event =
        sim_event2(sim, cpu, trace_kercall_class(number), number | TRACE_KERCALL_EXIT,
                   t->error != 0 ? (uint32_t)-1 : (uint32_t)t->result, (uint32_t)t->error);

    t->call.number = SIM_NO_CALL;
    t->timeout_states = number == CALL_TIMER_TIMEOUT ? t->timeout_states : 0;
    sim->truth->calls[t->call_truth].to = sim->events[event].time;
    sim->truth->calls[t->call_truth].events[1] = event;
}

/* True: the thread goes on in the kernel, and a preemption point follows. */
static bool exit_goes_on(struct sim *sim, int thread, unsigned cpu)
{
    struct sim_thread *t = &sim->threads[thread];
    int result;

    if (t->aborted) {
        t->aborted = false;
        sim_aborted(sim, thread, cpu);
        t->call.number = t->ending ? SIM_NO_CALL : t->call.number;
        return true;
    }
    if (!t->again && !t->ending) {
        return false;
    }
    sim_cause(sim, TRUTH_END_THREAD, t->life, t->life);
    if (t->ending) {
        sim_end_step(sim, thread);
        return true;
    }
    t->again = false;
    result = sim_call(sim, thread);
    return result != SIM_DONE || t->again;
}

void sim_exit(struct sim *sim, unsigned cpu)
{
    struct sim_cpu *c = &sim->cpus[cpu];

    for (;;) {
        int t = c->current;

        sim->on = cpu;
        exit_work(sim, cpu);
        t = c->current;
        if (c->resched || t == SIM_NOBODY || sim->threads[t].state != STATE_RUNNING) {
            t = sched_switch(sim, cpu);
        }
        if (t == SIM_NOBODY) {
            if (c->lines != 0 || c->timer || c->resched || c->service >= 0) {
                continue;
            }
            return;
        }
        if (sim->threads[t].again || sim->threads[t].ending || sim->threads[t].aborted) {
            if (!sim->threads[t].aborted && sim_chance(sim, 20)) {
                return; /* a preemption point: others get the lock */
            }
            if (exit_goes_on(sim, t, cpu)) {
                continue;
            }
        }
        if (sim->threads[t].call.number != SIM_NO_CALL) {
            exit_call_event(sim, t, cpu);
        }
        if (c->lines == 0 && !c->timer && !c->resched && c->service < 0) {
            return;
        }
    }
}

void sim_enter(struct sim *sim, int thread)
{
    struct sim_thread *t = &sim->threads[thread];
    struct truth *truth = sim->truth;
    unsigned number = (unsigned)t->call.number;

    t->call_event = sim_event(sim, (unsigned)t->cpu, trace_kercall_class(number), number,
                              t->call.words, t->call.nwords);
    truth->calls = mk_grown(truth->calls, truth->ncalls, sizeof(*truth->calls));
    t->call_truth = truth->ncalls;
    truth->calls[truth->ncalls++] =
        (struct truth_call){.from = sim->events[t->call_event].time,
                            .to = UINT64_MAX,
                            .object = number >= 80 && number <= 85 ? t->call.words[0] : 0,
                            .thread = t->life,
                            .number = (uint16_t)number,
                            .events = {t->call_event, TRUTH_NONE}};
}
