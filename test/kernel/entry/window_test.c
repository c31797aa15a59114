/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The window of the fast path of messages (kernel/entry/msg_direct.c, timeout_direct.c): what a
 * call has read of its own before it has the lock, and what another CPU does to just that until the
 * lock is had. Each call, in several forms, beside each disturbance: from the same state first the
 * disturbance and then the call by the slow path, then the call by the fast one with the
 * disturbance in its window. All memory must then be the same, and so must be the events. The fast
 * path must have taken each call that nothing disturbs. direct_test.c does the same at random.
 *
 * Of two kinds of memory that go in the window a call has read before all that it is going to:
 * iov_t, and the time of TimerTimeout(). It does as if it had been earlier.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/entry/entry.h"
#include "kernel/thread/sched.h"
#include "test/kernel/entry/two_ways.h"
#include "test/kernel/entry/window_acts.h"

#define UNTOUCHED 0x5a5a5a5au /* of step, which the fast path leaves alone */
#define BYTES 24u
#define INFO (IN + 0x200u)
#define STATUS 7u

struct thread *client, *server, *clients_mate, *servers_mate, *other;
struct thread *self, *partner, *mate, *partners_mate;
int coid, others_coid, high_coid, low_coid;
static unsigned number; /* of the call under way */

/* How a call names its buffers, and whether it wants what comes besides. */
enum form { DIRECT, IOV, FORMS };
enum listeners { NOBODY, THE_LOG, D_TOO, LISTENERS };

static struct {
    enum form form;
    enum listeners listeners;
    const char *act;
    bool waits;
} now;

static void where(void)
{
    fprintf(stderr, "call %u, form %u, listeners %u, %s: %s\n", number, now.form, now.listeners,
            now.waits ? "while it waits" : "before it looks", now.act ? now.act : "set-up");
}

/* ---- the calls -------------------------------------------------------------------------- */

static void buffer(enum form form, uintptr_t *args, unsigned iov, uintptr_t at, size_t bytes)
{
    args[0] = form == DIRECT ? at : IOVS + iov * sizeof(iov_t);
    args[1] = form == DIRECT ? LEN(bytes) : 1;
}

static void write_iovs(struct thread *t)
{
    const iov_t iovs[] = {{.iov_base = (void *)OUT, .iov_len = BYTES},
                          {.iov_base = (void *)IN, .iov_len = BYTES}};
    const uint64_t limit = 1000000000;

    memcpy(world_at(t, IOVS), iovs, sizeof(iovs));
    memset(world_at(t, OUT), t->pid, BYTES);
    memcpy(world_at(t, OUT + 0x100), &limit, sizeof(limit));
}

static void arguments(unsigned call, enum form form, uintptr_t args[6])
{
    memset(args, 0, 6 * sizeof(args[0]));
    switch (call) {
    case KER_MSG_SENDV:
        args[0] = (uintptr_t)coid;
        buffer(form, args + 1, 0, OUT, BYTES);
        buffer(form, args + 3, 1, IN, BYTES);
        break;
    case KER_MSG_RECEIVEV:
        args[0] = 1;
        buffer(form, args + 1, 1, IN, BYTES);
        args[3] = now.form == IOV ? INFO : 0;
        break;
    case KER_MSG_REPLYV:
        args[0] = (uintptr_t)client->rcvid;
        args[1] = STATUS;
        buffer(form, args + 2, 0, OUT, BYTES);
        break;
    default:
        args[0] = CLOCK_MONOTONIC;
        args[1] = 1u << STATE_SEND | 1u << STATE_REPLY;
        args[3] = OUT + 0x100;
    }
}

static void make(struct thread *t, unsigned call)
{
    uintptr_t args[6];

    arguments(call, now.form, args);
    world_enter(t, call, args);
}

/* ---- the world -------------------------------------------------------------------------- */

static void bind(void *thread)
{
    struct thread *t = thread;

    sched_changed(t);
}

static struct thread *bound(struct thread *t, unsigned cpu)
{
    t->runmask = 1u << cpu;
    world_do(cpu, bind, t);
    world_settle();
    return t;
}

static void fill_caches(void *thread)
{
    struct thread *t = thread;

    assert_non_null(vm_cache_fill(&t->iov_cache, t->proc, IOVS, sizeof(iov_t), KYMO_PROT_READ));
    assert_non_null(vm_cache_fill(&t->out_cache, t->proc, OUT, 1, KYMO_PROT_READ));
    assert_non_null(vm_cache_fill(&t->in_cache, t->proc, IN, 1, KYMO_PROT_WRITE));
}

/* A process of these two threads, with its places. */
static struct thread *pair_member(int priority, unsigned cpu, struct thread **second)
{
    struct thread *t = world_process(0x1ff, priority, DATA);

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(CALL(t, MEM_MAP, PLACE_BYTES, KYMO_PROT_READ | KYMO_PROT_WRITE), PLACE(i));
    }
    write_iovs(t);
    world_do(0, fill_caches, t);
    *second = bound(world_thread(t, priority), cpu);
    return bound(t, 0);
}

/* A thread that waits for a pulse and is CPU 0's then. */
static struct thread *waiter(int priority, int *connection)
{
    struct thread *t = bound(world_thread(other, priority), 3);
    long chid;

    while (t->state != STATE_RUNNING) { /* beside `other` */
        assert_int_equal(CALL(other, SCHED_YIELD, 0), 0);
    }
    chid = CALL(t, CHANNEL_CREATE, 0);
    assert_true(chid > 0);
    *connection = (int)CALL(t, CONNECT_ATTACH, 0, (uintptr_t)t->proc->pid, (uintptr_t)chid, 0, 0);
    assert_true(*connection >= 0);
    assert_int_equal(CALL(t, MSG_RECEIVEV, (uintptr_t)chid, AT(3), LEN(64), 0), BLOCKED);
    t->runmask = 1;
    return t;
}

/* Brings both where the call can be made. */
static void come_to(unsigned call)
{
    number = call;
    self = call == KER_MSG_SENDV || call == KER_TIMER_TIMEOUT ? client : server;
    partner = self == client ? server : client;
    mate = self == client ? clients_mate : servers_mate;
    partners_mate = self == client ? servers_mate : clients_mate;
    if (self == client) {
        return;
    }
    make(client, KER_MSG_SENDV);
    assert_int_equal(world_cpu_of(server), 0);
    if (call == KER_MSG_RECEIVEV) {
        make(server, KER_MSG_REPLYV);
        assert_ptr_equal(cpus[0].handoff, client);
    }
}

static void begin(unsigned call)
{
    fake_events_off = true;
    client = pair_member(10, 1, &clients_mate);
    server = pair_member(12, 2, &servers_mate);
    other = bound(world_process(0x1ff, 10, DATA), 3);
    assert_int_equal(CALL(server, CHANNEL_CREATE, _NTO_CHF_UNBLOCK), 1);
    coid = (int)CALL(clients_mate, CONNECT_ATTACH, 0, (uintptr_t)server->pid, 1, 0, 0);
    others_coid = (int)CALL(other, CONNECT_ATTACH, 0, (uintptr_t)server->pid, 1, 0, 0);
    assert_true(coid >= 0 && others_coid >= 0);
    waiter(20, &high_coid);
    struct thread *low = waiter(5 + 5, &low_coid);
    window_set_priority(low, 5);
    world_settle();
    make(server, KER_MSG_RECEIVEV);
    assert_int_equal(world_cpu_of(client), 0);
    if (now.form == IOV) {
        make(client, KER_TIMER_TIMEOUT);
    }
    come_to(call);
    world_settle();
    world_check();
}

/* ---- both ways -------------------------------------------------------------------------- */

static unsigned pairs;

static void acting(void)
{
    kercall_use_direct(false);
    for (unsigned i = 0; i < window_acts_count; i++) {
        if (window_acts[i].name == now.act) {
            window_acts[i].act();
        }
    }
}

static void set_listeners(void)
{
    fake_events_off = now.listeners == NOBODY;
    fake_log_only = now.listeners == THE_LOG;
    fake_recorded = 0;
}

/* Returns whether the disturbance makes a cross-call to the CPU. */
static bool slowly(enum when when)
{
    bool early = when == HAS_TIME && number == KER_TIMER_TIMEOUT && now.listeners == NOBODY;
    bool has_iovs = when != BEHIND && now.listeners == NOBODY;
    uint32_t served = cpus[0].xcalls_served;
    uintptr_t args[6];

    set_listeners();
    arguments(number, has_iovs ? DIRECT : now.form, args);
    if (!early) {
        acting();
    }
    kercall_use_direct(false);
    world_enter(self, number, args);
    if (early) {
        acting();
    }
    kercall_use_direct(true);
    return cpus[0].xcalls_served != served;
}

static void quickly(bool waits)
{
    ways_back();
    set_listeners();
    ways_window(waits, acting);
    make(self, number);
    kercall_use_direct(true);
}

/* The entry is before the window, and how long a CPU waits is no matter. */
static bool is_elsewhere(uint32_t what)
{
    return (what >= FAKE_ENTER && what < FAKE_EXIT) || what == FAKE_SITE + TRACE_EV_kernel_spin;
}

/* From the state as it is, which is there again afterwards. */
static void one_act(const struct window_act *act, bool waits)
{
    now.act = act->name;
    now.waits = waits;
    fake_clock_stands = true;
    self->step = UNTOUCHED;
    ways_keep_before();
    bool crosses = slowly(act->when);
    ways_keep_after();
    if (crosses && !waits) { /* a CPU that does not wait serves no cross-call before the lock */
        ways_back();
        return;
    }
    quickly(waits);
    bool fast = number != KER_TIMER_TIMEOUT || now.listeners == NOBODY;
    if (act == window_acts && fast && self->step != UNTOUCHED) {
        broken("the fast path does not take the call");
    }
    ways_compare(number);
    ways_forget_events(is_elsewhere);
    ways_compare_events();
    world_settle();
    world_check();
    ways_back();
    pairs++;
}

static void each_act(unsigned call)
{
    for (unsigned form = 0; form < FORMS; form++) {
        now.form = form;
        begin(call);
        for (now.listeners = NOBODY; now.listeners < LISTENERS; now.listeners++) {
            for (unsigned i = 0; i < 2 * window_acts_count; i++) {
                one_act(&window_acts[i / 2], i % 2);
            }
        }
        now.act = NULL;
        fake_clock_stands = false;
        self->step = 0;
        world_end();
    }
    printf("%u pairs\n", pairs);
}

static void test_send(void **state)
{
    (void)state;
    each_act(KER_MSG_SENDV);
}

static void test_receive(void **state)
{
    (void)state;
    each_act(KER_MSG_RECEIVEV);
}

static void test_reply(void **state)
{
    (void)state;
    each_act(KER_MSG_REPLYV);
}

static void test_timeout(void **state)
{
    (void)state;
    each_act(KER_TIMER_TIMEOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_receive),
        cmocka_unit_test(test_reply),
        cmocka_unit_test(test_timeout),
    };

    world_where = where;
    world_boot();
    ways_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
