/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts for programs: who hears of one, when the line opens again, what goes with whom. That a
 * line is open just when it is attached and masked by nobody, check.c sees after every step.
 */
#include "kernel/arch/entry.h"
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/intr/intr.h"

#define LINE 5
#define ANY ((uintptr_t)UINT32_MAX)

static struct thread *t, *u;

static int setup(void **state)
{
    (void)state;
    t = world_process(ABILITY_INTERRUPT | ABILITY_TRACE, 10, DATA);
    u = world_thread(t, 10);
    CALL(t, CHANNEL_CREATE, 0);
    CALL(t, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    fake_hook_detached = false;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_end();
    assert_int_equal(fake_irq_masked, ~0u);
    return 0;
}

static long attach_pulse(struct thread *who, unsigned line, int code, uintptr_t flags)
{
    struct sigevent *event = world_at(who, AT(1));
    memset(event, 0, sizeof(*event));
    SIGEV_PULSE_INIT(event, 0, 15, code, code);
    return CALL(who, INTERRUPT_ATTACH, line, AT(1), flags);
}

static long attach_intr(struct thread *who, unsigned line, uintptr_t flags)
{
    struct sigevent *event = world_at(who, AT(1));
    memset(event, 0, sizeof(*event));
    SIGEV_INTR_INIT(event);
    return CALL(who, INTERRUPT_ATTACH, line, AT(1), flags);
}

static bool masked(unsigned line)
{
    return fake_irq_masked >> line & 1;
}

/* The code of the next pulse that is there, or -1. */
static int pulse(struct thread *who)
{
    CALL(who, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_RECEIVE, 0, 0, 0);
    long r = CALL(who, MSG_RECEIVEPULSEV, 1, AT(6), LEN(64), 0);
    return r == 0 ? ((struct _pulse *)world_at(who, AT(6)))->code : -1;
}

static void test_pulse(void **state)
{
    (void)state;
    long id = attach_pulse(t, LINE, 3, 0);
    assert_true(id >= 0);
    assert_false(masked(LINE));
    for (unsigned cpu = 0; cpu < CONFIG_CPUS; cpu++) {
        assert_int_equal(CALL(t, MSG_RECEIVEV, 1, AT(6), LEN(64), 0), BLOCKED);
        world_interrupt(cpu, LINE);
        assert_int_equal(world_result(t), 0);
        assert_int_equal(t->priority, 15);
        assert_true(masked(LINE));
        world_interrupt(cpu, LINE); /* can't come */
        assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE, (uintptr_t)id), 0);
        assert_false(masked(LINE));
        assert_int_equal(pulse(t), -1);
    }
    assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE, (uintptr_t)id), 0); /* already open */
    assert_int_equal(CALL(t, INTERRUPT_DETACH, (uintptr_t)id), 0);
    assert_true(masked(LINE));
    assert_int_equal(CALL(t, INTERRUPT_DETACH, (uintptr_t)id), -EINVAL);
}

/* Nobody has received the last one: it is one pulse, with no loss of the line's mask count. */
static void test_coalesces(void **state)
{
    (void)state;
    long id = attach_pulse(t, LINE, 3, 0);
    for (int i = 0; i < 5; i++) {
        world_interrupt(0, LINE);
        CALL(t, INTERRUPT_UNMASK, LINE, ANY);
    }
    assert_int_equal(pulse(t), 3);
    assert_int_equal(pulse(t), -1);
    world_interrupt(0, LINE);
    assert_int_equal(CALL(t, INTERRUPT_DETACH, (uintptr_t)id), 0);
    assert_int_equal(pulse(t), -1); /* it went with its attachment */
}

static void test_wait(void **state)
{
    (void)state;
    attach_intr(t, LINE, 0);
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
    world_interrupt(1, LINE);
    assert_int_equal(world_result(t), 0);
    CALL(t, INTERRUPT_UNMASK, LINE, ANY);
    /* those that came before the call are counted */
    for (int i = 0; i < 3; i++) {
        world_interrupt(2, LINE);
        CALL(t, INTERRUPT_UNMASK, LINE, ANY);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), 0);
    }
    /* the thread that attached, no other of its process */
    assert_int_equal(CALL(u, INTERRUPT_WAIT, 0, 0), BLOCKED);
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
    world_interrupt(2, LINE);
    assert_int_equal(world_result(t), 0);
    assert_int_equal(world_result(u), BLOCKED);
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 1, 0), -EINVAL);
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, AT(1)), -EINVAL);
    /* the count has an end, and no wrap */
    for (int i = 0; i < 300; i++) {
        CALL(t, INTERRUPT_UNMASK, LINE, ANY);
        world_interrupt(2, LINE);
    }
    for (int i = 0; i < 255; i++) {
        assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), 0);
    }
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
}

/* Each count is an attachment's own; the line opens when all are 0. */
static void test_counts(void **state)
{
    (void)state;
    struct thread *other = world_process(ABILITY_INTERRUPT, 10, DATA);
    CALL(other, CHANNEL_CREATE, 0);
    CALL(other, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    uintptr_t a = (uintptr_t)attach_pulse(t, LINE, 1, 0);
    uintptr_t b = (uintptr_t)attach_pulse(other, LINE, 2, 0);
    assert_int_equal(CALL(t, INTERRUPT_MASK, LINE, a), 1);
    assert_int_equal(CALL(t, INTERRUPT_MASK, LINE, ANY), 2);
    assert_int_equal(CALL(other, INTERRUPT_UNMASK, LINE, b), 0);
    assert_true(masked(LINE));
    assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE, a), 1);
    assert_true(masked(LINE));
    assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE, a), 0);
    assert_false(masked(LINE));
    world_interrupt(0, LINE);
    assert_int_equal(pulse(t), 1);
    assert_int_equal(pulse(other), 2);
    assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE, a), 0);
    assert_true(masked(LINE));
    /* a mask goes with its process */
    world_kill(other->proc);
    assert_false(masked(LINE));
    /* who attaches a line that is masked finds it so, and doesn't open it */
    assert_int_equal(CALL(t, INTERRUPT_MASK, LINE, a), 1);
    uintptr_t c = (uintptr_t)attach_pulse(t, LINE, 3, 0);
    assert_true(masked(LINE));
    assert_int_equal(CALL(t, INTERRUPT_DETACH, a), 0);
    assert_false(masked(LINE));
    assert_int_equal(CALL(t, INTERRUPT_MASK, LINE, a), -EINVAL);
    assert_int_equal(CALL(t, INTERRUPT_MASK, LINE + 1, c), -EINVAL);
    assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE + 1, ANY), -EINVAL);
    assert_int_equal(CALL(t, INTERRUPT_MASK, LINE, 99), -EINVAL);
}

/* The last that attached is served first; with END, last. */
static void test_order(void **state)
{
    (void)state;
    attach_pulse(t, LINE, 2, 0);
    attach_pulse(t, LINE, 1, 0);
    attach_pulse(t, LINE, 3, _NTO_INTR_FLAGS_END);
    attach_pulse(t, LINE + 1, 9, 0);
    assert_int_equal(attach_pulse(t, LINE, 4, 0), -EAGAIN);
    world_interrupt(3, LINE);
    for (int code = 1; code < 4; code++) {
        assert_int_equal(pulse(t), code);
    }
    assert_int_equal(pulse(t), -1);
}

/* It came to a CPU that has not delivered it yet; another opens the line meanwhile, or lets
 * it go. */
static void test_noted(void **state)
{
    (void)state;
    uintptr_t id = (uintptr_t)attach_pulse(t, LINE, 1, 0);
    unsigned cpu = (unsigned)world_cpu_of(t), other = (cpu + 2) % CONFIG_CPUS;
    for (unsigned n = 0; n < 2; n++) {
        fake_cpu = n ? other : cpu;
        intr_entry(LINE, 0, false);
        assert_true(masked(LINE));
        world_enter(t, KER_INTERRUPT_UNMASK, (uintptr_t[6]){LINE, id});
        world_settle();
        world_check();
        assert_true(masked(LINE)); /* the delivery counts */
        assert_int_equal(pulse(t), 1);
        assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE, id), 0);
    }
    fake_cpu = other;
    intr_entry(LINE, 0, false);
    world_enter(t, KER_INTERRUPT_DETACH, (uintptr_t[6]){id});
    world_settle();
    world_check();
    assert_true(masked(LINE));
    assert_int_equal(pulse(t), -1);
}

static void not_now(unsigned line)
{
    broken("line %u is unmasked while it waits to be delivered", line);
}

static unsigned late_cpu;

static void comes_late(unsigned line)
{
    unsigned self = fake_cpu;

    fake_before_unmask = NULL;
    fake_cpu = late_cpu;
    intr_entry(line, 0, false);
    fake_cpu = self;
}

/* It comes to a CPU again while the process serves its device and is about to unmask it: before the
 * unmasking CPU looks for a note, so that the line is not even opened; or after, and is noted and
 * masked there before this one unmasks it. */
static void test_noted_again(void **state)
{
    (void)state;
    uintptr_t id = (uintptr_t)attach_pulse(t, LINE, 1, 0);
    for (unsigned n = 0; n < 2 * CONFIG_CPUS; n++) {
        world_interrupt(0, LINE);
        assert_int_equal(pulse(t), 1);
        late_cpu = n / 2;
        if (n % 2) {
            comes_late(LINE);
        }
        fake_before_unmask = n % 2 ? not_now : comes_late;
        world_enter(t, KER_INTERRUPT_UNMASK, (uintptr_t[6]){LINE, id});
        assert_true(masked(LINE) && (n % 2 || !fake_before_unmask));
        fake_before_unmask = NULL;
        world_settle();
        world_check();
        assert_true(masked(LINE));
        assert_int_equal(pulse(t), 1);
        assert_int_equal(CALL(t, INTERRUPT_UNMASK, LINE, id), 0);
        assert_false(masked(LINE));
    }
}

/* The thread of a SIGEV_INTR ends: the next ones are lost, and the line stays masked. */
static void test_thread_ends(void **state)
{
    (void)state;
    attach_intr(u, LINE, 0);
    assert_int_equal(CALL(u, INTERRUPT_WAIT, 0, 0), BLOCKED);
    CALL(t, THREAD_DESTROY, 2, 0, 0);
    CALL(t, THREAD_JOIN, 2, 0);
    world_interrupt(0, LINE);
    u = world_thread(t, 10); /* the same place, another thread */
    assert_int_equal(CALL(u, INTERRUPT_WAIT, 0, 0), BLOCKED);
    CALL(t, INTERRUPT_UNMASK, LINE, ANY);
    world_interrupt(0, LINE);
    assert_int_equal(world_result(u), BLOCKED);
}

/* A process ends with lines attached, masked, and noted. */
static void test_process_ends(void **state)
{
    (void)state;
    struct thread *keep = world_process(ABILITY_INTERRUPT, 10, DATA);
    CALL(keep, CHANNEL_CREATE, 0);
    CALL(keep, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    attach_pulse(keep, LINE, 7, 0);
    attach_pulse(t, LINE, 1, 0);
    attach_intr(t, LINE + 1, 0);
    CALL(t, INTERRUPT_MASK, LINE, ANY);
    fake_cpu = 3;
    intr_entry(LINE + 1, 0, false);
    world_kill(t->proc);
    assert_true(masked(LINE + 1));
    assert_false(masked(LINE));
    world_interrupt(1, LINE);
    assert_int_equal(pulse(keep), 7);
}

/* A line that nobody wants comes once. */
static void test_unwanted(void **state)
{
    (void)state;
    fake_irq_masked &= ~(1u << LINE);
    fake_cpu = 2;
    intr_entry(LINE, 0, false);
    world_settle();
    world_check();
    assert_true(masked(LINE));
    long id = attach_pulse(t, LINE, 1, 0);
    assert_false(masked(LINE));
    world_interrupt(1, LINE);
    assert_int_equal(pulse(t), 1);
    CALL(t, INTERRUPT_DETACH, (uintptr_t)id);
}

static void test_inherits(void **state)
{
    (void)state;
    struct sigevent *event = world_at(t, AT(1));
    memset(event, 0, sizeof(*event));
    SIGEV_PULSE_INIT(event, 0, SIGEV_PULSE_PRIO_INHERIT, 1, 1);
    struct sched_param_kymo *param = world_at(t, AT(2));
    param->sched_priority = 33;
    CALL(t, SCHED_SET, 0, 2, SCHED_RR, AT(2));
    assert_true(CALL(u, INTERRUPT_ATTACH, LINE, AT(1), 0) >= 0);
    assert_int_equal(CALL(t, MSG_RECEIVEV, 1, AT(6), LEN(64), 0), BLOCKED);
    world_interrupt(0, LINE);
    assert_int_equal(t->priority, 33);
}

/* The synthetic one: one pulse per ring, with the newest value, never masked. */
static void raise(void *value)
{
    bool *done = value;
    *done = intr_raise_trace(1, 77 << 13 | 5) && intr_raise_trace(2, 78 << 13) &&
            intr_raise_trace(1, 79 << 13 | 6);
}

static void test_trace_hook(void **state)
{
    (void)state;
    bool done;
    world_do(0, raise, &done);
    assert_false(done); /* nobody is attached */
    long id = attach_pulse(t, _NTO_HOOK_TRACE, 4, 0);
    assert_true(id >= 0);
    assert_int_equal(attach_pulse(t, _NTO_HOOK_TRACE, 4, 0), -EBUSY);
    world_do(0, raise, &done);
    assert_true(done);
    const struct _pulse *p = world_at(t, AT(6));
    assert_int_equal(pulse(t), 4);
    assert_int_equal(p->value.sival_int, 79 << 13 | 6);
    assert_int_equal(pulse(t), 4);
    assert_int_equal(p->value.sival_int, 78 << 13);
    assert_int_equal(pulse(t), -1);
    assert_int_equal(CALL(t, INTERRUPT_MASK, _NTO_HOOK_TRACE, (uintptr_t)id), -EINVAL);
    assert_int_equal(CALL(t, INTERRUPT_MASK, _NTO_HOOK_TRACE, ANY), -EINVAL);
    world_do(0, raise, &done);
    assert_int_equal(CALL(t, INTERRUPT_DETACH, (uintptr_t)id), 0);
    assert_true(fake_hook_detached);
    assert_int_equal(pulse(t), -1);
    assert_true(attach_pulse(t, _NTO_HOOK_TRACE, 4, 0) >= 0);
    world_do(0, raise, &done);
    fake_hook_detached = false;
    world_kill(t->proc);
    assert_true(fake_hook_detached);
    world_do(0, raise, &done);
    assert_false(done);
}

static void test_wrong(void **state)
{
    (void)state;
    struct thread *plain = world_process(0, 10, DATA);
    struct sigevent *event = world_at(t, AT(1));
    assert_int_equal(attach_intr(plain, LINE, 0), -EPERM);
    assert_int_equal(attach_intr(plain, _NTO_HOOK_TRACE, 0), -EPERM);
    assert_int_equal(CALL(plain, INTERRUPT_MASK, LINE, ANY), -EPERM);
    assert_int_equal(CALL(plain, INTERRUPT_UNMASK, LINE, ANY), -EPERM);
    assert_int_equal(attach_intr(t, _NTO_HOOK_IDLE, 0), -ENOTSUP);
    assert_int_equal(attach_intr(t, _NTO_HOOK_TRACE + 2, 0), -EINVAL);
    assert_int_equal(attach_intr(t, UINT32_MAX, 0), -EINVAL);
    assert_int_equal(attach_intr(t, FAKE_TIMER_IRQ, 0), -EINVAL);
    assert_int_equal(attach_intr(t, 32, 0), -EINVAL);
    assert_int_equal(attach_intr(t, LINE, 2), -EINVAL);
    assert_int_equal(attach_intr(t, LINE, (uintptr_t)1 << 40), -EINVAL);
    assert_int_equal(CALL(t, INTERRUPT_ATTACH, LINE, NOWHERE, 0), -EFAULT);
    static const int kinds[] = {SIGEV_NONE, SIGEV_SIGNAL, SIGEV_UNBLOCK, -1, 99};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        event->sigev_notify = kinds[i];
        assert_int_equal(CALL(t, INTERRUPT_ATTACH, LINE, AT(1), 0), -EINVAL);
    }
    SIGEV_PULSE_INIT(event, 4, 15, 1, 1);
    assert_int_equal(CALL(t, INTERRUPT_ATTACH, LINE, AT(1), 0), -EBADF);
    SIGEV_PULSE_INIT(event, 0, 64, 1, 1);
    assert_int_equal(CALL(t, INTERRUPT_ATTACH, LINE, AT(1), 0), -EPERM);
    assert_int_equal(CALL(t, INTERRUPT_DETACH, 0), -EINVAL);
    assert_true(masked(LINE));
}

/* ---- int_done: D's intr:::return --------------------------------------------------- */

static unsigned done[64], done_in_kernel, not_woken;

static void count_done(unsigned id, const uint64_t *words)
{
    if (id == TRACE_EV_int_done) {
        assert_true(words[0] < 64 && words[1] < 2);
        done[words[0]]++;
        done_in_kernel += words[1] != 0;
        not_woken += t->state == STATE_INTR;
    }
}

static void count_begin(void)
{
    memset(done, 0, sizeof(done));
    done_in_kernel = not_woken = 0;
    fake_site = count_done;
}

/* It is not there before the thread is READY, and there once. */
static void test_done_behind_wake(void **state)
{
    (void)state;
    attach_intr(t, LINE, 0);
    for (unsigned n = 0; n < 2 * CONFIG_CPUS; n++) {
        bool in_kernel = n % 2;
        assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
        count_begin();
        fake_cpu = n / 2;
        intr_entry(LINE, 0, in_kernel);
        assert_int_equal(done[LINE], 0);
        world_settle();
        fake_site = NULL;
        assert_int_equal(done[LINE], 1);
        assert_int_equal(done_in_kernel, in_kernel);
        assert_int_equal(not_woken, 0);
        assert_int_equal(world_result(t), 0);
        CALL(t, INTERRUPT_UNMASK, LINE, ANY);
    }
}

/* Lines that nobody has attached, that come again before they are delivered, that there are not,
 * the timer's and the other CPUs', several at once: as many returns as entries, none early. */
static void test_done_each(void **state)
{
    static const unsigned lines[] = {0, LINE, 31, 32, 40, FAKE_TIMER_IRQ};
    unsigned came[64], seed = 7;

    (void)state;
    attach_pulse(t, LINE, 3, 0);
    for (unsigned round = 0; round < 500; round++) {
        memset(came, 0, sizeof(came));
        count_begin();
        fake_cpu = round % CONFIG_CPUS;
        for (unsigned n = seed >> 28; n > 0; n--) {
            seed = seed * 1664525 + 1013904223;
            unsigned line = lines[(seed >> 16) % 6];
            bool in_kernel = seed >> 30 & 1;
            came[line]++;
            if (line == FAKE_TIMER_IRQ) {
                intr_timer(line, 0, in_kernel);
            } else if (line == 0) {
                intr_ipi(line, 0, in_kernel);
            } else {
                intr_entry(line, 0, in_kernel);
            }
            for (unsigned l = 0; l < 64; l++) {
                assert_true(done[l] <= came[l]);
            }
        }
        if (came[LINE]) {
            assert_int_equal(done[LINE], came[LINE] - 1);
        }
        if (came[FAKE_TIMER_IRQ]) {
            assert_int_equal(done[FAKE_TIMER_IRQ], came[FAKE_TIMER_IRQ] - 1);
        }
        world_settle();
        fake_site = NULL;
        assert_memory_equal(done, came, sizeof(came));
        seed = seed * 1664525 + 1013904223;
        CALL(t, INTERRUPT_UNMASK, LINE, ANY);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_pulse),        CASE(test_coalesces),
        CASE(test_wait),         CASE(test_counts),
        CASE(test_order),        CASE(test_noted),
        CASE(test_noted_again),  CASE(test_thread_ends),
        CASE(test_process_ends), CASE(test_unwanted),
        CASE(test_inherits),     CASE(test_trace_hook),
        CASE(test_wrong),        CASE(test_done_behind_wake),
        CASE(test_done_each),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
