/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel calls, functions, interrupts, messages, pulses and user events of the timeline, from the
 * steps of the flow. Proof: test/host/timeline/timeline_test.c.
 */
#include "host/event_numbers.h"
#include "host/timeline/make.h"
#include "trace/slot.h"

#define PULSES_END 8 /* COMM events below are pulses, but for messages and received pulses */

/* ---- slices -------------------------------------------------------------------------- */

/* How many functions are open, the innermost of which is this one; 255: that many or more. */
static uint8_t others_depth(const struct timeline *timeline, uint32_t innermost)
{
    unsigned depth = innermost == TIMELINE_NONE ? 0 : timeline->functions[innermost].depth + 1u;

    return depth > 255 ? 255 : (uint8_t)depth;
}

/* The innermost function that is open below the slice at the top of a thread's. */
static uint32_t others_outer(const struct flow_thread *thread)
{
    const struct flow_stack *slices = &thread->slices;

    for (uint32_t i = slices->depth > 0 ? slices->depth - 1 : 0; i > 0; i--) {
        if (slices->open[i - 1].kind == FLOW_FUNCTION) {
            return slices->open[i - 1].mark;
        }
    }
    return TIMELINE_NONE;
}

static uint32_t others_call_begin(struct make *make, const struct kev_item *item,
                                  const struct flow_step *step)
{
    struct timeline *timeline = make->timeline;
    struct timeline_call *call =
        make_more(make, &timeline->calls, &timeline->ncalls, &make->calls_room, sizeof(*call));

    if (call == NULL) {
        return TIMELINE_NONE;
    }
    *call = (struct timeline_call){.from = step->ns,
                                   .to = KEV_NEVER,
                                   .object = step->slice->object,
                                   .thread = spans_thread(step->thread),
                                   .number = (uint8_t)step->slice->what,
                                   .class_id = (uint8_t)item->class_id,
                                   .depth = others_depth(timeline, others_outer(step->thread)),
                                   .flags = TIMELINE_FROM};
    return timeline->ncalls - 1;
}

static uint32_t others_function_begin(struct make *make, const struct flow_step *step)
{
    struct timeline *timeline = make->timeline;
    struct timeline_function *function =
        make_more(make, &timeline->functions, &timeline->nfunctions, &make->functions_room,
                  sizeof(*function));
    uint32_t outer = others_outer(step->thread);

    if (function == NULL) {
        return TIMELINE_NONE;
    }
    *function = (struct timeline_function){.from = step->ns,
                                           .to = KEV_NEVER,
                                           .address = step->slice->what,
                                           .thread = spans_thread(step->thread),
                                           .outer = outer,
                                           .depth = others_depth(timeline, outer),
                                           .flags = TIMELINE_FROM};
    return timeline->nfunctions - 1;
}

static uint32_t others_interrupt_begin(struct make *make, const struct kev_item *item,
                                       const struct flow_step *step)
{
    struct timeline *timeline = make->timeline;
    bool handler = step->slice->kind == FLOW_HANDLER;
    uint32_t *count = handler ? &timeline->nhandlers : &timeline->ninterrupts;
    struct timeline_interrupt *interrupt =
        handler
            ? make_more(make, &timeline->handlers, count, &make->handlers_room, sizeof(*interrupt))
            : make_more(make, &timeline->interrupts, count, &make->interrupts_room,
                        sizeof(*interrupt));

    if (interrupt == NULL) {
        return TIMELINE_NONE;
    }
    *interrupt = (struct timeline_interrupt){.from = step->ns,
                                             .to = KEV_NEVER,
                                             .number = (uint32_t)step->slice->what,
                                             .cpu = (int16_t)item->cpu,
                                             .depth = (uint8_t)make->depth[item->cpu][handler],
                                             .flags = TIMELINE_FROM};
    make->depth[item->cpu][handler]++;
    return *count - 1;
}

static void others_slice_begin(struct make *make, const struct kev_item *item,
                               const struct flow_step *step)
{
    if (step->thread != NULL && spans_thread(step->thread) == TIMELINE_NONE) {
        return;
    }
    step->slice->mark = step->slice->kind == FLOW_CALL ? others_call_begin(make, item, step)
                        : step->slice->kind == FLOW_FUNCTION
                            ? others_function_begin(make, step)
                            : others_interrupt_begin(make, item, step);
}

/* flags: TIMELINE_TO if the end was seen. */
static void others_slice_end(struct make *make, const struct flow_open *open, int cpu, int64_t ns,
                             unsigned flags)
{
    struct timeline *timeline = make->timeline;
    struct timeline_interrupt *interrupts =
        open->kind == FLOW_HANDLER ? timeline->handlers : timeline->interrupts;

    if (open->mark == TIMELINE_NONE) {
        return;
    }
    if (open->kind == FLOW_CALL) {
        timeline->calls[open->mark].to = ns;
        timeline->calls[open->mark].flags |= (uint8_t)flags;
    } else if (open->kind == FLOW_FUNCTION) {
        timeline->functions[open->mark].to = ns;
        timeline->functions[open->mark].flags |= (uint8_t)flags;
    } else {
        interrupts[open->mark].to = ns;
        interrupts[open->mark].flags |= (uint8_t)flags;
        make->depth[cpu][open->kind == FLOW_HANDLER]--;
    }
}

void others_close(void *arg, const struct flow_thread *thread, int cpu,
                  const struct flow_open *open, int64_t ns, enum flow_ending ending)
{
    (void)thread;
    (void)ending;
    others_slice_end(arg, open, cpu, ns, 0);
}

/* ---- messages ------------------------------------------------------------------------ */

static void others_message_sent(struct make *make, const struct flow_step *step,
                                const uint32_t *words)
{
    struct timeline *timeline = make->timeline;
    struct timeline_message *message = make_more(make, &timeline->messages, &timeline->nmessages,
                                                 &make->messages_room, sizeof(*message));

    if (message == NULL) {
        return;
    }
    *message = (struct timeline_message){.sent = step->ns,
                                         .received = KEV_NEVER,
                                         .replied = KEV_NEVER,
                                         .client = spans_thread(step->current),
                                         .server = TIMELINE_NONE,
                                         .rcvid = words[0],
                                         .server_pid = (int32_t)words[1]};
    if (step->message == FLOW_SENT) {
        step->client->message_mark = timeline->nmessages - 1;
    }
}

static void others_message_step(struct make *make, const struct kev_item *item,
                                const struct flow_step *step)
{
    struct timeline_message *message =
        step->message_mark == FLOW_UNMARKED ? NULL : &make->timeline->messages[step->message_mark];

    if (message == NULL) {
        return;
    }
    if (step->message == FLOW_REPLIED) {
        message->replied = step->ns;
        message->flags |= item->code == NUMBER_comm_msg_error ? TIMELINE_ERROR : 0;
        return;
    }
    if (item->class_id == TRACE_CLASS_COMM) {
        message->received = step->ns;
    }
    if (step->party != NULL) {
        message->server = spans_thread(step->party);
    }
}

void others_abandon(void *arg, const struct flow_thread *thread, int64_t ns,
                    enum flow_ending ending)
{
    struct make *make = arg;

    if (ending == FLOW_ABORTED && thread->message_mark != FLOW_UNMARKED) {
        struct timeline_message *message = &make->timeline->messages[thread->message_mark];

        message->flags |= TIMELINE_ABORTED;
        message->replied = ns;
    }
}

static void others_pulse_sent(struct make *make, const struct kev_item *item,
                              const struct flow_step *step, const uint32_t *words)
{
    struct timeline *timeline = make->timeline;
    struct timeline_pulse *pulse =
        make_more(make, &timeline->pulses, &timeline->npulses, &make->pulses_room, sizeof(*pulse));

    if (pulse == NULL) {
        return;
    }
    *pulse = (struct timeline_pulse){.sent = step->ns,
                                     .by = TIMELINE_NONE,
                                     .to_pid = (int32_t)words[1],
                                     .scoid = words[0],
                                     .code = (uint8_t)item->code,
                                     .cause = (uint8_t)step->cause};
    if (step->cause == FLOW_CAUSE_INTERRUPT) {
        pulse->by = step->by;
    } else if (step->cause == FLOW_CAUSE_THREAD) {
        pulse->by = spans_thread(step->current);
        pulse->cause = pulse->by == TIMELINE_NONE ? TIMELINE_CAUSE_UNKNOWN : TIMELINE_CAUSE_THREAD;
    }
}

static void others_comm_event(struct make *make, const struct kev_item *item,
                              const struct flow_step *step)
{
    const uint32_t *words;
    unsigned nwords = kev_capture_words(make->timeline->capture, &words);

    if (nwords < 2) {
        return;
    }
    if (item->code == NUMBER_comm_snd_message) {
        others_message_sent(make, step, words);
    } else if (item->code < PULSES_END && item->code != NUMBER_comm_rec_message &&
               item->code != NUMBER_comm_rec_pulse) {
        others_pulse_sent(make, item, step, words);
    }
}

/* ---- events -------------------------------------------------------------------------- */

static void others_user_event(struct make *make, const struct kev_item *item,
                              const struct flow_step *step)
{
    struct timeline *timeline = make->timeline;
    struct timeline_user *user =
        make_more(make, &timeline->users, &timeline->nusers, &make->users_room, sizeof(*user));

    if (user != NULL) {
        *user = (struct timeline_user){.ns = step->ns,
                                       .offset = item->offset,
                                       .thread = spans_thread(step->current),
                                       .number = (uint16_t)item->number,
                                       .cpu = (int16_t)item->cpu};
    }
}

void others_event(struct make *make, const struct kev_item *item, const struct flow_step *step)
{
    spans_meet(make, step->thread, step->ns);
    spans_meet(make, step->owner, step->ns);
    if (step->role == FLOW_BEGIN) {
        others_slice_begin(make, item, step);
    } else if (step->role == FLOW_END) {
        others_slice_end(make, step->slice, item->cpu, step->ns, TIMELINE_TO);
    }
    if (item->class_id == TRACE_CLASS_COMM) {
        others_comm_event(make, item, step);
    } else if (item->class_id == TRACE_CLASS_USER) {
        others_user_event(make, item, step);
    }
    if (step->message != FLOW_NONE && step->message != FLOW_SENT) {
        others_message_step(make, item, step);
    }
}
