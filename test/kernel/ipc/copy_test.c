/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages as bytes: copies in pieces between buffers of many parts against a byte-wise model,
 * memory that isn't there, lengths that are none.
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
#include "test/tool/random.h"

#define NONE SIZE_MAX

/* ---- against a model --------------------------------------------------------------- */

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
        send_long(client, LONG, LONG);
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

static unsigned moved_sites;

static void count_moved(unsigned id, const uint64_t *words)
{
    if (id == TRACE_EV_msg_read || id == TRACE_EV_msg_write) {
        assert_int_equal(words[2], LONG);
        moved_sites++;
    }
}

/* D's probes read and write: one each, however many pieces. */
static void test_probes_of_pieces(void **state)
{
    (void)state;
    at_window(0, NULL);
    send_long(client, LONG, LONG);
    long rcvid = receive(server, LONG);
    fake_site = count_moved;
    moved_sites = 0;
    CALL(server, MSG_READV, (uintptr_t)rcvid, AT(0x10), LEN(LONG), 0, 0);
    assert_int_equal(moved_sites, 1);
    CALL(server, MSG_WRITEV, (uintptr_t)rcvid, AT(0x10), LEN(LONG), 0, 0);
    assert_int_equal(moved_sites, 2);
    fake_site = NULL;
    CALL(server, MSG_REPLYV, (uintptr_t)rcvid, 0, AT(0x10), LEN(LONG));
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

/* ---- lengths ----------------------------------------------------------------------- */

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
            send_long(client, 8, 8);
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

/* ---- memory that isn't there ------------------------------------------------------- */

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

/* ---- between two pieces ------------------------------------------------------------ */

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
        CASE(test_model),      CASE(test_pieces),       CASE(test_probes_of_pieces),
        CASE(test_overlap),    CASE(test_two_mappings), CASE(test_lengths),
        CASE(test_many_parts), CASE(test_source_ends),  CASE(test_destination_ends),
    };
    return cmocka_run_group_tests(tests, boot, NULL);
}
