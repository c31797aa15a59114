/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursive mutexes for the C libraries' own locks, and sync_t behind the POSIX types. */
#ifndef LIB_MUTEX_H
#define LIB_MUTEX_H

#include <pthread.h>

/* The POSIX types are the kernel's sync_t under names without the kernel's header. */
static inline sync_t *kymo_sync(struct kymo_sync_words *words)
{
    return (sync_t *)words;
}
_Static_assert(sizeof(struct kymo_sync_words) == sizeof(sync_t), "sync_t layout");
_Static_assert(offsetof(struct kymo_sync_words, owner) == offsetof(sync_t, owner), "sync_t layout");

/* Arms an absolute CLOCK_REALTIME timeout for the calling thread's next block in `states`
 * (_NTO_TIMEOUT_*): 0 or an errno. */
int kymo_timeout_at(unsigned states, const struct timespec *until);

#endif
