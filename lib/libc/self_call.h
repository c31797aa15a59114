/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling thread's block, for lib/thread.h, returned by a function: for CPUs where the compiler
 * doesn't know its location. */
#ifndef LIB_LIBC_SELF_CALL_H
#define LIB_LIBC_SELF_CALL_H

struct kymo_tcb *kymo_self(void);

#endif
