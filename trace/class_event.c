/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the kernel's classes that a program inserts into the trace:
 * TraceEvent(INSERT*CLASSEVENT). Any context, no lock; data is in memory that the kernel may read,
 * and is read once.
 *
 * Every program may insert events about itself (SYSTEM's ADDRESS, FUNC_ENTER, FUNC_EXIT, SLOG) and
 * of class USER; other events of KER_CALL, KYMO_CALL, INT, PR_TH, SYSTEM and COMM, which readers
 * attribute to the kernel, need the ability (-EPERM). -ENOTSUP: the ring's own class, D's, and
 * numbers without an event; -EINVAL as in trace/user.c. An event that is filtered out or not being
 * traced is not an error. Tested by test/trace/class_test.c; from a program by test/board's
 * t_trace.
 */
#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/hook.h"
#include "trace/threads.h"
#include "trace/trace.h"

#define STATES 24

static const struct entry {
    uint8_t slot_class;
    uint16_t number;
} entries[TRACE_EV_ENTRIES] = {
#define EVENT(name, CLASS, number, ...) {TRACE_CLASS_##CLASS, number},
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
};

/* Returns whether the event is on and passes the thread limits: the first words of a class THREAD
 * event name its thread. */
static bool entry_on(unsigned id, const uint32_t *words, unsigned nwords)
{
    unsigned event_class = trace_filter_class_of(id), number = entries[id].number;
    uint32_t pid = nwords > 0 ? words[0] : 0, tid = nwords > 1 ? words[1] : 0;

    if (event_class != _NTO_TRACE_THREAD) {
        return trace_bit(trace_filter.entry_on, id) && trace_threads_entry_here(event_class, id);
    }
    return number < STATES
               ? trace_filter.state_on >> number & 1 && trace_threads_state(number, pid, tid)
               : trace_bit(trace_filter.entry_on, id) &&
                     trace_threads_entry(event_class, id, pid, tid);
}

/* Returns 1 if an event of that number is on, 0 if it is off, or -ENOTSUP. */
static long class_on(uint32_t slot_class, uint32_t number, const uint32_t *words, unsigned nwords)
{
    if (trace_class_is_call(slot_class)) {
        return number < 3 * TRACE_KERCALLS && slot_class == trace_kercall_class(number)
                   ? trace_kercall_on(number)
                   : -ENOTSUP;
    }
    for (unsigned id = 0; id < TRACE_EV_ENTRIES; id++) {
        if (entries[id].slot_class == slot_class && entries[id].number == number) {
            return entry_on(id, words, nwords);
        }
    }
    return -ENOTSUP;
}

/* Inserts the event as the kernel would, for callers with the ability only. */
static long class_event_insert(bool able, uint32_t slot_class, uint32_t event,
                               const uint32_t *words, unsigned nwords)
{
    long on = class_on(slot_class, event & ~(uint32_t)TRACE_EVENT_64, words, nwords);

    if (on >= 0 && !able) {
        return -EPERM;
    }
    if (on > 0) {
        trace_log_words(slot_class, event, &(struct trace_words){words, nwords, NULL, 0});
    }
    return on < 0 ? on : 0;
}

static long insert_simple(bool able, uint32_t slot_class, uint32_t event, uint64_t d1, uint64_t d2)
{
    const uint32_t words[] = {(uint32_t)d1, (uint32_t)(d1 >> 32), (uint32_t)d2,
                              (uint32_t)(d2 >> 32)};
    bool big = event & TRACE_EVENT_64;

    return class_event_insert(able, slot_class, event,
                              big ? words : (const uint32_t[]){words[0], words[2]}, big ? 4 : 2);
}

long trace_class_simple(bool able, uint32_t slot_class, uint32_t event, uintptr_t d1, uintptr_t d2)
{
    if (slot_class == TRACE_CLASS_USER) {
        return trace_user_simple(event, (uint32_t)d1, (uint32_t)d2);
    }
    if (!(event & TRACE_EVENT_64)) {
        d1 = (uint32_t)d1;
        d2 = (uint32_t)d2;
    }
    switch (slot_class << TRACE_CLASS_SHIFT | (event & ~(uint32_t)TRACE_EVENT_64)) {
    case TRACE_CLASS_SYSTEM << TRACE_CLASS_SHIFT | _NTO_TRACE_SYS_ADDRESS:
        trace_address(d1, (uint32_t)d2);
        return 0;
    case TRACE_CLASS_SYSTEM << TRACE_CLASS_SHIFT | _NTO_TRACE_SYS_FUNC_ENTER:
        trace_function_enter(d1, d2);
        return 0;
    case TRACE_CLASS_SYSTEM << TRACE_CLASS_SHIFT | _NTO_TRACE_SYS_FUNC_EXIT:
        trace_function_exit(d1, d2);
        return 0;
    default:
        return insert_simple(able, slot_class, event, d1, d2);
    }
}

/* Inserts opcode and severity, then text, which needs no NUL. */
static void insert_slog(const uint32_t *words, unsigned nwords)
{
    const char *from = (const char *)(words + 2);
    char text[TRACE_TEXT_BYTES];
    unsigned n = 0;

    while (n < (nwords - 2) * sizeof(words[0]) && n < sizeof(text) - 1 && from[n]) {
        text[n] = from[n];
        n++;
    }
    text[n] = '\0';
    trace_slog(words[0], words[1], text);
}

long trace_class_combine(bool able, uint32_t slot_class, uint32_t event, const uint32_t *words,
                         unsigned nwords)
{
    if (nwords > KYMO_TRACE_USER_COMBINE_MAX / sizeof(words[0])) {
        return -EINVAL;
    }
    if (slot_class == TRACE_CLASS_USER) {
        return trace_user_combine(event, words, nwords);
    }
    if (slot_class == TRACE_CLASS_SYSTEM && event == _NTO_TRACE_SYS_SLOG && nwords >= 2) {
        insert_slog(words, nwords);
        return 0;
    }
    return class_event_insert(able, slot_class, event, words, nwords);
}
