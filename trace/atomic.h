/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic operations of trace/, by the CPU's own instructions or, where it has none, with interrupts
 * masked. Objects have at most 32 bits or are pointers. order: __ATOMIC_*.
 *
 *   trace_atomic_load(p, order)                       returns *p
 *   trace_atomic_store(p, value, order)
 *   trace_atomic_exchange(p, value, order)            returns the old value
 *   trace_atomic_cas(p, expected, desired, order)     returns true if *p was expected, and now is
 *                                                     desired; order: of a success
 *   trace_atomic_or(p, bits, order), trace_atomic_add(p, n, order), trace_atomic_sub(p, n, order)
 *   trace_atomic_fence(order)                         for the compiler only
 *
 * A makefile chooses by -DTRACE_ATOMIC_OPS_H: trace/port/atomic_native.h, the default, or for small
 * machines of one CPU trace/port/atomic_armv7m.h (without barriers) or atomic_armv6m.h.
 * scripts/check-source refuses the compiler's built-ins elsewhere in trace/; the suite trace-alone
 * builds it for a CPU without them.
 */
#ifndef TRACE_ATOMIC_H
#define TRACE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#ifndef TRACE_ATOMIC_OPS_H
#define TRACE_ATOMIC_OPS_H "trace/port/atomic_native.h"
#endif
#include TRACE_ATOMIC_OPS_H

#define trace_atomic_fence(order) __atomic_signal_fence(order)

#endif
