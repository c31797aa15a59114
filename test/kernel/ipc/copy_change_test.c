/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages as bytes: everything that can happen between two pieces of a long one.
 */
#include "test/kernel/ipc/long_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

static void enter(struct thread *t, unsigned number, uintptr_t a0, uintptr_t a1, uintptr_t a2)
{
    world_enter(t, number, (uintptr_t[6]){a0, a1, a2});
}

static void kill_client(void)
{
    enter(client2, KER_PROC_EXIT, 9, 0, 0);
}

static void end_client(void)
{
    enter(client2, KER_THREAD_DESTROY, 1, 0, 0);
}

static void cancel_client(void)
{
    enter(client2, KER_THREAD_CANCEL, 1, 0x100, 0);
}

static void detach(void)
{
    enter(client2, KER_CONNECT_DETACH, 0, 0, 0);
}

static void end_server_thread(void)
{
    enter(server2, KER_THREAD_DESTROY, 1, 0, 0);
}

static void kill_server(void)
{
    enter(server2, KER_PROC_EXIT, 0, 0, 0);
}

static void destroy_channel(void)
{
    enter(server2, KER_CHANNEL_DESTROY, 1, 0, 0);
}

static void second_receives(void)
{
    world_enter(server2, KER_MSG_RECEIVEV, (uintptr_t[6]){1, AT(0x30), LEN(LONG), 0});
}

static void end_first(void *unused)
{
    (void)unused;
    thread_end(server, 0);
}

static void second_receives_first_ends(void)
{
    unsigned cpu = (unsigned)world_cpu_of(server2);

    second_receives();
    world_do(cpu, end_first, NULL);
}

/* A long message whose receiver, or sender, meets something at each of its preemption points. */
static void each_window(void (*what)(void), void (*check)(bool server_first, unsigned n))
{
    for (unsigned n = 0; n < 2 * PIECES - 1; n++) {
        bool first = n >= PIECES - 1;
        teardown(NULL);
        setup(NULL);
        fill(client, AT(0x10), LONG, n);
        if (first) {
            receive(server, LONG);
        } else {
            send_long(client, LONG, LONG);
        }
        at_window(first ? n - (PIECES - 1) : n, what);
        if (first) {
            send_long(client, LONG, LONG);
        } else {
            receive(server, LONG);
        }
        assert_true(windows > act_at);
        world_check();
        check(first, n);
    }
}

/* The sender has left: its receiver starts over with the next message, and gets that whole. */
static void goes_on_waiting(bool server_first, unsigned n)
{
    (void)server_first;
    (void)n;
    assert_int_equal(server->state, STATE_RECEIVE);
    struct thread *other = world_process(0, 10, DATA);
    CALL(other, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    fill(other, AT(0x10), 100, 99);
    at_window(0, NULL);
    send_long(other, 100, 0);
    assert_int_equal(world_result(server), other->rcvid);
    assert_memory_equal(world_at(server, AT(0x10)), world_at(other, AT(0x10)), 100);
}

static void client_hears_ebadf(bool server_first, unsigned n)
{
    assert_int_equal(world_result(client), -EBADF);
    goes_on_waiting(server_first, n);
}

static void client_hears_eintr(bool server_first, unsigned n)
{
    assert_int_equal(world_result(client), -EINTR);
    goes_on_waiting(server_first, n);
}

/* The receiver has left: the message waits for another, and is there whole. */
static void message_is_there(bool server_first, unsigned n)
{
    (void)server_first;
    (void)n;
    assert_int_equal(client->state, STATE_SEND);
    assert_int_equal(CALL(server2, MSG_RECEIVEV, 1, AT(0x30), LEN(LONG), 0), client->rcvid);
    assert_memory_equal(world_at(server2, AT(0x30)), world_at(client, AT(0x10)), LONG);
}

static void server_gone(bool server_first, unsigned n)
{
    (void)server_first;
    (void)n;
    assert_int_equal(world_result(client), -ESRCH);
}

static void channel_gone(bool server_first, unsigned n)
{
    server_gone(server_first, n);
    assert_int_equal(world_result(server), -ESRCH);
}

/* One message is for one receiver, however long it takes. */
static void second_waits(bool server_first, unsigned n)
{
    (void)server_first;
    (void)n;
    assert_int_equal(world_result(server), client->rcvid);
    assert_int_equal(server2->state, STATE_RECEIVE);
    assert_memory_equal(world_at(server, AT(0x10)), world_at(client, AT(0x10)), LONG);
}

/* The receiver that waits gets the whole message, from its begin. */
static void second_has_it(bool server_first, unsigned n)
{
    (void)server_first;
    (void)n;
    assert_int_equal(world_result(server2), client->rcvid);
    assert_int_equal(client->state, STATE_REPLY);
    assert_memory_equal(world_at(server2, AT(0x30)), world_at(client, AT(0x10)), LONG);
    assert_int_equal(CALL(server2, MSG_REPLYV, (uintptr_t)client->rcvid, 7, 0, 0), 0);
    assert_int_equal(world_result(client), 7);
}

static void test_client_killed(void **state)
{
    (void)state;
    each_window(kill_client, goes_on_waiting);
}

static void test_client_ends(void **state)
{
    (void)state;
    each_window(end_client, goes_on_waiting);
}

static void test_client_cancelled(void **state)
{
    (void)state;
    each_window(cancel_client, client_hears_eintr);
}

static void test_connection_closed(void **state)
{
    (void)state;
    each_window(detach, client_hears_ebadf);
}

static void test_server_thread_ends(void **state)
{
    (void)state;
    each_window(end_server_thread, message_is_there);
}

static void test_server_killed(void **state)
{
    (void)state;
    each_window(kill_server, server_gone);
}

static void test_channel_destroyed(void **state)
{
    (void)state;
    each_window(destroy_channel, channel_gone);
}

static void test_second_receiver(void **state)
{
    (void)state;
    each_window(second_receives, second_waits);
}

static void test_second_receiver_takes_over(void **state)
{
    (void)state;
    each_window(second_receives_first_ends, second_has_it);
}

/* The sender gives up in the middle, has something else to say and sends that to the same channel,
 * where a second receiver waits: the message is that one's, though it can't go on before the first
 * one, which has the CPU; and the first has lost its message and leaves this one alone. */
static void sends_another(void)
{
    enter(client2, KER_THREAD_CANCEL, 1, 0x100, 0);
    while (client->state != STATE_RUNNING) {
        assert_true(world_step(0) | world_step(1) | world_step(2) | world_step(3));
    }
    fill(client, AT(0x10), LONG, 77);
    world_enter(client, KER_MSG_SENDV, (uintptr_t[6]){0, AT(0x10), LEN(LONG), AT(0x20), LEN(LONG)});
    assert_int_equal(server->state, STATE_RUNNING);
    assert_int_equal(server2->state, STATE_READY);
    assert_ptr_equal(client->server, server2);
}

static void test_sender_sends_another(void **state)
{
    for (unsigned n = 0; n < PIECES - 1; n++) {
        teardown(state);
        setup(state);
        const uintptr_t cpu = (uintptr_t)1 << world_cpu_of(server2);
        CALL(server2, THREAD_CTL, _NTO_TCTL_RUNMASK, cpu);
        assert_int_equal(CALL(server2, MSG_RECEIVEV, 1, AT(0x30), LEN(LONG), 0), BLOCKED);
        CALL(server, THREAD_CTL, _NTO_TCTL_RUNMASK, cpu);
        assert_int_equal(receive(server, LONG),
                         BLOCKED); /* the last one is the first to be served */
        CALL(client, THREAD_CTL, _NTO_TCTL_RUNMASK, (uintptr_t)1 << world_cpu_of(client));
        CALL(client2, THREAD_CTL, _NTO_TCTL_RUNMASK, (uintptr_t)1 << world_cpu_of(client2));
        fill(client, AT(0x10), LONG, n);
        at_window(n, sends_another);
        send_long(client, LONG, LONG);
        assert_true(windows > act_at);
        world_check();
        assert_int_equal(server->state, STATE_RECEIVE);
        second_has_it(true, n);
    }
}

/* The receiver's parts change under the copy: the receiver may get an error, its client
 * waits on. */
static void spoil_parts(void)
{
    iov_t *iov = world_at(server, AT(4));
    SETIOV(&iov[1], AT(0x20), SIZE_MAX);
}

static void test_parts_change(void **state)
{
    (void)state;
    iov_t *iov = world_at(server, AT(4));
    for (int first = 0; first < 2; first++) {
        SETIOV(&iov[0], AT(0x10), 1000);
        SETIOV(&iov[1], AT(0x20), 1000);
        const uintptr_t rargs[6] = {1, AT(4), 2, 0};
        if (first) {
            world_call(server, KER_MSG_RECEIVEV, rargs);
        }
        at_window(3, spoil_parts);
        send_long(client, LONG, 0);
        long r = first ? world_result(server) : world_call(server, KER_MSG_RECEIVEV, rargs);
        assert_int_equal(r, -EOVERFLOW);
        at_window(0, NULL);
        assert_int_equal(client->state, STATE_SEND);
        assert_int_equal(receive(server, LONG), client->rcvid);
        assert_memory_equal(world_at(server, AT(0x10)), world_at(client, AT(0x10)), LONG);
        CALL(server, MSG_ERROR, (uintptr_t)client->rcvid, 0);
    }
}

/* The same, with another receiver at hand: it gets the message. */
static void test_parts_change_match(void **state)
{
    (void)state;
    iov_t *iov = world_at(server, AT(4));
    SETIOV(&iov[0], AT(0x10), 1000);
    SETIOV(&iov[1], AT(0x20), 1000);
    send_long(client, LONG, 0);
    CALL(server2, THREAD_CTL, _NTO_TCTL_NAME, NOWHERE);
    at_window(3, spoil_parts);
    enter(server2, KER_NOP, 0, 0, 0);
    assert_int_equal(CALL(server, MSG_RECEIVEV, 1, AT(4), 2, 0), -EOVERFLOW);
    assert_int_equal(CALL(server2, MSG_RECEIVEV, 1, AT(0x30), LEN(LONG), 0), client->rcvid);
}

/* A client's memory goes in the middle. */
static uintptr_t mapped;

static void unmap(void)
{
    enter(client2, KER_MEM_UNMAP, mapped, 2048, 0);
}

static void test_unmapped(void **state)
{
    (void)state;
    for (unsigned n = 0; n < PIECES - 1; n++) {
        mapped = (uintptr_t)CALL(client, MEM_MAP, 2048, 3);
        at_window(n, unmap);
        CALL(client, MSG_SENDV, 0, mapped, LEN(LONG), 0, 0);
        assert_int_equal(receive(server, LONG), BLOCKED);
        assert_int_equal(world_result(client), -EFAULT);
        mapped = (uintptr_t)CALL(client, MEM_MAP, 2048, 3);
        at_window(99, NULL);
        CALL(client, MSG_SENDV, 0, AT(0x10), LEN(8), mapped, LEN(2048));
        uintptr_t rcvid = (uintptr_t)world_result(server);
        at_window(n, unmap);
        CALL(server, MSG_REPLYV, rcvid, 0, AT(0x10), LEN(2048));
        assert_int_equal(world_result(client), -EFAULT);
    }
}

/* The client gives up during a long reply and sends again, and another thread receives that: the
 * old reply has lost its client and leaves the new message alone. */
static void send_again(void)
{
    enter(client2, KER_THREAD_CANCEL, 1, 0x100, 0);
    while (client->state != STATE_RUNNING) {
        assert_true(world_step(0) | world_step(1) | world_step(2) | world_step(3));
    }
    world_enter(client, KER_MSG_SENDV, (uintptr_t[6]){0, AT(0x10), LEN(8), AT(0x20), LEN(LONG)});
}

static void test_reply_overtaken(void **state)
{
    (void)state;
    for (unsigned n = 0; n < PIECES - 1; n++) {
        at_window(99, NULL);
        send_long(client, 8, LONG);
        uintptr_t rcvid = (uintptr_t)receive(server, 8);
        assert_int_equal(CALL(server2, MSG_RECEIVEV, 1, AT(0x30), LEN(8), 0), BLOCKED);
        at_window(n, send_again);
        assert_int_equal(CALL(server, MSG_REPLYV, rcvid, 1, AT(0x10), LEN(LONG)), -ESRCH);
        assert_int_equal(world_result(server2), rcvid);
        assert_int_equal(client->state, STATE_REPLY);
        at_window(99, NULL);
        assert_int_equal(CALL(server2, MSG_REPLYV, rcvid, 2, AT(0x10), LEN(LONG)), 0);
        assert_int_equal(world_result(client), 2);
    }
}

static void sends_long_again(void)
{
    enter(client2, KER_THREAD_CANCEL, 1, 0x100, 0);
    while (client->state != STATE_RUNNING) {
        assert_true(world_step(0) | world_step(1) | world_step(2) | world_step(3));
    }
    world_enter(client, KER_MSG_SENDV, (uintptr_t[6]){0, AT(0x10), LEN(LONG), AT(0x20), LEN(LONG)});
}

/* MsgRead() and MsgWrite() in pieces are of one message, whoever has received the next. */
static void test_read_overtaken(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 2 * (PIECES - 1); n++) {
        bool reads = n % 2;
        at_window(99, NULL);
        send_long(client, LONG, LONG);
        uintptr_t rcvid = (uintptr_t)receive(server, 8);
        assert_int_equal(CALL(server2, MSG_RECEIVEV, 1, AT(0x30), LEN(8), 0), BLOCKED);
        at_window(n / 2, sends_long_again);
        assert_int_equal(reads ? CALL(server, MSG_READV, rcvid, AT(0x10), LEN(LONG), 0, 0)
                               : CALL(server, MSG_WRITEV, rcvid, AT(0x10), LEN(LONG), 0, 0),
                         -ESRCH);
        assert_int_equal(world_result(server2), rcvid);
        at_window(99, NULL);
        assert_int_equal(CALL(server, MSG_READV, rcvid, AT(0x10), LEN(LONG), 0, 0), LONG);
        assert_int_equal(CALL(server2, MSG_WRITEV, rcvid, AT(0x10), LEN(LONG), 0, 0), LONG);
        assert_int_equal(CALL(server2, MSG_REPLYV, rcvid, 2, AT(0x10), LEN(LONG)), 0);
        assert_int_equal(world_result(client), 2);
    }
}

/* The memory where a message or a reply should go is not its process's any more: it stays as it is,
 * as if it was another's by now. */
static void test_memory_of_another(void **state)
{
    (void)state;
    for (int reply = 0; reply < 2; reply++) {
        struct thread *waits = reply ? client : server, *helper = reply ? client2 : server2;
        if (reply) {
            assert_int_equal(send_long(client, 8, 8), BLOCKED);
            assert_int_equal(receive(server, 8), client->rcvid);
        } else {
            assert_int_equal(receive(server, 8), BLOCKED);
        }
        uint8_t *memory = world_at(waits, FAKE_VADDR);
        assert_int_equal(CALL(helper, MEM_UNMAP, FAKE_VADDR, DATA), 0);
        memset(memory, 0x11, DATA);
        if (reply) {
            assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 0, AT(0), LEN(8)),
                             0);
        } else {
            assert_int_equal(send_long(client, 8, 8), BLOCKED);
        }
        assert_int_equal(world_result(waits), -EFAULT);
        for (unsigned i = 0; i < DATA; i++) {
            assert_int_equal(memory[i], 0x11);
        }
        teardown(state);
        setup(state);
    }
}

/* A receiver's own limit holds on after a message that it began to get has gone. */
static void test_receive_timeout(void **state)
{
    (void)state;
    *(uint64_t *)world_at(server, AT(2)) = 1000000;
    CALL(server, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_RECEIVE, 0, AT(2), 0);
    assert_int_equal(receive(server, LONG), BLOCKED);
    at_window(2, kill_client);
    send_long(client, LONG, LONG);
    assert_int_equal(server->state, STATE_RECEIVE);
    world_advance(2000000);
    assert_int_equal(server->state, STATE_RUNNING);
    assert_int_equal(world_result(server), -ETIMEDOUT);
    /* and not beyond its call */
    client = world_process(0, 10, DATA);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    CALL(server, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_RECEIVE, 0, AT(2), 0);
    receive(server, LONG);
    at_window(0, NULL);
    send_long(client, LONG, LONG);
    assert_int_equal(world_result(server), client->rcvid);
    world_advance(2000000);
    assert_int_equal(receive(server, LONG), BLOCKED);
    world_advance(2000000);
    assert_int_equal(world_result(server), BLOCKED);
}

/* "Don't wait in SEND": with a receiver at hand there is nothing to wait for, long or short. */
static void test_send_at_once(void **state)
{
    (void)state;
    for (unsigned bytes = 8; bytes <= LONG; bytes += LONG - 8) {
        receive(server, LONG);
        CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, 0, 0);
        assert_int_equal(send_long(client, bytes, 8), BLOCKED);
        assert_int_equal(world_result(server), client->rcvid);
        CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 1, 0, 0);
        assert_int_equal(world_result(client), 1);
        CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, 0, 0);
        assert_int_equal(send_long(client, bytes, 8), -ETIMEDOUT);
    }
}

/* The same when the receiver ends in the middle: now it would have to wait, and doesn't. */
static void test_send_at_once_given_back(void **state)
{
    (void)state;
    for (int bad = 0; bad < 2; bad++) {
        CALL(server, MSG_RECEIVEV, 1, bad ? RO - 1000 : AT(0x10), LEN(LONG), 0);
        CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, 0, 0);
        at_window(3, bad ? NULL : end_server_thread);
        send_long(client, LONG, 8);
        world_advance(1);
        assert_int_equal(world_result(client), -ETIMEDOUT);
        server = bad ? server : server2;
        server2 = bad ? server2 : world_thread(server, 10);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_client_killed),
        CASE(test_client_ends),
        CASE(test_client_cancelled),
        CASE(test_connection_closed),
        CASE(test_server_thread_ends),
        CASE(test_server_killed),
        CASE(test_channel_destroyed),
        CASE(test_second_receiver),
        CASE(test_second_receiver_takes_over),
        CASE(test_sender_sends_another),
        CASE(test_parts_change),
        CASE(test_parts_change_match),
        CASE(test_reply_overtaken),
        CASE(test_read_overtaken),
        CASE(test_unmapped),
        CASE(test_memory_of_another),
        CASE(test_receive_timeout),
        CASE(test_send_at_once),
        CASE(test_send_at_once_given_back),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
