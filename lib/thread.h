/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads inside lib/: each thread's control block, besides its C library's own data, and the
 * interface to the C library (lib/libc/<libc>/tls.c). Programs use <pthread.h>.
 */
#ifndef LIB_THREAD_H
#define LIB_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sys/kymo.h"

#define KYMO_KEYS 8   /* pthread_key_create() */
#define KYMO_ROBUST 8 /* robust mutexes that a thread has at once */

struct kymo_cleanup;
struct kymo_sync_words;

/* A thread's stack, if the library has allocated it. */
struct kymo_stack {
    void *low; /* lowest address; NULL: the caller's own, not freed */
    size_t bytes;
    bool mapped; /* by MemMap(), not malloc() */
};

struct kymo_tcb {
    int tid;                      /* [I] 0 until the thread itself has run */
    bool detached;                /* [list] */
    bool ended;                   /* [list] in its last instructions, or gone */
    bool in_heap;                 /* [own thread] lib/heap/heap.h: in a call that makes an event */
    struct kymo_stack stack;      /* [I] */
    void *block;                  /* [I] the memory that contains this struct; freed with it */
    void *(*func)(void *);        /* [I] */
    void *arg;                    /* [I] */
    void *value[KYMO_KEYS];       /* [own thread] */
    struct kymo_cleanup *cleanup; /* [own thread] pushed last; NULL: none */
    struct kymo_sync_words *robust[KYMO_ROBUST]; /* [own thread] pthread_mutex_t; NULL: free */
    struct kymo_tcb *next;                       /* [list] all threads but the main one */
};                                               /* [list]: kymo_threads_lock() */

/* ---- of the C library's port (lib/libc/<libc>/tls.c) ------------------------------- */

/* The calling thread's block. */
#include KYMO_SELF_H
/* Main thread, at the program's start: errno does not work before. Returns 0 or -1 (no room). */
int kymo_tls_main(struct kymo_startup *startup);
/* Returns a block with the C library's data and a zeroed tcb, for a new thread; NULL: no memory.
 * again: the block of an ended thread, to be reused; NULL: none. *tls is struct
 * _thread_attr.tls. */
struct kymo_tcb *kymo_tls_new(struct kymo_tcb *again, void **tls);
/* Called by the ending thread itself: frees what the C library allocated for it. */
void kymo_tls_end(struct kymo_tcb *self);
/* Sets up stdio: once, before main(), when constructors may run. */
void kymo_libc_start(void);

/* ---- lib/thread.c, thread_reap.c, key.c -------------------------------------------- */

void kymo_threads_lock(void);
void kymo_threads_unlock(void);
void kymo_thread_add(struct kymo_tcb *tcb);
/* Joins and frees detached threads that have ended. */
void kymo_thread_reap(void);
/* Frees the memory of a thread that has left the kernel, or keeps it for a new thread. */
void kymo_thread_free(struct kymo_tcb *tcb);
/* Returns the block of an ended thread with a stack of at least stack_bytes, not much more, and
 * passes it to the caller; NULL: none is kept. */
struct kymo_tcb *kymo_thread_kept(size_t stack_bytes);
/* Frees the memory kept of ended threads; returns whether there was any. */
bool kymo_thread_forget_kept(void);
/* Runs the key destructors of the calling thread. */
void kymo_keys_end(struct kymo_tcb *self);

#endif
