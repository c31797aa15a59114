/* SPDX-License-Identifier: BSD-2-Clause */
/* The locks of stdio: see lib/stdio_lock.h. */
#include "lib/stdio_lock.h"

#include "lib/mutex.h"

#define LOCKS 8
#define R PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP

static pthread_mutex_t file_locks[LOCKS] = {R, R, R, R, R, R, R, R};
static pthread_mutex_t list_lock = R;

/* Lock 0 is for stdin only. */
static pthread_mutex_t *lock_of(int fd)
{
    return &file_locks[fd == 0 ? 0 : 1 + (unsigned)fd % (LOCKS - 1)];
}

void kymo_stdio_lock(int fd)
{
    if (fd >= 0) {
        pthread_mutex_lock(lock_of(fd));
    }
}

void kymo_stdio_unlock(int fd)
{
    if (fd >= 0) {
        pthread_mutex_unlock(lock_of(fd));
    }
}

void kymo_stdio_list_lock(void)
{
    pthread_mutex_lock(&list_lock);
}

void kymo_stdio_list_unlock(void)
{
    pthread_mutex_unlock(&list_lock);
}
