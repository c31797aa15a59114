/* SPDX-License-Identifier: BSD-2-Clause */
/* Thread-local storage as the compiler expects it on one CPU, implemented by
 * lib/arch/<cpu>/thread_pointer.c. picolibc only. */
#ifndef LIB_ARCH_TLS_H
#define LIB_ARCH_TLS_H

#include <stddef.h>

extern char __tls_base[], __tls_end[], __tdata_source[], __tdata_size[], __tls_align[];

/* Bytes between the thread pointer and the first thread-local variable. */
size_t kymo_tls_offset(void);
/* Makes this the calling (main) thread's pointer, now and after every switch. 0 or -1. */
int kymo_tls_set(void *thread_pointer);

#endif
