/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of events by class and name: whatever is recorded has a row here, also what no other
 * table knows. Kernel calls have a row for each kind of event; their own table names them. Proof:
 * test/host/stat/stat_test.c, test/host/golden/check.
 */
#include <inttypes.h>

#include "host/record.h"
#include "host/stat/stat.h"

/* whole: the events of which the share is; 0: it has none. */
static void show_row(FILE *to, const char *class, const char *event, uint64_t count, uint64_t whole)
{
    fprintf(to, "  %-10s %-36s %12" PRIu64, class, event, count);
    if (whole > 0) {
        fprintf(to, " %7.2f %%\n", stat_percent(count, whole));
    } else {
        fprintf(to, " %9s\n", "-");
    }
}

/* A row for the entries, returns and interruptions of all kernel calls, Kymo's own among them. */
static void show_kernel_calls(FILE *to, const struct stat *stat)
{
    static const uint16_t kinds[] = {TRACE_KERCALL_ENTER, TRACE_KERCALL_EXIT, TRACE_KERCALL_INT};
    uint64_t counts[3] = {0};
    struct record record;

    for (unsigned number = 0; number <= TRACE_EVENT_MASK; number++) {
        unsigned kind = number & TRACE_KERCALL_INT ? 2 : number & TRACE_KERCALL_EXIT ? 1 : 0;

        counts[kind] += stat->by_event[TRACE_CLASS_KER_CALL][number];
        counts[kind] += stat->by_event[TRACE_CLASS_KYMO_CALL][number];
    }
    for (unsigned kind = 0; kind < 3; kind++) {
        struct kev_event event = {.class = TRACE_CLASS_KER_CALL, .number = kinds[kind]};

        record_name(&record, stat->kev, &event);
        if (counts[kind] > 0) {
            show_row(to, record.class, "(all kernel calls)", counts[kind], stat->events);
        }
    }
}

static void show_class(FILE *to, const struct stat *stat, unsigned class, unsigned most)
{
    uint64_t whole = class == TRACE_CLASS_CONTROL ? 0 : stat->events, rest = 0;
    unsigned rows = 0;

    for (unsigned number = 0; number <= TRACE_EVENT_MASK; number++) {
        struct kev_event event = {.class = (uint8_t) class, .number = (uint16_t)number};
        uint64_t count = stat->by_event[class][number];
        struct record record;
        char digits[16];

        if (count > 0 && rows++ >= most) {
            rest += count;
        } else if (count > 0) {
            record_name(&record, stat->kev, &event);
            snprintf(digits, sizeof(digits), "%u", record.number);
            show_row(to, record.class, record.event == NULL ? digits : record.event, count, whole);
        }
    }
    if (rest > 0) {
        fprintf(to, "  %-10s %u more, together %" PRIu64 " (--all shows them)\n",
                kev_class_name(class), rows - most, rest);
    }
}

void text_events(FILE *to, struct stat *stat, const struct stat_style *style)
{
    text_title(to, style, "Events by class and name, shares of all but CONTROL");
    fprintf(to, "  %-10s %-36s %12s %9s\n", "class", "event", "count", "share");
    for (unsigned class = 0; class < KEV_CLASSES; class ++) {
        if (class == TRACE_CLASS_KER_CALL) {
            show_kernel_calls(to, stat);
        } else if (class != TRACE_CLASS_KYMO_CALL) {
            show_class(to, stat, class, style->all ? TRACE_EVENT_MASK + 1 : STAT_ROWS);
        }
    }
}
