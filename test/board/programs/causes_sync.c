/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of causes.h: what threads wait for, and what they wait with. */
#include "test/board/programs/causes.h"

#define LONG_ENOUGH 6000
#define LONG_WORK 5000000

static sync_t mutex, cond, sem;

static void *locks(void *unused)
{
    SyncMutexLock(&mutex);
    SyncMutexUnlock(&mutex);
    return unused;
}

/* Its owner inherits the helper's priority, and hands it over. */
void cause_mutex(void)
{
    SyncTypeCreate(SYNC_MUTEX_FREE, &mutex, NULL);
    fact("mutex", (uintptr_t)&mutex);
    SyncMutexLock(&mutex);
    int tid = helper(locks, NULL);
    fact("waiter", (uint64_t)tid);
    SyncMutexUnlock(&mutex);
    join(tid);
}

static void *takes(void *unused)
{
    SyncSemWait(&sem, 0);
    return unused;
}

void cause_semaphore(void)
{
    SyncTypeCreate(SYNC_SEM, &sem, NULL);
    int tid = helper(takes, NULL);
    fact("taker", (uint64_t)tid);
    SyncSemPost(&sem);
    join(tid);
}

static void *hears(void *unused)
{
    SyncMutexLock(&mutex);
    SyncCondvarWait(&cond, &mutex);
    SyncMutexUnlock(&mutex);
    return unused;
}

void cause_condvar(void)
{
    SyncTypeCreate(SYNC_MUTEX_FREE, &mutex, NULL);
    SyncTypeCreate(SYNC_COND, &cond, NULL);
    int tid = helper(hears, NULL);
    fact("hearer", (uint64_t)tid);
    SyncCondvarSignal(&cond, 0);
    join(tid);
}

static void *ends(void *unused)
{
    return unused;
}

/* The helper's priority is below, so that it is there to be waited for. */
void cause_join(void)
{
    int tid = start_thread(ends, NULL, own_priority() - 1);

    fact("joined", (uint64_t)tid);
    join(tid);
}

void cause_sleep(void)
{
    sleep_ms(1);
}

static volatile bool yielded;

static void *yields(void *unused)
{
    yielded = true;
    return unused;
}

/* To one of the same priority, which then waits in the queue while this thread gives way, or
 * runs on another CPU by then. */
void cause_yield(void)
{
    yielded = false;
    int tid = start_thread(yields, NULL, own_priority());
    fact("equal", (uint64_t)tid);
    SchedYield();
    join(tid);
    EXPECT(yielded);
}

/* A RUNNING thread's new priority makes the scheduler look; this one stays above all others. */
void cause_remain(void)
{
    struct sched_param_kymo up = {.sched_priority = own_priority() + 1};
    struct sched_param_kymo down = {.sched_priority = own_priority()};

    EXPECT_EQ(SchedSet(0, 0, SCHED_NOCHANGE, &up), 0);
    EXPECT_EQ(SchedSet(0, 0, SCHED_NOCHANGE, &down), 0);
}

/* Runs beside one of the same priority until its quantum is over. */
void cause_quantum(void)
{
    yielded = false;
    int tid = start_thread(yields, NULL, own_priority());
    while (!yielded) {
    }
    join(tid);
}

/* A timer of this program, for a time that it tells. */
void cause_timer(void)
{
    struct link to = make_link(0);
    struct sigevent event = {0};
    struct _pulse pulse;
    struct _itimer when = {now_ns() + 2 * MS, 0};

    SIGEV_PULSE_INIT(&event, to.coid, 10, 3, 33);
    int timer = TimerCreate(CLOCK_MONOTONIC, &event);
    fact("due", when.nsec);
    TimerSettime(timer, (int)TIMER_ABSTIME, &when, NULL);
    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    TimerDestroy(timer);
    drop_link(&to);
}

static volatile bool over;
static volatile unsigned calls;

/* On whichever CPU there is, as fast as it can. */
static void *storms(void *unused)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)UINT32_MAX);
    while (!over) {
        SchedGet(0, 0, NULL);
        calls++;
    }
    return unused;
}

/* The kernel's lock: all CPUs want it. Nothing to see where there is one CPU. */
void cause_spin(void)
{
    int tid[2]; /* a CPU is left for others */
    unsigned n = cpu_count() > 1 ? cpu_count() - 1 : 0;

    over = false;
    calls = 0;
    n = n < COUNT(tid) ? n : COUNT(tid);
    for (unsigned i = 0; i < n; i++) {
        tid[i] = start_thread(storms, NULL, own_priority());
    }
    for (unsigned i = 0; n > 0 && i < LONG_ENOUGH; i++) {
        SchedGet(0, 0, NULL);
    }
    over = true;
    for (unsigned i = 0; i < n; i++) {
        join(tid[i]);
    }
}

/* Where the profiler finds it, in some of its milliseconds. */
static __attribute__((noinline)) void works(void)
{
    for (volatile unsigned i = 0; i < LONG_WORK; i++) {
    }
}

void cause_work(void)
{
    fact("works", (uintptr_t)works & ~(uintptr_t)1);
    works();
}
