/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the simulated system's threads and devices do, at random, and the start of the recording.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/host/fabricate/sim.h"

#define RUN_WARM_UP 150 /* steps before the recording */
#define RUN_ALL_STATES \
    (1u << STATE_SEND | 1u << STATE_RECEIVE | 1u << STATE_REPLY | 1u << STATE_MUTEX | \
     1u << STATE_CONDVAR | 1u << STATE_JOIN | 1u << STATE_INTR | 1u << STATE_SEM)
#define RUN_ENTERED_ELSEWHERE 5 /* percent, before each event */
#define RUN_INTERRUPT_ELSEWHERE 3
#define RUN_INTERRUPT_HERE 2

uint32_t sim_below(struct sim *sim, uint32_t n)
{
    sim->random = sim->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((sim->random >> 33) % n);
}

bool sim_chance(struct sim *sim, unsigned percent)
{
    return sim_below(sim, 100) < percent;
}

/* ---- interrupts -------------------------------------------------------------------- */

void sim_interrupt(struct sim *sim, unsigned cpu, uint32_t number, bool in_kernel)
{
    struct sim_cpu *c = &sim->cpus[cpu];
    struct truth *truth = sim->truth;
    uint32_t index = truth->ninterrupts, event;
    bool inside = sim->inside, same = cpu == sim->on;

    sim->inside |= same && c->depth > 0;
    event = sim_event2(sim, cpu, TRACE_CLASS_INT, 1, number, in_kernel ? 0xffff0000u : 0x400100u);
    truth->interrupts =
        mk_grown(truth->interrupts, index = truth->ninterrupts, sizeof(*truth->interrupts));
    truth->ninterrupts++;
    truth->interrupts[index] = (struct truth_interrupt){.from = sim->events[event].time,
                                                        .number = number,
                                                        .cpu = (int16_t)cpu,
                                                        .depth = (uint8_t)c->depth,
                                                        .events = {event, TRUTH_NONE}};
    c->depth++;
    if (number >= SIM_LINE) {
        c->lines |= 1u << (number - SIM_LINE);
    } else {
        c->timer |= number == SIM_TIMER;
        c->resched |= number == SIM_IPI;
    }
    if (c->depth < 3 && sim_chance(sim, 2)) { /* a more urgent one comes at once */
        sim_interrupt(sim, cpu, SIM_LINE + sim_below(sim, SIM_LINES), true);
    }
    event = sim_event2(sim, cpu, TRACE_CLASS_INT, 2, number, in_kernel);
    truth->interrupts[index].to = sim->events[event].time;
    truth->interrupts[index].events[1] = event;
    c->depth--;
    sim->inside = inside;
}

static uint32_t run_any_interrupt(struct sim *sim)
{
    uint32_t n = sim_below(sim, 2 * SIM_LINES);

    return n < SIM_LINES ? SIM_LINE + n : SIM_TIMER;
}

static bool run_in_user_mode(const struct sim *sim, unsigned cpu)
{
    const struct sim_cpu *c = &sim->cpus[cpu];
    const struct sim_thread *t = &sim->threads[c->current < 0 ? 0 : c->current];

    return c->current >= 0 && t->state == STATE_RUNNING && t->call.number == SIM_NO_CALL &&
           !t->ending && !t->again && !t->entered && !t->aborted && c->lines == 0 && !c->timer;
}

static void run_choose(struct sim *sim, int self);

/* Before an event of this CPU. The others don't have the kernel's lock. */
void sim_between(struct sim *sim, unsigned cpu)
{
    unsigned other = sim_below(sim, sim->options.cpus);

    if (sim->inside && cpu == sim->on && sim_chance(sim, RUN_INTERRUPT_HERE)) {
        sim_interrupt(sim, cpu, run_any_interrupt(sim), true);
    }
    if (other == cpu || other == sim->on) {
        return;
    }
    if (run_in_user_mode(sim, other) && sim_chance(sim, RUN_ENTERED_ELSEWHERE)) {
        int thread = sim->cpus[other].current;

        run_choose(sim, thread);
        if (sim->threads[thread].call.number != SIM_NO_CALL) {
            sim->threads[thread].entered = true;
            sim_enter(sim, thread);
        }
    } else if (sim_chance(sim, RUN_INTERRUPT_ELSEWHERE)) {
        int current = sim->cpus[other].current;
        bool in_kernel = current >= 0 && !run_in_user_mode(sim, other);

        sim_interrupt(sim, other, run_any_interrupt(sim), in_kernel);
    }
}

/* ---- what threads do --------------------------------------------------------------- */

static void run_args(struct sim *sim, int self, int number, uint32_t a, uint32_t b)
{
    sim->threads[self].call =
        (struct sim_args){.number = number, .words = {a, b}, .nwords = 2, .thread = -1};
}

/* A living process but the kernel's, or -1. */
static int run_any_process(struct sim *sim)
{
    int proc = 1 + (int)sim_below(sim, SIM_PROCS - 1);

    return sim->procs[proc].used && !sim->procs[proc].dying ? proc : -1;
}

static int run_any_thread_of(struct sim *sim, int proc)
{
    int from = (int)sim_below(sim, SIM_THREADS);

    for (int i = 0; i < SIM_THREADS; i++) {
        int thread = (from + i) % SIM_THREADS;

        if (sim->threads[thread].used && sim->threads[thread].proc == proc) {
            return thread;
        }
    }
    return -1;
}

/* A mutex that the thread owns; -1. *highest: the highest of those. */
static int run_owned(const struct sim *sim, int self, int *highest)
{
    const struct sim_proc *proc = &sim->procs[sim->threads[self].proc];
    int any = -1;

    for (int i = 0; i < SIM_OBJECTS; i++) {
        any = proc->mutexes[i].owner == self ? i : any;
    }
    *highest = any;
    return any;
}

static void run_choose_mutex(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    struct sim_proc *proc = &sim->procs[t->proc];
    int highest, owned = run_owned(sim, self, &highest), object;
    uint64_t address;

    if (owned >= 0 && sim_chance(sim, 70)) {
        address = sim_mutex_address(owned);
        if (!sim->quiet && sim_first(sim, t->proc, STATE_MUTEX, address) < 0) {
            proc->mutexes[owned].owner = SIM_FREE; /* without the kernel */
            return;
        }
        run_args(sim, self, CALL_MUTEX_UNLOCK, (uint32_t)address, (uint32_t)t->tid | 0x80000000u);
        t->call.object = owned;
        return;
    }
    if (highest + 1 >= SIM_OBJECTS) {
        return;
    }
    object = highest + 1 + (int)sim_below(sim, (uint32_t)(SIM_OBJECTS - highest - 1));
    if (proc->mutexes[object].owner == SIM_FREE && !sim->quiet) {
        proc->mutexes[object].owner = self; /* likewise */
        return;
    }
    address = sim_mutex_address(object);
    run_args(sim, self, CALL_MUTEX_LOCK, (uint32_t)address, 0);
    t->call.object = object;
    if (proc->mutexes[object].owner >= 0) {
        bool waits = sim_first(sim, t->proc, STATE_MUTEX, address) >= 0;

        t->call.words[1] =
            (uint32_t)sim->threads[proc->mutexes[object].owner].tid | (waits ? 0x80000000u : 0);
    }
}

static void run_choose_cond(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int highest, owned = run_owned(sim, self, &highest);
    int object = (int)sim_below(sim, SIM_OBJECTS);
    uint32_t address = (uint32_t)sim_cond_address(object);

    if (owned >= 0 && sim_chance(sim, 50)) {
        run_args(sim, self, CALL_CONDVAR_WAIT, address, (uint32_t)sim_mutex_address(owned));
        t->call.other = owned;
    } else {
        bool all = sim_chance(sim, 30);

        run_args(sim, self, CALL_CONDVAR_SIGNAL, address, all);
        t->call.all = all;
    }
    t->call.object = object;
}

static void run_choose_sem(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int object = (int)sim_below(sim, SIM_OBJECTS);
    struct sim_object *sem = &sim->procs[t->proc].sems[object];

    if (sim_chance(sim, 55)) {
        run_args(sim, self, CALL_SEM_POST, (uint32_t)sim_sem_address(object), (uint32_t)sem->count);
    } else if (sem->count > 0 && !sim->quiet) {
        sem->count--; /* without the kernel */
    } else {
        run_args(sim, self, CALL_SEM_WAIT, (uint32_t)sim_sem_address(object), 0);
    }
    t->call.object = object;
}

static void run_choose_message(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int proc = run_any_process(sim);

    for (int i = 0; i < SIM_THREADS && sim_chance(sim, 97); i++) {
        const struct sim_thread *client = &sim->threads[i];
        bool error = sim_chance(sim, 20);

        if (client->used && client->state == STATE_REPLY && client->target == t->proc &&
            sim_chance(sim, 60)) {
            run_args(sim, self, error ? CALL_MSG_ERROR : CALL_MSG_REPLYV,
                     ((uint32_t)i + 1) | client->generation << 10, error ? 5 : 0);
            t->call.thread = i;
            return;
        }
    }
    if (sim_chance(sim, 45) || proc < 0) {
        run_args(sim, self, CALL_MSG_RECEIVEV, 1, (uint32_t)-32);
        return;
    }
    run_args(sim, self, sim_chance(sim, 80) ? CALL_MSG_SENDV : CALL_MSG_SEND_PULSE, 0x40000000u, 1);
    t->call.proc = proc;
    t->call.words[2] = sim->procs[proc].generation;
    t->call.all = sim_chance(sim, 15);
}

static void run_choose_time(struct sim *sim, int self)
{
    uint32_t cycles = 100 + sim_below(sim, 40) * sim_below(sim, 100);
    bool sleep = sim->threads[self].proc == 1 || sim_chance(sim, 50);
    uint32_t states = sleep ? 1u << STATE_NANOSLEEP : RUN_ALL_STATES;

    if (sim_chance(sim, 12)) {
        run_args(sim, self, CALL_TIMER_SETTIME, 0, 500 + sim_below(sim, 4000));
        sim->threads[self].call.all = sim_chance(sim, 50); /* periodic */
        return;
    }
    cycles *= sim->threads[self].proc == 1 ? 8 : 1;
    run_args(sim, self, CALL_TIMER_TIMEOUT, states, cycles);
}

static void run_choose_interrupt(struct sim *sim, int self)
{
    unsigned line = sim_below(sim, SIM_LINES);

    if (sim->attached[line] < 0) {
        sim->attached[line] = self;
        sim->attached_pulse[line] = sim_chance(sim, 40);
    }
    if (sim->attached[line] == self && !sim->attached_pulse[line]) {
        run_args(sim, self, CALL_INTERRUPT_WAIT, 0, 0);
    }
}

static void run_choose_thread(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int thread = run_any_thread_of(sim, t->proc);
    unsigned what = sim_below(sim, 100);

    if (what < 55) {
        run_args(sim, self, CALL_THREAD_CREATE, 0x401000u, 0);
        t->call.other = 5 + (int)sim_below(sim, 6) * 5;
        t->call.all = sim_chance(sim, 50);
    } else if (what < 80) {
        run_args(sim, self, CALL_THREAD_JOIN, (uint32_t)sim->threads[thread].tid, 0);
    } else if (!sim->options.no_death) {
        thread = sim_chance(sim, 50) ? self : thread;
        run_args(sim, self, CALL_THREAD_DESTROY,
                 thread == self ? 0 : (uint32_t)sim->threads[thread].tid, 0);
    }
    t->call.thread = thread;
    t->call.words[2] = sim->threads[thread].generation;
}

static void run_choose_process(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int proc = run_any_process(sim);
    unsigned what = sim_below(sim, 100);

    if (what < 50) {
        run_args(sim, self, CALL_PROC_SPAWN, 10, 0);
        t->call.other = 5 + (int)sim_below(sim, 6) * 5;
    } else if (what < 65) {
        run_args(sim, self, CALL_PROC_WAIT, 0, 0);
    } else if (sim->options.no_death) {
        return;
    } else if (what < 75 && t->proc > 1) {
        run_args(sim, self, CALL_PROC_EXIT, 0, 0);
    } else if (proc > 1 && what < 83) {
        run_args(sim, self, CALL_SIGNAL_KILL, (uint32_t)sim->procs[proc].pid, 9);
        t->call.proc = proc;
        t->call.words[2] = sim->procs[proc].generation;
    }
}

static bool run_may_wait(int call)
{
    return call == CALL_MSG_SENDV || call == CALL_MSG_RECEIVEV || call == CALL_SEM_WAIT ||
           call == CALL_MUTEX_LOCK || call == CALL_CONDVAR_WAIT || call == CALL_THREAD_JOIN ||
           call == CALL_INTERRUPT_WAIT || call == CALL_PROC_WAIT;
}

/* The thread's next call; none: it only computes, or does something without the kernel. */
static void run_choose(struct sim *sim, int self)
{
    static void (*const choices[])(struct sim * sim, int self) = {
        run_choose_message,   run_choose_message, run_choose_message, run_choose_message,
        run_choose_message,   run_choose_message, run_choose_sem,     run_choose_sem,
        run_choose_mutex,     run_choose_mutex,   run_choose_mutex,   run_choose_mutex,
        run_choose_cond,      run_choose_cond,    run_choose_time,    run_choose_time,
        run_choose_interrupt, run_choose_thread};
    struct sim_thread *t = &sim->threads[self];
    bool init = t->proc == 1, init_alone = init && sim->procs[1].nthreads < 3;

    if (sim_chance(sim, init ? 30 : 2)) {
        run_choose_process(sim, self);
    } else if (t->timeout_states == 0 && sim_chance(sim, init ? 60 : 30)) {
        run_choose_time(sim, self); /* init only sleeps: something always goes on */
    } else if (sim_chance(sim, 4)) {
        run_args(sim, self, CALL_SCHED_YIELD, 0, 0);
    } else {
        if (sim->procs[t->proc].nthreads < 4 && sim_chance(sim, 10)) {
            run_args(sim, self, CALL_THREAD_CREATE, 0x401000u, 0);
            t->call.other = 5 + (int)sim_below(sim, 6) * 5;
            return;
        }
        choices[sim_below(sim, sizeof(choices) / sizeof(choices[0]))](sim, self);
    }
    if (t->call.number == CALL_THREAD_DESTROY && init_alone) {
        t->call.number = SIM_NO_CALL; /* init lives */
    }
    if (init && t->timeout_states == 0 && run_may_wait(t->call.number)) {
        run_args(sim, self, CALL_TIMER_TIMEOUT, RUN_ALL_STATES, 2000);
    }
}

/* ---- kernel calls ------------------------------------------------------------------ */

static int run_done(struct sim *sim, int self)
{
    sim->threads[self].result = sim->threads[self].error = 0;
    return SIM_DONE;
}

static int run_timeout(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];

    t->timeout_states = t->call.words[0];
    t->timeout_next = sim->now + t->call.words[1];
    if (!(t->timeout_states >> STATE_NANOSLEEP & 1)) {
        return run_done(sim, self);
    }
    sim_block(sim, self, STATE_NANOSLEEP);
    return SIM_BLOCKED;
}

static int run_set_timer(struct sim *sim, int self)
{
    const struct sim_args *call = &sim->threads[self].call;
    struct sim_proc *proc = &sim->procs[sim->threads[self].proc];

    proc->timer_at = sim->now + call->words[1];
    proc->timer_every = call->all ? call->words[1] : 0;
    proc->timer_cpu = (int)sim->on;
    return run_done(sim, self);
}

static int run_interrupt_wait(struct sim *sim, int self)
{
    if (sim->threads[self].intr_pulses > 0) {
        sim->threads[self].intr_pulses--;
        return run_done(sim, self);
    }
    sim_block(sim, self, STATE_INTR);
    return SIM_BLOCKED;
}

static int run_yield(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    bool equal = false;

    for (int i = 0; i < SIM_THREADS; i++) {
        equal |= sim->threads[i].used && sim->threads[i].state == STATE_READY &&
                 sim->threads[i].priority == t->priority && !sim->threads[i].idle;
    }
    run_done(sim, self);
    if (!equal) {
        return SIM_DONE;
    }
    sim_cause(sim, TRUTH_END_YIELD, t->life, t->life);
    sim_state(sim, self, STATE_READY);
    t->order = ++sim->order;
    sim->cpus[sim->on].resched = true;
    return SIM_BLOCKED;
}

int sim_call(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];

    switch (t->call.number) {
    case CALL_MSG_SENDV:
        return sim_send(sim, self);
    case CALL_MSG_RECEIVEV:
        return sim_receive(sim, self);
    case CALL_MSG_REPLYV:
    case CALL_MSG_ERROR:
        return sim_reply(sim, self);
    case CALL_MSG_SEND_PULSE:
        return sim_pulse(sim, self);
    case CALL_SIGNAL_KILL:
        return sim_kill(sim, self);
    case CALL_THREAD_CREATE:
        return sim_thread_create(sim, self);
    case CALL_THREAD_DESTROY:
        return sim_destroy(sim, self);
    case CALL_THREAD_JOIN:
        return sim_join(sim, self);
    case CALL_INTERRUPT_WAIT:
        return run_interrupt_wait(sim, self);
    case CALL_TIMER_SETTIME:
        return run_set_timer(sim, self);
    case CALL_TIMER_TIMEOUT:
        return run_timeout(sim, self);
    case CALL_MUTEX_LOCK:
        return sim_mutex_lock(sim, self, t->call.object);
    case CALL_MUTEX_UNLOCK:
        return sim_mutex_unlock(sim, self, t->call.object);
    case CALL_CONDVAR_WAIT:
        return sim_cond_wait(sim, self);
    case CALL_CONDVAR_SIGNAL:
        return sim_cond_signal(sim, self);
    case CALL_SEM_POST:
        return sim_sem_post(sim, self);
    case CALL_SEM_WAIT:
        return sim_sem_wait(sim, self);
    case CALL_SCHED_YIELD:
        return run_yield(sim, self);
    case CALL_PROC_SPAWN:
        return sim_spawn(sim, self);
    case CALL_PROC_EXIT:
        return sim_process_exit(sim, self);
    default:
        return sim_wait_child(sim, self);
    }
}

/* ---- steps ------------------------------------------------------------------------- */

static bool run_timer_due(const struct sim *sim, unsigned cpu)
{
    const struct sim_cpu *c = &sim->cpus[cpu];

    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *t = &sim->threads[i];

        if (t->used && t->timed && !t->deferred && t->timeout_cpu == (int)cpu &&
            t->timeout_at <= sim->now) {
            return true;
        }
    }
    for (int i = 0; i < SIM_PROCS; i++) {
        const struct sim_proc *proc = &sim->procs[i];

        if (proc->used && !proc->dying && proc->timer_at != 0 && proc->timer_cpu == (int)cpu &&
            proc->timer_at <= sim->now) {
            return true;
        }
    }
    return c->current >= 0 && c->quantum_end <= sim->now;
}

static void run_thread(struct sim *sim, unsigned cpu)
{
    int self = sim->cpus[cpu].current;
    struct sim_thread *t = &sim->threads[self];

    if (!t->entered) {
        run_choose(sim, self);
        if (t->call.number == SIM_NO_CALL) {
            return;
        }
        sim_enter(sim, self);
        if (sim_chance(sim, 5)) { /* it waits for the kernel's lock */
            t->entered = true;
            return;
        }
    }
    t->entered = false;
    sim->inside = true;
    sim_cause(sim, TRUTH_END_THREAD, t->life, t->life);
    sim_call(sim, self);
    sim_exit(sim, cpu);
    sim->inside = false;
}

/* True: the CPU's thread is in user mode, or it idles, and no interrupt has been noted there. */
static bool run_outside(const struct sim *sim, unsigned cpu)
{
    const struct sim_cpu *c = &sim->cpus[cpu];
    const struct sim_thread *t = &sim->threads[c->current < 0 ? 0 : c->current];

    return c->lines == 0 && !c->timer && c->service < 0 &&
           (c->current < 0 || (t->state == STATE_RUNNING && t->call.number == SIM_NO_CALL &&
                               !t->ending && !t->again && !t->aborted));
}

static void run_step(struct sim *sim, unsigned cpu)
{
    struct sim_cpu *c = &sim->cpus[cpu];
    bool came = false;

    sim->on = cpu;
    sim->inside = false;
    if (run_outside(sim, cpu)) {
        came = true;
        if (c->ipi && sim_chance(sim, 80)) {
            c->ipi = false;
            sim_interrupt(sim, cpu, SIM_IPI, false);
        } else if (run_timer_due(sim, cpu)) {
            c->quantum_end = UINT64_MAX;
            sim_interrupt(sim, cpu, SIM_TIMER, false);
        } else if (sim_chance(sim, 6)) {
            sim_interrupt(sim, cpu, run_any_interrupt(sim), false);
        } else {
            came = false;
        }
    }
    if (c->current >= 0 && !came && (sim->threads[c->current].entered || run_outside(sim, cpu))) {
        run_thread(sim, cpu);
    } else if (came || !run_outside(sim, cpu)) {
        sim->inside = true;
        sim_exit(sim, cpu);
        sim->inside = false;
    }
}

/* In how many cycles the first timeout is due. */
static uint64_t run_next_timeout(const struct sim *sim)
{
    uint64_t first = sim->now + 2000;

    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *t = &sim->threads[i];

        first =
            t->used && t->timed && !t->deferred && t->timeout_at < first ? t->timeout_at : first;
    }
    return first > sim->now ? first - sim->now : 0;
}

static void run_steps(struct sim *sim, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        bool busy = false;
        unsigned cpu = sim_below(sim, sim->options.cpus);

        for (unsigned n = 0; n < sim->options.cpus; n++) {
            busy |= sim->cpus[n].current >= 0 || sim->cpus[n].resched;
        }
        if (!busy) { /* to when something happens again */
            sim->now += 100 + run_next_timeout(sim);
        }
        run_step(sim, cpu);
    }
}

/* ---- the start --------------------------------------------------------------------- */

static void run_set_up(struct sim *sim)
{
    static const char *const names[] = {"kymo", "init", "server", "client", "driver"};

    sim->quiet = true;
    for (unsigned i = 0; i < SIM_LINES; i++) {
        sim->attached[i] = -1;
    }
    for (int i = 0; i < 5; i++) {
        sim_process_new(sim, i == 0 ? -1 : i > 1 ? 1 : 0, names[i]);
    }
    for (unsigned cpu = 0; cpu < sim->options.cpus; cpu++) {
        int idle = sim_thread_new(sim, 0, 0);

        sim->threads[idle].idle = true;
        sim->truth->threads[sim->threads[idle].life].idle = true;
        sim->cpus[cpu] = (struct sim_cpu){
            .current = SIM_NOBODY, .traced = SIM_NOBODY, .idle = idle, .service = SIM_NOBODY};
        sim_running(sim, cpu, idle);
    }
    for (unsigned i = 0; i < 20; i++) {
        int thread = sim_thread_new(sim, 1 + (int)(i % 4), (uint8_t)(5 + 5 * sim_below(sim, 6)));

        sim_state(sim, thread, STATE_READY);
        sim_ready(sim, thread);
    }
    sim->quiet = false;
}

static void run_dumped(struct sim *sim, uint32_t event, const char *text)
{
    sim->events[event].dump = true;
    sim->events[event].text = text;
}

static void run_dump_thread(struct sim *sim, int thread)
{
    const struct sim_thread *t = &sim->threads[thread];
    struct truth_thread *life = &sim->truth->threads[t->life];
    uint32_t pid = (uint32_t)sim->procs[t->proc].pid;

    life->from = 0;
    life->process_is = sim->procs[t->proc].named;
    life->began = sim_event2(sim, 0, TRACE_CLASS_PR_TH, PR_TH_CREATED, pid, (uint32_t)t->tid);
    run_dumped(sim, life->began, NULL);
    if (t->state != STATE_RUNNING) {
        run_dumped(sim,
                   sim_event(sim, 0, TRACE_CLASS_PR_TH, (unsigned)t->state,
                             (uint32_t[]){pid, (uint32_t)t->tid, t->priority, 2}, 4),
                   NULL);
    }
    if (t->idle) {
        snprintf(life->name, sizeof(life->name), "idle");
        life->name_is =
            sim_event2(sim, 0, TRACE_CLASS_PR_TH, PR_TH_THREAD_NAMED, pid, (uint32_t)t->tid);
        run_dumped(sim, life->name_is, "idle");
    }
}

/* What is there, on CPU 0; each CPU itself names the thread that it runs. */
static void run_dump(struct sim *sim)
{
    sim->quiet = true;
    sim->on = 0;
    sim->start = sim->nevents;
    for (int proc = 0; proc < SIM_PROCS; proc++) {
        struct sim_proc *p = &sim->procs[proc];

        if (!p->used) {
            continue;
        }
        p->named = sim->nevents;
        run_dumped(sim,
                   sim_event2(sim, 0, TRACE_CLASS_PR_TH, PR_TH_PROC_CREATED,
                              (uint32_t)(p->parent < 0 ? 0 : sim->procs[p->parent].pid),
                              (uint32_t)p->pid),
                   p->name);
        for (int i = 0; i < SIM_THREADS; i++) {
            if (sim->threads[i].used && sim->threads[i].proc == proc &&
                sim->threads[i].state != STATE_DEAD) {
                run_dump_thread(sim, i);
            }
        }
    }
    for (unsigned cpu = 0; cpu < sim->options.cpus; cpu++) {
        const struct sim_thread *t = &sim->threads[sim->cpus[cpu].traced];

        run_dumped(sim,
                   sim_event(sim, cpu, TRACE_CLASS_PR_TH, STATE_RUNNING,
                             (uint32_t[]){(uint32_t)sim->procs[t->proc].pid, (uint32_t)t->tid,
                                          t->priority, 2},
                             4),
                   NULL);
    }
    sim->quiet = false;
}

struct mk *sim_run(const struct sim_options *options, struct truth *truth)
{
    struct sim *sim;
    struct sim_written written = {.mk = NULL};

    if (options->cpus < 1 || options->cpus > SIM_CPUS_MOST) {
        return NULL;
    }
    sim = calloc(1, sizeof(*sim));
    if (sim == NULL) {
        abort();
    }
    *truth = (struct truth){.nthreads = 0};
    sim->options = *options;
    sim->truth = truth;
    sim->random = options->seed * 2 + 1;
    sim->now = 1000 + (options->seed % 3 == 0 ? 0xfffff000u : 0);
    run_set_up(sim);
    run_steps(sim, RUN_WARM_UP);
    run_dump(sim);
    run_steps(sim, options->steps);
    truth->from = sim->events[sim->start].time;
    truth->to = sim->events[sim->nevents - 1].time;
    sim_write(sim, &written);
    sim_seen(sim, &written);
    for (unsigned cpu = 0; cpu < SIM_CPUS_MOST; cpu++) {
        free(written.covers[cpu]);
    }
    free(sim->events);
    free(sim);
    return written.mk;
}
