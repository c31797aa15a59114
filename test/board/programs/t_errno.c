/* SPDX-License-Identifier: BSD-2-Clause */
/* Wrong arguments that are not pointers: ids, lengths, ranges, rights. Each has its errno. */
#include "test/board/programs/check.h"

static struct link to;
static char buf[64];

static void t_channels(void)
{
    EXPECT_ERR(ChannelCreate(0x80000000u), EINVAL);
    EXPECT_ERR(ChannelDestroy(0), EINVAL);
    EXPECT_ERR(ChannelDestroy(999), EINVAL);
    EXPECT_ERR(ChannelDestroy(-1), EINVAL);
    EXPECT_ERR(ConnectAttach(0, 99999, 1, 0, 0), ESRCH);
    EXPECT_ERR(ConnectAttach(0, 0, 999, 0, 0), ESRCH);
    EXPECT_ERR(ConnectAttach(7, 0, to.chid, 0, 0), ESRCH); /* there is no other node */
    EXPECT_ERR(ConnectDetach(12345), EINVAL);
    EXPECT_ERR(ConnectDetach(-1), EINVAL);
    EXPECT_ERR(ConnectDetach(_NTO_SIDE_CHANNEL + 99999), EINVAL);
    EXPECT_ERR(ConnectServerInfo(0, 12345, (void *)buf), EINVAL);
    EXPECT_ERR(ConnectServerInfo(99999, 0, (void *)buf), ESRCH);
    EXPECT_ERR(ConnectClientInfo(99999, (void *)buf, 0), EINVAL);
    EXPECT_ERR(ConnectFlags(0, 12345, 1, 1), EINVAL);
}

static void t_messages(void)
{
    iov_t iov[2];
    const int nowhere = 0x2fffffff;

    SETIOV(&iov[0], buf, 4);
    SETIOV(&iov[1], buf, (size_t)-1);
    EXPECT_ERR(MsgSend(12345, buf, 1, buf, 1), EBADF);
    EXPECT_ERR(MsgSend(-1, buf, 1, buf, 1), EBADF);
    EXPECT_ERR(MsgReceive(999, buf, 1, NULL), ESRCH);
    EXPECT_ERR(MsgReceive(-1, buf, 1, NULL), ESRCH);
    EXPECT_ERR(MsgReceivePulse(999, buf, sizeof(struct _pulse), NULL), ESRCH);
    EXPECT_ERR(MsgReply(nowhere, 0, buf, 1), ESRCH);
    EXPECT_ERR(MsgReply(0, 0, buf, 1), ESRCH);
    EXPECT_ERR(MsgReply(-1, 0, buf, 1), ESRCH);
    EXPECT_ERR(MsgError(nowhere, EIO), ESRCH);
    EXPECT_ERR(MsgRead(nowhere, buf, 1, 0), ESRCH);
    EXPECT_ERR(MsgWrite(nowhere, buf, 1, 0), ESRCH);
    EXPECT_ERR(MsgInfo(nowhere, (void *)buf), ESRCH);
    EXPECT_ERR(MsgCurrent(nowhere), ESRCH);
    EXPECT_ERR(MsgDeliverEvent(nowhere, (void *)buf), ESRCH);
    EXPECT_ERR(MsgSendPulse(12345, 10, 1, 1), EBADF);
    EXPECT_ERR(MsgSendPulse(to.coid, 10, -5, 1), EINVAL); /* the kernel's codes */
    EXPECT_ERR(MsgSendPulse(to.coid, 10, 128, 1), EINVAL);
    EXPECT_ERR(MsgSendPulse(to.coid, 256, 1, 1), EINVAL);
    EXPECT_ERR(MsgSendPulse(to.coid, 200, 1, 1), EPERM);
    EXPECT_ERR(MsgSendv(to.coid, iov, KYMO_IOV_MAX + 1, iov, 1), EOVERFLOW);
    EXPECT_ERR(MsgSendv(to.coid, iov, 2, iov, 1), EOVERFLOW);
}

/* Lengths and pointers that are found bad only when the message moves. */
static void *victim_client(void *unused)
{
    (void)unused;
    MsgSend(to.coid, buf, sizeof(buf), buf, sizeof(buf));
    return NULL;
}

static void t_while_received(void)
{
    int tid = start_thread(victim_client, NULL, 0), rcvid;

    wait_state(self_pid(), tid, STATE_SEND);
    EXPECT_ERR(MsgReceive(to.chid, (void *)4, 100, NULL), EFAULT);
    rcvid = MsgReceive(to.chid, buf, 1, NULL); /* it is still there */
    EXPECT(rcvid > 0);
    EXPECT_ERR(MsgRead(rcvid, (void *)4, 10, 0), EFAULT);
    EXPECT_ERR(MsgWrite(rcvid, (void *)4, 10, 0), EFAULT);
    EXPECT_ERR(MsgReply(rcvid, 0, (void *)4, 10), EFAULT);
    EXPECT_EQ(MsgReply(rcvid, 0, NULL, 0), 0);
    join(tid);
}

static void t_timers(void)
{
    struct sigevent event = {.sigev_notify = 77};
    struct _itimer once = {MS, 0};
    uint64_t ns = MS;

    EXPECT_ERR(TimerCreate(77, NULL), EINVAL);
    EXPECT_ERR(TimerCreate(CLOCK_MONOTONIC, &event), EINVAL);
    SIGEV_PULSE_INIT(&event, 12345, 10, 1, 1);
    EXPECT_EQ(TimerCreate(CLOCK_MONOTONIC, &event), -1);
    EXPECT(errno == EBADF || errno == EINVAL);
    EXPECT_ERR(TimerDestroy(-1), EINVAL);
    EXPECT_ERR(TimerDestroy(9999), EINVAL);
    EXPECT_ERR(TimerSettime(9999, 0, &once, NULL), EINVAL);
    EXPECT_ERR(TimerInfo(0, 9999, 0, (void *)buf), EINVAL);
    EXPECT_ERR(TimerInfo(99999, 0, 0, (void *)buf), ESRCH);
    EXPECT_ERR(TimerTimeout(77, _NTO_TIMEOUT_SEM, NULL, &ns, NULL), EINVAL);
    EXPECT_ERR(ClockPeriod(77, NULL, (void *)buf), EINVAL);
    EXPECT_ERR(ClockAdjust(77, NULL, (void *)buf), EINVAL);
}

static void t_sync(void)
{
    sync_t sync = {0, 0};

    EXPECT_ERR(SyncTypeCreate(77, &sync, NULL), EINVAL);
    EXPECT_ERR(SyncMutexLock((sync_t *)4), EFAULT);
    EXPECT_ERR(SyncSemWait(&sync, 0), EINVAL); /* a free mutex is no semaphore */
    EXPECT_ERR(SyncCondvarWait(&sync, &sync), EINVAL);
}

static void t_threads(void)
{
    struct _thread_attr attr = {.stackaddr = (void *)8, .stacksize = 4096};

    EXPECT_EQ(ThreadCreate(0, victim_client, NULL, &attr), -1);
    EXPECT(errno == EFAULT || errno == EINVAL);
    attr = (struct _thread_attr){.priority = 300};
    EXPECT_ERR(ThreadCreate(0, victim_client, NULL, &attr), EINVAL);
    attr = (struct _thread_attr){.priority = 200};
    EXPECT_ERR(ThreadCreate(0, victim_client, NULL, &attr), EPERM);
    attr = (struct _thread_attr){.policy = 77};
    EXPECT_ERR(ThreadCreate(0, victim_client, NULL, &attr), EINVAL);
    EXPECT_ERR(ThreadCreate(99999, victim_client, NULL, NULL), ESRCH);
    EXPECT_ERR(ThreadCtl(9999, NULL), EINVAL);
    EXPECT_ERR(SchedSet(0, 9999, SCHED_RR, (void *)buf), ESRCH);
}

static void t_interrupts(void)
{
    struct sigevent event;

    SIGEV_INTR_INIT(&event);
    EXPECT_ERR(InterruptAttachEvent(5, &event, 0), EPERM); /* no such ability */
    EXPECT_ERR(InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0), EPERM);
    EXPECT_ERR(InterruptMask(5, -1), EPERM);
    EXPECT_ERR(InterruptUnmask(5, -1), EPERM);
    EXPECT_ERR(InterruptDetach(5), EINVAL);
}

static void t_memory(void)
{
    struct kymo_map map = {.len = 0, .flags = KYMO_PROT_READ};

    EXPECT_ERR(MemMap(&map), EINVAL);
    map.len = ~0ull;
    EXPECT_EQ(MemMap(&map), -1);
    EXPECT(errno == ENOMEM || errno == EINVAL);
    map.len = 1ull << 40;
    EXPECT_EQ(MemMap(&map), -1);
    EXPECT(errno == ENOMEM || errno == EINVAL);
    map = (struct kymo_map){.len = 4096, .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ, .phys = 0};
    EXPECT_ERR(MemMap(&map), EPERM);
    map = (struct kymo_map){.len = 4096, .flags = KYMO_MAP_TRACE | KYMO_PROT_READ};
    EXPECT_ERR(MemMap(&map), EPERM);
    map = (struct kymo_map){.len = 4096, .flags = 0x80000000u};
    EXPECT_ERR(MemMap(&map), EINVAL);
    EXPECT_ERR(MemUnmap((void *)0x1000, 4096), EINVAL);
    EXPECT_ERR(MemUnmap(buf, 64), EINVAL); /* a part of what it was started with */
}

static void t_objects(void)
{
    struct kymo_map map = {.phys = 3, .flags = KYMO_MAP_OBJECT | KYMO_PROT_READ};

    EXPECT_ERR(ObjectOpen("", 0, 0), EINVAL);
    EXPECT_ERR(ObjectOpen("x", 0x80, 0), EINVAL);
    EXPECT_ERR(ObjectOpen("x", 0, 01000), EINVAL);
    EXPECT_ERR(ObjectOpen("x", 0, 0), ENOENT);
    EXPECT_ERR(ObjectOpen("x", KYMO_OBJECT_CREATE, 0), EPERM);
    EXPECT_ERR(ObjectOpen("12345678901234567890123456789012345678901234567890", 0, 0),
               ENAMETOOLONG);
    EXPECT_ERR(ObjectClose(0), EBADF);
    EXPECT_ERR(ObjectClose(-1), EBADF);
    EXPECT_ERR(ObjectSize(0, 64), EBADF);
    EXPECT_ERR(ObjectInfo(8, (void *)buf), EBADF);
    EXPECT_ERR(ObjectInfo(KYMO_OBJECT_AT, (void *)buf), ENOENT);
    EXPECT_ERR(ObjectUnlink("x"), ENOENT);
    EXPECT_ERR(MemMap(&map), EBADF);
    map.phys = 1ull << 32;
    EXPECT_ERR(MemMap(&map), EBADF);
}

static void t_names(void)
{
    struct kymo_name name;
    int id;

    EXPECT_ERR(NameAttach("console", to.chid), EPERM); /* a system server's */
    EXPECT_ERR(NameAttach("tracelogger/lock", to.chid), EPERM);
    EXPECT_ERR(NameAttach("", to.chid), EINVAL);
    EXPECT_ERR(NameAttach("x", 999), EBADF);
    EXPECT_ERR(NameAttach("12345678901234567890123456789012345678901234567890", to.chid),
               ENAMETOOLONG);
    id = NameAttach("errno", to.chid);
    EXPECT(id >= 0);
    EXPECT_ERR(NameAttach("errno", to.chid), EEXIST);
    EXPECT_EQ(NameLookup("errno", &name), 0);
    EXPECT_EQ(name.chid, to.chid);
    EXPECT_EQ(NameDetach(id), 0);
    EXPECT_ERR(NameDetach(id), EINVAL);
    EXPECT_ERR(NameLookup("errno", &name), ENOENT);
}

static void t_system(void)
{
    struct kymo_proc_info info;
    struct kymo_thread_info thread;

    EXPECT_ERR(SystemCtl(KYMO_SYSTEM_SHUTDOWN, 0), EPERM);
    EXPECT_ERR(HostCall(KYMO_HOST_OPEN, "x", 1, 0), EPERM);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_START), EPERM);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 4, (void *)3), EPERM);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_ALLOCOBJECT, 1, (void *)3, 99), EPERM);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_QUERYSUPPORT), 1); /* anyone may ask */
    EXPECT(TraceEvent((int)_NTO_TRACE_QUERYVERSION) > 0);
    EXPECT_ERR(ImageRead("no such file", 0, buf, 1), ENOENT);
    EXPECT_EQ(ImageRead("start", 1u << 30, buf, 1), 0); /* past the end */
    EXPECT_ERR(ProcInfo(0x7fffffff, &info), ESRCH);
    EXPECT_ERR(ThreadInfo(99999, 1, &thread), ESRCH);
    EXPECT_ERR(LibWord((void *)3), EINVAL);
    EXPECT_EQ(SyspageRead(0, buf, 4), 4);
    EXPECT_EQ(memcmp(buf, "KYMO", 4), 0);
    EXPECT_EQ(SyspageRead(1u << 30, buf, 4), 0); /* past the end */
    EXPECT_ERR(SyspageRead(0, (void *)4, 4), EFAULT);
}

static const struct check table[] = {
    {"channels", t_channels},     {"messages", t_messages}, {"while received", t_while_received},
    {"timers", t_timers},         {"sync", t_sync},         {"threads", t_threads},
    {"interrupts", t_interrupts}, {"memory", t_memory},     {"objects", t_objects},
    {"names", t_names},           {"system", t_system},
};

int main(void)
{
    int status;

    to = make_link(0);
    status = check_run("errno", table, COUNT(table));
    return status;
}
