/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Killing what runs on other CPUs: children whose threads do everything that blocks, wakes, boosts,
 * maps and moves between CPUs are killed at any moment, by the parent or by one of their own
 * threads. Each must be gone, and in the end no memory, thread or channel may be missing.
 * `t_kill SEED` runs; `t_kill child SEED PID:CHID` is a child. When it dies is up to the CPUs, so
 * only under icount a run repeats.
 */
#include "test/board/programs/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 40
#define TOGETHER 2 /* children at a time */
#define WORKERS 5

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/* ---- a child ----------------------------------------------------------------------- */

static struct link own;
static int parent;
static sync_t mutex, cond, sem;
static uint64_t seeds[WORKERS];

static void limit(uint64_t *state)
{
    uint64_t ns = next(state) % 200000;

    TimerTimeout(CLOCK_MONOTONIC, ~_NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
}

static void serve(void)
{
    struct _pulse got;
    int rcvid = MsgReceive(own.chid, &got, sizeof(got), NULL);

    if (rcvid > 0) {
        MsgReply(rcvid, 0, &got, sizeof(got));
    }
}

static void map_something(void)
{
    struct kymo_map map = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    if (MemMap(&map) == 0) {
        *(volatile int *)(uintptr_t)map.vaddr = 1;
        MemUnmap((void *)(uintptr_t)map.vaddr, map.len);
    }
}

static void *gives_back(void *arg)
{
    SchedYield();
    return arg;
}

static void locked(uint64_t *state)
{
    if (SyncMutexLock(&mutex) == 0) {
        limit(state);
        SyncCondvarWait(&cond, &mutex);
        SyncMutexUnlock(&mutex);
    }
}

static void wander(uint64_t *state)
{
    struct sched_param_kymo param = {.sched_priority = 5 + (int)(next(state) % 6)};

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1 + next(state) % 255));
    SchedSet(0, 0, SCHED_NOCHANGE, &param);
}

static void do_something(uint64_t *state)
{
    char text[32] = "of no interest";
    uint32_t what = next(state) % 16;

    if (what < 8) {
        limit(state);
    }
    switch (what) {
    case 0:
    case 1:
        serve();
        break;
    case 2:
    case 3:
        MsgSend(own.coid, text, sizeof(text), text, sizeof(text));
        break;
    case 4:
        MsgSend(parent, text, sizeof(text), text, sizeof(text));
        break;
    case 5:
        SyncSemWait(&sem, 0);
        break;
    case 6:
        locked(state);
        break;
    case 7:
        join(start_thread(gives_back, NULL, 0));
        break;
    case 8:
        SyncSemPost(&sem);
        break;
    case 9:
        SyncCondvarSignal(&cond, (int)(next(state) % 2));
        break;
    case 10:
        MsgSendPulse(own.coid, (int)(1 + next(state) % 20), 1, 2);
        break;
    case 11:
        map_something();
        break;
    case 12:
        wander(state);
        break;
    case 13:
        SchedYield();
        break;
    default:
        for (volatile uint32_t i = next(state) % 3000; i > 0; i--) {
        }
    }
}

static void *works(void *arg)
{
    uint64_t *state = arg;

    for (;;) {
        do_something(state);
        if (next(state) % 4096 == 0) {
            exit(1);
        }
    }
    return NULL;
}

static int child(uint64_t seed, const char *to)
{
    int pid = 0, chid = 0;

    sscanf(to, "%d:%d", &pid, &chid);
    parent = ConnectAttach(0, pid, chid, _NTO_SIDE_CHANNEL, 0);
    own = make_link(0);
    SyncTypeCreate(SYNC_MUTEX_FREE, &mutex, NULL);
    SyncTypeCreate(SYNC_COND, &cond, NULL);
    SyncTypeCreate(SYNC_SEM, &sem, NULL);
    for (unsigned i = 0; i < WORKERS; i++) {
        seeds[i] = seed + 977 * i;
        if (i > 0) {
            start_thread(works, &seeds[i], 5 + (int)i);
        }
    }
    works(&seeds[0]);
    return 0;
}

/* ---- the parent -------------------------------------------------------------------- */

static struct link served;
static uint64_t state = 1;

static void *answers(void *unused)
{
    char text[64];

    for (;;) {
        int rcvid = MsgReceive(served.chid, text, sizeof(text), NULL);

        if (rcvid > 0) {
            MsgReply(rcvid, 0, text, 8);
        }
    }
    return unused;
}

static uint64_t account(void)
{
    struct kymo_proc_info info = {0};
    uint64_t sum = 0;

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        sum += info.memory * 1000 + info.nthreads * 10 + info.nchannels;
    }
    return sum;
}

static int child_start(void)
{
    char seed[16], to[24];

    snprintf(seed, sizeof(seed), "%lu", (unsigned long)next(&state));
    snprintf(to, sizeof(to), "%d:%d", self_pid(), served.chid);
    return spawn("t_kill", 0, 9, "child", seed, to);
}

static void t_running(void)
{
    served = make_link(0);
    start_thread(answers, NULL, 10);
    sleep_ms(5);
    uint64_t before = account();
    for (int round = 0; round < ROUNDS; round++) {
        int pid[TOGETHER], status;

        for (int i = 0; i < TOGETHER; i++) {
            pid[i] = child_start();
            EXPECT(pid[i] > 0);
        }
        uint64_t ns = next(&state) % (4 * MS);
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
        for (int i = 0; i < TOGETHER; i++) {
            SignalKill(0, pid[i], 0, KYMO_SIGKILL, 0, 0); /* ESRCH: it has ended itself */
        }
        for (int i = 0; i < TOGETHER; i++) {
            EXPECT_EQ(ProcWait(pid[i], &status, 0), pid[i]);
        }
    }
    EXPECT_EQ(account(), before);
}

int main(int argc, char **argv)
{
    static const struct check table[] = {{"running on any CPU", t_running}};

    if (argc >= 4 && strcmp(argv[1], "child") == 0) {
        return child(strtoull(argv[2], NULL, 10), argv[3]);
    }
    state = argc >= 2 ? strtoull(argv[1], NULL, 10) : 1;
    return check_run("kill", table, COUNT(table));
}
