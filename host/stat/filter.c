/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filters in force at START, as the capture's header has them (FILTER_1 ...,
 * docs/reference/format.md §1), and what the capture shows of their change. After a gate, and from
 * a change on that may hide events, nothing of threads, messages and interrupts is known but what
 * was recorded: no CPU is covered. Proof: test/host/stat/known_test.c, test/host/stat/stat_test.c.
 */
#include <string.h>

#include "host/flow/flow.h"
#include "host/stat/stat.h"
#include "abi/sys/trace.h"

#define CALL_TRACE_EVENT 1

/* The values of older captures: their command line has what matters. */
static bool args_have_gate(const char *args)
{
    const char *at = strstr(args, " -x");

    return at != NULL && (at[3] == ' ' || at[3] != '\0');
}

void filter_read(struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    struct stat_filter *filter = &stat->filter;

    for (unsigned i = 0; i < info->nattrs; i++) {
        const char *key = info->attrs[i].key, *value = info->attrs[i].value;

        if (strncmp(key, "FILTER_", 7) == 0) {
            filter->stated |= strncmp(value, "unknown", 7) != 0;
            filter->gate |= strncmp(value, "gate ", 5) == 0;
            filter->applications |= strcmp(value, "set by applications") == 0;
            filter->pauses |= strcmp(value, "applications start and stop") == 0;
            filter->no_interrupts |=
                strncmp(value, "all classes without", 19) == 0 && strstr(value, " INT") != NULL;
            filter->no_threads |=
                strncmp(value, "all classes without", 19) == 0 && strstr(value, " THREAD") != NULL;
        } else if (strcmp(key, "TRACELOGGER_ARGS") == 0) {
            filter->gate |= args_have_gate(value);
        }
    }
}

bool filter_event(struct stat *stat, const struct kev_event *event)
{
    bool wide = (event->number & TRACE_EVENT_64) != 0;
    unsigned number = event->number & ~TRACE_EVENT_64;
    const uint32_t words[3] = {kev_word(event, 0), kev_word(event, 1), kev_word(event, 2)};

    if (!kev_info(stat->kev)->kymo || number != CALL_TRACE_EVENT || stat->filter.changed ||
        !flow_hides(words, 3, wide)) {
        return false;
    }
    stat->filter.changed = true;
    stat->filter.changed_at = event->time;
    return true;
}

const char *filter_doubt(const struct stat *stat)
{
    const struct stat_filter *filter = &stat->filter;

    if (filter->gate) {
        return "a gate stopped events: times of CPUs, threads, messages and interrupts are not "
               "known";
    }
    if (filter->no_threads) {
        return "THREAD was not recorded: which thread ran, and which sent a message, is unknown";
    }
    if (filter->applications) {
        return "applications set the filters: the figures hold if all of THREAD, COMM and INT was "
               "on";
    }
    return filter->stated || !kev_info(stat->kev)->kymo
               ? NULL
               : "the header does not say what was recorded: the figures hold if all was";
}
