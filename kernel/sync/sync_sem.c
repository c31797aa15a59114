/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Semaphores: SyncSemPost, SyncSemWait. The value is the sync_t's count; a post that finds waiters
 * wakes the highest and doesn't change the count. Kernel lock held.
 *
 * Errors: memory that isn't the process's (EFAULT), an unaligned or destroyed object, objects of
 * other kinds, a negative count (EINVAL), a count at its maximum (EOVERFLOW), waiting when only a
 * try was requested (EAGAIN). Tested by test/kernel.
 */
#include "kernel/sync/sync.h"
#include "kernel/arch/cpu.h"

static sync_t *sync_sem_semaphore(struct thread *self, uintptr_t addr, long *error)
{
    sync_t *sync = sync_at(self, addr, error);
    if (sync && sync->owner != SYNC_OWNER_SEM) {
        *error = -EINVAL;
        return NULL;
    }
    return sync;
}

static bool sync_sem_swap(sync_t *sync, int32_t from, int32_t to)
{
    return arch_cas32((volatile uint32_t *)&sync->count, (uint32_t)from, (uint32_t)to);
}

long ker_sync_sem_post(struct thread *self, const uintptr_t *args)
{
    long error;
    sync_t *sync = sync_sem_semaphore(self, args[0], &error);
    if (!sync) {
        return error;
    }
    struct thread *t = sync_first(self->proc, args[0], STATE_SEM);
    if (t) {
        sync_wake(t, 0);
        return 0;
    }
    for (int i = 0; i < SYNC_TRIES; i++) {
        int32_t count = sync->count;
        if (count < 0 || count == SYNC_SEM_VALUE_MAX) {
            return count < 0 ? -EINVAL : -EOVERFLOW;
        }
        if (sync_sem_swap(sync, count, count + 1)) {
            return 0;
        }
    }
    return KER_AGAIN;
}

static long sync_sem_wait(struct thread *self, uintptr_t addr, bool try_only)
{
    if (try_only) {
        return -EAGAIN;
    }
    long r = thread_block(self, STATE_SEM);
    if (r == KER_BLOCKED) {
        sync_insert(self, addr);
    }
    return r;
}

/* Decrements the count. Returns KER_AGAIN if the count kept changing. */
static long sync_sem_take(struct thread *self, sync_t *sync, const uintptr_t *args)
{
    for (int i = 0; i < SYNC_TRIES; i++) {
        int32_t count = sync->count;
        if (count < 0) {
            return -EINVAL;
        }
        if (count == 0) {
            return sync_sem_wait(self, args[0], args[1] != 0);
        }
        if (sync_sem_swap(sync, count, count - 1)) {
            return 0;
        }
    }
    return KER_AGAIN;
}

long ker_sync_sem_wait(struct thread *self, const uintptr_t *args)
{
    long r;
    sync_t *sync = sync_sem_semaphore(self, args[0], &r);
    if (sync) {
        r = sync_sem_take(self, sync, args);
    }
    if (r != KER_BLOCKED && r != KER_AGAIN) {
        timeout_unused(self);
    }
    return r;
}
