/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coverage: by the header's filters, and when each CPU is covered. The state of a thread that
 * doesn't run is known only while all CPUs are (flow.h).
 */
#include <stdlib.h>
#include <string.h>

#include "host/flow/own.h"

/* ---- filters ------------------------------------------------------------------------- */

void flow_filters(const struct kev_capture *capture, struct flow_filters *filters)
{
    const char *key, *value;

    *filters = (struct flow_filters){.gate = false};
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

static const char *flow_filters_doubt(const struct flow *flow)
{
    const struct flow_filters *filters = &flow->filters;

    return filters->gate ? "a D program decided which events were recorded: what threads did is "
                           "unknown"
           : filters->no_threads ? "THREAD events were not recorded: what threads did is unknown"
           : filters->no_interrupts
               ? "INT events were not recorded: what interrupts began is unknown"
           : filters->no_messages ? "COMM events were not recorded: messages are unknown"
           : filters->set ? "applications set the filters: all of it holds if THREAD, COMM and INT "
                            "were recorded"
           : !flow->facts->is_kymo
               ? "another kernel's capture: events that are missing go unnoticed"
           : !filters->stated
               ? "the header does not say what was recorded: all of it holds if all was"
               : NULL;
}

bool flow_without_calls(const struct flow *flow)
{
    return flow->filters.no_calls;
}

const char *flow_doubt(const struct flow *flow)
{
    return flow->doubt;
}

/* ---- turns --------------------------------------------------------------------------- */

/* By time; at one time a turn that begins comes first, so that CPUs that take over from each other
 * leave no hole. */
static int flow_turn_order(const void *a, const void *b)
{
    const struct flow_turn *x = a, *y = b;

    if (x->ns != y->ns) {
        return x->ns < y->ns ? -1 : 1;
    }
    return x->covered != y->covered ? (int)y->covered - (int)x->covered : (int)x->cpu - (int)y->cpu;
}

static bool flow_turns_add(struct flow *flow, unsigned *room, unsigned cpu, int64_t from,
                           int64_t to)
{
    if (flow->nturns + 2 > *room) {
        unsigned more = 2 * *room + 64;
        struct flow_turn *turns = realloc(flow->turns, more * sizeof(*turns));

        if (turns == NULL) {
            return false;
        }
        flow->turns = turns;
        *room = more;
    }
    flow->turns[flow->nturns++] = (struct flow_turn){from, (uint8_t)cpu, true};
    flow->turns[flow->nturns++] = (struct flow_turn){to, (uint8_t)cpu, false};
    return true;
}

static bool flow_covered(const struct flow *flow, unsigned cpu, unsigned n, int64_t *from,
                         int64_t *to)
{
    if (flow->source != NULL) {
        return flow->source->covered(flow->arg, cpu, n, from, to) != 0;
    }
    return flow->facts->is_kymo ? kev_capture_covered(flow->capture, cpu, n, from, to) != 0
                                : n == 0;
}

/* A capture that does not name its board does not say which CPUs there are. */
static bool flow_cpu_records(const struct flow *flow, unsigned cpu, bool covered)
{
    return flow->source != NULL ? (flow->source->cpus >> cpu & 1) != 0
                                : covered || flow->facts->board[0] != '\0';
}

bool flow_cover_find(struct flow *flow)
{
    const struct kev_facts *facts = flow->facts;
    unsigned room = 0;

    if (flow->capture != NULL) {
        flow_filters(flow->capture, &flow->filters);
        flow->doubt = flow_filters_doubt(flow);
    }
    for (unsigned cpu = 0; cpu < facts->cpus && cpu < FLOW_CPUS; cpu++) {
        int64_t from = KEV_EVER, to = KEV_NEVER;
        unsigned n = 0;

        unsigned before = flow->nturns;

        while (flow_covered(flow, cpu, n, &from, &to)) {
            if (flow->nturns > before && from <= flow->turns[flow->nturns - 1].ns) {
                flow->turns[flow->nturns - 1].ns = to; /* it goes on without a hole */
            } else if (!flow_turns_add(flow, &room, cpu, from, to)) {
                return false;
            }
            n++;
        }
        flow->uncovered += flow_cpu_records(flow, cpu, n > 0);
    }
    if (flow->nturns > 0) {
        qsort(flow->turns, flow->nturns, sizeof(*flow->turns), flow_turn_order);
    }
    return true;
}

static void flow_turn_make(struct flow *flow, const struct flow_turn *turn)
{
    struct flow_cpu *cpu = &flow->cpus[turn->cpu];
    bool all = flow->uncovered == 0;

    if (cpu->covered == turn->covered) {
        return;
    }
    cpu->covered = turn->covered;
    if (turn->covered) {
        flow->uncovered--;
    } else {
        flow_cpu_leave(flow, turn->cpu, turn->ns, false);
        flow_slices_close(flow, &cpu->interrupts, NULL, turn->cpu, 0, turn->ns, FLOW_LOST);
        flow_cause_calls(cpu);
        flow_threads_do(flow, turn->ns, flow_thread_lose);
        flow->uncovered++;
    }
    if (flow->ops->cpu != NULL) {
        flow->ops->cpu(flow->arg, turn->cpu, turn->ns, turn->covered);
    }
    if (all != (flow->uncovered == 0) && flow->states && flow->ops->covered != NULL) {
        flow->ops->covered(flow->arg, turn->ns, !all);
    }
    if (turn->covered) {
        flow_cpu_told(flow, turn->cpu, turn->ns);
    }
}

/* A stretch that begins at this time has begun, one that ends then has not: the event belongs to
 * both. */
void flow_cover_until(struct flow *flow, int64_t ns)
{
    for (; flow->turn < flow->nturns; flow->turn++) {
        const struct flow_turn *turn = &flow->turns[flow->turn];

        if (turn->covered ? turn->ns > ns : turn->ns >= ns) {
            return;
        }
        flow_turn_make(flow, turn);
    }
}

void flow_cover_stop(struct flow *flow, int64_t ns)
{
    for (unsigned cpu = 0; cpu < FLOW_CPUS; cpu++) {
        flow_turn_make(flow, &(struct flow_turn){ns, (uint8_t)cpu, false});
    }
    flow->nturns = flow->turn;
    flow->doubt = "a program changed the filters meanwhile: what threads did after that is "
                  "unknown";
}
