/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks that a thread keeps across the steps of a call (kernel/thread/call_lock.c), against a
 * model: threads of several processes on four CPUs want two of them, each for some steps, at random
 * priorities that change while they wait; they sleep, are held, continued and ended at any time. At
 * each step: one owner; one that is woken, which can come; whoever goes first has inherited from
 * all that wait; nobody of equal or lower priority goes before one that waits; who has nothing to
 * do with a lock inherits nothing. At the end everybody has had its turn. SEED=n, STEPS=n.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"
#include "test/tool/random.h"
#include "test/kernel/world/world.h"

#define LOCKS 2
#define STEPS_DEFAULT 40000
#define EPISODE 400 /* actions, then all have their turn and end */
#define PROCESSES 3
#define THREADS 4   /* of each */
#define TURN_MOST 6 /* steps */
#define PRIORITIES 12
#define EVENTS_MOST 2 /* of other threads, in one step */

static struct call_lock locks[LOCKS];
static struct thread *users[LOCKS]; /* executes its steps */
/* Of thread_table: when it began to wait, or to wait with another priority, as a number. */
static unsigned since[CONFIG_THREADS];
static unsigned asked, turns, overtaken, most; /* threads that wait for one lock */
static unsigned long done;
static bool quiet; /* nothing new is begun */
static uint64_t seed;
static unsigned depth; /* CPUs that came amid a call of another one */

static void where(void)
{
    fprintf(stderr, "SEED=%llu, step %lu\n", (unsigned long long)seed, done);
}

static struct thread *some_thread(void)
{
    unsigned from = random_below(CONFIG_THREADS);

    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        struct thread *t = &thread_table[(from + i) % CONFIG_THREADS];
        if (t->proc && t->proc != kernel_process && t->state != STATE_DEAD) {
            return t;
        }
    }
    return NULL;
}

/* ---- what must be true -------------------------------------------------------------- */

static bool waits(const struct call_lock *lock, const struct thread *t)
{
    return t->state == STATE_WAITCTX && t->sync == (uintptr_t)lock;
}

/* Returns the first of those whose turn is before self's, if self gets the lock now; NULL: nobody.
 * Unless it was woken for it, nobody who waits may be its equal. */
static const struct thread *whose_turn(const struct call_lock *lock, const struct thread *self)
{
    const struct thread *first = NULL;

    for (unsigned i = 0; i < CONFIG_THREADS && lock->woken != self; i++) {
        const struct thread *t = &thread_table[i];
        if (t->proc && (waits(lock, t) || lock->woken == t) &&
            t->priority >= (first ? first->priority + 1 : self->priority)) {
            first = t;
        }
    }
    return first;
}

static void check_queue(const struct call_lock *lock)
{
    const struct thread *before = NULL;
    unsigned n = 0;

    for (const struct list *p = lock->waiting.next; p != &lock->waiting; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        unsigned then = since[t->index];
        if (!waits(lock, t)) {
            broken("thread %d of %d is in the queue of a lock that it doesn't wait for", t->tid,
                   t->proc->pid);
        }
        if (before && (before->priority < t->priority ||
                       (before->priority == t->priority && since[before->index] > then))) {
            broken("thread %d of %d waits behind a later one", t->tid, t->proc->pid);
        }
        before = t;
        most = ++n > most ? n : most;
    }
}

static void check_lock(const struct call_lock *lock)
{
    const struct thread *owner = lock->owner, *woken = lock->woken;

    if (!lock->waiting.next) {
        return; /* never taken */
    }
    if (owner && !owner->proc) {
        broken("the owner is no more");
    }
    if (owner && waits(lock, owner)) {
        broken("thread %d of %d waits for its own lock", owner->tid, owner->proc->pid);
    }
    if (woken && (!woken->proc || (woken->state != STATE_READY && woken->state != STATE_RUNNING))) {
        broken("the woken thread can't come");
    }
    if (!list_empty(&lock->waiting) && !owner && !woken) {
        broken("a lock is free, and threads wait");
    }
    check_queue(lock);
}

static bool concerned(const struct thread *t)
{
    bool is = false;

    for (unsigned i = 0; i < LOCKS; i++) {
        is |= locks[i].owner == t || locks[i].woken == t;
    }
    return is;
}

static void check(void)
{
    world_check();
    for (unsigned i = 0; i < LOCKS; i++) {
        check_lock(&locks[i]);
    }
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        const struct thread *t = &thread_table[i];
        if (t->proc && t->call_priority && t->state != STATE_DEAD && !t->proc->dying &&
            !(t->flags & THREAD_DYING) && !concerned(t)) {
            broken("thread %d of %d keeps an inherited priority", t->tid, t->proc->pid);
        }
    }
}

/* ---- what a call does --------------------------------------------------------------- */

/* Priorities are few, so that many are equal. */
static int some_priority(void)
{
    return 1 + (int)random_below(PRIORITIES);
}

static void set_priority(void *thread)
{
    struct thread *t = thread;
    uint8_t priority = t->priority;

    t->base_priority = (uint8_t)some_priority();
    thread_update_priority(t);
    if (t->priority != priority) { /* one that waits is the last of its new priority */
        since[t->index] = ++asked;
    }
}

/* Something happens to a thread: it wakes, its priority changes, it is held or continued. */
static void event(const struct thread *self)
{
    struct thread *t = some_thread();
    unsigned what = random_below(8);

    if (!t || (t->flags & THREAD_DYING)) {
        return;
    }
    if (t->state == STATE_INTR) {
        thread_wake(t, 0, 0);
    } else if (what < 3) {
        set_priority(t);
    } else if (what < 5) {
        thread_continue(t);
    } else if (what == 5 && !quiet && t != self) {
        thread_hold(t);
    }
}

/* args: the lock, and how many steps; of these args[1] is what is left. */
static long use(struct thread *self, const uintptr_t *args)
{
    struct call_lock *lock = &locks[args[0]];

    if (lock->owner != self) {
        const struct thread *before = whose_turn(lock, self);
        bool others = lock->woken && lock->woken != self;
        long wait = call_lock_take(lock, self);
        self->step = 1; /* a call that waits or goes on is amid its steps */
        if (wait) {
            since[self->index] = ++asked;
            return wait;
        }
        if (before) {
            broken("thread %d of %d goes before thread %d of %d", self->tid, self->proc->pid,
                   before->tid, before->proc->pid);
        }
        overtaken += others;
        users[args[0]] = self;
    }
    if (lock->owner != self || users[args[0]] != self) {
        broken("two have a lock");
    }
    for (unsigned n = random_below(EVENTS_MOST + 1); n; n--) {
        event(self);
    }
    if (--self->args[1] == 0) {
        call_lock_release(lock);
        turns++;
        return 1;
    }
    return KER_AGAIN;
}

/* ---- what happens ------------------------------------------------------------------- */

static void hold(void *t)
{
    thread_hold(t);
}

static void continue_it(void *t)
{
    thread_continue(t);
}

static void wake(void *thread)
{
    struct thread *t = thread;

    if (t->state == STATE_INTR) {
        thread_wake(t, 0, 0);
    }
}

static void end_process(void *proc)
{
    struct process *p = proc;

    if (!p->dying) {
        process_end(p, KYMO_SIGKILL);
    }
}

static void end_thread(void *t)
{
    thread_end(t, 0);
}

static void new_process(void)
{
    struct thread *first = world_process(0, some_priority(), DATA);

    for (unsigned i = 1; first && i < THREADS; i++) {
        world_thread(first, some_priority());
    }
}

/* Begins a call of a thread that runs: it wants a lock, or sleeps. */
static void begin(struct thread *t)
{
    if (quiet || random_below(8) == 0) {
        world_enter(t, KER_INTERRUPT_WAIT, (const uintptr_t[6]){0});
    } else {
        world_enter(t, KER_DTRACE,
                    (const uintptr_t[6]){random_below(4) == 0, 1 + random_below(TURN_MOST)});
    }
}

/* A thread that a CPU runs makes a call. Returns false if all CPUs are idle. */
static bool act(void)
{
    unsigned from = random_below(CONFIG_CPUS);

    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        struct thread *t = cpus[(from + i) % CONFIG_CPUS].current;
        if (t && t->proc != kernel_process) {
            begin(t);
            world_settle();
            return true;
        }
    }
    return false;
}

/* Between two steps of a call, other CPUs come. */
static void window(void)
{
    unsigned self = fake_cpu, cpu = random_below(CONFIG_CPUS);

    if (depth == CONFIG_CPUS || world_inside(cpu) || random_below(2)) {
        return;
    }
    depth++;
    const struct thread *t = cpus[cpu].current;
    if (!world_step(cpu) && t && t == cpus[cpu].current && t->proc != kernel_process) {
        begin(cpus[cpu].current);
    }
    check();
    depth--;
    fake_cpu = self;
}

static void happen(void)
{
    static void (*const acts[])(void *t) = {hold,         continue_it,  wake,      wake,
                                            set_priority, set_priority, end_thread};
    struct thread *t = some_thread();
    unsigned cpu = random_below(CONFIG_CPUS), what = random_below(80);

    if (!t) {
        return;
    }
    if (what == 0) {
        world_do(cpu, end_process, t->proc);
    } else {
        bool ends = what == 1;
        world_do(cpu, acts[ends ? 6 : what % 6], t);
    }
    world_settle();
}

static unsigned processes(void)
{
    unsigned n = 0;

    for (unsigned slot = 1; slot < process_slots(); slot++) {
        n += process_in_slot(slot) != NULL;
    }
    return n;
}

/* Everybody continues; those that want a lock get it. Then all sleep. */
static void all_have_their_turn(void)
{
    bool any = true;

    quiet = true;
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        if (thread_table[i].proc && thread_table[i].proc != kernel_process) {
            world_do(0, continue_it, &thread_table[i]);
            world_settle();
        }
    }
    for (unsigned round = 0; any; round++) {
        any = act();
        check();
        if (round > 100 * CONFIG_THREADS) {
            broken("no end");
        }
    }
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        const struct thread *t = &thread_table[i];
        if (t->proc && t->proc != kernel_process && t->state != STATE_INTR &&
            t->state != STATE_DEAD) {
            broken("thread %d of %d waits for ever, in state %u", t->tid, t->proc->pid, t->state);
        }
    }
    quiet = false;
}

static void test_against_the_model(void **state)
{
    const char *given = getenv("STEPS");
    unsigned long steps = given ? strtoul(given, NULL, 0) : STEPS_DEFAULT;

    (void)state;
    random_start();
    seed = random_state;
    world_where = where;
    fake_call = use;
    fake_lock_window = window;
    fake_lock_wanted = true;
    for (done = 0; done < steps; done++) {
        while (processes() < PROCESSES) {
            new_process();
        }
        if (random_below(3)) {
            act();
        } else {
            happen();
        }
        check();
        if (done % EPISODE == EPISODE - 1) {
            all_have_their_turn();
        }
    }
    printf("%u turns, %u of them before a woken thread, up to %u wait\n", turns, overtaken, most);
    assert_true(most >= 4);
    assert_true(turns > steps / 10);
    assert_true(overtaken > 0);
    all_have_their_turn();
    fake_call = NULL;
    fake_lock_window = NULL;
    fake_lock_wanted = false;
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_model)};

    world_boot();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
