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
#include "trace/filter.h"
#include "trace/log.h"

#define TRACE_PARAM_A(type, name) TRACE_TYPE_##type name
#define TRACE_PASS_A(type, name) name
#define TRACE_PARAMS(fast, wide) TRACE_EACH(TRACE_PARAM_, TRACE_SEP_COMMA, , TRACE_ARGS(fast, wide))
#define TRACE_PASSES(fast, wide) TRACE_EACH(TRACE_PASS_, TRACE_SEP_COMMA, , TRACE_ARGS(fast, wide))

#define TRACE_TWO(...) TRACE_TWO_(__VA_ARGS__, )
#define TRACE_TWO_(a, b, ...) a, b

/* How the log takes a row's event, by TRACE_SHORT(). */
#define TRACE_LOG_1(name, CLASS, number, fast, wide) \
    TRACE_INLINE void trace_emit_##name(TRACE_PARAMS(fast, wide)) \
    { \
        trace_log2(TRACE_CLASS_##CLASS, number, TRACE_TWO(TRACE_PASSES(fast, wide), 0)); \
    }
#define TRACE_LOG_0(name, CLASS, number, fast, wide) \
    TRACE_COLD void trace_emit_##name(TRACE_PARAMS(fast, wide));

/* The hook; and what serves D's probes too (trace/fire.c). */
#define TRACE_HOOK(name, fast, wide) \
    TRACE_COLD void trace_fire_##name(TRACE_PARAMS(fast, wide)); \
    TRACE_INLINE void trace_##name(TRACE_PARAMS(fast, wide)) \
    { \
        switch (TRACE_PORT_SITE(TRACE_EV_##name)) { \
        case TRACE_SITE_OFF: \
            break; \
        case TRACE_SITE_LOG: \
            trace_emit_##name(TRACE_PASSES(fast, wide)); \
            break; \
        case TRACE_SITE_ALL: \
            trace_fire_##name(TRACE_PASSES(fast, wide)); \
            break; \
        } \
    }
#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    TRACE_CAT(TRACE_LOG_, TRACE_SHORT(CLASS, fast, wide)) \
    (name, CLASS, number, fast, wide) TRACE_HOOK(name, fast, wide)
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE

/* What only D listens on. */
#define TRACE_LIST_ARGS(...) __VA_ARGS__
#define TRACE_WORD64_A(type, name) TRACE_WORD64_##type(name)
#define TRACE_WORD64_D(name) (name)
#define TRACE_WORD64_H(name) (name)
#define TRACE_WORD64_E(name) (name)
#define TRACE_WORD64_X(name) (name)
#define TRACE_WORD64_P(name) (name)
#define TRACE_WORD64_I(name) (name)
#define TRACE_WORD64_N(name) (uintptr_t)(name)
#define SITE(name, args, doc) SITE_(name, TRACE_LIST_##args)
#define SITE_(name, ...) \
    TRACE_INLINE void trace_site_##name(TRACE_EACH(TRACE_PARAM_, TRACE_SEP_COMMA, , __VA_ARGS__)) \
    { \
        if (TRACE_PORT_SITE_ON(TRACE_EV_##name)) { \
            const uint64_t words[] = {TRACE_EACH(TRACE_WORD64_, TRACE_SEP_COMMA, , __VA_ARGS__), \
                                      0, 0, 0, 0}; \
            trace_port_fire(TRACE_EV_##name, words); \
        } \
    }
#include "trace/sites.def"
#undef SITE
#undef SITE_

/* For the log alone. state: STATE_* of abi/sys/states.h. */
TRACE_COLD void trace_emit_thread_state(uint32_t state, uint32_t pid, uint32_t tid,
                                        uint32_t priority, uint32_t policy);
TRACE_INLINE void trace_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                                     uint32_t policy)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_thread_state)) {
        trace_emit_thread_state(state, pid, tid, priority, policy);
    }
}

/* The same of what happened before, for which the gate isn't asked. */
TRACE_COLD void trace_dump_thread_state(uint32_t state, uint32_t pid, uint32_t tid,
                                        uint32_t priority, uint32_t policy);

/* For the log alone, of what happened before: a state dump. */
#define TRACE_DUMP(name, ...) \
    do { \
        if (trace_bit(trace_site_logged, TRACE_EV_##name)) { \
            trace_emit_##name(__VA_ARGS__); \
        } \
    } while (0)

#endif
