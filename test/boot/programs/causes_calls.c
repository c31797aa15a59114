/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of causes.h: interrupts of a device that the kernel leaves alone (as in t_intr.c), memory,
 * names, and every kernel call once, as such, with words that it refuses or that do no harm.
 */
#include "test/boot/programs/causes.h"

#include <stdio.h>

#include "lib/include/kymo.h"
#include "lib/include/sys/tracelog.h"

enum {
#define KERCALL(number, name, handler, flags, args, enter, enterw, exitw, doc) \
    CALL_##name = (number),
#include "kernel/abi/kercalls.def"
#undef KERCALL
};

#if defined(__arm__)
#define DEVICE 0x40001000u
#define LINE 9
enum { CONTROL, VALUE, RELOAD, STATUS }; /* TIMER1 */
#else
#define DEVICE 0x09010000u
#define LINE 34
enum { DATA, MATCH, LOAD, CONTROL, MASK, RAW, MASKED, CLEAR }; /* the RTC */
#endif

static volatile uint32_t *regs;

static void device_map(void)
{
    struct kymo_map map = {
        .phys = DEVICE, .len = 4096, .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE};

    if (regs == NULL && MemMap(&map) == 0) {
        regs = (volatile uint32_t *)(uintptr_t)map.vaddr;
    }
}

#if defined(__arm__)
static void device_fire(void)
{
    device_map();
    regs[CONTROL] = 0;
    regs[VALUE] = regs[RELOAD] = 2500;
    regs[CONTROL] = 9;
}

static void device_quiet(void)
{
    regs[CONTROL] = 0;
    regs[STATUS] = 1;
}
#else
static void device_fire(void)
{
    device_map();
    regs[MATCH] = regs[DATA]; /* this second: at once */
    regs[MASK] = 1;
}

static void device_quiet(void)
{
    regs[MASK] = 0;
    regs[CLEAR] = 1;
}
#endif

/* Of a lower priority: when its creator waits. */
static void *fires(void *unused)
{
    device_fire();
    return unused;
}

void cause_interrupt(void)
{
    struct link to = make_link(0);
    struct sigevent event = {0};
    struct _pulse pulse;

    SIGEV_PULSE_INIT(&event, to.coid, 20, 7, 77);
    int id = InterruptAttachEvent(LINE, &event, 0);
    fact("line", LINE);
    fact("coid", (uint64_t)to.coid);
    device_fire();
    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    device_quiet();
    InterruptDetach(id);
    SIGEV_INTR_INIT(&event);
    id = InterruptAttachEvent(LINE, &event, 0);
    int tid = start_thread(fires, NULL, own_priority() - 1);
    EXPECT_EQ(InterruptWait(0, NULL), 0);
    device_quiet();
    join(tid);
    InterruptDetach(id);
    drop_link(&to);
}

void cause_map(void)
{
    struct kymo_map map = {.len = 8192, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    EXPECT_EQ(MemMap(&map), 0);
    fact("vaddr", map.vaddr);
    fact("len", map.len);
    fact("phys", map.phys);
    fact("flags", map.flags);
    MemUnmap((void *)(uintptr_t)map.vaddr, map.len);
}

void cause_names(void)
{
    struct kymo_name name;

    kymo_thread_name("caused");
    NameLookup("nowhere/to/be/found", &name);
}

/* What a program tells of itself. */
void cause_places(void)
{
    trace_here();
    trace_func_enter((void *)0x1230, (void *)0x4560);
    trace_func_exit((void *)0x1240, (void *)0x4570);
}

#define NOBODY 99999
#define NOWHERE 0x2fffffff
#define BAD 8       /* an address that is no program's */
#define LAST 0x1a57 /* the call before's result */
#define PARTS 5

static uint64_t none;
static const struct {
    unsigned number;
    uintptr_t args[6];
} made[] = {
    {CALL_NOP, {1, 2, 3, 4, 5, 6}},
    {CALL_TRACE_EVENT, {0x7fffffff, 1, 2, 3, 4}},
    {CALL_MSG_CURRENT, {NOWHERE}},
    {CALL_MSG_SENDV, {12345, BAD, 1, BAD, 2}},
    {CALL_MSG_SENDVNC, {12345, BAD, 3, BAD, 4}},
    {CALL_MSG_ERROR, {NOWHERE, EIO}},
    {CALL_MSG_RECEIVEV, {999, BAD, 1, BAD}},
    {CALL_MSG_REPLYV, {NOWHERE, 7, BAD, 1}},
    {CALL_MSG_READV, {NOWHERE, BAD, 1, 2, 3}},
    {CALL_MSG_WRITEV, {NOWHERE, BAD, 1, 2, 3}},
    {CALL_MSG_INFO, {NOWHERE, BAD}},
    {CALL_MSG_SEND_PULSE, {12345, 10, 1, 2}},
    {CALL_MSG_DELIVER_EVENT, {NOWHERE, BAD}},
    {CALL_MSG_RECEIVEPULSEV, {999, BAD, 1, BAD}},
    {CALL_SIGNAL_KILL, {0, NOBODY, 1, 15, 2, 3}},
    {CALL_CHANNEL_CREATE, {0}},
    {CALL_CHANNEL_DESTROY, {LAST}},
    {CALL_CONNECT_ATTACH, {0, NOBODY, 1, 2, 3}},
    {CALL_CONNECT_DETACH, {12345}},
    {CALL_CONNECT_SERVER_INFO, {0, 12345, BAD}},
    {CALL_CONNECT_CLIENT_INFO, {NOBODY, BAD, 1}},
    {CALL_CONNECT_FLAGS, {0, 12345, 1, 2}},
    {CALL_THREAD_CREATE, {NOBODY, BAD, 1, BAD}},
    {CALL_THREAD_DESTROY, {9999, 1, 2}},
    {CALL_THREAD_DETACH, {9999}},
    {CALL_THREAD_JOIN, {9999, BAD}},
    {CALL_THREAD_CANCEL, {9999, BAD}},
    {CALL_THREAD_CTL, {9999, BAD}},
    {CALL_INTERRUPT_ATTACH, {NOBODY, BAD, 1}},
    {CALL_INTERRUPT_DETACH, {9999}},
    {CALL_TIMER_TIMEOUT, {CLOCK_MONOTONIC_KYMO, _NTO_TIMEOUT_INTR, 0, (uintptr_t)&none, 0}},
    {CALL_INTERRUPT_WAIT, {0, 0}},
    {CALL_INTERRUPT_MASK, {NOBODY, 1}},
    {CALL_INTERRUPT_UNMASK, {NOBODY, 1}},
    {CALL_CLOCK_TIME, {77, BAD, BAD}},
    {CALL_CLOCK_ADJUST, {77, BAD, BAD}},
    {CALL_CLOCK_PERIOD, {77, BAD, BAD}},
    {CALL_CLOCK_ID, {NOBODY, 1}},
    {CALL_TIMER_CREATE, {77, BAD}},
    {CALL_TIMER_DESTROY, {9999}},
    {CALL_TIMER_SETTIME, {9999, 1, BAD, BAD}},
    {CALL_TIMER_INFO, {NOBODY, 1, 2, BAD}},
    {CALL_TIMER_ALARM, {77, BAD, BAD}},
    {CALL_SYNC_CREATE, {77, BAD, 1}},
    {CALL_SYNC_DESTROY, {BAD}},
    {CALL_SYNC_MUTEX_LOCK, {BAD}},
    {CALL_SYNC_MUTEX_UNLOCK, {BAD}},
    {CALL_SYNC_CONDVAR_WAIT, {BAD, BAD}},
    {CALL_SYNC_CONDVAR_SIGNAL, {BAD, 1}},
    {CALL_SYNC_SEM_POST, {BAD}},
    {CALL_SYNC_SEM_WAIT, {BAD, 1}},
    {CALL_SYNC_CTL, {1, BAD, 2}},
    {CALL_SCHED_GET, {NOBODY, 1, BAD}},
    {CALL_SCHED_SET, {NOBODY, 1, 2, BAD}},
    {CALL_SCHED_YIELD, {0}},
    {CALL_SCHED_INFO, {NOBODY, 1, BAD}},
    {CALL_PROC_SPAWN, {BAD}},
    {CALL_PROC_WAIT, {NOBODY, BAD, 1}},
    {CALL_PROC_INFO, {0x7fffffff, BAD}},
    {CALL_THREAD_INFO, {NOBODY, 1, BAD}},
    {CALL_PROC_SELF, {0, 0}},
    {CALL_MEM_MAP, {BAD}},
    {CALL_MEM_UNMAP, {0x1000, 4096}},
    {CALL_NAME_ATTACH, {BAD, 1}},
    {CALL_NAME_DETACH, {9999}},
    {CALL_NAME_LOOKUP, {BAD, BAD}},
    {CALL_IMAGE_READ, {BAD, 1, BAD, 2}},
    {CALL_HOST_CALL, {99, 1, 2, 3}},
    {CALL_SYSTEM_CTL, {99, 1}},
    {CALL_SYSPAGE_READ, {0, BAD, 4}},
    {CALL_LIB_WORD, {3}},
    {CALL_CONSOLE_WRITE, {BAD, 1}},
    {CALL_CONSOLE_READ, {BAD, 1, BAD}},
    {CALL_CLOCK_CYCLES, {BAD}},
    {CALL_OBJECT_OPEN, {BAD, 1, 2}},
    {CALL_OBJECT_CLOSE, {77}},
    {CALL_OBJECT_SIZE, {77, 4096}},
    {CALL_OBJECT_INFO, {77, BAD}},
    {CALL_OBJECT_UNLINK, {BAD}},
    {CALL_DTRACE, {BAD, 1, 2}},
};

/* A call, its six words, and what came of it, as one text. */
static void tell_call(unsigned number, const uintptr_t args[6], struct raw_result result)
{
    char text[120];

    snprintf(text, sizeof(text), "call %u %lu %lu %lu %lu %lu %lu %ld %ld", number,
             (unsigned long)args[0], (unsigned long)args[1], (unsigned long)args[2],
             (unsigned long)args[3], (unsigned long)args[4], (unsigned long)args[5], result.value,
             result.error);
    fact(text, 0);
}

/* One of PARTS, for D's buffer is small. What is told comes after the next call, which a timeout
 * may be for. */
static void call_part(unsigned part)
{
    struct raw_result before = {0, 0};
    uintptr_t words[2][6] = {{0}};
    unsigned from = COUNT(made) * part / PARTS, to = COUNT(made) * (part + 1) / PARTS;

    for (unsigned i = from; i < to; i++) {
        uintptr_t *args = words[i % 2];
        memcpy(args, made[i].args, sizeof(words[0]));
        args[0] = args[0] == LAST ? (uintptr_t)before.value : args[0];
        struct raw_result result = raw_call(made[i].number, args);
        if (i > from) {
            tell_call(made[i - 1].number, words[(i - 1) % 2], before);
        }
        before = result;
    }
    tell_call(made[to - 1].number, words[(to - 1) % 2], before);
}

void cause_calls_1(void)
{
    call_part(0);
}

void cause_calls_2(void)
{
    call_part(1);
}

void cause_calls_3(void)
{
    call_part(2);
}

void cause_calls_4(void)
{
    call_part(3);
}

void cause_calls_5(void)
{
    call_part(4);
}
