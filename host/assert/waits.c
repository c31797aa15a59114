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
#include "host/kymo.h"
#include "host/verify/verify.h"
#include "trace/slot.h"

enum { WAITS_NEVER = -1 };

struct waiter {          /* by a thread's serial */
    int64_t sent;        /* it is in MsgSend() since then; WAITS_NEVER */
    int64_t since;       /* it is in `wait` since then; WAITS_NEVER */
    int64_t ready, held; /* the newest time when it could have run and did not; it got a CPU then */
    struct flow_state wait; /* for a mutex, a semaphore or a reply */
    int16_t woke;           /* priority at its newest wake-up; -1 */
    bool over;              /* the wait has ended; nothing says yet by whom */
};

struct waits {
    struct assertion *a;
    struct rule *rule;
    struct kev_capture *capture;
    struct flow *flow;
    struct waiter *waiters;
    uint32_t nwaiters;
    struct flow_thread **threads; /* by serial; NULL: gone */
    const struct kev_item *item;
    int64_t most;  /* ns */
    bool messages; /* the rule is --message */
    bool ended, lossy, no_priorities;
    uint64_t unknown; /* long waits of which it is not known who ended them */
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
    snprintf(b->why, sizeof(b->why),
             "kymo why --thread %" PRId32 ":%" PRId32 " --from %" PRId64 "ns --to %" PRId64 "ns",
             thread->pid, thread->tid, from, to);
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
    struct waiter *waiter;
    int64_t took;

    if (step->role == FLOW_POINT || step->thread == NULL || !waits_is_send(step->slice)) {
        return;
    }
    waiter = &w->waiters[step->thread->serial];
    if (step->role == FLOW_BEGIN) {
        waiter->sent = step->ns;
        return;
    }
    took = step->ns - waiter->sent;
    w->rule->checked++;
    if (took > w->most) {
        b = (struct breach){.cpu = w->item->cpu};
        snprintf(b.text, sizeof(b.text), "%" PRId64 ".%06" PRId64 " ms for the reply to a message",
                 took / 1000000, took % 1000000);
        waits_why(&b, step->thread, waiter->sent, step->ns);
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
    late = ns - w->waiters[thread->serial].sent > w->most;
    w->rule->checked += late || ending == FLOW_ABORTED;
    if (late) {
        waits_late(w, thread, w->waiters[thread->serial].sent, ns, ending);
    }
}

/* ---- inversions ---------------------------------------------------------------------- */

static bool waits_counts(int state)
{
    return state == STATE_MUTEX || state == STATE_SEM || state == STATE_REPLY ||
           state == STATE_SEND;
}

static const char *waits_for(int state)
{
    return state == STATE_MUTEX ? "for a mutex"
           : state == STATE_SEM ? "for a semaphore"
                                : "for a reply";
}

static void waits_inverted(struct waits *w, const struct flow_thread *thread,
                           const struct flow_thread *by, int priority, int own, int64_t to)
{
    static struct breach b;
    const struct waiter *waiter = &w->waiters[thread->serial];
    char name[BREACH_NAME];
    int64_t took = to - waiter->since;

    b = (struct breach){.cpu = w->ended ? -1 : w->item->cpu};
    waits_name(w, thread, name);
    snprintf(b.text, sizeof(b.text),
             "%s %" PRId32 ".%" PRId32 " of priority %d waited %" PRId64 ".%06" PRId64
             " ms %s, for this thread of priority %d",
             name, thread->pid, thread->tid, own, took / 1000000, took % 1000000,
             waits_for(waiter->wait.state), priority);
    waits_why(&b, thread, waiter->since, to);
    waits_breach(w, &b, by, to);
}

/* The thread's wait is over, by the cause of its new state. */
static void waits_ended(struct waits *w, const struct flow_thread *thread,
                        const struct flow_state *ready)
{
    const struct waiter *waiter = &w->waiters[thread->serial];
    bool mutex = waiter->wait.state == STATE_MUTEX;
    const struct flow_thread *by = NULL;
    const struct waiter *other;
    int priority;

    if (waiter->since == WAITS_NEVER || ready->since - waiter->since <= w->most ||
        ready->cause == FLOW_CAUSE_INTERRUPT) {
        return;
    }
    by = ready->cause == FLOW_CAUSE_THREAD ? w->threads[ready->by] : NULL;
    if (by == NULL) {
        w->unknown++;
        return;
    }
    other = &w->waiters[by->serial];
    priority = mutex && other->woke >= 0 ? other->woke : by->priority;
    w->no_priorities |= priority < 0 || ready->priority < 0;
    if (priority >= 0 && priority < ready->priority && (mutex || other->held > waiter->since)) {
        waits_inverted(w, thread, by, priority, ready->priority, ready->since);
    }
}

/* A long wait for a mutex whose end is not seen, or that ends with the thread. */
static void waits_unended(struct waits *w, const struct flow_thread *thread, int64_t to)
{
    const struct waiter *waiter = &w->waiters[thread->serial];
    const struct flow_thread *owner =
        waiter->wait.state == STATE_MUTEX ? w->threads[waiter->wait.owner] : NULL;
    int priority;

    w->rule->checked += owner != NULL;
    if (waiter->wait.state != STATE_MUTEX || waiter->since == WAITS_NEVER ||
        to - waiter->since <= w->most) {
        return;
    }
    if (owner == NULL) {
        w->unknown++;
        return;
    }
    priority =
        w->waiters[owner->serial].woke >= 0 ? w->waiters[owner->serial].woke : owner->priority;
    w->no_priorities |= priority < 0 || waiter->wait.priority < 0;
    if (priority >= 0 && priority < waiter->wait.priority) {
        waits_inverted(w, thread, owner, priority, waiter->wait.priority, to);
    }
}

static void waits_begin(void *arg, struct flow_thread *thread, struct flow_state *state)
{
    struct waits *w = arg;
    struct waiter *waiter = &w->waiters[thread->serial];

    if (state->state == STATE_READY) {
        waiter->ready = state->since;
        if (state->cause != FLOW_CAUSE_PREEMPTED && state->begun) {
            w->rule->checked++;
            if (waiter->over) {
                waits_ended(w, thread, state);
            }
            waiter->woke = state->priority;
        }
    } else if (state->state == STATE_RUNNING && waiter->ready != WAITS_NEVER) {
        waiter->held = state->since > waiter->ready ? state->since : waiter->held;
        waiter->ready = WAITS_NEVER;
    } else if (state->state == STATE_DEAD && waiter->over) {
        waits_unended(w, thread, state->since);
    } else if (waits_counts(state->state)) {
        bool goes_on = state->state == STATE_REPLY && waiter->over && /* it has been received */
                       waiter->wait.state == STATE_SEND;

        waiter->since = !state->begun ? WAITS_NEVER : goes_on ? waiter->since : state->since;
        waiter->wait = *state;
    }
    waiter->over = false;
}

static void waits_span(void *arg, const struct flow_thread *thread, const struct flow_state *state,
                       int64_t to, bool ended)
{
    struct waits *w = arg;
    struct waiter *waiter = &w->waiters[thread->serial];

    if (!waits_counts(state->state) || waiter->since == WAITS_NEVER) {
        return;
    }
    waiter->over = ended;
    if (!ended) {
        waits_unended(w, thread, to);
        waiter->since = WAITS_NEVER;
    }
}

/* ---- reading ------------------------------------------------------------------------- */

static void waits_thread(void *arg, struct flow_thread *thread, int64_t ns)
{
    struct waits *w = arg;

    (void)ns;
    if (thread->serial >= w->nwaiters) {
        uint32_t n = 2 * thread->serial + 64;

        w->waiters = kymo_memory(realloc(w->waiters, n * sizeof(*w->waiters)));
        w->threads = kymo_memory(realloc(w->threads, n * sizeof(struct flow_thread *)));
        memset(w->threads + w->nwaiters, 0, (n - w->nwaiters) * sizeof(struct flow_thread *));
        w->nwaiters = n;
    }
    w->threads[thread->serial] = thread;
    w->waiters[thread->serial] = (struct waiter){.sent = WAITS_NEVER,
                                                 .since = WAITS_NEVER,
                                                 .ready = WAITS_NEVER,
                                                 .held = WAITS_NEVER,
                                                 .woke = -1};
}

static void waits_gone(void *arg, const struct flow_thread *thread, int64_t ns)
{
    struct waits *w = arg;

    if (w->waiters[thread->serial].over) { /* it died while it waited */
        waits_unended(w, thread, ns);
    }
    w->threads[thread->serial] = NULL;
}

/* A loss of events that the rule needs. */
static void waits_loss(struct waits *w, const struct kev_item *item)
{
    int32_t id = item->loss->class_id;
    bool needed = id < 0 || id == TRACE_CLASS_PR_TH || trace_class_is_call((unsigned)id) ||
                  (!w->messages && (id == TRACE_CLASS_INT || id == TRACE_CLASS_COMM));

    w->lossy |= needed;
    flow_lose(w->flow, item);
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
    if (w->no_priorities) {
        judge_reason(w->rule, "priorities were not recorded: tracelogger -w does");
    }
    if (w->unknown > 0) {
        snprintf(text, sizeof(text), "who ended %" PRIu64 " long wait%s is not known", w->unknown,
                 w->unknown == 1 ? "" : "s");
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
    int outcome = kev_capture_open(w.capture, a->path);
    char text[1024];

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
    free(w.waiters);
    free(w.threads);
}
