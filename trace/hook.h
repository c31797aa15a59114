/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event hooks: for every entry of events.def an inline trace_<name>(arguments of the wider
 * form), one patched instruction while the event is off; and trace_thread_state() for the
 * EVENT_STATE entries. The functions of the entries are generated: build/gen/trace_hooks.h.
 *
 * Any context, any lock. The arguments are evaluated only if they have no side effects or the event
 * is on: pass plain values. Strings are kernel memory, truncated to 127 bytes. An entry of two
 * words is logged in the out-of-line code of its site; the words of other entries are assembled in
 * trace/hook.c. Tested by test/trace/rows_test.c, which sends every entry through, fast and wide.
 */
#ifndef TRACE_HOOK_H
#define TRACE_HOOK_H

#include <stdint.h>

#include "abi/compiler.h"
#include "trace/event_id.h"
#include "trace/filter.h"
#include "trace/log.h"

#include "build/gen/trace_hooks.h"

/* Records the event for the log alone. state: STATE_* of abi/sys/states.h. */
COLD void trace_emit_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                                  uint32_t policy);
/* Does the same, with the forms that need no query inline. */
TRACE_INLINE void trace_log_thread_state(uint32_t state, uint32_t pid, uint32_t tid,
                                         uint32_t priority, uint32_t policy)
{
    if (likely(trace_filter.state_fast >> state & 1)) {
        trace_log2(TRACE_CLASS_PR_TH, state, pid, tid);
    } else if (trace_filter.state_long >> state & 1) {
        const uint32_t words[4] = {pid, tid, priority, policy};
        trace_log4(TRACE_CLASS_PR_TH << TRACE_CLASS_SHIFT | state, words);
    } else {
        trace_emit_thread_state(state, pid, tid, priority, policy);
    }
}
TRACE_INLINE void trace_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                                     uint32_t policy)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_thread_state)) {
        trace_log_thread_state(state, pid, tid, priority, policy);
    }
}

/* Logs the state of a thread in a state dump, with the dump's flag: bypasses the D gate. */
COLD void trace_dump_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                                  uint32_t policy);

/* Logs an EVENT_DUMPED in a state dump, with the dump's flag: bypasses the D gate. */
#define TRACE_DUMP(name, ...) \
    do { \
        if (trace_bit(trace_site_logged, TRACE_EV_##name)) { \
            trace_dump_##name(__VA_ARGS__); \
        } \
    } while (0)

#endif
