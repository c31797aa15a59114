/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pulses and events: order, priority, limits, the pulses that the kernel sends of itself, and
 * MsgDeliverEvent().
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"

static struct thread *server, *client;

static int setup_with(unsigned flags)
{
    server = world_process(0, 20, DATA);
    client = world_process(0, 10, DATA);
    assert_int_equal(CALL(server, CHANNEL_CREATE, flags), 1);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return setup_with(0);
}

static int setup_told(void **state)
{
    (void)state;
    return setup_with(_NTO_CHF_DISCONNECT | _NTO_CHF_THREAD_DEATH | _NTO_CHF_COID_DISCONNECT);
}

static int setup_unblock(void **state)
{
    (void)state;
    return setup_with(_NTO_CHF_UNBLOCK);
}

static int setup_fixed(void **state)
{
    (void)state;
    return setup_with(_NTO_CHF_FIXED_PRIORITY);
}

static long receive(void)
{
    return CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(sizeof(struct _pulse)), 0);
}

static const struct _pulse *pulse(void)
{
    return world_at(server, AT(0));
}

static long send(int priority, int code, unsigned value)
{
    return CALL(client, MSG_SEND_PULSE, 0, (uintptr_t)priority, (uintptr_t)code, value);
}

static long message(struct thread *t)
{
    return CALL(t, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
}

static void expect(int code, int value)
{
    assert_int_equal(receive(), 0);
    assert_int_equal(pulse()->type, _PULSE_TYPE);
    assert_int_equal(pulse()->code, code);
    assert_int_equal(pulse()->value.sival_int, value);
}

/* ---- programs' pulses -------------------------------------------------------------- */

static void test_order(void **state)
{
    (void)state;
    /* to a receiver that waits, at the pulse's priority */
    assert_int_equal(receive(), BLOCKED);
    assert_int_equal(send(30, 5, 77), 0);
    assert_int_equal(world_result(server), 0);
    assert_int_equal(pulse()->code, 5);
    assert_int_equal(pulse()->value.sival_int, 77);
    assert_int_equal(pulse()->scoid, client->proc->fds[0]->scoid);
    assert_int_equal(server->priority, 30);
    /* by priority, then as they came, messages among them */
    static const int priorities[] = {5, 10, 40, 10, -1, 40};
    struct thread *other = world_process(0, 10, DATA);
    CALL(other, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    for (int i = 0; i < 3; i++) {
        send(priorities[i], i, 0);
    }
    assert_int_equal(server->priority, 40);
    assert_int_equal(message(other), BLOCKED);
    for (int i = 3; i < 6; i++) {
        send(priorities[i], i, 0);
    }
    expect(2, 0);
    expect(5, 0);
    assert_int_equal(server->priority, 40);
    expect(1, 0);
    assert_int_equal(server->priority, 20);
    assert_int_equal(receive(), other->rcvid);
    expect(3, 0);
    expect(4, 0);
    expect(0, 0);
    assert_int_equal(receive(), BLOCKED);
}

/* MsgReceivePulse() takes no messages; a pulse passes those that only wait for messages by. */
static void test_only_pulses(void **state)
{
    (void)state;
    struct thread *second = world_thread(server, 20);
    assert_int_equal(message(client), BLOCKED);
    assert_int_equal(CALL(second, MSG_RECEIVEPULSEV, 1, AT(4), LEN(100), 0), BLOCKED);
    assert_int_equal(receive(), client->rcvid);
    CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 0, 0, 0);
    assert_int_equal(message(client), BLOCKED);
    assert_int_equal(second->state, STATE_RECEIVE);
    assert_int_equal(receive(), client->rcvid);
    CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 0, 0, 0);
    assert_int_equal(send(-1, 9, 1), 0);
    assert_int_equal(world_result(second), 0);
    assert_int_equal(((struct _pulse *)world_at(second, AT(4)))->code, 9);
}

/* As much as fits is received; a buffer that can't be written loses no pulse. */
static void test_buffers(void **state)
{
    (void)state;
    memset(world_at(server, AT(0)), 0x55, sizeof(struct _pulse));
    send(-1, 7, 9);
    assert_int_equal(CALL(server, MSG_RECEIVEV, 1, RO, LEN(64), 0), -EFAULT);
    assert_int_equal(CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(5), 0), 0);
    assert_int_equal(pulse()->code, 7);
    assert_int_equal(pulse()->value.sival_int, 0x55555555);
    send(-1, 7, 9);
    assert_int_equal(CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(0), 0), 0);
    /* the same when it comes later: the receiver's call ends, the pulse stays */
    assert_int_equal(CALL(server, MSG_RECEIVEV, 1, RO, LEN(64), 0), BLOCKED);
    send(-1, 8, 9);
    assert_int_equal(world_result(server), -EFAULT);
    expect(8, 9);
}

static void test_wrong(void **state)
{
    (void)state;
    assert_int_equal(send(0, 1, 0), -EINVAL);
    assert_int_equal(send(256, 1, 0), -EINVAL);
    assert_int_equal(send(-2, 1, 0), -EINVAL);
    assert_int_equal(send(10, -1, 0), -EINVAL);
    assert_int_equal(send(10, 128, 0), -EINVAL);
    assert_int_equal(send(64, 1, 0), -EPERM);
    assert_int_equal(CALL(client, MSG_SEND_PULSE, 3, 10, 1, 0), -EBADF);
    assert_int_equal(CALL(client, MSG_SEND_PULSE, UINT32_MAX, 10, 1, 0), -EBADF);
    CALL(server, CHANNEL_CREATE, 0);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 2, 0, 0);
    CALL(server, CHANNEL_DESTROY, 2);
    assert_int_equal(CALL(client, MSG_SEND_PULSE, 1, 10, 1, 0), -EBADF);
    world_kill(server->proc);
    assert_int_equal(send(10, 1, 0), -ESRCH);
    struct thread *able = world_process(ABILITY_PRIORITY, 10, DATA);
    CALL(able, CHANNEL_CREATE, 0);
    CALL(able, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    assert_int_equal(CALL(able, MSG_SEND_PULSE, 0, 255, 127, 0), 0);
}

/* Programs' pulses have a limit for each channel and one for all. */
static void test_flood(void **state)
{
    (void)state;
    unsigned sent = 0;
    while (send(-1, 1, sent) == 0) {
        sent++;
    }
    assert_int_equal(send(-1, 1, 0), -EAGAIN);
    assert_int_equal(sent, CONFIG_PULSES * 2 / 3);
    CALL(server, CHANNEL_CREATE, 0);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 2, 0, 0);
    while (CALL(client, MSG_SEND_PULSE, 1, 10, 1, 0) == 0) {
        sent++;
    }
    assert_int_equal(sent, CONFIG_PULSES);
    for (unsigned i = 0; i < CONFIG_PULSES * 2 / 3; i++) {
        expect(1, (int)i);
    }
    assert_int_equal(send(-1, 1, 0), 0);
    CALL(server, CHANNEL_DESTROY, 1);
    CALL(server, CHANNEL_DESTROY, 2);
    assert_int_equal(fake_pool_used(CONFIG_PULSES), 0);
}

/* ---- the kernel's own -------------------------------------------------------------- */

static void test_disconnect(void **state)
{
    (void)state;
    int scoid = client->proc->fds[0]->scoid;
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, _NTO_SIDE_CHANNEL, 0);
    assert_int_equal(CALL(client, CONNECT_DETACH, 0), 0);
    assert_int_equal(CALL(client, CONNECT_DETACH, _NTO_SIDE_CHANNEL), 0);
    expect(_PULSE_CODE_DISCONNECT, 0);
    assert_int_equal(pulse()->scoid, scoid);
    assert_int_equal(CALL(server, CONNECT_DETACH, (uintptr_t)scoid), 0);
    assert_int_equal(receive(), BLOCKED);
    /* the end of the client is the same */
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    assert_int_not_equal(client->proc->fds[0]->scoid, scoid);
    world_kill(client->proc);
    assert_int_equal(world_result(server), 0);
    assert_int_equal(pulse()->code, _PULSE_CODE_DISCONNECT);
}

static void test_thread_death(void **state)
{
    (void)state;
    struct thread *second = world_thread(server, 20);
    CALL(second, THREAD_DESTROY, 0, 0, 0);
    expect(_PULSE_CODE_THREADDEATH, 2);
}

static void test_server_death(void **state)
{
    (void)state;
    struct thread *other = world_process(0, 10, DATA);
    CALL(other, CHANNEL_CREATE, 0);
    CALL(other, CHANNEL_CREATE, 0);
    long coid = CALL(server, CONNECT_ATTACH, 0, (uintptr_t)other->proc->pid, 1, 0, 0);
    long side =
        CALL(server, CONNECT_ATTACH, 0, (uintptr_t)other->proc->pid, 2, _NTO_SIDE_CHANNEL, 0);
    CALL(other, CHANNEL_DESTROY, 2);
    expect(_PULSE_CODE_COIDDEATH, (int)side);
    world_kill(other->proc);
    expect(_PULSE_CODE_COIDDEATH, (int)coid);
    assert_int_equal(CALL(server, MSG_SEND_PULSE, (uintptr_t)side, 10, 1, 0), -EBADF);
    assert_int_equal(CALL(server, MSG_SEND_PULSE, (uintptr_t)coid, 10, 1, 0), -ESRCH);
    assert_int_equal(receive(), BLOCKED);
}

/* One UNBLOCK pulse, however often the client wants to leave; its end doesn't ask. */
static void test_unblock_once(void **state)
{
    (void)state;
    struct thread *second = world_thread(client, 10);
    message(client);
    long rcvid = receive();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(CALL(second, THREAD_CANCEL, 1, 0x100), 0);
    }
    expect(_PULSE_CODE_UNBLOCK, (int)rcvid);
    assert_int_equal(client->state, STATE_REPLY);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 3, 0, 0), 0);
    assert_int_equal(world_result(client), 3);
    assert_int_equal(message(client), -EINTR); /* now it goes to its stub */
    message(client);
    assert_int_equal(receive(), rcvid);
    assert_int_equal(CALL(second, THREAD_CANCEL, 1, 0x100), 0);
    expect(_PULSE_CODE_UNBLOCK, (int)rcvid); /* another message, another pulse */
    CALL(second, THREAD_DESTROY, 1, 0, 0);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 3, 0, 0), -ESRCH);
}

static void test_fixed_priority(void **state)
{
    (void)state;
    assert_int_equal(receive(), BLOCKED);
    send(40, 1, 0);
    assert_int_equal(server->priority, 20);
    send(50, 2, 0);
    assert_int_equal(server->priority, 20);
    expect(2, 0);
    assert_int_equal(server->priority, 20);
}

/* A busy server serves the highest that waits, whatever it says it serves. */
static void test_current(void **state)
{
    (void)state;
    struct thread *high = world_process(0, 45, DATA);
    CALL(high, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    message(client);
    long rcvid = receive();
    message(high);
    assert_int_equal(server->priority, 45);
    assert_int_equal(CALL(server, MSG_CURRENT, (uintptr_t)rcvid), 0);
    assert_int_equal(server->priority, 45);
    CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, 0, 0);
    assert_int_equal(receive(), high->rcvid);
    assert_int_equal(server->priority, 45);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)high->rcvid, 0, 0, 0), 0);
    send(50, 1, 0); /* a pulse is a reason, too */
    message(client);
    assert_int_equal(receive(), 0);
    assert_int_equal(receive(), client->rcvid);
    CALL(high, MSG_SEND_PULSE, 0, 40, 2, 0);
    assert_int_equal(server->priority, 40);
    assert_int_equal(CALL(server, MSG_CURRENT, (uintptr_t)client->rcvid), 0);
    assert_int_equal(server->priority, 40);
}

/* ---- MsgDeliverEvent() ------------------------------------------------------------- */

static long deliver(struct thread *from, uintptr_t rcvid, const struct sigevent *event)
{
    memcpy(world_at(from, AT(2)), event, sizeof(*event));
    return CALL(from, MSG_DELIVER_EVENT, rcvid, AT(2));
}

static void test_deliver(void **state)
{
    (void)state;
    struct sigevent event = {0};
    CALL(client, CHANNEL_CREATE, 0);
    long own = CALL(client, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
    SIGEV_PULSE_INIT(&event, (int)own, 15, 3, 4);
    message(client);
    uintptr_t rcvid = (uintptr_t)receive();
    CALL(server, MSG_REPLYV, rcvid, 0, 0, 0);
    assert_int_equal(CALL(client, MSG_RECEIVEV, 1, AT(0), LEN(64), 0), BLOCKED);
    assert_int_equal(deliver(server, rcvid, &event), 0);
    assert_int_equal(world_result(client), 0);
    const struct _pulse *p = world_at(client, AT(0));
    assert_int_equal(p->code, 3);
    assert_int_equal(p->value.sival_int, 4);
    assert_int_equal(client->priority, 15);
    SIGEV_NONE_INIT(&event);
    assert_int_equal(deliver(server, rcvid, &event), 0);
    /* no event, no connection, no client */
    event.sigev_notify = SIGEV_UNBLOCK;
    assert_int_equal(deliver(server, rcvid, &event), -EINVAL);
    SIGEV_INTR_INIT(&event);
    assert_int_equal(deliver(server, rcvid, &event), -EINVAL);
    event.sigev_notify = -1;
    assert_int_equal(deliver(server, rcvid, &event), -EINVAL);
    SIGEV_PULSE_INIT(&event, 4, 15, 3, 4);
    assert_int_equal(deliver(server, rcvid, &event), -EBADF);
    SIGEV_PULSE_INIT(&event, (int)own, 15, 200, 4);
    assert_int_equal(deliver(server, rcvid, &event), -EINVAL);
    SIGEV_PULSE_INIT(&event, (int)own, 0, 3, 4);
    assert_int_equal(deliver(server, rcvid, &event), -EINVAL);
    SIGEV_PULSE_INIT(&event, (int)own, 64, 3, 4);
    assert_int_equal(deliver(server, rcvid, &event), -EPERM);
    assert_int_equal(deliver(server, 12345, &event), -ESRCH);
    assert_int_equal(deliver(client, (uintptr_t)server->rcvid, &event), -ESRCH);
    assert_int_equal(CALL(server, MSG_DELIVER_EVENT, rcvid, NOWHERE), -EFAULT);
    SIGEV_PULSE_INIT(&event, (int)own, -1, 3, 4);
    for (unsigned i = 0; i < CONFIG_PULSES * 2 / 3; i++) {
        assert_int_equal(deliver(server, rcvid, &event), 0);
    }
    assert_int_equal(deliver(server, rcvid, &event), -EAGAIN);
    CALL(client, CHANNEL_DESTROY, 1);
    assert_int_equal(deliver(server, rcvid, &event), -EBADF);
    CALL(client, CONNECT_DETACH, 0);
    assert_int_equal(deliver(server, rcvid, &event), -ESRCH);
}

/* A pulse to another process's channel, in the client's name: only if the client allows it. */
static void test_deliver_elsewhere(void **state)
{
    (void)state;
    struct thread *third = world_process(0, 20, DATA);
    struct sigevent event = {0};
    CALL(third, CHANNEL_CREATE, 0);
    long coid = CALL(client, CONNECT_ATTACH, 0, (uintptr_t)third->proc->pid, 1, 0, 0);
    SIGEV_PULSE_INIT(&event, (int)coid, 15, 3, 4);
    uintptr_t rcvid = (uintptr_t)client->rcvid;
    assert_int_equal(deliver(server, rcvid, &event), -EPERM);
    assert_true(list_empty(&third->proc->channels[0]->pulses));
    event.sigev_coid = 0; /* the server's own channel, in the client's name */
    assert_int_equal(deliver(server, rcvid, &event), -EPERM);
    event.sigev_coid = (int)coid;
    assert_int_equal(CALL(server, CONNECT_FLAGS, (uintptr_t)client->proc->pid, (uintptr_t)coid,
                          KYMO_COF_EVENTS, KYMO_COF_EVENTS),
                     -EPERM);
    assert_int_equal(
        CALL(client, CONNECT_FLAGS, 0, (uintptr_t)coid, KYMO_COF_EVENTS, KYMO_COF_EVENTS), 0);
    assert_int_equal(deliver(server, rcvid, &event), 0);
    assert_int_equal(CALL(third, MSG_RECEIVEV, 1, AT(0), LEN(64), 0), 0);
    assert_int_equal(CALL(client, CONNECT_FLAGS, 0, (uintptr_t)coid, KYMO_COF_EVENTS, 0),
                     KYMO_COF_EVENTS);
    assert_int_equal(deliver(server, rcvid, &event), -EPERM);
}

/* A signal ends the client: only with the ability, for nobody can know that the client asked. */
static void test_deliver_signal(void **state)
{
    (void)state;
    struct thread *able = world_process(ABILITY_KILL, 20, DATA);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_coid = 15};
    CALL(able, CHANNEL_CREATE, 0);
    CALL(able, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)able->proc->pid, 1, 0, 0);
    uintptr_t rcvid = (uintptr_t)client->rcvid;
    int pid = client->proc->pid;
    assert_int_equal(deliver(server, rcvid, &event), -EPERM);
    event.sigev_coid = 0;
    assert_int_equal(deliver(able, rcvid, &event), -EINVAL);
    event.sigev_coid = 64;
    assert_int_equal(deliver(able, rcvid, &event), -EINVAL);
    event.sigev_coid = 15;
    assert_int_equal(deliver(able, rcvid, &event), 0);
    assert_null(process_find(pid));
    pid = able->proc->pid;
    deliver(able, (uintptr_t)able->rcvid, &event); /* oneself */
    assert_null(process_find(pid));
}

int main(void)
{
#define CASE(name, setup) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_order, setup),
        CASE(test_only_pulses, setup),
        CASE(test_buffers, setup),
        CASE(test_wrong, setup),
        CASE(test_flood, setup),
        CASE(test_disconnect, setup_told),
        CASE(test_thread_death, setup_told),
        CASE(test_server_death, setup_told),
        CASE(test_unblock_once, setup_unblock),
        CASE(test_fixed_priority, setup_fixed),
        CASE(test_current, setup),
        CASE(test_deliver, setup),
        CASE(test_deliver_elsewhere, setup),
        CASE(test_deliver_signal, setup),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
