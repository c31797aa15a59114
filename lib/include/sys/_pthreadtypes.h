/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of <pthread.h>. Newlib's <sys/types.h> includes this file in place of its own, whose
 * types are one-word handles for other systems.
 */
#ifndef LIB_SYS_PTHREADTYPES_H
#define LIB_SYS_PTHREADTYPES_H

#include <stddef.h>
#include <stdint.h>

struct sched_param {
    int sched_priority;
};

typedef int pthread_t; /* the kernel's thread id */

typedef struct {
    int detachstate;
    int inheritsched;
    int policy; /* SCHED_* of sys/neutrino.h */
    struct sched_param param;
    uint32_t runmask; /* 0: the creator's */
    void *stackaddr;  /* NULL: allocated */
    size_t stacksize; /* 0: the default */
} pthread_attr_t;

/* Same layout as the kernel's sync_t (asserted in lib/mutex.c). */
struct kymo_sync_words {
    volatile int32_t count;
    volatile uint32_t owner;
};
typedef struct kymo_sync_words pthread_mutex_t;
typedef struct kymo_sync_words pthread_cond_t;

typedef struct {
    int recursive;
    int protocol; /* PTHREAD_PRIO_* */
    int robust;   /* PTHREAD_MUTEX_ROBUST or PTHREAD_MUTEX_STALLED */
} pthread_mutexattr_t;
typedef struct {
    int clock; /* CLOCK_REALTIME or CLOCK_MONOTONIC */
} pthread_condattr_t;

typedef struct {
    int unused;
} pthread_barrierattr_t;
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t passed; /* the generation changed */
    pthread_cond_t left;   /* the last thread of a generation has left */
    unsigned needed;       /* [I] threads; 0: destroyed */
    unsigned waiting;      /* [mutex] of this generation */
    unsigned leaving;      /* [mutex] of earlier generations, still in pthread_barrier_wait() */
    unsigned generation;   /* [mutex] */
} pthread_barrier_t;

typedef struct {
    int unused;
} pthread_rwlockattr_t;
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t may_read, may_write;
    int readers;         /* [mutex] readers that hold it */
    pthread_t writer;    /* [mutex] thread that holds it for writing; 0: none */
    int waiting_readers; /* [mutex] */
    int waiting_writers; /* [mutex] */
} pthread_rwlock_t;
typedef struct {
    pthread_mutex_t mutex;
    int done;
} pthread_once_t;
typedef int pthread_key_t;

#endif
