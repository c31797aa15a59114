/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static filters: maps external classes and events to table entries, bits and sites. See
 * trace/filter.h.
 *
 * A selection is a set of "sinks": one entry's bit, or a range in one of the bitmaps. External
 * events are numbers, except in PROCESS and THREAD where they are masks (1 << n), as in QNX.
 */
#include "trace/filter.h"

#include <stddef.h>

#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/atomic.h"
#include "trace/gate.h"
#include "trace/kercall.h"
#include "trace/port.h"
#include "trace/threads.h"

struct trace_filter trace_filter;
static uint8_t sites[TRACE_EV_COUNT]; /* [k] enum trace_site_mode, as patched */
/* [k] sites were patched since the previous sync */
static bool unsettled;
uint32_t trace_site_probed[TRACE_BITS(TRACE_EV_COUNT)]; /* [a] D listens */
uint32_t trace_site_logged[TRACE_BITS(TRACE_EV_COUNT)]; /* [a] the log takes its event */
bool trace_user_wanted;                                 /* [a] */
bool trace_system_wanted;                               /* [a] */

static const struct entry {
    uint8_t event_class; /* external */
    uint8_t internal;    /* class */
    uint16_t number;     /* internal event */
    bool state;
} entries[TRACE_EV_ENTRIES] = {
#define EVENT_ENTRY(CLASS, number, EXT, state) \
    {_NTO_TRACE_##EXT, TRACE_CLASS_##CLASS, number, state},
#define EVENT(name, CLASS, number, EXT, ...) EVENT_ENTRY(CLASS, number, EXT, false)
#define EVENT_STATE(name, CLASS, number, EXT, ...) EVENT_ENTRY(CLASS, number, EXT, true)
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_STATE
#undef EVENT_CONTROL
};

/* ---- entries ----------------------------------------------------------------------- */

/* Returns whether the external event, a mask or number, selects this table entry. */
static bool entry_matches(const struct entry *entry, uint32_t event)
{
    if (entry->event_class == _NTO_TRACE_PROCESS) {
        return event >> (entry->number / 64 - 1) & 1;
    }
    if (entry->event_class == _NTO_TRACE_THREAD) {
        return event >> entry->number & 1;
    }
    return entry->number == event;
}

bool trace_filter_names(unsigned event_class, uint32_t event, unsigned id)
{
    return entries[id].event_class == event_class && entry_matches(&entries[id], event);
}

unsigned trace_filter_class_of(unsigned id)
{
    return entries[id].event_class;
}

bool trace_filter_state(unsigned id, unsigned *state)
{
    *state = entries[id].number;
    return entries[id].state;
}

static void set_row(enum trace_filter_set set, unsigned id, bool value)
{
    struct trace_filter *f = &trace_filter;

    if (entries[id].state) {
        trace_bits_set(set == TRACE_SET_ON ? &f->state_on : &f->state_wide, entries[id].number, 1,
                       value);
    } else {
        trace_bits_set(set == TRACE_SET_ON ? f->entry_on : f->row_wide, id, 1, value);
    }
}

/* event NULL: all events of the class. Returns the number of entries selected. */
static unsigned filter_set_rows(enum trace_filter_set set, unsigned event_class,
                                const uint32_t *event, bool value)
{
    unsigned named = 0;

    for (unsigned id = 0; id < TRACE_EV_ENTRIES; id++) {
        if (entries[id].event_class == event_class &&
            (!event || entry_matches(&entries[id], *event))) {
            set_row(set, id, value);
            named++;
        }
    }
    return named;
}

/* ---- classes whose events are ranges ----------------------------------------------- */

/* The class's only entry is on if any of its interrupts is. */
static int set_interrupts(enum trace_filter_set set, unsigned event_class, const uint32_t *event,
                          bool value)
{
    unsigned id = 0;

    while (entries[id].event_class != event_class) {
        id++;
    }
    uint32_t *bits = trace_filter.int_on[entries[id].number];
    uint32_t any = 0;
    if (event && *event >= TRACE_INTERRUPTS) {
        return -ENOTSUP;
    }
    if (set == TRACE_SET_WIDE) {
        return 0; /* identical in both forms */
    }
    trace_bits_set(bits, event ? *event : 0, event ? 1 : TRACE_INTERRUPTS, value);
    for (unsigned i = 0; i < TRACE_BITS(TRACE_INTERRUPTS); i++) {
        any |= bits[i];
    }
    set_row(TRACE_SET_ON, id, any != 0);
    return 0;
}

static int set_group(enum trace_filter_set set, unsigned first, unsigned last,
                     const uint32_t *event, bool value);

static int filter_set_class(enum trace_filter_set set, unsigned event_class, const uint32_t *event,
                            bool value)
{
    switch (event_class) {
    case _NTO_TRACE_CONTROL: /* always on */
    case _NTO_TRACE_VTHREAD: /* there are no such events */
        return event ? -ENOTSUP : 0;
    case _NTO_TRACE_KERCALL:
        return set_group(set, _NTO_TRACE_KERCALLENTER, _NTO_TRACE_KERCALLINT, event, value);
    case _NTO_TRACE_KERCALLENTER:
    case _NTO_TRACE_KERCALLEXIT:
    case _NTO_TRACE_KERCALLINT:
        return trace_kercall_set(set, event_class - _NTO_TRACE_KERCALLENTER, event, value);
    case _NTO_TRACE_INT:
        set_group(set, _NTO_TRACE_INT_HANDLER_ENTER, _NTO_TRACE_INT_HANDLER_EXIT, event, value);
        return set_group(set, _NTO_TRACE_INTENTER, _NTO_TRACE_INTEXIT, event, value);
    case _NTO_TRACE_INTENTER:
    case _NTO_TRACE_INTEXIT:
    case _NTO_TRACE_INT_HANDLER_ENTER:
    case _NTO_TRACE_INT_HANDLER_EXIT:
        return set_interrupts(set, event_class, event, value);
    case _NTO_TRACE_USER:
        if (event && *event >= TRACE_USER_EVENTS) {
            return -ENOTSUP;
        }
        if (set == TRACE_SET_ON) {
            trace_bits_set(trace_filter.user_on, event ? *event : 0, event ? 1 : TRACE_USER_EVENTS,
                           value);
        }
        return 0;
    case KYMO_TRACE_SYSTEM_PROBES:
        if (event) {
            return -ENOTSUP;
        }
        trace_filter.system_on = set == TRACE_SET_ON ? value : trace_filter.system_on;
        return 0;
    default:
        return filter_set_rows(set, event_class, event, value) ? 0 : -ENOTSUP;
    }
}

static int set_group(enum trace_filter_set set, unsigned first, unsigned last,
                     const uint32_t *event, bool value)
{
    int error = 0;

    for (unsigned event_class = first; event_class <= last; event_class++) {
        error = filter_set_class(set, event_class, event, value);
        trace_port_window();
    }
    return error;
}

void trace_filter_slow(void)
{
    struct trace_filter *f = &trace_filter;
    uint32_t all = trace_gate_armed ? UINT32_MAX : 0;

    uint32_t asks = all | trace_threads_limit_states();
    f->state_slow = f->state_wide | asks;
    f->state_fast = f->state_on & ~f->state_slow;
    f->state_long = f->state_on & f->state_wide & ~asks;
    trace_kercall_update(all != 0);
    for (unsigned id = 0; id < TRACE_EV_ENTRIES; id++) {
        trace_bits_set(f->row_limited, id, 1, trace_threads_limit_row(id));
    }
    trace_port_window();
}

int trace_filter_class(enum trace_filter_set set, unsigned event_class, bool value)
{
    int error = filter_set_class(set, event_class, NULL, value);

    trace_filter_slow();
    return error;
}

int trace_filter_event(enum trace_filter_set set, unsigned event_class, uint32_t event, bool value)
{
    int error = filter_set_class(set, event_class, &event, value);

    trace_filter_slow();
    return error;
}

void trace_filter_all(enum trace_filter_set set, bool value)
{
    for (unsigned event_class = _NTO_TRACE_KERCALL; event_class <= _NTO_TRACE_INT_HANDLER_EXIT;
         event_class++) {
        filter_set_class(set, event_class, NULL, value);
        trace_port_window();
    }
    trace_filter.system_on &= set != TRACE_SET_ON || value;
    trace_filter_slow();
}

/* ---- sites ------------------------------------------------------------------------- */

static bool user_any(void)
{
    uint32_t any = 0;

    for (unsigned i = 0; i < TRACE_BITS(TRACE_USER_EVENTS); i++) {
        any |= trace_filter.user_on[i];
    }
    return any != 0;
}

static bool site_wanted(unsigned id)
{
    switch (id) {
    case TRACE_EV_thread_state:
        return trace_filter.state_on != 0;
    case TRACE_EV_kercall_enter:
    case TRACE_EV_kercall_exit:
    case TRACE_EV_kercall_int:
        return trace_kercall_any(id - TRACE_EV_kercall_enter);
    case TRACE_EV_user_event:
        return user_any();
    case TRACE_EV_system_probe:
        return trace_filter.system_on;
    default:
        return id < TRACE_EV_ENTRIES && trace_bit(trace_filter.entry_on, id);
    }
}

static void set_user(bool wanted)
{
    if (wanted != trace_user_wanted) {
        trace_atomic_store(&trace_user_wanted, wanted, __ATOMIC_RELAXED);
        trace_port_user_wanted(wanted);
    }
}

static void patch_site(unsigned id, enum trace_site_mode mode)
{
    if (mode != sites[id]) {
        sites[id] = (uint8_t)mode;
        trace_port_site_set(id, mode);
        unsettled = true;
        if (id == TRACE_EV_user_event) {
            set_user(mode != TRACE_SITE_OFF);
        } else if (id == TRACE_EV_system_probe) {
            trace_atomic_store(&trace_system_wanted, mode != TRACE_SITE_OFF, __ATOMIC_RELAXED);
        }
    }
}

/* The events of the fast path of messages (kernel/entry/msg_direct.c). */
static const uint8_t of_messages[] = {
    TRACE_EV_comm_snd_message, TRACE_EV_comm_rec_message, TRACE_EV_comm_reply_message,
    TRACE_EV_thread_state,     TRACE_EV_change_pri,       TRACE_EV_timer_arm,
    TRACE_EV_kercall_exit,
};

/* Returns the mode that the site of messages needs for one of its events. A call's end is traced
 * after the message, on every path. */
static enum trace_site_mode messages_need(unsigned id, enum trace_site_mode mode)
{
    return id == TRACE_EV_kercall_exit && mode == TRACE_SITE_ALL ? TRACE_SITE_LOG : mode;
}

static bool is_of_messages(unsigned id)
{
    for (unsigned i = 0; i < sizeof(of_messages); i++) {
        if (of_messages[i] == id) {
            return true;
        }
    }
    return false;
}

static enum trace_site_mode messages_mode(void)
{
    enum trace_site_mode most = TRACE_SITE_OFF;

    for (unsigned i = 0; i < sizeof(of_messages); i++) {
        enum trace_site_mode mode =
            messages_need(of_messages[i], (enum trace_site_mode)sites[of_messages[i]]);
        most = mode > most ? mode : most;
    }
    return most;
}

static void set_site(unsigned id)
{
    bool logged = trace_bit(trace_site_logged, id);
    bool asks = trace_gate_armed || trace_bit(trace_filter.row_limited, id);
    bool all = trace_bit(trace_site_probed, id) || (logged && asks);
    enum trace_site_mode mode = all ? TRACE_SITE_ALL : logged ? TRACE_SITE_LOG : TRACE_SITE_OFF;

    if (!is_of_messages(id)) {
        patch_site(id, mode);
        return;
    }
    /* Programs may run between two steps: the site of messages must never have a lower mode than
     * its events' sites. */
    enum trace_site_mode need = messages_need(id, mode);
    if (need > sites[TRACE_EV_messages]) {
        patch_site(TRACE_EV_messages, need);
    }
    patch_site(id, mode);
    patch_site(TRACE_EV_messages, messages_mode());
}

void trace_sites_settle(void)
{
    if (unsettled) {
        unsettled = false;
        trace_port_sites_sync();
    }
}

void trace_filter_apply(bool running)
{
    for (unsigned id = 0; id < TRACE_EV_messages; id++) {
        trace_bits_set(trace_site_logged, id, 1, running && site_wanted(id));
        set_site(id);
        trace_port_window();
    }
    trace_sites_settle();
}

void trace_site_probe(unsigned id, bool on)
{
    trace_bits_set(trace_site_probed, id, 1, on);
    if (id >= TRACE_EV_kercall_enter && id <= TRACE_EV_kercall_int) {
        trace_kercall_probe(id - TRACE_EV_kercall_enter, on);
    }
    set_site(id);
}
