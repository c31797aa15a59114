/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels, connections and messages: what each call does, by one case each. */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct thread *server, *client;
static int chid, coid;

static int setup_with(unsigned flags)
{
    server = world_process(0, 20, DATA);
    client = world_process(0, 10, DATA);
    chid = (int)CALL(server, CHANNEL_CREATE, flags);
    coid =
        (int)CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, (uintptr_t)chid, 0, 0);
    assert_int_equal(chid, 1);
    assert_int_equal(coid, 0);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return setup_with(0);
}

static int setup_unblock(void **state)
{
    (void)state;
    return setup_with(_NTO_CHF_UNBLOCK);
}

static long receive(struct thread *t, uintptr_t bytes)
{
    return CALL(t, MSG_RECEIVEV, (uintptr_t)chid, AT(0), LEN(bytes), AT(8));
}

static long send(struct thread *t, uintptr_t sbytes, uintptr_t rbytes)
{
    return CALL(t, MSG_SENDV, (uintptr_t)coid, AT(0), LEN(sbytes), AT(4), LEN(rbytes));
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int server_first = 0; server_first < 2; server_first++) {
        long rcvid = BLOCKED;
        strcpy(world_at(client, AT(0)), "question");
        if (server_first) {
            assert_int_equal(receive(server, 64), BLOCKED);
        }
        assert_int_equal(send(client, 9, 64), BLOCKED);
        rcvid = server_first ? world_result(server) : receive(server, 64);
        assert_true(rcvid > 0);
        assert_int_equal(client->state, STATE_REPLY);
        assert_string_equal(world_at(server, AT(0)), "question");
        const struct _msg_info *info = world_at(server, AT(8));
        assert_int_equal(info->pid, client->proc->pid);
        assert_int_equal(info->msglen, 9);
        assert_int_equal(info->srcmsglen, 9);
        assert_int_equal(info->dstmsglen, 64);
        assert_int_equal(info->coid, coid);
        strcpy(world_at(server, AT(2)), "answer");
        assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 42, AT(2), LEN(7)), 0);
        assert_int_equal(world_result(client), 42);
        assert_string_equal(world_at(client, AT(4)), "answer");
        assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, 0, 0), -ESRCH);
    }
}

static void test_one_part_iov(void **state)
{
    (void)state;
    iov_t *ci = world_at(client, AT(1)), *si = world_at(server, AT(1));
    SETIOV(&ci[0], AT(0), 8);
    SETIOV(&ci[1], AT(4), 8);
    SETIOV(&si[0], AT(0), 8);
    memcpy(world_at(client, AT(0)), "12345678", 8);
    assert_int_equal(CALL(server, MSG_RECEIVEV, (uintptr_t)chid, AT(1), 1, 0), BLOCKED);
    assert_int_equal(CALL(client, MSG_SENDV, 0, AT(1), 1, AT(1) + sizeof(iov_t), 1), BLOCKED);
    long rcvid = world_result(server);
    assert_memory_equal(world_at(server, AT(0)), "12345678", 8);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 1, AT(1), 1), 0);
    assert_int_equal(world_result(client), 1);
    assert_memory_equal(world_at(client, AT(4)), "12345678", 8);
}

static void test_long_in_pieces(void **state)
{
    (void)state;
    uint8_t *out = world_at(client, AT(0));
    for (unsigned i = 0; i < 5000; i++) {
        out[i] = (uint8_t)(i * 7);
    }
    for (int server_first = 0; server_first < 2; server_first++) {
        memset(world_at(server, AT(0)), 0, 5000);
        uintptr_t rargs[6] = {(uintptr_t)chid, AT(0), LEN(6000), 0};
        if (server_first) {
            assert_int_equal(world_call(server, KER_MSG_RECEIVEV, rargs), BLOCKED);
        }
        assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0), LEN(5000), AT(0), LEN(5000)), BLOCKED);
        long rcvid =
            server_first ? world_result(server) : world_call(server, KER_MSG_RECEIVEV, rargs);
        assert_true(rcvid > 0);
        assert_memory_equal(world_at(server, AT(0)), out, 5000);
        memset(world_at(server, AT(0)), 0x55, 3000);
        assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 7, AT(0), LEN(5000)), 0);
        assert_int_equal(world_result(client), 7);
        assert_memory_equal(world_at(client, AT(0)), world_at(server, AT(0)), 5000);
    }
}

static void test_bad_memory(void **state)
{
    (void)state;
    uintptr_t ro = FAKE_VADDR + DATA, end = ro + 4096, none = 0x10;
    /* the sender's, found when it is queued */
    assert_int_equal(CALL(client, MSG_SENDV, 0, none, LEN(8), 0, 0), BLOCKED);
    assert_int_equal(receive(server, 8), BLOCKED);
    assert_int_equal(world_result(client), -EFAULT);
    /* the same with a receiver that waits: it goes on waiting */
    assert_int_equal(CALL(client, MSG_SENDV, 0, none, LEN(8), 0, 0), -EFAULT);
    assert_int_equal(CALL(client, MSG_SENDV, 0, end - 4, LEN(8), 0, 0), -EFAULT);
    assert_int_equal(server->state, STATE_RECEIVE);
    /* a part array that isn't there, or is crooked */
    assert_int_equal(CALL(client, MSG_SENDV, 0, none, 1, 0, 0), -EFAULT);
    assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0) + 1, 1, 0, 0), -EFAULT);
    assert_int_equal(CALL(client, MSG_SENDV, 0, none, 2, 0, 0), -EFAULT);
    assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0), 65, 0, 0), -EOVERFLOW);
    assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0), (uintptr_t)LONG_MIN, 0, 0), -EOVERFLOW);
    /* the receiver's: its call ends, the sender waits for another */
    assert_int_equal(send(client, 8, 8), BLOCKED);
    assert_true(world_result(server) > 0);
    long rcvid = world_result(server);
    /* the server's reply buffer: the client goes on waiting; the client's: it is told */
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, none, LEN(8)), -EFAULT);
    assert_int_equal(client->state, STATE_REPLY);
    assert_int_equal(CALL(server, MSG_ERROR, (uintptr_t)rcvid, EPERM), 0);
    assert_int_equal(world_result(client), -EPERM);
    assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0), LEN(8), ro, LEN(8)), BLOCKED);
    assert_int_equal(CALL(server, MSG_RECEIVEV, (uintptr_t)chid, ro, LEN(8), 0), -EFAULT);
    assert_int_equal(client->state, STATE_SEND);
    rcvid = receive(server, 8);
    assert_true(rcvid > 0);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, AT(0), LEN(8)), 0);
    assert_int_equal(world_result(client), -EFAULT);
    /* a receiver whose buffer is bad, found when something arrives */
    assert_int_equal(CALL(server, MSG_RECEIVEV, (uintptr_t)chid, ro, LEN(8), 0), BLOCKED);
    assert_int_equal(send(client, 8, 8), BLOCKED);
    assert_int_equal(world_result(server), -EFAULT);
    assert_int_equal(client->state, STATE_SEND);
    assert_int_equal(CALL(server, MSG_RECEIVEV, (uintptr_t)chid, AT(0), LEN(8), ro), -EFAULT);
}

static void test_read_write(void **state)
{
    (void)state;
    strcpy(world_at(client, AT(0)), "0123456789");
    send(client, 10, 20);
    long rcvid = receive(server, 4);
    uintptr_t id = (uintptr_t)rcvid;
    assert_int_equal(CALL(server, MSG_READV, id, AT(2), LEN(100), 3, 0), 7);
    assert_memory_equal(world_at(server, AT(2)), "3456789", 7);
    assert_int_equal(CALL(server, MSG_READV, id, AT(2), LEN(100), 10, 0), 0);
    assert_int_equal(CALL(server, MSG_READV, id, AT(2), LEN(100), UINTPTR_MAX, 0), 0);
    assert_int_equal(CALL(server, MSG_READV, id, AT(2), LEN(100), 0, 1), -EINVAL);
    assert_int_equal(CALL(server, MSG_WRITEV, id, AT(2), LEN(7), 15, 0), 5);
    assert_memory_equal(world_at(client, AT(4) + 15), "34567", 5);
    assert_int_equal(CALL(server, MSG_READV, id + 1, AT(2), LEN(8), 0, 0), -ESRCH);
    assert_int_equal(CALL(server, MSG_INFO, id, AT(2)), 0);
    assert_int_equal(CALL(server, MSG_INFO, id, 4), -EFAULT);
    assert_int_equal(CALL(server, MSG_CURRENT, id), 0);
    assert_int_equal(CALL(server, MSG_CURRENT, 0), -ESRCH);
    assert_int_equal(CALL(server, MSG_ERROR, id, 0x10000), -EINVAL);
}

static void test_priorities(void **state)
{
    (void)state;
    struct thread *low = world_process(0, 5, DATA), *high = world_process(0, 40, DATA);
    struct thread *who[] = {low, high};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(CALL(who[i], CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0), 0);
    }
    send(low, 8, 8);
    long first = receive(server, 8);
    assert_int_equal(server->priority, 20);
    send(high, 8, 8); /* queued: the busy server is raised */
    assert_int_equal(server->priority, 40);
    send(client, 8, 8);
    CALL(server, MSG_REPLYV, (uintptr_t)first, 0, 0, 0);
    assert_int_equal(receive(server, 8), high->rcvid);
    assert_int_equal(server->priority, 40);
    CALL(server, MSG_REPLYV, (uintptr_t)high->rcvid, 0, 0, 0);
    assert_int_equal(receive(server, 8), client->rcvid);
    assert_int_equal(server->priority, 20);
    CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 0, 0, 0);
    assert_int_equal(receive(server, 8), BLOCKED);
}

/* A client that still waits for its reply is raised while its server waits for more: the server has
 * nothing to do for it then, and keeps nothing of that for later. */
static void test_raised_while_receiving(void **state)
{
    (void)state;
    struct thread *low = world_process(0, 5, DATA), *second = world_thread(client, 30);
    CALL(low, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    send(client, 8, 8);
    assert_int_equal(receive(server, 8), client->rcvid);
    assert_int_equal(receive(server, 8), BLOCKED);
    ((struct sched_param_kymo *)world_at(second, AT(2)))->sched_priority = 59;
    assert_int_equal(CALL(second, SCHED_SET, 0, 1, SCHED_RR, AT(2)), 0);
    assert_int_equal(client->priority, 59);
    assert_int_equal(server->priority, 20);
    send(low, 8, 8);
    assert_int_equal(world_result(server), low->rcvid);
    assert_int_equal(server->priority, 20);
    CALL(server, MSG_REPLYV, (uintptr_t)low->rcvid, 0, 0, 0);
    CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 0, 0, 0);
    assert_int_equal(receive(server, 8), BLOCKED);
    assert_int_equal(server->priority, 20);
}

static void test_end_of_server(void **state)
{
    (void)state;
    send(client, 8, 8);
    world_kill(server->proc);
    assert_int_equal(world_result(client), -ESRCH);
    assert_int_equal(send(client, 8, 8), -ESRCH);
    assert_int_equal(CALL(client, CONNECT_DETACH, 0), 0);
    assert_int_equal(send(client, 8, 8), -EBADF);
}

static void test_end_of_channel(void **state)
{
    (void)state;
    struct thread *other = world_thread(server, 20);
    send(client, 8, 8);
    assert_true(receive(server, 8) > 0);
    assert_int_equal(receive(other, 8), BLOCKED);
    assert_int_equal(CALL(server, CHANNEL_DESTROY, 1), 0);
    assert_int_equal(world_result(client), -ESRCH);
    assert_int_equal(world_result(other), -ESRCH);
    assert_int_equal(send(client, 8, 8), -EBADF);
    assert_int_equal(CALL(server, CHANNEL_DESTROY, 1), -EINVAL);
    assert_int_equal(receive(server, 8), -ESRCH);
}

static void test_end_of_client(void **state)
{
    (void)state;
    send(client, 8, 8);
    long rcvid = receive(server, 8);
    world_kill(client->proc);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, 0, 0), -ESRCH);
    /* another thread in its place is another client */
    struct thread *next = world_process(0, 10, DATA);
    assert_ptr_equal(next, client);
    CALL(next, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, (uintptr_t)chid, 0, 0);
    send(next, 8, 8);
    assert_int_equal(receive(server, 8), next->rcvid);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, 0, 0), -ESRCH);
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)next->rcvid, 0, 0, 0), 0);
}

static void test_detach_in_reply(void **state)
{
    (void)state;
    struct thread *other = world_thread(client, 10);
    send(client, 8, 8);
    assert_true(receive(server, 8) > 0);
    assert_int_equal(CALL(other, CONNECT_DETACH, 0), 0);
    assert_int_equal(world_result(client), -EBADF);
}

static void test_server_thread_ends(void **state)
{
    (void)state;
    struct thread *other = world_thread(server, 20);
    send(client, 8, 8);
    long rcvid = receive(server, 8);
    CALL(server, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(client->state, STATE_REPLY);
    assert_int_equal(CALL(other, MSG_REPLYV, (uintptr_t)rcvid, 3, 0, 0), 0);
    assert_int_equal(world_result(client), 3);
}

static void test_timeouts(void **state)
{
    (void)state;
    uint64_t *ns = world_at(client, AT(2));
    *ns = 1000000;
    CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND | _NTO_TIMEOUT_REPLY, 0, AT(2), 0);
    assert_int_equal(send(client, 8, 8), BLOCKED);
    world_advance(900000);
    assert_int_equal(world_result(client), BLOCKED);
    assert_true(receive(server, 8) > 0);
    world_advance(200000);
    assert_int_equal(world_result(client), -ETIMEDOUT);
    CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, AT(2), 0);
    assert_int_equal(send(client, 8, 8), BLOCKED);
    assert_true(receive(server, 8) > 0);
    world_advance(2000000);
    assert_int_equal(client->state, STATE_REPLY);
    CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 0, 0, 0);
    CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, 0, 0);
    assert_int_equal(send(client, 8, 8), -ETIMEDOUT);
    assert_int_equal(send(client, 8, 8), BLOCKED); /* it was for one call */
}

static void test_unblock(void **state)
{
    (void)state;
    uint64_t *ns = world_at(client, AT(2));
    *ns = 1000;
    CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_REPLY, 0, AT(2), 0);
    send(client, 8, 8);
    long rcvid = receive(server, 8);
    world_advance(5000);
    assert_int_equal(client->state, STATE_REPLY);
    assert_int_equal(receive(server, 64), 0);
    const struct _pulse *p = world_at(server, AT(0));
    assert_int_equal(p->code, _PULSE_CODE_UNBLOCK);
    assert_int_equal(p->value.sival_int, rcvid);
    const struct _msg_info *info = world_at(server, AT(0));
    assert_int_equal(CALL(server, MSG_INFO, (uintptr_t)rcvid, AT(0)), 0);
    assert_true(info->flags & _NTO_MI_UNBLOCK_REQ);
    assert_int_equal(info->nd, ND_LOCAL_NODE);
    assert_int_equal(info->pid, client->proc->pid);
    assert_int_equal(info->tid, client->tid);
    assert_int_equal(info->coid, client->connection->coid);
    assert_int_equal(info->scoid, client->connection->scoid);
    CALL(server, MSG_ERROR, (uintptr_t)rcvid, EINTR);
    assert_int_equal(world_result(client), -EINTR);
    /* The next message of the same thread has not asked for anything. */
    send(client, 8, 8);
    assert_int_equal(CALL(server, MSG_INFO, (uintptr_t)receive(server, 8), AT(0)), 0);
    assert_false(info->flags & _NTO_MI_UNBLOCK_REQ);
}

static void test_connections(void **state)
{
    (void)state;
    uintptr_t pid = (uintptr_t)server->proc->pid;
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, pid, 1, 3, 0), 3);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, pid, 1, _NTO_SIDE_CHANNEL, 0),
                     _NTO_SIDE_CHANNEL);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, pid, 1, 5, 0), -EMFILE);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, pid, 9, 0, 0), -ESRCH);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, 9999, 1, 0, 0), -ESRCH);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 1, pid, 1, 0, 0), -ESRCH);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, pid, 1, 0, 8), -EINVAL);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, pid, 1, UINT32_MAX, 0), -EINVAL);
    assert_int_equal(CALL(client, CONNECT_SERVER_INFO, 0, 1, AT(0)), 3);
    const struct _server_info *info = world_at(client, AT(0));
    int scoid = info->scoid;
    assert_int_equal(info->pid, pid);
    assert_int_equal(info->nd, ND_LOCAL_NODE);
    assert_int_equal(CALL(server, CONNECT_CLIENT_INFO, (uintptr_t)scoid, AT(0), 0), 0);
    const struct _client_info *who = world_at(server, AT(0));
    assert_int_equal(who->pid, client->proc->pid);
    assert_int_equal(who->cred.euid, 1);
    client->proc->ability = UINT32_MAX;
    assert_int_equal(CALL(server, CONNECT_CLIENT_INFO, (uintptr_t)scoid, AT(0), 0), 0);
    assert_int_equal(who->cred.euid, 0);
    client->proc->ability = 0;
    assert_int_equal(CALL(server, CONNECT_CLIENT_INFO, 3, AT(0), 0), -EINVAL);
    assert_int_equal(CALL(client, CONNECT_FLAGS, 0, 3, 1, 1), 0);
    assert_int_equal(CALL(client, CONNECT_FLAGS, 0, 3, 0, 0), 1);
    assert_int_equal(CALL(client, CONNECT_FLAGS, 0, 3, 2, 2), -EINVAL);
    assert_int_equal(CALL(server, CONNECT_DETACH, (uintptr_t)scoid), 0);
    assert_int_equal(CALL(client, CONNECT_DETACH, 3), 0);
    assert_int_equal(CALL(client, CONNECT_DETACH, 3), -EINVAL);
    assert_int_equal(CALL(client, CHANNEL_CREATE, 0x10000), -EINVAL);
}

/* The client after an scoid is found until the last of its connections is closed, in whatever
 * order that happens, and by its server alone. */
static void test_client_info(void **state)
{
    (void)state;
    uintptr_t pid = (uintptr_t)server->proc->pid;
    struct thread *stranger = world_process(0, 10, DATA);
    for (unsigned last = 0; last < 3; last++) {
        long coids[3];
        for (unsigned i = 0; i < 3; i++) {
            coids[i] = CALL(stranger, CONNECT_ATTACH, 0, pid, 1, 0, 0);
            assert_true(coids[i] >= 0);
        }
        assert_true(CALL(stranger, CONNECT_SERVER_INFO, 0, (uintptr_t)coids[0], AT(0)) >= 0);
        const uintptr_t scoid =
            (uintptr_t)((const struct _server_info *)world_at(stranger, AT(0)))->scoid;
        for (unsigned i = 1; i <= 3; i++) {
            assert_int_equal(CALL(server, CONNECT_CLIENT_INFO, scoid, AT(0), 0), 0);
            const struct _client_info *who = world_at(server, AT(0));
            assert_int_equal(who->pid, stranger->proc->pid);
            assert_int_equal(CALL(client, CONNECT_CLIENT_INFO, scoid, AT(0), 0), -EINVAL);
            assert_int_equal(CALL(stranger, CONNECT_DETACH, (uintptr_t)coids[(last + i) % 3]), 0);
        }
        assert_int_equal(CALL(server, CONNECT_CLIENT_INFO, scoid, AT(0), 0), -EINVAL);
    }
}

/* ---- preemption points --------------------------------------------------------------- */

static unsigned windows;

static void count_window(void)
{
    windows++;
}

/* Senders whose memory is bad end one after the other, with a preemption point after each. */
static void test_bad_senders(void **state)
{
    (void)state;
    struct thread *senders[CONFIG_THREADS_PER_PROCESS] = {client};
    for (unsigned i = 1; i < CONFIG_THREADS_PER_PROCESS; i++) {
        senders[i] = world_thread(client, 10);
    }
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        assert_int_equal(CALL(senders[i], MSG_SENDV, 0, NOWHERE, LEN(8), AT(4), LEN(8)), BLOCKED);
    }
    windows = 0;
    fake_irq_window = count_window;
    assert_int_equal(receive(server, 64), BLOCKED);
    fake_irq_window = NULL;
    assert_int_equal(windows, CONFIG_THREADS_PER_PROCESS);
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        assert_int_equal(world_result(senders[i]), -EFAULT);
    }
    assert_int_equal(send(client, 8, 8), BLOCKED);
    assert_true(world_result(server) > 0);
}

/* So do receivers. (Each is woken, but does not run before the sender.) */
static void test_bad_receivers(void **state)
{
    (void)state;
    struct thread *receivers[CONFIG_THREADS_PER_PROCESS - 1];
    const unsigned n = sizeof(receivers) / sizeof(receivers[0]);
    for (unsigned i = 0; i < n; i++) {
        receivers[i] = world_thread(server, 5);
        assert_int_equal(CALL(receivers[i], MSG_RECEIVEV, 1, RO, LEN(8), 0), BLOCKED);
    }
    windows = 0;
    fake_irq_window = count_window;
    assert_int_equal(send(client, 8, 8), BLOCKED);
    fake_irq_window = NULL;
    assert_int_equal(windows, n);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(world_result(receivers[i]), -EFAULT);
    }
    assert_int_equal(client->state, STATE_SEND);
    assert_true(receive(server, 64) > 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_round_trip),
        CASE(test_one_part_iov),
        CASE(test_long_in_pieces),
        CASE(test_bad_memory),
        CASE(test_read_write),
        CASE(test_priorities),
        CASE(test_raised_while_receiving),
        CASE(test_end_of_server),
        CASE(test_end_of_channel),
        CASE(test_end_of_client),
        CASE(test_detach_in_reply),
        CASE(test_server_thread_ends),
        CASE(test_timeouts),
        CASE(test_connections),
        CASE(test_client_info),
        CASE(test_bad_senders),
        CASE(test_bad_receivers),
        cmocka_unit_test_setup_teardown(test_unblock, setup_unblock, world_teardown),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
