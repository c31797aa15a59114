/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages as bytes: copies in pieces between buffers of many parts against a byte-wise model,
 * memory that isn't there, lengths that are none, and everything that can happen between two pieces
 * of a long one.
 */
#include "test/unit_ipc/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/abi/sys/ability.h"
#include "kernel/cpu.h"
#include "test/unit_kernel/random.h"

#define LONG 2000u /* bytes of a long message: eight pieces */
#define PIECES ((LONG + CONFIG_COPY_CHUNK - 1) / CONFIG_COPY_CHUNK)
#define NONE SIZE_MAX

static struct thread *server, *server2, *client, *client2;
static unsigned windows, act_at;
static void (*act)(void);

/* Between two pieces another CPU has its chance. */
static void window(void)
{
    unsigned self = fake_cpu;
    if (windows++ == act_at && act) {
        act();
    }
    fake_cpu = self;
}

static void at_window(unsigned n, void (*what)(void))
{
    windows = 0;
    act_at = n;
    act = what;
}

static int setup(void **state)
{
    (void)state;
    server = world_process(ABILITY_KILL, 20, DATA);
    server2 = world_thread(server, 20);
    client = world_process(0, 10, DATA);
    client2 = world_thread(client, 10);
    CALL(server, CHANNEL_CREATE, 0);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    fake_lock_window = window;
    kernel_lock_waiters = 1;
    at_window(0, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_lock_window = NULL;
    kernel_lock_waiters = 0;
    world_end();
    return 0;
}

static void fill(const struct thread *t, uintptr_t addr, size_t bytes, unsigned seed)
{
    uint8_t *p = world_at(t, addr);
    for (size_t i = 0; i < bytes; i++) {
        p[i] = (uint8_t)(seed + i * 7 + (i >> 8));
    }
}

static long receive(struct thread *t, uintptr_t bytes)
{
    return CALL(t, MSG_RECEIVEV, 1, AT(0x10), LEN(bytes), AT(1));
}

static long send(struct thread *t, uintptr_t sbytes, uintptr_t rbytes)
{
    return CALL(t, MSG_SENDV, 0, AT(0x10), LEN(sbytes), AT(0x20), LEN(rbytes));
}

/* ---- against a model ----------------------------------------------------------------------------
 */

struct buffer {
    uintptr_t args[2];
    unsigned parts;
    uintptr_t at[8];
    size_t len[8];
    size_t total;
};

/* Parts that don't overlap, in random order of place, some of them empty. */
static struct buffer random_buffer(const struct thread *t, uintptr_t iovs)
{
    struct buffer b = {.parts = random_below(9)};
    uintptr_t base = AT(0x10);
    for (unsigned i = 0; i < b.parts; i++) {
        unsigned place = random_below(2) ? i : b.parts - 1 - i;
        b.at[i] = base + place * 0x300 + random_below(32);
        b.len[i] = random_below(4) ? random_below(700) : random_below(9) * random_below(2);
        for (unsigned n = 0; n < i; n++) {
            b.len[i] = b.at[n] < b.at[i] + 0x300 && b.at[i] < b.at[n] + 0x300 ? 0 : b.len[i];
        }
        b.total += b.len[i];
    }
    b.args[0] = iovs;
    b.args[1] = b.parts;
    if (b.parts == 1 && random_below(2)) {
        b.args[0] = b.at[0];
        b.args[1] = LEN(b.len[0]);
    }
    iov_t *iov = world_at(t, iovs);
    for (unsigned i = 0; i < b.parts; i++) {
        SETIOV(&iov[i], b.at[i], b.len[i]);
    }
    return b;
}

/* Where byte n of the buffer is. */
static uint8_t *byte_of(const struct thread *t, const struct buffer *b, size_t n)
{
    for (unsigned i = 0; i < b->parts; i++) {
        if (n < b->len[i]) {
            return (uint8_t *)world_at(t, b->at[i]) + n;
        }
        n -= b->len[i];
    }
    return NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What the copy must make of the destination's memory, for comparison with what it did. */
static uint8_t model[DATA];

static void model_copy(const struct thread *dst, const struct buffer *to, size_t dst_offset,
                       const struct thread *src, const struct buffer *from, size_t src_offset,
                       size_t bytes)
{
    const uint8_t *base = world_at(dst, FAKE_VADDR);
    memcpy(model, base, DATA);
    for (size_t i = 0; i < bytes; i++) {
        model[byte_of(dst, to, dst_offset + i) - base] = *byte_of(src, from, src_offset + i);
    }
}

static void model_holds(const struct thread *dst)
{
    assert_memory_equal((uint8_t *)world_at(dst, AT(0x10)), model + 0x1000, DATA - 0x1000);
}

static void message_of_parts(void)
{
    const struct buffer out = random_buffer(client, AT(4)), in = random_buffer(server, AT(4));
    const struct buffer back = random_buffer(client, AT(6)), answer = random_buffer(server, AT(6));
    const uintptr_t rargs[6] = {1, in.args[0], in.args[1], AT(1)};
    bool first = random_below(2);
    fill(client, AT(0x10), 0x2000, random_below(256));
    model_copy(server, &in, 0, client, &out, 0, least(in.total, out.total));
    if (first) {
        assert_int_equal(world_call(server, KER_MSG_RECEIVEV, rargs), BLOCKED);
    }
    assert_int_equal(
        CALL(client, MSG_SENDV, 0, out.args[0], out.args[1], back.args[0], back.args[1]), BLOCKED);
    long rcvid = first ? world_result(server) : world_call(server, KER_MSG_RECEIVEV, rargs);
    assert_true(rcvid > 0);
    model_holds(server);
    const struct _msg_info *info = world_at(server, AT(1));
    assert_int_equal(info->msglen, least(in.total, out.total));
    assert_int_equal(info->srcmsglen, out.total);
    assert_int_equal(info->dstmsglen, back.total);
    /* more of it, from anywhere; something into the reply; the reply */
    size_t offset = random_below(1500), left = out.total > offset ? out.total - offset : 0;
    model_copy(server, &in, 0, client, &out, offset, least(in.total, left));
    assert_int_equal(CALL(server, MSG_READV, (uintptr_t)rcvid, in.args[0], in.args[1], offset, 0),
                     least(in.total, left));
    model_holds(server);
    left = back.total > offset ? back.total - offset : 0;
    model_copy(client, &back, offset, server, &answer, 0, least(answer.total, left));
    assert_int_equal(
        CALL(server, MSG_WRITEV, (uintptr_t)rcvid, answer.args[0], answer.args[1], offset, 0),
        least(answer.total, left));
    model_holds(client);
    fill(server, AT(0x10), 0x2000, random_below(256));
    model_copy(client, &back, 0, server, &answer, 0, least(answer.total, back.total));
    assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 5, answer.args[0], answer.args[1]),
                     0);
    assert_int_equal(world_result(client), 5);
    model_holds(client);
}

static void test_model(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        message_of_parts();
    }
}

/* Never more than a piece at a time, and the lock is let go in between. */
static void test_pieces(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        at_window(0, NULL);
        if (first) {
            receive(server, LONG);
        }
        send(client, LONG, LONG);
        long rcvid = first ? world_result(server) : receive(server, LONG);
        /* with the receiver first, the whole copy is made at its way out */
        assert_int_equal(windows, PIECES - 1 + (unsigned)first);
        CALL(server, MSG_READV, (uintptr_t)rcvid, AT(0x10), LEN(LONG), 0, 0);
        assert_int_equal(windows, 2 * (PIECES - 1) + (unsigned)first);
        CALL(server, MSG_WRITEV, (uintptr_t)rcvid, AT(0x10), LEN(LONG), 0, 0);
        assert_int_equal(windows, 3 * (PIECES - 1) + (unsigned)first);
        CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, AT(0x10), LEN(LONG));
        assert_int_equal(windows, 4 * (PIECES - 1) + (unsigned)first);
        assert_int_equal(world_result(client), 0);
    }
}

/* A process sends to itself, within the same bytes: whatever is in them, nothing else changes. */
static void test_overlap(void **state)
{
    (void)state;
    CALL(server, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    for (int shift = -300; shift <= 300; shift += 60) {
        uint8_t *p = world_at(server, AT(0x10));
        fill(server, AT(0x10), 0x1000, 1);
        CALL(server2, MSG_SENDV, 0, AT(0x18), LEN(700), AT(0x18), LEN(700));
        long rcvid = CALL(server, MSG_RECEIVEV, 1, AT(0x18) + (uintptr_t)shift, LEN(700), 0);
        assert_true(rcvid > 0);
        for (int i = 0; i < 0x1000; i++) {
            if (i < 0x800 + shift || i >= 0x800 + shift + 700) {
                assert_int_equal(p[i], (uint8_t)(1 + i * 7 + (i >> 8)));
            }
        }
        assert_int_equal(p[0x800 + shift], (uint8_t)(1 + 0x800 * 7 + 8));
        CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, AT(0x18), LEN(700));
        assert_int_equal(world_result(server2), 0);
    }
}

/* A buffer goes on in the next mapping, which lies elsewhere in memory. */
static void test_two_mappings(void **state)
{
    (void)state;
    uintptr_t gap = (uintptr_t)CALL(client, MEM_MAP, 256, 3);
    uintptr_t first = (uintptr_t)CALL(client, MEM_MAP, 256, 3);
    CALL(client2, MEM_MAP, 256, 0); /* nobody's memory in between */
    CALL(client, MEM_UNMAP, gap, 256);
    uintptr_t second = (uintptr_t)CALL(client, MEM_MAP, 256, 3);
    fill(client, first + 200, 56, 3);
    fill(client, second, 256, 9);
    iov_t *iov = world_at(client, AT(1));
    SETIOV(&iov[0], first + 200, 56);
    SETIOV(&iov[1], second, 256);
    CALL(client, MSG_SENDV, 0, AT(1), 2, 0, 0);
    assert_true(receive(server, 500) > 0);
    assert_memory_equal(world_at(server, AT(0x10)), world_at(client, first + 200), 56);
    assert_memory_equal(world_at(server, AT(0x10) + 56), world_at(client, second), 256);
}

/* ---- lengths --------------------------------------------------------------------------------- */

static void test_lengths(void **state)
{
    (void)state;
    iov_t *iov = world_at(client, AT(1));
    const struct {
        size_t len[3];
        long parts, result;
    } rows[] = {
        {{0, 0, 0}, 3, BLOCKED},
        {{0x7fffffff, 0, 0}, 3, BLOCKED}, /* a fault only when it is copied */
        {{0x7fffffff, 1, 0}, 3, -EOVERFLOW},
        {{0x80000000u, 0, 0}, 1, -EOVERFLOW},
        {{SIZE_MAX, 2, 0}, 2, -EOVERFLOW},
        {{SIZE_MAX, SIZE_MAX, 3}, 3, -EOVERFLOW},
        {{1, SIZE_MAX - 1, 3}, 3, -EOVERFLOW},
        {{8, 8, 8}, KYMO_IOV_MAX + 1, -EOVERFLOW},
        {{8, 8, 8}, LONG_MAX, -EOVERFLOW},
        {{8, 8, 8}, LONG_MIN, -EOVERFLOW},
        {{8, 8, 8}, -0x80000000L, -EOVERFLOW},
        {{8, 8, 8}, LONG_MIN + 1, -EOVERFLOW},
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (unsigned n = 0; n < 3; n++) {
            SETIOV(&iov[n], AT(0x10), rows[i].len[n]);
        }
        uintptr_t parts = (uintptr_t)rows[i].parts;
        assert_int_equal(CALL(client, MSG_SENDV, 0, AT(1), parts, 0, 0), rows[i].result);
        if (rows[i].result == BLOCKED) {
            long rcvid = receive(server, 0);
            assert_true(rcvid > 0);
            CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, 0, 0);
        }
        assert_int_equal(CALL(client, MSG_SENDV, 0, 0, 0, AT(1), parts), rows[i].result);
        if (rows[i].result == BLOCKED) {
            CALL(server, MSG_REPLYV, (uintptr_t)receive(server, 0), 0, AT(0x10), LEN(0));
        } else {
            memcpy(world_at(server, AT(1)), iov, 3 * sizeof(*iov));
            assert_int_equal(CALL(server, MSG_RECEIVEV, 1, AT(1), parts, 0), rows[i].result);
            send(client, 8, 8);
            uintptr_t id = (uintptr_t)receive(server, 8);
            memcpy(world_at(server, AT(1)), iov, 3 * sizeof(*iov));
            assert_int_equal(CALL(server, MSG_REPLYV, id, 0, AT(1), parts), rows[i].result);
            assert_int_equal(CALL(server, MSG_READV, id, AT(1), parts, 0, 0), rows[i].result);
            assert_int_equal(CALL(server, MSG_WRITEV, id, AT(1), parts, 0, 0), rows[i].result);
            CALL(server, MSG_ERROR, id, 0);
        }
    }
}

/* 64 parts, most of them empty. */
static void test_many_parts(void **state)
{
    (void)state;
    iov_t *iov = world_at(client, AT(4));
    for (unsigned i = 0; i < KYMO_IOV_MAX; i++) {
        SETIOV(&iov[i], i % 9 ? NOWHERE : AT(0x10) + i, i % 9 ? 0 : 1);
    }
    fill(client, AT(0x10), 64, 5);
    CALL(client, MSG_SENDV, 0, AT(4), KYMO_IOV_MAX, 0, 0);
    assert_true(receive(server, 100) > 0);
    assert_int_equal(((struct _msg_info *)world_at(server, AT(1)))->msglen, 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(((uint8_t *)world_at(server, AT(0x10)))[i],
                         ((uint8_t *)world_at(client, AT(0x10)))[9 * i]);
    }
}

/* ---- memory that isn't there ------------------------------------------------------------------
 */

/* The message's memory ends at byte k: the sender hears it, the receiver goes on waiting. */
static void test_source_ends(void **state)
{
    (void)state;
    for (size_t k = 0; k < LONG; k += k < 300 ? 37 : 131) {
        uintptr_t from = RO + 4096 - k;
        assert_int_equal(CALL(client, MSG_SENDV, 0, from, LEN(LONG), 0, 0), BLOCKED);
        assert_int_equal(receive(server, LONG), BLOCKED);
        assert_int_equal(world_result(client), -EFAULT);
        CALL(client, MSG_SENDV, 0, from, LEN(LONG), 0, 0);
        assert_int_equal(world_result(client), -EFAULT);
        assert_int_equal(server->state, STATE_RECEIVE);
        assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0x10), LEN(LONG), 0, 0), BLOCKED);
        uintptr_t rcvid = (uintptr_t)world_result(server);
        assert_int_equal(client->state, STATE_REPLY);
        assert_int_equal(CALL(server, MSG_REPLYV, rcvid, 0, from, LEN(k + 1)), 0);
        assert_int_equal(world_result(client), 0); /* no room was wanted: nothing was read */
    }
}

/* The receiver's memory can't be written from byte k on: it hears it, the message waits for
 * another. The same for the answer, with the sides exchanged. */
static void test_destination_ends(void **state)
{
    (void)state;
    for (size_t k = 0; k < LONG; k += k < 300 ? 37 : 131) {
        uintptr_t to = RO - k;
        fill(client, AT(0x10), LONG, (unsigned)k);
        bool first = k & 1;
        if (first) {
            assert_int_equal(CALL(server, MSG_RECEIVEV, 1, to, LEN(LONG), 0), BLOCKED);
        }
        assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0x10), LEN(LONG), to, LEN(LONG)), BLOCKED);
        assert_int_equal(first ? world_result(server)
                               : CALL(server, MSG_RECEIVEV, 1, to, LEN(LONG), 0),
                         -EFAULT);
        assert_int_equal(client->state, STATE_SEND);
        uintptr_t rcvid = (uintptr_t)receive(server, LONG);
        assert_memory_equal(world_at(server, AT(0x10)), world_at(client, AT(0x10)), LONG);
        assert_int_equal(CALL(server, MSG_READV, rcvid, to, LEN(LONG), 0, 0), -EFAULT);
        assert_int_equal(CALL(server, MSG_WRITEV, rcvid, AT(0x10), LEN(LONG), 0, 0), -EFAULT);
        assert_int_equal(client->state, STATE_REPLY);
        assert_int_equal(CALL(server, MSG_REPLYV, rcvid, 0, RO + 4096 - k, LEN(LONG)), -EFAULT);
        assert_int_equal(client->state, STATE_REPLY);
        assert_int_equal(CALL(server, MSG_REPLYV, rcvid, 0, AT(0x10), LEN(LONG)), 0);
        assert_int_equal(world_result(client), -EFAULT);
    }
}

/* ---- between two pieces -------------------------------------------------------------------------
 */

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
            send(client, LONG, LONG);
        }
        at_window(first ? n - (PIECES - 1) : n, what);
        if (first) {
            send(client, LONG, LONG);
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
    send(other, 100, 0);
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

/* The receiver's parts change under the copy: the receiver may get an error, its client waits on.
 */
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
        send(client, LONG, 0);
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
    send(client, LONG, 0);
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
        send(client, 8, LONG);
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

/* The memory where a message or a reply should go is another process's by now. */
static void test_memory_of_another(void **state)
{
    (void)state;
    for (int reply = 0; reply < 2; reply++) {
        struct thread *waits = reply ? client : server, *helper = reply ? client2 : server2;
        if (reply) {
            assert_int_equal(send(client, 8, 8), BLOCKED);
            assert_int_equal(receive(server, 8), client->rcvid);
        } else {
            assert_int_equal(receive(server, 8), BLOCKED);
        }
        const uint8_t *memory = world_at(waits, FAKE_VADDR);
        assert_int_equal(CALL(helper, MEM_UNMAP, FAKE_VADDR, DATA), 0);
        struct thread *other = world_process(0, 1, DATA);
        assert_ptr_equal(world_at(other, FAKE_VADDR), memory);
        memset(world_at(other, FAKE_VADDR), 0x11, DATA);
        if (reply) {
            assert_int_equal(CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 0, AT(0), LEN(8)),
                             0);
        } else {
            assert_int_equal(send(client, 8, 8), BLOCKED);
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
    send(client, LONG, LONG);
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
    send(client, LONG, LONG);
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
        assert_int_equal(send(client, bytes, 8), BLOCKED);
        assert_int_equal(world_result(server), client->rcvid);
        CALL(server, MSG_REPLYV, (uintptr_t)client->rcvid, 1, 0, 0);
        assert_int_equal(world_result(client), 1);
        CALL(client, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_SEND, 0, 0, 0);
        assert_int_equal(send(client, bytes, 8), -ETIMEDOUT);
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
        send(client, LONG, 8);
        world_advance(1);
        assert_int_equal(world_result(client), -ETIMEDOUT);
        server = bad ? server : server2;
        server2 = bad ? server2 : world_thread(server, 10);
    }
}

static int boot(void **state)
{
    (void)state;
    random_start();
    world_boot();
    return 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_model),
        CASE(test_pieces),
        CASE(test_overlap),
        CASE(test_two_mappings),
        CASE(test_lengths),
        CASE(test_many_parts),
        CASE(test_source_ends),
        CASE(test_destination_ends),
        CASE(test_client_killed),
        CASE(test_client_ends),
        CASE(test_client_cancelled),
        CASE(test_connection_closed),
        CASE(test_server_thread_ends),
        CASE(test_server_killed),
        CASE(test_channel_destroyed),
        CASE(test_second_receiver),
        CASE(test_parts_change),
        CASE(test_parts_change_match),
        CASE(test_reply_overtaken),
        CASE(test_unmapped),
        CASE(test_memory_of_another),
        CASE(test_receive_timeout),
        CASE(test_send_at_once),
        CASE(test_send_at_once_given_back),
    };
    return cmocka_run_group_tests(tests, boot, NULL);
}
