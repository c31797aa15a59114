/* SPDX-License-Identifier: BSD-2-Clause */
/* <pthread.h>: attributes. All return 0, EINVAL, or ENOTSUP. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "lib/machine.h"

int pthread_attr_init(pthread_attr_t *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->inheritsched = PTHREAD_INHERIT_SCHED;
    attr->policy = SCHED_NOCHANGE;
    return 0;
}

int pthread_attr_destroy(pthread_attr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
    if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED) {
        return EINVAL;
    }
    attr->detachstate = state;
    return 0;
}

int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit)
{
    if (inherit != PTHREAD_INHERIT_SCHED && inherit != PTHREAD_EXPLICIT_SCHED) {
        return EINVAL;
    }
    attr->inheritsched = inherit;
    return 0;
}

int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy)
{
    if (policy < SCHED_NOCHANGE || policy > SCHED_OTHER) {
        return EINVAL;
    }
    attr->policy = policy;
    return 0;
}

int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param)
{
    if (param->sched_priority < PRIORITY_MIN || param->sched_priority > PRIORITY_MAX) {
        return EINVAL;
    }
    attr->param = *param;
    return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attr, size_t bytes)
{
    if (bytes < KYMO_THREAD_STACK_MIN) {
        return EINVAL;
    }
    attr->stacksize = bytes;
    return 0;
}

int pthread_attr_setstack(pthread_attr_t *attr, void *low, size_t bytes)
{
    attr->stackaddr = low;
    return low ? pthread_attr_setstacksize(attr, bytes) : EINVAL;
}

int pthread_attr_setrunmask_np(pthread_attr_t *attr, uint32_t cpus)
{
    attr->runmask = cpus;
    return 0;
}

/* ---- of objects that threads wait for ---------------------------------------------- */

/* Nothing is shared between processes: a sync_t belongs to one process. */
static int shared_check(int shared)
{
    if (shared != PTHREAD_PROCESS_PRIVATE && shared != PTHREAD_PROCESS_SHARED) {
        return EINVAL;
    }
    return shared == PTHREAD_PROCESS_SHARED ? ENOTSUP : 0;
}

int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
    memset(attr, 0, sizeof(*attr));
    return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type)
{
    if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_RECURSIVE) {
        return EINVAL;
    }
    attr->recursive = type;
    return 0;
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type)
{
    *type = attr->recursive;
    return 0;
}

int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol)
{
    if (protocol == PTHREAD_PRIO_PROTECT) {
        return ENOTSUP;
    }
    if (protocol != PTHREAD_PRIO_INHERIT && protocol != PTHREAD_PRIO_NONE) {
        return EINVAL;
    }
    attr->protocol = protocol;
    return 0;
}

int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol)
{
    *protocol = attr->protocol;
    return 0;
}

int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust)
{
    if (robust != PTHREAD_MUTEX_STALLED && robust != PTHREAD_MUTEX_ROBUST) {
        return EINVAL;
    }
    attr->robust = robust;
    return 0;
}

int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust)
{
    *robust = attr->robust;
    return 0;
}

int pthread_mutexattr_setpshared(pthread_mutexattr_t *attr, int shared)
{
    (void)attr;
    return shared_check(shared);
}

int pthread_condattr_init(pthread_condattr_t *attr)
{
    attr->clock = CLOCK_REALTIME;
    return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
        return EINVAL;
    }
    attr->clock = (int)clock;
    return 0;
}

int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock)
{
    *clock = (clockid_t)attr->clock;
    return 0;
}

int pthread_condattr_setpshared(pthread_condattr_t *attr, int shared)
{
    (void)attr;
    return shared_check(shared);
}

int pthread_barrierattr_init(pthread_barrierattr_t *attr)
{
    attr->unused = 0;
    return 0;
}

int pthread_barrierattr_destroy(pthread_barrierattr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_barrierattr_setpshared(pthread_barrierattr_t *attr, int shared)
{
    (void)attr;
    return shared_check(shared);
}

int pthread_rwlockattr_init(pthread_rwlockattr_t *attr)
{
    attr->unused = 0;
    return 0;
}

int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attr, int shared)
{
    (void)attr;
    return shared_check(shared);
}
