/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads: life, join, detach, cancel, limits, names, run masks; scheduling parameters. */
#include "lib/include/kymo.h"
#include "test/board/programs/check.h"

#include <pthread.h>
#include <stdlib.h>

static volatile int stage;
static sync_t sem;

static void *gives(void *arg)
{
    return (char *)arg + 1;
}

static void *waits(void *unused)
{
    SyncSemWait(&sem, 0);
    return unused;
}

static void *sleeps(void *unused)
{
    for (;;) {
        sleep_ms(1000);
    }
    return unused;
}

static void fresh(void)
{
    memset((void *)&sem, 0, sizeof(sem));
    SyncTypeCreate(SYNC_SEM, &sem, NULL);
    stage = 0;
}

static void t_join(void)
{
    void *status = NULL;
    int tid = start_thread(gives, (void *)41, 0);

    EXPECT_EQ(ThreadJoin(tid, &status), 0);
    EXPECT_EQ((uintptr_t)status, 42);
    EXPECT_ERR(ThreadJoin(tid, &status), ESRCH);
    EXPECT_ERR(ThreadJoin(self_tid(), NULL), EDEADLK);
    EXPECT_ERR(ThreadJoin(9999, NULL), ESRCH);
    EXPECT_ERR(ThreadJoin(-1, NULL), ESRCH);
}

/* A thread gets the memory of one that has ended, and finds nothing of its in it. */
static pthread_key_t key;
static uintptr_t where;
static void *looks_around(void *arg)
{
    volatile char here = 0;

    where = (uintptr_t)&here;
    EXPECT_EQ(errno, 0);
    EXPECT(pthread_getspecific(key) == NULL);
    EXPECT_EQ(pthread_setspecific(key, arg), 0);
    errno = EBADF;
    return NULL;
}

static void t_again(void)
{
    struct kymo_proc_info before = {0}, after = {0};
    pthread_t thread;

    EXPECT_EQ(pthread_key_create(&key, NULL), 0);
    EXPECT_EQ(pthread_create(&thread, NULL, looks_around, &key), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    uintptr_t first = where;
    EXPECT_EQ(ProcInfo(self_pid(), &before), self_pid());
    for (unsigned i = 0; i < 20; i++) {
        EXPECT_EQ(pthread_create(&thread, NULL, looks_around, &key), 0);
        EXPECT_EQ(pthread_join(thread, NULL), 0);
        EXPECT(where == first);
    }
    EXPECT_EQ(ProcInfo(self_pid(), &after), self_pid());
    EXPECT_EQ(after.memory, before.memory);
    EXPECT_EQ(pthread_key_delete(key), 0);
}

static int joinee;
static void *joins(void *unused)
{
    EXPECT_EQ(ThreadJoin(joinee, NULL), 0);
    return unused;
}

static void t_join_twice(void)
{
    int joiner;

    fresh();
    joinee = start_thread(waits, NULL, 0);
    joiner = start_thread(joins, NULL, 0);
    wait_state(self_pid(), joiner, STATE_JOIN);
    EXPECT_ERR(ThreadJoin(joinee, NULL), EBUSY);
    SyncSemPost(&sem);
    join(joiner);
}

static void t_detach(void)
{
    int tid;

    fresh();
    tid = start_thread(waits, NULL, 0);
    EXPECT_EQ(ThreadDetach(tid), 0);
    EXPECT_ERR(ThreadDetach(tid), EINVAL);
    EXPECT_ERR(ThreadJoin(tid, NULL), EINVAL);
    SyncSemPost(&sem);
    for (int i = 0; i < 60000 && ThreadDetach(tid) == -1 && errno != ESRCH; i++) {
        sleep_ms(1);
    }
    EXPECT_ERR(ThreadDetach(tid), ESRCH);
}

static void canceled_end(void)
{
    stage = 7;
    ThreadDestroy(0, 0, (void *)77);
}

static void t_cancel(void)
{
    void *status = NULL;
    int tid;

    stage = 0;
    tid = start_thread(sleeps, NULL, 0);
    wait_state(self_pid(), tid, STATE_NANOSLEEP);
    EXPECT_EQ(ThreadCancel(tid, canceled_end), 0);
    EXPECT_EQ(ThreadJoin(tid, &status), 0);
    EXPECT_EQ(stage, 7);
    EXPECT_EQ((uintptr_t)status, 77);
    EXPECT_ERR(ThreadCancel(9999, canceled_end), ESRCH);
}

static void t_destroy(void)
{
    void *status = NULL;
    int tid = start_thread(sleeps, NULL, 0);

    wait_state(self_pid(), tid, STATE_NANOSLEEP);
    EXPECT_EQ(ThreadDestroy(tid, -1, (void *)5), 0);
    EXPECT_EQ(ThreadJoin(tid, &status), 0);
    EXPECT_EQ((uintptr_t)status, 5);
    EXPECT_ERR(ThreadDestroy(9999, -1, NULL), ESRCH);
}

/* As many as there can be, twice: the second time shows that nothing was left behind. */
static void t_limit(void)
{
    static int tids[256];
    int first = 0;

    for (int round = 0; round < 2; round++) {
        int n = 0;

        fresh();
        for (; n < (int)COUNT(tids); n++) {
            int error = pthread_create(&tids[n], NULL, waits, NULL);

            if (error != 0) {
                EXPECT_EQ(error, EAGAIN);
                break;
            }
        }
        EXPECT(n >= 4 && n < (int)COUNT(tids));
        EXPECT(round == 0 || n == first);
        first = n;
        for (int i = 0; i < n; i++) {
            SyncSemPost(&sem);
        }
        for (int i = 0; i < n; i++) {
            join(tids[i]);
        }
    }
}

static void t_name(void)
{
    char old[KYMO_THREAD_NAME_MAX] = "", now[] = "worker";
    struct _thread_name name = {sizeof(now), sizeof(old), now};
    struct kymo_thread_info info = {0};

    EXPECT_EQ(ThreadCtl(_NTO_TCTL_NAME, &name), 0);
    EXPECT(ThreadInfo(self_pid(), self_tid(), &info) >= 0);
    EXPECT_EQ(strcmp(info.name, "worker"), 0);
    EXPECT_EQ(info.state, STATE_RUNNING);
    name = (struct _thread_name){-1, sizeof(old), old};
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_NAME, &name), 0);
    EXPECT_EQ(strcmp(old, "worker"), 0);
}

/* Another thread of the process gets its name, of which 15 characters count. */
static void t_name_other(void)
{
    struct kymo_thread_info info = {0};
    int tid;

    fresh();
    tid = start_thread(waits, NULL, 0);
    EXPECT_EQ(pthread_setname_np(tid, "another-one-that-is-long"), 0);
    EXPECT_EQ(ThreadInfo(self_pid(), tid, &info), tid);
    EXPECT_EQ(strcmp(info.name, "another-one-tha"), 0);
    EXPECT_EQ(pthread_setname_np(pthread_self(), "self"), 0);
    EXPECT(ThreadInfo(self_pid(), self_tid(), &info) >= 0);
    EXPECT_EQ(strcmp(info.name, "self"), 0);
    EXPECT_EQ(pthread_setname_np(9999, "nobody"), ESRCH);
    EXPECT_EQ(pthread_setname_np(0x10000 + tid, "nobody"), ESRCH);
    SyncSemPost(&sem);
    join(tid);
    EXPECT_EQ(pthread_setname_np(tid, "late"), ESRCH);
}

/* A run mask that names none that runs, wherever a program gives one. */
static void t_absent_cpus(uint32_t absent)
{
    struct _thread_attr attr = {.runmask = absent};
    uint32_t mask = absent;

    EXPECT_ERR(ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)absent), EINVAL);
    EXPECT_ERR(ThreadCtl(_NTO_TCTL_RUNMASK_GET_AND_SET, &mask), EINVAL);
    EXPECT_EQ(mask, absent);
    EXPECT_ERR(ThreadCreate(0, sleeps, NULL, &attr), EINVAL);
}

static void t_runmask(void)
{
    uint32_t all = kymo_cpu_mask(), mask = 0;

    EXPECT_EQ(ThreadCtl(_NTO_TCTL_RUNMASK_GET, &mask), 0);
    EXPECT_EQ(mask & all, all);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        struct kymo_thread_info info = {0};

        EXPECT_EQ(ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1u << cpu)), 0);
        SchedYield();
        EXPECT(ThreadInfo(self_pid(), self_tid(), &info) >= 0);
        EXPECT_EQ(info.cpu, cpu);
    }
    EXPECT_ERR(ThreadCtl(_NTO_TCTL_RUNMASK, (void *)0), EINVAL);
    t_absent_cpus(~all);
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)all), 0);
}

static void t_sched(void)
{
    struct sched_param_kymo param = {.sched_priority = 12}, got = {0};
    struct sched_info_kymo info = {0};

    EXPECT_EQ(SchedSet(0, 0, SCHED_FIFO, &param), 0);
    EXPECT_EQ(SchedGet(0, 0, &got), SCHED_FIFO);
    EXPECT_EQ(got.sched_priority, 12);
    EXPECT_EQ(got.sched_curpriority, 12);
    param.sched_priority = 256;
    EXPECT_ERR(SchedSet(0, 0, SCHED_FIFO, &param), EINVAL);
    param.sched_priority = 0;
    EXPECT_ERR(SchedSet(0, 0, SCHED_FIFO, &param), EINVAL);
    param.sched_priority = 64; /* this program has no ability "priority" */
    EXPECT_ERR(SchedSet(0, 0, SCHED_FIFO, &param), EPERM);
    param.sched_priority = 10;
    EXPECT_ERR(SchedSet(0, 0, 99, &param), EINVAL);
    EXPECT_ERR(SchedSet(99999, 0, SCHED_RR, &param), ESRCH);
    EXPECT_ERR(SchedGet(0, 99, &got), ESRCH);
    EXPECT_EQ(SchedSet(0, 0, SCHED_RR, &param), 0);
    EXPECT_EQ(SchedInfo(0, SCHED_RR, &info), 0);
    EXPECT_EQ(info.priority_max, PRIORITY_MAX);
    EXPECT_EQ(info.priority_unprivileged_max, PRIORITY_UNPRIVILEGED_MAX);
    EXPECT(info.interval_ns > 0);
    EXPECT_ERR(SchedInfo(0, 99, &info), EINVAL);
}

/*
 * Round robin: threads that never block all get on, however many CPUs there are. Nothing but their
 * quanta makes a CPU change between them. How long it takes is not asked.
 */
#define SPINNERS 9 /* more than CPUs */
static volatile unsigned turns[SPINNERS];

static void *spins(void *arg)
{
    volatile unsigned *turn = arg;

    while (stage == 0) {
        (*turn)++;
        kymo_spin_hint();
    }
    return NULL;
}

/* An emulator that runs CPUs in turn goes to the next one when a timer ends. */
static void *ticks(void *unused)
{
    while (stage == 0) {
        sleep_ms(5);
    }
    return unused;
}

static void *spins_pinned(void *arg)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    return spins(arg);
}

/* All of them get on from now. */
static bool all_turn(int n)
{
    unsigned before[SPINNERS];
    int got = 0;

    for (int i = 0; i < n; i++) {
        before[i] = turns[i];
    }
    for (int wait = 0; wait < 500 && got < n; wait++) {
        sleep_ms(20);
        got = 0;
        for (int i = 0; i < n; i++) {
            got += turns[i] != before[i];
        }
    }
    return got == n;
}

static void spin_all(void *(*func)(void *), int n)
{
    const struct sched_param param = {9};
    pthread_attr_t attr;
    pthread_t tid[SPINNERS];

    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedparam(&attr, &param);
    pthread_attr_setstacksize(&attr, 4096);
    stage = 0;
    int ticker = start_thread(ticks, NULL, 11);
    for (int i = 0; i < n; i++) {
        EXPECT_EQ(pthread_create(&tid[i], &attr, func, (void *)&turns[i]), 0);
    }
    EXPECT(all_turn(n));
    EXPECT(all_turn(n)); /* and not only once */
    stage = 1;
    for (int i = 0; i < n; i++) {
        join(tid[i]);
    }
    join(ticker);
}

static void t_round_robin(void)
{
    struct sched_param_kymo param = {.sched_priority = 10};

    EXPECT_EQ(SchedSet(0, 0, SCHED_RR, &param), 0);
    spin_all(spins_pinned, 2);
    spin_all(spins, SPINNERS);
}

static void *own_errno(void *arg)
{
    for (int i = 0; i < 200; i++) {
        errno = (int)(uintptr_t)arg;
        SchedYield();
        EXPECT_EQ(errno, (uintptr_t)arg);
        free(malloc(40 + (size_t)i));
    }
    return NULL;
}

static void t_errno(void)
{
    int tid[4];

    for (uintptr_t i = 0; i < 4; i++) {
        tid[i] = start_thread(own_errno, (void *)(i + 1), 0);
    }
    for (int i = 0; i < 4; i++) {
        join(tid[i]);
    }
}

static volatile unsigned counted;

static void *counts(void *unused)
{
    for (;;) {
        counted++;
        SchedYield();
    }
    return unused;
}

static int hold(int tid, bool on)
{
    int cmd = on ? _NTO_TCTL_ONE_THREAD_HOLD : _NTO_TCTL_ONE_THREAD_CONT;

    return ThreadCtl(cmd, (void *)(intptr_t)tid);
}

/* Until a thread has done something: a held one that has not, hangs the test. */
static void see_turns(void)
{
    unsigned before = counted;

    while (counted - before < 3) {
        sleep_ms(1);
    }
}

/* A busy thread of this priority makes no turn while it is held; on another CPU, too. */
static void t_hold(void)
{
    int tid = start_thread(counts, NULL, 0);

    for (int i = 0; i < 5; i++) {
        see_turns();
        EXPECT_EQ(hold(tid, true), 0);
        sleep_ms(1); /* on another CPU it may still be on its way out */
        unsigned before = counted;
        sleep_ms(3);
        EXPECT_EQ(counted, before);
        EXPECT_EQ(hold(tid, true), 0);
        EXPECT_EQ(hold(tid, false), 0);
    }
    see_turns();
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_THREADS_HOLD, NULL), 0);
    sleep_ms(1);
    unsigned before = counted;
    sleep_ms(3);
    EXPECT_EQ(counted, before);
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_THREADS_CONT, NULL), 0);
    see_turns();
    EXPECT_EQ(hold(tid, true), 0);
    EXPECT_EQ(ThreadDestroy(tid, 0, NULL), 0);
    join(tid);
    EXPECT_ERR(hold(tid, true), ESRCH);
    EXPECT_ERR(hold(0, true), ESRCH);
    EXPECT_ERR(hold(tid, false), ESRCH);
}

static void *holds_itself(void *unused)
{
    stage = 1;
    EXPECT_EQ(hold(self_tid(), true), 0);
    stage = 2;
    return unused;
}

/* By itself, and while it waits: what it waits for happens, and it stops after it. */
static void t_hold_waiting(void)
{
    fresh();
    int tid = start_thread(holds_itself, NULL, 0);
    while (stage == 0) {
        sleep_ms(1);
    }
    sleep_ms(2);
    EXPECT_EQ(stage, 1);
    EXPECT_EQ(hold(tid, false), 0);
    join(tid);
    EXPECT_EQ(stage, 2);
    tid = start_thread(waits, NULL, 0);
    sleep_ms(2);
    EXPECT_EQ(hold(tid, true), 0);
    EXPECT_EQ(SyncSemPost(&sem), 0);
    sleep_ms(2);
    EXPECT_EQ(hold(tid, false), 0);
    join(tid);
}

static const struct check table[] = {
    {"join", t_join},
    {"two joiners", t_join_twice},
    {"detach", t_detach},
    {"cancel", t_cancel},
    {"destroy", t_destroy},
    {"limit", t_limit},
    {"name", t_name},
    {"name of another", t_name_other},
    {"run mask", t_runmask},
    {"hold", t_hold},
    {"hold while waiting", t_hold_waiting},
    {"scheduling", t_sched},
    {"round robin", t_round_robin},
    {"errno and malloc per thread", t_errno},
    {"memory of an ended thread", t_again},
};

int main(void)
{
    return check_run("thread", table, COUNT(table));
}
