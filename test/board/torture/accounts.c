/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the system has left. Of what processes hold, ProcInfo() tells; of tables that nobody lists
 * (names, queued pulses) and of what was lost without an owner it doesn't: there, processes are
 * spawned until no more can be, and each takes all that it gets. Both must be the same before and
 * after; nobody else may run.
 */
#include "test/board/torture/torture.h"

#include <pthread.h>
#include <stdio.h>

#include "lib/include/kymo.h"
#include "lib/include/sys/neutrino_r.h"

#define TAKERS_MOST 48
#define PIECES_MOST 64
#define THREADS_MOST 64 /* of a taker */

const char *account_name(enum account account)
{
    static const char *const names[ACCOUNTS] = {
        [ACCOUNT_PROCESSES] = "processes",
        [ACCOUNT_THREADS] = "threads",
        [ACCOUNT_CHANNELS] = "channels",
        [ACCOUNT_CONNECTIONS] = "connections",
        [ACCOUNT_MAPPINGS] = "mappings",
        [ACCOUNT_TIMERS] = "timers",
        [ACCOUNT_MEMORY] = "bytes of processes",
        [ACCOUNT_OBJECTS] = "memory objects",
        [LEFT_MEMORY] = "bytes left",
        [LEFT_PROCESSES] = "processes left",
        [LEFT_THREADS] = "threads left",
        [LEFT_CHANNELS] = "channels left",
        [LEFT_CONNECTIONS] = "connections left",
        [LEFT_TIMERS] = "timers left",
        [LEFT_NAMES] = "names left",
        [LEFT_PULSES] = "pulses left",
    };

    return names[account];
}

/* ---- a process that takes all it gets ------------------------------------------------------ */

static uint32_t got[TAKER_KINDS];
#define GOT(account) got[(account)-LEFT_OF_TAKER]

static sync_t never = {.owner = SYNC_OWNER_SEM};

/* Its stack is small. */
static void *waits(void *unused)
{
    for (;;) {
        SyncSemWait_r(&never, 0);
    }
    return unused;
}

static void take_names(int chid)
{
    char name[KYMO_NAME_MAX];

    for (;;) {
        snprintf(name, sizeof(name), "taken/%d/%u", self_pid(), (unsigned)GOT(LEFT_NAMES));
        if (NameAttach(name, chid) < 0) {
            return;
        }
        GOT(LEFT_NAMES)++;
    }
}

static void take_channels_and_pulses(void)
{
    for (;;) {
        int chid = ChannelCreate(0);
        if (chid < 0) {
            return;
        }
        GOT(LEFT_CHANNELS)++;
        if (GOT(LEFT_CHANNELS) == 1) {
            take_names(chid);
        }
        int coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
        if (coid >= 0) {
            GOT(LEFT_CONNECTIONS)++;
            while (MsgSendPulse(coid, 1, 1, 0) == 0) {
                GOT(LEFT_PULSES)++;
            }
        }
    }
}

static void take_connections(const struct torture_addresses *addresses)
{
    while (ConnectAttach(0, addresses->judge_pid, addresses->judge_chid, _NTO_SIDE_CHANNEL, 0) >=
               0 ||
           ConnectAttach(0, addresses->judge_pid, addresses->judge_chid, 0, 0) >= 0) {
        GOT(LEFT_CONNECTIONS)++;
    }
}

static void take_threads(void)
{
    static _Alignas(64) uint8_t stacks[THREADS_MOST][512];
    struct _thread_attr attr = {.stacksize = sizeof(stacks[0]), .priority = 1};

    for (unsigned i = 0; i < THREADS_MOST; i++) {
        attr.stackaddr = stacks[i];
        if (ThreadCreate(0, waits, NULL, &attr) < 0) {
            return;
        }
        GOT(LEFT_THREADS)++;
    }
}

/* Connects while there are connections, and takes when it is its turn. It keeps all: the judge
 * doesn't reply to what it tells, but ends it. */
int taker_main(const struct torture_addresses *addresses)
{
    struct taker_report done = {.magic = TAKER_MAGIC};
    struct sigevent nothing = {.sigev_notify = SIGEV_NONE};
    int coid = ConnectAttach(0, addresses->judge_pid, addresses->judge_chid, _NTO_SIDE_CHANNEL, 0);

    MsgSend(coid, &done, sizeof(done), NULL, 0);
    take_channels_and_pulses();
    take_connections(addresses);
    while (TimerCreate(CLOCK_MONOTONIC, &nothing) >= 0) {
        GOT(LEFT_TIMERS)++;
    }
    take_threads();
    memcpy(done.got, got, sizeof(got));
    done.has_taken = 1;
    MsgSend(coid, &done, sizeof(done), NULL, 0);
    return 0;
}

/* ---- the judge's part ---------------------------------------------------------------------- */

static struct accounts *current;
static volatile struct {
    unsigned reports; /* of both kinds */
    int waits;        /* rcvid of the one that has connected last */
} takers;

void accounts_told(const struct taker_report *report, int rcvid)
{
    takers.waits = rcvid;
    for (unsigned i = 0; report->has_taken && i < TAKER_KINDS; i++) {
        current->of[LEFT_OF_TAKER + i] += report->got[i];
    }
    takers.reports++;
}

static void wait_for_report(unsigned number)
{
    for (unsigned i = 0; takers.reports < number && i < 1000; i++) {
        sleep_ms(1);
    }
    EXPECT_EQ(takers.reports, number);
}

/* Bytes that can be mapped, the largest pieces first; gives them back. */
static uint64_t memory_left(void)
{
    static uintptr_t pieces[PIECES_MOST];
    unsigned n = 0;
    uint64_t sum = 0;

    for (uint64_t size = 1u << 30; size >= 4096; size /= 2) {
        struct kymo_map map = {.len = size, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

        while (n < PIECES_MOST && MemMap(&map) == 0) {
            sum += map.len;
            pieces[n++] = (uintptr_t)map.vaddr;
            map.len = size;
        }
    }
    while (n > 0) {
        EXPECT_EQ(MemUnmap((void *)pieces[--n], 0), 0);
    }
    return sum;
}

static void held_by_processes(struct accounts *a)
{
    struct kymo_proc_info info = {0};
    struct kymo_object_info object;

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        a->of[ACCOUNT_PROCESSES]++;
        a->of[ACCOUNT_THREADS] += info.nthreads;
        a->of[ACCOUNT_CHANNELS] += info.nchannels;
        a->of[ACCOUNT_CONNECTIONS] += info.nconnections;
        a->of[ACCOUNT_MAPPINGS] += info.nmaps;
        a->of[ACCOUNT_TIMERS] += info.ntimers;
        a->of[ACCOUNT_MEMORY] += info.memory;
    }
    for (int i = 0; (i = ObjectInfo(KYMO_OBJECT_AT + i, &object)) >= 0; i++) {
        a->of[ACCOUNT_OBJECTS]++;
    }
}

void accounts_take(struct accounts *accounts, const struct torture_addresses *addresses)
{
    int pids[TAKERS_MOST], rcvids[TAKERS_MOST], status;
    char text[ADDRESSES_TEXT];
    unsigned n = 0;

    memset(accounts, 0, sizeof(*accounts));
    held_by_processes(accounts);
    accounts->of[LEFT_MEMORY] = memory_left();
    addresses_write(text, addresses);
    current = accounts;
    takers.reports = 0;
    for (; n < TAKERS_MOST; n++) {
        pids[n] = spawn("t_torture", 0, PRIORITY_VICTIM, "taker", "0", text);
        if (pids[n] < 0) {
            break;
        }
        wait_for_report(n + 1);
        rcvids[n] = takers.waits;
    }
    EXPECT(n < TAKERS_MOST || sizeof(void *) == 8); /* large tables have room for more */
    accounts->of[LEFT_PROCESSES] = n;
    for (unsigned i = 0; i < n; i++) {
        EXPECT_EQ(MsgReply(rcvids[i], 0, NULL, 0), 0);
        wait_for_report(n + i + 1);
    }
    while (n > 0) {
        EXPECT_EQ(SignalKill(0, pids[--n], 0, KYMO_SIGKILL, 0, 0), 0);
        EXPECT_EQ(ProcWait(pids[n], &status, 0), pids[n]);
    }
}
