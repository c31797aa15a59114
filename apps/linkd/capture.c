/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "capture": a program of the target (tracelogger -f link:NAME) writes, the host
 * stores. The program is blocked in its message until linkd has taken its bytes, which go from its
 * memory directly into frames; so only the waiting client is stored here. sys/linkmsg.h has the
 * program's side, lib/link/service.h the host's.
 */
#include <errno.h>
#include <string.h>
#include <sys/linkmsg.h>

#include "abi/sys/neutrino.h"
#include "apps/linkd/linkd.h"
#include "lib/link/service.h"

/* BEGINNING: its name goes to the host. WRITING: between two messages of the program's, or amid
 * one. ENDING: waits for the host's word. FAILED: the program has not asked since. */
enum phase { NONE, BEGINNING, WRITING, ENDING, FAILED };

static struct {
    enum phase phase;
    int scoid;      /* the program's, to know of its end */
    int rcvid;      /* it waits with this message, 0: it doesn't */
    int channel;    /* of the host that takes it, -1: none */
    int error;      /* FAILED: what to tell it */
    uint64_t bytes; /* of the capture, so far */
    /* The message on its way: a head, then the program's bytes from `offset` of its message on. */
    struct link_capture head;
    size_t size, at, offset;
    uint8_t piece[LINKD_FRAME_MOST];
} capture = {.channel = -1};

/* A program that waits for a host, before it begins a capture. */
static struct {
    int scoid;
    int rcvid; /* 0: none */
} waiter;

static bool hosts[LINKD_CHANNELS]; /* channels open */
static size_t told[LINKD_CHANNELS];
static struct link_capture word[LINKD_CHANNELS]; /* what the host says */

static void reply(int error, long status)
{
    int rcvid = capture.rcvid;

    capture.rcvid = 0;
    if (rcvid == 0) {
        return;
    }
    if (error) {
        MsgError(rcvid, error);
    } else {
        MsgReply(rcvid, status, NULL, 0);
    }
}

static void fail(int error)
{
    bool waits = capture.rcvid != 0;

    reply(error, 0);
    capture.channel = -1;
    capture.error = error;
    capture.phase = waits ? NONE : FAILED;
}

/* Announces a message to the host: a head, and so many bytes of the program's. */
static void announce(uint32_t kind, size_t bytes)
{
    capture.head = (struct link_capture){.kind = kind, .bytes = capture.bytes};
    capture.size = sizeof(capture.head) + bytes;
    capture.at = 0;
    capture.offset = sizeof(struct linkmsg);
    if (link_send(&linkd_link, (unsigned)capture.channel, capture.size) != 0) {
        fail(EPIPE);
    }
}

/* Returns the channel of a host that takes a capture; -1: none is connected. */
static int host_find(void)
{
    for (int i = 0; i < LINKD_CHANNELS; i++) {
        if (hosts[i]) {
            return i;
        }
    }
    return -1;
}

/* The program has gone, perhaps amid a message: the host sees its channel close. */
void capture_disconnect(int scoid)
{
    int channel = capture.channel;

    if (waiter.rcvid != 0 && scoid == waiter.scoid) {
        waiter.rcvid = 0;
    }
    if (capture.phase == NONE || scoid != capture.scoid) {
        return;
    }
    capture.phase = NONE;
    capture.rcvid = 0;
    capture.channel = -1;
    if (channel >= 0) {
        hosts[channel] = false;
        serve_close((unsigned)channel, -ECANCELED);
    }
}

/* The pulse that reports its end may still be queued behind this program's message, which has a
 * higher priority. */
static void forget_one_that_has_gone(void)
{
    struct _client_info info;

    if (capture.phase != NONE && ConnectClientInfo(capture.scoid, &info, 0) < 0) {
        capture_disconnect(capture.scoid);
    }
}

static void ask(int rcvid, const struct _msg_info *info, bool waits)
{
    struct _msg_info other;

    forget_one_that_has_gone();
    bool is_there = host_find() >= 0;
    if (capture.phase != NONE) {
        MsgError(rcvid, EBUSY);
    } else if (is_there || !waits) {
        MsgReply(rcvid, is_there, NULL, 0);
    } else if (waiter.rcvid != 0 && MsgInfo(waiter.rcvid, &other) == 0) {
        MsgError(rcvid, EBUSY);
    } else {
        waiter.scoid = info->scoid;
        waiter.rcvid = rcvid;
    }
}

static void begin(int rcvid, const struct _msg_info *info, const struct linkmsg *msg)
{
    forget_one_that_has_gone();
    if (capture.phase != NONE) {
        MsgError(rcvid, EBUSY);
        return;
    }
    if (msg->bytes == 0 || msg->bytes > LINKMSG_PATH_MOST ||
        info->srcmsglen != sizeof(*msg) + msg->bytes) {
        MsgError(rcvid, EINVAL);
        return;
    }
    capture.channel = host_find();
    if (capture.channel < 0) {
        MsgError(rcvid, EAGAIN);
        return;
    }
    capture.phase = BEGINNING;
    capture.scoid = info->scoid;
    capture.rcvid = rcvid;
    capture.bytes = 0;
    announce(LINK_CAPTURE_BEGIN, msg->bytes);
}

/* A message of the program that has begun a capture. */
static void go_on(int rcvid, const struct _msg_info *info, const struct linkmsg *msg)
{
    if (capture.scoid != info->scoid || capture.rcvid != 0) {
        MsgError(rcvid, EBUSY);
        return;
    }
    capture.rcvid = rcvid;
    if (capture.phase == FAILED) {
        fail(capture.error);
    } else if (msg->type == LINKMSG_END) {
        capture.phase = ENDING;
        announce(LINK_CAPTURE_END, 0);
    } else if (msg->bytes == 0 || msg->bytes > LINKMSG_DATA_MOST ||
               info->srcmsglen != sizeof(*msg) + msg->bytes) {
        reply(EINVAL, 0);
    } else {
        announce(LINK_CAPTURE_DATA, msg->bytes);
    }
}

void capture_message(int rcvid, const struct _msg_info *info, const void *message, size_t bytes)
{
    const struct linkmsg *msg = message;

    if (bytes < sizeof(*msg)) {
        MsgError(rcvid, EINVAL);
    } else if (msg->type == LINKMSG_BEGIN) {
        begin(rcvid, info, msg);
    } else if (msg->type == LINKMSG_ASK || msg->type == LINKMSG_WAIT) {
        ask(rcvid, info, msg->type == LINKMSG_WAIT);
    } else if (msg->type != LINKMSG_DATA && msg->type != LINKMSG_END) {
        MsgError(rcvid, ENOSYS);
    } else if (capture.phase == NONE) {
        MsgError(rcvid, EPIPE);
    } else {
        go_on(rcvid, info, msg);
    }
}

static long capture_open(unsigned channel)
{
    hosts[channel] = true;
    told[channel] = 0;
    MsgSendPulse(linkd_coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_CAPTURE, 0);
    return LINKD_CREDIT;
}

void capture_pulse(void)
{
    int rcvid = waiter.rcvid;

    if (rcvid != 0 && host_find() >= 0) {
        waiter.rcvid = 0;
        MsgReply(rcvid, 1, NULL, 0);
    }
}

static void capture_closed(unsigned channel)
{
    hosts[channel] = false;
    if (capture.channel == (int)channel) {
        fail(EPIPE);
    }
}

static void host_says(unsigned channel)
{
    if (word[channel].kind != LINK_CAPTURE_STORED || capture.channel != (int)channel) {
        return;
    }
    if (word[channel].result != 0 || capture.phase != ENDING ||
        word[channel].bytes != capture.bytes) {
        int error = word[channel].result < 0 ? -word[channel].result : EIO;

        hosts[channel] = false;
        fail(error);
        serve_close(channel, -error);
        return;
    }
    capture.phase = NONE;
    capture.channel = -1;
    reply(0, 0);
}

static void capture_data(unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                         size_t total)
{
    if (total != sizeof(word[channel])) {
        capture_closed(channel);
        serve_close(channel, -EMSGSIZE);
        return;
    }
    memcpy((uint8_t *)&word[channel] + offset, bytes, count);
    link_credit(&linkd_link, channel, link_cost(count, offset));
    if (offset + count == total) {
        host_says(channel);
    }
}

/* The program's memory is read a frame at a time. If it is gone, so is the program: its disconnect
 * follows. */
static size_t capture_fetch(unsigned channel, size_t most, const uint8_t **bytes)
{
    size_t head = sizeof(capture.head), count;

    (void)channel;
    if (capture.at < head) {
        count = most < head - capture.at ? most : head - capture.at;
        *bytes = (const uint8_t *)&capture.head + capture.at;
    } else {
        most = most < sizeof(capture.piece) ? most : sizeof(capture.piece);
        long got =
            MsgRead(capture.rcvid, capture.piece, most, capture.offset + (capture.at - head));

        if (got <= 0) {
            return 0;
        }
        count = (size_t)got;
        *bytes = capture.piece;
    }
    capture.at += count;
    return count;
}

static void capture_sent(unsigned channel)
{
    size_t bytes = capture.size - sizeof(capture.head);

    if (capture.channel != (int)channel) {
        return;
    }
    if (capture.head.kind == LINK_CAPTURE_BEGIN) {
        capture.phase = WRITING;
        reply(0, 0);
    } else if (capture.head.kind == LINK_CAPTURE_DATA) {
        capture.bytes += bytes;
        reply(0, (long)bytes);
    }
}

const struct service service_capture = {
    .name = "capture",
    .open = capture_open,
    .data = capture_data,
    .fetch = capture_fetch,
    .sent = capture_sent,
    .closed = capture_closed,
};
