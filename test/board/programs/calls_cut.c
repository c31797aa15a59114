/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of calls.h: calls whose wait is ended from outside. Each has its INT event, whose it is: in
 * front of the exit of a thread that goes on, between THDEAD and THDESTROY of one that doesn't.
 */
#include "lib/include/kymo.h"
#include "test/board/programs/calls.h"
#include "test/board/programs/check.h"
#include "test/board/programs/truth.h"

#include <signal.h>

static sync_t sem;

static void limit(uint32_t states, uint64_t ns)
{
    TimerTimeout(CLOCK_MONOTONIC, states, NULL, &ns, NULL);
}

/* Too late: a receive, a semaphore, a condition variable (which comes with its mutex). */
void calls_too_late(void)
{
    static sync_t cond, mutex;
    int chid = ChannelCreate(0);
    char c;

    cond = mutex = sem = (sync_t){0, 0};
    SyncTypeCreate(SYNC_SEM, &sem, NULL);
    SyncTypeCreate(SYNC_COND, &cond, NULL);
    SyncTypeCreate(SYNC_MUTEX_FREE, &mutex, NULL);
    SyncMutexLock(&mutex);
    truth_step();
    limit(_NTO_TIMEOUT_RECEIVE, 1 * MS);
    EXPECT_ERR(MsgReceive(chid, &c, 1, NULL), ETIMEDOUT);
    limit(_NTO_TIMEOUT_SEM, 1 * MS);
    EXPECT_ERR(SyncSemWait(&sem, 0), ETIMEDOUT);
    limit(_NTO_TIMEOUT_CONDVAR, 1 * MS);
    EXPECT_ERR(SyncCondvarWait(&cond, &mutex), ETIMEDOUT);
    truth("INT_CALL:MSG_RECEIVEV/14");
    truth("KER_EXIT:MSG_RECEIVEV/14 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(ETIMEDOUT));
    truth("INT_CALL:SYNC_SEM_WAIT/85");
    truth("KER_EXIT:SYNC_SEM_WAIT/85 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(ETIMEDOUT));
    truth("INT_CALL:SYNC_CONDVAR_WAIT/82");
    truth("KER_EXIT:SYNC_CONDVAR_WAIT/82 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(ETIMEDOUT));
    SyncMutexUnlock(&mutex);
    ChannelDestroy(chid);
}

/* What ends by itself: a sleep, a call that doesn't wait, one that has what it waited for. */
void calls_in_time(void)
{
    sem = (sync_t){0, 0};
    SyncTypeCreate(SYNC_SEM, &sem, NULL);
    SyncSemPost(&sem);
    truth_step();
    sleep_ms(1);
    limit(_NTO_TIMEOUT_SEM, 1000 * MS);
    EXPECT_EQ(SyncSemWait(&sem, 0), 0);
    limit(_NTO_TIMEOUT_SEM, 0);
    EXPECT_ERR(SyncSemWait(&sem, 0), ETIMEDOUT);
    truth("KER_EXIT:TIMER_TIMEOUT/75 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(ETIMEDOUT));
    truth("KER_EXIT:SYNC_SEM_WAIT/85 ret_val:0");
    truth("KER_EXIT:SYNC_SEM_WAIT/85 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(ETIMEDOUT));
    truth("never INT_CALL:TIMER_TIMEOUT/75");
    truth("never INT_CALL:SYNC_SEM_WAIT/85");
}

static void *waits(void *arg)
{
    SyncSemWait(&sem, 0);
    return arg;
}

static void canceled(void)
{
    ThreadDestroy(0, 0, (void *)78);
}

static int waiter(void)
{
    sem = (sync_t){0, 0};
    SyncTypeCreate(SYNC_SEM, &sem, NULL);
    int tid = start_thread(waits, NULL, 0);
    wait_state(self_pid(), tid, STATE_SEM);
    return tid;
}

/* A thread that is cancelled goes on elsewhere; one that is destroyed does not. */
void calls_cancelled(void)
{
    void *status = NULL;
    int tid = waiter();

    truth_step();
    EXPECT_EQ(ThreadCancel(tid, canceled), 0);
    EXPECT_EQ(ThreadJoin(tid, &status), 0);
    EXPECT_EQ((uintptr_t)status, 78);
    truth("INT_CALL:SYNC_SEM_WAIT/85");
    truth("KER_EXIT:SYNC_SEM_WAIT/85 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(EINTR));
    truth("never INT_CALL:THREAD_DESTROY/47"); /* its own */

    tid = waiter();
    truth_step();
    EXPECT_EQ(ThreadDestroy(tid, -1, (void *)79), 0);
    EXPECT_EQ(ThreadJoin(tid, &status), 0);
    truth("fast:THREAD :THDEAD pid:%d tid:%d", self_pid(), tid);
    truth("INT_CALL:SYNC_SEM_WAIT/85");
    truth("THREAD :THDESTROY pid:%d tid:%d", self_pid(), tid);
    truth("never KER_EXIT:SYNC_SEM_WAIT/85 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(EINTR));
}

/* A process that is killed: its first thread ends it, and the killer waits for that. What that
 * thread causes does not belong to this step. */
void calls_killed(void)
{
    int pid = spawn("victim", 0, 0, "block", "join", NULL), status;

    wait_state(pid, 1, STATE_JOIN);
    wait_state(pid, 2, STATE_SEM);
    truth_step();
    EXPECT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    truth("fast:THREAD :THREADY pid:%d tid:1", pid);
    truth("fast:THREAD :THWAITCTX pid:%d tid:1", self_pid());
    truth("KER_EXIT:SIGNAL_KILL/26 ret_val:0");
    truth("never INT_CALL:SIGNAL_KILL/26");
}
