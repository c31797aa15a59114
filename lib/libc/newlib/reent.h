/* SPDX-License-Identifier: BSD-2-Clause */
/* How newlib finds the running thread's struct _reent; one file a kind, chosen in lib/lib.mk. */
#ifndef LIB_LIBC_NEWLIB_REENT_H
#define LIB_LIBC_NEWLIB_REENT_H

#include <reent.h>

/* Returns the running thread's. */
struct _reent *kymo_reent(void);
/* Makes _global_impure_ptr the main thread's, now and after every switch. 0 or -1. */
int kymo_reent_main(void);
/* Returns the `tls` attribute of a thread whose struct _reent is *self; self lives as long. */
void *kymo_reent_tls(struct _reent **self);

#endif
