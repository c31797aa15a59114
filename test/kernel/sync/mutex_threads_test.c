/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The word of a mutex, between user code (lib/mutex.c) and the kernel (kernel/sync/sync_mutex.c),
 * on CPUs that are threads, under a race detector. All lock the same mutex, some give up waiting;
 * what the mutex protects is plain data. No lock is had twice, none is lost, and all that was
 * written under it is seen by the next owner, however the mutex came to that one.
 *
 * Red if a swap of lib/mutex.c or the kernel's store of the word is relaxed, if the kernel sets
 * SYNC_WAITING by a plain store, or if it frees a mutex for which a thread waits (a thread then
 * waits for ever, which ends the suite).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after these: */
#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/ipc/ipc.h"
#include "kernel/sync/sync.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "lib/thread.h"
#include "test/tool/threads/cpus.h"

#define TURNS 20000
#define WORDS 8

/* lib/mutex.c, whose names are also those of this machine's library */
int lib_mutex_lock(sync_t *mutex);
int lib_mutex_trylock(sync_t *mutex);
int lib_mutex_unlock(sync_t *mutex);
int kymo_timeout_at(unsigned states, const void *until);

_Thread_local struct cpu *thread_cpu;
uint64_t fake_cycles;

static struct process proc;
static struct thread threads[CONFIG_CPUS];
static struct kymo_tcb tcbs[CONFIG_CPUS];
static sync_t mutex;
static uint64_t data[WORDS]; /* [mutex] all the same */
static uint64_t taken[CONFIG_CPUS], given_up[CONFIG_CPUS], refused[CONFIG_CPUS];
static uint32_t wrong; /* [a] */

static void expect(bool good)
{
    __atomic_fetch_or(&wrong, !good, __ATOMIC_RELAXED);
}

static struct thread *self(void)
{
    return &threads[thread_cpu->id];
}

struct kymo_tcb *kymo_self(void)
{
    return &tcbs[thread_cpu->id];
}

int kymo_timeout_at(unsigned states, const void *until)
{
    (void)states;
    (void)until;
    abort();
}

/* ---- what the kernel's part calls -------------------------------------------------- */

void arch_ipi(uint32_t which)
{
    (void)which;
}

void arch_irq_window(void)
{
}

void *vm_user_ptr(struct process *of, uintptr_t addr, size_t len, unsigned prot)
{
    (void)of;
    (void)len;
    (void)prot;
    return (void *)addr;
}

void *vm_cache_fill(struct vm_cache *cache, const struct process *of, uintptr_t addr, size_t bytes,
                    unsigned prot)
{
    (void)cache;
    (void)of;
    (void)addr;
    (void)bytes;
    (void)prot;
    return NULL; /* looked up each time */
}

struct thread *thread_living(struct process *of, int tid)
{
    return of == &proc && tid > 0 && tid <= CONFIG_CPUS ? &threads[tid - 1] : NULL;
}

long thread_block_limited(struct thread *t, enum thread_state state)
{
    (void)t;
    (void)state;
    abort();
}

bool thread_wait_over(struct thread *t, int error)
{
    (void)t;
    expect(error == 0);
    return true;
}

void thread_wake(struct thread *t, long value, int error)
{
    (void)value;
    expect(t->state == STATE_MUTEX && error == 0);
    t->state = STATE_RUNNING;
}

void thread_update_priority(struct thread *t)
{
    t->priority = t->sync_priority > t->base_priority ? t->sync_priority : t->base_priority;
}

void thread_insert_by_priority(struct list *head, struct thread *t)
{
    struct list *pos = head->prev;
    while (pos != head && list_entry(pos, struct thread, ready)->priority < t->priority) {
        pos = pos->prev;
    }
    list_insert_before(pos->next, &t->ready);
}

bool inherit_enter(void)
{
    return true;
}

void inherit_leave(void)
{
}

/* ---- kernel calls ------------------------------------------------------------------ */

static uint32_t random_own(void)
{
    static _Thread_local uint32_t random = 1;

    random = random * 1664525u + 1013904223u;
    return random >> 8;
}

/* Waits as long as it has patience. */
static int wait_for_it(struct thread *t)
{
    unsigned patience = random_own() % 4 ? UINT32_MAX : random_own() % 4;
    int error = 0;

    while (t->state == STATE_MUTEX) {
        if (patience-- == 0) {
            sync_cancel(t, 0);
            t->state = STATE_RUNNING;
            error = -ETIMEDOUT;
            break;
        }
        kernel_unlock();
        arch_spin_hint();
        kernel_lock();
    }
    return error;
}

int SyncMutexLock_r(sync_t *sync)
{
    uintptr_t args[] = {(uintptr_t)sync};

    for (;;) {
        kernel_lock();
        long r = ker_sync_mutex_lock(self(), args);
        int error = r == KER_BLOCKED ? wait_for_it(self()) : (int)r;
        kernel_unlock();
        if (r != KER_AGAIN) {
            return error;
        }
    }
}

int SyncMutexUnlock_r(sync_t *sync)
{
    uintptr_t args[] = {(uintptr_t)sync};

    kernel_lock();
    long r = ker_sync_mutex_unlock(self(), args);
    kernel_unlock();
    return (int)r;
}

/* ---- robust mutexes: this one isn't ------------------------------------------------ */

int kymo_robust_got(sync_t *sync);
int kymo_robust_retry(sync_t *sync, const void *until);
void kymo_robust_leave(sync_t *sync);

int kymo_robust_got(sync_t *sync)
{
    (void)sync;
    abort();
}

int kymo_robust_retry(sync_t *sync, const void *until)
{
    (void)until;
    return kymo_robust_got(sync);
}

void kymo_robust_leave(sync_t *sync)
{
    kymo_robust_got(sync);
}

int SyncMutexRevive_r(sync_t *sync)
{
    return kymo_robust_got(sync);
}

/* ---- the CPUs ---------------------------------------------------------------------- */

static void own(void)
{
    uint64_t before = data[0];

    for (unsigned i = 0; i < WORDS; i++) {
        expect(data[i] == before);
        data[i] = before + 1;
        if (random_own() % 32 == 0) {
            arch_spin_hint();
        }
    }
    taken[thread_cpu->id]++;
}

static void cpu_main(unsigned number)
{
    thread_cpu = &cpus[number];
    for (unsigned n = 0; n < TURNS; n++) {
        bool tries = random_own() % 4 == 0;
        int error = tries ? lib_mutex_trylock(&mutex) : lib_mutex_lock(&mutex);

        if (error == 0) {
            own();
            expect(lib_mutex_unlock(&mutex) == 0);
        } else if (tries) {
            refused[number]++;
        } else {
            expect(error == ETIMEDOUT);
            given_up[number]++;
        }
    }
}

static void all_lock_the_same_mutex(void **state)
{
    uint64_t locked = 0, not_locked = 0;

    (void)state;
    list_init(&proc.sync_waiters);
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        uint8_t priority = (uint8_t)(10 + n);
        tcbs[n].tid = (int)n + 1;
        cpus[n].id = n;
        cpus[n].bit = 1u << n;
        cpus[n].others = ~cpus[n].bit;
        threads[n] = (struct thread){.proc = &proc, .tid = (int)n + 1, .state = STATE_RUNNING};
        threads[n].base_priority = threads[n].priority = priority;
    }
    threads_run_cpus(CONFIG_CPUS, cpu_main);
    assert_int_equal(wrong, 0);
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        locked += taken[n];
        not_locked += refused[n] + given_up[n];
        assert_int_equal(threads[n].priority, 10 + n);
    }
    assert_int_equal(locked + not_locked, CONFIG_CPUS * TURNS);
    assert_int_equal(data[0], locked);
    assert_int_equal(mutex.owner, SYNC_MUTEX_FREE);
    assert_true(list_empty(&proc.sync_waiters));
    assert_true(locked > TURNS && not_locked > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_lock_the_same_mutex)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
