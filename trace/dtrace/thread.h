/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's part of a thread. The system has one for each thread, usually in its own struct
 * of the thread, zeroed when the thread is created; the machine gets the current one by
 * dtrace_port_thread_state(). Only the CPU that runs the thread accesses it.
 */
#ifndef TRACE_DTRACE_THREAD_H
#define TRACE_DTRACE_THREAD_H

#include <stdint.h>

struct dtrace_thread {
    uint32_t predicate_cache; /* [c] a predicate that is false for this thread; 0: none */
    /* [c] the thread-local variable found most recently: dtrace_dynamic.unique; 0: none */
    uint32_t scalar;
    uint8_t *scalar_data; /* [c] its data */
};

#endif
