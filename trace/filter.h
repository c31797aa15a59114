/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static filters: which events are on and which are recorded in their wide form, by external class
 * and event as TraceEvent() names them. Events that are on have their sites patched while tracing
 * runs; a site that serves many events (thread states, kernel calls, interrupts, user events)
 * queries the filter.
 *
 * Setters: kernel lock. Readers: any context; a change becomes visible word by word, at once.
 * Unknown classes and events are refused (-ENOTSUP). Tested by test/trace/filter_test.c.
 */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event_id.h"
#include "trace/slot.h"

#define TRACE_KERCALLS 128
#define TRACE_INTERRUPTS 256 /* filtered individually below this; above, by class */
#define TRACE_INT_EVENTS 5   /* numbers of class INT: 1..4 */
#define TRACE_USER_EVENTS 1024
#define TRACE_BITS(n) (((n) + 31) / 32)

struct trace_filter {
    uint32_t entry_on[TRACE_BITS(TRACE_EV_COUNT)]; /* [a] by TRACE_EV_*; unused for state entries */
    uint32_t row_wide[TRACE_BITS(TRACE_EV_COUNT)]; /* [a] */
    uint32_t state_on, state_slow;                 /* [a] bit per thread state */
    uint32_t state_wide;                           /* [k] */
    /* [a] Those of the enabled states that need no query: in the fast form, in the wide form. */
    uint32_t state_fast, state_long;
    uint32_t int_on[TRACE_INT_EVENTS][TRACE_BITS(TRACE_INTERRUPTS)]; /* [a] */
    uint32_t user_on[TRACE_BITS(TRACE_USER_EVENTS)];                 /* [a] */
    bool system_on; /* [k] KYMO_TRACE_SYSTEM_PROBES */
    /* [a] Limited to a process or thread: trace/threads.h must be queried. */
    uint32_t row_limited[TRACE_BITS(TRACE_EV_COUNT)];
};
extern struct trace_filter trace_filter;

static inline bool trace_bit(const uint32_t *bits, unsigned i)
{
    return bits[i / 32] >> (i % 32) & 1;
}

static inline void trace_bits_set(uint32_t *bits, unsigned first, unsigned count, bool value)
{
    for (unsigned i = first, end = first + count, n; i < end; i += n) {
        n = i % 32 == 0 && end - i >= 32 ? 32 : 1;
        uint32_t some = n == 32 ? UINT32_MAX : 1u << (i % 32);

        bits[i / 32] = value ? bits[i / 32] | some : bits[i / 32] & ~some;
    }
}

static inline bool trace_filter_int(unsigned event, uint32_t interrupt)
{
    return interrupt >= TRACE_INTERRUPTS || trace_bit(trace_filter.int_on[event], interrupt);
}

/* The set that a filter command changes. */
enum trace_filter_set { TRACE_SET_ON, TRACE_SET_WIDE };

void trace_filter_all(enum trace_filter_set set, bool value);
int trace_filter_class(enum trace_filter_set set, unsigned event_class, bool value);
int trace_filter_event(enum trace_filter_set set, unsigned event_class, uint32_t event, bool value);
/* Must be called after a change of the wide set, of the gate, or of trace/threads.h. */
void trace_filter_slow(void);
/* Properties of a table entry: whether an event of an external class selects it; its class; whether
 * it is a thread state's. */
bool trace_filter_names(unsigned event_class, uint32_t event, unsigned id);
unsigned trace_filter_class_of(unsigned id);
bool trace_filter_state(unsigned id, unsigned *state);
/* Patches the sites according to the filter and `running`. */
void trace_filter_apply(bool running);
/* Adds or removes D as a listener of a site (TRACE_EV_*). Takes effect on every CPU when
 * trace_sites_settle() returns; call that once for a batch. Kernel lock. */
void trace_site_probe(unsigned id, bool on);
void trace_sites_settle(void);
/* [a] User events have a listener: some are on and tracing runs, or D listens to them. */
extern bool trace_user_wanted;
extern bool trace_system_wanted; /* [a] likewise, the system's probes */
/* [a] Listeners of a site: the log, D. */
extern uint32_t trace_site_logged[TRACE_BITS(TRACE_EV_COUNT)];
extern uint32_t trace_site_probed[TRACE_BITS(TRACE_EV_COUNT)];

#endif
