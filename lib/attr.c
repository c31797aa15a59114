/* SPDX-License-Identifier: BSD-2-Clause */
/* <pthread.h>: attributes. All return 0 or EINVAL. */
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

int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
    attr->recursive = 0;
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
