/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic operations of CPUs with instructions for them. See trace/atomic.h, which includes this. */
#ifndef TRACE_PORT_ATOMIC_NATIVE_H
#define TRACE_PORT_ATOMIC_NATIVE_H

#define trace_atomic_load(p, order) __atomic_load_n(p, order)
#define trace_atomic_store(p, value, order) __atomic_store_n(p, value, order)
#define trace_atomic_exchange(p, value, order) __atomic_exchange_n(p, value, order)
#define trace_atomic_or(p, bits, order) ((void)__atomic_fetch_or(p, bits, order))
#define trace_atomic_add(p, n, order) ((void)__atomic_add_fetch(p, n, order))
#define trace_atomic_sub(p, n, order) ((void)__atomic_sub_fetch(p, n, order))
/* A failure needs no order, because the value read isn't used. */
#define trace_atomic_cas(p, expected, desired, order) \
    __extension__({ \
        __typeof__(*(p) + 0) trace_expected_ = (expected); \
        __atomic_compare_exchange_n(p, &trace_expected_, desired, false, order, __ATOMIC_RELAXED); \
    })

#endif
