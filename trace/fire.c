/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A site that serves every enabling (TRACE_SITE_ALL): the event log, if it takes the event, then
 * D's probes on the site, with all arguments of the row's wider form as 64-bit words. One function
 * trace_fire_<name>() a row of events.def. Any context. Proof: test/unit/test_rows.c.
 */
#include "abi/sys/trace.h"
#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/hook.h"
#include "trace/threads.h"

/* Zeros behind a row's words: trace_port_fire() wants five at least. */
#define ZEROS(...) TRACE_CAT(ZEROS_, TRACE_COUNT(__VA_ARGS__))
#define ZEROS_1 , 0, 0, 0, 0
#define ZEROS_2 , 0, 0, 0
#define ZEROS_3 , 0, 0
#define ZEROS_4 , 0
#define ZEROS_5
#define ZEROS_6
#define ZEROS_7
#define ZEROS_8
#define ZEROS_9
#define ZEROS_10

/* An interrupt that is filtered singly isn't the gate's: trace_emit_*() leaves it out. */
#define WANTS_INT(number, interrupt) trace_filter_int(number, interrupt)
#define WANTS_PR_TH(number, ...) true
#define WANTS_SYSTEM(number, ...) true
#define WANTS_COMM(number, ...) true

/* Limited to a process or thread: whose is it? */
#define PASSES_INTENTER(name) true
#define PASSES_INTEXIT(name) true
#define PASSES_INT_HANDLER_ENTER(name) true
#define PASSES_INT_HANDLER_EXIT(name) true
#define PASSES_PROCESS(name) true
#define PASSES_THREAD(name) \
    (NOT_LIMITED(name) || trace_threads_row(_NTO_TRACE_THREAD, TRACE_EV_##name, pid, tid))
#define PASSES_SYSTEM(name) \
    (NOT_LIMITED(name) || trace_threads_row_here(_NTO_TRACE_SYSTEM, TRACE_EV_##name))
#define PASSES_COMM(name) \
    (NOT_LIMITED(name) || trace_threads_row_here(_NTO_TRACE_COMM, TRACE_EV_##name))
#define NOT_LIMITED(name) !trace_bit(trace_filter.row_limited, TRACE_EV_##name)

#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    TRACE_INLINE void probe_##name(TRACE_PARAMS(fast, wide)) \
    { \
        if (trace_port_listens(TRACE_EV_##name)) { \
            const uint64_t words[] = { \
                TRACE_EACH(TRACE_WORD64_, TRACE_SEP_COMMA, , TRACE_ARGS(fast, wide)) \
                    ZEROS(TRACE_ARGS(fast, wide))}; \
            trace_port_fire(TRACE_EV_##name, words); \
        } \
    } \
    TRACE_COLD static void gated_##name(TRACE_PARAMS(fast, wide)) \
    { \
        const uint64_t words[] = { \
            TRACE_EACH(TRACE_WORD64_, TRACE_SEP_COMMA, , TRACE_ARGS(fast, wide)) \
                ZEROS(TRACE_ARGS(fast, wide))}; \
        if (!WANTS_##CLASS(number, interrupt) || \
            !trace_gate_stops(TRACE_CLASS_##CLASS, TRACE_EV_##name, number, words)) { \
            trace_emit_##name(TRACE_PASSES(fast, wide)); \
        } \
    } \
    TRACE_COLD static void log_and_probe_##name(TRACE_PARAMS(fast, wide)) \
    { \
        if (!PASSES_##EXT(name)) { \
            /* as if its class were off */ \
        } else if (trace_gate_armed) { \
            gated_##name(TRACE_PASSES(fast, wide)); \
        } else { \
            trace_emit_##name(TRACE_PASSES(fast, wide)); \
        } \
        probe_##name(TRACE_PASSES(fast, wide)); \
    } \
    void trace_fire_##name(TRACE_PARAMS(fast, wide)) \
    { \
        if (trace_bit(trace_site_logged, TRACE_EV_##name)) { \
            log_and_probe_##name(TRACE_PASSES(fast, wide)); \
        } else { \
            probe_##name(TRACE_PASSES(fast, wide)); \
        } \
    }
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE
