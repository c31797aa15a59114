/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which probes are events, and which of a probe's arguments an event of either form carries: all of
 * it from the tables that make the kernel's probes and events. See after.h.
 */
#include "host/after/after.h"

#include "abi/sys/states.h"
#include "trace/event_args.h"
#include "trace/slot.h"

#include <string.h>

#define CLASS_OF_INTENTER AFTER_INT
#define CLASS_OF_INTEXIT AFTER_INT
#define CLASS_OF_INT_HANDLER_ENTER AFTER_INT
#define CLASS_OF_INT_HANDLER_EXIT AFTER_INT
#define CLASS_OF_THREAD AFTER_THREAD
#define CLASS_OF_PROCESS AFTER_PROCESS
#define CLASS_OF_SYSTEM AFTER_SYSTEM
#define CLASS_OF_COMM AFTER_COMM

#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
#define A(type, name) #name
static const struct after_event after_carried_event_table[] = {
#define ROW(id, CLASS, event, EXT, fast_words, wide_words, state) \
    {.slot_class = TRACE_CLASS_##CLASS, \
     .is_state = (state), \
     .number = (event), \
     .site = (state) ? TRACE_EV_thread_state : TRACE_EV_##id, \
     .external = CLASS_OF_##EXT, \
     .fast = LIST(TRACE_ARGS(fast_words, SAME)), \
     .wide = LIST(TRACE_ARGS(fast_words, wide_words))},
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) \
    ROW(id, CLASS, number, EXT, fast, wide, false)
#define EVENT_STATE(id, CLASS, number, EXT, NAME, fast, wide, doc) \
    ROW(id, CLASS, number, EXT, fast, wide, true)
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_STATE
#undef EVENT_CONTROL
#undef A
};
enum { EVENTS = sizeof(after_carried_event_table) / sizeof(*after_carried_event_table) };

const struct after_event *after_event_of(unsigned slot_class, unsigned number)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        if (after_carried_event_table[i].slot_class == slot_class &&
            after_carried_event_table[i].number == number) {
            return &after_carried_event_table[i];
        }
    }
    return NULL;
}

/* ---- probes -------------------------------------------------------------------------- */

#define ALL 0xffffffffu
#define A(type, word) word
#define ARGS(...) LIST(__VA_ARGS__)

static const struct after_row after_carried_row_table[] = {
#define EVENT(id, CLASS, event, EXT, NAME, fast, wide, doc) \
    {.provider = "sdt", \
     .function = #CLASS, \
     .name = #id, \
     .words = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, \
     .kinds = ALL, \
     .site = TRACE_EV_##id},
#define EVENT_STATE(id, CLASS, event, EXT, NAME, fast, wide, doc) \
    {.provider = "sdt", \
     .function = #CLASS, \
     .name = #id, \
     .words = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, \
     .kinds = 1u << (event), \
     .site = TRACE_EV_thread_state},
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_STATE
#undef EVENT_CONTROL
#define ROW_OF(prov, func, probe, id, NEW, OLD) \
    .provider = #prov, .function = (func), .name = (probe), .kinds = (NEW), .site = TRACE_EV_##id, \
    .from_state = (OLD) != ALL
#define PROBE(prov, func, probe, id, NEW, OLD, args, doc) \
    {ROW_OF(prov, func, probe, id, NEW, OLD), .words = args},
#define PROBE_TYPED(prov, func, probe, id, NEW, OLD, args, typed, doc) \
    {ROW_OF(prov, func, probe, id, NEW, OLD), .words = args},
#include "trace/probes.def"
#undef PROBE
#undef PROBE_TYPED
#define CALL(handler, event, probe, id) \
    {.provider = "syscall", \
     .function = (handler), \
     .name = (probe), \
     .words = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, \
     .kinds = ALL, \
     .site = TRACE_EV_##id, \
     .call = (event)},
#define KERCALL(number, NAME, handler, ...) \
    CALL(#handler, number, "entry", kercall_enter) \
    CALL(#handler, number, "return", kercall_exit)
#include "abi/kercalls.def"
#undef KERCALL
};
enum { ROWS = sizeof(after_carried_row_table) / sizeof(*after_carried_row_table) };

const struct after_row *after_row_find(const char *provider, const char *function, const char *name)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (strcmp(after_carried_row_table[i].name, name) == 0 &&
            strcmp(after_carried_row_table[i].provider, provider) == 0 &&
            strcmp(after_carried_row_table[i].function, function) == 0) {
            return &after_carried_row_table[i];
        }
    }
    return NULL;
}

enum after_class after_row_class(const struct after_row *row)
{
    switch (row->site) {
    case TRACE_EV_thread_state:
    case TRACE_EV_cpu_switch: /* fired from the event of the thread that comes */
        return AFTER_THREAD;
    case TRACE_EV_kercall_enter:
    case TRACE_EV_kercall_exit:
    case TRACE_EV_msg_receive: /* these three: fired where the server's call returns */
    case TRACE_EV_msg_read:
    case TRACE_EV_msg_write:
        return AFTER_KERCALL;
    case TRACE_EV_user_event:
        return AFTER_USER;
    case TRACE_EV_system_probe:
        return AFTER_PROBES;
    default:
        break;
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        if (!after_carried_event_table[i].is_state &&
            after_carried_event_table[i].site == row->site) {
            return after_carried_event_table[i].external;
        }
    }
    return AFTER_NOWHERE;
}

uint32_t after_row_slot_classes(const struct after_row *row)
{
    switch (after_row_class(row)) {
    case AFTER_KERCALL:
        return (after_site_of_message(row->site) ? 1u << TRACE_CLASS_COMM : 0) |
               1u << TRACE_CLASS_KER_CALL | 1u << TRACE_CLASS_KYMO_CALL;
    case AFTER_USER:
    case AFTER_PROBES:
        return 1u << TRACE_CLASS_USER;
    case AFTER_INT:
        return 1u << TRACE_CLASS_INT;
    case AFTER_COMM:
        return 1u << TRACE_CLASS_COMM;
    case AFTER_SYSTEM:
        return 1u << TRACE_CLASS_SYSTEM;
    default:
        return 1u << TRACE_CLASS_PR_TH;
    }
}

/* Bits of the words, which are named in their order of the wide form. */
static uint32_t carried_by(const struct after_event *e, const char *const *form)
{
    uint32_t carried = ALL;

    for (unsigned i = 0; e->wide[i]; i++) {
        const char *const *has = form;
        while (*has && strcmp(*has, e->wide[i]) != 0) {
            has++;
        }
        carried &= *has ? ALL : ~(1u << i);
    }
    return carried;
}

/* A thread's state has words after those of its event: the state is the event's number, and the
 * previous state is that of an earlier event. cpu_switch has the same words of two threads. A user
 * event does not say how many words it was made of, only in how many slots they fit. */
uint32_t after_row_carries(const struct after_row *row, enum after_form form)
{
    enum { PRIORITY = 1 << 2, COUNT = 1 << 7, SYSTEM_COUNT = 1 << 2 };
    bool wide = form != AFTER_FAST;

    switch (row->site) {
    case TRACE_EV_thread_state:
        return carried_by(after_event_of(TRACE_CLASS_PR_TH, STATE_RUNNING),
                          wide ? after_event_of(TRACE_CLASS_PR_TH, STATE_RUNNING)->wide
                               : after_event_of(TRACE_CLASS_PR_TH, STATE_RUNNING)->fast);
    case TRACE_EV_cpu_switch:
        return wide ? ALL : ~(uint32_t)PRIORITY;
    case TRACE_EV_kercall_enter:
        return after_call_carries(row->call, wide);
    case TRACE_EV_kercall_exit:
    case TRACE_EV_msg_receive:
    case TRACE_EV_msg_read:
    case TRACE_EV_msg_write:
        return ALL;
    case TRACE_EV_user_event:
        return ~(uint32_t)COUNT;
    case TRACE_EV_system_probe:
        return ~(uint32_t)SYSTEM_COUNT;
    default:
        break;
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        if (!after_carried_event_table[i].is_state &&
            after_carried_event_table[i].site == row->site) {
            return carried_by(&after_carried_event_table[i],
                              wide ? after_carried_event_table[i].wide
                                   : after_carried_event_table[i].fast);
        }
    }
    return 0;
}

/* ---- what was recorded --------------------------------------------------------------- */

static bool after_carried_begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

void after_about(const struct kev *kev, struct after_about *about)
{
    static const char *const names[] = {
#define C(name) #name,
        AFTER_CLASSES(C)
#undef C
    };
    const char *classes = kev_attr(kev, "FILTER_1"), *form = kev_attr(kev, "FILTER_2");
    const char *gate = kev_attr(kev, "FILTER_4");

    *about = (struct after_about){.form = AFTER_UNKNOWN};
    about->known = classes && after_carried_begins_with(classes, "all classes");
    about->gate = gate && after_carried_begins_with(gate, "gate") ? gate : NULL;
    if (form) {
        about->form = strcmp(form, "fast") == 0   ? AFTER_FAST
                      : strcmp(form, "wide") == 0 ? AFTER_WIDE
                                                  : AFTER_UNKNOWN;
    }
    const char *without = about->known ? strstr(classes, " without ") : NULL;
    for (unsigned i = 0; without && i < sizeof(names) / sizeof(*names); i++) {
        const char *at = strstr(without, names[i]);
        about->off |= at ? 1u << i : 0;
    }
    about->off |= about->known && !strstr(classes, "system probes") ? 1u << AFTER_PROBES : 0;
}
