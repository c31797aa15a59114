/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX threads, a subset, implemented on the kernel's Thread* and Sync* calls. Functions return 0
 * or an errno value, as POSIX says, and leave errno alone; any thread may call them. Mutexes
 * inherit priority; an uncontended one never enters the kernel. A bad pointer to a mutex or
 * condition variable is EFAULT if the kernel sees it, else ends the process. docs/guide/app.md
 * shows an example; proved by test/board/programs/t_thread.c and t_posix.c, the calls below by
 * test/kernel.
 */
#ifndef LIB_PTHREAD_H
#define LIB_PTHREAD_H

#include <sched.h>
#include <sys/types.h>
#include <time.h>

#include "lib/include/sys/_pthreadtypes.h"

#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_INHERIT_SCHED 1
#define PTHREAD_EXPLICIT_SCHED 2
#define PTHREAD_MUTEX_NORMAL 0 /* like ERRORCHECK: a second lock is EDEADLK */
#define PTHREAD_MUTEX_ERRORCHECK 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_PRIO_INHERIT 0 /* the default, as in QNX */
#define PTHREAD_PRIO_NONE 1
#define PTHREAD_PRIO_PROTECT 2 /* ENOTSUP: there are no priority ceilings */
#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1 /* ENOTSUP */
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_CANCELED ((void *)-1)
#define PTHREAD_KEYS_MAX 8

#define PTHREAD_MUTEX_INITIALIZER \
    { \
        0, SYNC_MUTEX_FREE \
    }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP \
    { \
        SYNC_COUNT_RECURSIVE, SYNC_MUTEX_FREE \
    }
#define PTHREAD_COND_INITIALIZER \
    { \
        0, SYNC_OWNER_COND \
    }
#define PTHREAD_RWLOCK_INITIALIZER \
    { \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0 \
    }
#define PTHREAD_ONCE_INIT \
    { \
        PTHREAD_MUTEX_INITIALIZER, 0 \
    }

/* ---- threads ----------------------------------------------------------------------- */

/*
 * attr NULL: joinable, the creator's priority, policy and CPUs, a stack of the default size (4 KB
 * on Cortex-M, from the heap; 64 KB else, mapped with a guard page). EAGAIN: no memory, or the
 * tables of the system or the process are full; EINVAL: invalid priority, policy or CPUs in attr;
 * EPERM: a priority above both 63 and the creator's, without ABILITY_PRIORITY.
 */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *), void *arg);
/* Waits until the thread ends; value, if not NULL: its return value, or PTHREAD_CANCELED. A
 * cancellation point. ESRCH: no such thread; EDEADLK: the caller; EINVAL: it is detached; EBUSY:
 * another thread waits for it. */
int pthread_join(pthread_t thread, void **value);
/* Detaches the thread: after its end a later pthread_create() frees its memory. ESRCH; EINVAL:
 * already detached. */
int pthread_detach(pthread_t thread);
/* Runs the clean-up handlers, last pushed first, then the keys' destructors, and ends the calling
 * thread. Robust mutexes that it still owns go to their next owner with EOWNERDEAD. */
void pthread_exit(void *value) __attribute__((noreturn));
pthread_t pthread_self(void);
int pthread_equal(pthread_t a, pthread_t b); /* not 0: equal */
/*
 * Ends the thread with PTHREAD_CANCELED at a cancellation point: at once if it waits in one, else
 * at its next one. Cancellation points are all kernel calls that wait, except locking a mutex and
 * MsgSendnc(). A thread that never waits isn't ended. The clean-up handlers and the keys'
 * destructors run; cancelled in pthread_cond_wait(), the thread owns the mutex then. ESRCH.
 */
int pthread_cancel(pthread_t thread);
/*
 * pthread_cleanup_push() opens a block that pthread_cleanup_pop() closes, in the same function. If
 * the thread is cancelled or calls pthread_exit() in between, routine(arg) runs; execute not 0: it
 * also runs at the end of the block. The block must not be left by return, break or goto.
 */
struct kymo_cleanup {
    void (*routine)(void *);
    void *arg;
    struct kymo_cleanup *outer;
};
void kymo_cleanup_push(struct kymo_cleanup *cleanup);
void kymo_cleanup_pop(int execute);
#define pthread_cleanup_push(routine, arg) \
    { \
        struct kymo_cleanup kymo_cleanup_ = {(routine), (arg), 0}; \
        kymo_cleanup_push(&kymo_cleanup_);
#define pthread_cleanup_pop(execute) \
    kymo_cleanup_pop(execute); \
    }
/* Names any thread of the process. Truncated to 15 characters. ESRCH: it has ended. */
int pthread_setname_np(pthread_t thread, const char *name);
/* Sets the base priority, 1..255, and SCHED_FIFO, SCHED_RR, SCHED_OTHER, or SCHED_NOCHANGE. ESRCH;
 * EINVAL; EPERM: above both 63 and its current priority, without ABILITY_PRIORITY. _get: ESRCH. */
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);

/* Settings are checked at once (EINVAL), except those that depend on the system: pthread_create()
 * checks them. Priority and policy take effect only with PTHREAD_EXPLICIT_SCHED. */
int pthread_attr_init(pthread_attr_t *attr);
int pthread_attr_destroy(pthread_attr_t *attr);
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
/* At least 512 bytes on Cortex-M, 4096 else. A stack set by its lowest address remains the
 * program's, and has no guard. */
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t bytes);
int pthread_attr_setstack(pthread_attr_t *attr, void *low, size_t bytes);
/* one bit per CPU; 0: creator's */
int pthread_attr_setrunmask_np(pthread_attr_t *attr, uint32_t cpus);

/* ---- mutexes ----------------------------------------------------------------------- */

int pthread_mutexattr_init(pthread_mutexattr_t *attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attr);
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type); /* EINVAL: no such type */
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type);
/* Every mutex inherits priority; PTHREAD_PRIO_NONE is accepted without effect. ENOTSUP:
 * PTHREAD_PRIO_PROTECT; EINVAL. */
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol);
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol);
int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust); /* EINVAL */
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust);
/* ENOTSUP: PTHREAD_PROCESS_SHARED; EINVAL. Likewise for barriers, condition variables and
 * read-write locks. */
int pthread_mutexattr_setpshared(pthread_mutexattr_t *attr, int shared);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
/* EBUSY: locked, or already destroyed. */
int pthread_mutex_destroy(pthread_mutex_t *mutex);
/*
 * EDEADLK: the caller owns it, and it isn't recursive; EAGAIN: locked 2^27 times; EINVAL:
 * destroyed, or its owner ended while threads waited for it: pthread_mutex_init() makes it usable
 * again. _trylock() returns EBUSY whichever thread owns it. _timedlock(), until a time of
 * CLOCK_REALTIME: ETIMEDOUT.
 *
 * A robust mutex never stays with a thread that has ended. EOWNERDEAD: its owner ended, and the
 * caller owns it now and must repair the protected data; unlocking it without
 * pthread_mutex_consistent() makes it unrecoverable: ENOTRECOVERABLE for every thread from then on.
 * EAGAIN: the caller already owns KYMO_ROBUST_MAX robust mutexes.
 */
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int pthread_mutex_unlock(pthread_mutex_t *mutex); /* EPERM: the caller does not own it */
/* EINVAL: not robust, not the caller's, or not inconsistent. */
int pthread_mutex_consistent(pthread_mutex_t *mutex);
#define KYMO_ROBUST_MAX 8

/* ---- condition variables ----------------------------------------------------------- */

int pthread_condattr_init(pthread_condattr_t *attr);
int pthread_condattr_destroy(pthread_condattr_t *attr);
/* Sets the clock of pthread_cond_timedwait()'s `until`. EINVAL: neither CLOCK_REALTIME, the
 * default, nor CLOCK_MONOTONIC. */
int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock);
int pthread_condattr_setpshared(pthread_condattr_t *attr, int shared);
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond); /* waiters get EINVAL; EINVAL: already destroyed */
/*
 * EPERM: the caller does not own the mutex; ETIMEDOUT: `until`, on the condition variable's clock,
 * has passed; EINVAL: destroyed, or an invalid time; for a robust mutex the errors of its lock.
 * Returns with the mutex locked, except after EPERM, and possibly after EINVAL. Spurious wake-ups
 * occur, as POSIX allows. A cancellation point.
 */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct timespec *until);
/* Wake the waiter of the highest priority, or all waiters. EINVAL: not a condition variable, or
 * destroyed. */
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);

/* ---- barriers ---------------------------------------------------------------------- */

int pthread_barrierattr_init(pthread_barrierattr_t *attr);
int pthread_barrierattr_destroy(pthread_barrierattr_t *attr);
int pthread_barrierattr_setpshared(pthread_barrierattr_t *attr, int shared);
/* count: threads that pass together. EINVAL: 0. */
int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
                         unsigned count);
/* Waits until all threads that have passed have left. EBUSY: threads wait to pass; EINVAL:
 * destroyed. */
int pthread_barrier_destroy(pthread_barrier_t *barrier);
/* Waits until `count` threads have arrived; returns 0, and PTHREAD_BARRIER_SERIAL_THREAD in one of
 * them. A cancellation point, unlike POSIX: a cancelled thread does not count as arrived. EINVAL:
 * destroyed. */
int pthread_barrier_wait(pthread_barrier_t *barrier);

/* ---- read-write locks -------------------------------------------------------------- */

int pthread_rwlockattr_init(pthread_rwlockattr_t *attr);
int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attr);
int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attr, int shared);
int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr);
int pthread_rwlock_destroy(pthread_rwlock_t *lock); /* EBUSY: locked or waited for */
/*
 * New readers wait while a writer waits, so a thread that holds a read lock must not lock it again.
 * Waiting does not raise any owner's priority. Cancellation points. EDEADLK: the caller holds the
 * write lock. _try: EBUSY; _timed, until a time of CLOCK_REALTIME: ETIMEDOUT, EINVAL.
 */
int pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock);
int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until);
int pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until);
/* EPERM: another thread writes, or it is not locked */
int pthread_rwlock_unlock(pthread_rwlock_t *lock);

/* ---- once, and values of threads --------------------------------------------------- */

/* Returns when init() has run. EDEADLK: called from init(). */
int pthread_once(pthread_once_t *once, void (*init)(void));
/* Keys belong to the program: PTHREAD_KEYS_MAX, then EAGAIN. The destructor, if not NULL, is called
 * with each ending thread's value that isn't NULL, at most four times. */
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int pthread_key_delete(pthread_key_t key);    /* no destructor runs. EINVAL: no such key */
void *pthread_getspecific(pthread_key_t key); /* NULL: none, or no such key */
int pthread_setspecific(pthread_key_t key, const void *value); /* EINVAL: no such key */

#endif
