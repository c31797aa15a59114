/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling thread's block, for lib/thread.h, as a thread-local variable accessed in line: for
 * CPUs whose thread pointer is a register that programs can read. */
#ifndef LIB_LIBC_PICOLIBC_SELF_TLS_H
#define LIB_LIBC_PICOLIBC_SELF_TLS_H

extern _Thread_local struct kymo_tcb *kymo_self_tcb __attribute__((tls_model("local-exec")));

static inline struct kymo_tcb *kymo_self(void)
{
    return kymo_self_tcb;
}

#endif
