/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What proceeds in steps where many threads wait for synchronization objects, or for a server:
 * broadcast, destroy, the end of a mutex's owner, the end of a server's thread. Between any two
 * steps another thread of the process, or of a client, does something; then all that waited before
 * have been woken, nobody else was, and the kernel's own checks find nothing wrong.
 */
#include "test/kernel/world/stepwise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "abi/sys/neutrino.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

#define WAITERS 4
#define MUTEX AT(1)
#define CONDVAR AT(2)
#define AT_ONCE CONFIG_SYNC_AT_ONCE

static struct thread *acts, *meanwhile; /* the caller; who runs on another CPU between its steps */
static struct thread *waiters[WAITERS];
static enum thread_state waits; /* in which they wait */
static unsigned waited, most;

static unsigned count_waiting(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WAITERS; i++) {
        n += waiters[i] && waiters[i]->state == waits;
    }
    return n;
}

static void window(void)
{
    unsigned n = count_waiting();

    most = waited > n && waited - n > most ? waited - n : most;
    world_check();
    stepwise_window();
    waited = count_waiting();
}

static void make(void)
{
    acts = world_process(0, 50, DATA);
    meanwhile = world_thread(acts, 40);
    *(sync_t *)world_at(acts, CONDVAR) = (sync_t){0, SYNC_OWNER_COND};
    most = 0;
}

static void begin(enum thread_state state)
{
    waits = state;
    world_settle();
    waited = count_waiting();
    assert_int_equal(waited, WAITERS);
    stepwise.windows = 0;
    fake_lock_window = window;
    fake_lock_wanted = true;
}

/* They wait for the condition variable, and then for the mutex, which is free. */
static void set_up_cond(void)
{
    make();
    for (unsigned i = 0; i < WAITERS; i++) {
        waiters[i] = world_thread(acts, 10 + (int)i);
        assert_int_equal(CALL(waiters[i], SYNC_MUTEX_LOCK, MUTEX), 0);
        assert_int_equal(CALL(waiters[i], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX), BLOCKED);
    }
    begin(STATE_CONDVAR);
}

/* `acts` owns the mutex. */
static void set_up_mutex(void)
{
    make();
    assert_int_equal(CALL(acts, SYNC_MUTEX_LOCK, MUTEX), 0);
    for (unsigned i = 0; i < WAITERS; i++) {
        waiters[i] = world_thread(acts, 10 + (int)i);
        assert_int_equal(CALL(waiters[i], SYNC_MUTEX_LOCK, MUTEX), BLOCKED);
    }
    begin(STATE_MUTEX);
}

/* The other CPUs are busy: if the process ends, its ender has to wait for the caller's. */
static void set_up_busy(void)
{
    set_up_mutex();
    struct thread *busy = world_process(0, 60, DATA);
    for (unsigned n = 2; n < CONFIG_CPUS; n++) {
        world_thread(busy, 60);
    }
}

/* ---- what happens meanwhile -------------------------------------------------------------- */

static bool runs(const struct thread *t)
{
    return t->state == STATE_RUNNING && !world_inside((unsigned)world_cpu_of(t));
}

static void nothing(void)
{
}

static void one_is_ended(void)
{
    if (runs(meanwhile)) {
        stepwise_enter(meanwhile, KER_THREAD_DESTROY, (uintptr_t)waiters[0]->tid, 0, 0, 0);
        waiters[0] = NULL;
    }
}

static void caller_is_ended(void)
{
    if (runs(meanwhile)) {
        stepwise_enter(meanwhile, KER_THREAD_DESTROY, (uintptr_t)acts->tid, 0, 0, 0);
    }
}

static void caller_is_held(void)
{
    if (runs(meanwhile)) {
        stepwise_enter(meanwhile, KER_THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, (uintptr_t)acts->tid,
                       0, 0);
        stepwise_enter(meanwhile, KER_THREAD_DESTROY, (uintptr_t)acts->tid, 0, 0, 0);
    }
}

static void process_ends(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, acts->proc);
    acts = NULL;
}

/* Who comes now waits for the next one. */
static void another_waits(void)
{
    if (runs(meanwhile)) {
        stepwise_enter(meanwhile, KER_SYNC_MUTEX_LOCK, AT(3), 0, 0, 0);
        stepwise_enter(meanwhile, KER_SYNC_CONDVAR_WAIT, CONDVAR, AT(3), 0, 0);
    }
}

static void another_broadcasts(void)
{
    if (runs(meanwhile)) {
        stepwise_enter(meanwhile, KER_SYNC_CONDVAR_SIGNAL, CONDVAR, 1, 0, 0);
    }
}

static void one_is_raised(void)
{
    if (runs(meanwhile)) {
        struct sched_param_kymo *param = world_at(meanwhile, AT(4));

        param->sched_priority = 60;
        stepwise_enter(meanwhile, KER_SCHED_SET, 0, (uintptr_t)waiters[1]->tid, SCHED_RR, AT(4));
    }
}

static void is_destroyed(void)
{
    if (runs(meanwhile)) {
        stepwise_enter(meanwhile, KER_SYNC_DESTROY, CONDVAR, 0, 0, 0);
    }
}

/* ---- each of them at each step -------------------------------------------------------------- */

static void check_woken(void (*what)(void))
{
    world_settle();
    world_check();
    assert_true(most <= AT_ONCE + 1);
    for (unsigned i = 0; acts && i < WAITERS; i++) {
        assert_true(!waiters[i] || waiters[i]->state != waits);
    }
    if (what == another_waits && meanwhile->call == KER_SYNC_CONDVAR_WAIT) {
        assert_int_equal(meanwhile->state, STATE_CONDVAR);
    }
}

static bool took(void (*set_up)(void), unsigned number, uintptr_t a0, uintptr_t a1,
                 void (*what)(void), unsigned n)
{
    set_up();
    stepwise.act_at = n;
    stepwise.act = what;
    stepwise_enter(acts, number, a0, a1, 0, 0);
    check_woken(what);
    bool done = stepwise.windows > n;
    stepwise_tear_down();
    return done;
}

static bool broadcast_with(void (*what)(void), unsigned n)
{
    return took(set_up_cond, KER_SYNC_CONDVAR_SIGNAL, CONDVAR, 1, what, n);
}

static bool destroy_with(void (*what)(void), unsigned n)
{
    return took(set_up_mutex, KER_SYNC_DESTROY, MUTEX, 0, what, n);
}

/* The owner ends by its own call. */
static bool owner_with(void (*what)(void), unsigned n)
{
    return took(set_up_mutex, KER_THREAD_DESTROY, 0, 0, what, n);
}

static bool owner_alone_with(void (*what)(void), unsigned n)
{
    return took(set_up_busy, KER_THREAD_DESTROY, 0, 0, what, n);
}

static void each(bool (*with)(void (*what)(void), unsigned n), void (*what)(void))
{
    assert_in_range(stepwise_each(with, what), WAITERS / AT_ONCE - 2, STEPS_MANY - 1);
}

static void test_broadcast(void **state)
{
    void (*const all[])(void) = {nothing,        one_is_ended,       caller_is_ended,
                                 caller_is_held, process_ends,       another_waits,
                                 one_is_raised,  another_broadcasts, is_destroyed};

    (void)state;
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
        each(broadcast_with, all[i]);
    }
}

static void test_destroy(void **state)
{
    void (*const all[])(void) = {nothing,        one_is_ended, caller_is_ended,
                                 caller_is_held, process_ends, one_is_raised};

    (void)state;
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
        each(destroy_with, all[i]);
    }
}

static void test_owner_ends(void **state)
{
    void (*const all[])(void) = {nothing, one_is_ended, caller_is_ended, process_ends,
                                 one_is_raised};

    (void)state;
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
        each(owner_with, all[i]);
    }
    each(owner_alone_with, process_ends);
}

/* The order of arrival is a number of 32 bits. As if so many others had waited since. */
static void make_older(void)
{
    static const uint32_t ages[WAITERS] = {0x40000001u, 0x80000001u, 0xc0000000u, 0xffff0000u};

    for (unsigned i = 0; i < WAITERS; i++) {
        waiters[i]->queue_seq -= ages[i];
    }
}

static void set_up_old_cond(void)
{
    set_up_cond();
    make_older();
}

static void set_up_old_mutex(void)
{
    set_up_mutex();
    make_older();
}

static void test_waits_long(void **state)
{
    void (*const all[])(void) = {nothing, another_waits, another_broadcasts};

    (void)state;
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
        for (unsigned n = 0; n < WAITERS; n++) {
            took(set_up_old_cond, KER_SYNC_CONDVAR_SIGNAL, CONDVAR, 1, all[i], n);
            took(set_up_old_mutex, KER_SYNC_DESTROY, MUTEX, 0, all[i], n);
        }
    }
}

/* ---- a server's thread ----------------------------------------------------------------------- */

static struct thread *client;

static void client_is_raised(void)
{
    if (runs(client)) {
        struct sched_param_kymo *param = world_at(client, AT(4));

        param->sched_priority = 60;
        stepwise_enter(client, KER_SCHED_SET, 0, (uintptr_t)waiters[0]->tid, SCHED_RR, AT(4));
    }
}

static void client_ends(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, client->proc);
    client = NULL;
    waiters[0] = waiters[1] = waiters[2] = waiters[3] = NULL;
}

/* Whom it has received another thread can answer. */
static bool server_with(void (*what)(void), unsigned n)
{
    make();
    assert_int_equal(CALL(acts, CHANNEL_CREATE, 0), 1);
    client = world_process(0, 30, DATA);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, (uintptr_t)acts->proc->pid, 1, 0, 0), 0);
    for (unsigned i = 0; i < WAITERS; i++) {
        waiters[i] = world_thread(client, 20 + (int)i);
        assert_int_equal(CALL(waiters[i], MSG_SENDV, 0, 0, 0, 0, 0), BLOCKED);
        assert_int_equal(CALL(acts, MSG_RECEIVEV, 1, AT(1), LEN(16), 0), waiters[i]->rcvid);
    }
    begin(STATE_REPLY);
    stepwise.act_at = n;
    stepwise.act = what;
    int tid = acts->tid;
    stepwise_enter(acts, KER_THREAD_DESTROY, 0, 0, 0, 0);
    world_settle();
    world_check();
    bool done = stepwise.windows > n;
    for (unsigned i = 0; acts && i < WAITERS; i++) {
        assert_true(!waiters[i] || (waiters[i]->state == STATE_REPLY && !waiters[i]->server));
        if (waiters[i] && runs(meanwhile)) {
            assert_int_equal(CALL(meanwhile, MSG_REPLYV, (uintptr_t)waiters[i]->rcvid, 3, 0, 0), 0);
        }
    }
    if (acts && runs(meanwhile)) {
        assert_int_equal(CALL(meanwhile, THREAD_JOIN, (uintptr_t)tid, 0), 0);
    }
    stepwise_tear_down();
    return done;
}

static void test_server_ends(void **state)
{
    void (*const all[])(void) = {nothing, client_is_raised, client_ends, caller_is_ended,
                                 process_ends};

    (void)state;
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
        assert_in_range(stepwise_each(server_with, all[i]), 1, STEPS_MANY - 1);
    }
}

/* The caller is ended amid MemMap(); while it loses its waiters, all other threads end. */
static void last_window(void)
{
    static const unsigned at[] = {3, 4}; /* windows */
    unsigned self = fake_cpu, n = stepwise.windows++;

    world_check();
    if (n == at[0]) {
        assert_int_equal(fake_maps, 1);
        caller_is_ended();
    } else if (n == at[1]) {
        assert_true(thread_loses(acts));
        for (unsigned i = 0; i < WAITERS; i++) {
            stepwise_enter(meanwhile, KER_THREAD_DESTROY, (uintptr_t)waiters[i]->tid, 0, 0, 0);
        }
        stepwise_enter(meanwhile, KER_THREAD_DESTROY, 0, 0, 0, 0);
        world_settle();
        assert_int_equal(acts->proc->nthreads, 1);
    }
    fake_cpu = self;
}

static void test_last_ends_amid_a_call(void **state)
{
    (void)state;
    set_up_mutex();
    fake_lock_window = last_window;
    world_enter(acts, KER_MEM_MAP, (const uintptr_t[6]){256, 3, 7});
    stepwise_tear_down();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broadcast),   cmocka_unit_test(test_destroy),
        cmocka_unit_test(test_owner_ends),  cmocka_unit_test(test_waits_long),
        cmocka_unit_test(test_server_ends), cmocka_unit_test(test_last_ends_amid_a_call),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    world_boot();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
