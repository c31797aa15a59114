/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random kernel calls by threads of several processes, with right and wrong arguments; four CPUs
 * whose ways through the kernel interleave at every preemption point; interrupts, timers, and ends
 * of processes at any point. After each step the invariants of check.c hold, every error is one
 * that the call may give, and when all processes have ended everything is as it was. Built once
 * more for tables whose entries are allocated when they are first used: then that fails at times.
 *
 *   SEED=n    the same run again; STEPS=n   how long (default: some seconds)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sanitizer/common_interface_defs.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/entry.h"
#include "test/kernel/world/random_calls.h"

#define STEPS_DEFAULT 1500000
#define EPISODE 3000 /* steps, then all processes end */
#define HISTORY 24
#define LINES 6

static struct {
    int cpu, pid, tid;
    unsigned call;
    uintptr_t args[6];
} history[HISTORY];
static unsigned long steps, calls, shorts;
static unsigned long long seed;
static unsigned nested;

static void where(void)
{
    fprintf(stderr, "SEED=%llu, step %lu; the last calls:\n", seed, steps);
    for (unsigned long i = calls > HISTORY ? calls - HISTORY : 0; i < calls; i++) {
        const uintptr_t *a = history[i % HISTORY].args;
        fprintf(stderr, "  CPU %d, thread %d of %d: call %u(%#lx, %#lx, %#lx, %#lx, %#lx)\n",
                history[i % HISTORY].cpu, history[i % HISTORY].tid, history[i % HISTORY].pid,
                history[i % HISTORY].call, a[0], a[1], a[2], a[3], a[4]);
    }
}

/* ---- what must be true beside check.c ---------------------------------------------- */

static void check_error(const struct thread *t, int error)
{
    static const struct {
        uint8_t call;
        int errors[12];
    } rows[] = {
#define ERRORS(NAME, ...) {KER_##NAME, {__VA_ARGS__}},
#include "abi/errors.def"
#undef ERRORS
    };
    for (unsigned i = 0; error && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].call != t->call) {
            continue;
        }
        for (unsigned n = 0; rows[i].errors[n] != error; n++) {
            if (rows[i].errors[n] == 0) {
                broken("call %u ends with error %d", t->call, error);
            }
        }
    }
}

/* In a program that keeps to the protocol, what is waited for can't be had. */
static void check_honest(const struct process *proc)
{
    for (const struct list *p = proc->sync_waiters.next; p != &proc->sync_waiters; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        const sync_t *sync = world_at(t, t->sync);
        if (t->state == STATE_MUTEX && !thread_loses(t->sync_owner) &&
            sync->owner != ((uint32_t)t->sync_owner->tid | SYNC_WAITING)) {
            broken("thread %d of %d waits for a mutex of %#x, not of %d", t->tid, proc->pid,
                   sync->owner, t->sync_owner->tid);
        }
        if (t->state == STATE_SEM && sync->count != 0) {
            broken("thread %d of %d waits for a semaphore of %d", t->tid, proc->pid, sync->count);
        }
    }
}

static void check_all(void)
{
    world_check();
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        const struct process *proc = process_in_slot(slot);
        if (proc && !proc->zombie && !proc->dying && honest(proc)) {
            check_honest(proc);
        }
    }
}

/* ---- steps ------------------------------------------------------------------------- */

static void step(void);

static void call(unsigned cpu)
{
    struct thread *t = cpus[cpu].current;
    uintptr_t args[6];
    unsigned number;
    if (!random_call(t, &number, args)) {
        return;
    }
    history[calls % HISTORY].cpu = (int)cpu;
    history[calls % HISTORY].pid = t->proc->pid;
    history[calls % HISTORY].tid = t->tid;
    history[calls % HISTORY].call = number;
    memcpy(history[calls++ % HISTORY].args, args, sizeof(args));
    fake_events_off = chance(60); /* the short way of messages is open then */
    fake_log_only = chance(50);
    world_enter(t, number, args);
}

/* An interrupt comes to a CPU in user mode, idle, or in a preemption point. */
static void interrupt(unsigned cpu)
{
    unsigned self = fake_cpu, line = pick(LINES);
    fake_cpu = cpu;
    if (chance(50)) {
        world_tick(cpu);
    } else if (!(fake_irq_masked >> line & 1)) {
        intr_entry(line, 0, world_inside(cpu));
    }
    fake_cpu = self;
}

static uint64_t soonest(void)
{
    uint64_t at = UINT64_MAX;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        at = fake_timer_at[n] < at ? fake_timer_at[n] : at;
    }
    return at;
}

static void pass_time(void)
{
    uint64_t at = soonest();
    fake_now += pick(10000);
    if (chance(30) && at > fake_now && at - fake_now < FAKE_HZ) {
        fake_now = at;
    }
}

static bool anybody_runs(void)
{
    bool any = false;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        any |= cpus[n].current != NULL;
    }
    return any;
}

static void end(void *proc)
{
    process_end(proc, KYMO_SIGSEGV);
}

static unsigned processes(void)
{
    unsigned n = 0;
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        n += process_in_slot(slot) && !process_in_slot(slot)->zombie;
    }
    return n;
}

static void begin(unsigned cpu)
{
    struct process *parent = any_process();
    world_spawn(cpu, parent ? parent->pid : 0, chance(50) ? 0x1ff : pick(0x200), 1 + (int)pick(60),
                DATA);
}

/* Nobody runs here. If nobody does at all, and no timer will change that, somebody must come
 * or go. */
static void idle(unsigned cpu)
{
    struct process *proc = any_process();
    bool stuck = !anybody_runs() && soonest() > fake_now + FAKE_HZ;
    if (chance(stuck ? 30 : 90)) {
        pass_time();
        interrupt(cpu);
    } else if (processes() < 3 || chance(40)) {
        begin(cpu);
    } else if (stuck && proc) {
        world_do(cpu, end, proc);
    }
    world_step(cpu);
}

/* Hostile programs write what they like where the kernel reads. */
static void scribble(void)
{
    struct process *proc = any_process();
    uint32_t values[] = {0, 1 + pick(6), SYNC_WAITING | (1 + pick(6)), SYNC_OWNER_SEM + pick(4),
                         pick(UINT32_MAX)};
    if (proc && !honest(proc)) {
        uint32_t *word = vm_user_ptr(proc, SYNCS + 4 * pick(16), 4, KYMO_PROT_WRITE);
        if (word) {
            *word = values[pick(5)];
        }
    }
}

/* Another CPU's user code changes a word, just before the kernel's compare-and-swap. */
static void before_cas(volatile uint32_t *p)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        struct thread *t = cpus[n].current;
        if (!t || world_inside(n) || n == fake_cpu || !chance(20)) {
            continue;
        }
        const char *syncs = vm_user_ptr(t->proc, SYNCS, 64, KYMO_PROT_WRITE);
        size_t at = (size_t)((const char *)p - syncs);
        if (!syncs || (const char *)p < syncs || at >= 64) {
            continue;
        }
        if (at >= (MUTEXES + CONDVARS) * sizeof(sync_t)) {
            *p -= *p > 0; /* a semaphore's value is taken */
        } else if (*p == 0) {
            *p = (uint32_t)t->tid;
        } else if (*p == (uint32_t)t->tid) {
            *p = 0;
        }
    }
}

static void lock_window(void)
{
    unsigned self = fake_cpu;
    nested++;
    for (unsigned n = pick(3); n > 0; n--) {
        step();
    }
    check_all();
    nested--;
    fake_cpu = self;
}

static void irq_window(void)
{
    if (chance(10)) {
        interrupt(fake_cpu);
    }
}

static void step(void)
{
    unsigned cpu = pick(CONFIG_CPUS);
    if (world_inside(cpu)) {
        return;
    }
    if (!cpus[cpu].current && !world_step(cpu)) {
        if (chance(anybody_runs() ? 10 : 100)) {
            idle(cpu);
        }
        return;
    }
    switch (pick(30)) {
    case 0:
        pass_time();
        interrupt(cpu);
        world_step(cpu); /* an interrupt ends in the kernel's exit */
        break;
    case 1:
        scribble();
        break;
    case 2:
        if (cpus[cpu].current && chance(1)) {
            world_do(cpu, end, cpus[cpu].current->proc); /* a fault */
        }
        break;
    default:
        if (cpus[cpu].current && chance(70)) {
            call(cpu);
        } else {
            world_step(cpu);
        }
    }
}

static bool memory_short(void)
{
    bool none = chance(40);

    shorts += none;
    return none;
}

static void hooks(bool on)
{
    fake_memory_short = TABLE_GROWS && on ? memory_short : NULL;
    fake_result_hook = on ? check_error : NULL;
    fake_before_cas = on ? before_cas : NULL;
    fake_lock_window = on ? lock_window : NULL;
    fake_irq_window = on ? irq_window : NULL;
    fake_lock_wanted = on;
}

static void episode(unsigned long length)
{
    hooks(true);
    for (unsigned i = 0; i < 3; i++) {
        world_spawn(0, 0, 0x1ff, 10, DATA);
    }
    while (length-- > 0) {
        steps++;
        step();
        check_all();
        if (chance(3)) {
            world_settle();
            check_all();
        }
    }
    hooks(false);
    world_settle();
    world_end();
}

static void test_random(void **state)
{
    (void)state;
    const char *given = getenv("STEPS");
    unsigned long left = given ? strtoul(given, NULL, 0) : STEPS_DEFAULT;
    seed = random_begin();
    world_where = where;
    __sanitizer_set_death_callback(where);
    world_boot();
    while (left > 0) {
        unsigned long n = left < EPISODE ? left : EPISODE;
        episode(n);
        left -= n;
    }
    printf("%lu steps, %lu calls, %lu entries without memory\n", steps, calls, shorts);
    assert_true(!TABLE_GROWS == (shorts == 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
