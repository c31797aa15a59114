/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every error of every kernel call (abi/errors.def): one row each of a call that must end
 * with it. A pair that no row has seen fails the test.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"

/* Who calls. SERVER has channel 1, on which PARTNER waits for a reply. CLIENT's connections: 0 to
 * it, 1 to a process that ended, 2 to a channel that did. ABLE may all. */
enum { SERVER, CLIENT, PARTNER, ABLE, WHO };
static struct thread *who[WHO];

/* Arguments that are known when the test runs. */
#define RCVID 0xabcd0001u
#define PID_SERVER 0xabcd0002u
#define PID_CLIENT 0xabcd0003u

#define IOVS AT(1)  /* two parts, together too long */
#define MUTEX AT(2) /* of thread 9, which is none */
#define FREE (AT(2) + 8)
#define SEM (AT(2) + 16)
#define COND (AT(2) + 24)
#define FULL (AT(2) + 32) /* a semaphore at its maximum */
#define OWN (AT(2) + 40)  /* CLIENT's first thread has it */
#define EVENT(n) (AT(3) + (n)*64)
#define ATTR(n) (AT(4) + (n)*64)
#define NAME AT(5)
#define PARAM(n) (AT(6) + (n)*16)

static void fill_syncs(struct thread *t)
{
    sync_t *sync = world_at(t, AT(2));
    sync[0] = (sync_t){0, 9};
    sync[2] = (sync_t){0, SYNC_OWNER_SEM};
    sync[3] = (sync_t){0, SYNC_OWNER_COND};
    sync[4] = (sync_t){SYNC_SEM_VALUE_MAX, SYNC_OWNER_SEM};
    sync[5] = (sync_t){0, 1};
}

static void fill(struct thread *t)
{
    iov_t *iov = world_at(t, IOVS);
    SETIOV(&iov[0], AT(0), 0x7fffffff);
    SETIOV(&iov[1], AT(0), 1);
    fill_syncs(t);
    const struct sigevent events[] = {
        {.sigev_notify = SIGEV_PULSE, .sigev_coid = 4, .sigev_priority = 10}, /* no connection */
        {.sigev_notify = SIGEV_PULSE, .sigev_coid = 0, .sigev_priority = 64}, /* too high */
        {.sigev_notify = SIGEV_PULSE, .sigev_coid = 0, .sigev_priority = 10}, /* good */
        {.sigev_notify = 99},
    };
    const struct _thread_attr attrs[] = {
        {.policy = 9}, {.priority = 64}, {.stackaddr = (void *)AT(0), .stacksize = 64}};
    for (unsigned i = 0; i < 4; i++) {
        memcpy(world_at(t, EVENT(i)), &events[i], sizeof(events[i]));
    }
    for (unsigned i = 0; i < 3; i++) {
        memcpy(world_at(t, ATTR(i)), &attrs[i], sizeof(attrs[i]));
    }
    *(struct _thread_name *)world_at(t, NAME) = (struct _thread_name){17, 0, NULL};
    ((struct sched_param_kymo *)world_at(t, PARAM(0)))->sched_priority = 10;
    ((struct sched_param_kymo *)world_at(t, PARAM(1)))->sched_priority = 0;
}

static int setup(void **state)
{
    (void)state;
    world_boot();
    who[SERVER] = world_process(0, 10, DATA);
    who[CLIENT] = world_process(0, 10, DATA);
    struct thread *gone = world_process(0, 10, DATA);
    const uintptr_t pids[] = {(uintptr_t)who[SERVER]->proc->pid, (uintptr_t)gone->proc->pid};
    CALL(who[SERVER], CHANNEL_CREATE, 0);
    CALL(who[SERVER], CHANNEL_CREATE, 0);
    CALL(gone, CHANNEL_CREATE, 0);
    CALL(who[CLIENT], CONNECT_ATTACH, 0, pids[0], 1, 0, 0);
    CALL(who[CLIENT], CONNECT_ATTACH, 0, pids[1], 1, 0, 0);
    CALL(who[CLIENT], CONNECT_ATTACH, 0, pids[0], 2, 0, 0);
    CALL(who[SERVER], CHANNEL_DESTROY, 2);
    world_kill(gone->proc);
    who[PARTNER] = world_process(0, 10, DATA);
    who[ABLE] = world_process(0x1ff, 10, DATA);
    for (unsigned i = 0; i < WHO; i++) {
        fill(who[i]);
    }
    CALL(who[PARTNER], CONNECT_ATTACH, 0, pids[0], 1, 0, 0);
    CALL(who[ABLE], CHANNEL_CREATE, 0);
    CALL(who[ABLE], CONNECT_ATTACH, 0, 0, 1, 0, 0);
    CALL(who[PARTNER], MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
    assert_true(CALL(who[SERVER], MSG_RECEIVEV, 1, AT(0), LEN(8), 0) > 0);
    return 0;
}

struct row {
    unsigned caller, number;
    int error;
    uintptr_t args[6];
};
#define R(caller, NAME, error, ...) \
    { \
        caller, KER_##NAME, error, \
        { \
            __VA_ARGS__ \
        } \
    }
#define BYTES NOWHERE, LEN(8)

/* Errors at once. */
static const struct row rows[] = {
    R(SERVER, MSG_CURRENT, ESRCH, 77),
    R(CLIENT, MSG_SENDV, EBADF, 4),
    R(CLIENT, MSG_SENDV, EBADF, 2),
    R(CLIENT, MSG_SENDV, ESRCH, 1),
    R(CLIENT, MSG_SENDV, EOVERFLOW, 0, IOVS, 2, 0, 0),
    R(CLIENT, MSG_SENDV, EFAULT, 0, NOWHERE, 1, 0, 0),
    R(CLIENT, MSG_SENDVNC, EBADF, 4),
    R(CLIENT, MSG_SENDVNC, ESRCH, 1),
    R(CLIENT, MSG_SENDVNC, EOVERFLOW, 0, 0, 0, IOVS, 2),
    R(CLIENT, MSG_SENDVNC, EFAULT, 0, 0, 0, NOWHERE, 1),
    R(SERVER, MSG_ERROR, ESRCH, 77, 1),
    R(SERVER, MSG_ERROR, EINVAL, RCVID, 4096),
    R(CLIENT, MSG_RECEIVEV, ESRCH, 1),
    R(SERVER, MSG_RECEIVEV, EOVERFLOW, 1, IOVS, 2, 0),
    R(SERVER, MSG_RECEIVEV, EFAULT, 1, NOWHERE, 1, 0),
    R(CLIENT, MSG_RECEIVEPULSEV, ESRCH, 1),
    R(SERVER, MSG_RECEIVEPULSEV, EOVERFLOW, 1, IOVS, 2, 0),
    R(SERVER, MSG_RECEIVEPULSEV, EFAULT, 1, NOWHERE, 1, 0),
    R(CLIENT, MSG_REPLYV, ESRCH, RCVID, 0, 0, 0),
    R(SERVER, MSG_REPLYV, EOVERFLOW, RCVID, 0, IOVS, 2),
    R(SERVER, MSG_REPLYV, EFAULT, RCVID, 0, BYTES),
    R(SERVER, MSG_READV, ESRCH, 77, 0, 0, 0, 0),
    R(SERVER, MSG_READV, EINVAL, RCVID, 0, 0, 0, 1),
    R(SERVER, MSG_READV, EOVERFLOW, RCVID, IOVS, 2, 0, 0),
    R(SERVER, MSG_READV, EFAULT, RCVID, BYTES, 0, 0),
    R(SERVER, MSG_WRITEV, ESRCH, 77, 0, 0, 0, 0),
    R(SERVER, MSG_WRITEV, EINVAL, RCVID, 0, 0, 0, 1),
    R(SERVER, MSG_WRITEV, EOVERFLOW, RCVID, IOVS, 2, 0, 0),
    R(SERVER, MSG_WRITEV, EFAULT, RCVID, BYTES, 0, 0),
    R(SERVER, MSG_INFO, ESRCH, 77, AT(0)),
    R(SERVER, MSG_INFO, EFAULT, RCVID, RO),
    R(CLIENT, MSG_SEND_PULSE, EBADF, 4, 10, 0, 0),
    R(CLIENT, MSG_SEND_PULSE, ESRCH, 1, 10, 0, 0),
    R(CLIENT, MSG_SEND_PULSE, EINVAL, 0, 10, 128, 0),
    R(CLIENT, MSG_SEND_PULSE, EPERM, 0, 64, 0, 0),
    R(SERVER, MSG_DELIVER_EVENT, ESRCH, 77, EVENT(2)),
    R(SERVER, MSG_DELIVER_EVENT, EFAULT, RCVID, NOWHERE),
    R(SERVER, MSG_DELIVER_EVENT, EINVAL, RCVID, EVENT(3)),
    R(SERVER, MSG_DELIVER_EVENT, EBADF, RCVID, EVENT(0)),
    R(SERVER, MSG_DELIVER_EVENT, EPERM, RCVID, EVENT(1)),
    R(CLIENT, SIGNAL_KILL, EINVAL, 1, 0, 0, 9),
    R(CLIENT, SIGNAL_KILL, ESRCH, 0, 999, 0, 9),
    R(CLIENT, SIGNAL_KILL, EPERM, 0, PID_SERVER, 0, 9),
    R(CLIENT, CHANNEL_CREATE, EINVAL, 0x10000),
    R(CLIENT, CHANNEL_DESTROY, EINVAL, 3),
    R(CLIENT, CONNECT_ATTACH, ESRCH, 0, PID_SERVER, 3, 0, 0),
    R(CLIENT, CONNECT_ATTACH, EINVAL, 0, PID_SERVER, 1, 0, 2),
    R(CLIENT, CONNECT_ATTACH, EMFILE, 0, PID_SERVER, 1, 5, 0),
    R(CLIENT, CONNECT_DETACH, EINVAL, 4),
    R(CLIENT, CONNECT_SERVER_INFO, ESRCH, 999, 0, AT(0)),
    R(CLIENT, CONNECT_SERVER_INFO, EINVAL, 0, 4, AT(0)),
    R(CLIENT, CONNECT_SERVER_INFO, EFAULT, 0, 0, RO),
    R(CLIENT, CONNECT_CLIENT_INFO, EINVAL, 7, AT(0)),
    R(CLIENT, CONNECT_FLAGS, ESRCH, 999, 0, 0, 0),
    R(CLIENT, CONNECT_FLAGS, EINVAL, 0, 4, 0, 0),
    R(SERVER, CONNECT_FLAGS, EPERM, PID_CLIENT, 0, 1, 1),
    R(CLIENT, THREAD_CREATE, ESRCH, 999, 0, 0, ATTR(2)),
    R(CLIENT, THREAD_CREATE, EPERM, PID_SERVER, 0, 0, ATTR(2)),
    R(CLIENT, THREAD_CREATE, EPERM, 0, 0, 0, ATTR(1)),
    R(CLIENT, THREAD_CREATE, EFAULT, 0, 0, 0, NOWHERE),
    R(CLIENT, THREAD_CREATE, EINVAL, 0, 0, 0, ATTR(0)),
    R(CLIENT, THREAD_DESTROY, ESRCH, 5, 0, 0),
    R(CLIENT, THREAD_DETACH, ESRCH, 5),
    R(CLIENT, THREAD_JOIN, ESRCH, 5, 0),
    R(CLIENT, THREAD_JOIN, EDEADLK, 1, 0),
    R(CLIENT, THREAD_CANCEL, ESRCH, 5, 1),
    R(CLIENT, THREAD_CANCEL, EINVAL, 1, 0),
    R(CLIENT, THREAD_CTL, EINVAL, 99, 0),
    R(CLIENT, THREAD_CTL, ESRCH, _NTO_TCTL_ONE_THREAD_HOLD, 99),
    R(CLIENT, THREAD_CTL, EPERM, _NTO_TCTL_IO, 0),
    R(CLIENT, THREAD_CTL, EFAULT, _NTO_TCTL_RUNMASK_GET_AND_SET, NOWHERE),
    R(CLIENT, THREAD_CTL, EFAULT, _NTO_TCTL_NAME, NOWHERE),
    R(CLIENT, THREAD_CTL, ENAMETOOLONG, _NTO_TCTL_NAME, NAME),
    R(CLIENT, INTERRUPT_ATTACH, EPERM, 5, EVENT(2), 0),
    R(ABLE, INTERRUPT_ATTACH, EINVAL, FAKE_TIMER_IRQ, EVENT(2), 0),
    R(ABLE, INTERRUPT_ATTACH, ENOTSUP, _NTO_HOOK_IDLE, EVENT(2), 0),
    R(ABLE, INTERRUPT_ATTACH, EFAULT, 5, NOWHERE, 0),
    R(ABLE, INTERRUPT_ATTACH, EBADF, 5, EVENT(0), 0),
    R(ABLE, INTERRUPT_DETACH, EINVAL, 0),
    R(ABLE, INTERRUPT_WAIT, EINVAL, 1, 0),
    R(CLIENT, INTERRUPT_MASK, EPERM, 5, 0),
    R(ABLE, INTERRUPT_MASK, EINVAL, 5, 0),
    R(CLIENT, INTERRUPT_UNMASK, EPERM, 5, 0),
    R(ABLE, INTERRUPT_UNMASK, EINVAL, 5, 0),
    R(ABLE, CLOCK_TIME, EINVAL, 3, 0, 0),
    R(CLIENT, CLOCK_TIME, EPERM, 0, AT(0), 0),
    R(ABLE, CLOCK_TIME, EFAULT, 0, NOWHERE, 0),
    R(ABLE, CLOCK_ADJUST, EINVAL, 2, 0, 0),
    R(CLIENT, CLOCK_ADJUST, EPERM, 0, AT(0), 0),
    R(ABLE, CLOCK_ADJUST, EFAULT, 0, 0, RO),
    R(ABLE, CLOCK_PERIOD, EINVAL, 2, 0, 0),
    R(CLIENT, CLOCK_PERIOD, EPERM, 0, AT(0), 0),
    R(ABLE, CLOCK_PERIOD, ENOTSUP, 0, AT(0), 0),
    R(ABLE, CLOCK_PERIOD, EFAULT, 0, 0, RO),
    R(CLIENT, CLOCK_ID, ESRCH, 0, 5),
    R(CLIENT, CLOCK_CYCLES, EFAULT, RO),
    R(CLIENT, TIMER_CREATE, EINVAL, 3, EVENT(2)),
    R(CLIENT, TIMER_CREATE, EFAULT, 0, NOWHERE),
    R(CLIENT, TIMER_CREATE, EBADF, 0, EVENT(0)),
    R(CLIENT, TIMER_CREATE, EPERM, 0, EVENT(1)),
    R(CLIENT, TIMER_DESTROY, EINVAL, 1),
    R(CLIENT, TIMER_SETTIME, EINVAL, 1, 0, 0, 0),
    R(CLIENT, TIMER_INFO, ESRCH, 999, 1, 0, AT(0)),
    R(CLIENT, TIMER_INFO, EINVAL, 0, 1, 0, AT(0)),
    R(CLIENT, TIMER_ALARM, EINVAL, 3, 0, 0),
    R(CLIENT, TIMER_ALARM, EFAULT, 0, NOWHERE, 0),
    R(CLIENT, TIMER_TIMEOUT, EINVAL, 3, 0, 0, 0, 0),
    R(CLIENT, TIMER_TIMEOUT, EFAULT, 2, 0, 0, NOWHERE, 0),
    R(CLIENT, TIMER_TIMEOUT, ETIMEDOUT, 2, _NTO_TIMEOUT_NANOSLEEP, 0, 0, 0),
    R(CLIENT, SYNC_CREATE, EINVAL, 3, FREE, 0),
    R(CLIENT, SYNC_CREATE, EFAULT, 0, RO, 0),
    R(CLIENT, SYNC_DESTROY, EINVAL, FREE + 1),
    R(CLIENT, SYNC_DESTROY, EFAULT, RO),
    R(CLIENT, SYNC_MUTEX_LOCK, EINVAL, COND),
    R(CLIENT, SYNC_MUTEX_LOCK, EFAULT, RO),
    R(CLIENT, SYNC_MUTEX_LOCK, EDEADLK, OWN),
    R(CLIENT, SYNC_MUTEX_UNLOCK, EINVAL, FREE + 1),
    R(CLIENT, SYNC_MUTEX_UNLOCK, EFAULT, RO),
    R(CLIENT, SYNC_MUTEX_UNLOCK, EPERM, FREE),
    R(CLIENT, SYNC_MUTEX_REVIVE, EINVAL, OWN),
    R(CLIENT, SYNC_MUTEX_REVIVE, EFAULT, RO),
    R(CLIENT, SYNC_CONDVAR_WAIT, EINVAL, SEM, OWN),
    R(CLIENT, SYNC_CONDVAR_WAIT, EFAULT, COND, RO),
    R(CLIENT, SYNC_CONDVAR_WAIT, EPERM, COND, FREE),
    R(CLIENT, SYNC_CONDVAR_SIGNAL, EINVAL, SEM, 0),
    R(CLIENT, SYNC_CONDVAR_SIGNAL, EFAULT, RO, 0),
    R(CLIENT, SYNC_SEM_POST, EINVAL, COND),
    R(CLIENT, SYNC_SEM_POST, EFAULT, RO),
    R(CLIENT, SYNC_SEM_POST, EOVERFLOW, FULL),
    R(CLIENT, SYNC_SEM_WAIT, EINVAL, COND, 0),
    R(CLIENT, SYNC_SEM_WAIT, EFAULT, RO, 0),
    R(CLIENT, SYNC_SEM_WAIT, EAGAIN, SEM, 1),
    R(CLIENT, SYNC_CTL, ENOTSUP, 0, 0, 0),
    R(CLIENT, SCHED_GET, ESRCH, 0, 5, 0),
    R(CLIENT, SCHED_GET, EFAULT, 0, 0, RO),
    R(CLIENT, SCHED_SET, ESRCH, 0, 5, 0, PARAM(0)),
    R(CLIENT, SCHED_SET, EFAULT, 0, 0, 0, NOWHERE),
    R(CLIENT, SCHED_SET, EINVAL, 0, 0, 0, PARAM(1)),
    R(CLIENT, SCHED_SET, EPERM, PID_SERVER, 0, 0, PARAM(0)),
    R(CLIENT, SCHED_INFO, ESRCH, 999, 0, AT(0)),
    R(CLIENT, SCHED_INFO, EINVAL, 0, 4, AT(0)),
    R(CLIENT, SCHED_INFO, EFAULT, 0, 0, RO),
    R(CLIENT, PROC_WAIT, EINVAL, 0, 0, 2),
    R(CLIENT, PROC_WAIT, ECHILD, 0, 0, 0),
    R(CLIENT, PROC_INFO, ESRCH, 9999, AT(0)),
    R(CLIENT, PROC_INFO, EFAULT, 1, RO),
    R(CLIENT, THREAD_INFO, ESRCH, 0, 5, AT(0)),
    R(CLIENT, THREAD_INFO, EFAULT, 0, 1, RO),
    R(CLIENT, PROC_SELF, EFAULT, RO, 0),
};

/* Calls that wait: each ends with ETIMEDOUT (a limit of no time) and, if it is one of those that
 * may be, is cancelled with EINTR. */
static const struct row waits[] = {
    R(CLIENT, MSG_SENDV, EINTR, 0, 0, 0, 0, 0),
    R(CLIENT, MSG_SENDVNC, 0, 0, 0, 0, 0, 0),
    R(SERVER, MSG_RECEIVEV, EINTR, 1, 0, 0, 0),
    R(SERVER, MSG_RECEIVEPULSEV, EINTR, 1, 0, 0, 0),
    R(CLIENT, INTERRUPT_WAIT, EINTR, 0, 0),
    R(CLIENT, SYNC_MUTEX_LOCK, 0, OWN),
    R(CLIENT, SYNC_CONDVAR_WAIT, EINTR, COND, OWN),
    R(CLIENT, SYNC_SEM_WAIT, EINTR, SEM, 0),
    R(CLIENT, THREAD_JOIN, EINTR, 2, 0),
};

static uintptr_t argument(uintptr_t arg)
{
    switch (arg) {
    case RCVID:
        return (uintptr_t)who[PARTNER]->rcvid;
    case PID_SERVER:
        return (uintptr_t)who[SERVER]->proc->pid;
    case PID_CLIENT:
        return (uintptr_t)who[CLIENT]->proc->pid;
    default:
        return arg;
    }
}

static long make(const struct row *row, struct thread *caller)
{
    uintptr_t args[6];
    for (int i = 0; i < 6; i++) {
        args[i] = argument(row->args[i]);
    }
    return world_call(caller, row->number, args);
}

static void test_at_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        long r = make(&rows[i], who[rows[i].caller]);
        if (r != -rows[i].error) {
            broken("row %u: call %u gives %ld, not %d", i, rows[i].number, r, rows[i].error);
        }
    }
}

/* Which thread of the caller's process makes a call that waits: not the one that has OWN, unless it
 * must. */
static void test_waiting(void **state)
{
    (void)state;
    world_kill(who[ABLE]->proc); /* its CPU is needed */
    struct thread *second[] = {[SERVER] = NULL, [CLIENT] = world_thread(who[CLIENT], 10)};
    for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        const struct row *row = &waits[i];
        struct thread *t = who[row->caller];
        if (row->number == KER_SYNC_MUTEX_LOCK) {
            t = second[CLIENT];
        }
        fill_syncs(t);
        assert_int_equal(CALL(t, TIMER_TIMEOUT, 2, 0x3e070, 0, 0, 0), 0);
        assert_int_equal(make(row, t), -ETIMEDOUT);
        if (row->error) { /* before it waits; test/kernel/thread/thread_test.c has the other way */
            assert_int_equal(CALL(t, THREAD_CANCEL, 0, 1), 0);
            assert_int_equal(make(row, t), -EINTR);
        }
    }
    assert_int_equal(CALL(who[CLIENT], THREAD_CANCEL, 0, 1), 0);
    assert_int_equal(CALL(who[CLIENT], TIMER_TIMEOUT, 2, _NTO_TIMEOUT_NANOSLEEP, 0, AT(0), 0),
                     -EINTR);
    CALL(second[CLIENT], THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(CALL(who[CLIENT], THREAD_JOIN, 2, RO), -EFAULT);
    assert_int_equal(CALL(who[CLIENT], THREAD_JOIN, 2, 0), 0);
}

/* What a server answers, and what the sender's memory is worth when it does. */
static void test_from_server(void **state)
{
    (void)state;
    static const unsigned sends[] = {KER_MSG_SENDV, KER_MSG_SENDVNC};
    for (unsigned i = 0; i < 2; i++) {
        const uintptr_t args[6] = {0, AT(0), LEN(8), 0, 0};
        world_call(who[CLIENT], sends[i], args);
        long rcvid = CALL(who[SERVER], MSG_RECEIVEV, 1, AT(0), LEN(8), 0);
        assert_int_equal(CALL(who[SERVER], MSG_ERROR, (uintptr_t)rcvid, EIO), 0);
        assert_int_equal(world_result(who[CLIENT]), -EIO);
    }
}

/* Tables that are full, threads that are joined, detached, or wait for the same. */
static void test_full(void **state)
{
    (void)state;
    struct thread *able = who[ABLE] = world_process(0x1ff, 10, DATA), *client = who[CLIENT];
    fill(able);
    CALL(able, CHANNEL_CREATE, 0);
    CALL(able, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    while (CALL(able, CHANNEL_CREATE, 0) > 0) {
    }
    assert_int_equal(CALL(able, CHANNEL_CREATE, 0), -EAGAIN);
    while (CALL(able, MSG_SEND_PULSE, 0, 10, 0, 0) == 0) {
    }
    assert_int_equal(CALL(able, MSG_SEND_PULSE, 0, 10, 0, 0), -EAGAIN);
    assert_int_equal(CALL(able, MSG_DELIVER_EVENT, (uintptr_t)able->rcvid, EVENT(2)), -EAGAIN);
    while (CALL(able, TIMER_CREATE, 0, EVENT(2)) > 0) {
    }
    assert_int_equal(CALL(able, TIMER_CREATE, 0, EVENT(2)), -EAGAIN);
    assert_int_equal(CALL(able, TIMER_ALARM, 0, AT(8), 0), -EAGAIN);
    assert_int_equal(CALL(able, TIMER_SETTIME, 1, 0, NOWHERE, 0), -EFAULT);
    assert_int_equal(CALL(able, TIMER_INFO, 0, 1, 0, RO), -EFAULT);
    assert_true(CALL(able, INTERRUPT_ATTACH, _NTO_HOOK_TRACE, EVENT(2), 0) >= 0);
    assert_int_equal(CALL(able, INTERRUPT_ATTACH, _NTO_HOOK_TRACE, EVENT(2), 0), -EBUSY);
    while (CALL(able, INTERRUPT_ATTACH, 5, EVENT(2), 0) >= 0) {
    }
    assert_int_equal(CALL(able, INTERRUPT_ATTACH, 5, EVENT(2), 0), -EAGAIN);
    CALL(client, THREAD_CREATE, 0, 0, 0, ATTR(2));
    while (CALL(client, THREAD_CREATE, 0, 0, 0, ATTR(2)) > 0) {
    }
    assert_int_equal(CALL(client, THREAD_CREATE, 0, 0, 0, ATTR(2)), -EAGAIN);
    CALL(client, THREAD_DESTROY, 4, 0, 0);
    CALL(client, THREAD_DETACH, 3);
    assert_int_equal(CALL(client, THREAD_DETACH, 3), -EINVAL);
    assert_int_equal(CALL(client, THREAD_JOIN, 3, 0), -EINVAL);
    const struct connection *conn = client->proc->fds[0];
    assert_int_equal(CALL(who[SERVER], CONNECT_CLIENT_INFO, (uintptr_t)conn->scoid, RO), -EFAULT);
}

static void test_full_connections(void **state)
{
    (void)state;
    world_end();
    struct thread *t[3];
    for (unsigned i = 0; i < 3; i++) {
        t[i] = world_process(0, 10, DATA);
        CALL(t[i], CHANNEL_CREATE, 0);
    }
    unsigned n = 0;
    for (unsigned i = 0; i < 2 * CONFIG_CONNECTIONS_PER_PROCESS * 3; i++) {
        long r = CALL(t[i % 3], CONNECT_ATTACH, 0, 0, 1, i % 2 ? _NTO_SIDE_CHANNEL : 0, 0);
        assert_true(r >= 0 || (n == CONFIG_CONNECTIONS && r == -EAGAIN));
        n += r >= 0;
    }
    assert_int_equal(n, CONFIG_CONNECTIONS);
}

static void test_busy(void **state)
{
    (void)state;
    world_end();
    struct thread *t = world_process(0, 10, DATA), *u = world_thread(t, 10);
    struct thread *child = world_child(t, 0, 10, DATA), *v = world_thread(t, 10);
    CALL(u, THREAD_JOIN, 3, 0);
    assert_int_equal(CALL(t, THREAD_JOIN, 3, 0), -EBUSY);
    assert_int_equal(CALL(t, THREAD_DETACH, 3), -EBUSY);
    assert_int_equal(CALL(t, PROC_WAIT, 0, RO, 0), -EFAULT);
    assert_int_equal(CALL(t, PROC_WAIT, 0, 0, 0), BLOCKED);
    assert_int_equal(CALL(v, THREAD_CANCEL, 1, 1), 0);
    assert_int_equal(world_result(t), -EINTR);
    assert_non_null(child);
    world_end();
}

/* After all others: what none of them has seen. */
static void test_all_seen(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned number;
        int errors[12];
    } all[] = {
#define ERRORS(NAME, ...) {#NAME, KER_##NAME, {__VA_ARGS__}},
#include "abi/errors.def"
#undef ERRORS
    };
    unsigned missing = 0;
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (unsigned n = 0; all[i].errors[n]; n++) {
            if (fake_errors[all[i].number][all[i].errors[n]] == 0) {
                print_error("%s never ended with error %d\n", all[i].name, all[i].errors[n]);
                missing++;
            }
        }
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_once),          cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_from_server),      cmocka_unit_test(test_full),
        cmocka_unit_test(test_full_connections), cmocka_unit_test(test_busy),
        cmocka_unit_test(test_all_seen),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
