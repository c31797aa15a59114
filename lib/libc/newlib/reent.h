/* SPDX-License-Identifier: BSD-2-Clause */
/* How newlib finds the running thread's struct _reent. Each variant has a file; lib/lib.mk
 * chooses. */
#ifndef LIB_LIBC_NEWLIB_REENT_H
#define LIB_LIBC_NEWLIB_REENT_H

#include <reent.h>

/* Returns the running thread's struct _reent. */
struct _reent *kymo_reent(void);
/* Makes _global_impure_ptr the main thread's, now and after every switch. 0 or -1. */
int kymo_reent_main(void);
/* Returns the `tls` attribute of a thread whose struct _reent is *self; self must live as long as
 * the thread. */
void *kymo_reent_tls(struct _reent **self);

#endif
