/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a port of a QNX program meets first: names, constants and structures of the kernel's calls
 * that docs/reference/qnx.md promises. Needs the ability clock, and device for the driver's calls.
 */
#include "test/board/programs/check.h"

#include <pthread.h>
#include <sys/dispatch.h>
#include <sys/netmgr.h>
#include <sys/siginfo.h>
#include <sys/trace.h>
#include <time.h>

#include "lib/include/sys/iomsg.h"

/* ---- clocks ------------------------------------------------------------------------ */

_Static_assert(CLOCK_REALTIME == 0 && CLOCK_MONOTONIC == 2, "one number for libc and kernel");
_Static_assert(TIMER_ABSTIME == 0x80000000u, "the kernel's");

/* A message that nobody receives: without the limit this waits for ever. */
static void sends_in_vain(int clock, unsigned flags, uint64_t ns)
{
    struct link to = make_link(0);

    EXPECT(TimerTimeout(clock, _NTO_TIMEOUT_SEND | _NTO_TIMEOUT_REPLY | flags, NULL, &ns, NULL) >=
           0);
    EXPECT_ERR(MsgSend(to.coid, "", 1, NULL, 0), ETIMEDOUT);
    drop_link(&to);
}

static void t_timeouts(void)
{
    struct timespec now;

    sends_in_vain(CLOCK_MONOTONIC, 0, 2 * MS);
    sends_in_vain(CLOCK_REALTIME, 0, 2 * MS);
    clock_gettime(CLOCK_MONOTONIC, &now);
    sends_in_vain(CLOCK_MONOTONIC, TIMER_ABSTIME,
                  (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + 2 * MS);
    clock_gettime(CLOCK_REALTIME, &now);
    sends_in_vain(CLOCK_REALTIME, TIMER_ABSTIME,
                  (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + 2 * MS);
}

/* Both ways of asking give the same clock. */
static void t_same_clock(void)
{
    static const int clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_SOFTTIME};
    struct timespec ts, res;
    uint64_t before = 0, after = 0, tens = 10 * 1000000000ull;

    EXPECT_EQ(ClockTime(CLOCK_REALTIME, NULL, &before), 0);
    before += tens; /* apart from CLOCK_MONOTONIC for sure */
    EXPECT_EQ(ClockTime(CLOCK_REALTIME, &before, NULL), 0);
    for (unsigned i = 0; i < COUNT(clocks); i++) {
        EXPECT_EQ(ClockTime(clocks[i], NULL, &before), 0);
        EXPECT_EQ(clock_gettime(clocks[i], &ts), 0);
        EXPECT_EQ(ClockTime(clocks[i], NULL, &after), 0);
        uint64_t ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
        EXPECT(before <= ns && ns <= after);
        EXPECT_EQ(clock_getres(clocks[i], &res), 0);
        EXPECT(res.tv_sec == 0 && res.tv_nsec > 0);
    }
    EXPECT_ERR(clock_gettime(77, &ts), EINVAL);
    EXPECT_ERR(clock_getres(77, NULL), EINVAL);
    EXPECT_ERR(clock_settime(CLOCK_MONOTONIC, &ts), EINVAL);
}

static void t_cpu_clocks(void)
{
    struct timespec a = {0, 0}, b = {0, 0};

    EXPECT_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a), 0);
    for (volatile int i = 0; i < 20000; i++) {
    }
    EXPECT_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b), 0);
    EXPECT(b.tv_sec > a.tv_sec || b.tv_nsec > a.tv_nsec);
    EXPECT_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a), 0);
    EXPECT(a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec >= b.tv_nsec));
    EXPECT_EQ(clock_gettime(ClockId(0, 0), &b), 0);
    EXPECT_EQ(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &a, NULL), EINVAL);
}

static void t_nanosleep(void)
{
    struct timespec until, left = {7, 7};
    uint64_t began = now_ns();

    errno = 0;
    EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 3 * MS}, &left), 0);
    EXPECT(now_ns() - began >= 3 * MS);
    EXPECT(left.tv_sec == 0 && left.tv_nsec == 0);
    for (int clock = CLOCK_REALTIME; clock <= CLOCK_MONOTONIC; clock += CLOCK_MONOTONIC) {
        began = now_ns();
        clock_gettime(clock, &until);
        until.tv_nsec += 3 * MS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        EXPECT_EQ(clock_nanosleep(clock, (int)TIMER_ABSTIME, &until, NULL), 0);
        EXPECT(now_ns() - began >= 3 * MS);
        EXPECT_EQ(clock_nanosleep(clock, (int)TIMER_ABSTIME, &until, NULL), 0); /* it has passed */
    }
    until.tv_nsec = 1000000000;
    EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &until, NULL), EINVAL);
    EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 1, &(struct timespec){0, 1}, NULL), EINVAL);
    EXPECT_EQ(errno, 0);
}

/* ---- names of events --------------------------------------------------------------- */

static void t_event_names(void)
{
    static const struct {
        unsigned class, event;
        int error;
    } events[] = {
        {_NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING | _NTO_TRACE_THREADY, 0},
        {_NTO_TRACE_PROCESS, _NTO_TRACE_PROCCREATE_NAME, 0},
        {_NTO_TRACE_PROCESS, _NTO_TRACE_PROCCREATE, ENOTSUP},
        {_NTO_TRACE_COMM, _NTO_TRACE_COMM_SMSG, 0},
        {_NTO_TRACE_COMM, _NTO_TRACE_COMM_SPULSE_QUN, ENOTSUP},
        {_NTO_TRACE_SYSTEM, _NTO_TRACE_SYS_SLOG, 0},
        {_NTO_TRACE_KERCALLENTER, __KER_MSG_SENDV, 0},
        {_NTO_TRACE_KERCALLEXIT, _NTO_TRACE_KERCALLLAST, 0},
        {_NTO_TRACE_INTENTER, _NTO_TRACE_INTFIRST, 0},
        {_NTO_TRACE_INTENTER, _NTO_TRACE_INTLAST, ENOTSUP},
        {_NTO_TRACE_USER, _NTO_TRACE_USERLAST, 0},
        {_NTO_TRACE_USER, _NTO_TRACE_USERLAST + 1, ENOTSUP},
    };

    for (unsigned i = 0; i < COUNT(events); i++) {
        if (events[i].error == 0) {
            EXPECT_EQ(TraceEvent(_NTO_TRACE_ADDEVENT, events[i].class, events[i].event), 0);
            EXPECT_EQ(TraceEvent(_NTO_TRACE_DELEVENT, events[i].class, events[i].event), 0);
        } else {
            EXPECT_ERR(TraceEvent(_NTO_TRACE_ADDEVENT, events[i].class, events[i].event),
                       events[i].error);
        }
    }
}

/* ---- servers ----------------------------------------------------------------------- */

static int client_error;

static void *asks(void *name)
{
    uint64_t ns = 5 * MS;
    int coid = name_open(name, 0);

    EXPECT(coid >= _NTO_SIDE_CHANNEL);
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_REPLY, NULL, &ns, NULL);
    client_error = MsgSend(coid, "ask", 4, NULL, 0) == -1 ? errno : 0;
    EXPECT_EQ(name_close(coid), 0);
    return NULL;
}

/* The client wants to leave, the server hears of it, sees it in MsgInfo(), and lets it go. */
static void t_unblock(void)
{
    union {
        struct _pulse pulse;
        char text[8];
    } in;
    struct _msg_info info = {.nd = 9, .srcnd = 9, .flags = -1}, now;
    name_attach_t *name = name_attach(NULL, "t_qnx", 0);

    EXPECT(name != NULL);
    client_error = 0;
    int tid = start_thread(asks, "t_qnx", 0);
    int rcvid = MsgReceive(name->chid, &in, sizeof(in), &info);
    EXPECT(rcvid > 0);
    EXPECT(info.nd == ND_LOCAL_NODE && info.srcnd == ND_LOCAL_NODE);
    EXPECT(info.pid == self_pid() && info.tid == tid && info.chid == name->chid);
    EXPECT(info.coid >= _NTO_SIDE_CHANNEL && info.scoid != info.coid);
    EXPECT(info.msglen == 4 && info.srcmsglen == 4 && info.dstmsglen == 0);
    EXPECT_EQ(info.flags, sizeof(void *) == 8 ? _NTO_MI_BITS_64 : 0);
    EXPECT_EQ(MsgReceive(name->chid, &in, sizeof(in), NULL), 0);
    EXPECT_EQ(in.pulse.code, _PULSE_CODE_UNBLOCK);
    EXPECT_EQ(in.pulse.value.sival_int, rcvid);
    EXPECT_EQ(MsgInfo(rcvid, &now), 0);
    EXPECT(now.flags & _NTO_MI_UNBLOCK_REQ);
    info.flags |= _NTO_MI_UNBLOCK_REQ;
    EXPECT(memcmp(&now, &info, sizeof(now)) == 0);
    EXPECT_EQ(MsgError(rcvid, EINTR), 0);
    join(tid);
    EXPECT_EQ(client_error, EINTR);
    EXPECT_EQ(name_detach(name, 0), 0);
}

static void t_who(void)
{
    struct link to = make_link(0);
    struct _server_info server = {.nd = 9};
    struct _client_info client = {.nd = 9, .sid = 9};

    EXPECT_EQ(ConnectServerInfo(0, to.coid, &server), to.coid);
    EXPECT(server.nd == ND_LOCAL_NODE && server.pid == self_pid() && server.chid == to.chid);
    EXPECT_EQ(ConnectClientInfo(server.scoid, &client, 0), 0);
    EXPECT(client.nd == ND_LOCAL_NODE && client.pid == self_pid() && client.sid == 0);
    EXPECT(client.cred.euid == 1 && client.cred.egid == 1 && client.cred.ngroups == 0);
    EXPECT(client.ability & ABILITY_CLOCK);
    EXPECT_EQ(ND_NODE_CMP(client.nd, server.nd), 0);
    EXPECT_ERR(ConnectAttach(1, self_pid(), to.chid, 0, 0), ESRCH);
    drop_link(&to);
}

/* The whole value arrives, be it an integer or a pointer. */
static void t_events(void)
{
    struct link to = make_link(0);
    struct _pulse pulse;
    struct sigevent event;

    for (int i = 0; i < 3; i++) {
        memset(&event, 0xa5, sizeof(event));
        if (i == 0) {
            SIGEV_PULSE_INIT(&event, to.coid, SIGEV_PULSE_PRIO_INHERIT, 5, -7);
        } else if (i == 1) {
            SIGEV_PULSE_INT_INIT(&event, to.coid, 10, 5, -7);
        } else {
            SIGEV_PULSE_PTR_INIT(&event, to.coid, 10, 5, &event);
        }
        int id = TimerCreate(CLOCK_MONOTONIC, &event);
        EXPECT(id > 0);
        EXPECT_EQ(TimerSettime(id, 0, &(struct _itimer){1, 0}, NULL), 0);
        EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
        EXPECT(i == 2 ? pulse.value.sival_ptr == &event : pulse.value.sival_int == -7);
        EXPECT_EQ(TimerDestroy(id), 0);
    }
    SIGEV_SIGNAL_CODE_INIT(&event, KYMO_SIGTERM, 3, 4);
    EXPECT(event.sigev_notify == SIGEV_SIGNAL && event.sigev_signo == KYMO_SIGTERM);
    EXPECT(event.sigev_code == 4 && event.sigev_value.sival_int == 3);
    SIGEV_SIGNAL_INIT(&event, KYMO_SIGTERM);
    EXPECT_EQ(event.sigev_value.sival_int, 0);
    SIGEV_NONE_INIT(&event);
    EXPECT_EQ(TimerCreate(CLOCK_MONOTONIC, &event) > 0, 1);
    drop_link(&to);
    EXPECT(_IO_BASE <= _IO_CONNECT && _IO_CONNECT < _IO_MAX && EOK == 0);
}

/* ---- drivers ----------------------------------------------------------------------- */

static void t_thread_ctl(void)
{
    uint32_t mask = 0, all;

    EXPECT_EQ(ThreadCtl(_NTO_TCTL_IO, 0), 0);
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_RUNMASK_GET_AND_SET, &mask), 0);
    all = mask;
    mask = 1;
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_RUNMASK_GET_AND_SET, &mask), 0);
    EXPECT_EQ(mask, all);
    mask = all;
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_RUNMASK_GET_AND_SET, &mask), 0);
    EXPECT_EQ(mask, 1);
    EXPECT_ERR(ThreadCtl(_NTO_TCTL_RUNMASK_GET_AND_SET, (void *)4), EFAULT);
}

static const struct check table[] = {
    {"timeouts", t_timeouts},
    {"same clock", t_same_clock},
    {"CPU clocks", t_cpu_clocks},
    {"nanosleep", t_nanosleep},
    {"event names", t_event_names},
    {"unblock", t_unblock},
    {"who", t_who},
    {"events", t_events},
    {"thread control", t_thread_ctl},
};

int main(void)
{
    return check_run("qnx", table, COUNT(table));
}
