/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: the list of threads, and their end: joining, detaching, and reaping the detached. A
 * thread's memory is freed only after ThreadJoin() has confirmed that it has left the kernel for
 * good.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/include/sys/neutrino_r.h"
#include "lib/thread.h"

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kymo_tcb *threads; /* [list_mutex] */

void kymo_threads_lock(void)
{
    pthread_mutex_lock(&list_mutex);
}

void kymo_threads_unlock(void)
{
    pthread_mutex_unlock(&list_mutex);
}

/* List locked. */
void kymo_thread_add(struct kymo_tcb *tcb)
{
    tcb->next = threads;
    threads = tcb;
}

void kymo_thread_free(struct kymo_tcb *tcb)
{
    if (tcb->stack_mapped) {
        MemUnmap_r(tcb->stack, tcb->stack_bytes);
    } else {
        free(tcb->stack);
    }
    free(tcb->block);
}

/* List locked. Removes the thread `tid` from the list, or with 0 any detached one that has
 * ended. */
static struct kymo_tcb *take(int tid)
{
    for (struct kymo_tcb **at = &threads; *at; at = &(*at)->next) {
        struct kymo_tcb *tcb = *at;

        if (tid ? tcb->tid == tid : tcb->detached && tcb->ended) {
            *at = tcb->next;
            return tcb;
        }
    }
    return NULL;
}

/* List locked. */
static struct kymo_tcb *find(int tid)
{
    struct kymo_tcb *tcb = threads;

    while (tcb && tcb->tid != tid) {
        tcb = tcb->next;
    }
    return tcb;
}

void kymo_thread_reap(void)
{
    for (;;) {
        kymo_threads_lock();
        struct kymo_tcb *tcb = take(0);
        kymo_threads_unlock();
        if (!tcb) {
            return;
        }
        ThreadJoin_r(tcb->tid, NULL);
        kymo_thread_free(tcb);
    }
}

int pthread_join(pthread_t thread, void **value)
{
    kymo_threads_lock();
    struct kymo_tcb *tcb = find(thread);
    bool detached = tcb && tcb->detached;
    kymo_threads_unlock();
    if (detached) {
        return EINVAL;
    }
    int error = ThreadJoin_r(thread, value);
    if (error < 0) {
        return -error;
    }
    kymo_threads_lock();
    tcb = take(thread);
    kymo_threads_unlock();
    if (tcb) {
        kymo_thread_free(tcb);
    }
    return 0;
}

int pthread_detach(pthread_t thread)
{
    int error = 0;

    kymo_threads_lock();
    struct kymo_tcb *tcb = find(thread);
    if (!tcb) {
        error = thread == 1 ? 0 : ESRCH; /* the main thread has no memory to give back */
    } else if (tcb->detached) {
        error = EINVAL;
    } else {
        tcb->detached = true;
    }
    kymo_threads_unlock();
    return error;
}
