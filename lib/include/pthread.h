/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX threads, a subset over the kernel's Thread* and Sync* calls. Functions return 0 or an errno
 * value, as POSIX says, and leave errno alone; any thread may call them. Mutexes inherit priority;
 * an uncontended one never enters the kernel. Condition variables wait on CLOCK_REALTIME. A bad
 * pointer to a mutex or condition variable is EFAULT where the kernel sees it, else ends the
 * process. docs/app.md shows a use; proved by test/boot/programs/t_thread.c, the calls below by
 * test/unit_ipc.
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
#define PTHREAD_ONCE_INIT \
    { \
        PTHREAD_MUTEX_INITIALIZER, 0 \
    }

/* ---- threads -----------------------------------------------------------------------------------
 */

/*
 * attr NULL: joinable, the creator's priority, policy and CPUs, a stack of the default size (4 KB
 * on Cortex-M, from the heap; 64 KB else, mapped with a guard page). EAGAIN: no memory, or the
 * tables of the system or the process are full; EINVAL: attr's priority, policy or CPUs are none;
 * EPERM: a priority above 63 and the creator's without ABILITY_PRIORITY.
 */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *), void *arg);
/* Waits for its end; value, if not NULL: what it returned, or PTHREAD_CANCELED. A cancellation
 * point. ESRCH: no such thread; EDEADLK: the caller; EINVAL: it is detached; EBUSY: another thread
 * waits for it. */
int pthread_join(pthread_t thread, void **value);
/* Its memory is freed when it has ended, by a later pthread_create(). ESRCH; EINVAL: it is already.
 */
int pthread_detach(pthread_t thread);
/* Runs the keys' destructors, then ends the calling thread. */
void pthread_exit(void *value) __attribute__((noreturn));
pthread_t pthread_self(void);
int pthread_equal(pthread_t a, pthread_t b); /* not 0: they are the same */
/*
 * The thread ends with PTHREAD_CANCELED at a cancellation point: at once if it waits there, else
 * when it next would. Such are all kernel calls that wait but the locking of a mutex and
 * MsgSendnc(). One that never waits isn't ended. The keys' destructors run, there are no clean-up
 * handlers; out of pthread_cond_wait() it comes with the mutex locked. ESRCH.
 */
int pthread_cancel(pthread_t thread);
/* The calling thread's only, else EINVAL. Cut to 15 characters. */
int pthread_setname_np(pthread_t thread, const char *name);
/* The base priority, 1..255, and SCHED_FIFO, SCHED_RR, SCHED_OTHER, or SCHED_NOCHANGE. ESRCH;
 * EINVAL; EPERM: above 63 and what it has without ABILITY_PRIORITY. _get: ESRCH. */
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);

/* What is set is checked at once: EINVAL; what depends on the system, by pthread_create(). Priority
 * and policy count only with PTHREAD_EXPLICIT_SCHED. */
int pthread_attr_init(pthread_attr_t *attr);
int pthread_attr_destroy(pthread_attr_t *attr);
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
/* At least 512 bytes on Cortex-M, 4096 else. A stack given by its lowest address stays the
 * program's, and has no guard. */
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t bytes);
int pthread_attr_setstack(pthread_attr_t *attr, void *low, size_t bytes);
int pthread_attr_setrunmask_np(pthread_attr_t *attr, uint32_t cpus); /* a bit each; 0: creator's */

/* ---- mutexes -----------------------------------------------------------------------------------
 */

int pthread_mutexattr_init(pthread_mutexattr_t *attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attr);
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type); /* EINVAL: no such type */
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
/* EBUSY: it is locked, or not a mutex any more. */
int pthread_mutex_destroy(pthread_mutex_t *mutex);
/*
 * EDEADLK: the caller has it, and it isn't recursive; EAGAIN: locked 2^30 times; EINVAL: destroyed,
 * or its owner ended with it while threads waited: pthread_mutex_init() makes it new. _trylock()
 * gives EBUSY whoever has it. _timedlock(), until a time of CLOCK_REALTIME: ETIMEDOUT.
 */
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int pthread_mutex_unlock(pthread_mutex_t *mutex); /* EPERM: the caller hasn't it */

/* ---- condition variables -----------------------------------------------------------------------
 */

int pthread_condattr_init(pthread_condattr_t *attr);
int pthread_condattr_destroy(pthread_condattr_t *attr);
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond); /* who waits gets EINVAL; EINVAL: it is already */
/*
 * EPERM: the caller hasn't the mutex; ETIMEDOUT: `until`, of CLOCK_REALTIME, has come; EINVAL:
 * destroyed, or no time. Back with the mutex locked, but after EPERM, and maybe after EINVAL. There
 * may be wake-ups without a reason, as POSIX allows. A cancellation point.
 */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct timespec *until);
/* The waiter of the highest priority, or all. EINVAL: not one, or destroyed. */
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);

/* ---- once, and values of threads ---------------------------------------------------------------
 */

/* Returns when init() has run. EDEADLK: from within it. */
int pthread_once(pthread_once_t *once, void (*init)(void));
/* Keys are of the program: PTHREAD_KEYS_MAX, then EAGAIN. The destructor, if not NULL, gets each
 * ending thread's value that isn't NULL, four times at most. */
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int pthread_key_delete(pthread_key_t key);    /* no destructor runs. EINVAL: no such key */
void *pthread_getspecific(pthread_key_t key); /* NULL: none, or no such key */
int pthread_setspecific(pthread_key_t key, const void *value); /* EINVAL: no such key */

#endif
