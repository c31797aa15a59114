/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX threads, a subset over the kernel's Thread* and Sync* calls. Functions return 0 or an errno
 * value, as POSIX says, and leave errno alone. Mutexes inherit priority; an uncontended one never
 * enters the kernel. Condition variables wait on CLOCK_REALTIME. docs/app.md shows a use.
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

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *), void *arg);
int pthread_join(pthread_t thread, void **value);
int pthread_detach(pthread_t thread);
void pthread_exit(void *value) __attribute__((noreturn));
pthread_t pthread_self(void);
int pthread_equal(pthread_t a, pthread_t b);
int pthread_cancel(pthread_t thread); /* at once, wherever it is; no clean-up handlers */
int pthread_setname_np(pthread_t thread, const char *name); /* the calling thread's only: EINVAL */
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);

int pthread_attr_init(pthread_attr_t *attr);
int pthread_attr_destroy(pthread_attr_t *attr);
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t bytes);
int pthread_attr_setstack(pthread_attr_t *attr, void *low, size_t bytes);
int pthread_attr_setrunmask_np(pthread_attr_t *attr, uint32_t cpus);

int pthread_mutexattr_init(pthread_mutexattr_t *attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attr);
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int pthread_mutex_unlock(pthread_mutex_t *mutex);

int pthread_condattr_init(pthread_condattr_t *attr);
int pthread_condattr_destroy(pthread_condattr_t *attr);
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond);
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct timespec *until);
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);

int pthread_once(pthread_once_t *once, void (*init)(void));
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int pthread_key_delete(pthread_key_t key);
void *pthread_getspecific(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);

#endif
