/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event hooks: for every row of events.def an inline trace_<name>(arguments of the wider form),
 * one patched instruction while the event is off; and trace_thread_state() for the EVENT_STATE
 * rows.
 *
 * Any context, any lock. The arguments are evaluated only if they have no side effects or the event
 * is on: pass plain values. Strings are kernel memory, cut to 127 bytes. A row of two words is
 * logged where the site is, out of the way; what the others have is put together in trace/hook.c.
 * Proof: test/unit/test_rows.c sends every row through, fast and wide.
 */
#ifndef TRACE_HOOK_H
#define TRACE_HOOK_H

#include <stdint.h>

#include "trace/event_args.h"
#include "trace/event_id.h"
#include "trace/log.h"

#define TRACE_PARAM_A(type, name) TRACE_TYPE_##type name
#define TRACE_PASS_A(type, name) name
#define TRACE_PARAMS(fast, wide) TRACE_EACH(TRACE_PARAM_, TRACE_SEP_COMMA, , TRACE_ARGS(fast, wide))
#define TRACE_PASSES(fast, wide) TRACE_EACH(TRACE_PASS_, TRACE_SEP_COMMA, , TRACE_ARGS(fast, wide))

#define TRACE_TWO(...) TRACE_TWO_(__VA_ARGS__, )
#define TRACE_TWO_(a, b, ...) a, b

/* By TRACE_SHORT(). */
#define TRACE_HOOK_1(name, CLASS, number, fast, wide) \
    TRACE_INLINE void trace_##name(TRACE_PARAMS(fast, wide)) \
    { \
        if (TRACE_PORT_SITE_ON(TRACE_EV_##name)) { \
            trace_log2(TRACE_CLASS_##CLASS, number, TRACE_TWO(TRACE_PASSES(fast, wide), 0)); \
        } \
    }
#define TRACE_HOOK_0(name, CLASS, number, fast, wide) \
    TRACE_COLD void trace_emit_##name(TRACE_PARAMS(fast, wide)); \
    TRACE_INLINE void trace_##name(TRACE_PARAMS(fast, wide)) \
    { \
        if (TRACE_PORT_SITE_ON(TRACE_EV_##name)) { \
            trace_emit_##name(TRACE_PASSES(fast, wide)); \
        } \
    }
#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    TRACE_CAT(TRACE_HOOK_, TRACE_SHORT(CLASS, fast, wide))(name, CLASS, number, fast, wide)
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE

/* state: STATE_* of kernel/abi/sys/states.h. */
TRACE_COLD void trace_emit_thread_state(uint32_t state, uint32_t pid, uint32_t tid,
                                        uint32_t priority, uint32_t policy);
TRACE_INLINE void trace_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                                     uint32_t policy)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_thread_state)) {
        trace_emit_thread_state(state, pid, tid, priority, policy);
    }
}

#endif
