/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See listen.h. The listener is notified by a pulse and then asks: the console never waits for it.
 * The kernel's output goes to the device directly; it is fetched here whenever a listener asks, and
 * before other text while there is a listener, so that the order is kept.
 */
#include "apps/console/listen.h"

#include <errno.h>
#include <stdbool.h>

#include "abi/sys/kymo.h"

#define RING 2048 /* bytes kept, a power of 2 */

static char ring[RING];
static uint64_t written; /* on the console, in all */
static uint64_t kernels; /* ConsoleRead()'s position */
static bool listened;    /* a listener has asked */
static int listener;     /* connection to the last listener, 0: none; kept while it asks again */
static int listener_pid, listener_chid, listener_code;
static bool listener_waits; /* for a pulse */

static void keep(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        ring[written++ % RING] = text[i];
    }
}

static void listener_forget(void)
{
    ConnectDetach(listener);
    listener = 0;
    listener_waits = false;
}

static void keep_kernels(void)
{
    char text[64];
    long bytes;

    while ((bytes = ConsoleRead(text, sizeof(text), &kernels)) > 0) {
        keep(text, (size_t)bytes);
    }
}

void listen_begin(void)
{
    keep_kernels();
}

void listen_text(const char *text, size_t bytes)
{
    if (listened) {
        keep_kernels();
    }
    keep(text, bytes);
    if (listener_waits && bytes > 0) {
        listener_waits = false;
        /* A listener that has ended, or whose channel is full, may attach and ask again. */
        if (MsgSendPulse(listener, SIGEV_PULSE_PRIO_INHERIT, listener_code, 0) == -1) {
            listener_forget();
        }
    }
}

static void wait_for_more(int rcvid, const struct console_listen *msg, const struct _msg_info *info)
{
    if (listener > 0 && (listener_pid != info->pid || listener_chid != msg->chid)) {
        listener_forget();
    }
    if (listener == 0) {
        int coid = ConnectAttach(0, info->pid, msg->chid, _NTO_SIDE_CHANNEL, 0);

        if (coid < 0) {
            MsgError(rcvid, errno);
            return;
        }
        listener = coid;
        listener_pid = info->pid;
        listener_chid = msg->chid;
    }
    listener_code = msg->code;
    listener_waits = true;
    MsgReply(rcvid, 0, NULL, 0);
}

void listen_message(int rcvid, const struct console_listen *msg, const struct _msg_info *info)
{
    listened = true;
    keep_kernels();
    uint64_t oldest = written > RING ? written - RING : 0;
    struct console_heard heard = {msg->position < oldest ? oldest : msg->position};
    iov_t parts[3];

    if (heard.position >= written || info->dstmsglen <= sizeof(heard)) {
        wait_for_more(rcvid, msg, info);
        return;
    }
    size_t count = (size_t)(written - heard.position);
    size_t room = info->dstmsglen - sizeof(heard);
    count = count < room ? count : room;
    size_t at = (size_t)(heard.position % RING);
    size_t first = count < RING - at ? count : RING - at;
    SETIOV(&parts[0], &heard, sizeof(heard));
    SETIOV(&parts[1], ring + at, first);
    SETIOV(&parts[2], ring, count - first);
    MsgReplyv(rcvid, (long)count, parts, 3);
}
