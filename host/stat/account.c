/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every event into the account: dispatch by class, and the small classes: interrupts, kernel calls,
 * losses.
 */
#include <stdlib.h>

#include "host/pr_th.h"
#include "host/stat/stat.h"

struct stat *stat_new(struct kev *kev)
{
    struct stat *stat = calloc(1, sizeof(*stat));

    if (stat == NULL) {
        return NULL;
    }
    stat->kev = kev;
    stat->lives = (struct map){.value_bytes = sizeof(struct thread *), .most = STAT_THREADS};
    stat->processes = (struct map){.value_bytes = sizeof(struct process *), .most = STAT_THREADS};
    stat->pairs = (struct map){.value_bytes = sizeof(struct pair), .most = STAT_PAIRS};
    stat->served = (struct map){.value_bytes = sizeof(struct served), .most = STAT_SERVED};
    filter_read(stat);
    stat->flow = stat_cover(stat) ? flow_new_of_states(&stat->source, &stat_flow_ops, stat) : NULL;
    if (stat->flow == NULL) {
        stat_free(stat);
        free(stat);
        return NULL;
    }
    return stat;
}

static void stat_interrupt_event(struct stat *stat, const struct kev_event *event)
{
    struct cpu *cpu = &stat->cpus[event->cpu];
    unsigned number = event->number & ~TRACE_EVENT_64;
    uint32_t line = kev_word(event, number == 3 ? 1 : 0);
    struct irq *irq = &stat->irqs[line < STAT_IRQS ? line : STAT_IRQS - 1];

    if (number == 1) {
        irq->count++;
        irq->counted[event->cpu] += cpu->covered;
        if (stat->watch != NULL) {
            stat->watch->entered(stat->watch->arg, line, event->cpu, event->time);
        }
        if (cpu->covered && cpu->depth < STAT_IRQ_DEPTH) {
            cpu->irqs[cpu->depth].irq = line;
            cpu->irqs[cpu->depth].since = event->time;
            cpu->depth++;
        }
    } else if (number == 3) {
        irq->handlers++;
    } else if (number == 2) {
        /* An entry may have been lost: only a matching one counts. */
        while (cpu->depth > 0 && cpu->irqs[cpu->depth - 1].irq != line) {
            cpu->depth--;
        }
        if (cpu->depth > 0 && event->time >= cpu->irqs[--cpu->depth].since) {
            uint64_t time = event->time - cpu->irqs[cpu->depth].since;

            irq->timed++;
            irq->time += time;
            irq->taken[event->cpu] += time;
            if (time > irq->max) {
                irq->max = time;
                irq->max_at = cpu->irqs[cpu->depth].since;
            }
            cpu->irq_time += cpu->depth == 0 ? time : 0;
            if (stat->watch != NULL) {
                stat->watch->handled(stat->watch->arg, line, event->cpu, cpu->depth,
                                     cpu->irqs[cpu->depth].since, event->time);
            }
        }
    }
}

static void stat_call_event(struct stat *stat, const struct kev_event *event)
{
    struct call *call = &stat->calls[event->number & (STAT_CALLS - 1)];
    bool wide = (event->number & TRACE_EVENT_64) != 0;

    switch (event->number & (TRACE_KERCALL_EXIT | TRACE_KERCALL_INT)) {
    case TRACE_KERCALL_ENTER:
        call->enter++;
        break;
    case TRACE_KERCALL_EXIT:
        call->exit++;
        if (kev_word(event, 0) == UINT32_MAX && (!wide || kev_word(event, 1) == UINT32_MAX)) {
            uint32_t error = kev_word(event, wide ? 2 : 1);

            call->errors++;
            call->by_error[error < STAT_ERRORS ? error : 0]++;
        }
        break;
    default:
        call->interrupted++;
        break;
    }
}

static void control_event(struct stat *stat, const struct kev_event *event)
{
    uint32_t reason = kev_word(event, 0) >> 8;
    uint32_t class = kev_word(event, 0) & (KEV_CLASSES - 1);
    uint32_t lost = kev_word(event, 1);

    stat->cpus[event->cpu].control++;
    if (event->number == TRACE_CONTROL_DROPPED && reason == KYMO_DROP_RECYCLED) {
        stat->recycled += lost;
    } else if (event->number == TRACE_CONTROL_DROPPED) {
        stat->cpus[event->cpu].lost[reason < KYMO_TRACE_REASONS ? reason : 0][class] += lost;
        stat->lost += lost;
    }
}

void stat_flow_take(struct stat *stat, const struct kev_event *event, const struct thread *thread,
                    struct flow_step *step)
{
    uint32_t words[3] = {kev_word(event, 0), kev_word(event, 1), 0};
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64, nwords = 2;
    struct kev_item *item = &stat->item;

    item->flags = event->dumped ? KEV_FLAG_DUMP : 0;
    item->ns = stat_flow_time(event->time);
    item->cpu = event->cpu;
    item->class_id = event->class;
    item->number = event->number;
    item->code = number;
    item->state = -1;
    item->pid = thread == NULL ? KEV_NOBODY : thread->pid;
    item->tid = thread == NULL ? KEV_NOBODY : thread->tid;
    if (event->class == TRACE_CLASS_PR_TH && number < PR_TH_VTHREADS) {
        item->state = number < STATE_MAX ? (int32_t)number : -1;
        item->pid = (int32_t)words[0];
        item->tid = (int32_t)words[1];
    } else if (event->class != TRACE_CLASS_COMM) {
        words[2] = kev_word(event, 2);
        nwords = 3;
    }
    if (event->injected) { /* its stamp is not used */
        item->flags |= KEV_FLAG_INJECTED;
        item->ns = stat->last == 0 ? INT64_MIN : stat_flow_time(stat->last);
    }
    if (flow_take_words(stat->flow, item, words, nwords, step) != 0) {
        kymo_memory(NULL);
    }
}

/* In a recovered capture and in a cut, names are used. A cut records which threads run when it
 * begins: valid once the CPU is covered, if no event of the CPU comes first. */
static void injected_event(struct stat *stat, const struct kev_event *event)
{
    struct flow_step step;

    stat->injected++;
    if (event->class == TRACE_CLASS_PR_TH && event->number == STATE_RUNNING) {
        stat_flow_take(stat, event, NULL, &step);
    } else if (event->class == TRACE_CLASS_PR_TH) {
        thread_named(stat, event);
    }
}

/* Without the bit of the wide form, which events of programs don't have. */
static unsigned event_number(const struct kev_event *event)
{
    unsigned form = event->class == TRACE_CLASS_USER ? 0 : TRACE_EVENT_64;

    return event->number & TRACE_EVENT_MASK & ~form;
}

/* The flow is given the calls that end its coverage. */
static void stat_account_call(struct stat *stat, const struct kev_event *event)
{
    struct flow_step step;

    stat_call_event(stat, event);
    if (filter_event(stat, event)) {
        stat_flow_take(stat, event, NULL, &step);
    }
}

void stat_event(struct stat *stat, const struct kev_event *event)
{
    if (event->injected) {
        injected_event(stat, event);
        return;
    }
    if (stat->events == 0 && stat->first == 0) {
        stat->first = event->time;
    }
    stat->last = event->time > stat->last ? event->time : stat->last;
    if (stat_flow_time(event->time) >= stat->next_turn) {
        stat->next_turn = flow_pass(stat->flow, stat_flow_time(event->time));
    }
    stat->by_class[event->class]++;
    stat->by_event[event->class][event_number(event)]++;
    if (event->class == TRACE_CLASS_CONTROL) {
        control_event(stat, event);
        return;
    }
    stat->events++;
    stat->cpus[event->cpu].events++;
    stat->cpus[event->cpu].events_covered += stat->cpus[event->cpu].covered;
    switch (event->class) {
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        stat_account_call(stat, event);
        break;
    case TRACE_CLASS_INT:
        stat_interrupt_event(stat, event);
        break;
    case TRACE_CLASS_PR_TH:
        thread_event(stat, event);
        break;
    case TRACE_CLASS_COMM:
        message_event(stat, event);
        break;
    default:
        break;
    }
}

void stat_finish(struct stat *stat)
{
    flow_pass(stat->flow, stat_flow_time(stat->last));
    flow_end(stat->flow);
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        cpu_account(stat, cpu, stat->last);
    }
    stat->common = stat_common(stat, stat->last);
    stat->common_at = stat->last;
    threads_finish(stat);
}

void stat_free(struct stat *stat)
{
    for (uint32_t i = 0; i < stat->pairs.count; i++) {
        struct pair *pair = stat->pairs.values[i];

        hist_free(&pair->latency);
        hist_free(&pair->wait);
    }
    map_free(&stat->pairs);
    map_free(&stat->served);
    stat_threads_free(stat);
    stat_cover_free(stat);
    flow_free(stat->flow);
}
