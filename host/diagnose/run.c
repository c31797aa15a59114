/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a capture once, gives what the flow makes of it to the families of findings, and keeps what
 * they find. See diagnose.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/diagnose/own.h"
#include "host/event_numbers.h"
#include "host/kymo.h"
#include "host/life.h"
#include "host/verify/verify.h"
#include "trace/slot.h"

static const struct {
    const char *name, *title, *unit;
    uint32_t needs, rests;
} run_kinds[FINDINGS] = {
#define NS "ns"
#define COUNT "count"
#define FINDING(id, name, title, unit, needs, rests) {name, title, unit, needs, rests},
#include "host/diagnose/findings.def"
#undef FINDING
#undef NS
#undef COUNT
};

static const struct family *const run_families[] = {
    &family_crash,     &family_blocked, &family_messages,
    &family_inversion, &family_cpu,     &family_counts,
};
#define RUN_FAMILIES (sizeof(run_families) / sizeof(run_families[0]))

_Static_assert(RUN_FAMILIES <= 8, "struct diagnosis has room for each");

const char *finding_name(enum finding_kind kind)
{
    return run_kinds[kind].name;
}

const char *finding_title(enum finding_kind kind)
{
    return run_kinds[kind].title;
}

const char *finding_unit(enum finding_kind kind)
{
    return run_kinds[kind].unit;
}

const char *finding_confidence(enum finding_kind kind)
{
    return run_kinds[kind].rests & D_SIGN ? "sign" : "certain";
}

/* ---- for the families ---------------------------------------------------------------- */

void *diagnosis_grow(void *array, uint32_t *room, uint32_t serial, size_t bytes)
{
    if (serial >= *room) {
        uint32_t n = 2 * serial + 64;

        array = kymo_memory(realloc(array, n * bytes));
        memset((char *)array + *room * bytes, 0, (n - *room) * bytes);
        *room = n;
    }
    return array;
}

const char *diagnosis_process_name(const struct diagnosis *d, int32_t pid)
{
    const char *name = kev_capture_name(d->capture, pid, KEV_NOBODY);

    return name == NULL ? "" : name;
}

const char *diagnosis_name(const struct diagnosis *d, const struct flow_thread *thread,
                           char text[96])
{
    const char *name = diagnosis_process_name(d, thread->pid);

    snprintf(text, 96, "%.40s%s%" PRId32 ":%" PRId32, name, name[0] == '\0' ? "" : " ", thread->pid,
             thread->tid);
    return text;
}

const char *diagnosis_process(const struct diagnosis *d, int32_t pid, char text[96])
{
    const char *name = diagnosis_process_name(d, pid);

    snprintf(text, 96, "process %" PRId32 "%s%.40s", pid, name[0] == '\0' ? "" : " ", name);
    return text;
}

struct finding diagnosis_finding(struct diagnosis *d, enum finding_kind kind,
                                 const struct flow_thread *thread, int64_t from, int64_t to)
{
    struct finding f = {
        .kind = kind, .count = 1, .from = from, .to = to, .pid = -1, .tid = -1, .cpu = -1};

    if (thread != NULL) {
        f.pid = thread->pid;
        f.tid = thread->tid;
        f.life = thread->serial;
        snprintf(f.name, sizeof(f.name), "%s", diagnosis_process_name(d, f.pid));
        life_why(f.pid, f.tid, from, to, f.why, sizeof(f.why));
    }
    return f;
}

void diagnosis_add(struct diagnosis *d, const struct finding *f)
{
    struct finding *all = d->found[f->kind], *least = NULL;
    unsigned *n = &d->nfound[f->kind];
    uint32_t rests = run_kinds[f->kind].rests;
    uint64_t count;

    if (!(d->only >> f->kind & 1) ||
        (!(rests & D_PRESENT) && (d->partial || (d->filtered && rests & D_WHOLE)))) {
        return;
    }
    for (unsigned i = 0; i < *n; i++) {
        if (all[i].pid == f->pid && all[i].tid == f->tid && all[i].cpu == f->cpu &&
            all[i].part == f->part && all[i].life == f->life && f->kind != FINDING_CRASH) {
            count = all[i].count + f->count;
            all[i] = f->harm > all[i].harm ? *f : all[i];
            all[i].count = count;
            return;
        }
        least = least == NULL || all[i].harm < least->harm ? &all[i] : least;
    }
    if (*n < FINDING_MOST) {
        all[(*n)++] = *f;
    } else if (f->harm > least->harm) {
        *least = *f;
    }
}

void diagnosis_untold(struct diagnosis *d, enum finding_kind kind, const char *reason,
                      const char *remedy)
{
    struct untold *u = &d->untold[kind];

    if (u->reason[0] == '\0' && d->only >> kind & 1) {
        snprintf(u->reason, sizeof(u->reason), "%s", reason);
        snprintf(u->remedy, sizeof(u->remedy), "%s", remedy);
    }
}

/* ---- what the flow gives -------------------------------------------------------------- */

static void run_thread(void *arg, struct flow_thread *thread, int64_t ns)
{
    struct diagnosis *d = arg;

    (void)ns;
    d->threads =
        diagnosis_grow(d->threads, &d->nthreads, thread->serial, sizeof(struct flow_thread *));
    d->threads[thread->serial] = thread;
    d->living = diagnosis_grow(d->living, &d->living_room, d->nliving, sizeof(*d->living));
    thread->mark = d->nliving;
    d->living[d->nliving++] = thread->serial;
    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->each > 0) {
            struct family_each *each = d->self[i];

            each->all =
                diagnosis_grow(each->all, &each->room, thread->serial, run_families[i]->each);
        }
        if (run_families[i]->thread != NULL) {
            run_families[i]->thread(d, d->self[i], thread);
        }
    }
}

static void run_gone(void *arg, const struct flow_thread *thread, int64_t ns)
{
    struct diagnosis *d = arg;

    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->gone != NULL) {
            run_families[i]->gone(d, d->self[i], thread, ns);
        }
    }
    d->living[thread->mark] = d->living[--d->nliving]; /* another one, or itself */
    d->threads[d->living[thread->mark]]->mark = thread->mark;
    d->threads[thread->serial] = NULL;
}

static void diagnose_run_begin(void *arg, struct flow_thread *thread, struct flow_state *state)
{
    struct diagnosis *d = arg;

    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->begin != NULL) {
            run_families[i]->begin(d, d->self[i], thread, state);
        }
    }
}

static void run_span(void *arg, const struct flow_thread *thread, const struct flow_state *state,
                     int64_t to, bool ended)
{
    struct diagnosis *d = arg;

    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->span != NULL) {
            run_families[i]->span(d, d->self[i], thread, state, to, ended);
        }
    }
}

/* ---- what can't be told --------------------------------------------------------------- */

static uint32_t run_class(int32_t id)
{
    return id < 0                              ? UINT32_MAX
           : id == TRACE_CLASS_PR_TH           ? D_THREAD
           : id == TRACE_CLASS_COMM            ? D_COMM
           : id == TRACE_CLASS_INT             ? D_INT
           : id == TRACE_CLASS_SYSTEM          ? D_SYSTEM
           : trace_class_is_call((unsigned)id) ? D_CALLS
           : id == TRACE_CLASS_CONTROL         ? UINT32_MAX
                                               : 0;
}

static void run_missing(struct diagnosis *d, uint32_t classes, const char *reason,
                        const char *remedy)
{
    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        if (run_kinds[kind].needs & classes) {
            diagnosis_untold(d, kind, reason, remedy);
        }
    }
}

static void run_process_ended(struct diagnosis *d, int32_t pid)
{
    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->ended != NULL) {
            run_families[i]->ended(d, d->self[i], pid);
        }
    }
}

static void run_lose(struct diagnosis *d)
{
    const struct kev_loss *loss = d->item->loss;
    struct finding f = diagnosis_finding(d, FINDING_LOST, NULL, d->now, d->now);

    d->lossy |= run_class(loss->class_id) != 0;
    flow_lose(d->flow, d->item);
    d->losses++;
    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->lose != NULL) {
            run_families[i]->lose(d, d->self[i]);
        }
    }
    if (run_class(loss->class_id) & D_THREAD) {
        run_process_ended(d, -1);
    }
    f.cpu = d->item->cpu;
    f.harm = (int64_t)(loss->events ? loss->events : 1);
    snprintf(f.text, sizeof(f.text), "%s", loss->text);
    diagnosis_add(d, &f);
    run_missing(d, run_class(loss->class_id), "events of a class that it needs were lost",
                "record with more buffers: tracelogger -k");
}

/* Takes a limit that the capture states before its events. run_doubts() tells which classes a
 * filter left out; rings and cuts begin late, and nothing is missing after that. */
static void run_scope(struct diagnosis *d, const struct kev_loss *scope)
{
    const char *remedy = scope->kind == KEV_SCOPE_GATE     ? "record without a gate"
                         : scope->kind == KEV_SCOPE_PAUSES ? "record without pauses"
                         : scope->kind == KEV_SCOPE_UNKNOWN
                             ? "let tracelogger set the filters, no application"
                         : scope->kind == KEV_SCOPE_FOREIGN ? "Kymo's own captures count losses"
                                                            : NULL;
    char reason[160];

    d->late |= scope->kind != KEV_SCOPE_FILTER;
    if (remedy != NULL) {
        d->partial = true;
        snprintf(reason, sizeof(reason), "filters of the recording: %.130s", scope->text);
        run_missing(d, UINT32_MAX, reason, remedy);
    } else if (scope->kind == KEV_SCOPE_FILTER) { /* it may have left out any other end */
        d->filtered = true;
        snprintf(reason, sizeof(reason), "recorded were %.140s", scope->text);
        for (unsigned kind = 0; kind < FINDINGS; kind++) {
            if (run_kinds[kind].rests & D_WHOLE) {
                diagnosis_untold(d, kind, reason, "record all classes, see tracelogger(1)");
            }
        }
    }
}

static void run_doubts(struct diagnosis *d)
{
    struct flow_filters filters;
    const char *doubt = flow_doubt(d->flow), *all = "record all classes, see tracelogger(1)";

    flow_filters(d->capture, &filters);
    if (filters.no_threads) {
        run_missing(d, D_THREAD, "class THREAD was not recorded", all);
    }
    if (filters.no_calls || flow_without_calls(d->flow)) {
        run_missing(d, D_CALLS, "class KER_CALL was not recorded, or not all the time", all);
    }
    if (filters.no_messages) {
        run_missing(d, D_COMM, "class COMM was not recorded", all);
    }
    if (filters.no_interrupts) {
        run_missing(d, D_INT, "class INT was not recorded", all);
    }
    if (doubt != NULL) {
        run_missing(d, UINT32_MAX, doubt, "record without a gate and filters");
    }
}

/* ---- reading --------------------------------------------------------------------------- */

static void run_event(struct diagnosis *d)
{
    const uint32_t *words;
    struct flow_step step;

    if (flow_take(d->flow, d->item, &step) != 0) {
        kymo_no_memory();
    }
    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->step != NULL) {
            run_families[i]->step(d, d->self[i], &step);
        }
    }
    if (d->item->class_id == TRACE_CLASS_PR_TH && d->item->code == NUMBER_proc_destroy &&
        kev_capture_words(d->capture, &words) >= 2) {
        run_process_ended(d, (int32_t)words[1]);
    }
}

static int run_read(struct diagnosis *d)
{
    uint64_t bytes = kev_capture_facts(d->capture)->bytes, n = 0;
    struct flow_filters filters;
    int outcome;

    flow_filters(d->capture, &filters);
    d->partial = filters.gate || filters.set;
    while ((outcome = kev_capture_next(d->capture, &d->item)) == KEV_GIVEN) {
        d->now = d->item->ns > d->now ? d->item->ns : d->now;
        if (d->item->kind == KEV_ITEM_SCOPE) {
            run_scope(d, d->item->loss);
        } else if (d->item->kind == KEV_ITEM_LOSS) {
            run_lose(d);
        } else if (d->item->kind == KEV_ITEM_EVENT) {
            run_event(d);
            if (n++ % KEV_PROGRESS_EVENTS == 0) {
                kymo_progress("diagnosing", d->item->offset, bytes);
            }
        }
    }
    kymo_progress_end();
    d->ended = outcome != KEV_FAILED;
    flow_end(d->flow);
    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        if (run_families[i]->end != NULL && d->ended) {
            run_families[i]->end(d, d->self[i]);
        }
        if (run_families[i]->stop != NULL) {
            run_families[i]->stop(d->self[i]);
        } else {
            if (run_families[i]->each > 0) {
                free(((struct family_each *)d->self[i])->all);
            }
            free(d->self[i]);
        }
    }
    return outcome;
}

static int run_by_harm(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;

    return left->harm > right->harm ? -1 : left->harm < right->harm;
}

static void run_result(struct diagnosis *d, struct diagnosis_result *result)
{
    unsigned total = 0;

    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        total += d->nfound[kind];
    }
    result->findings = kymo_memory(calloc(total + 1, sizeof(*result->findings)));
    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        qsort(d->found[kind], d->nfound[kind], sizeof(struct finding), run_by_harm);
        memcpy(result->findings + result->count, d->found[kind],
               d->nfound[kind] * sizeof(struct finding));
        result->count += d->nfound[kind];
    }
}

int diagnose_run(struct kev_capture *capture, uint32_t only, struct diagnosis_result *result)
{
    static const struct flow_ops ops = {
        .thread = run_thread, .gone = run_gone, .begin = diagnose_run_begin, .span = run_span};
    struct diagnosis *d = kymo_memory(calloc(1, sizeof(*d)));
    int outcome;

    *result = (struct diagnosis_result){.count = 0};
    d->capture = capture;
    d->only = only;
    d->untold = result->untold;
    d->flow = kymo_memory(flow_new(capture, false, &ops, d));
    for (unsigned i = 0; i < RUN_FAMILIES; i++) {
        d->self[i] = run_families[i]->start != NULL
                         ? run_families[i]->start(d)
                         : kymo_memory(calloc(1, run_families[i]->bytes));
    }
    outcome = run_read(d);
    if (outcome == KEV_FAILED) {
        verify_fault_text(kev_capture_fault(capture), VERIFY_CUT, result->fault,
                          sizeof(result->fault));
        for (unsigned kind = 0; kind < FINDINGS; kind++) {
            diagnosis_untold(d, kind, "the capture could not be read to its end",
                             "kymo verify says what is wrong");
        }
    }
    run_doubts(d);
    run_result(d, result);
    flow_free(d->flow);
    free(d->threads);
    free(d->living);
    free(d);
    return outcome;
}

void diagnose_free(struct diagnosis_result *result)
{
    free(result->findings);
}
