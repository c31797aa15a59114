/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event descriptions compiled in: from the same tables as the kernel's. They serve captures
 * that carry none of their own, other kernels' among them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "abi/sys/states.h"

#define VTHREAD_BASE 26

struct builtin_event {
    unsigned class, number;
    const char *name, *fast, *wide;
};

/* A(D, pid), A(P, ip) becomes "D pid, P ip". */
#define A(type, name) type name
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define FAST(...) TEXT(__VA_ARGS__)
#define WIDE(...) TEXT(__VA_ARGS__)
#define SAME "="
#define EVENT(id, class, number, ext, name, fast, wide, doc) \
    {TRACE_CLASS_##class, number, #name, fast, wide},

/* clang-format off */
static const struct builtin_event builtin_event_table[] = {
#include "trace/events.def"
};
/* clang-format on */

#define FOREIGN_EVENT(class, number, name, arguments) \
    {TRACE_CLASS_##class, number, #name, arguments, "="},
static const struct builtin_event foreign_events[] = {
#include "host/reader/foreign_events.def"
};

#define FOREIGN_CALL(number, name) {number, #name},
static const struct {
    unsigned number;
    const char *name;
} foreign_calls[] = {
#include "host/reader/foreign_events.def"
};

static void builtin_event_add(struct kev_table *table, const struct builtin_event *event)
{
    struct kev_desc *desc = kev_table_add(table, event->class, event->number, event->name);

    if (desc == NULL) {
        return;
    }
    kev_list_parse(&desc->fast, event->fast, strlen(event->fast));
    if (strcmp(event->wide, "=") == 0) {
        desc->wide = desc->fast;
    } else {
        kev_list_parse(&desc->wide, event->wide, strlen(event->wide));
    }
}

#define STATE(number, name, text, emitted) {number, text},
static const struct {
    unsigned number;
    const char *text;
} states[] = {THREAD_STATE_LIST(STATE){24, "THCREATE"}, {25, "THDESTROY"}};
#undef STATE

/* Threads of other nodes' processes: the same states, 26 further on. */
static void vthread_add(struct kev_table *table, unsigned state, const char *text)
{
    char name[24];
    struct builtin_event event = {TRACE_CLASS_PR_TH, VTHREAD_BASE + state, name, "D:pid, D:tid",
                                  "="};

    snprintf(name, sizeof(name), "V%s", text);
    builtin_event_add(table, &event);
}

/* States that the event table has no row for: other kernels' threads have them. */
static int states_add(struct kev_table *table)
{
    for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct builtin_event event = {TRACE_CLASS_PR_TH, states[i].number, states[i].text,
                                      "D:pid,D:tid", "D:pid,D:tid,D:priority,D:policy"};

        vthread_add(table, states[i].number, states[i].text);
        table->states[states[i].number] = kev_copy(states[i].text, strlen(states[i].text));
        if (table->states[states[i].number] == NULL) {
            return -1;
        }
        if (table->desc[TRACE_CLASS_PR_TH][states[i].number] == NULL) {
            builtin_event_add(table, &event);
        }
    }
    return 0;
}

static int foreign_calls_add(struct kev_table *table)
{
    struct kev_list lists[4];

    memset(lists, 0, sizeof(lists));
    for (unsigned i = 0; i < 4; i++) {
        const char *words = i < 2 ? "H:d1, H:d2" : "D:ret_val, H:d2";

        kev_list_parse(&lists[i], words, strlen(words));
    }
    for (unsigned i = 0; i < sizeof(foreign_calls) / sizeof(foreign_calls[0]); i++) {
        if (kev_table_call(table, TRACE_CLASS_KER_CALL, foreign_calls[i].number,
                           foreign_calls[i].name, lists) != 0) {
            return -1;
        }
    }
    return 0;
}

int kev_table_builtin(struct kev_table *table)
{
    for (unsigned i = 0; i < sizeof(foreign_events) / sizeof(foreign_events[0]); i++) {
        builtin_event_add(table, &foreign_events[i]);
    }
    for (unsigned i = 0; i < sizeof(builtin_event_table) / sizeof(builtin_event_table[0]); i++) {
        builtin_event_add(table, &builtin_event_table[i]);
    }
    if (foreign_calls_add(table) != 0 || kev_table_calls_builtin(table) != 0) {
        return -1;
    }
    return states_add(table) != 0 || table->no_memory ? -1 : 0;
}
