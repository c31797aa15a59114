/* SPDX-License-Identifier: BSD-2-Clause */
/* Static filters by process and thread. See trace/threads.h. */
#include "trace/threads.h"

#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/filter.h"
#include "trace/port.h"

#define CLASSES (_NTO_TRACE_INT_HANDLER_EXIT + 1)
#define STATES 32

/* Each limit is stored with a single access: where words have 32 bits, with interrupts masked,
 * because those machines have one CPU. [a] except there, where a setter can't interrupt a query. */
static struct {
    volatile trace_thread_t event_class[CLASSES];
    volatile trace_thread_t kercall[3 * TRACE_KERCALLS];
    volatile trace_thread_t state[STATES];
    volatile trace_thread_t entry[TRACE_EV_ENTRIES];
} only;

static void threads_set(volatile trace_thread_t *at, trace_thread_t value)
{
    uintptr_t irq = trace_port_irq_save();

    *at = value;
    trace_port_irq_restore(irq);
}

/* ---- setting ----------------------------------------------------------------------- */

static bool is_kercall(unsigned event_class)
{
    return event_class >= _NTO_TRACE_KERCALLENTER && event_class <= _NTO_TRACE_KERCALLINT;
}

int trace_threads_set_class(unsigned event_class, trace_thread_t value)
{
    switch (event_class) {
    case _NTO_TRACE_KERCALL:
        for (unsigned one = _NTO_TRACE_KERCALLENTER; is_kercall(one); one++) {
            threads_set(&only.event_class[one], value);
        }
        return 0;
    case _NTO_TRACE_KERCALLENTER:
    case _NTO_TRACE_KERCALLEXIT:
    case _NTO_TRACE_KERCALLINT:
    case _NTO_TRACE_THREAD:
    case _NTO_TRACE_VTHREAD: /* there are no such events */
    case _NTO_TRACE_SYSTEM:
    case _NTO_TRACE_COMM:
        threads_set(&only.event_class[event_class], value);
        return 0;
    default:
        return -ENOTSUP;
    }
}

static int set_kercall(unsigned event_class, uint32_t event, trace_thread_t value)
{
    if (event >= TRACE_KERCALLS) {
        return -ENOTSUP;
    }
    for (unsigned kind = 0; kind < 3; kind++) {
        if (event_class == _NTO_TRACE_KERCALL || event_class == _NTO_TRACE_KERCALLENTER + kind) {
            threads_set(&only.kercall[kind * TRACE_KERCALLS + event], value);
        }
    }
    return 0;
}

/* For class THREAD, event is a mask of several events. */
static int threads_set_rows(unsigned event_class, uint32_t event, trace_thread_t value)
{
    unsigned named = 0, state;

    for (unsigned id = 0; id < TRACE_EV_ENTRIES; id++) {
        if (!trace_filter_names(event_class, event, id)) {
            continue;
        }
        named++;
        if (trace_filter_state(id, &state)) {
            threads_set(&only.state[state], value);
        } else {
            threads_set(&only.entry[id], value);
        }
    }
    return named ? 0 : -ENOTSUP;
}

int trace_threads_set_event(unsigned event_class, uint32_t event, trace_thread_t value)
{
    switch (event_class) {
    case _NTO_TRACE_KERCALL:
    case _NTO_TRACE_KERCALLENTER:
    case _NTO_TRACE_KERCALLEXIT:
    case _NTO_TRACE_KERCALLINT:
        return set_kercall(event_class, event, value);
    case _NTO_TRACE_THREAD:
    case _NTO_TRACE_SYSTEM:
    case _NTO_TRACE_COMM:
        return threads_set_rows(event_class, event, value);
    default:
        return -ENOTSUP;
    }
}

#define CLEARED_A_STEP 64 /* words between two preemption points */

static void threads_clear(volatile trace_thread_t *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        threads_set(&words[i], 0);
        if (i % CLEARED_A_STEP == CLEARED_A_STEP - 1) {
            trace_port_window();
        }
    }
}

void trace_threads_clear(void)
{
    threads_clear(only.event_class, CLASSES);
    threads_clear(only.kercall, 3 * TRACE_KERCALLS);
    threads_clear(only.state, STATES);
    threads_clear(only.entry, TRACE_EV_ENTRIES);
}

/* ---- queries ----------------------------------------------------------------------- */

static unsigned class_of_kercall(unsigned number)
{
    return _NTO_TRACE_KERCALLENTER + number / TRACE_KERCALLS;
}

bool trace_threads_limit_row(unsigned id)
{
    return only.entry[id] || only.event_class[trace_filter_class_of(id)];
}

bool trace_threads_limit_kercall(unsigned number)
{
    return only.kercall[number] || only.event_class[class_of_kercall(number)];
}

uint32_t trace_threads_limit_states(void)
{
    uint32_t states = only.event_class[_NTO_TRACE_THREAD] ? UINT32_MAX : 0;

    for (unsigned state = 0; state < STATES; state++) {
        states |= only.state[state] ? 1u << state : 0;
    }
    return states;
}

static bool threads_passes(trace_thread_t limit, uint32_t pid, uint32_t tid)
{
    uint32_t wanted = (uint32_t)limit;

    return !limit || (limit >> 32 == pid && (!wanted || !tid || wanted == tid));
}

bool trace_threads_entry(unsigned event_class, unsigned id, uint32_t pid, uint32_t tid)
{
    return threads_passes(only.event_class[event_class], pid, tid) &&
           threads_passes(only.entry[id], pid, tid);
}

bool trace_threads_entry_here(unsigned event_class, unsigned id)
{
    trace_thread_t here = trace_port_thread();

    return trace_threads_entry(event_class, id, (uint32_t)(here >> 32), (uint32_t)here);
}

bool trace_threads_state(unsigned state, uint32_t pid, uint32_t tid)
{
    return threads_passes(only.event_class[_NTO_TRACE_THREAD], pid, tid) &&
           threads_passes(only.state[state], pid, tid);
}

bool trace_threads_kercall(unsigned number, uint32_t pid, uint32_t tid)
{
    return threads_passes(only.event_class[class_of_kercall(number)], pid, tid) &&
           threads_passes(only.kercall[number], pid, tid);
}

bool trace_threads_kercall_here(unsigned number)
{
    trace_thread_t here = trace_port_thread();

    return trace_threads_kercall(number, (uint32_t)(here >> 32), (uint32_t)here);
}
