/* SPDX-License-Identifier: BSD-2-Clause */
/* Pulses, events, and the ways a wait for a message ends: timeout, unblock, death, disconnect. */
#include "test/board/programs/check.h"

static struct link to;

static int receive_pulse(int chid, struct _pulse *pulse)
{
    struct _msg_info info;

    memset(pulse, 0xee, sizeof(*pulse));
    return MsgReceivePulse(chid, pulse, sizeof(*pulse), &info);
}

static void t_order(void)
{
    static const struct {
        int priority, code, value;
    } sent[] = {{10, 1, 100}, {20, 2, 200}, {10, 3, -1}, {30, 127, 0x7fffffff}, {20, 0, 5}};
    static const int order[] = {3, 1, 4, 0, 2};
    struct _pulse pulse;

    to = make_link(0);
    for (unsigned i = 0; i < COUNT(sent); i++) {
        EXPECT_EQ(MsgSendPulse(to.coid, sent[i].priority, sent[i].code, sent[i].value), 0);
    }
    for (unsigned i = 0; i < COUNT(sent); i++) {
        EXPECT_EQ(receive_pulse(to.chid, &pulse), 0);
        EXPECT_EQ(pulse.type, _PULSE_TYPE);
        EXPECT_EQ(pulse.code, sent[order[i]].code);
        EXPECT_EQ(pulse.value.sival_int, sent[order[i]].value);
        EXPECT(pulse.scoid > 0);
    }
    drop_link(&to);
}

static void *one_pulse(void *arg)
{
    struct _pulse *pulse = arg;
    struct _msg_info info;

    EXPECT_EQ(MsgReceive(to.chid, pulse, sizeof(*pulse), &info), 0);
    return NULL;
}

static void t_wakes(void)
{
    struct _pulse pulse = {0};
    int tid;

    to = make_link(0);
    tid = start_thread(one_pulse, &pulse, 0);
    wait_state(self_pid(), tid, STATE_RECEIVE);
    EXPECT_EQ(MsgSendPulse(to.coid, -1, 9, 99), 0);
    join(tid);
    EXPECT_EQ(pulse.code, 9);
    EXPECT_EQ(pulse.value.sival_int, 99);
    drop_link(&to);
}

static void arm(unsigned states, uint64_t ns)
{
    EXPECT(TimerTimeout(CLOCK_MONOTONIC, states, NULL, &ns, NULL) >= 0);
}

static void t_timeouts(void)
{
    struct _pulse pulse;
    char c = 1;
    uint64_t began = now_ns();

    to = make_link(0);
    arm(_NTO_TIMEOUT_RECEIVE, 20 * MS);
    EXPECT_ERR(receive_pulse(to.chid, &pulse), ETIMEDOUT);
    EXPECT(now_ns() - began >= 20 * MS);
    arm(_NTO_TIMEOUT_SEND | _NTO_TIMEOUT_REPLY, 10 * MS);
    EXPECT_ERR(MsgSend(to.coid, &c, 1, &c, 1), ETIMEDOUT);
    arm(_NTO_TIMEOUT_RECEIVE, 0); /* don't wait at all */
    EXPECT_ERR(receive_pulse(to.chid, &pulse), ETIMEDOUT);
    arm(_NTO_TIMEOUT_RECEIVE, 0);
    EXPECT_EQ(MsgSendPulse(to.coid, 10, 1, 1), 0); /* another call used the timeout up */
    EXPECT_EQ(receive_pulse(to.chid, &pulse), 0);
    drop_link(&to);
}

/* A client that gives up after a while, REPLY-blocked. */
static long client_result;
static int client_errno;
static void *impatient(void *unused)
{
    char c = 1;

    (void)unused;
    arm(_NTO_TIMEOUT_REPLY, 10 * MS);
    client_result = MsgSend(to.coid, &c, 1, &c, 1);
    client_errno = errno;
    return NULL;
}

static void t_unblock(void)
{
    char msg[sizeof(struct _pulse)];
    struct _msg_info info;
    struct _pulse *pulse = (struct _pulse *)msg;
    int tid, rcvid;

    to = make_link(_NTO_CHF_UNBLOCK);
    tid = start_thread(impatient, NULL, 0);
    rcvid = MsgReceive(to.chid, msg, sizeof(msg), &info);
    EXPECT(rcvid > 0);
    EXPECT_EQ(MsgReceive(to.chid, msg, sizeof(msg), &info), 0);
    EXPECT_EQ(pulse->code, _PULSE_CODE_UNBLOCK);
    EXPECT_EQ(pulse->value.sival_int, rcvid);
    wait_state(self_pid(), tid, STATE_REPLY); /* it waits until the server lets it go */
    EXPECT_EQ(MsgError(rcvid, ETIMEDOUT), 0);
    join(tid);
    EXPECT_EQ(client_result, -1);
    EXPECT_EQ(client_errno, ETIMEDOUT);
    EXPECT_ERR(MsgReply(rcvid, 0, NULL, 0), ESRCH); /* only once */
    drop_link(&to);
}

static void t_no_unblock(void)
{
    char msg[8];
    struct _msg_info info;
    int tid, rcvid;

    to = make_link(0);
    tid = start_thread(impatient, NULL, 0);
    rcvid = MsgReceive(to.chid, msg, sizeof(msg), &info);
    EXPECT(rcvid > 0);
    join(tid); /* leaves by itself */
    EXPECT_EQ(client_result, -1);
    EXPECT_EQ(client_errno, ETIMEDOUT);
    EXPECT_ERR(MsgReply(rcvid, 0, NULL, 0), ESRCH);
    EXPECT_ERR(MsgRead(rcvid, msg, 1, 0), ESRCH);
    drop_link(&to);
}

static void *patient(void *unused)
{
    char c = 1;

    (void)unused;
    client_result = MsgSend(to.coid, &c, 1, &c, 1);
    client_errno = errno;
    return NULL;
}

static void t_destroyed(void)
{
    struct _msg_info info;
    char c;
    int a;

    to = make_link(0);
    a = start_thread(patient, NULL, 0);
    wait_state(self_pid(), a, STATE_SEND);
    EXPECT_EQ(ChannelDestroy(to.chid), 0);
    join(a);
    EXPECT_EQ(client_errno, ESRCH);
    EXPECT_EQ(MsgSendPulse(to.coid, 10, 1, 1), -1);
    EXPECT(errno == ESRCH || errno == EBADF);
    EXPECT_EQ(ConnectDetach(to.coid), 0);

    to = make_link(0);
    a = start_thread(patient, NULL, 0);
    EXPECT(MsgReceive(to.chid, &c, 1, &info) > 0);
    EXPECT_EQ(ChannelDestroy(to.chid), 0); /* with a client REPLY-blocked */
    join(a);
    EXPECT_EQ(client_result, -1);
    EXPECT_EQ(client_errno, ESRCH);
    EXPECT_EQ(ConnectDetach(to.coid), 0);
}

static void t_disconnect(void)
{
    struct _pulse pulse;
    struct _msg_info info;
    char c = 1;
    int tid, rcvid;

    to = make_link(_NTO_CHF_DISCONNECT);
    tid = start_thread(patient, NULL, 0);
    rcvid = MsgReceive(to.chid, &c, 1, &info);
    EXPECT_EQ(MsgReply(rcvid, 0, NULL, 0), 0);
    join(tid);
    EXPECT_EQ(ConnectDetach(to.coid), 0);
    EXPECT_EQ(receive_pulse(to.chid, &pulse), 0);
    EXPECT_EQ(pulse.code, _PULSE_CODE_DISCONNECT);
    EXPECT_EQ(pulse.scoid, info.scoid);
    EXPECT_EQ(ChannelDestroy(to.chid), 0);
}

static void *asks_event(void *arg)
{
    struct sigevent *event = arg;

    return (void *)MsgSend(to.coid, event, sizeof(*event), NULL, 0);
}

static void t_deliver(void)
{
    struct link mine = make_link(0);
    struct sigevent event = {0}, got;
    struct _pulse pulse;
    int tid, rcvid;

    SIGEV_PULSE_INIT(&event, mine.coid, 15, 42, 4242);
    event.sigev_code = 42;
    to = make_link(0);
    tid = start_thread(asks_event, &event, 0);
    rcvid = MsgReceive(to.chid, &got, sizeof(got), NULL);
    EXPECT(rcvid > 0);
    EXPECT_EQ(MsgDeliverEvent(rcvid, &got), 0);
    EXPECT_EQ(MsgReply(rcvid, 0, NULL, 0), 0);
    EXPECT_EQ(receive_pulse(mine.chid, &pulse), 0);
    EXPECT_EQ(pulse.code, 42);
    EXPECT_EQ(pulse.value.sival_int, 4242);
    join(tid);
    drop_link(&to);
    drop_link(&mine);
}

static void *ends(void *unused)
{
    return unused;
}

static void t_thread_death(void)
{
    struct _pulse pulse;
    int tid;

    to = make_link(_NTO_CHF_THREAD_DEATH);
    tid = start_thread(ends, NULL, 0);
    EXPECT_EQ(receive_pulse(to.chid, &pulse), 0);
    EXPECT_EQ(pulse.code, _PULSE_CODE_THREADDEATH);
    EXPECT_EQ(pulse.value.sival_int, tid);
    join(tid);
    drop_link(&to);
}

static void t_exhaust(void)
{
    struct _pulse pulse;
    unsigned n = 0;

    to = make_link(0);
    while (n < 10000 && MsgSendPulse(to.coid, 10, 1, (int)n) == 0) {
        n++;
    }
    EXPECT_EQ(errno, EAGAIN);
    EXPECT(n > 16 && n < 10000);
    for (unsigned i = 0; i < n; i++) {
        EXPECT_EQ(receive_pulse(to.chid, &pulse), 0);
        EXPECT_EQ(pulse.value.sival_int, i);
    }
    EXPECT_EQ(MsgSendPulse(to.coid, 10, 1, 1), 0); /* and all of them are free again */
    drop_link(&to);                                /* with one queued */
}

static const struct check table[] = {
    {"order", t_order},
    {"wakes a receiver", t_wakes},
    {"timeouts", t_timeouts},
    {"unblock pulse", t_unblock},
    {"timeout without unblock", t_no_unblock},
    {"channel destroyed", t_destroyed},
    {"disconnect", t_disconnect},
    {"deliver event", t_deliver},
    {"thread death", t_thread_death},
    {"pulses run out", t_exhaust},
};

int main(void)
{
    return check_run("pulse", table, COUNT(table));
}
