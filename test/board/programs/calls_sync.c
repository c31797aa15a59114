/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of calls.h: mutexes, semaphores and condition variables, called as the kernel's. */
#include "test/board/programs/calls.h"
#include "test/board/programs/check.h"
#include "test/board/programs/truth.h"

/* A call on one, told with what it holds before. */
static void tell(const char *call, const sync_t *sync, int count, unsigned owner)
{
    truth("wide:KER_CALL:%s sync:" TRUTH_P " count:%d owner:0x%08x", call, TRUTH_PTR(sync), count,
          owner);
}

void calls_mutexes(void)
{
    static sync_t sync;

    sync = (sync_t){-7, 0x66};
    truth_step();
    EXPECT_EQ(SyncTypeCreate(SYNC_MUTEX_FREE, &sync, NULL), 0);
    sync_t made = {sync.count, sync.owner};
    EXPECT_EQ(SyncMutexLock(&sync), 0);
    sync_t locked = {sync.count, sync.owner};
    EXPECT_EQ(SyncMutexUnlock(&sync), 0);
    sync_t free = {sync.count, sync.owner};
    EXPECT_EQ(SyncMutexRevive(&sync), -1);
    EXPECT_EQ(SyncCtl(99, &sync, (void *)0x44), -1);
    EXPECT_EQ(SyncDestroy(&sync), 0);
    truth("fast:KER_CALL:SYNC_CREATE/78 type:0 sync:" TRUTH_P, TRUTH_PTR(&sync));
    truth("wide:KER_CALL:SYNC_CREATE/78 type:0 sync:" TRUTH_P " attr:0 count:-7 owner:0x00000066",
          TRUTH_PTR(&sync));
    truth("fast:KER_CALL:SYNC_MUTEX_LOCK/80 sync:" TRUTH_P " owner:0x%08x", TRUTH_PTR(&sync),
          (unsigned)made.owner);
    tell("SYNC_MUTEX_LOCK/80", &sync, made.count, made.owner);
    truth("fast:KER_CALL:SYNC_MUTEX_UNLOCK/81 sync:" TRUTH_P " owner:0x%08x", TRUTH_PTR(&sync),
          (unsigned)locked.owner);
    tell("SYNC_MUTEX_UNLOCK/81", &sync, locked.count, locked.owner);
    EXPECT_EQ(locked.owner & SYNC_TID_MASK, (unsigned)self_tid());
    truth("fast:KER_CALL:SYNC_MUTEX_REVIVE/87 sync:" TRUTH_P " owner:0x%08x", TRUTH_PTR(&sync),
          (unsigned)free.owner);
    tell("SYNC_MUTEX_REVIVE/87", &sync, free.count, free.owner);
    truth("fast:KER_CALL:SYNC_CTL/86 cmd:0x00000063 sync:" TRUTH_P, TRUTH_PTR(&sync));
    truth("wide:KER_CALL:SYNC_CTL/86 cmd:0x00000063 sync:" TRUTH_P
          " data:0x00000044 count:%d owner:0x%08x",
          TRUTH_PTR(&sync), (int)free.count, (unsigned)free.owner);
    truth("fast:KER_CALL:SYNC_DESTROY/79 sync:" TRUTH_P " owner:0x%08x", TRUTH_PTR(&sync),
          (unsigned)free.owner);
    tell("SYNC_DESTROY/79", &sync, free.count, free.owner);
}

void calls_semaphores(void)
{
    static sync_t sync;

    sync = (sync_t){3, SYNC_OWNER_SEM};
    truth_step();
    EXPECT_EQ(SyncSemWait(&sync, 0), 0);
    int count = sync.count;
    EXPECT_EQ(SyncSemPost(&sync), 0);
    EXPECT_EQ(SyncSemWait(&sync, 1), 0);
    truth("fast:KER_CALL:SYNC_SEM_WAIT/85 sync:" TRUTH_P " try_only:0", TRUTH_PTR(&sync));
    truth("wide:KER_CALL:SYNC_SEM_WAIT/85 sync:" TRUTH_P " try_only:0 count:3 owner:0x%08x",
          TRUTH_PTR(&sync), SYNC_OWNER_SEM);
    truth("KER_EXIT:SYNC_SEM_WAIT/85 ret_val:0");
    truth("fast:KER_CALL:SYNC_SEM_POST/84 sync:" TRUTH_P " count:%d", TRUTH_PTR(&sync), count);
    tell("SYNC_SEM_POST/84", &sync, count, SYNC_OWNER_SEM);
    EXPECT_EQ(count, 2);
    truth("fast:KER_CALL:SYNC_SEM_WAIT/85 sync:" TRUTH_P " try_only:1", TRUTH_PTR(&sync));
}

/* Waits for nothing, up to a time limit: the exit has its errno. */
void calls_condvars(void)
{
    static sync_t sync, mutex;
    uint64_t ns = 1 * MS;

    sync = (sync_t){0, 0};
    mutex = (sync_t){0, 0};
    SyncTypeCreate(SYNC_COND, &sync, NULL);
    SyncTypeCreate(SYNC_MUTEX_FREE, &mutex, NULL);
    SyncMutexLock(&mutex);
    sync_t locked = {mutex.count, mutex.owner};
    truth_step();
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_CONDVAR, NULL, &ns, NULL);
    int result = SyncCondvarWait(&sync, &mutex);
    int error = errno;
    EXPECT_EQ(SyncCondvarSignal(&sync, 1), 0);
    EXPECT_EQ(result, -1);
    truth("fast:KER_CALL:SYNC_CONDVAR_WAIT/82 sync:" TRUTH_P " mutex:" TRUTH_P, TRUTH_PTR(&sync),
          TRUTH_PTR(&mutex));
    truth("wide:KER_CALL:SYNC_CONDVAR_WAIT/82 sync:" TRUTH_P " mutex:" TRUTH_P
          " count:%d owner:0x%08x mutex_count:%d mutex_owner:0x%08x",
          TRUTH_PTR(&sync), TRUTH_PTR(&mutex), (int)sync.count, (unsigned)sync.owner,
          (int)locked.count, (unsigned)locked.owner);
    truth("KER_EXIT:SYNC_CONDVAR_WAIT/82 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(error));
    truth("fast:KER_CALL:SYNC_CONDVAR_SIGNAL/83 sync:" TRUTH_P " all:1", TRUTH_PTR(&sync));
    truth("wide:KER_CALL:SYNC_CONDVAR_SIGNAL/83 sync:" TRUTH_P " all:1 count:%d owner:0x%08x",
          TRUTH_PTR(&sync), (int)sync.count, (unsigned)sync.owner);
}
