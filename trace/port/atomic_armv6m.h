/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic operations of ARMv6-M (Cortex-M0), which has one CPU and no exclusive loads and stores. A
 * load or store is one instruction; interrupts are masked for the others. See trace/atomic.h, which
 * includes this.
 */
#ifndef TRACE_PORT_ATOMIC_ARMV6M_H
#define TRACE_PORT_ATOMIC_ARMV6M_H

static inline uint32_t trace_atomic_mask_(void)
{
    uint32_t primask;

    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask)::"memory");
    return primask;
}

static inline void trace_atomic_unmask_(uint32_t primask)
{
    __asm__ volatile("msr primask, %0" ::"r"(primask) : "memory");
}

#define TRACE_ATOMIC_AT_(p) ((volatile __typeof__(*(p)) *)(p))

/* There is one CPU, so an order only constrains the compiler. */
#define trace_atomic_load(p, order) \
    __extension__({ \
        __typeof__(*(p) + 0) trace_value_ = *TRACE_ATOMIC_AT_(p); \
        __atomic_signal_fence(order); \
        trace_value_; \
    })
#define trace_atomic_store(p, value, order) \
    do { \
        __typeof__(*(p) + 0) trace_value_ = (value); \
        __atomic_signal_fence(order); \
        *TRACE_ATOMIC_AT_(p) = trace_value_; \
    } while (0)
#define trace_atomic_exchange(p, value, order) \
    __extension__({ \
        __typeof__(*(p) + 0) trace_new_ = (value); \
        uint32_t trace_mask_ = trace_atomic_mask_(); \
        __typeof__(*(p) + 0) trace_old_ = *TRACE_ATOMIC_AT_(p); \
        *TRACE_ATOMIC_AT_(p) = trace_new_; \
        trace_atomic_unmask_(trace_mask_); \
        trace_old_; \
    })
#define trace_atomic_cas(p, expected, desired, order) \
    __extension__({ \
        __typeof__(*(p) + 0) trace_from_ = (expected), trace_to_ = (desired); \
        uint32_t trace_mask_ = trace_atomic_mask_(); \
        bool trace_swaps_ = *TRACE_ATOMIC_AT_(p) == trace_from_; \
        if (trace_swaps_) { \
            *TRACE_ATOMIC_AT_(p) = trace_to_; \
        } \
        trace_atomic_unmask_(trace_mask_); \
        trace_swaps_; \
    })
#define TRACE_ATOMIC_CHANGE_(p, operator, operand) \
    do { \
        __typeof__(*(p) + 0) trace_operand_ = (operand); \
        uint32_t trace_mask_ = trace_atomic_mask_(); \
        *TRACE_ATOMIC_AT_(p) = *TRACE_ATOMIC_AT_(p) operator trace_operand_; \
        trace_atomic_unmask_(trace_mask_); \
    } while (0)
#define trace_atomic_or(p, bits, order) TRACE_ATOMIC_CHANGE_(p, |, bits)
#define trace_atomic_add(p, n, order) TRACE_ATOMIC_CHANGE_(p, +, n)
#define trace_atomic_sub(p, n, order) TRACE_ATOMIC_CHANGE_(p, -, n)

#endif
