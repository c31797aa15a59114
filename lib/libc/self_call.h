/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling thread's block, for lib/thread.h; where its place isn't known to the compiler. */
#ifndef LIB_LIBC_SELF_CALL_H
#define LIB_LIBC_SELF_CALL_H

struct kymo_tcb *kymo_self(void);

#endif
