/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When each CPU is covered, and when all are: the epochs of the timeline. What a thread does that
 * doesn't run is known within one epoch only. Proof: test/host/timeline/timeline_test.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/timeline/make.h"

/* By time; at one time a turn that begins comes first, so that CPUs that take over from each other
 * leave no hole. */
static int timeline_turn_order(const void *a, const void *b)
{
    const struct make_turn *x = a, *y = b;

    if (x->ns != y->ns) {
        return x->ns < y->ns ? -1 : 1;
    }
    if (x->covered != y->covered) {
        return x->covered ? -1 : 1;
    }
    return (int)x->cpu - (int)y->cpu;
}

static void turn_add(struct make *make, int64_t ns, unsigned cpu, bool covered)
{
    struct make_turn *turn =
        make_more(make, &make->turns, &make->nturns, &make->turns_room, sizeof(*turn));

    if (turn != NULL) {
        *turn = (struct make_turn){ns, (uint8_t)cpu, covered};
    }
}

void timeline_filters(const struct kev_capture *capture, struct timeline_filters *filters)
{
    const char *key, *value;

    *filters = (struct timeline_filters){.gate = false};
    for (unsigned i = 0; kev_capture_attribute_at(capture, i, &key, &value); i++) {
        if (strncmp(key, "FILTER_", 7) != 0) {
            continue;
        }
        filters->stated |= strncmp(value, "unknown", 7) != 0;
        filters->gate |= strncmp(value, "gate", 4) == 0;
        filters->set |= strcmp(value, "set by applications") == 0;
        if (strncmp(value, "all classes without", 19) == 0) {
            filters->no_threads |= strstr(value, " THREAD") != NULL;
            filters->no_interrupts |= strstr(value, " INT") != NULL;
            filters->no_calls |= strstr(value, " KERCALL") != NULL;
            filters->no_messages |= strstr(value, " COMM") != NULL;
        }
    }
    filters->no_threads |= filters->gate;
}

static void filters_read(struct make *make)
{
    struct timeline *timeline = make->timeline;
    struct timeline_filters *filters = &make->filters;

    timeline_filters(timeline->capture, filters);
    if (filters->gate) {
        timeline->doubt = "a D program decided which events were recorded: what threads did is "
                          "unknown";
    } else if (filters->no_threads) {
        timeline->doubt = "THREAD events were not recorded: what threads did is unknown";
    } else if (filters->no_interrupts) {
        timeline->doubt = "INT events were not recorded: what interrupts began is unknown";
    } else if (filters->no_messages) {
        timeline->doubt = "COMM events were not recorded: messages are unknown";
    } else if (filters->set) {
        timeline->doubt = "applications set the filters: all of it holds if THREAD, COMM and INT "
                          "were recorded";
    } else if (!kev_capture_facts(timeline->capture)->is_kymo) {
        timeline->doubt = "another kernel's capture: events that are missing go unnoticed";
    } else if (!filters->stated) {
        timeline->doubt = "the header does not say what was recorded: all of it holds if all was";
    }
}

bool cover_find(struct make *make)
{
    const struct kev_facts *facts = kev_capture_facts(make->timeline->capture);

    filters_read(make);
    for (unsigned cpu = 0; cpu < facts->cpus && cpu < TIMELINE_CPUS; cpu++) {
        int64_t from = KEV_EVER, to = KEV_NEVER;
        unsigned n = 0;

        while (!make->filters.no_threads && facts->is_kymo &&
               kev_capture_covered(make->timeline->capture, cpu, n, &from, &to)) {
            turn_add(make, from, cpu, true);
            turn_add(make, to, cpu, false);
            n++;
        }
        if (!facts->is_kymo && !make->filters.no_threads) {
            turn_add(make, from, cpu, true);
        }
        /* A capture that does not name its board does not say which CPUs there are. */
        make->uncovered += n > 0 || facts->board[0] != '\0' || !facts->is_kymo;
    }
    if (make->nturns > 0) {
        qsort(make->turns, make->nturns, sizeof(*make->turns), timeline_turn_order);
    }
    return !make->failed;
}

static void timeline_epoch_begin(struct make *make, int64_t ns, bool known)
{
    struct timeline *timeline = make->timeline;
    uint32_t count = make->epoch;
    int64_t *end = make_more(make, &make->epoch_end, &count, &make->epochs_room, sizeof(*end));

    if (end == NULL) {
        return;
    }
    *end = ns;
    make->epoch++;
    if (known) {
        struct timeline_stretch *stretch = make_more(make, &timeline->covered, &timeline->ncovered,
                                                     &make->covered_room, sizeof(*stretch));

        if (stretch != NULL) {
            *stretch = (struct timeline_stretch){ns, KEV_NEVER};
        }
    } else if (timeline->ncovered > 0) {
        timeline->covered[timeline->ncovered - 1].to = ns;
    }
}

static void timeline_turn_make(struct make *make, const struct make_turn *turn)
{
    struct make_cpu *cpu = &make->cpus[turn->cpu];

    if (cpu->covered == turn->covered) {
        return;
    }
    cpu->covered = turn->covered;
    if (!turn->covered) {
        states_lose_cpu(make, turn->cpu, turn->ns);
        others_lose_cpu(make, turn->cpu, turn->ns);
    }
    if (turn->covered ? make->uncovered == 1 : make->uncovered == 0) {
        timeline_epoch_begin(make, turn->ns, turn->covered);
    }
    make->uncovered = turn->covered ? make->uncovered - 1 : make->uncovered + 1;
    if (turn->covered) {
        states_gain_cpu(make, turn->cpu, turn->ns);
    }
}

/* A stretch that begins at this time has begun, one that ends then has not: the event belongs to
 * both. */
void cover_until(struct make *make, int64_t ns)
{
    while (make->turn < make->nturns && !make->failed) {
        const struct make_turn *turn = &make->turns[make->turn];

        if (turn->covered ? turn->ns > ns : turn->ns >= ns) {
            return;
        }
        timeline_turn_make(make, turn);
        make->turn++;
    }
}

void cover_stop(struct make *make, int64_t ns)
{
    for (unsigned cpu = 0; cpu < TIMELINE_CPUS; cpu++) {
        timeline_turn_make(make, &(struct make_turn){ns, (uint8_t)cpu, false});
    }
    make->nturns = make->turn;
}
