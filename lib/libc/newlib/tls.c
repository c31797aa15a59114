/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Newlib: per-thread data is one struct _reent (errno, and the state of strtok() and similar
 * functions), found by the functions of reent.h. All threads use the main thread's standard files;
 * stdio_wrap.c locks them.
 */
#include <reent.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/libc/newlib/reent.h"
#include "lib/thread.h"

void __libc_fini_array(void);
void __sinit(struct _reent *reent); /* newlib: makes the standard files */

struct newlib_thread {
    struct _reent reent;
    struct _reent *self;
    struct kymo_tcb tcb;
};

static struct kymo_tcb newlib_main_tcb = {.tid = 1};

struct kymo_tcb *kymo_self(void)
{
    struct _reent *reent = kymo_reent();

    if (reent == _global_impure_ptr) {
        return &newlib_main_tcb;
    }
    return &((struct newlib_thread *)reent)->tcb;
}

int kymo_tls_main(struct kymo_startup *startup)
{
    (void)startup;
    return kymo_reent_main();
}

/* newlib's exit() runs destructors only if they are registered. */
void kymo_libc_start(void)
{
    atexit(__libc_fini_array);
}

struct kymo_tcb *kymo_tls_new(struct kymo_tcb *again, void **tls)
{
    struct newlib_thread *thread = again ? again->block : malloc(sizeof(*thread));
    struct _reent *all = _global_impure_ptr;

    if (!thread) {
        return NULL;
    }
    __sinit(all);
    memset(&thread->tcb, 0, sizeof(thread->tcb));
    _REENT_INIT_PTR(&thread->reent); /* clears all of it first */
    thread->reent._stdin = all->_stdin;
    thread->reent._stdout = all->_stdout;
    thread->reent._stderr = all->_stderr;
    thread->reent.__sdidinit = 1; /* no standard files of its own */
    thread->tcb.block = thread;
    thread->self = &thread->reent;
    *tls = kymo_reent_tls(&thread->self);
    return &thread->tcb;
}

void kymo_tls_end(struct kymo_tcb *self)
{
    if (self != &newlib_main_tcb) {
        struct _reent *reent = &((struct newlib_thread *)self->block)->reent;

        reent->__sdidinit = 0; /* newlib would call its __cleanup, which is not set */
        _reclaim_reent(reent);
    }
}
