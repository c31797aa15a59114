/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that is about to die: `victim block STATE [PID CHID]` blocks its main thread in that
 * state; `victim fault KIND` does what no process may. Started by t_proc and t_isolate, which
 * watch. Returns 99 if it survives.
 */
#include "test/board/programs/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/include/kymo.h"
#include "trace/slot.h"

#define SURVIVED 99

static sync_t mutex, cond, sem;
static int pid_arg, chid_arg;

static void *blocked_helper(void *unused)
{
    SyncMutexLock(&mutex);
    SyncSemWait(&sem, 0);
    return unused;
}

static int to_server(void)
{
    return ConnectAttach(0, pid_arg, chid_arg, _NTO_SIDE_CHANNEL, 0);
}

static void block_send(void)
{
    char c = 1;

    MsgSend(to_server(), &c, 1, &c, 1);
}

static void block_receive(void)
{
    char c;

    MsgReceive(ChannelCreate(0), &c, 1, NULL);
}

static void block_nanosleep(void)
{
    sleep_ms(1000000);
}

static void block_mutex(void)
{
    int tid = start_thread(blocked_helper, NULL, 0);

    wait_state(self_pid(), tid, STATE_SEM);
    SyncMutexLock(&mutex);
}

static void block_condvar(void)
{
    SyncMutexLock(&mutex);
    SyncCondvarWait(&cond, &mutex);
}

static void block_join(void)
{
    ThreadJoin(start_thread(blocked_helper, NULL, 0), NULL);
}

static void block_sem(void)
{
    SyncSemWait(&sem, 0);
}

static void block_intr(void)
{
    struct sigevent event;

    SIGEV_INTR_INIT(&event);
    InterruptAttachEvent(pid_arg, &event, 0); /* the line's number comes in pid's place */
    InterruptWait(0, NULL);
}

static void block_waitthread(void)
{
    spawn("victim", 0, 0, "block", "nanosleep", NULL);
    ProcWait(0, NULL, 0);
}

static void block_running(void)
{
    for (volatile unsigned n = 0;; n++) {
    }
}

/* START finds no buffer for its state dump, and nobody takes one. No event but that may
 * open one. */
static void block_waitctx(void)
{
    uint64_t paddr;

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1); /* rings are per CPU */
    TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 2, &paddr);
    TraceEvent((int)_NTO_TRACE_SETLINEARMODE);
    TraceEvent((int)_NTO_TRACE_DELALLCLASSES);
    TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER);
    TraceEvent((int)_NTO_TRACE_STARTNOSTATE);
    for (unsigned i = 0; i < 4 * TRACE_BUFFER_SLOTS; i++) {
        TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 1, i, 0);
    }
    TraceEvent((int)_NTO_TRACE_STOP);
    TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_THREAD, 1u << STATE_WAITCTX);
    TraceEvent((int)_NTO_TRACE_START);
}

static void block_alarm(void)
{
    const struct _itimer soon = {MS, 0};

    TimerAlarm(CLOCK_MONOTONIC, &soon, NULL);
    sleep_ms(1000000);
}

/* Children that do nothing, one after the other. */
static void block_spawning(void)
{
    for (;;) {
        int status, pid = spawn("victim", 0, 0, NULL, NULL, NULL);

        if (pid > 0) {
            ProcWait(pid, &status, 0);
        }
    }
}

/* With two children that are held: one of them never starts. */
static void block_parent_of_held(void)
{
    struct kymo_spawn_attr attr = {.flags = KYMO_SPAWN_HOLD};
    char *argv[] = {"victim", "block", "nanosleep", NULL};
    int first = kymo_spawn("victim", argv, &attr);

    kymo_spawn("victim", argv, &attr);
    SignalKill(0, first, 0, KYMO_SIGCONT, 0, 0);
    sleep_ms(1000000);
}

/* Holds one of everything when it dies. */
static void block_laden(void)
{
    struct _itimer each = {3 * MS, 3 * MS};
    struct sigevent event = {0};
    struct kymo_map map = {.len = 8192, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    struct link link = make_link(_NTO_CHF_UNBLOCK | _NTO_CHF_DISCONNECT);
    int timer;

    NameAttach("victim", link.chid);
    SIGEV_PULSE_INIT(&event, link.coid, 10, 1, 1);
    timer = TimerCreate(CLOCK_MONOTONIC, &event);
    TimerSettime(timer, 0, &each, NULL);
    MemMap(&map);
    for (int i = 0; i < 5; i++) {
        MsgSendPulse(link.coid, 10, 1, i);
    }
    start_thread(blocked_helper, NULL, 0);
    start_thread(blocked_helper, NULL, 0);
    sleep_ms(1000000);
}

/* ---- faults ------------------------------------------------------------------------ */

static void touch_read(uintptr_t addr)
{
    (void)*(volatile uint8_t *)addr;
}

static void touch_write(uintptr_t addr)
{
    *(volatile uint32_t *)addr = 0x6b796d6f;
}

static void touch_jump(uintptr_t addr)
{
    ((void (*)(void))addr)();
}

static volatile unsigned depth_used;
static unsigned overflow_stack(unsigned depth)
{
    volatile unsigned char pad[512];

    pad[depth % sizeof(pad)] = (unsigned char)depth;
    depth_used = depth;
    return depth_used == 0 ? 0 : overflow_stack(depth + 1) + pad[0]; /* it never comes back to 0 */
}

static void fault_stack(uintptr_t unused)
{
    (void)unused;
    overflow_stack(1);
}

static void fault_undefined(uintptr_t unused)
{
    (void)unused;
    __builtin_trap();
}

static void fault_own_text(uintptr_t unused)
{
    (void)unused;
    touch_write((uintptr_t)&fault_undefined & ~(uintptr_t)3);
}

static void fault_own_data(uintptr_t unused)
{
    static uint32_t code[4];

    (void)unused;
    touch_jump((uintptr_t)code | 1); /* data can't be executed */
}

/* t_object's, mapped for reading. */
static void fault_object(uintptr_t unused)
{
    int fd = shm_open("/two", O_RDONLY, 0);
    void *a = mmap(NULL, 4, PROT_READ, MAP_SHARED, fd, 0);

    (void)unused;
    if (a != MAP_FAILED) {
        touch_read((uintptr_t)a);
        touch_write((uintptr_t)a + 4);
    }
}

/* Memory that comes before another piece, is used and goes: then it is no process's. */
static uintptr_t come_and_go(bool goes)
{
    struct kymo_map map[2];

    for (unsigned i = 0; i < COUNT(map); i++) {
        map[i] = (struct kymo_map){.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
        if (MemMap(&map[i]) != 0) {
            exit(1);
        }
        touch_write((uintptr_t)map[i].vaddr);
    }
    if (goes && MemUnmap((void *)(uintptr_t)map[0].vaddr, (size_t)map[0].len) != 0) {
        exit(2);
    }
    touch_write((uintptr_t)map[1].vaddr);
    return (uintptr_t)map[0].vaddr;
}

static void fault_mapped(uintptr_t unused)
{
    (void)unused;
    touch_write(come_and_go(false));
}

static void fault_unmapped_read(uintptr_t unused)
{
    (void)unused;
    touch_read(come_and_go(true));
}

static void fault_unmapped_write(uintptr_t unused)
{
    (void)unused;
    touch_write(come_and_go(true));
}

/* Memory that is mapped by blocks where there are any, and may only be read from now on. */
static void fault_protected(uintptr_t unused)
{
    struct kymo_map map = {.len = 4u << 20, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    (void)unused;
    if (MemMap(&map) != 0 ||
        MemProtect((void *)(uintptr_t)map.vaddr, (size_t)map.len, KYMO_PROT_READ) != 0) {
        exit(1);
    }
    touch_write((uintptr_t)map.vaddr + (3u << 20));
}

static uint32_t *volatile written;
static volatile uint32_t writes;

/* On a CPU of its own where there are two; never in the kernel. */
static void *writes_on(void *arg)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1u << cpu_in_turn(1)));
    for (;;) {
        *written = ++writes;
    }
    return arg;
}

/* Makes a page that another CPU writes to all the time. */
static struct kymo_map written_elsewhere(void)
{
    struct kymo_map map = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    if (MemMap(&map) != 0) {
        exit(1);
    }
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    written = (uint32_t *)(uintptr_t)map.vaddr;
    start_thread(writes_on, NULL, 0);
    while (writes == 0) {
        sleep_ms(1);
    }
    return map;
}

/* The other thread faults at once. */
static void fault_stale_unmapped(uintptr_t unused)
{
    struct kymo_map map = written_elsewhere();

    (void)unused;
    MemUnmap((void *)(uintptr_t)map.vaddr, (size_t)map.len);
    sleep_ms(500);
}

static void fault_stale_protected(uintptr_t unused)
{
    struct kymo_map map = written_elsewhere();

    (void)unused;
    MemProtect((void *)(uintptr_t)map.vaddr, (size_t)map.len, KYMO_PROT_READ);
    sleep_ms(500);
}

static void fault_abort(uintptr_t unused)
{
    (void)unused;
    abort();
}

static const struct {
    const char *name;
    void (*block)(void);
} blocks[] = {
    {"send", block_send},       {"reply", block_send},
    {"receive", block_receive}, {"nanosleep", block_nanosleep},
    {"mutex", block_mutex},     {"condvar", block_condvar},
    {"join", block_join},       {"sem", block_sem},
    {"intr", block_intr},       {"waitthread", block_waitthread},
    {"running", block_running}, {"laden", block_laden},
    {"waitctx", block_waitctx}, {"spawning", block_spawning},
    {"alarm", block_alarm},     {"parent_of_held", block_parent_of_held},
};

static const struct {
    const char *name;
    void (*fault)(uintptr_t addr);
} faults[] = {
    {"read", touch_read},
    {"write", touch_write},
    {"jump", touch_jump},
    {"stack", fault_stack},
    {"undefined", fault_undefined},
    {"text", fault_own_text},
    {"data", fault_own_data},
    {"abort", fault_abort},
    {"object", fault_object},
    {"mapped", fault_mapped},
    {"unmapped-read", fault_unmapped_read},
    {"unmapped-write", fault_unmapped_write},
    {"protected", fault_protected},
    {"stale-unmapped", fault_stale_unmapped},
    {"stale-protected", fault_stale_protected},
};

int main(int argc, char **argv)
{
    SyncTypeCreate(SYNC_MUTEX_FREE, &mutex, NULL);
    SyncTypeCreate(SYNC_COND, &cond, NULL);
    SyncTypeCreate(SYNC_SEM, &sem, NULL);
    if (argc >= 3 && strcmp(argv[1], "block") == 0) {
        if (argc >= 4) { /* "pid:chid" */
            char *rest;

            pid_arg = (int)strtol(argv[3], &rest, 10);
            chid_arg = *rest == ':' ? (int)strtol(rest + 1, NULL, 10) : 0;
        }
        for (unsigned i = 0; i < COUNT(blocks); i++) {
            if (strcmp(argv[2], blocks[i].name) == 0) {
                blocks[i].block();
            }
        }
    }
    if (argc >= 3 && strcmp(argv[1], "fault") == 0) {
        uintptr_t addr = argc >= 4 ? (uintptr_t)strtoull(argv[3], NULL, 16) : 0;

        for (unsigned i = 0; i < COUNT(faults); i++) {
            if (strcmp(argv[2], faults[i].name) == 0) {
                faults[i].fault(addr);
            }
        }
    }
    return SURVIVED;
}
