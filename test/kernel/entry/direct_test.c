/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path of messages (kernel/entry/msg_direct.c) against the slow one: each MsgSendv(),
 * MsgReceivev(), MsgReplyv() and TimerTimeout() of a random run is made four times from the same
 * state. All events are on: by the slow path, then by the fast one with D as a listener, too, and
 * for the log alone; they are the common case of the log, or not. Then by the fast one with events
 * off. All memory of the kernel, of its fake CPUs and of the programs must then be the same, but
 * for what `may_differ` names, and so must be the events. First on one CPU, then on four. Most
 * calls are such as the fast path takes, each of its preconditions is broken sometimes, and other
 * calls come in between.
 *
 * The fast path reads the caller's arguments and finds its memory before it has the lock. So, on
 * four CPUs, another one's thread makes a random call just then, or while the lock is waited for,
 * and all must be as if that call had been made first, and then this one by the slow path.
 *
 * A reply to a client that isn't there is made in all ways, for each slot of the table.
 *
 *   SEED=n    the same run again; STEPS=n   how long: below STEPS_ENOUGH a sample, in which not
 *   every kind of call need have been made
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/entry/entry.h"
#include "kernel/ipc/msg.h"
#include "kernel/thread/sched.h"
#include "test/kernel/entry/own_memory.h"
#include "test/kernel/world/random_calls.h"
#include "test/kernel/entry/two_ways.h"

#define STEPS_DEFAULT 5000
#define STEPS_ENOUGH 2500
#define EPISODE 300
#define PROCESSES 4
#define UNTOUCHED 0x5a5a5a5au /* of step, which the fast path leaves alone */
#define IOVS AT(8)
#define MESSAGES AT(0x10)

static unsigned long steps, calls, events, taken[KERCALL_MAX], taken_traced[KERCALL_MAX];
static unsigned long taken_logged[KERCALL_MAX];
static unsigned long taken_registers[KERCALL_MAX];
static unsigned long wide[KERCALL_MAX], limited[KERCALL_MAX]; /* of taken, without events */
static unsigned long long seed;
static struct {
    unsigned number;
    uintptr_t args[6];
} last;

/* In a window, before the lock is had: another CPU's call. */
static struct {
    struct thread *t; /* NULL: none */
    unsigned number;
    uintptr_t args[6];
} other;

static void where(void)
{
    if (other.t) {
        fprintf(stderr, "in a window of call %u(%#lx, %#lx, %#lx, %#lx, %#lx): ", other.number,
                other.args[0], other.args[1], other.args[2], other.args[3], other.args[4]);
    }
    fprintf(stderr, "SEED=%llu, step %lu: call %u(%#lx, %#lx, %#lx, %#lx, %#lx)\n", seed, steps,
            last.number, last.args[0], last.args[1], last.args[2], last.args[3], last.args[4]);
}

/* ---- the ways ---------------------------------------------------------------------- */

enum listeners { NOBODY, LOG_ONLY, LOG_AND_D };

/* Makes the call from the state before it. Returns whether the fast path took it. */
static bool again(struct thread *t, unsigned number, const uintptr_t args[6],
                  enum listeners listeners, bool in_registers)
{
    ways_back();
    world_in_registers = in_registers;
    fake_events_off = listeners == NOBODY;
    fake_log_only = listeners == LOG_ONLY;
    fake_recorded = 0;
    world_enter(t, number, args);
    ways_compare(number);
    return t->proc && t->step == UNTOUCHED;
}

static bool is_wide(const uintptr_t *buffer)
{
    return (intptr_t)buffer[1] > 1 || (intptr_t)buffer[1] < -(intptr_t)MSG_SMALL;
}

/* What kind of call the fast path is about to take, or not. */
static void kind(const struct thread *t, unsigned number, const uintptr_t args[6], bool *is_limited,
                 bool *has_parts)
{
    const struct thread *client = number == KER_MSG_REPLYV ? rcvid_client(t, args[0]) : NULL;

    *is_limited =
        number == KER_MSG_SENDV ? t->timeout_states != 0 : client && client->timeout_states != 0;
    *has_parts = number == KER_MSG_SENDV
                     ? is_wide(args + SEND_ARG_SMSG) || (intptr_t)args[SEND_ARG_RMSG + 1] > 1
                     : client && (is_wide(args + REPLY_ARG_SMSG) ||
                                  (intptr_t)client->args[SEND_ARG_RMSG + 1] > 1);
}

/* The log has no events of sites that are D's only. */
static bool is_site(uint32_t what)
{
    return what >= FAKE_SITE && what < FAKE_SITE + TRACE_EV_COUNT;
}

static void all_ways(struct thread *t, unsigned number, const uintptr_t args[6])
{
    bool is_limited, has_parts;

    if (chance(60)) {
        fake_trace_common(chance(50));
    }
    kind(t, number, args, &is_limited, &has_parts);
    t->step = UNTOUCHED;
    ways_keep_before();
    fake_events_off = fake_log_only = false;
    fake_recorded = 0;
    kercall_use_direct(false);
    world_enter(t, number, args);
    kercall_use_direct(true);
    ways_keep_after();
    bool traced = again(t, number, args, LOG_AND_D, false);
    unsigned n = ways_compare_events();
    ways_forget_events(is_site);
    ways_forget_seen();
    bool logged = again(t, number, args, LOG_ONLY, false);
    ways_compare_events();
    bool took = again(t, number, args, NOBODY, false);
    again(t, number, args, LOG_ONLY, true);
    bool registers = again(t, number, args, NOBODY, true);
    world_in_registers = false;
    taken[number] += took;
    taken_registers[number] += registers;
    taken_logged[number] += logged;
    taken_traced[number] += traced;
    wide[number] += took && has_parts;
    limited[number] += took && is_limited;
    if (is_there(t)) { /* one that another CPU has told to end may end with its call */
        t->step = 0;
    }
    fake_trace_uncommon();
    events += n;
    calls++;
}

/* ---- another CPU's call between what is read before the lock and the lock ------------- */

static unsigned long windows[KERCALL_MAX], waited[KERCALL_MAX], crossed[KERCALL_MAX];

/* By the slow path, each time. */
static void others_call(void)
{
    kercall_use_direct(false);
    world_enter(other.t, other.number, other.args);
}

/* Chooses a thread that runs on another CPU than t, and its call. */
static bool choose_other(const struct thread *t)
{
    unsigned self = fake_cpu, n = (t->cpu + 1 + pick(CONFIG_CPUS - 1)) % CONFIG_CPUS;

    other.t = cpus[n].current;
    if (!other.t || cpus[n].trace.exit_work || other.t->step != 0) {
        other.t = NULL;
        return false;
    }
    fake_cpu = n;
    memset(other.args, 0, sizeof(other.args));
    bool chosen = random_call(other.t, &other.number, other.args);
    fake_cpu = self;
    if (chosen && other.t->proc->space.nmaps > 0 && chance(15)) {
        const struct mapping *m = vm_nth(&other.t->proc->space, other.t->proc->space.nmaps - 1);
        other.number = KER_MEM_UNMAP;
        other.args[0] = m->vaddr;
        other.args[1] = m->len;
    }
    other.t = chosen ? other.t : NULL;
    return chosen;
}

/* By the slow path, after the other CPU's call. Returns whether the fast path must come to the
 * same: it may have read what that call has changed. *crosses: that call made a cross-call here. */
static bool window_slowly(struct thread *t, unsigned number, const uintptr_t args[6], bool *crosses)
{
    const struct cpu *cpu = &cpus[t->cpu];
    uint32_t served = cpu->xcalls_served;
    struct own before = own_memory(t, number, args);

    others_call();
    struct own after = own_memory(t, number, args);
    *crosses = cpu->xcalls_served != served;
    world_enter(t, number, args);
    kercall_use_direct(true);
    return memcmp(&before, &after, sizeof(before)) == 0;
}

/* Returns false if no thread of another CPU makes a call now. */
static bool in_a_window(struct thread *t, unsigned number, const uintptr_t args[6])
{
    bool crosses;

    if (!choose_other(t)) {
        return false;
    }
    t->step = UNTOUCHED;
    fake_events_off = fake_clock_stands = true;
    ways_keep_before();
    bool alike = window_slowly(t, number, args, &crosses);
    ways_keep_after();
    /* A CPU that does not wait for the lock serves no cross-call before it has it. */
    bool waits = crosses || chance(50), in_registers = chance(50);
    ways_back();
    ways_window(waits, others_call);
    world_in_registers = in_registers;
    world_enter(t, number, args);
    kercall_use_direct(true);
    if (alike) {
        ways_compare(number);
    }
    world_in_registers = false;
    fake_clock_stands = false;
    other.t = NULL;
    crossed[number] += crosses;
    if (is_there(t)) { /* another CPU may have told it to end */
        windows[number] += t->step == UNTOUCHED;
        waited[number] += t->step == UNTOUCHED && waits;
        t->step = t->step == UNTOUCHED ? 0 : t->step;
    }
    return true;
}

/* ---- calls ------------------------------------------------------------------------- */

static size_t some_bytes(void)
{
    if (chance(1)) {
        return chance(50) ? 0x80000000u : SIZE_MAX;
    }
    if (chance(2)) {
        return pick(8 * CONFIG_COPY_CHUNK);
    }
    if (chance(5)) {
        return pick(DATA / 2);
    }
    return chance(90) ? 4 * pick(9) : pick(50);
}

static uintptr_t some_address(void)
{
    switch (pick(60)) {
    case 0:
        return NOWHERE;
    case 1:
        return RO + 4 * pick(40);
    case 2:
        return FAKE_VADDR + DATA - pick(70); /* goes beyond its end, or nearly */
    case 3:
        return MESSAGES + pick(200);
    default:
        return MESSAGES + 4 * pick(100);
    }
}

/* Address and parts of a message. */
static void fill_message(const struct thread *t, uintptr_t *args)
{
    uintptr_t at = IOVS + sizeof(iov_t) * pick(2);
    size_t parts = chance(75) ? 1 : 1 + pick(MSG_PIECES + 1);

    for (size_t i = 0; i < parts; i++) {
        uintptr_t to = at + i * sizeof(iov_t);
        iov_t iov = {.iov_base = (void *)some_address(), .iov_len = some_bytes()};
        if (vm_user_ptr(t->proc, to, sizeof(iov), KYMO_PROT_WRITE)) {
            memcpy(world_at(t, to), &iov, sizeof(iov));
        }
    }
    args[0] = chance(97) ? at : chance(50) ? at + pick(sizeof(iov_t)) : some_address();
    args[1] = chance(97) ? parts : pick(KYMO_IOV_MAX + 2);
    if (chance(50)) {
        args[0] = some_address();
        args[1] = LEN(some_bytes());
    }
    if (chance(4)) {
        args[0] = args[1] = 0;
    }
}

static const struct thread *client_of(const struct thread *server)
{
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        const struct thread *t = thread_by_index(i);
        if (t && t->state == STATE_REPLY && t->server == server) {
            return t;
        }
    }
    return NULL;
}

/* The next call's wait is limited, mostly in the common way. */
static void limit(const struct thread *t, uintptr_t args[6])
{
    const uintptr_t waits = 1u << STATE_SEND | 1u << STATE_RECEIVE | 1u << STATE_REPLY;

    args[0] = chance(97) ? pick(CLOCK_MONOTONIC + 1) : pick(UINT32_MAX);
    args[1] = chance(80) ? waits : chance(90) ? waits & pick(UINT32_MAX) : pick(UINT32_MAX);
    args[1] &= ~(uintptr_t)_NTO_TIMEOUT_NANOSLEEP;
    args[2] = chance(95) ? 0 : some_address();
    args[3] = chance(95) ? MESSAGES : chance(50) ? 0 : some_address();
    args[4] = chance(95) ? 0 : some_address();
    if (vm_user_ptr(t->proc, MESSAGES, sizeof(uint64_t), KYMO_PROT_WRITE)) {
        uint64_t ns = chance(5) ? 0 : chance(50) ? pick(100000) : UINT64_C(1000) * pick(UINT32_MAX);
        memcpy(world_at(t, MESSAGES), &ns, sizeof(ns));
    }
}

static unsigned choose(struct thread *t, uintptr_t args[6])
{
    const struct thread *client = client_of(t);
    bool serves = t->proc->pid % 2 == 0;

    if (t->timeout_states == 0 && chance(serves ? 1 : 15)) {
        limit(t, args);
        return KER_TIMER_TIMEOUT;
    }
    if (client && chance(90)) {
        args[0] = chance(98) ? (uintptr_t)client->rcvid : pick(UINT32_MAX);
        args[1] = pick(100);
        fill_message(t, args + 2);
        return KER_MSG_REPLYV;
    }
    if (chance(serves ? 95 : 10)) {
        args[0] = chance(98) ? 1 : pick(UINT32_MAX);
        fill_message(t, args + 1);
        args[3] = chance(70) ? 0 : some_address();
        return chance(97) ? KER_MSG_RECEIVEV : KER_MSG_RECEIVEPULSEV;
    }
    args[0] =
        chance(95) ? pick(PROCESSES - 1) | (chance(50) ? _NTO_SIDE_CHANNEL : 0) : pick(UINT32_MAX);
    fill_message(t, args + 1);
    fill_message(t, args + 3);
    return chance(97) ? KER_MSG_SENDV : KER_MSG_SENDVNC;
}

/* Another way in which a call can be unusual, or the world before it. */
static void disturb(struct thread *t, uintptr_t args[6])
{
    switch (pick(11)) {
    case 0:
    case 1:
    case 2:
        args[0] = (uintptr_t)CLOCK_MONOTONIC;
        args[1] = 1u << STATE_SEND | 1u << STATE_RECEIVE | 1u << STATE_REPLY;
        args[2] = args[4] = 0;
        args[3] = chance(30) ? 0 : IOVS;
        copy_out(t->proc, IOVS, &(uint64_t){pick(100000)}, sizeof(uint64_t));
        world_enter(t, KER_TIMER_TIMEOUT, args);
        return;
    case 3:
    case 4:
    case 5: /* of a client whose server may be told, or of one that will wait */
        world_enter(t, KER_THREAD_CANCEL, (const uintptr_t[6]){1 + pick(3), AT(0x30)});
        return;
    case 6:
        args[0] = pick(PROCESSES);
        args[1] = 9 + pick(6);
        world_enter(t, KER_MSG_SEND_PULSE, args);
        return;
    case 7: /* where its messages are, or what has taken that place since */
        if (chance(20)) {
            args[0] = t->proc->space.maps[0].vaddr;
            args[1] = t->proc->space.maps[0].len;
            world_enter(t, KER_MEM_UNMAP, args);
        }
        return;
    case 8:
        cpus[fake_cpu].trace.exit_work |= WORK_TIMER;
        return;
    default:
        if (random_call(t, &last.number, args)) {
            memcpy(last.args, args, sizeof(last.args));
            fake_events_off = chance(50);
            world_enter(t, last.number, args);
        }
    }
}

static void step(struct thread *t)
{
    uintptr_t args[6] = {0};

    if (chance(5)) {
        disturb(t, args);
        return;
    }
    last.number = choose(t, args);
    memcpy(last.args, args, sizeof(last.args));
    bool message = last.number == KER_MSG_SENDV || last.number == KER_MSG_RECEIVEV ||
                   last.number == KER_MSG_REPLYV || last.number == KER_TIMER_TIMEOUT;
    if (!several_cpus() || !message || !chance(12) || !in_a_window(t, last.number, args)) {
        all_ways(t, last.number, args);
    }
}

/* ---- episodes ---------------------------------------------------------------------- */

/* A channel, and connections to all channels that there are, of both kinds. */
static void connect(void *thread)
{
    struct thread *t = thread;
    uintptr_t flags = chance(15) ? _NTO_CHF_FIXED_PRIORITY : chance(30) ? _NTO_CHF_UNBLOCK : 0;

    t->call = KER_CHANNEL_CREATE;
    ker_channel_create(t, (uintptr_t[6]){flags});
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        struct thread *other = thread_by_index(i);
        if (!other || other->proc == kernel_process || other->tid != 1) {
            continue;
        }
        for (unsigned side = 0; side < 2; side++) {
            uintptr_t index = side ? _NTO_SIDE_CHANNEL : 0;
            ker_connect_attach(t, (uintptr_t[6]){0, (uintptr_t)other->proc->pid, 1, index, 0});
            ker_connect_attach(other, (uintptr_t[6]){0, (uintptr_t)t->proc->pid, 1, index, 0});
        }
    }
}

/* Most threads have sent and received before. */
static void warm(void *thread)
{
    struct thread *t = thread;

    if (chance(80)) {
        vm_cache_fill(&t->iov_cache, t->proc, IOVS, sizeof(iov_t), KYMO_PROT_READ);
        vm_cache_fill(&t->out_cache, t->proc, MESSAGES, 1, KYMO_PROT_READ);
        vm_cache_fill(&t->in_cache, t->proc, MESSAGES, 1, KYMO_PROT_WRITE);
    }
}

/* A client and its server have the same CPU to themselves, or not. */
static void bind(void *thread)
{
    struct thread *t = thread;

    if (several_cpus() && chance(85)) {
        t->runmask = 1u << pick(2);
        sched_changed(t);
    }
}

static void episode_begin(void)
{
    unsigned level = 10 + pick(3);

    for (unsigned i = 0; i < PROCESSES; i++) {
        struct thread *t = world_process(0x1ff, (int)(level + pick(3)), DATA);
        world_do(0, connect, t);
        world_settle();
        world_do(0, warm, t);
        world_do(0, bind, t);
        world_settle();
        for (unsigned n = pick(3); n > 0; n--) {
            struct thread *more = world_thread(t, (int)(level + pick(3)));
            world_do(0, warm, more);
            world_do(0, bind, more);
            world_settle();
        }
    }
}

static struct thread *somebody(void)
{
    unsigned first = pick(CONFIG_CPUS);

    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        fake_cpu = (first + i) % CONFIG_CPUS;
        if (cpus[fake_cpu].current) {
            return cpus[fake_cpu].current;
        }
    }
    fake_cpu = 0;
    return NULL;
}

static void episode(void)
{
    struct thread *t;

    episode_begin();
    for (unsigned i = 0; i < EPISODE && (t = somebody()); i++, steps++) {
        step(t);
        if (chance(80)) {
            world_settle();
        }
        world_check();
        if (chance(3)) {
            world_settle();
            world_advance(pick(200000));
        }
    }
    world_settle();
    fake_events_off = false;
    world_end();
}

static void run(unsigned long left)
{
    unsigned long until = steps + left;

    memset(taken, 0, sizeof(taken));
    memset(taken_traced, 0, sizeof(taken_traced));
    memset(taken_logged, 0, sizeof(taken_logged));
    memset(taken_registers, 0, sizeof(taken_registers));
    memset(wide, 0, sizeof(wide));
    memset(limited, 0, sizeof(limited));
    calls = events = 0;
    while (steps < until) {
        episode();
    }
    printf("%lu calls, %lu events; fast: %lu sends, %lu receives, %lu replies, %lu timeouts\n",
           calls, events, taken[KER_MSG_SENDV], taken[KER_MSG_RECEIVEV], taken[KER_MSG_REPLYV],
           taken[KER_TIMER_TIMEOUT]);
    printf("of these wide: %lu sends, %lu replies; limited: %lu sends, %lu replies\n",
           wide[KER_MSG_SENDV], wide[KER_MSG_REPLYV], limited[KER_MSG_SENDV],
           limited[KER_MSG_REPLYV]);
    /* What is traced is what runs; but TimerTimeout() has no events other than of the call. */
    taken_traced[KER_TIMER_TIMEOUT] = taken_logged[KER_TIMER_TIMEOUT] = taken[KER_TIMER_TIMEOUT];
    assert_memory_equal(taken, taken_traced, sizeof(taken));
    assert_memory_equal(taken, taken_logged, sizeof(taken));
    assert_memory_equal(taken, taken_registers, sizeof(taken));
    printf("with words in registers: %lu sends, %lu replies\n", world_registers_sent,
           world_registers_replied);
}

static void test_one_cpu(void **state)
{
    const char *given = getenv("STEPS");
    unsigned long n = given ? strtoul(given, NULL, 0) : STEPS_DEFAULT;

    (void)state;
    run(n);
    if (n >= STEPS_ENOUGH) {
        assert_true(world_registers_sent > 0 && world_registers_replied > 0);
        assert_true(taken[KER_MSG_SENDV] > n / 100);
        assert_true(taken[KER_MSG_RECEIVEV] > n / 50);
        assert_true(taken[KER_MSG_REPLYV] > n / 50);
        assert_true(taken[KER_TIMER_TIMEOUT] > n / 50);
        assert_true(wide[KER_MSG_SENDV] > n / 1500 && wide[KER_MSG_REPLYV] > n / 500);
        assert_true(limited[KER_MSG_SENDV] > n / 1500 && limited[KER_MSG_REPLYV] > n / 500);
    }
    world_other_cpus();
    run(n);
    printf("in a window, fast: %lu sends, %lu receives, %lu replies; of these %lu, %lu, %lu had to "
           "wait; cross-calls: %lu, %lu, %lu\n",
           windows[KER_MSG_SENDV], windows[KER_MSG_RECEIVEV], windows[KER_MSG_REPLYV],
           waited[KER_MSG_SENDV], waited[KER_MSG_RECEIVEV], waited[KER_MSG_REPLYV],
           crossed[KER_MSG_SENDV], crossed[KER_MSG_RECEIVEV], crossed[KER_MSG_REPLYV]);
    assert_true(n < STEPS_ENOUGH || taken[KER_MSG_SENDV] > n / 200);
}

/* A reply under an rcvid whose slot was never used, is free again, or is a thread that waits for no
 * reply: ESRCH, and of a free slot, which is poisoned, nothing else is read. */
static void test_reply_to_nobody(void **state)
{
    struct thread *server = world_process(0x1ff, 10, DATA), *gone = world_process(0x1ff, 10, DATA);
    const uintptr_t stale = (uintptr_t)gone->rcvid;

    (void)state;
    world_kill(gone->proc);
    for (unsigned way = 0; way < 4; way++) {
        world_in_registers = way & 1;
        fake_events_off = way & 2;
        assert_int_equal(CALL(server, MSG_REPLYV, stale, 0, 0, 0), -ESRCH);
        for (uintptr_t rcvid = 0; rcvid <= 2 * (RCVID_INDEX_MASK + 1); rcvid++) {
            assert_int_equal(CALL(server, MSG_REPLYV, rcvid, 0, 0, 0), -ESRCH);
        }
    }
    world_in_registers = fake_events_off = false;
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reply_to_nobody),
                                       cmocka_unit_test(test_one_cpu)};

    setvbuf(stdout, NULL, _IOLBF, 0);
    seed = random_begin();
    world_where = where;
    world_boot_one();
    ways_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
