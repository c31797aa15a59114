/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: the list of threads, and their end: joining, detaching, and reaping detached ones. A
 * thread's memory is freed only after ThreadJoin() has confirmed that it has left the kernel. It
 * may also be kept for later threads of this process, which then need no mapping.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/include/sys/neutrino_r.h"
#include "lib/machine.h"
#include "lib/thread.h"

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kymo_tcb *reap_thread_list; /* [list_mutex] */

void kymo_threads_lock(void)
{
    pthread_mutex_lock(&list_mutex);
}

void kymo_threads_unlock(void)
{
    pthread_mutex_unlock(&list_mutex);
}

/* Called with the list locked. */
void kymo_thread_add(struct kymo_tcb *tcb)
{
    tcb->next = reap_thread_list;
    reap_thread_list = tcb;
}

/* ---- what is kept of ended threads ------------------------------------------------- */

/* Mapping a stack costs more than the rest of a thread. Where stacks come from the heap, which is
 * small then, one kept stack is enough. */
#define KEPT_MOST (KYMO_STACK_MAPPED ? 4 : 1)
static struct kymo_tcb *reap_kept_blocks[KEPT_MOST]; /* [list_mutex] */

static bool reap_keep_block(struct kymo_tcb *tcb)
{
    bool found = false;

    kymo_threads_lock();
    for (unsigned i = 0; i < KEPT_MOST && !found; i++) {
        if (!reap_kept_blocks[i]) {
            reap_kept_blocks[i] = tcb;
            found = true;
        }
    }
    kymo_threads_unlock();
    return found;
}

struct kymo_tcb *kymo_thread_kept(size_t stack_bytes)
{
    struct kymo_tcb *tcb = NULL;

    kymo_threads_lock();
    for (unsigned i = 0; i < KEPT_MOST && !tcb; i++) {
        if (reap_kept_blocks[i] && reap_kept_blocks[i]->stack.bytes / 2 < stack_bytes &&
            reap_kept_blocks[i]->stack.bytes >= stack_bytes) {
            tcb = reap_kept_blocks[i];
            reap_kept_blocks[i] = NULL;
        }
    }
    kymo_threads_unlock();
    return tcb;
}

static void reap_release_block(struct kymo_tcb *tcb)
{
    if (tcb->stack.mapped) {
        MemUnmap_r(tcb->stack.low, tcb->stack.bytes);
    } else {
        free(tcb->stack.low);
    }
    free(tcb->block);
}

void kymo_thread_free(struct kymo_tcb *tcb)
{
    if (!tcb->stack.low || !reap_keep_block(tcb)) {
        reap_release_block(tcb);
    }
}

bool kymo_thread_forget_kept(void)
{
    bool any = false;

    for (unsigned i = 0; i < KEPT_MOST; i++) {
        kymo_threads_lock();
        struct kymo_tcb *tcb = reap_kept_blocks[i];
        reap_kept_blocks[i] = NULL;
        kymo_threads_unlock();
        if (tcb) {
            reap_release_block(tcb);
            any = true;
        }
    }
    return any;
}

/* ---- the end ----------------------------------------------------------------------- */

/* Called with the list locked. Removes the thread `tid` from the list, or with 0 any detached one
 * that has ended. */
static struct kymo_tcb *reap_take_thread(int tid)
{
    for (struct kymo_tcb **at = &reap_thread_list; *at; at = &(*at)->next) {
        struct kymo_tcb *tcb = *at;

        if (tid ? tcb->tid == tid : tcb->detached && tcb->ended) {
            *at = tcb->next;
            return tcb;
        }
    }
    return NULL;
}

/* Called with the list locked. */
static struct kymo_tcb *reap_find_thread(int tid)
{
    struct kymo_tcb *tcb = reap_thread_list;

    while (tcb && tcb->tid != tid) {
        tcb = tcb->next;
    }
    return tcb;
}

void kymo_thread_reap(void)
{
    for (;;) {
        kymo_threads_lock();
        struct kymo_tcb *tcb = reap_take_thread(0);
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
    struct kymo_tcb *tcb = reap_find_thread(thread);
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
    tcb = reap_take_thread(thread);
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
    struct kymo_tcb *tcb = reap_find_thread(thread);
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
