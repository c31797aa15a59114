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
#include "test/unit_ipc/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/entry/entry.h"
#include "kernel/thread/sched.h"
#include "test/unit_ipc/two_ways.h"

#define UNTOUCHED 0x5a5a5a5au /* of step, which the fast path leaves alone */
/* Mappings of their own, at the same addresses in both processes. */
#define PLACE_BYTES 0x1000u
#define PLACE(n) (RO + 4096u + (n) * PLACE_BYTES)
#define IOVS PLACE(0)
#define OUT PLACE(1)
#define IN PLACE(2)
#define PARAM AT(4)
#define STUB 0x12340u
#define BYTES 24u
#define INFO (IN + 0x200u)
#define STATUS 7u

/* CPU 0 has the client and its server. Each has another thread of its process on a CPU of its own,
 * and so has a third process, of which two threads wait for a pulse to run on CPU 0. */
static struct thread *client, *server, *clients_mate, *servers_mate, *other, *high, *low;
static struct thread *self, *partner, *mate, *partners_mate; /* in the call under way */
static unsigned number;
static int coid, others_coid, high_coid, low_coid;

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

/* ---- what other CPUs do ----------------------------------------------------------------- */

#define ENTER(t, name, ...) world_enter(t, KER_##name, (uintptr_t[6]){__VA_ARGS__})

static void nothing(void)
{
}
static void unmap_out(void)
{
    ENTER(mate, MEM_UNMAP, OUT, PLACE_BYTES);
}
static void unmap_in(void)
{
    ENTER(mate, MEM_UNMAP, IN, PLACE_BYTES);
}
static void unmap_iovs(void)
{
    ENTER(mate, MEM_UNMAP, IOVS, PLACE_BYTES);
}
static void unmap_other(void)
{
    ENTER(mate, MEM_UNMAP, RO, 4096);
}
static void unmap_partners_out(void)
{
    ENTER(partners_mate, MEM_UNMAP, OUT, PLACE_BYTES);
}
static void unmap_partners_in(void)
{
    ENTER(partners_mate, MEM_UNMAP, IN, PLACE_BYTES);
}

struct rights {
    uintptr_t at;
    unsigned prot;
};
static const struct rights out_has_none = {OUT, 0}, in_is_read = {IN, KYMO_PROT_READ};

static void protect(void *arg)
{
    const struct rights *r = *(const struct rights **)arg;

    vm_protect(mate->proc, vm_find(mate->proc, r->at, 0), r->prot);
}
static void protect_out(void)
{
    static const struct rights *arg = &out_has_none;
    world_do(mate->cpu, protect, &arg);
}
static void protect_in(void)
{
    static const struct rights *arg = &in_is_read;
    world_do(mate->cpu, protect, &arg);
}

static void seen(void *arg)
{
    (void)arg;
}
/* As trace_port_sites_sync(). */
static void sites_synced(void *arg)
{
    (void)arg;
    cpu_run_on_all(seen, NULL);
}
static void log_alone(void)
{
    fake_events_off = false;
    fake_log_only = true;
    world_do(other->cpu, sites_synced, NULL);
}
static void log_and_d(void)
{
    fake_events_off = fake_log_only = false;
    world_do(other->cpu, sites_synced, NULL);
}
static void events_off(void)
{
    fake_events_off = true;
    world_do(other->cpu, sites_synced, NULL);
}

static void ctl(struct thread *of, struct thread *t, unsigned what)
{
    ENTER(of, THREAD_CTL, what, (uintptr_t)t->tid);
}
static void hold_self(void)
{
    ctl(mate, self, _NTO_TCTL_ONE_THREAD_HOLD);
}
static void hold_self_shortly(void)
{
    ctl(mate, self, _NTO_TCTL_ONE_THREAD_HOLD);
    ctl(mate, self, _NTO_TCTL_ONE_THREAD_CONT);
}
static void hold_partner(void)
{
    ctl(partners_mate, partner, _NTO_TCTL_ONE_THREAD_HOLD);
}
static void hold_partner_shortly(void)
{
    ctl(partners_mate, partner, _NTO_TCTL_ONE_THREAD_HOLD);
    ctl(partners_mate, partner, _NTO_TCTL_ONE_THREAD_CONT);
}
static void end_self(void)
{
    ENTER(mate, THREAD_DESTROY, (uintptr_t)self->tid);
}
static void end_partner(void)
{
    ENTER(partners_mate, THREAD_DESTROY, (uintptr_t)partner->tid);
}
static void kill_own_process(void)
{
    ENTER(other, SIGNAL_KILL, 0, (uintptr_t)self->proc->pid, 0, KYMO_SIGKILL);
}
static void kill_partners_process(void)
{
    ENTER(other, SIGNAL_KILL, 0, (uintptr_t)partner->proc->pid, 0, KYMO_SIGKILL);
}
static void cancel_self(void)
{
    ENTER(mate, THREAD_CANCEL, (uintptr_t)self->tid, STUB);
}
static void cancel_partner(void)
{
    ENTER(partners_mate, THREAD_CANCEL, (uintptr_t)partner->tid, STUB);
}
static void detach(void)
{
    ENTER(clients_mate, CONNECT_DETACH, (uintptr_t)coid);
}
static void destroy_channel(void)
{
    ENTER(servers_mate, CHANNEL_DESTROY, 1);
}

static void set_priority(const struct thread *t, int priority)
{
    const struct sched_param_kymo param = {.sched_priority = priority};

    memcpy(world_at(other, PARAM), &param, sizeof(param));
    ENTER(other, SCHED_SET, (uintptr_t)t->proc->pid, (uintptr_t)t->tid, SCHED_NOCHANGE, PARAM);
}
static void raise_self(void)
{
    set_priority(self, 30);
}
static void lower_self(void)
{
    set_priority(self, 3);
}
static void raise_partner(void)
{
    set_priority(partner, 30);
}
static void lower_partner(void)
{
    set_priority(partner, 3);
}

static void pulse(int to)
{
    ENTER(other, MSG_SEND_PULSE, (uintptr_t)to, 10, 1, 0);
}
static void pulse_server(void)
{
    pulse(others_coid);
}
static void wake_high(void)
{
    pulse(high_coid);
}
static void wake_low(void)
{
    pulse(low_coid);
}
static void send_to_server(void)
{
    ENTER(other, MSG_SENDV, (uintptr_t)others_coid, AT(1), LEN(8), AT(2), LEN(8));
}
static void receive_beside(void)
{
    ENTER(servers_mate, MSG_RECEIVEV, 1, AT(1), LEN(8), 0);
}
static void reply_for_self(void)
{
    ENTER(servers_mate, MSG_REPLYV, (uintptr_t)client->rcvid, 0, AT(1), LEN(8));
}
static void ask_for_exit(void)
{
    cpu_request(&cpus[0], WORK_RESCHED);
}

/* What a call without events, which comes behind the disturbance, has read before it. */
enum when { BEHIND, HAS_IOVS, HAS_TIME };

static const struct act {
    const char *name;
    void (*act)(void);
    enum when when;
} acts[] = {
    {"nothing", nothing, BEHIND}, /* the first */
    {"unmap what it sends", unmap_out, HAS_TIME},
    {"unmap where it gets", unmap_in, HAS_IOVS},
    {"unmap its iov_t", unmap_iovs, HAS_IOVS},
    {"unmap something else", unmap_other, HAS_IOVS},
    {"unmap what its partner sends", unmap_partners_out, BEHIND},
    {"unmap where its partner gets", unmap_partners_in, BEHIND},
    {"protect what it sends", protect_out, HAS_TIME},
    {"protect where it gets", protect_in, HAS_IOVS},
    {"the log listens", log_alone, BEHIND},
    {"the log and D listen", log_and_d, BEHIND},
    {"nobody listens", events_off, BEHIND},
    {"hold it", hold_self, BEHIND},
    {"hold it for a moment", hold_self_shortly, BEHIND},
    {"hold its partner", hold_partner, BEHIND},
    {"hold its partner for a moment", hold_partner_shortly, BEHIND},
    {"end it", end_self, BEHIND},
    {"end its partner", end_partner, BEHIND},
    {"kill its process", kill_own_process, BEHIND},
    {"kill its partner's process", kill_partners_process, BEHIND},
    {"cancel it", cancel_self, BEHIND},
    {"cancel its partner", cancel_partner, BEHIND},
    {"detach the connection", detach, BEHIND},
    {"destroy the channel", destroy_channel, BEHIND},
    {"raise it", raise_self, BEHIND},
    {"lower it", lower_self, BEHIND},
    {"raise its partner", raise_partner, BEHIND},
    {"lower its partner", lower_partner, BEHIND},
    {"send a pulse to the server", pulse_server, BEHIND},
    {"send the server a message", send_to_server, BEHIND},
    {"receive beside the server", receive_beside, BEHIND},
    {"reply instead", reply_for_self, BEHIND},
    {"wake a higher thread for its CPU", wake_high, BEHIND},
    {"wake a lower thread for its CPU", wake_low, BEHIND},
    {"ask for its exit", ask_for_exit, BEHIND},
};
#define ACTS (sizeof(acts) / sizeof(acts[0]))

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

    assert_non_null(
        vm_cache_fill(&t->iov_cache, t->proc, IOVS, sizeof(iov_t), KYMO_PROT_READ));
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
    high = waiter(20, &high_coid);
    low = waiter(5 + 5, &low_coid);
    set_priority(low, 5);
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
    for (unsigned i = 0; i < ACTS; i++) {
        if (acts[i].name == now.act) {
            acts[i].act();
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
static void one_act(const struct act *act, bool waits)
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
    if (act == acts && fast && self->step != UNTOUCHED) {
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
            for (unsigned i = 0; i < 2 * ACTS; i++) {
                one_act(&acts[i / 2], i % 2);
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
