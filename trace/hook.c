/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marshalling of events: one function trace_emit_<name>() for each entry of events.def that is not
 * short (short ones are logged at their sites, trace/hook.h), called only when the entry's site is
 * on. Events of at most two words use the log's fast path, inlined here so that class and number
 * are constants; longer ones become words and text. Any context. Tested by test/trace/rows_test.c.
 */
#include "trace/hook.h"

#include "abi/compiler.h"
#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/log.h"
#include "trace/threads.h"

/* The collected words of one event. big: some P word needs 64 bits, so all take two. */
struct args {
    uint32_t words[TRACE_EVENT_WORDS];
    unsigned n;
    bool big;
    const char *text;
};

TRACE_INLINE void put32(struct args *a, uint32_t value)
{
    a->words[a->n++] = value;
}

TRACE_INLINE void put64(struct args *a, uint64_t value)
{
    put32(a, (uint32_t)value);
    put32(a, (uint32_t)(value >> 32));
}

TRACE_INLINE void put_pointer(struct args *a, uintptr_t value)
{
    put32(a, (uint32_t)value);
    if (a->big) {
        put32(a, (uint32_t)((uint64_t)value >> 32));
    }
}

/* Returns whether the value takes two words. */
TRACE_INLINE bool has_high_half(uintptr_t value)
{
    return (uint64_t)value >> 32 != 0;
}

/*
 * Encodes the address of an instruction in one word where possible, so that the event has the form
 * that QNX's readers know. A 64-bit kernel's addresses have the high half TRACE_PORT_CODE_HIGH, and
 * its instructions are aligned: bit 0 of the word represents that half. Other addresses with a high
 * half, and odd ones, take two words like a pointer.
 */
TRACE_INLINE bool code_fits(uint64_t value)
{
    return TRACE_PORT_CODE_HIGH == 0
               ? value >> 32 == 0
               : (value & 1) == 0 && (value >> 32 == 0 || value >> 32 == TRACE_PORT_CODE_HIGH);
}

TRACE_INLINE void put_code(struct args *a, uint64_t value)
{
    if (a->big) {
        put64(a, value);
    } else {
        put32(a, (uint32_t)value | (value >> 32 != 0));
    }
}

/* event: may include TRACE_STATE_DUMP, which the fast path's code has no room for. */
COLD static void log_long(unsigned slot_class, unsigned event, const struct args *a)
{
    struct trace_words words = {a->words, a->n, a->text, 0};

    while (a->text && words.text_bytes < TRACE_TEXT_BYTES - 1 && a->text[words.text_bytes]) {
        words.text_bytes++;
    }
    trace_log_words(slot_class, event | (a->big ? TRACE_EVENT_64 : 0), &words);
}

TRACE_INLINE void log_args(unsigned slot_class, unsigned event, const struct args *a)
{
    if (a->n <= 2 && !a->text) {
        trace_log2(slot_class, event | (a->big ? TRACE_EVENT_64 : 0), a->n > 0 ? a->words[0] : 0,
                   a->n > 1 ? a->words[1] : 0);
    } else {
        log_long(slot_class, event, a);
    }
}

#include "build/gen/trace_emit.inc.h"

/* Assembles the words of the state's form. */
TRACE_INLINE void put_state(struct args *a, uint32_t state, uint32_t pid, uint32_t tid,
                            uint32_t priority, uint32_t policy)
{
    put32(a, pid);
    put32(a, tid);
    if (trace_filter.state_wide >> state & 1) {
        put32(a, priority);
        put32(a, policy);
    }
}

void trace_dump_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                             uint32_t policy)
{
    struct args a = {.big = false};

    if (trace_filter.state_on >> state & 1) {
        put_state(&a, state, pid, tid, priority, policy);
        log_long(TRACE_CLASS_PR_TH, state | TRACE_STATE_DUMP, &a);
    }
}

COLD static void state_slow(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                            uint32_t policy)
{
    const uint64_t words[] = {pid, tid, priority, policy, state};

    if (trace_threads_state(state, pid, tid) &&
        !trace_gate_stops(TRACE_CLASS_PR_TH, TRACE_EV_thread_state, state, words)) {
        struct args a = {.big = false};
        put_state(&a, state, pid, tid, priority, policy);
        log_args(TRACE_CLASS_PR_TH, state, &a);
    }
}

void trace_emit_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                             uint32_t policy)
{
    if (!(trace_filter.state_on >> state & 1)) {
        return;
    }
    if (trace_filter.state_slow >> state & 1) {
        state_slow(state, pid, tid, priority, policy);
    } else {
        trace_log2(TRACE_CLASS_PR_TH, state, pid, tid);
    }
}
