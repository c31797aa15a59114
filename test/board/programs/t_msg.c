/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages: every form of send, receive, reply, read and write, their lengths and errors. */
#include "test/board/programs/check.h"

#include <stdlib.h>

/* What the server does with the next message. */
enum act { ECHO, STATUS, FAIL, READ_BACK, WRITE_PARTS, TELL, HANG, STOP };
struct ask {
    uint16_t type; /* not 0: no pulse */
    uint16_t act;
    int32_t value;
    char text[24];
};

static struct link to;
static struct _msg_info seen; /* of the last message */
static int server_priority;   /* while it served it */

static void serve(int rcvid, struct ask *ask)
{
    struct ask back;

    switch ((enum act)ask->act) {
    case ECHO:
        MsgReply(rcvid, ask->value, ask, sizeof(*ask));
        break;
    case STATUS:
        MsgReply(rcvid, ask->value, NULL, 0);
        break;
    case FAIL:
        MsgError(rcvid, ask->value);
        break;
    case READ_BACK: /* the client's bytes again, from offset value */
        MsgReply(rcvid, MsgRead(rcvid, &back, sizeof(back), (size_t)ask->value), &back,
                 sizeof(back));
        break;
    case WRITE_PARTS:
        EXPECT_EQ(MsgWrite(rcvid, "second", 6, 5), 6);
        EXPECT_EQ(MsgWrite(rcvid, "first", 5, 0), 5);
        EXPECT_EQ(MsgWrite(rcvid, "x", 1, 1000), 0);
        MsgReply(rcvid, 0, NULL, 0);
        break;
    case TELL:
        EXPECT_EQ(MsgInfo(rcvid, &seen), 0);
        MsgReply(rcvid, 0, NULL, 0);
        break;
    case HANG:
    case STOP:
        MsgReply(rcvid, 0, NULL, 0);
        break;
    }
}

static void *server(void *unused)
{
    struct ask ask;

    (void)unused;
    do {
        int rcvid = MsgReceive(to.chid, &ask, sizeof(ask), &seen);

        EXPECT(rcvid > 0);
        server_priority = own_priority();
        serve(rcvid, &ask);
    } while (ask.act != STOP);
    return NULL;
}

static long ask(enum act act, int value, struct ask *back)
{
    struct ask a = {.type = 1, .act = act, .value = value, .text = "abcdefghijklmnopqrstuvw"};

    memset(back, 0, sizeof(*back));
    return MsgSend(to.coid, &a, sizeof(a), back, sizeof(*back));
}

/* Runs body with a server thread of the given priority. */
static void with_server(int priority, void (*body)(void))
{
    struct ask back;
    int tid;

    to = make_link(0);
    tid = start_thread(server, NULL, priority);
    body();
    EXPECT_EQ(ask(STOP, 0, &back), 0);
    join(tid);
    drop_link(&to);
}

static void echo(void)
{
    struct ask back;

    EXPECT_EQ(ask(ECHO, 7, &back), 7);
    EXPECT_EQ(back.value, 7);
    EXPECT_EQ(strcmp(back.text, "abcdefghijklmnopqrstuvw"), 0);
    EXPECT_EQ(ask(ECHO, 0, &back), 0);
}

static void statuses(void)
{
    struct ask back;

    EXPECT_EQ(ask(STATUS, 123456789, &back), 123456789);
    EXPECT_EQ(ask(STATUS, -5, &back), -5);
    EXPECT_ERR(ask(FAIL, EPIPE, &back), EPIPE);
    EXPECT_ERR(ask(FAIL, 4000, &back), 4000);
}

static void read_write(void)
{
    struct ask back;
    char out[16] = "...............";
    struct ask a = {.type = 1, .act = WRITE_PARTS};

    EXPECT_EQ(ask(READ_BACK, 8, &back), sizeof(struct ask) - 8);
    EXPECT_EQ(memcmp(&back, "abcdefgh", 8), 0);
    EXPECT_EQ(ask(READ_BACK, sizeof(struct ask), &back), 0);
    EXPECT_EQ(ask(READ_BACK, 5000, &back), 0);
    EXPECT_EQ(MsgSend(to.coid, &a, sizeof(a), out, sizeof(out)), 0);
    EXPECT_EQ(memcmp(out, "firstsecond....", 15), 0);
}

static void lengths(void)
{
    struct ask a = {.type = 1, .act = TELL};
    char out[3];

    EXPECT_EQ(MsgSend(to.coid, &a, sizeof(a), out, sizeof(out)), 0);
    EXPECT_EQ(seen.pid, self_pid());
    EXPECT_EQ(seen.tid, self_tid());
    EXPECT_EQ(seen.chid, to.chid);
    EXPECT_EQ(seen.coid, to.coid);
    EXPECT_EQ(seen.srcmsglen, sizeof(a));
    EXPECT_EQ(seen.dstmsglen, sizeof(out));
    EXPECT_EQ(seen.msglen, sizeof(a));
    EXPECT_EQ(seen.priority, own_priority());
    EXPECT_EQ(MsgSend(to.coid, &a, 8, NULL, 0), 0); /* shorter than the server takes */
    EXPECT_EQ(seen.srcmsglen, 8);
    EXPECT_EQ(seen.dstmsglen, 0);
}

static void truncation(void)
{
    struct ask a = {.type = 1, .act = ECHO, .value = 3};
    char out[9] = "........";

    EXPECT_EQ(MsgSend(to.coid, &a, sizeof(a), out, 4), 3);
    EXPECT_EQ(memcmp(out, &a, 4), 0);
    EXPECT_EQ(memcmp(out + 4, "....", 4), 0);
}

static void inherits(void)
{
    struct ask back;

    EXPECT_EQ(ask(ECHO, 0, &back), 0);
    EXPECT_EQ(server_priority, own_priority()); /* its own is 5 */
}

static void t_echo(void)
{
    with_server(0, echo);
}
static void t_statuses(void)
{
    with_server(0, statuses);
}
static void t_read_write(void)
{
    with_server(20, read_write);
}
static void t_lengths(void)
{
    with_server(0, lengths);
}
static void t_truncation(void)
{
    with_server(0, truncation);
}
static void t_inherits(void)
{
    with_server(5, inherits);
}

/* ---- vectors ----------------------------------------------------------------------- */

#define LONG_BYTES 10000 /* more than one copy chunk on every board */
static unsigned char *out_bytes, *in_bytes;

/* Cuts the buffer into parts of uneven lengths, empty ones among them. */
static unsigned cut(iov_t *iov, unsigned max, unsigned char *buf, size_t len, size_t step)
{
    unsigned n = 0;

    for (size_t at = 0; at < len && n < max - 1; n++) {
        size_t part = n % 5 == 3 ? 0 : step + n;

        part = part < len - at ? part : len - at;
        SETIOV(&iov[n], buf + at, part);
        at += part;
        if (n == max - 2) {
            SETIOV(&iov[n], buf + at - part, len - at + part);
        }
    }
    return n;
}

static void *vector_server(void *unused)
{
    iov_t iov[KYMO_IOV_MAX];
    unsigned n = cut(iov, KYMO_IOV_MAX, in_bytes, LONG_BYTES, 333);
    int rcvid = MsgReceivev(to.chid, iov, n, &seen);

    (void)unused;
    EXPECT(rcvid > 0);
    EXPECT_EQ(seen.msglen, LONG_BYTES);
    n = cut(iov, KYMO_IOV_MAX, in_bytes, LONG_BYTES, 701);
    EXPECT_EQ(MsgReplyv(rcvid, 1, iov, n), 0);
    return NULL;
}

static void t_vectors(void)
{
    iov_t siov[KYMO_IOV_MAX], riov[KYMO_IOV_MAX];
    unsigned char *back = malloc(LONG_BYTES);
    unsigned sn, rn;
    int tid;

    out_bytes = malloc(LONG_BYTES);
    in_bytes = malloc(LONG_BYTES);
    if (back == NULL || out_bytes == NULL || in_bytes == NULL) {
        check_fail(__FILE__, __LINE__, "no memory");
        return;
    }
    for (unsigned i = 0; i < LONG_BYTES; i++) {
        out_bytes[i] = (unsigned char)(i * 7 + i / 256);
    }
    memset(in_bytes, 0, LONG_BYTES);
    memset(back, 0, LONG_BYTES);
    to = make_link(0);
    tid = start_thread(vector_server, NULL, 0);
    sn = cut(siov, KYMO_IOV_MAX, out_bytes, LONG_BYTES, 250);
    rn = cut(riov, KYMO_IOV_MAX, back, LONG_BYTES, 499);
    EXPECT_EQ(MsgSendv(to.coid, siov, sn, riov, rn), 1);
    EXPECT_EQ(memcmp(in_bytes, out_bytes, LONG_BYTES), 0);
    EXPECT_EQ(memcmp(back, out_bytes, LONG_BYTES), 0);
    join(tid);
    drop_link(&to);
    free(back);
    free(out_bytes);
    free(in_bytes);
}

static void mixed_forms(void)
{
    struct ask a = {.type = 1, .act = ECHO, .value = 9, .text = "mixed"}, back = {0};
    iov_t s[2], r[2];

    SETIOV(&s[0], &a, 8);
    SETIOV(&s[1], (char *)&a + 8, sizeof(a) - 8);
    SETIOV(&r[0], &back, 10);
    SETIOV(&r[1], (char *)&back + 10, sizeof(back) - 10);
    EXPECT_EQ(MsgSendsv(to.coid, &a, sizeof(a), r, 2), 9);
    EXPECT_EQ(memcmp(&a, &back, sizeof(a)), 0);
    memset(&back, 0, sizeof(back));
    EXPECT_EQ(MsgSendvs(to.coid, s, 2, &back, sizeof(back)), 9);
    EXPECT_EQ(memcmp(&a, &back, sizeof(a)), 0);
    EXPECT_EQ(MsgSendnc(to.coid, &a, sizeof(a), &back, sizeof(back)), 9);
    EXPECT_EQ(MsgSendvnc(to.coid, s, 2, r, 2), 9);
    EXPECT_EQ(MsgSendsvnc(to.coid, &a, sizeof(a), r, 2), 9);
    EXPECT_EQ(MsgSendvsnc(to.coid, s, 2, &back, sizeof(back)), 9);
}

static void t_forms(void)
{
    with_server(0, mixed_forms);
}

static const struct check table[] = {
    {"echo", t_echo},       {"statuses", t_statuses},     {"read and write", t_read_write},
    {"lengths", t_lengths}, {"truncation", t_truncation}, {"priority inheritance", t_inherits},
    {"vectors", t_vectors}, {"all forms", t_forms},
};

int main(void)
{
    return check_run("msg", table, COUNT(table));
}
