/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg:::receive, read and write, which have no event of their own: the server's kernel call fires
 * them as it returns. Who the client is, its SND_MESSAGE has told: a rcvid is one of a client's
 * thread. See after.h.
 */
#include "host/after/after.h"

enum {
#define KERCALL(number, NAME, ...) KER_##NAME = (number),
#include "abi/kercalls.def"
#undef KERCALL
};
enum { CLIENTS = 1 << 13 }; /* one for each index of a thread in a rcvid */

static struct client {
    uint32_t rcvid;
    int32_t pid; /* 0: none has sent with it */
} clients[CLIENTS];
static uint32_t after_messages_state_epoch = 1;

bool after_site_of_message(unsigned site)
{
    return site == TRACE_EV_msg_receive || site == TRACE_EV_msg_read || site == TRACE_EV_msg_write;
}

void after_message_sent(uint32_t rcvid, int32_t pid)
{
    clients[rcvid % CLIENTS] = (struct client){rcvid, pid};
}

void after_messages_forget(void)
{
    after_messages_state_epoch++;
}

static int32_t after_messages_client_of(uint32_t rcvid)
{
    const struct client *c = &clients[rcvid % CLIENTS];

    return c->rcvid == rcvid ? c->pid : 0;
}

/* Only calls of a rcvid are remembered; any other one ends what was. */
void after_message_call(unsigned call, uint32_t first)
{
    struct after_thread *t = after_now.thread;

    t->rcvid = call == KER_MSG_READV || call == KER_MSG_WRITEV ? first : 0;
    t->rcvid_epoch = after_messages_state_epoch;
}

void after_message_return(unsigned call, int64_t result)
{
    struct after_thread *t = after_now.thread;
    bool moved = call == KER_MSG_READV || call == KER_MSG_WRITEV;
    uint32_t rcvid = !moved                                         ? (uint32_t)result
                     : t->rcvid_epoch == after_messages_state_epoch ? t->rcvid
                                                                    : 0;
    int32_t pid = after_messages_client_of(rcvid);
    const uint64_t words[AFTER_WORDS] = {rcvid, (uint32_t)pid, (uint64_t)result};
    uint32_t present = ~0u & ~(rcvid ? 0u : 1u) & ~(pid ? 0u : 2u);

    if (moved && result >= 0) {
        t->rcvid = 0;
        after_fire(call == KER_MSG_READV ? TRACE_EV_msg_read : TRACE_EV_msg_write, words, present);
    } else if (call == KER_MSG_RECEIVEV && result > 0) {
        after_fire(TRACE_EV_msg_receive, words, present);
    }
}
