/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers: when they fire, in which order, how often, what they count; and TimerTimeout() of every
 * call that waits.
 */
#include "kernel/arch/irq.h"
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/time/time.h"

#define MS 1000000u
#define MONOTONIC CLOCK_MONOTONIC
#define DAY (86400ull * 1000 * MS)

static struct thread *t, *u;

static int setup(void **state)
{
    (void)state;
    t = world_process(ABILITY_CLOCK, 10, DATA);
    u = world_thread(t, 10);
    CALL(t, CHANNEL_CREATE, 0);
    CALL(t, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    return 0;
}

/* A timer whose pulse has this code. */
static uintptr_t timer(uintptr_t clock, int code)
{
    struct sigevent *event = world_at(t, AT(1));
    memset(event, 0, sizeof(*event));
    SIGEV_PULSE_INIT(event, 0, 10, code, code);
    long id = CALL(t, TIMER_CREATE, clock, AT(1));
    assert_true(id > 0);
    return (uintptr_t)id;
}

static long set(uintptr_t id, uintptr_t flags, uint64_t ns, uint64_t interval)
{
    *(struct _itimer *)world_at(t, AT(2)) = (struct _itimer){ns, interval};
    return CALL(t, TIMER_SETTIME, id, flags, AT(2), AT(3));
}

static const struct _timer_info *info(uintptr_t id, uintptr_t flags)
{
    assert_int_equal(CALL(t, TIMER_INFO, 0, id, flags, AT(4)), id);
    return world_at(t, AT(4));
}

/* The code of the next pulse that is there, or -1. */
static int pulse(void)
{
    *(uint64_t *)world_at(t, AT(5)) = 0;
    CALL(t, TIMER_TIMEOUT, MONOTONIC, _NTO_TIMEOUT_RECEIVE, 0, AT(5), 0);
    long r = CALL(t, MSG_RECEIVEPULSEV, 1, AT(6), LEN(64), 0);
    assert_true(r == 0 || r == -ETIMEDOUT);
    return r == 0 ? ((struct _pulse *)world_at(t, AT(6)))->code : -1;
}

static uint64_t now(uintptr_t clock)
{
    assert_int_equal(CALL(t, CLOCK_TIME, clock, 0, AT(7)), 0);
    return *(uint64_t *)world_at(t, AT(7));
}

static void set_realtime(uint64_t ns)
{
    *(uint64_t *)world_at(t, AT(7)) = ns;
    assert_int_equal(CALL(t, CLOCK_TIME, 0, AT(7), 0), 0);
}

/* ---- when -------------------------------------------------------------------------- */

/* Never early, and at most 1 us late. */
static void test_relative(void **state)
{
    (void)state;
    static const uint64_t spans[] = {1, 999, 1000, 12345, MS, 1000ull * MS, DAY, 365 * DAY};
    uintptr_t id = timer(MONOTONIC, 1);
    for (unsigned i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        uint64_t began = now(MONOTONIC);
        assert_int_equal(set(id, 0, spans[i], 0), 0);
        uint64_t left = info(id, 0)->itime.nsec;
        assert_true(left <= spans[i] && left > 0);
        if (spans[i] > 10000) {
            world_advance(spans[i] - (now(MONOTONIC) - began) - 2000);
            assert_int_equal(pulse(), -1);
        }
        world_advance(5000);
        assert_int_equal(pulse(), 1);
        assert_int_equal(info(id, 0)->itime.nsec, 0);
        assert_int_equal(info(id, 0)->otime.nsec, spans[i]);
    }
}

static void test_absolute(void **state)
{
    (void)state;
    uintptr_t mono = timer(MONOTONIC, 1), real = timer(0, 2);
    set_realtime(1000 * DAY);
    assert_int_equal(set(mono, TIMER_ABSTIME, now(MONOTONIC) + 2 * MS, 0), 0);
    assert_int_equal(set(real, TIMER_ABSTIME, 1000 * DAY + 4 * MS, 0), 0);
    world_advance(MS);
    assert_int_equal(pulse(), -1);
    world_advance(2 * MS);
    assert_int_equal(pulse(), 1);
    world_advance(2 * MS);
    assert_int_equal(pulse(), 2);
    /* the past is now */
    assert_int_equal(set(mono, TIMER_ABSTIME, 1, 0), 0);
    assert_int_equal(set(real, TIMER_ABSTIME, 1, 0), 0);
    world_advance(1);
    assert_int_equal(pulse(), 1);
    assert_int_equal(pulse(), 2);
}

/* The day is set: absolute timers on it follow, others don't. */
static void test_clock_set(void **state)
{
    (void)state;
    uintptr_t real = timer(0, 1), mono = timer(MONOTONIC, 2), relative = timer(0, 3);
    set_realtime(10 * DAY);
    set(real, TIMER_ABSTIME, 11 * DAY, 0);
    set(mono, TIMER_ABSTIME, now(MONOTONIC) + DAY, 0);
    set(relative, 0, DAY, 0);
    set_realtime(11 * DAY - MS);
    world_advance(2 * MS);
    assert_int_equal(pulse(), 1);
    assert_int_equal(pulse(), -1);
    set(real, TIMER_ABSTIME, 11 * DAY + MS * 1000, 0);
    set_realtime(5 * DAY);
    world_advance(2 * DAY);
    assert_int_equal(pulse(), 2);
    assert_int_equal(pulse(), 3);
    assert_int_equal(pulse(), -1);
    set_realtime(20 * DAY);
    world_advance(1);
    assert_int_equal(pulse(), 1);
}

/* A period doesn't follow the clock of the day; a hardware timer that comes too early is
 * set again. */
static void test_period_and_clock_set(void **state)
{
    (void)state;
    uintptr_t real = timer(0, 1);
    set_realtime(10 * DAY);
    assert_int_equal(set(real, TIMER_ABSTIME, 10 * DAY + 10 * MS, 10 * MS), 0);
    set_realtime(20 * DAY);
    world_advance(9 * MS);
    assert_int_equal(pulse(), -1);
    world_advance(2 * MS);
    assert_int_equal(pulse(), 1);
}

static void too_early(void *arg)
{
    (void)arg;
    timer_work(&cpus[fake_cpu]);
}

static void test_hardware_too_early(void **state)
{
    (void)state;
    uintptr_t id = timer(MONOTONIC, 1);
    assert_int_equal(set(id, 0, 10 * MS, 0), 0);
    unsigned cpu = 0;
    while (cpu < CONFIG_CPUS && !timer_nth(cpu, 0)) {
        cpu++;
    }
    assert_true(cpu < CONFIG_CPUS);
    uint64_t at = fake_timer_at[cpu];
    fake_timer_at[cpu] = UINT64_MAX; /* a one-shot that has fired */
    world_do(cpu, too_early, NULL);
    assert_int_equal(fake_timer_at[cpu], at);
}

/* Set to before the machine began, the day still comes. */
static void test_clock_before_boot(void **state)
{
    (void)state;
    uintptr_t real = timer(0, 1);
    world_advance(DAY);
    set_realtime(1000);
    set(real, TIMER_ABSTIME, 5 * MS, 0);
    world_advance(4 * MS);
    assert_int_equal(pulse(), -1);
    world_advance(2 * MS);
    assert_int_equal(pulse(), 1);
}

/* Whatever the order in which they were set, on whichever CPU. */
static void test_order(void **state)
{
    (void)state;
    static const unsigned ms[] = {5, 1, 3, 6, 2, 4};
    uintptr_t ids[6];
    CALL(u, INTERRUPT_WAIT, 0, 0); /* out of the way */
    for (int i = 0; i < 6; i++) {
        ids[i] = timer(MONOTONIC, (int)ms[i]);
        CALL(t, THREAD_CTL, _NTO_TCTL_RUNMASK, 1u << (i % CONFIG_CPUS));
        set(ids[i], 0, ms[i] * MS, 0);
    }
    assert_int_equal(CALL(t, TIMER_CREATE, MONOTONIC, AT(1)), -EAGAIN);
    for (int n = 1; n <= 6; n++) {
        world_advance(MS + 5000);
        assert_int_equal(pulse(), n);
    }
    for (int i = 0; i < 6; i++) {
        set(ids[i], 0, ms[i] * MS, 0);
    }
    world_advance(10 * MS); /* all of one priority: as they fired */
    for (int n = 1; n <= 6; n++) {
        assert_int_equal(pulse(), n);
    }
    assert_int_equal(CALL(t, TIMER_DESTROY, ids[3]), 0);
    assert_int_equal(timer(MONOTONIC, 1), ids[3]);
}

/* ---- periods ----------------------------------------------------------------------- */

/* No drift: after a million periods it is where it should be. */
static void test_periodic(void **state)
{
    (void)state;
    uintptr_t id = timer(MONOTONIC, 1);
    uint64_t began = now(MONOTONIC);
    set(id, 0, 3 * MS, 7 * MS + 1);
    world_advance(4 * MS);
    assert_int_equal(pulse(), 1);
    for (int i = 0; i < 50; i++) {
        world_advance(7 * MS + 1);
        assert_int_equal(pulse(), 1);
        assert_int_equal(pulse(), -1);
    }
    uint64_t due = now(MONOTONIC) + info(id, 0)->itime.nsec;
    uint64_t phase = (due - began - 3 * MS) % (7 * MS + 1);
    assert_true(phase < 10000 || phase > 7 * MS - 10000);
    assert_int_equal(info(id, 0)->overruns, 0);
    set(id, 0, 0, 0);
    assert_int_equal(((struct _itimer *)world_at(t, AT(3)))->interval_nsec, 7 * MS + 1);
    world_advance(100 * MS);
    assert_int_equal(pulse(), -1);
}

/* Expiries that nobody has received are one pulse, and counted. */
static void test_overruns(void **state)
{
    (void)state;
    uintptr_t id = timer(MONOTONIC, 1);
    set(id, 0, MS, MS);
    world_advance(10 * MS + MS / 2);
    assert_int_equal(pulse(), 1);
    assert_int_equal(pulse(), -1);
    assert_int_equal(info(id, 0)->overruns, 9);
    assert_int_equal(info(id, _NTO_TIMER_RESET_OVERRUNS)->overruns, 9);
    assert_int_equal(info(id, 0)->overruns, 0);
    /* the CPU is away for some periods: they count, too */
    fake_now += FAKE_HZ / 1000 * 5;
    world_advance(1);
    assert_int_equal(info(id, 0)->overruns, 4);
    assert_int_equal(pulse(), 1);
    set(id, 0, MS, MS);
    assert_int_equal(info(id, 0)->overruns, 0);
    /* a period can't keep the kernel busy for ever */
    t->proc->ability |= ABILITY_PRIORITY;
    set(id, 0, 1, 1);
    world_advance(MS);
    assert_true(info(id, 0)->overruns >= 40 && info(id, 0)->overruns <= 50);
    set(id, 0, 1, UINT64_MAX);
    world_advance(MS);
    assert_int_equal(pulse(), 1);
    world_advance(DAY);
    assert_int_equal(pulse(), -1);
    set(id, 0, UINT64_MAX, 1);
    set(id, TIMER_ABSTIME, UINT64_MAX, UINT64_MAX);
    world_advance(1000 * DAY);
    assert_int_equal(pulse(), -1);
}

/* A new setting takes an expiry back that nobody has received; so does the timer's end. */
static void test_in_flight(void **state)
{
    (void)state;
    uintptr_t id = timer(MONOTONIC, 1), other = timer(MONOTONIC, 2);
    set(id, 0, MS, 0);
    world_advance(2 * MS);
    set(id, 0, MS, 0);
    assert_int_equal(pulse(), -1);
    world_advance(2 * MS);
    set(other, 0, 1, 0);
    world_advance(MS);
    assert_int_equal(CALL(t, TIMER_DESTROY, id), 0);
    assert_int_equal(pulse(), 2);
    assert_int_equal(pulse(), -1);
    /* the channel goes, then the timer; and the other way round */
    set(other, 0, 1, MS);
    world_advance(MS / 2);
    assert_int_equal(CALL(t, CHANNEL_DESTROY, 1), 0);
    world_advance(10 * MS);
    assert_int_equal(CALL(t, TIMER_DESTROY, other), 0);
    CALL(t, CONNECT_DETACH, 0);
    CALL(t, CHANNEL_CREATE, 0);
    CALL(t, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    id = timer(MONOTONIC, 3);
    set(id, 0, MS, MS);
    assert_int_equal(CALL(t, CONNECT_DETACH, 0), 0);
    world_advance(5 * MS);
    assert_int_equal(pulse(), -1);
    CALL(t, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    world_advance(5 * MS);
    assert_int_equal(pulse(), 3);
}

/* Without the ability a period is at least the board's. */
static void test_period_min(void **state)
{
    (void)state;
    uintptr_t id = timer(MONOTONIC, 1);
    set(id, 0, 1, 1);
    world_advance(MS);
    assert_int_equal(info(id, 0)->overruns, 1000 / CONFIG_TIMER_MIN_US - 1);
    assert_int_equal(info(id, 0)->itime.interval_nsec, 1); /* as it was given */
}

static unsigned timers_set(void)
{
    unsigned n = 0;
    for (unsigned cpu = 0; cpu < CONFIG_CPUS; cpu++) {
        n += timer_nth(cpu, 0) != NULL;
    }
    return n;
}

/* While threads of higher priority have all CPUs, timers and timeouts wait, and interrupt once. */
static void test_deferred(void **state)
{
    (void)state;
    struct thread *high = world_process(0, 50, DATA), *last = NULL;
    assert_int_equal(CALL(high, CHANNEL_CREATE, 0), 1);
    uintptr_t id = timer(MONOTONIC, 1);
    *(uint64_t *)world_at(u, AT(8)) = 2 * MS;
    assert_int_equal(CALL(u, TIMER_TIMEOUT, MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, 0, AT(8), 0),
                     BLOCKED);
    set(id, 0, MS, MS);
    for (unsigned i = 1; i < CONFIG_CPUS; i++) {
        last = world_thread(high, 50);
    }
    assert_int_equal(t->state, STATE_READY);
    world_advance(10 * MS + MS / 2);
    assert_int_equal(timers_set(), 0);
    assert_int_equal(u->state, STATE_NANOSLEEP);
    assert_true(list_empty(&t->proc->channels[0]->pulses));
    world_advance(10 * MS);
    assert_int_equal(t->state, STATE_READY);
    /* one CPU is free: they come, the thread that sleeps as well, though it stays READY */
    assert_int_equal(CALL(last, MSG_RECEIVEV, 1, AT(0), LEN(8), 0), BLOCKED);
    assert_int_equal(t->state, STATE_RUNNING);
    assert_int_equal(u->state, STATE_READY);
    assert_int_equal(pulse(), 1);
    assert_int_equal(info(id, 0)->overruns, 19);
    assert_int_equal(timers_set(), 1);
}

/* One that is put aside goes with its timer, and rises with its thread. */
static void test_deferred_changes(void **state)
{
    (void)state;
    struct thread *high = world_process(ABILITY_PRIORITY, 50, DATA), *last = NULL;
    uintptr_t id = timer(MONOTONIC, 1);
    CALL(high, CHANNEL_CREATE, 0);
    CALL(u, CONNECT_ATTACH, 0, (uintptr_t)high->proc->pid, 1, 0, 0);
    *(uint64_t *)world_at(u, AT(8)) = 2 * MS;
    CALL(u, TIMER_TIMEOUT, MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, 0, AT(8), 0);
    set(id, 0, MS, MS);
    for (unsigned i = 1; i < CONFIG_CPUS; i++) {
        last = world_thread(high, 50);
    }
    world_advance(5 * MS);
    assert_int_equal(timers_set(), 0);
    u->base_priority = 60; /* as by SchedSet() or a message */
    world_do(0, (void (*)(void *))thread_update_priority, u);
    world_settle();
    assert_int_equal(u->state, STATE_RUNNING);
    assert_int_equal(timers_set(), 0);
    world_kill(t->proc);
    assert_int_equal(CALL(last, MSG_RECEIVEV, 1, AT(0), LEN(8), 0), BLOCKED);
    assert_int_equal(timers_set(), 0);
}

/* What is left when one of higher priority goes is done at its own priority, not at that one's. */
static void test_deferred_lower(void **state)
{
    (void)state;
    struct thread *high = world_process(0, 50, DATA), *last = NULL;
    struct thread *sleeper = world_process(0, 45, DATA), *middle = world_process(0, 30, DATA);
    CALL(high, CHANNEL_CREATE, 0);
    *(uint64_t *)world_at(sleeper, AT(8)) = 2 * MS;
    CALL(sleeper, TIMER_TIMEOUT, MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, 0, AT(8), 0);
    set(timer(MONOTONIC, 1), 0, MS, 0);
    for (unsigned i = 1; i < CONFIG_CPUS; i++) {
        last = world_thread(high, 50);
    }
    world_advance(5 * MS);
    assert_int_equal(timers_set(), 0);
    world_kill(sleeper->proc);
    assert_int_equal(CALL(last, MSG_RECEIVEV, 1, AT(0), LEN(8), 0), BLOCKED);
    assert_int_equal(middle->state, STATE_RUNNING);
    assert_true(list_empty(&t->proc->channels[0]->pulses));
    world_kill(middle->proc);
    assert_false(list_empty(&t->proc->channels[0]->pulses));
}

static struct timer_node nodes[CONFIG_CPUS];
static uint64_t node_at; /* cycles */
static uint32_t fired;   /* a bit for each CPU */

static void node_fires(struct timer_node *node)
{
    assert_ptr_equal(node, &nodes[fake_cpu]);
    assert_true(arch_cycles() >= node_at);
    fired |= 1u << fake_cpu;
}

static void start_everywhere(void *unused)
{
    (void)unused;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (!timer_node_running(&nodes[n])) {
            timer_node_init(&nodes[n], node_fires);
        }
        timer_node_start_on(&nodes[n], &cpus[n], node_at);
    }
}

/* One CPU starts timers of all, sooner and sooner: each CPU is interrupted, which may be idle or in
 * user mode for as long as it likes, and sets its own hardware. */
static void test_other_cpus(void **state)
{
    (void)state;
    for (unsigned by = 0; by < CONFIG_CPUS; by++) {
        for (unsigned sooner = 0; sooner < 3; sooner++) {
            node_at = fake_now + clock_ns_to_cycles((10 - sooner) * MS);
            fake_ipis = 0;
            world_do(by, start_everywhere, NULL);
            assert_int_equal(fake_ipis, ((1u << CONFIG_CPUS) - 1) & ~(1u << by));
            world_settle();
            for (unsigned n = 0; n < CONFIG_CPUS; n++) {
                assert_true(fake_timer_at[n] <= node_at); /* or the end of a quantum */
            }
        }
        fired = 0;
        world_advance(20 * MS);
        assert_int_equal(fired, (1u << CONFIG_CPUS) - 1);
    }
}

/* The same connection now leads to another channel: the queued pulse goes where it leads. */
static void test_moves(void **state)
{
    (void)state;
    uintptr_t id = timer(MONOTONIC, 1);
    CALL(t, CHANNEL_CREATE, 0);
    set(id, 0, MS, MS);
    world_advance(MS + MS / 2);
    CALL(t, CONNECT_DETACH, 0);
    CALL(t, CONNECT_ATTACH, 0, 0, 2, 0, 0);
    world_advance(2 * MS);
    assert_int_equal(pulse(), -1);
    assert_int_equal(CALL(t, MSG_RECEIVEPULSEV, 2, AT(6), LEN(64), 0), 0);
}

/* ---- what else they do ------------------------------------------------------------- */

static void test_none_and_signal(void **state)
{
    (void)state;
    struct sigevent *event = world_at(t, AT(1));
    memset(event, 0, sizeof(*event));
    SIGEV_NONE_INIT(event);
    uintptr_t id = (uintptr_t)CALL(t, TIMER_CREATE, MONOTONIC, AT(1));
    set(id, 0, MS, MS);
    world_advance(10 * MS);
    assert_int_equal(info(id, 0)->notify, SIGEV_NONE);
    int pid = t->proc->pid;
    id = (uintptr_t)CALL(t, TIMER_CREATE, MONOTONIC, 0); /* SIGALRM */
    set(id, 0, 5 * MS, 0);
    world_advance(4 * MS);
    assert_non_null(process_find(pid));
    world_advance(2 * MS);
    assert_null(process_find(pid));
}

static void test_alarm(void **state)
{
    (void)state;
    struct thread *child = world_child(t, 0, 10, DATA);
    struct _itimer *set = world_at(child, AT(2)), *old = world_at(child, AT(3));
    const uintptr_t pid = (uintptr_t)child->proc->pid;
    *set = (struct _itimer){5 * MS, 0};
    assert_int_equal(CALL(child, TIMER_ALARM, 0, AT(2), AT(3)), 0);
    assert_int_equal(old->nsec, 0);
    assert_int_equal(CALL(child, TIMER_ALARM, 0, 0, AT(3)), 0);
    assert_true(old->nsec > 4 * MS && old->nsec <= 5 * MS);
    /* it is no timer of TimerInfo() and the others; there is one of it */
    for (uintptr_t id = 1; id <= CONFIG_TIMERS; id++) {
        assert_int_equal(CALL(child, TIMER_DESTROY, id), -EINVAL);
        assert_int_equal(CALL(child, TIMER_INFO, 0, id, _NTO_TIMER_SEARCH, AT(4)), -EINVAL);
    }
    *set = (struct _itimer){0, 0};
    assert_int_equal(CALL(child, TIMER_ALARM, 0, AT(2), 0), 0);
    world_advance(10 * MS);
    assert_non_null(process_find((int)pid));
    *set = (struct _itimer){MS, 0};
    assert_int_equal(CALL(child, TIMER_ALARM, 3, AT(2), 0), -EINVAL);
    assert_int_equal(CALL(child, TIMER_ALARM, 0, NOWHERE, 0), -EFAULT);
    assert_int_equal(CALL(child, TIMER_ALARM, 0, AT(2), RO), -EFAULT);
    assert_int_equal(CALL(child, TIMER_ALARM, 2, AT(2), 0), 0);
    world_advance(2 * MS);
    assert_int_equal(CALL(t, PROC_WAIT, pid, AT(1), 0), pid);
    assert_int_equal(*(int *)world_at(t, AT(1)), SIGNAL_ALARM);
    while (CALL(t, TIMER_CREATE, 0, 0) > 0) {
    }
    *(struct _itimer *)world_at(t, AT(2)) = (struct _itimer){MS, 0};
    assert_int_equal(CALL(t, TIMER_ALARM, 0, AT(2), 0), -EAGAIN);
}

static void test_wrong(void **state)
{
    (void)state;
    struct sigevent *event = world_at(t, AT(1));
    uintptr_t id = timer(0, 1);
    assert_int_equal(CALL(t, TIMER_CREATE, 3, AT(1)), -EINVAL);
    assert_int_equal(CALL(t, TIMER_CREATE, 0, NOWHERE), -EFAULT);
    event->sigev_coid = 3;
    assert_int_equal(CALL(t, TIMER_CREATE, 0, AT(1)), -EBADF);
    event->sigev_coid = 0;
    event->sigev_priority = 64;
    assert_int_equal(CALL(t, TIMER_CREATE, 0, AT(1)), -EPERM);
    event->sigev_notify = SIGEV_INTR;
    assert_int_equal(CALL(t, TIMER_CREATE, 0, AT(1)), -EINVAL);
    struct thread *other = world_process(0, 10, DATA);
    assert_int_equal(CALL(other, TIMER_DESTROY, id), -EINVAL);
    assert_int_equal(CALL(other, TIMER_SETTIME, id, 0, AT(2), 0), -EINVAL);
    assert_int_equal(CALL(other, TIMER_INFO, 0, id, 0, AT(4)), -EINVAL);
    assert_int_equal(
        CALL(other, TIMER_INFO, (uintptr_t)t->proc->pid, id, _NTO_TIMER_RESET_OVERRUNS, AT(4)), id);
    for (unsigned n = 0; n < 3; n++) {
        static const uintptr_t ids[] = {0, CONFIG_TIMERS + 1, UINT32_MAX};
        assert_int_equal(CALL(t, TIMER_DESTROY, ids[n]), -EINVAL);
        assert_int_equal(CALL(t, TIMER_SETTIME, ids[n], 0, 0, 0), -EINVAL);
        assert_int_equal(CALL(t, TIMER_INFO, 0, ids[n], 0, AT(4)), -EINVAL);
    }
    assert_int_equal(CALL(t, TIMER_INFO, 0, 0, _NTO_TIMER_SEARCH, AT(4)), id);
    assert_int_equal(CALL(t, TIMER_INFO, 0, id, 4, AT(4)), -EINVAL);
    assert_int_equal(CALL(t, TIMER_INFO, 999, id, 0, AT(4)), -ESRCH);
    assert_int_equal(CALL(t, TIMER_INFO, 0, id, 0, RO), -EFAULT);
    assert_int_equal(CALL(t, TIMER_SETTIME, id, 1, AT(2), 0), -EINVAL);
    assert_int_equal(CALL(t, TIMER_SETTIME, id, 0, NOWHERE, 0), -EFAULT);
    assert_int_equal(CALL(t, TIMER_SETTIME, id, 0, AT(2), RO), -EFAULT);
    assert_int_equal(info(id, 0)->itime.nsec, 0);
}

/* ---- TimerTimeout() ---------------------------------------------------------------- */

static long limit(struct thread *who, uintptr_t clock, uintptr_t flags, uint64_t ns)
{
    *(uint64_t *)world_at(who, AT(5)) = ns;
    return CALL(who, TIMER_TIMEOUT, clock, flags, 0, AT(5), 0);
}

/* Every call that waits, the state it waits in, and arguments for which it does. */
static const struct {
    unsigned number, state;
    uintptr_t args[6];
} waits[] = {
    {KER_MSG_SENDV, STATE_SEND, {0, 0, 0, 0, 0}},
    {KER_MSG_SENDVNC, STATE_SEND, {0, 0, 0, 0, 0}},
    {KER_MSG_RECEIVEV, STATE_RECEIVE, {1, 0, 0, 0}},
    {KER_MSG_RECEIVEPULSEV, STATE_RECEIVE, {1, 0, 0, 0}},
    {KER_THREAD_JOIN, STATE_JOIN, {2, 0}},
    {KER_INTERRUPT_WAIT, STATE_INTR, {0, 0}},
    {KER_SYNC_MUTEX_LOCK, STATE_MUTEX, {AT(8)}},
    {KER_SYNC_CONDVAR_WAIT, STATE_CONDVAR, {AT(8) + 16, AT(8) + 8}},
    {KER_SYNC_SEM_WAIT, STATE_SEM, {AT(8) + 24}},
};
#define WAITS (sizeof(waits) / sizeof(waits[0]))
#define ALL_STATES 0x3e070u /* but NANOSLEEP, which makes TimerTimeout() itself wait */

static void make_syncs(void)
{
    sync_t *sync = world_at(t, AT(8));
    sync[0] = (sync_t){0, 2}; /* u's */
    sync[1] = (sync_t){0, 1}; /* t's */
    sync[2] = (sync_t){0, SYNC_OWNER_COND};
    sync[3] = (sync_t){0, SYNC_OWNER_SEM};
}

static void test_every_state(void **state)
{
    (void)state;
    make_syncs();
    for (unsigned i = 0; i < WAITS; i++) {
        const uintptr_t bit = (uintptr_t)1 << waits[i].state;
        const unsigned cut = fake_events[TRACE_EV_kercall_int];
        /* not at all, for a while, until then, until it was */
        limit(t, 2, bit, 0);
        assert_int_equal(world_call(t, waits[i].number, waits[i].args), -ETIMEDOUT);
        limit(t, 2, bit, MS);
        assert_int_equal(world_call(t, waits[i].number, waits[i].args), BLOCKED);
        assert_int_equal(t->state, waits[i].state);
        world_advance(MS - 10000);
        assert_int_equal(world_result(t), BLOCKED);
        world_advance(20000);
        assert_int_equal(world_result(t), -ETIMEDOUT);
        limit(t, 2, bit | TIMER_ABSTIME, now(MONOTONIC) + 2 * MS);
        assert_int_equal(world_call(t, waits[i].number, waits[i].args), BLOCKED);
        world_advance(3 * MS);
        assert_int_equal(world_result(t), -ETIMEDOUT);
        limit(t, 2, bit | TIMER_ABSTIME, 1);
        assert_int_equal(world_call(t, waits[i].number, waits[i].args), -ETIMEDOUT);
        assert_int_equal(fake_events[TRACE_EV_kercall_int], cut + 2); /* those that waited */
        /* a limit for other states is none */
        limit(t, 2, ALL_STATES & ~bit, MS);
        assert_int_equal(world_call(t, waits[i].number, waits[i].args), BLOCKED);
        world_advance(10 * MS);
        assert_int_equal(world_result(t), BLOCKED);
        assert_int_equal(CALL(u, THREAD_CANCEL, 1, 0x100), 0);
        if (waits[i].state == STATE_MUTEX) {
            CALL(u, SYNC_MUTEX_UNLOCK, AT(8));
            make_syncs();
        } else if (waits[i].number == KER_MSG_SENDVNC) { /* neither is to be cancelled */
            CALL(u, CONNECT_DETACH, 0);
            assert_int_equal(world_result(t), -EBADF);
            CALL(t, CONNECT_ATTACH, 0, 0, 1, 0, 0);
        }
        if (t->canstub) {
            assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), -EINTR);
        }
        assert_int_not_equal(world_result(t), BLOCKED);
    }
}

/* A call that fails or doesn't wait uses its limit up all the same. */
static void test_used_up(void **state)
{
    (void)state;
    static const uintptr_t wrong[][6] = {{9}, {9},       {9},       {9},      {9},
                                         {9}, {NOWHERE}, {NOWHERE}, {NOWHERE}};
    make_syncs();
    for (unsigned i = 0; i < WAITS; i++) {
        if (waits[i].number == KER_MSG_SENDVNC) {
            continue;
        }
        limit(t, 2, ALL_STATES, MS);
        assert_true(world_call(t, waits[i].number, wrong[i]) < 0);
        assert_int_equal(world_call(t, waits[i].number, waits[i].args), BLOCKED);
        world_advance(3 * MS);
        assert_int_equal(world_result(t), BLOCKED);
        if (waits[i].state == STATE_MUTEX) {
            CALL(u, SYNC_MUTEX_UNLOCK, AT(8));
            make_syncs();
        } else {
            CALL(u, THREAD_CANCEL, 1, 0x100);
        }
        assert_int_not_equal(world_result(t), BLOCKED);
    }
}

static void test_sleep(void **state)
{
    (void)state;
    const unsigned cut = fake_events[TRACE_EV_kercall_int];
    assert_int_equal(limit(t, 2, _NTO_TIMEOUT_NANOSLEEP, 0), -ETIMEDOUT);
    assert_int_equal(limit(t, 2, _NTO_TIMEOUT_NANOSLEEP, 10 * DAY), BLOCKED);
    assert_int_equal(t->state, STATE_NANOSLEEP);
    world_advance(10 * DAY - MS);
    assert_int_equal(world_result(t), BLOCKED);
    world_advance(MS + 5000);
    assert_int_equal(world_result(t), -ETIMEDOUT);
    assert_int_equal(limit(t, 2, _NTO_TIMEOUT_NANOSLEEP, UINT64_MAX), BLOCKED);
    world_advance(100 * DAY);
    assert_int_equal(world_result(t), BLOCKED);
    assert_int_equal(fake_events[TRACE_EV_kercall_int], cut); /* its time is no interruption */
    CALL(u, THREAD_CANCEL, 1, 0x100);
    assert_int_equal(world_result(t), -EINTR);
    assert_int_equal(fake_events[TRACE_EV_kercall_int], cut + 1);
    set_realtime(7 * DAY);
    assert_int_equal(limit(t, 0, _NTO_TIMEOUT_NANOSLEEP | TIMER_ABSTIME, 7 * DAY + MS), BLOCKED);
    world_advance(2 * MS);
    assert_int_equal(world_result(t), -ETIMEDOUT);
    /* NULL: no time at all */
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_NANOSLEEP, 0, 0, 0), -ETIMEDOUT);
    assert_int_equal(fake_events[TRACE_EV_kercall_int], cut + 1);
}

/* The old limit, if no call has used it. */
static void test_old(void **state)
{
    (void)state;
    uint64_t *old = world_at(t, AT(6));
    limit(t, 2, _NTO_TIMEOUT_RECEIVE, MS);
    world_advance(MS / 4);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_RECEIVE, 0, AT(5), AT(6)), 0);
    assert_true(*old > MS / 2 && *old < MS * 3 / 4 + 1000);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, 0, 0, 0, AT(6)), 0);
    assert_true(*old > MS / 2 && *old < MS + 1000);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, 0, 0, 0, AT(6)), 0);
    assert_int_equal(*old, 0);
}

static void test_timeout_wrong(void **state)
{
    (void)state;
    struct sigevent *event = world_at(t, AT(1));
    *event = (struct sigevent){.sigev_notify = SIGEV_UNBLOCK};
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, AT(1), 0, 0), 0);
    event->sigev_notify = SIGEV_PULSE;
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, AT(1), 0, 0), -EINVAL);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, NOWHERE, 0, 0), -EFAULT);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, NOWHERE, 0), -EFAULT);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, 0, RO), -EFAULT);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 3, _NTO_TIMEOUT_SEND, 0, 0, 0), -EINVAL);
    assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, 1u << STATE_WAITTHREAD, 0, 0, 0), -EINVAL);
}

/* Threads that sleep end, their process ends, timers of ended CPUs' threads go: nothing fires. */
static void test_ends(void **state)
{
    (void)state;
    uintptr_t id = timer(MONOTONIC, 1);
    set(id, 0, MS, MS);
    limit(u, 2, _NTO_TIMEOUT_NANOSLEEP, MS);
    CALL(t, THREAD_DESTROY, 2, 0, 0);
    world_advance(10 * MS);
    u = world_thread(t, 10);
    limit(u, 2, _NTO_TIMEOUT_NANOSLEEP, MS);
    world_kill(t->proc);
    world_advance(10 * MS);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_relative),
        CASE(test_absolute),
        CASE(test_clock_set),
        CASE(test_clock_before_boot),
        CASE(test_period_and_clock_set),
        CASE(test_hardware_too_early),
        CASE(test_order),
        CASE(test_periodic),
        CASE(test_overruns),
        CASE(test_in_flight),
        CASE(test_period_min),
        CASE(test_deferred),
        CASE(test_deferred_changes),
        CASE(test_deferred_lower),
        CASE(test_moves),
        CASE(test_other_cpus),
        CASE(test_none_and_signal),
        CASE(test_alarm),
        CASE(test_wrong),
        CASE(test_every_state),
        CASE(test_used_up),
        CASE(test_sleep),
        CASE(test_old),
        CASE(test_timeout_wrong),
        CASE(test_ends),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
