/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See listen.h. The listener is notified by a pulse and then requests the text: the console never
 * waits for it. The kernel keeps the newest output, its own and the programs', in the order in
 * which it was sent.
 */
#include "apps/console/listen.h"

#include <errno.h>
#include <stdbool.h>

#include "abi/sys/kymo.h"

#define PIECE 1024 /* bytes of one reply at most */

/* connection to the newest listener, 0: none; kept while it requests again */
static int listen_receiver;
static int listener_pid, listener_chid, listener_code;
static bool listener_waits; /* for a pulse */

static void listener_forget(void)
{
    ConnectDetach(listen_receiver);
    listen_receiver = 0;
    listener_waits = false;
}

void listen_notify(void)
{
    if (listener_waits) {
        listener_waits = false;
        /* A listener that has ended, or whose channel is full, may attach and request again. */
        if (MsgSendPulse(listen_receiver, SIGEV_PULSE_PRIO_INHERIT, listener_code, 0) == -1) {
            listener_forget();
        }
    }
}

static void wait_for_more(int rcvid, const struct console_listen *msg, const struct _msg_info *info)
{
    if (listen_receiver > 0 && (listener_pid != info->pid || listener_chid != msg->chid)) {
        listener_forget();
    }
    if (listen_receiver == 0) {
        int coid = ConnectAttach(0, info->pid, msg->chid, _NTO_SIDE_CHANNEL, 0);

        if (coid < 0) {
            MsgError(rcvid, errno);
            return;
        }
        listen_receiver = coid;
        listener_pid = info->pid;
        listener_chid = msg->chid;
    }
    listener_code = msg->code;
    listener_waits = true;
    MsgReply(rcvid, 0, NULL, 0);
}

void listen_message(int rcvid, const struct console_listen *msg, const struct _msg_info *info)
{
    static char text[PIECE];
    size_t room = info->dstmsglen > sizeof(struct console_heard)
                      ? info->dstmsglen - sizeof(struct console_heard)
                      : 0;
    uint64_t position = msg->position;
    size_t count = 0;
    long bytes;

    room = room < sizeof(text) ? room : sizeof(text);
    while ((bytes = ConsoleRead(text + count, room - count, &position)) > 0) {
        count += (size_t)bytes;
    }
    if (count == 0) {
        wait_for_more(rcvid, msg, info);
        return;
    }
    struct console_heard heard = {position - count};
    iov_t parts[2];
    SETIOV(&parts[0], &heard, sizeof(heard));
    SETIOV(&parts[1], text, count);
    MsgReplyv(rcvid, (long)count, parts, 2);
}
