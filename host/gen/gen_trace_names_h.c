/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints abi/sys/trace_names.h: QNX's documented names of events, as ADDEVENT and its kin
 * take them, from trace/events.def, abi/sys/states.h and, for names that a ported program
 * may mention though Kymo has no such event, host/reader/foreign_events.def. Run by `make docs`;
 * the build checks that the committed header is what this prints. Fails on a COMM event that has no
 * documented name here. Proved by test/trace/numbers_test.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"

struct event {
    const char *class;
    unsigned number;
    const char *name;
};

static const struct event trace_names_event_rows[] = {
#define EVENT(id, CLASS, number, EXT, NAME, ...) {#EXT, number, #NAME},
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE
};

static const struct event trace_names_foreign_rows[] = {
#define FOREIGN_EVENT(CLASS, number, NAME, arguments) {#CLASS, number, #NAME},
#include "host/reader/foreign_events.def"
};

/* QNX's names that are not the printed ones: after _NTO_TRACE_, with the class where they
 * have it. */
static const struct {
    const char *printed, *name;
} renamed[] = {
    {"SND_MESSAGE", "SMSG"},         {"SND_PULSE", "SPULSE"},
    {"REC_MESSAGE", "RMSG"},         {"REC_PULSE", "RPULSE"},
    {"SND_PULSE_EXE", "SPULSE_EXE"}, {"SND_PULSE_DIS", "SPULSE_DIS"},
    {"SND_PULSE_DEA", "SPULSE_DEA"}, {"SND_PULSE_UN", "SPULSE_UN"},
    {"SND_PULSE_QUN", "SPULSE_QUN"}, {"SIGNAL", "SIGNAL"},
    {"REPLY_MESSAGE", "REPLY"},      {"MSG_ERROR", "ERROR"},
    {"PATHMGR_OPEN", "PATHMGR"},     {"APS_NEW_BUDGET", "APS_BUDGETS"},
    {"APS_BANKRUPTCY", "APS_BNKR"},
};

static const char *trace_names_is_documented(const char *printed)
{
    for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
        if (strcmp(printed, renamed[i].printed) == 0) {
            return renamed[i].name;
        }
    }
    return NULL;
}

static void trace_names_print_define(const char *prefix, const char *name, unsigned value)
{
    printf("#define _NTO_TRACE_%s%s 0x%x\n", prefix, name, value);
}

/* PROCESS and THREAD events are masks, the others numbers. */
static void trace_names_print_event(const char *class, const struct event *event)
{
    const char *name = trace_names_is_documented(event->name);

    if (strcmp(class, "PROCESS") == 0) {
        trace_names_print_define("", event->name, 1u << (event->number / 64 - 1));
    } else if (strcmp(class, "THREAD") == 0) {
        trace_names_print_define("", event->name, 1u << event->number);
    } else if (strcmp(class, "SYSTEM") == 0) {
        trace_names_print_define("SYS_", name ? name : event->name, event->number);
    } else if (strcmp(class, "COMM") == 0 && !name) {
        fprintf(stderr, "gen: COMM event %s has no documented name\n", event->name);
        exit(1);
    } else if (strcmp(class, "COMM") == 0) {
        trace_names_print_define("COMM_", name, event->number);
    }
}

static void print_class(const char *class, const char *internal, const char *title)
{
    printf("\n/* %s */\n", title);
    for (size_t i = 0; i < sizeof(trace_names_event_rows) / sizeof(trace_names_event_rows[0]);
         i++) {
        if (strcmp(trace_names_event_rows[i].class, class) == 0) {
            trace_names_print_event(class, &trace_names_event_rows[i]);
        }
    }
    for (size_t i = 0;
         internal && i < sizeof(trace_names_foreign_rows) / sizeof(trace_names_foreign_rows[0]);
         i++) {
        if (strcmp(trace_names_foreign_rows[i].class, internal) == 0) {
            trace_names_print_event(class, &trace_names_foreign_rows[i]);
        }
    }
}

int main(void)
{
    fputs("/* SPDX-License-Identifier: BSD-2-Clause */\n"
          "/*\n"
          " * QNX's names of events, the argument of ADDEVENT and its kin. Generated from\n"
          " * trace/events.def by `make docs` (host/gen/gen_trace_names_h.c). ADDEVENT answers\n"
          " * ENOTSUP to events that only QNX has; docs/reference/events.md has Kymo's own.\n"
          " */\n"
          "#ifndef ABI_SYS_TRACE_NAMES_H\n"
          "#define ABI_SYS_TRACE_NAMES_H\n"
          "\n"
          "/* clang-format off */\n"
          "/* _NTO_TRACE_THREAD: masks, several may be or-ed */\n",
          stdout);
#define STATE(number, NAME, text, emitted) trace_names_print_define("", text, 1u << (number));
    THREAD_STATE_LIST(STATE)
#undef STATE
    print_class("THREAD", NULL, "and a thread's beginning and end");
    print_class("PROCESS", "PR_TH", "_NTO_TRACE_PROCESS: masks");
    print_class("SYSTEM", "SYSTEM", "_NTO_TRACE_SYSTEM: numbers");
    print_class("COMM", "COMM", "_NTO_TRACE_COMM: numbers");
    fputs("/* clang-format on */\n\n#endif\n", stdout);
    return 0;
}
