/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worst case of each kernel call, for the table in docs/reference/bounds.md: part of
 * bench_latency, which has the tables full and most of RAM in use.
 *
 * A row for each call of abi/kercalls.def, by construction: a call without a MEASURE() or SAME()
 * here is a compile error. MEASURE()'s function does the call in the case that is thought to
 * take it longest: all threads that one process gets wait where it looks, with priorities in the
 * worst order; the longest arguments; tables that have no room left. What counts is the longest
 * stretch without a preemption point, so it may do other calls, too: a row is an upper bound.
 * SAME() names what else was measured and does all that the call does.
 */
#include <errno.h>
#include <kymo.h>
#include <stdio.h>
#include <string.h>

#include "abi/errno.h"
#include "lib/kercall.h"
#include "test/bench/bounds.h"

/* ---- what waits ------------------------------------------------------------------ */

int chid, coid;
sync_t mutex, cond, sem;
pthread_t crowd_tids[WAITERS];
unsigned crowd_size;
static char crowd_stacks[WAITERS][sizeof(void *) == 8 ? 8192 : 2048] __attribute__((aligned(16)));

struct sigevent pulse_event(void)
{
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, coid, SIGEV_PULSE_PRIO_INHERIT, 1, 0);
    return event;
}

void *role_sends(void *at)
{
    iov_t out[PARTS], in[PARTS];

    parts_of(out, parts);
    parts_of(in, answers);
    MsgSendv(coid, out, PARTS, in, PARTS);
    return at;
}

static void *role_receives(void *at)
{
    MsgReceive(chid, NULL, 0, NULL);
    return at;
}

void *role_locks(void *at)
{
    if (SyncMutexLock(&mutex) == 0) {
        SyncMutexUnlock(&mutex);
    }
    return at;
}

void *role_waits(void *at)
{
    SyncMutexLock(&mutex);
    if (SyncCondvarWait(&cond, &mutex) == 0) {
        SyncMutexUnlock(&mutex);
    }
    return at;
}

void *role_sem(void *at)
{
    SyncSemWait(&sem, 0);
    return at;
}

void *role_sleeps(void *at)
{
    const uint64_t ns = LATE;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
    return at;
}

int crowd(void *(*role)(void *))
{
    pthread_attr_t attr;
    struct sched_param param = {0};

    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    crowd_size = 0;
    for (unsigned i = 0; i < WAITERS; i++) {
        param.sched_priority = 11 + (int)i;
        pthread_attr_setschedparam(&attr, &param);
        pthread_attr_setstack(&attr, crowd_stacks[i], sizeof(crowd_stacks[i]));
        if (pthread_create(&crowd_tids[i], &attr, role, &crowd_tids[i]) != 0) {
            break;
        }
        crowd_size++;
    }
    return crowd_size < 2;
}

void crowd_end(void)
{
    for (unsigned i = 0; i < crowd_size; i++) {
        ThreadDestroy(crowd_tids[i], 0, NULL);
        pthread_join(crowd_tids[i], NULL);
    }
    crowd_size = 0;
}

int begin_sleepers(void)
{
    return crowd(role_sleeps);
}

/* Senders, and as many pulses as there may be. */
static int begin_senders(void)
{
    int error = crowd(role_sends);

    for (int i = 0; i < 100000 && MsgSendPulse(coid, 1 + i % 60, 1, i) == 0; i++) {
    }
    return error;
}

static int begin_receivers(void)
{
    return crowd(role_receives);
}

static int rcvid;

static int begin_received(void)
{
    return crowd(role_sends) != 0 || (rcvid = MsgReceive(chid, NULL, 0, NULL)) <= 0;
}

static void end_senders(void)
{
    struct _pulse pulse;
    const uint64_t none = 0;

    do {
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &none, NULL);
    } while (MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL) == 0);
    crowd_end();
}

/* ---- messages -------------------------------------------------------------------- */

static int call_nop(void)
{
    (void)kymo_raw_NOP(0);
    return 0;
}

static int call_msg_current(void)
{
    return MsgCurrent(rcvid);
}

static int call_msg_error(void)
{
    return MsgError(rcvid, EIO);
}

static int call_msg_receivev(void)
{
    struct _msg_info info;
    iov_t in[PARTS];
    int result = 0;

    parts_of(in, answers);
    for (unsigned i = 0; i < crowd_size && result >= 0; i++) { /* pulses, too, as they come */
        result = MsgReceivev(chid, in, PARTS, &info);
    }
    return result < 0;
}

static int call_msg_replyv(void)
{
    iov_t out[PARTS];

    parts_of(out, parts);
    return MsgReplyv(rcvid, 0, out, PARTS);
}

static int call_msg_readv(void)
{
    iov_t in[PARTS];

    parts_of(in, answers);
    return (int)MsgReadv(rcvid, in, PARTS, 7) < 0;
}

static int call_msg_writev(void)
{
    iov_t out[PARTS];

    parts_of(out, parts);
    return (int)MsgWritev(rcvid, out, PARTS, 7) < 0;
}

static int call_msg_info(void)
{
    struct _msg_info info;

    return MsgInfo(rcvid, &info);
}

static int call_msg_send_pulse(void)
{
    for (int i = 0; i < 100000 && MsgSendPulse(coid, 1 + i % 60, 1, i) == 0; i++) {
    }
    return 0;
}

static int call_msg_deliver_event(void)
{
    struct sigevent event = pulse_event();

    return MsgDeliverEvent(rcvid, &event);
}

static int call_msg_receivepulsev(void)
{
    iov_t in[PARTS];

    parts_of(in, answers);
    for (int i = 0; i < 8; i++) {
        if (MsgReceivePulsev(chid, in, PARTS, NULL) != 0) {
            return 1;
        }
    }
    return 0;
}

MEASURE(nop, NULL, call_nop, NULL);
MEASURE(msg_current, begin_received, call_msg_current, end_senders);
SAME(msg_sendv, "message_64_parts", "64 parts each way to a server that reads and writes as many");
SAME(msg_sendvnc, "message_64_parts", "the same function as MSG_SENDV");
MEASURE(msg_error, begin_received, call_msg_error, end_senders);
MEASURE(msg_receivev, begin_senders, call_msg_receivev, end_senders);
MEASURE(msg_replyv, begin_received, call_msg_replyv, end_senders);
MEASURE(msg_readv, begin_received, call_msg_readv, end_senders);
MEASURE(msg_writev, begin_received, call_msg_writev, end_senders);
MEASURE(msg_info, begin_received, call_msg_info, end_senders);
MEASURE(msg_send_pulse, NULL, call_msg_send_pulse, end_senders);
MEASURE(msg_deliver_event, begin_received, call_msg_deliver_event, end_senders);
MEASURE(msg_receivepulsev, begin_senders, call_msg_receivepulsev, end_senders);
static const struct bound bound_pulse_to_receivers = {begin_receivers, call_msg_send_pulse,
                                                      end_senders, NULL, NULL};

/* ---- channels and connections ---------------------------------------------------- */

int made[MOST];
unsigned nmade;

int keep(int id)
{
    if (id >= 0 && nmade < MOST) {
        made[nmade++] = id;
    }
    return id >= 0 && nmade < MOST;
}

static int call_signal_kill(void)
{
    return SignalKill(0, 0x3fffffff, 0, KYMO_SIGTERM, 0, 0) == 0 ||
           SignalKill(0, ProcSelf(NULL, NULL), 0, 0, 0, 0) < 0;
}

static int call_channel_create(void)
{
    while (keep(ChannelCreate(0))) {
    }
    return 0;
}

static void end_channels(void)
{
    while (nmade > 0) {
        ChannelDestroy(made[--nmade]);
    }
}

static int call_connect_attach(void)
{
    while (keep(ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0))) {
    }
    return 0;
}

static int begin_connections(void)
{
    return call_connect_attach() || nmade == 0;
}

static int call_connect_detach(void)
{
    while (nmade > 0) {
        ConnectDetach(made[--nmade]);
    }
    return 0;
}

static void end_connections(void)
{
    call_connect_detach();
}

static int call_connect_server_info(void)
{
    struct _server_info info;

    return ConnectServerInfo(0, made[nmade - 1], &info) < 0;
}

static int call_connect_client_info(void)
{
    struct _client_info info;
    struct _server_info server;

    return ConnectServerInfo(0, made[nmade - 1], &server) < 0 ||
           ConnectClientInfo(server.scoid, &info, 0) < 0;
}

static int call_connect_flags(void)
{
    return ConnectFlags(0, made[nmade - 1], KYMO_COF_EVENTS, KYMO_COF_EVENTS) < 0;
}

MEASURE(signal_kill, NULL, call_signal_kill, NULL);
MEASURE(channel_create, NULL, call_channel_create, end_channels);
SAME(channel_destroy, "channel", "with all clients, connections and pulses that it can have");
MEASURE(connect_attach, NULL, call_connect_attach, end_connections);
MEASURE(connect_detach, begin_connections, call_connect_detach, NULL);
MEASURE(connect_server_info, begin_connections, call_connect_server_info, end_connections);
MEASURE(connect_client_info, begin_connections, call_connect_client_info, end_connections);
MEASURE(connect_flags, begin_connections, call_connect_flags, end_connections);

/* ---- all of them ----------------------------------------------------------------- */

static int bound_of(const char *name, const struct bound *bound)
{
    if (bound->same) {
        printf("bound: call_%s as %s: %s\n", name, bound->same, bound->why);
        return 0;
    }
    if (bound->begin && bound->begin() != 0) {
        printf("bench_latency: %s can't begin: %s\n", name, strerror(errno));
        return 1;
    }
    int error = latency_measure("call_", name, bound->run);
    if (error != 0) {
        printf("bench_latency: %s: %d, %s\n", name, error, strerror(errno));
    }
    if (bound->end) {
        bound->end();
    }
    return error != 0;
}

int bounds_all(void)
{
    int error = 0;

    chid = ChannelCreate(_NTO_CHF_DISCONNECT | _NTO_CHF_UNBLOCK);
    coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
#define KERCALL(number, NAME, handler, ...) error |= bound_of(#NAME, &bound_##handler);
#include "abi/kercalls.def"
#undef KERCALL
    error |= bound_of("THREAD_DESTROY_of_an_owner", &bound_destroy_owner);
    error |= bound_of("THREAD_DESTROY_of_a_server", &bound_destroy_server);
    error |= bound_of("MSG_SEND_PULSE_to_receivers", &bound_pulse_to_receivers);
    ConnectDetach(coid);
    ChannelDestroy(chid);
    return error | bounds_trace();
}
