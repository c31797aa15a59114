/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel reports by pulses (DISCONNECT, COIDDEATH, THREADDEATH, UNBLOCK, signals) reaches
 * its receiver once and in order, whatever programs have queued: each case, then random ones
 * against a model of the queue.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "abi/sys/ability.h"
#include "test/tool/random.h"

#define ALL_NOTICES \
    (_NTO_CHF_DISCONNECT | _NTO_CHF_THREAD_DEATH | _NTO_CHF_COID_DISCONNECT | _NTO_CHF_UNBLOCK)
#define STEPS 20000
#define SIGNAL_CODE 9

static struct thread *server, *client, *attacker;

/* Fills the pool of programs' pulses with what the attacker sends to itself. */
static void flood(void)
{
    for (unsigned i = 0; i < 2; i++) {
        CALL(attacker, CHANNEL_CREATE, 0);
        long coid = CALL(attacker, CONNECT_ATTACH, 0, 0, i + 1, 0, 0);
        while (CALL(attacker, MSG_SEND_PULSE, (uintptr_t)coid, 63, 1, 0) == 0) {
        }
    }
    assert_int_equal(fake_pool_used(CONFIG_PULSES), CONFIG_PULSES);
}

static int setup(void **state)
{
    (void)state;
    server = world_process(ABILITY_KILL, 20, DATA);
    client = world_process(0, 10, DATA);
    attacker = world_process(0, 30, DATA);
    assert_int_equal(CALL(server, CHANNEL_CREATE, ALL_NOTICES), 1);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0), 0);
    flood();
    return 0;
}

static long receive(void)
{
    return CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(sizeof(struct _pulse)), 0);
}

static const struct _pulse *pulse(void)
{
    return world_at(server, AT(0));
}

static void expect(int code, int value)
{
    assert_int_equal(receive(), 0);
    assert_int_equal(pulse()->code, code);
    assert_int_equal(pulse()->value.sival_int, value);
}

static void expect_no_more(void)
{
    assert_int_equal(receive(), BLOCKED);
}

/* ---- each case, with nothing left for programs' pulses ------------------------------ */

static void test_disconnect(void **state)
{
    (void)state;
    int scoid = client->proc->fds[0]->scoid;
    CALL(client, CONNECT_DETACH, 0);
    expect(_PULSE_CODE_DISCONNECT, 0);
    assert_int_equal(pulse()->scoid, scoid);
    expect_no_more();
}

static void test_client_death(void **state)
{
    (void)state;
    world_kill(client->proc);
    expect(_PULSE_CODE_DISCONNECT, 0);
    expect_no_more();
}

static void test_server_death(void **state)
{
    (void)state;
    struct thread *other = world_process(0, 10, DATA);
    CALL(other, CHANNEL_CREATE, 0);
    long coid = CALL(server, CONNECT_ATTACH, 0, (uintptr_t)other->proc->pid, 1, 0, 0);
    world_kill(other->proc);
    expect(_PULSE_CODE_COIDDEATH, (int)coid);
    expect_no_more();
}

/* A closed connection's coid may name another one when the pulse would be received: none comes. */
static void test_server_death_closed(void **state)
{
    (void)state;
    struct thread *other = world_process(0, 10, DATA);
    CALL(other, CHANNEL_CREATE, 0);
    long coid = CALL(server, CONNECT_ATTACH, 0, (uintptr_t)other->proc->pid, 1, 0, 0);
    world_kill(other->proc);
    assert_int_equal(CALL(server, CONNECT_DETACH, (uintptr_t)coid), 0);
    assert_int_equal(CALL(server, CONNECT_ATTACH, 0, 0, 1, 0, 0), coid);
    expect_no_more();
}

/* The thread's slot is used again only when its end has been received. */
static void test_thread_death(void **state)
{
    (void)state;
    struct thread *second = world_thread(server, 20);
    CALL(server, THREAD_DETACH, 2);
    CALL(second, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(CALL(server, THREAD_JOIN, 2, 0), -ESRCH);
    assert_int_equal(world_thread(server, 20)->tid, 3);
    assert_ptr_equal(server->proc->threads[thread_slot(2)], second);
    expect(_PULSE_CODE_THREADDEATH, 2);
    assert_null(server->proc->threads[thread_slot(2)]);
    assert_int_equal(world_thread(server, 20)->tid, 4);
}

/* Each channel that asked gets it, in the order of their ids. */
static void test_thread_death_channels(void **state)
{
    (void)state;
    struct thread *second = world_thread(server, 20);
    assert_int_equal(CALL(server, CHANNEL_CREATE, _NTO_CHF_THREAD_DEATH), 2);
    assert_int_equal(CALL(server, CHANNEL_CREATE, _NTO_CHF_THREAD_DEATH), 3);
    CALL(second, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(CALL(server, THREAD_JOIN, 2, 0), 0);
    CALL(server, CHANNEL_DESTROY, 2);
    expect(_PULSE_CODE_THREADDEATH, 2);
    assert_int_equal(CALL(server, MSG_RECEIVEV, 3, AT(0), LEN(sizeof(struct _pulse)), 0), 0);
    assert_int_equal(pulse()->value.sival_int, 2);
    assert_null(server->proc->threads[1]);
}

static void test_unblock(void **state)
{
    (void)state;
    struct thread *second = world_thread(client, 10);
    CALL(client, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
    long rcvid = receive();
    assert_int_equal(CALL(second, THREAD_CANCEL, 1, 0x100), 0);
    assert_int_equal(client->state, STATE_REPLY);
    expect(_PULSE_CODE_UNBLOCK, (int)rcvid);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 3, 0, 0), 0);
    assert_int_equal(world_result(client), 3);
}

/* A client that has been answered, or told an error, wants nothing any more. */
static void test_unblock_answered(void **state)
{
    (void)state;
    struct thread *second = world_thread(client, 10);
    for (int error = 0; error < 2; error++) {
        CALL(client, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
        uintptr_t rcvid = (uintptr_t)receive();
        assert_int_equal(CALL(second, THREAD_CANCEL, 1, 0x100), 0);
        if (error) {
            assert_int_equal(CALL(server, MSG_ERROR, rcvid, EPERM), 0);
        } else {
            assert_int_equal(CALL(server, MSG_REPLYV, rcvid, 3, 0, 0), 0);
        }
        assert_int_equal(world_result(client), error ? -EPERM : 3);
        assert_true(list_empty(&server->proc->channels[0]->pulses));
        CALL(client, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8)); /* goes to its stub */
    }
}

/* A client that has ended wants nothing any more. */
static void test_unblock_gone(void **state)
{
    (void)state;
    struct thread *second = world_thread(client, 10);
    CALL(client, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
    receive();
    CALL(second, THREAD_CANCEL, 1, 0x100);
    CALL(second, THREAD_DESTROY, 1, 0, 0);
    expect_no_more();
}

static long kill_by(const struct thread *t, int signo)
{
    return CALL(server, SIGNAL_KILL, 0, (uintptr_t)t->proc->pid, 0, (uintptr_t)signo, 0, 0);
}

static void take_signals(struct thread *t, uint64_t signals, int coid)
{
    struct _signal_event request = {.signals = signals};
    SIGEV_PULSE_INIT(&request.event, coid, 15, SIGNAL_CODE, 0);
    memcpy(world_at(t, AT(2)), &request, sizeof(request));
    assert_int_equal(CALL(t, THREAD_CTL, _NTO_TCTL_SIGNAL_EVENT, AT(2)), 0);
}

static void test_signal(void **state)
{
    (void)state;
    long coid = CALL(server, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
    take_signals(server, 1u << 15 | 1u << 2 | 1u << 10, (int)coid);
    kill_by(server, 15);
    kill_by(server, 10);
    kill_by(server, 2);
    kill_by(server, 15); /* is queued already */
    kill_by(server, 2);  /* is pending already */
    expect(SIGNAL_CODE, 15);
    kill_by(server, 15);
    expect(SIGNAL_CODE, 2);
    expect(SIGNAL_CODE, 10);
    expect(SIGNAL_CODE, 15);
    expect_no_more();
}

/* A process that takes no signals any more gives an event that nobody checks, while one of them is
 * queued and one pending: the first is received, and no such event is ever delivered. */
static void test_signals_given_up(void **state)
{
    (void)state;
    long coid = CALL(server, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
    take_signals(server, 1u << 2 | 1u << 10, (int)coid);
    kill_by(server, 2);
    kill_by(server, 10);
    struct _signal_event request = {.signals = 0};
    SIGEV_PULSE_INIT(&request.event, (int)coid, 255, _PULSE_CODE_UNBLOCK, 0);
    memcpy(world_at(server, AT(2)), &request, sizeof(request));
    assert_int_equal(CALL(server, THREAD_CTL, _NTO_TCTL_SIGNAL_EVENT, AT(2)), 0);
    expect(SIGNAL_CODE, 2);
    assert_true(server->priority < 200);
    take_signals(server, 1u << 10, (int)coid);
    kill_by(server, 10);
    expect(SIGNAL_CODE, 10);
    expect_no_more();
}

/* Signals that can't be delivered when their channel or connection goes wait for another event. */
static void test_signals_kept(void **state)
{
    (void)state;
    for (int destroy = 0; destroy < 2; destroy++) {
        long coid = CALL(server, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
        take_signals(server, 1u << 2 | 1u << 10 | 1u << 15, (int)coid);
        kill_by(server, 10);
        kill_by(server, 2);
        kill_by(server, 15);
        if (destroy) {
            CALL(server, CHANNEL_DESTROY, 1);
            assert_int_equal(CALL(server, CHANNEL_CREATE, ALL_NOTICES), 1);
        }
        CALL(server, CONNECT_DETACH, (uintptr_t)coid);
        if (!destroy) {
            expect(SIGNAL_CODE, 10);
            while (!list_empty(&server->proc->channels[0]->pulses)) {
                expect(_PULSE_CODE_DISCONNECT, 0);
            }
        }
        coid = CALL(server, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
        take_signals(server, 1u << 2 | 1u << 10 | 1u << 15, (int)coid);
        expect(SIGNAL_CODE, 2);
        if (destroy) {
            expect(SIGNAL_CODE, 10);
        }
        expect(SIGNAL_CODE, 15);
    }
    expect_no_more();
}

/* Without an event that can be delivered a signal ends the process, as if it took none. */
static void test_signal_without_channel(void **state)
{
    (void)state;
    CALL(client, CHANNEL_CREATE, 0);
    long coid = CALL(client, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
    take_signals(client, 1u << 2 | 1u << 10, (int)coid);
    int pid = client->proc->pid;
    kill_by(client, 2);
    CALL(client, CHANNEL_DESTROY, 1);
    assert_non_null(process_find(pid));
    kill_by(client, 10);
    assert_null(process_find(pid));
}

static unsigned used(const struct thread *t)
{
    return (unsigned)t->proc->quota.used[KYMO_LIMIT_CONNECTIONS];
}

/* Closed connections whose notice the server does not receive are the server's: a client gets no
 * more of it, but of others. */
static void test_unreceived(void **state)
{
    (void)state;
    struct thread *other = world_process(0, 20, DATA);
    unsigned closed = 0, before = used(client);
    CALL(other, CHANNEL_CREATE, 0);
    while (CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 1, 0) >= 0) {
        if (closed == 0) {
            CALL(client, CONNECT_DETACH, 0); /* from now on each is the only one */
        }
        CALL(client, CONNECT_DETACH, 1);
        closed++;
    }
    assert_int_equal(closed, CONFIG_CONNECTIONS_PER_PROCESS);
    assert_int_equal(used(client), before - 1);
    assert_int_equal(used(server), closed);
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        assert_int_equal(CALL(client, CONNECT_ATTACH, 0, (uintptr_t)other->proc->pid, 1, 0, 0), i);
    }
    assert_int_equal(CALL(attacker, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0), 2);
    for (unsigned i = 0; i < closed; i++) {
        expect(_PULSE_CODE_DISCONNECT, 0);
        assert_int_equal(used(server), closed - 1 - i);
    }
    CALL(client, CONNECT_DETACH, 0);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0), 0);
    expect_no_more();
}

/* Clients that come and go leave no more with a server that does not receive than it may have. */
static void test_unreceived_of_many(void **state)
{
    (void)state;
    unsigned gone = 0;
    for (long coid = 0; coid >= 0; gone += coid >= 0) {
        struct thread *guest = world_process(0, 5, DATA);
        coid = CALL(guest, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
        assert_true(coid >= 0 || coid == -EAGAIN);
        world_kill(guest->proc);
    }
    assert_int_equal(gone, 2 * CONFIG_CONNECTIONS_PER_PROCESS);
    assert_int_equal(CALL(attacker, CONNECT_ATTACH, 0, (uintptr_t)client->proc->pid, 1, 0, 0),
                     -ESRCH); /* not for want of connections */
    CALL(client, CHANNEL_CREATE, 0);
    assert_true(CALL(attacker, CONNECT_ATTACH, 0, (uintptr_t)client->proc->pid, 1, 0, 0) >= 0);
    expect(_PULSE_CODE_DISCONNECT, 0);
    assert_true(CALL(attacker, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0) >= 0);
    world_kill(server->proc);
    world_check();
}

/* ---- random ones, against a model of the server's queue ------------------------------ */

struct notice {
    int priority, code, value, scoid;
};
static struct notice queue[64];
static unsigned queued;

static void model_add(int priority, int code, int value, int scoid)
{
    unsigned i = queued++;
    assert_true(queued <= sizeof(queue) / sizeof(queue[0]));
    for (; i > 0 && queue[i - 1].priority < priority; i--) {
        queue[i] = queue[i - 1];
    }
    queue[i] = (struct notice){priority, code, value, scoid};
}

/* Forgets the notice of this code and value, if it is queued. */
static void model_remove(int code, int value)
{
    unsigned left = 0;
    for (unsigned i = 0; i < queued; i++) {
        if (queue[i].code != code || queue[i].value != value) {
            queue[left++] = queue[i];
        }
    }
    queued = left;
}

static void model_receive(void)
{
    if (queued == 0) {
        return;
    }
    assert_int_equal(receive(), 0);
    assert_int_equal(pulse()->code, queue[0].code);
    assert_int_equal(pulse()->value.sival_int, queue[0].value);
    assert_int_equal(pulse()->scoid, queue[0].scoid);
    if (queue[0].code == _PULSE_CODE_COIDDEATH) {
        assert_int_equal(CALL(server, CONNECT_DETACH, (uintptr_t)queue[0].value), 0);
    }
    memmove(queue, queue + 1, --queued * sizeof(queue[0]));
}

static void random_disconnect(void)
{
    long coid = CALL(attacker, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 2, 0);
    if (coid == -EAGAIN) {
        assert_true(queued >= 2);
        return;
    }
    assert_int_equal(coid, 2);
    int scoid = attacker->proc->fds[coid]->scoid;
    CALL(attacker, CONNECT_DETACH, (uintptr_t)coid);
    model_add(10, _PULSE_CODE_DISCONNECT, 0, scoid);
}

static void random_thread(void)
{
    int priority = 1 + (int)random_below(9); /* below all others: it never runs */
    if (server->proc->nthreads + queued >= CONFIG_THREADS_PER_PROCESS) {
        return; /* perhaps all are in use, with the ended ones */
    }
    struct thread *t = world_thread(server, priority);
    int tid = t->tid;
    for (unsigned i = 0; i < queued; i++) {
        assert_false(queue[i].code == _PULSE_CODE_THREADDEATH && queue[i].value == tid);
    }
    CALL(server, THREAD_DETACH, (uintptr_t)tid);
    CALL(server, THREAD_DESTROY, (uintptr_t)tid, 0, 0);
    model_add(priority, _PULSE_CODE_THREADDEATH, tid, 0);
}

static void random_server_death(void)
{
    long chid = CALL(attacker, CHANNEL_CREATE, 0);
    long coid =
        CALL(server, CONNECT_ATTACH, 0, (uintptr_t)attacker->proc->pid, (uintptr_t)chid, 0, 0);
    CALL(attacker, CHANNEL_DESTROY, (uintptr_t)chid);
    if (coid < 0) {
        return;
    }
    model_add(10, _PULSE_CODE_COIDDEATH, (int)coid, 0);
    if (random_below(3) == 0) {
        CALL(server, CONNECT_DETACH, (uintptr_t)coid);
        model_remove(_PULSE_CODE_COIDDEATH, (int)coid);
    }
}

/* The client sends, and wants to leave; the server answers, and has received that or never will. */
static void random_unblock(struct thread *canceller)
{
    while (queued > 0 && queue[0].priority >= client->priority) {
        model_receive();
    }
    CALL(client, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
    if (client->state != STATE_SEND && client->state != STATE_REPLY) {
        return; /* it had still to go to its stub */
    }
    uintptr_t rcvid = (uintptr_t)receive();
    assert_int_equal(rcvid, client->rcvid);
    assert_int_equal(CALL(canceller, THREAD_CANCEL, 1, 0x100), 0);
    model_add(client->priority, _PULSE_CODE_UNBLOCK, (int)rcvid, client->connection->scoid);
    if (random_below(2) == 0) {
        model_receive();
    }
    CALL(server, MSG_REPLYV, rcvid, 0, 0, 0);
    model_remove(_PULSE_CODE_UNBLOCK, (int)rcvid);
}

static void test_random(void **state)
{
    (void)state;
    struct thread *canceller = world_thread(client, 10);
    random_start();
    queued = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        switch (random_below(7)) {
        case 0:
            random_disconnect();
            break;
        case 1:
            random_thread();
            break;
        case 2:
            random_server_death();
            break;
        case 3:
            random_unblock(canceller);
            break;
        default:
            model_receive();
        }
        if (i % 64 == 0) {
            world_check();
        }
    }
    while (queued > 0) {
        model_receive();
    }
    expect_no_more();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_disconnect),
        CASE(test_client_death),
        CASE(test_server_death),
        CASE(test_server_death_closed),
        CASE(test_thread_death),
        CASE(test_thread_death_channels),
        CASE(test_unblock),
        CASE(test_unblock_answered),
        CASE(test_unblock_gone),
        CASE(test_signal),
        CASE(test_signals_given_up),
        CASE(test_signals_kept),
        CASE(test_signal_without_channel),
        CASE(test_unreceived),
        CASE(test_unreceived_of_many),
        CASE(test_random),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
