/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices that nest: kernel calls and functions of a thread, interrupts and handlers of a CPU
 * (flow.h).
 */
#include <stdlib.h>

#include "host/event_numbers.h"
#include "host/flow/own.h"
#include "trace/slot.h"

#define DEPTH_MOST 65536
#define OWNER_TID 0x7fffffffu /* the bits of a mutex's word that are a tid */

/* ---- the stack ----------------------------------------------------------------------- */

/*
 * The open slices of a stack are also a digital search tree, by kind and `what`: an end without a
 * begin is found out without a walk down the stack. Slices are removed in the reverse of the order
 * in which they were added, so one that is removed has no branches. Of slices with the same kind
 * and `what` the first is in the tree, and the others are in a list from the newest on.
 */

/* The pointer to the slice with these, or the one to which it is to be added. */
static uint32_t *flow_slice_place(struct flow_stack *stack, uint32_t kind, uint64_t what)
{
    uint64_t bits = what * 0x9e3779b97f4a7c15ull;
    uint32_t *at = &stack->root;

    for (unsigned shift = 0; *at != 0; shift++) {
        struct flow_open *open = &stack->open[*at - 1];

        if (open->kind == kind && open->what == what) {
            break;
        }
        at = &open->branch[shift == 0 ? kind : bits >> 62];
        bits = shift == 0 ? bits : bits << 2;
    }
    return at;
}

/* Adds the one at the top. */
static void flow_slice_push(struct flow_stack *stack, enum flow_kind kind, uint64_t what)
{
    uint32_t *at = flow_slice_place(stack, kind, what), index = stack->depth++;
    struct flow_open *open = &stack->open[index];

    *open = (struct flow_open){.kind = kind, .mark = FLOW_UNMARKED, .what = what, .latest = index};
    if (*at == 0) {
        *at = index + 1;
    } else {
        open->before = stack->open[*at - 1].latest + 1;
        stack->open[*at - 1].latest = index;
    }
    open->handler = kind == FLOW_HANDLER ? index + 1
                    : index > 0          ? stack->open[index - 1].handler
                                         : 0;
}

static struct flow_open *flow_slice_pop(struct flow_stack *stack)
{
    struct flow_open *open = &stack->open[--stack->depth];
    uint32_t *at = flow_slice_place(stack, open->kind, open->what);

    if (open->before == 0) {
        *at = 0;
    } else {
        stack->open[*at - 1].latest = open->before - 1;
    }
    return open;
}

const struct flow_open *flow_handler_of(const struct flow_cpu *cpu)
{
    const struct flow_stack *slices = &cpu->interrupts;
    uint32_t handler = slices->depth == 0 ? 0 : slices->open[slices->depth - 1].handler;

    return handler == 0 ? NULL : &slices->open[handler - 1];
}

void flow_slices_close(struct flow *flow, struct flow_stack *stack,
                       const struct flow_thread *thread, int cpu, uint32_t depth, int64_t ns,
                       enum flow_ending ending)
{
    while (stack->depth > depth) {
        const struct flow_open *open = flow_slice_pop(stack);

        flow->steps++;
        if (flow->ops->close != NULL) {
            flow->ops->close(flow->arg, thread, cpu, open, ns, ending);
        }
    }
    if (depth == 0) {
        stack->over = 0;
    }
}

static struct flow_stack *flow_stack_of(struct flow *flow, const struct flow_step *step, int cpu)
{
    return step->thread == NULL ? &flow->cpus[cpu].interrupts : &step->thread->slices;
}

static void flow_slice_begin(struct flow *flow, struct flow_step *step, int cpu,
                             enum flow_kind kind, uint64_t what)
{
    struct flow_stack *stack = flow_stack_of(flow, step, cpu);

    if (stack->depth == DEPTH_MOST) {
        stack->over += kind == FLOW_FUNCTION;
        return;
    }
    if (stack->depth == stack->room) {
        uint32_t room = stack->room == 0 ? 8 : 2 * stack->room;
        struct flow_open *more = realloc(stack->open, room * sizeof(*more));

        if (more == NULL) {
            flow->failed = true;
            return;
        }
        stack->open = more;
        stack->room = room;
    }
    flow_slice_push(stack, kind, what);
    step->slice = &stack->open[stack->depth - 1];
    step->role = FLOW_BEGIN;
    if (step->thread != NULL) {
        flow_thread_noted(flow, step->thread);
    }
}

/* Slices above the one that ends have no end in the capture. */
static void flow_slice_end(struct flow *flow, struct flow_step *step, int cpu, enum flow_kind kind,
                           uint64_t what)
{
    struct flow_stack *stack = flow_stack_of(flow, step, cpu);
    uint32_t at;

    if (kind == FLOW_FUNCTION && stack->over > 0) {
        stack->over--;
        return;
    }
    at = *flow_slice_place(stack, kind, what);
    if (at == 0) {
        return; /* it began before the capture, or in a loss */
    }
    flow_slices_close(flow, stack, step->thread, cpu, stack->open[at - 1].latest + 1, step->ns,
                      FLOW_UNSEEN);
    step->slice = flow_slice_pop(stack);
    step->role = FLOW_END;
}

/* ---- kernel calls -------------------------------------------------------------------- */

const struct flow_open *flow_call_of(const struct flow_thread *thread)
{
    const struct flow_stack *slices = &thread->slices;
    const struct flow_open *top = slices->depth == 0 ? NULL : &slices->open[slices->depth - 1];

    return top == NULL || top->kind != FLOW_CALL ? NULL : top;
}

/* Notes the object of a Sync*() call, and who owns it. */
static void flow_call_describe(struct flow *flow, const struct flow_step *step)
{
    const struct kev_value *sync = kev_capture_value_of(flow->capture, "sync");
    const struct kev_value *owner = kev_capture_value_of(flow->capture, "owner");
    const struct kev_value *mutex = kev_capture_value_of(flow->capture, "mutex");
    struct flow_open *call = step->slice;

    call->object = sync == NULL ? 0 : sync->number;
    call->mutex = mutex == NULL ? 0 : mutex->number;
    if (owner != NULL && call->what == CALL_SYNC_MUTEX_LOCK) {
        int32_t tid = (int32_t)(owner->number & OWNER_TID);
        const struct flow_thread *thread =
            tid == 0 ? NULL : flow_thread_of(flow, step->thread->pid, tid);

        call->owner = thread == NULL ? 0 : thread->serial;
    }
}

static void flow_call_begin(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                            unsigned call)
{
    struct flow_stack *stack = &step->thread->slices;

    if (flow_call_of(step->thread) != NULL) {
        flow_slices_close(flow, stack, step->thread, -1, stack->depth - 1, step->ns, FLOW_UNSEEN);
    }
    flow_slice_begin(flow, step, item->cpu, FLOW_CALL, call);
    if (step->slice != NULL && call >= CALL_SYNC_CREATE && call <= CALL_SYNC_MUTEX_REVIVE) {
        flow_call_describe(flow, step);
    }
}

void flow_call_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                     const uint32_t *words, unsigned nwords)
{
    unsigned kind = item->number & (TRACE_KERCALL_EXIT | TRACE_KERCALL_INT),
             call = item->number % 128;
    struct flow_cpu *cpu = &flow->cpus[item->cpu];

    cpu->aborting = kind != TRACE_KERCALL_ENTER && kind != TRACE_KERCALL_EXIT;
    if (kind == TRACE_KERCALL_ENTER) { /* no interrupt is open, even if no event said so */
        flow_slices_close(flow, &cpu->interrupts, NULL, item->cpu, 0, step->ns, FLOW_UNSEEN);
        flow_cause_calls(cpu);
        if (call == CALL_TRACE_EVENT && flow->facts->is_kymo &&
            flow_hides(words, nwords, (item->number & TRACE_EVENT_64) != 0)) {
            flow_cover_stop(flow, step->ns);
        }
        flow->filters.no_calls |=
            call == CALL_TRACE_EVENT && flow->facts->is_kymo &&
            flow_hides_calls(words, nwords, (item->number & TRACE_EVENT_64) != 0);
    }
    if (step->thread == NULL || !flow->slices || !cpu->covered) {
        return;
    }
    if (kind == TRACE_KERCALL_EXIT) {
        flow_slice_end(flow, step, item->cpu, FLOW_CALL, call);
    } else if (kind == TRACE_KERCALL_ENTER) {
        flow_call_begin(flow, item, step, call);
    }
}

/* ---- interrupts and functions -------------------------------------------------------- */

void flow_interrupt_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                          const uint32_t *words, unsigned nwords)
{
    bool handler = item->code == NUMBER_int_handler_entry || item->code == NUMBER_int_handler_exit;
    bool entry = item->code == NUMBER_int_entry || item->code == NUMBER_int_handler_entry;
    unsigned at = item->code == NUMBER_int_handler_entry ? 1 : 0;
    struct flow_cpu *cpu = &flow->cpus[item->cpu];
    enum flow_kind kind = handler ? FLOW_HANDLER : FLOW_INTERRUPT;

    step->thread = NULL;
    if (nwords <= at || (!handler && !entry && item->code != NUMBER_int_exit)) {
        return;
    }
    if (!flow->slices || !cpu->covered) {
        return;
    }
    if (entry) {
        flow_slice_begin(flow, step, item->cpu, kind, words[at]);
    } else {
        flow_slice_end(flow, step, item->cpu, kind, words[at]);
    }
}

void flow_function_event(struct flow *flow, const struct kev_item *item, struct flow_step *step)
{
    const struct kev_value *function;

    if (step->thread == NULL || !flow->slices || !flow->cpus[item->cpu].covered) {
        return;
    }
    function = kev_capture_value_of(flow->capture, "thisfn");
    if (function == NULL) {
        return;
    }
    if (item->code == NUMBER_function_enter) {
        flow_slice_begin(flow, step, item->cpu, FLOW_FUNCTION, function->number);
    } else {
        flow_slice_end(flow, step, item->cpu, FLOW_FUNCTION, function->number);
    }
}
