/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready rules --message and --inversion, which are no D programs: what a thread waited for, and
 * who ended it, comes from the flow (host/flow/flow.h), as it does in `kymo why`. A time that has
 * passed is a breach whatever happens later. See assert.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/kercalls.h"
#include "host/assert/assert.h"
#include "host/flow/flow.h"
#include "host/flow/inversion.h"
#include "host/kymo.h"
#include "host/life.h"
#include "host/verify/verify.h"
#include "trace/slot.h"

struct waits {
    struct assertion *a;
    struct rule *rule;
    struct kev_capture *capture;
    struct flow *flow;
    int64_t *sent; /* --message: by serial, since when a thread is in MsgSend(); -1: it isn't */
    uint32_t nsent;
    struct inversions *inversions; /* --inversion */
    const struct kev_item *item;
    int64_t most;  /* ns */
    bool messages; /* the rule is --message */
    bool ended, lossy;
};

/* ---- breaches ------------------------------------------------------------------------ */

static void waits_name(const struct waits *w, const struct flow_thread *thread,
                       char name[BREACH_NAME])
{
    const char *text = kev_capture_name(w->capture, thread->pid, KEV_NOBODY);

    snprintf(name, BREACH_NAME, "%s", text == NULL ? "" : text);
}

/* at: ns since the capture's start. */
static void waits_breach(struct waits *w, struct breach *b, const struct flow_thread *of,
                         int64_t at)
{
    uint64_t start = (uint64_t)((unsigned __int128)w->a->start * 1000000000u / w->a->hz);

    b->ns = start + (uint64_t)at;
    if (of != NULL) {
        b->pid = of->pid;
        b->tid = of->tid;
        waits_name(w, of, b->name);
    }
    out_breach(w->a, w->rule, b);
}

/* The command that shows why a thread waited. */
static void waits_why(struct breach *b, const struct flow_thread *thread, int64_t from, int64_t to)
{
    life_why(thread->pid, thread->tid, from, to, b->why, sizeof(b->why));
}

static void waits_late(struct waits *w, const struct flow_thread *thread, int64_t from, int64_t to,
                       enum flow_ending ending)
{
    static struct breach b;
    int64_t late = to - from - w->most;

    b = (struct breach){.cpu = -1};
    snprintf(b.text, sizeof(b.text), "due now, and not done %" PRId64 ".%06" PRId64 " ms later, %s",
             late / 1000000, late % 1000000,
             ending == FLOW_ABORTED ? "when the thread was gone"
             : w->ended             ? "at the end"
                                    : "where what is known of it ends");
    waits_why(&b, thread, from, to);
    waits_breach(w, &b, thread, from + w->most);
}

/* ---- messages ------------------------------------------------------------------------ */

static bool waits_is_send(const struct flow_open *open)
{
    return open->kind == FLOW_CALL &&
           (open->what == __KER_MSG_SENDV || open->what == __KER_MSG_SENDVNC);
}

static void waits_message_step(struct waits *w, const struct flow_step *step)
{
    static struct breach b;
    int64_t *sent, took;

    if (step->role == FLOW_POINT || step->thread == NULL || !waits_is_send(step->slice)) {
        return;
    }
    sent = &w->sent[step->thread->serial];
    if (step->role == FLOW_BEGIN) {
        *sent = step->ns;
        return;
    }
    took = step->ns - *sent;
    w->rule->checked++;
    if (took > w->most) {
        b = (struct breach){.cpu = w->item->cpu};
        snprintf(b.text, sizeof(b.text), "%" PRId64 ".%06" PRId64 " ms for the reply to a message",
                 took / 1000000, took % 1000000);
        waits_why(&b, step->thread, *sent, step->ns);
        waits_breach(w, &b, step->thread, step->ns);
    }
}

static void waits_close(void *arg, const struct flow_thread *thread, int cpu,
                        const struct flow_open *open, int64_t ns, enum flow_ending ending)
{
    struct waits *w = arg;
    bool late;

    (void)cpu;
    if (thread == NULL || !waits_is_send(open) || ending == FLOW_UNSEEN) {
        return;
    }
    late = ns - w->sent[thread->serial] > w->most;
    w->rule->checked += late || ending == FLOW_ABORTED;
    if (late) {
        waits_late(w, thread, w->sent[thread->serial], ns, ending);
    }
}

/* ---- inversions ---------------------------------------------------------------------- */

static void waits_inverted(void *arg, const struct inversion *found)
{
    static struct breach b;
    struct waits *w = arg;
    char name[BREACH_NAME];
    int64_t took = found->to - found->from;

    b = (struct breach){.cpu = w->ended ? -1 : w->item->cpu};
    waits_name(w, found->thread, name);
    snprintf(b.text, sizeof(b.text),
             "%s %" PRId32 ".%" PRId32 " of priority %d waited %" PRId64 ".%06" PRId64
             " ms %s, for this thread of priority %d",
             name, found->thread->pid, found->thread->tid, found->own, took / 1000000,
             took % 1000000, inversion_for(found->state), found->priority);
    waits_why(&b, found->thread, found->from, found->to);
    waits_breach(w, &b, found->by, found->to);
}

static void waits_checked(void *arg)
{
    struct waits *w = arg;

    w->rule->checked++;
}

static void waits_begin(void *arg, struct flow_thread *thread, struct flow_state *state)
{
    struct waits *w = arg;

    inversion_begin(w->inversions, thread, state);
}

static void waits_span(void *arg, const struct flow_thread *thread, const struct flow_state *state,
                       int64_t to, bool ended)
{
    struct waits *w = arg;

    inversion_span(w->inversions, thread, state, to, ended);
}

static void waits_gone(void *arg, const struct flow_thread *thread, int64_t ns)
{
    struct waits *w = arg;

    inversion_gone(w->inversions, thread, ns);
}

/* ---- reading ------------------------------------------------------------------------- */

static void waits_thread(void *arg, struct flow_thread *thread, int64_t ns)
{
    struct waits *w = arg;

    (void)ns;
    if (!w->messages) {
        inversion_thread(w->inversions, thread);
        return;
    }
    if (thread->serial >= w->nsent) {
        w->nsent = 2 * thread->serial + 64;
        w->sent = kymo_memory(realloc(w->sent, w->nsent * sizeof(*w->sent)));
    }
    w->sent[thread->serial] = -1;
}

/* A loss of events that the rule needs. */
static void waits_loss(struct waits *w, const struct kev_item *item)
{
    int32_t id = item->loss->class_id;
    bool needed = id < 0 || id == TRACE_CLASS_PR_TH || trace_class_is_call((unsigned)id) ||
                  (!w->messages && (id == TRACE_CLASS_INT || id == TRACE_CLASS_COMM));

    w->lossy |= needed;
    flow_lose(w->flow, item);
    if (needed && !w->messages) {
        inversion_lose(w->inversions);
    }
}

static int waits_read(struct waits *w)
{
    uint64_t bytes = kev_capture_facts(w->capture)->bytes, n = 0;
    struct flow_step step;
    int outcome = KEV_GIVEN;

    while ((outcome = kev_capture_next(w->capture, &w->item)) == KEV_GIVEN) {
        if (w->item->kind == KEV_ITEM_LOSS) {
            waits_loss(w, w->item);
        } else if (w->item->kind == KEV_ITEM_EVENT) {
            if (flow_take(w->flow, w->item, &step) != 0) {
                kymo_no_memory();
            }
            if (w->messages) {
                waits_message_step(w, &step);
            }
            if (n++ % KEV_PROGRESS_EVENTS == 0) {
                kymo_progress("checking", w->item->offset, bytes);
            }
        }
    }
    w->ended = true;
    flow_end(w->flow);
    kymo_progress_end();
    return outcome;
}

/* The reasons for which what the rule found may not be all. */
static void waits_doubts(struct waits *w, const char *first)
{
    const struct inversion_doubts *doubts = w->messages ? NULL : inversion_doubts(w->inversions);
    struct flow_filters filters;
    char text[160];

    flow_filters(w->capture, &filters);
    if (filters.no_threads && !filters.gate) {
        judge_reason(w->rule, "THREAD events were not recorded");
    }
    if (flow_without_calls(w->flow)) { /* without, who ended a wait is not known either */
        judge_reason(w->rule, "KERCALL events were not recorded, or not all the time");
    }
    if (filters.set && !w->a->accept_unknown) {
        judge_reason(w->rule, "applications set the filters (--accept unknown)");
    }
    if (flow_doubt(w->flow) != first) {
        judge_reason(w->rule, flow_doubt(w->flow));
    }
    if (w->lossy) {
        judge_reason(w->rule, "events that the rule needs were lost");
    }
    if (doubts != NULL && doubts->no_priorities) {
        judge_reason(w->rule, "priorities were not recorded: tracelogger -w does");
    }
    if (doubts != NULL && doubts->unknown > 0) {
        snprintf(text, sizeof(text), "who ended %" PRIu64 " long wait%s is not known",
                 doubts->unknown, doubts->unknown == 1 ? "" : "s");
        judge_reason(w->rule, text);
    }
}

void waits_rule(struct assertion *a, struct rule *rule)
{
    static const struct flow_ops messages = {.thread = waits_thread, .close = waits_close};
    static const struct flow_ops inversions = {
        .thread = waits_thread, .begin = waits_begin, .span = waits_span, .gone = waits_gone};
    struct waits w = {.a = a,
                      .rule = rule,
                      .capture = kymo_memory(kev_capture_new()),
                      .most = (int64_t)strtoull(rule->args[0], NULL, 10),
                      .messages = strcmp(rule->source, "message") == 0};
    static const struct inversion_ops judged = {.found = waits_inverted, .checked = waits_checked};
    int outcome = kev_capture_open(w.capture, a->path);
    char text[1024];

    w.inversions = inversion_new(&judged, &w, w.most);
    if (outcome != KEV_FAILED) {
        const char *first;

        w.flow = kymo_memory(flow_new(w.capture, false, w.messages ? &messages : &inversions, &w));
        first = flow_doubt(w.flow);
        outcome = waits_read(&w);
        waits_doubts(&w, first);
        flow_free(w.flow);
    }
    if (outcome == KEV_FAILED) {
        verify_fault_text(kev_capture_fault(w.capture), VERIFY_CUT, text, sizeof(text));
        judge_reason(rule, text);
    }
    rule->has_checked = rule->done = true;
    kev_capture_free(w.capture);
    inversion_free(w.inversions);
    free(w.sent);
}
