/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic operations of ARMv7-M and ARMv8-M with one CPU: its instructions, without barriers. A CPU
 * sees its own loads and stores in order, so an order only constrains the compiler. See
 * trace/atomic.h, which includes this.
 */
#ifndef TRACE_PORT_ATOMIC_ARMV7M_H
#define TRACE_PORT_ATOMIC_ARMV7M_H

#define trace_atomic_load(p, order) \
    __extension__({ \
        __typeof__(*(p) + 0) trace_value_ = __atomic_load_n(p, __ATOMIC_RELAXED); \
        __atomic_signal_fence(order); \
        trace_value_; \
    })
#define trace_atomic_store(p, value, order) \
    do { \
        __typeof__(*(p) + 0) trace_value_ = (value); \
        __atomic_signal_fence(order); \
        __atomic_store_n(p, trace_value_, __ATOMIC_RELAXED); \
    } while (0)
/* A change of one object, between two fences. */
#define TRACE_ATOMIC_CHANGE_(change) \
    __extension__({ \
        __atomic_signal_fence(__ATOMIC_SEQ_CST); \
        __typeof__(change) trace_changed_ = (change); \
        __atomic_signal_fence(__ATOMIC_SEQ_CST); \
        trace_changed_; \
    })
#define trace_atomic_exchange(p, value, order) \
    TRACE_ATOMIC_CHANGE_(__atomic_exchange_n(p, value, __ATOMIC_RELAXED))
#define trace_atomic_or(p, bits, order) \
    ((void)TRACE_ATOMIC_CHANGE_(__atomic_fetch_or(p, bits, __ATOMIC_RELAXED)))
#define trace_atomic_add(p, n, order) \
    ((void)TRACE_ATOMIC_CHANGE_(__atomic_add_fetch(p, n, __ATOMIC_RELAXED)))
#define trace_atomic_sub(p, n, order) \
    ((void)TRACE_ATOMIC_CHANGE_(__atomic_sub_fetch(p, n, __ATOMIC_RELAXED)))
#define trace_atomic_cas(p, expected, desired, order) \
    __extension__({ \
        __typeof__(*(p) + 0) trace_expected_ = (expected); \
        TRACE_ATOMIC_CHANGE_(__atomic_compare_exchange_n(p, &trace_expected_, desired, false, \
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    })

#endif
