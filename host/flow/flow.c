/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a capture, in their order, to those who follow threads, messages and slices
 * (flow.h).
 */
#include "host/flow/flow.h"

#include <stdlib.h>
#include <string.h>

#include "host/event_numbers.h"
#include "host/flow/own.h"
#include "host/pr_th.h"
#include "trace/slot.h"

const char *flow_state_name(unsigned state)
{
    static const char *const names[] = {
#define STATE(number, name, text, emitted) [number] = #name,
        THREAD_STATE_LIST(STATE)
#undef STATE
    };

    return state < sizeof(names) / sizeof(names[0]) && names[state] != NULL ? names[state]
                                                                            : "unknown";
}

/* ---- beginning and end --------------------------------------------------------------- */

static struct flow *flow_make(struct kev_capture *capture, const struct flow_source *source,
                              const struct flow_ops *ops, void *arg)
{
    struct flow *flow = calloc(1, sizeof(*flow));

    if (flow == NULL) {
        return NULL;
    }
    flow->capture = capture;
    flow->source = source;
    flow->facts = source == NULL ? kev_capture_facts(capture) : source->facts;
    flow->ops = ops;
    flow->arg = arg;
    flow->live_most = FLOW_THREADS_MOST;
    if (!flow_cover_find(flow)) {
        flow_free(flow);
        return NULL;
    }
    return flow;
}

struct flow *flow_new_of_states(const struct flow_source *source, const struct flow_ops *ops,
                                void *arg)
{
    struct flow *flow = flow_make(NULL, source, ops, arg);

    if (flow != NULL) {
        flow->states = true;
    }
    return flow;
}

struct flow *flow_new(struct kev_capture *capture, bool partial, const struct flow_ops *ops,
                      void *arg)
{
    struct flow *flow = flow_make(capture, NULL, ops, arg);

    if (flow == NULL) {
        return NULL;
    }
    for (unsigned number = 0; number < FLOW_INTERRUPTS; number++) {
        const char *name = kev_capture_term(capture, KEV_MEANS_INTERRUPT, number);

        flow->handled[number] = name != NULL && strcmp(name, "ipi") == 0;
    }
    flow->states = !flow->filters.no_threads && !partial;
    flow->slices = !flow->filters.gate && !partial;
    return flow;
}

void flow_free(struct flow *flow)
{
    if (flow == NULL) {
        return;
    }
    flow_threads_free(flow);
    for (unsigned cpu = 0; cpu < FLOW_CPUS; cpu++) {
        free(flow->cpus[cpu].interrupts.open);
    }
    free(flow->turns);
    free(flow);
}

void flow_end(struct flow *flow)
{
    flow_cover_until(flow, flow->now);
    for (unsigned cpu = 0; cpu < FLOW_CPUS; cpu++) {
        flow_cpu_leave(flow, cpu, flow->now, false);
        flow_slices_close(flow, &flow->cpus[cpu].interrupts, NULL, (int)cpu, 0, flow->now,
                          FLOW_LOST);
    }
    flow_threads_do(flow, flow->now, flow_thread_lose);
}

/* ---- events -------------------------------------------------------------------------- */

static void flow_now_set(struct flow *flow, int64_t ns)
{
    /* In a damaged capture, too, time never goes back. */
    flow->now = flow->begun && ns < flow->now ? flow->now : ns;
    flow->begun = true;
}

/* An event that says what was so, and that no kernel made at its time. */
static void flow_told(struct flow *flow, const struct kev_item *item)
{
    if (item->class_id == TRACE_CLASS_PR_TH && item->state == STATE_RUNNING && flow->states) {
        flow->cpus[item->cpu].told = flow_thread_of(flow, item->pid, item->tid);
    }
}

/* Ids are used again: who had this one before has ended, even if that was not seen. */
static void flow_lives_begin(struct flow *flow, const struct kev_item *item, const uint32_t *words,
                             unsigned nwords)
{
    flow->marked |= (item->flags & KEV_FLAG_DUMP) != 0;
    if (!flow->marked || (item->flags & KEV_FLAG_DUMP) != 0 || nwords < 2) {
        return;
    }
    if (item->code == PR_TH_CREATE) {
        flow_thread_begin(flow, item->pid, item->tid, flow->now);
    } else if (item->code == PR_TH_PROCCREATE || item->code == PR_TH_PROCCREATE_NAME) {
        flow_process_begin(flow, (int32_t)words[1], flow->now);
    }
}

static void flow_dispatch(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                          const uint32_t *words, unsigned nwords)
{
    switch (item->class_id) {
    case TRACE_CLASS_PR_TH:
        if (step->thread != NULL && item->code == PR_TH_CREATE) {
            step->thread->described = false;
        } else if (step->thread != NULL) {
            flow_state_event(flow, item, step, words, nwords);
        } else if (item->state == STATE_RUNNING) { /* a thread without an entry */
            flow_cpu_leave(flow, (unsigned)item->cpu, step->ns, true);
        }
        break;
    case TRACE_CLASS_COMM:
        if (nwords >= 2 && flow->states) {
            flow_message_event(flow, item, step, words);
        }
        break;
    case TRACE_CLASS_INT:
        flow_interrupt_event(flow, item, step, words, nwords);
        break;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        flow_call_event(flow, item, step, words, nwords);
        break;
    case TRACE_CLASS_SYSTEM:
        if (item->code == NUMBER_function_enter || item->code == NUMBER_function_exit) {
            flow_function_event(flow, item, step);
        }
        break;
    default:
        break;
    }
}

int flow_take(struct flow *flow, const struct kev_item *item, struct flow_step *step)
{
    const uint32_t *words;
    unsigned nwords = kev_capture_words(flow->capture, &words);

    return flow_take_words(flow, item, words, nwords, step);
}

/* Member by member: that is several times as fast as to clear a struct of this size as a whole. */
static inline void flow_step_begin(struct flow_step *step, int64_t ns)
{
    step->ns = ns;
    step->thread = step->current = step->owner = NULL;
    step->role = FLOW_POINT;
    step->slice = NULL;
    step->message = FLOW_NONE;
    step->message_id = 0;
    step->client = NULL;
    step->message_mark = FLOW_UNMARKED;
    step->party = NULL;
    step->switched = false;
    step->running = step->previous = NULL;
    step->previous_state = -1;
    step->woken = NULL;
    step->by = 0;
    step->cause = FLOW_CAUSE_UNKNOWN;
}

int flow_take_words(struct flow *flow, const struct kev_item *item, const uint32_t *words,
                    unsigned nwords, struct flow_step *step)
{
    if (flow->corpse != NULL) {
        flow_corpses_bury(flow);
    }
    flow_now_set(flow, item->ns);
    flow_step_begin(step, flow->now);
    if (item->cpu < 0 || item->cpu >= FLOW_CPUS) {
        return 0;
    }
    if ((item->flags & KEV_FLAG_INJECTED) != 0) {
        flow_told(flow, item);
        return flow->failed ? -1 : 0;
    }
    if (flow->turn < flow->nturns && flow->turns[flow->turn].ns <= flow->now) {
        flow_cover_until(flow, flow->now);
    }
    if (item->class_id != TRACE_CLASS_CONTROL) {
        flow->cpus[item->cpu].told = NULL;
    }
    if (item->class_id == TRACE_CLASS_PR_TH) {
        flow_lives_begin(flow, item, words, nwords);
    }
    step->current = flow->cpus[item->cpu].current;
    if (flow->source == NULL) {
        step->cause = flow_doer(flow, (unsigned)item->cpu, NULL, &step->by);
    }
    step->thread = step->owner = flow_thread_of(flow, item->pid, item->tid);
    flow_dispatch(flow, item, step, words, nwords);
    if (flow->source == NULL) {
        flow_cause_event(flow, item, words, nwords);
    }
    return flow->failed ? -1 : 0;
}

int64_t flow_pass(struct flow *flow, int64_t ns)
{
    flow_now_set(flow, ns);
    flow_cover_until(flow, flow->now);
    return flow->turn < flow->nturns ? flow->turns[flow->turn].ns : KEV_NEVER;
}

void flow_lose(struct flow *flow, const struct kev_item *item)
{
    flow_pass(flow, item->ns);
}

void flow_count(const struct flow *flow, unsigned *ready, unsigned *unknown)
{
    *ready = flow->ready;
    *unknown = flow->unknown;
}
