/* SPDX-License-Identifier: BSD-2-Clause */
/* See sync_world.h. */
#include "test/kernel/sync/sync_world.h"

#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct thread *t[THREADS];

int setup(void **state)
{
    (void)state;
    t[0] = world_process(0, 10, DATA);
    for (int i = 1; i < THREADS; i++) {
        t[i] = world_thread(t[0], 10 * (i + 1));
    }
    *(sync_t *)world_at(t[0], CONDVAR) = (sync_t){0, SYNC_OWNER_COND};
    *(sync_t *)world_at(t[0], SEMAPHORE) = (sync_t){0, SYNC_OWNER_SEM};
    return 0;
}

uint32_t word(uintptr_t mutex)
{
    return ((const sync_t *)world_at(t[0], mutex))->owner;
}

void set_word(uintptr_t mutex, uint32_t value)
{
    ((sync_t *)world_at(t[0], mutex))->owner = value;
}

long lock(struct thread *thread, unsigned mutex)
{
    return CALL(thread, SYNC_MUTEX_LOCK, MUTEX(mutex));
}

long unlock(struct thread *thread, unsigned mutex)
{
    return CALL(thread, SYNC_MUTEX_UNLOCK, MUTEX(mutex));
}

void limit(struct thread *thread, uint32_t states, uint64_t ns)
{
    *(uint64_t *)world_at(thread, AT(4)) = ns;
    assert_int_equal(CALL(thread, TIMER_TIMEOUT, 2, states, 0, AT(4), 0), 0);
}
