/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * picolibc's locks (_RETARGETABLE_LOCKING): the library uses struct __lock only by pointer. A FILE
 * that was not made by fopen() has none (NULL): its calls are locked as a whole by stdio_wrap.c.
 */
#include <stdlib.h>
#include <sys/lock.h>

#include "lib/mutex.h"

struct __lock {
    pthread_mutex_t mutex;
};

struct __lock __lock___libc_recursive_mutex = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* Every lock is recursive: that suffices for all, and stdio needs it when it flushes within a
 * call. */
void __retarget_lock_init(_LOCK_T *lock)
{
    static const struct __lock fresh = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

    *lock = malloc(sizeof(**lock));
    if (*lock) {
        **lock = fresh;
    }
}

void __retarget_lock_init_recursive(_LOCK_T *lock)
{
    __retarget_lock_init(lock);
}

void __retarget_lock_close(_LOCK_T lock)
{
    free(lock);
}

void __retarget_lock_close_recursive(_LOCK_T lock)
{
    free(lock);
}

void __retarget_lock_acquire(_LOCK_T lock)
{
    if (lock) {
        pthread_mutex_lock(&lock->mutex);
    }
}

void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
    __retarget_lock_acquire(lock);
}

int __retarget_lock_try_acquire(_LOCK_T lock)
{
    return lock ? pthread_mutex_trylock(&lock->mutex) == 0 : 1;
}

int __retarget_lock_try_acquire_recursive(_LOCK_T lock)
{
    return __retarget_lock_try_acquire(lock);
}

void __retarget_lock_release(_LOCK_T lock)
{
    if (lock) {
        pthread_mutex_unlock(&lock->mutex);
    }
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
    __retarget_lock_release(lock);
}
