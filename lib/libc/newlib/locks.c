/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Newlib's lock hooks. Debian builds newlib without retargetable locking, so the separate objects
 * for the locks of malloc() and the environment are replaced here; stdio has none: see
 * stdio_wrap.c.
 */
#include <reent.h>

#include "lib/mutex.h"

void __malloc_lock(struct _reent *reent);
void __malloc_unlock(struct _reent *reent);
void __env_lock(struct _reent *reent);
void __env_unlock(struct _reent *reent);
void __tz_lock(void);
void __tz_unlock(void);

static pthread_mutex_t malloc_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t env_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t tz_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void __malloc_lock(struct _reent *reent)
{
    (void)reent;
    pthread_mutex_lock(&malloc_mutex);
}

void __malloc_unlock(struct _reent *reent)
{
    (void)reent;
    pthread_mutex_unlock(&malloc_mutex);
}

void __env_lock(struct _reent *reent)
{
    (void)reent;
    pthread_mutex_lock(&env_mutex);
}

void __env_unlock(struct _reent *reent)
{
    (void)reent;
    pthread_mutex_unlock(&env_mutex);
}

void __tz_lock(void)
{
    pthread_mutex_lock(&tz_mutex);
}

void __tz_unlock(void)
{
    pthread_mutex_unlock(&tz_mutex);
}
