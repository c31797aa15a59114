/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of causes.h: messages and pulses. The server is a helper, which runs before its client; it
 * waits in MsgReceive() when the step begins.
 */
#include "test/board/programs/causes.h"

static struct link to;
static char text[16] = "sixteen bytes..";

static void tell_client(int rcvid, const struct _msg_info *info)
{
    fact("rcvid", (uint64_t)rcvid);
    fact("scoid", (uint64_t)info->scoid);
}

/* Of 16 bytes sent 4 are received; 5 are read from 3 on, 6 written at 2. */
static void *answers(void *unused)
{
    struct _msg_info info;
    char part[8];
    int rcvid = MsgReceive(to.chid, part, 4, &info);

    tell_client(rcvid, &info);
    EXPECT_EQ(MsgRead(rcvid, part, 5, 3), 5);
    EXPECT_EQ(MsgWrite(rcvid, part, 6, 2), 6);
    EXPECT_EQ(MsgReply(rcvid, 21, text, 1), 0);
    return unused;
}

void cause_message(void)
{
    to = make_link(0);
    int tid = helper(answers, NULL);

    fact("server", (uint64_t)tid);
    EXPECT_EQ(MsgSend(to.coid, text, sizeof(text), text, sizeof(text)), 21);
    join(tid);
    drop_link(&to);
}

/* Nobody receives yet when it is sent: this thread does, and answers with an error. */
static void *sends(void *unused)
{
    MsgSend(to.coid, text, 3, NULL, 0);
    return unused;
}

void cause_refused(void)
{
    struct _msg_info info;
    char part[8];

    to = make_link(0);
    int tid = helper(sends, NULL);
    fact("client", (uint64_t)tid);
    int rcvid = MsgReceive(to.chid, part, sizeof(part), &info);
    fact("refused_rcvid", (uint64_t)rcvid);
    MsgError(rcvid, ENOSYS);
    join(tid);
    drop_link(&to);
}

static void take_pulse(const char *name)
{
    struct _pulse pulse;

    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    fact(name, (uint64_t)(uint32_t)pulse.scoid);
}

void cause_pulse(void)
{
    to = make_link(0);
    EXPECT_EQ(MsgSendPulse(to.coid, 10, 5, 77), 0);
    take_pulse("pulse_scoid");
    drop_link(&to);
}

/* MsgDeliverEvent(): its client waits for the reply meanwhile. */
static void *waits_for_event(void *unused)
{
    struct sigevent event = {0};

    SIGEV_PULSE_INIT(&event, to.coid, 10, 9, 99);
    MsgSend(to.coid, &event, sizeof(event), NULL, 0);
    return unused;
}

void cause_event(void)
{
    struct sigevent event;

    to = make_link(0);
    int tid = helper(waits_for_event, NULL);
    int rcvid = MsgReceive(to.chid, &event, sizeof(event), NULL);
    EXPECT_EQ(MsgDeliverEvent(rcvid, &event), 0);
    take_pulse("event_scoid");
    MsgReply(rcvid, 0, NULL, 0);
    join(tid);
    drop_link(&to);
}

void cause_disconnect(void)
{
    to = make_link(_NTO_CHF_DISCONNECT);
    EXPECT_EQ(MsgSendPulse(to.coid, 10, 5, 77), 0);
    take_pulse("leaving_scoid");
    EXPECT_EQ(ConnectDetach(to.coid), 0);
    take_pulse("gone_scoid");
    EXPECT_EQ(ConnectDetach(to.coid), -1);
    EXPECT_EQ(ChannelDestroy(to.chid), 0);
}

static void *ends(void *unused)
{
    return unused;
}

/* A thread of this process ends: the channel is told, by scoid 0. */
void cause_dead(void)
{
    to = make_link(_NTO_CHF_THREAD_DEATH);
    int tid = helper(ends, NULL);

    fact("dead", (uint64_t)tid);
    take_pulse("dead_scoid");
    join(tid);
    drop_link(&to);
}

static void *impatient(void *unused)
{
    uint64_t ns = MS;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_REPLY, NULL, &ns, NULL);
    MsgSend(to.coid, text, 1, NULL, 0);
    return unused;
}

void cause_unblock(void)
{
    struct _msg_info info;
    char part[sizeof(struct _pulse)];

    to = make_link(_NTO_CHF_UNBLOCK);
    int tid = helper(impatient, NULL);
    int rcvid = MsgReceive(to.chid, part, sizeof(part), &info);
    tell_client(rcvid, &info);
    take_pulse("unblock_scoid");
    MsgError(rcvid, ETIMEDOUT);
    join(tid);
    drop_link(&to);
}
