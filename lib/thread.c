/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: threads. Every thread except the main one has a tcb in one list; pthread_t is the
 * kernel's thread id. A kernel thread is always made joinable, so that the code that frees the
 * stack (pthread_join(), or the reaper for detached ones) knows that the thread no longer runs on
 * it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/include/kymo.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/machine.h"
#include "lib/mutex.h"
#include "lib/thread.h"

static void *thread_run_entry(void *arg)
{
    struct kymo_tcb *self = arg;
    int tid = 0;

    ProcSelf_r(&tid, NULL);
    self->tid = tid;
    pthread_exit(self->func(self->arg));
}

static int stack_map(struct kymo_tcb *tcb, size_t bytes)
{
    struct kymo_map map = {
        .len = bytes,
        .flags = KYMO_PROT_READ | KYMO_PROT_WRITE | KYMO_MAP_STACK,
    };

    if (MemMap_r(&map) < 0) {
        return EAGAIN;
    }
    tcb->stack = (struct kymo_stack){(void *)(uintptr_t)map.vaddr, (size_t)map.len, true};
    return 0;
}

static size_t stack_bytes(const pthread_attr_t *attr)
{
    return attr->stacksize ? attr->stacksize : KYMO_THREAD_STACK;
}

/* Maps the stack where that gives a guard page; takes it from the heap otherwise, and when the
 * table of mappings is full. */
static int stack_allocate(struct kymo_tcb *tcb, size_t bytes)
{
    if (KYMO_STACK_MAPPED && stack_map(tcb, bytes) == 0) {
        return 0;
    }
    tcb->stack = (struct kymo_stack){malloc(bytes), bytes, false};
    return tcb->stack.low ? 0 : EAGAIN;
}

/* If there is no memory, that of ended threads is freed first. */
static int stack_new(struct kymo_tcb *tcb, const pthread_attr_t *attr)
{
    if (attr->stackaddr || tcb->stack.low || stack_allocate(tcb, stack_bytes(attr)) == 0) {
        return 0;
    }
    return kymo_thread_forget_kept() ? stack_allocate(tcb, stack_bytes(attr)) : EAGAIN;
}

/* Returns a block for a new thread, with the stack of an ended one if such a stack is kept. */
static struct kymo_tcb *thread_new_block(const pthread_attr_t *attr, void **tls)
{
    struct kymo_tcb *again = attr->stackaddr ? NULL : kymo_thread_kept(stack_bytes(attr));
    struct kymo_stack stack = {0};

    if (again) {
        stack = again->stack;
    }
    struct kymo_tcb *tcb = kymo_tls_new(again, tls);
    if (!tcb && kymo_thread_forget_kept()) {
        tcb = kymo_tls_new(NULL, tls);
    }
    if (tcb) {
        tcb->stack = stack;
    }
    return tcb;
}

static int thread_start_created(struct kymo_tcb *tcb, void *tls, const pthread_attr_t *attr)
{
    struct _thread_attr kernel_attr = {
        .runmask = attr->runmask,
        .stackaddr = attr->stackaddr ? attr->stackaddr : tcb->stack.low,
        .stacksize = attr->stackaddr ? attr->stacksize : tcb->stack.bytes,
        .tls = tls,
    };

    if (attr->inheritsched == PTHREAD_EXPLICIT_SCHED) {
        kernel_attr.priority = attr->param.sched_priority;
        kernel_attr.policy = attr->policy;
    }
    return ThreadCreate_r(0, thread_run_entry, tcb, &kernel_attr);
}

static int thread_create_with(pthread_t *thread, const pthread_attr_t *attr, struct kymo_tcb *tcb,
                              void *tls)
{
    int tid;

    tcb->detached = attr->detachstate == PTHREAD_CREATE_DETACHED;
    int error = stack_new(tcb, attr);
    if (error != 0) {
        return error;
    }
    /* The thread is listed before it runs, because it may end, or query itself, at once. */
    kymo_threads_lock();
    tid = thread_start_created(tcb, tls, attr);
    if (tid > 0) {
        tcb->tid = tid;
        *thread = tid;
        kymo_thread_add(tcb);
    }
    kymo_threads_unlock();
    return tid > 0 ? 0 : -tid;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *), void *arg)
{
    pthread_attr_t defaults;
    void *tls;

    kymo_thread_reap();
    if (!attr) {
        pthread_attr_init(&defaults);
        attr = &defaults;
    }
    struct kymo_tcb *tcb = thread_new_block(attr, &tls);
    if (!tcb) {
        return EAGAIN;
    }
    tcb->func = func;
    tcb->arg = arg;
    int error = thread_create_with(thread, attr, tcb, tls);
    if (error != 0) {
        kymo_thread_free(tcb);
    }
    return error;
}

void pthread_exit(void *value)
{
    struct kymo_tcb *self = kymo_self();

    while (self->cleanup) {
        kymo_cleanup_pop(1);
    }
    kymo_keys_end(self);
    kymo_robust_end(self);
    kymo_tls_end(self);
    kymo_threads_lock();
    self->ended = true;
    kymo_threads_unlock();
    for (;;) {
        ThreadDestroy_r(0, 0, value);
    }
}

void kymo_cleanup_push(struct kymo_cleanup *cleanup)
{
    struct kymo_tcb *self = kymo_self();

    cleanup->outer = self->cleanup;
    self->cleanup = cleanup;
}

/* The clean-up handler is removed from the list before it runs, because it may end the thread
 * itself. */
void kymo_cleanup_pop(int execute)
{
    struct kymo_tcb *self = kymo_self();
    struct kymo_cleanup *cleanup = self->cleanup;

    self->cleanup = cleanup->outer;
    if (execute) {
        cleanup->routine(cleanup->arg);
    }
}

pthread_t pthread_self(void)
{
    return kymo_self()->tid;
}

int pthread_equal(pthread_t a, pthread_t b)
{
    return a == b;
}

static void thread_exit_canceled(void)
{
    pthread_exit(PTHREAD_CANCELED);
}

int pthread_cancel(pthread_t thread)
{
    return -ThreadCancel_r(thread, thread_exit_canceled);
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    return -kymo_thread_name_of(thread, name);
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    struct sched_param_kymo request = {.sched_priority = param->sched_priority};
    int error = SchedSet_r(0, thread, policy, &request);

    return error < 0 ? -error : 0;
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
    struct sched_param_kymo now;
    int error = SchedGet_r(0, thread, &now);

    if (error < 0) {
        return -error;
    }
    *policy = now.policy;
    param->sched_priority = now.sched_priority;
    return 0;
}

int sched_yield(void)
{
    return SchedYield();
}

int sched_get_priority_min(int policy)
{
    (void)policy;
    return PRIORITY_MIN;
}

int sched_get_priority_max(int policy)
{
    (void)policy;
    return PRIORITY_MAX;
}
