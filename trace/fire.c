/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A site that serves every enabling (TRACE_SITE_ALL): the event log, if it takes the event, then
 * D's probes on the site, with all arguments of the row's wider form as 64-bit words. One function
 * trace_fire_<name>() a row of events.def. Any context. Proof: test/unit/test_rows.c.
 */
#include "trace/filter.h"
#include "trace/hook.h"

#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    void trace_fire_##name(TRACE_PARAMS(fast, wide)) \
    { \
        if (trace_bit(trace_site_logged, TRACE_EV_##name)) { \
            trace_emit_##name(TRACE_PASSES(fast, wide)); \
        } \
        if (trace_port_listens(TRACE_EV_##name)) { \
            const uint64_t words[] = { \
                TRACE_EACH(TRACE_WORD64_, TRACE_SEP_COMMA, , TRACE_ARGS(fast, wide)), 0, 0, 0, 0}; \
            trace_port_fire(TRACE_EV_##name, words); \
        } \
    }
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE
