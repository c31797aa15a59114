/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel calls and functions of the timeline, from a thread's entry to its exit. Proof:
 * test/host/timeline/timeline_test.c.
 */
#include "abi/sys/trace.h"
#include "host/timeline/make.h"
#include "trace/slot.h"

#define FUNCTION_ENTER 10
#define FUNCTION_EXIT 11
#define CALL_TRACE_EVENT 1
#define CALL_SYNC_FIRST 78
#define CALL_SYNC_LAST 87
#define CALL_CONDVAR_WAIT 82

/* ---- functions --------------------------------------------------------------------- */

/* Ends the open functions of a thread up to `last`, which is the only one whose end was seen. What
 * was open when events were lost has an end that is not known. */
static void functions_end(struct make *make, uint32_t thread, int64_t ns, uint32_t last)
{
    struct make_thread *of = &make->threads[thread];
    struct timeline_function *functions = make->timeline->functions;
    bool known = of->function_epoch == make->epoch;

    while (of->function != TIMELINE_NONE) {
        uint32_t index = of->function;

        functions[index].to = known ? ns : make->epoch_end[of->function_epoch];
        of->function = functions[index].outer;
        if (index == last) {
            functions[index].flags |= TIMELINE_TO;
            return;
        }
    }
}

/* How many functions are open, the innermost of which is this one; 255: that many or more. */
static uint8_t function_depth(const struct timeline *timeline, uint32_t innermost)
{
    unsigned depth = innermost == TIMELINE_NONE ? 0 : timeline->functions[innermost].depth + 1u;

    return depth > 255 ? 255 : (uint8_t)depth;
}

static void function_begin(struct make *make, const struct kev_item *item, uint32_t thread,
                           uint64_t address)
{
    struct timeline *timeline = make->timeline;
    struct make_thread *of = &make->threads[thread];
    uint32_t outer = of->function;
    struct timeline_function *function =
        make_more(make, &timeline->functions, &timeline->nfunctions, &make->functions_room,
                  sizeof(*function));

    if (function != NULL) {
        *function = (struct timeline_function){.from = item->ns,
                                               .to = KEV_NEVER,
                                               .address = address,
                                               .thread = thread,
                                               .outer = outer,
                                               .depth = function_depth(timeline, outer),
                                               .flags = TIMELINE_FROM};
        of->function = timeline->nfunctions - 1;
        of->function_epoch = make->epoch;
    }
}

void functions_event(struct make *make, const struct kev_item *item)
{
    const struct kev_value *value = kev_capture_value_of(make->timeline->capture, "thisfn");
    uint32_t thread = make_thread_of(make, item->pid, item->tid, item->ns), open;
    struct make_thread *of = &make->threads[thread];

    if (thread == TIMELINE_NONE || value == NULL) {
        return;
    }
    if (of->function_epoch != make->epoch) {
        functions_end(make, thread, item->ns, TIMELINE_NONE);
    }
    if (item->code == FUNCTION_ENTER) {
        function_begin(make, item, thread, value->number);
        return;
    }
    /* Functions inside of the one that ends have lost their ends. */
    for (open = of->function; open != TIMELINE_NONE; open = make->timeline->functions[open].outer) {
        if (make->timeline->functions[open].address == value->number) {
            functions_end(make, thread, item->ns, open);
            return;
        }
    }
}

/* ---- kernel calls -------------------------------------------------------------------- */

static void call_end(struct make *make, uint32_t thread, int64_t ns, int number)
{
    struct make_thread *of = &make->threads[thread];
    struct timeline_call *call;

    if (of->call == TIMELINE_NONE) {
        return;
    }
    call = &make->timeline->calls[of->call];
    of->call = TIMELINE_NONE;
    of->call_owner = 0;
    call->to = ns;
    if (!make_known(make, of->call_epoch) && of->call_epoch < make->epoch) {
        call->to = make->epoch_end[of->call_epoch];
    } else if (number == call->number) {
        call->flags |= TIMELINE_TO;
    }
}

static void call_begin(struct make *make, const struct kev_item *item, uint32_t thread)
{
    struct timeline *timeline = make->timeline;
    struct make_thread *of = &make->threads[thread];
    struct timeline_call *call =
        make_more(make, &timeline->calls, &timeline->ncalls, &make->calls_room, sizeof(*call));

    if (call == NULL) {
        return;
    }
    *call = (struct timeline_call){.from = item->ns,
                                   .to = KEV_NEVER,
                                   .thread = thread,
                                   .number = (uint8_t)(item->number % 128),
                                   .class_id = (uint8_t)item->class_id,
                                   .depth = function_depth(timeline, of->function),
                                   .flags = TIMELINE_FROM};
    if (call->number >= CALL_SYNC_FIRST && call->number <= CALL_SYNC_LAST) {
        const struct kev_value *sync = kev_capture_value_of(timeline->capture, "sync");
        const struct kev_value *owner = kev_capture_value_of(timeline->capture, "owner");

        call->object = sync == NULL ? 0 : sync->number;
        of->call_owner = owner == NULL || call->number == CALL_CONDVAR_WAIT
                             ? 0
                             : (uint32_t)owner->number & 0x7fffffffu;
    }
    of->call = timeline->ncalls - 1;
    of->call_epoch = make->epoch;
}

void calls_event(struct make *make, const struct kev_item *item, const uint32_t *words,
                 unsigned nwords)
{
    bool enter = (item->number & (TRACE_KERCALL_EXIT | TRACE_KERCALL_INT)) == TRACE_KERCALL_ENTER;
    uint32_t thread = make_thread_of(make, item->pid, item->tid, item->ns);

    if (enter) {
        others_in_thread(make, (unsigned)item->cpu, item->ns);
    }
    make->cpus[item->cpu].after_interrupt = false;
    if (enter && item->number % 128 == CALL_TRACE_EVENT &&
        kev_capture_facts(make->timeline->capture)->is_kymo &&
        timeline_hides(words, nwords, (item->number & TRACE_EVENT_64) != 0)) {
        make->timeline->doubt = "a program changed the filters meanwhile: what threads did after "
                                "that is unknown";
        cover_stop(make, item->ns);
    }
    if (thread == TIMELINE_NONE) {
        return;
    }
    call_end(make, thread, item->ns, enter ? -1 : (int)(item->number % 128));
    if (enter) {
        call_begin(make, item, thread);
    }
}

void calls_end(struct make *make)
{
    const struct timeline *timeline = make->timeline;

    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        int64_t end =
            timeline->threads[i].to < timeline->to ? timeline->threads[i].to : timeline->to;

        call_end(make, i, end, -1);
        functions_end(make, i, end, TIMELINE_NONE);
    }
}
