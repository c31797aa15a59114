/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers for the entries of events.def: TRACE_EV_<name>, in the table's order, and for the sites
 * that serve many events. Internal to one build: they never leave the program.
 */
#ifndef TRACE_EVENT_ID_H
#define TRACE_EVENT_ID_H

enum trace_event_id {
#define EVENT(name, ...) TRACE_EV_##name,
#define EVENT_CONTROL(name, ...) /* no hook, no filter */
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
    TRACE_EV_ENTRIES,
    TRACE_EV_thread_state = TRACE_EV_ENTRIES, /* the one site of all EVENT_STATE entries */
    TRACE_EV_kercall_enter,
    TRACE_EV_kercall_exit,
    TRACE_EV_kercall_int,
    TRACE_EV_user_event, /* class USER */
    TRACE_EV_EVENTS,     /* end of the log's sites */
    TRACE_EV_before_sites = TRACE_EV_EVENTS - 1,
#define SITE(name, ...) TRACE_EV_##name,
#include "trace/sites.def"
#undef SITE
    /* The one site of the fast path of messages: off while all events of that path are off, ALL if
     * one of them has a listener other than the log (trace/filter.c). */
    TRACE_EV_messages,
    TRACE_EV_COUNT
};

#endif
