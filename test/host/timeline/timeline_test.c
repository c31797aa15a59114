/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline says only what it knows: captures of a simulated system
 * (test/host/fabricate/model.h) lose events in every way that a capture can; every span must be
 * what really happened, and none is unknown that `kymo stat`, which keeps its own account, knows.
 * ROUNDS=n runs more, SEED=n begins with that one.
 */
#include <stdlib.h>
#include <string.h>

#include "host/pr_th.h"
#include "host/stat/stat.h"
#include "host/timeline/timeline.h"
#include "test/host/fabricate/model.h"
#include "test/host/support.h"

#define ROUNDS 40
#define EVENTS 600
#define FUNC_ENTER 10
#define FUNC_EXIT 11
#define NS_OF_CYCLE 1000 /* mkcapture's clock has 1 MHz */

/* How a capture is made of the model's events. Percentages. */
struct cut {
    const char *name;
    unsigned buffer;     /* events in one at most */
    unsigned ring;       /* of the first events of each CPU are gone */
    unsigned lost;       /* chance of a buffer */
    bool quiet;          /* without DROPPED */
    const char *filters; /* FILTER_1 */
};

static const struct cut cuts[] = {
    {.name = "whole", .buffer = 100},
    {.name = "small buffers", .buffer = 7},
    {.name = "ring", .buffer = 20, .ring = 80},
    {.name = "overwritten", .buffer = 15, .lost = 15},
    {.name = "missing", .buffer = 15, .lost = 10, .quiet = true},
    {.name = "ring with losses", .buffer = 12, .ring = 40, .lost = 8},
    {.name = "gate", .buffer = 50, .filters = "gate slow.dif"},
    {.name = "no threads", .buffer = 50, .filters = "all classes without THREAD"},
};
#define CUTS (sizeof(cuts) / sizeof(cuts[0]))

struct made {
    const struct model *model;
    const struct cut *cut;
    uint64_t random;
    struct mk *mk;
    struct kev_capture *capture;
    struct timeline *timeline;
    uint64_t start; /* cycles at which ns is 0 */
};

static const char *failing = "";
static uint64_t failing_seed;

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fail_msg("%s, SEED=%llu: %s", failing, (unsigned long long)failing_seed, #what); \
        } \
    } while (0)

static unsigned chance(struct made *made)
{
    made->random = made->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(made->random >> 33) % 100;
}

/* ---- the capture ------------------------------------------------------------------- */

static void slot(struct mk *mk, unsigned cpu, uint64_t time, unsigned class, unsigned number,
                 uint32_t a, uint32_t b)
{
    struct mk_cpu *c = &mk->cpu[cpu];

    c->buffer[c->slots++] =
        (struct trace_slot){TRACE_HEADER(cpu, TRACE_STRUCT_S, class, number), (uint32_t)time, a, b};
}

static void time_slot(struct mk *mk, unsigned cpu, uint64_t time)
{
    mk->cpu[cpu].high = (uint32_t)(time >> 32);
    slot(mk, cpu, time, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME, (uint32_t)(time >> 32),
         (uint32_t)time);
}

static void buffer_begin(struct mk *mk, unsigned cpu, uint64_t time, uint32_t dropped[KEV_CLASSES])
{
    mk->cpu[cpu].slots = 0;
    slot(mk, cpu, time, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER, mk->cpu[cpu].sequence, 0);
    time_slot(mk, cpu, time);
    for (unsigned class = 0; class < KEV_CLASSES; class ++) {
        if (dropped[class] > 0) {
            slot(mk, cpu, ++time, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED,
                 (uint32_t)KYMO_DROP_OVERWRITTEN << 8 | class, dropped[class]);
            dropped[class] = 0;
        }
    }
}

static void cpu_make(struct made *made, unsigned cpu)
{
    const struct model *model = made->model;
    uint32_t dropped[KEV_CLASSES] = {0};
    bool told = true;
    unsigned at = model->nevents * (made->cut->ring * chance(made) / 100) / 100;

    made->mk->cpu[cpu].sequence = at > 0 ? 7 : 0;
    while (at < model->nevents) {
        unsigned left = 1 + chance(made) * made->cut->buffer / 100;
        bool lose = chance(made) < made->cut->lost, open = false;

        made->mk->cpu[cpu].sequence++;
        for (; at < model->nevents && left > 0; at++) {
            const struct model_event *event = &model->events[at];

            if (event->cpu != cpu) {
                continue;
            }
            left--;
            if (lose) {
                dropped[event->class] += !made->cut->quiet;
                told = false;
                continue;
            }
            if (!open) {
                buffer_begin(made->mk, cpu, event->time - MODEL_STEP / 2, dropped);
                open = told = true;
            }
            if (event->time >> 32 != made->mk->cpu[cpu].high) {
                time_slot(made->mk, cpu, event->time);
            }
            slot(made->mk, cpu, event->time, event->class, event->number, event->words[0],
                 event->words[1]);
        }
        if (open) {
            mk_flush(made->mk, cpu);
        }
    }
    if (!told && !made->cut->quiet) {
        made->mk->cpu[cpu].sequence++;
        buffer_begin(made->mk, cpu, model->now, dropped);
        mk_flush(made->mk, cpu);
    }
}

static void made_new(struct made *made, const struct model *model, const struct cut *cut,
                     uint64_t seed)
{
    *made = (struct made){.model = model, .cut = cut, .random = seed};
    made->mk =
        mk_new(&(struct mk_options){.ncpu = model->ncpu,
                                    .filters = cut->filters == NULL ? "all classes" : cut->filters,
                                    .checked = true});
    for (unsigned cpu = 0; cpu < model->ncpu; cpu++) {
        cpu_make(made, cpu);
    }
    mk_end(made->mk);
    mk_keep(made->mk);
    made->capture = kev_capture_new();
    CHECK(kev_capture_open_memory(made->capture, made->mk->bytes, made->mk->len, "made") ==
          KEV_COMPLETE);
    made->start = kev_capture_facts(made->capture)->start;
    made->timeline = timeline_new(made->capture, NULL, NULL);
    assert_non_null(made->timeline);
    CHECK(made->timeline->outcome != KEV_FAILED);
}

static void made_free(struct made *made)
{
    timeline_free(made->timeline);
    kev_capture_free(made->capture);
    mk_free(made->mk);
}

/* ---- what must hold ---------------------------------------------------------------- */

static int64_t ns_of(const struct made *made, uint64_t cycles)
{
    return cycles == UINT64_MAX ? KEV_NEVER
                                : ((int64_t)cycles - (int64_t)made->start) * NS_OF_CYCLE;
}

/* The model's thread; it has one life of each id. */
static int thread_of(const struct made *made, uint32_t thread)
{
    for (unsigned i = 0; i < made->model->nthreads; i++) {
        if (made->model->threads[i].pid == made->timeline->threads[thread].pid &&
            made->model->threads[i].tid == made->timeline->threads[thread].tid) {
            return (int)i;
        }
    }
    return -1;
}

/* What really happened between two times was this and nothing else. */
static void span_check(const struct made *made, const struct timeline_span *span)
{
    int thread = thread_of(made, span->thread);

    CHECK(span->from <= span->to);
    if (span->state == TIMELINE_UNKNOWN) {
        CHECK(span->flags == 0);
        return;
    }
    for (unsigned i = 0; i < made->model->nsegments; i++) {
        const struct model_segment *truth = &made->model->segments[i];
        int64_t from = ns_of(made, truth->time), to = ns_of(made, truth->end);

        if (truth->thread == thread && from < span->to && to > span->from && from < to) {
            CHECK(truth->state == span->state);
            CHECK(truth->state != STATE_RUNNING || truth->cpu == span->cpu);
            /* Bounds that are called known are those of the truth. */
            CHECK(!(span->flags & TIMELINE_FROM) || i == 0 || from <= span->from);
            CHECK(!(span->flags & TIMELINE_TO) || to == span->to || to > span->to);
        }
    }
}

static void threads_check(const struct made *made)
{
    const struct timeline *timeline = made->timeline;

    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        const struct timeline_thread *thread = &timeline->threads[i];
        int64_t at = thread->from;

        CHECK(thread_of(made, i) >= 0);
        for (uint32_t n = 0; n < thread->count; n++) {
            const struct timeline_span *span = timeline_span(timeline, i, n);

            CHECK(span->thread == i && span->from == at);
            at = span->to;
            span_check(made, span);
            CHECK(span->from == span->to || timeline_span_at(timeline, i, span->from) == span);
            /* With all events here, only what came before the first of them can be unknown. */
            CHECK(made->cut->lost > 0 || made->cut->ring > 0 || made->cut->filters != NULL ||
                  span->state != TIMELINE_UNKNOWN || n == 0);
        }
        CHECK(at == timeline->to);
        CHECK(timeline_span_at(timeline, i, at) == NULL);
    }
}

static void cpus_check(const struct made *made)
{
    const struct timeline *timeline = made->timeline;

    for (unsigned cpu = 0; cpu < timeline->cpus; cpu++) {
        int64_t at = KEV_EVER;

        for (uint32_t n = timeline->cpu_first[cpu]; n < timeline->cpu_first[cpu + 1]; n++) {
            const struct timeline_span *run = &timeline->spans[timeline->by_cpu[n]];

            CHECK(run->state == STATE_RUNNING && run->cpu == (int)cpu && run->from >= at);
            at = run->to;
            CHECK(run->from == run->to || timeline_run_find(timeline, cpu, run->from) == n);
        }
    }
}

static void messages_check(const struct made *made)
{
    const struct timeline *timeline = made->timeline;
    const struct model *model = made->model;
    bool whole = made->cut->lost == 0 && made->cut->ring == 0 && made->cut->filters == NULL;
    unsigned known = 0;

    for (uint32_t i = 0; i < timeline->nmessages; i++) {
        const struct timeline_message *message = &timeline->messages[i];
        const struct model_message *truth = NULL;

        for (unsigned n = 0; n < model->nmessages; n++) {
            if (ns_of(made, model->messages[n].sent) == message->sent) {
                truth = &model->messages[n];
            }
        }
        assert_non_null(truth);
        CHECK(truth->to == message->server_pid);
        CHECK(message->client == TIMELINE_NONE ||
              thread_of(made, message->client) == truth->client);
        CHECK(message->server == TIMELINE_NONE ||
              thread_of(made, message->server) == truth->server);
        CHECK(message->received == KEV_NEVER || message->received == ns_of(made, truth->received));
        CHECK(message->replied == KEV_NEVER || message->replied == ns_of(made, truth->replied));
        CHECK(!whole || message->client == TIMELINE_NONE || truth->received == 0 ||
              message->server != TIMELINE_NONE);
        known += message->client != TIMELINE_NONE;
    }
    CHECK(!whole || timeline->nmessages == model->nmessages);
    CHECK(!whole || known + 2 * model->ncpu >= model->nmessages);
}

/* `kymo stat` knows as much, and no more; RUNNING it counts only while all CPUs are covered. */
static void stat_check(const struct made *made)
{
    struct stat *stat = stat_new(support_open(made->mk, NULL));
    const struct timeline *timeline = made->timeline;
    struct kev_event event;
    struct kev_error error;

    while (kev_next(stat->kev, &event, &error) == KEV_EVENT) {
        stat_event(stat, &event);
    }
    stat_finish(stat);
    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        const struct timeline_thread *thread = &timeline->threads[i];
        const struct thread *other = thread_find(stat, thread->pid, thread->tid);
        uint64_t time[STATE_MAX] = {0};

        for (uint32_t n = 0; n < thread->count; n++) {
            const struct timeline_span *span = timeline_span(timeline, i, n);

            if (span->state < STATE_MAX) {
                time[span->state] += (uint64_t)(span->to - span->from);
            }
        }
        for (unsigned state = 0; state < STATE_MAX; state++) {
            CHECK(state == STATE_RUNNING ? time[state] >= other->time[state] * NS_OF_CYCLE
                                         : time[state] == other->time[state] * NS_OF_CYCLE);
        }
    }
    kev_close(stat->kev);
    stat_free(stat);
    free(stat);
}

static void losses_known(void **state)
{
    const char *more = getenv("ROUNDS"), *first = getenv("SEED");
    unsigned rounds = more == NULL ? ROUNDS : (unsigned)atoi(more);
    uint64_t seed = first == NULL ? 1 : strtoull(first, NULL, 10);

    (void)state;
    for (unsigned round = 0; round < rounds; round++, seed++) {
        struct model *model = model_run(1 + (unsigned)(seed % MODEL_CPUS), EVENTS, seed);

        for (unsigned i = 0; i < CUTS; i++) {
            struct made made;

            failing = cuts[i].name;
            failing_seed = seed;
            made_new(&made, model, &cuts[i], seed * 31 + i);
            threads_check(&made);
            cpus_check(&made);
            messages_check(&made);
            if (cuts[i].filters == NULL) {
                stat_check(&made);
            }
            CHECK((cuts[i].filters != NULL) == (made.timeline->doubt != NULL));
            made_free(&made);
        }
        model_free(model);
    }
}

/* ---- planted ----------------------------------------------------------------------- */

static void put(struct mk *mk, unsigned class, unsigned number, uint32_t a, uint32_t b)
{
    uint32_t words[2] = {a, b};

    mk_event(mk, 0, 10, class, number, words, 2);
}

static struct timeline *read_all(struct mk *mk, struct kev_capture **capture)
{
    mk_flush_all(mk);
    mk_end(mk);
    mk_keep(mk);
    *capture = kev_capture_new();
    assert_int_equal(kev_capture_open_memory(*capture, mk->bytes, mk->len, "made"), KEV_COMPLETE);
    return timeline_new(*capture, NULL, NULL);
}

#define TH(state, pid, tid) put(mk, TRACE_CLASS_PR_TH, state, pid, tid)

/* An interrupt wakes a thread, which wakes another; the first id is used again. */
static void causes_and_lives(void **state)
{
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    struct timeline *timeline;
    const struct timeline_span *span;
    uint32_t words[2] = {0x4000, 5};

    (void)state;
    TH(STATE_RUNNING, 1, 1);
    TH(STATE_READY, 5, 5);
    put(mk, TRACE_CLASS_INT, 1, 27, 0);
    put(mk, TRACE_CLASS_INT, 1, 27, 0);
    put(mk, TRACE_CLASS_INT, 2, 27, 0);
    put(mk, TRACE_CLASS_INT, 2, 27, 0);
    TH(STATE_READY, 5, 1);
    TH(STATE_READY, 1, 1);
    TH(STATE_RUNNING, 5, 1);
    mk_event(mk, 0, 10, TRACE_CLASS_KER_CALL, 80, words, 2); /* SyncMutexLock(), tid 5 owns it */
    TH(STATE_MUTEX, 5, 1);
    TH(STATE_RUNNING, 5, 5);
    TH(STATE_READY, 5, 1);
    TH(STATE_DEAD, 5, 5);
    TH(PR_TH_DESTROY, 5, 5);
    TH(STATE_RUNNING, 5, 1);
    TH(PR_TH_CREATE, 5, 5);
    TH(STATE_READY, 5, 5);
    put(mk, TRACE_CLASS_USER, 7, 1, 2);
    timeline = read_all(mk, &capture);
    assert_int_equal(timeline->outcome, KEV_COMPLETE);
    assert_null(timeline->doubt);
    assert_int_equal(timeline->nthreads, 4);
    assert_int_equal(timeline->ninterrupts, 2);
    assert_int_equal(timeline->interrupts[1].depth, 1);
    assert_int_equal(timeline->interrupts[0].flags, TIMELINE_FROM | TIMELINE_TO);
    span = timeline_span(timeline, 2, 0);
    assert_int_equal(span->state, STATE_READY);
    assert_int_equal(span->cause, TIMELINE_CAUSE_INTERRUPT);
    assert_int_equal(span->by, 27);
    span = timeline_span(timeline, 2, 2);
    assert_int_equal(span->state, STATE_MUTEX);
    assert_int_equal(span->cause, TIMELINE_CAUSE_SELF);
    assert_int_equal(span->object, 0x4000);
    assert_int_equal(span->other, 1);
    span = timeline_span(timeline, 2, 3);
    assert_int_equal(span->state, STATE_READY);
    assert_int_equal(span->cause, TIMELINE_CAUSE_THREAD);
    assert_int_equal(span->by, 1);
    assert_int_equal(timeline_span(timeline, 0, 1)->cause, TIMELINE_CAUSE_PREEMPTED);
    assert_int_equal(timeline->threads[3].tid, 5);
    assert_int_equal(timeline->nusers, 1);
    assert_int_equal(timeline->users[0].thread, 2);
    timeline_free(timeline);
    kev_capture_free(capture);
    mk_free(mk);
}

/* Functions nest, handlers have their own nest, and an interrupt of which no end was seen is over
 * when a thread enters a kernel call. */
static void what_is_nested(void **state)
{
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    struct timeline *timeline;
    const struct timeline_function *functions;

    (void)state;
    TH(STATE_RUNNING, 5, 1);
    put(mk, TRACE_CLASS_SYSTEM, FUNC_ENTER, 0x1000, 0);
    put(mk, TRACE_CLASS_SYSTEM, FUNC_ENTER, 0x2000, 0x1000);
    put(mk, TRACE_CLASS_SYSTEM, FUNC_ENTER, 0x3000, 0x2000); /* its end is missing */
    put(mk, TRACE_CLASS_SYSTEM, FUNC_EXIT, 0x2000, 0x1000);
    put(mk, TRACE_CLASS_SYSTEM, FUNC_EXIT, 0x7000, 0); /* its beginning is missing */
    put(mk, TRACE_CLASS_INT, 1, 27, 0);
    put(mk, TRACE_CLASS_INT, 3, 5, 27); /* pid, interrupt */
    put(mk, TRACE_CLASS_INT, 4, 27, 0);
    put(mk, TRACE_CLASS_KER_CALL, 25, 1, 0);
    TH(STATE_RUNNING, 5, 2);
    timeline = read_all(mk, &capture);
    functions = timeline->functions;
    assert_int_equal(timeline->nfunctions, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(functions[i].address, 0x1000 * (i + 1));
        assert_int_equal(functions[i].depth, i);
        assert_int_equal(functions[i].outer, i == 0 ? TIMELINE_NONE : i - 1);
    }
    assert_int_equal(functions[0].to, timeline->to);
    assert_int_equal(functions[0].flags, TIMELINE_FROM);
    assert_int_equal(functions[1].flags, TIMELINE_FROM | TIMELINE_TO);
    assert_int_equal(functions[2].flags, TIMELINE_FROM);
    assert_int_equal(functions[2].to, functions[1].to);
    assert_int_equal(timeline->nhandlers, 1);
    assert_int_equal(timeline->handlers[0].flags, TIMELINE_FROM | TIMELINE_TO);
    assert_int_equal(timeline->ninterrupts, 1);
    assert_int_equal(timeline->interrupts[0].flags, TIMELINE_FROM);
    assert_int_equal(timeline->ncalls, 1);
    assert_int_equal(timeline->calls[0].depth, 1);
    assert_int_equal(timeline->interrupts[0].to, timeline->calls[0].from);
    timeline_free(timeline);
    kev_capture_free(capture);
    mk_free(mk);
}

/* Arrays that are in files hold what was put there, rested or not. */
static void large_arrays(void **state)
{
    const uint32_t runs = 300000;
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    struct timeline *timeline;

    (void)state;
    for (uint32_t i = 0; i < runs; i++) {
        TH(STATE_RUNNING, 5, 1 + i % 3);
    }
    timeline = read_all(mk, &capture);
    assert_int_equal(timeline->cpu_first[1], runs);
    for (uint32_t i = 0; i < runs; i++) {
        const struct timeline_span *run = &timeline->spans[timeline->by_cpu[i]];

        if (i % 70000 == 0) {
            timeline_rest(timeline);
        }
        assert_int_equal(timeline->threads[run->thread].tid, 1 + i % 3);
        assert_int_equal(run->to, i + 1 < runs ? timeline->spans[timeline->by_cpu[i + 1]].from
                                               : timeline->to);
        assert_true(run->from < run->to || i + 1 == runs);
    }
    timeline_free(timeline);
    kev_capture_free(capture);
    mk_free(mk);
}

/* A folder for temporary files that does not exist is said to be the matter. */
static void no_room(void **state)
{
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    const char *place = getenv("TMPDIR");
    char *was = place == NULL ? NULL : strdup(place);
    struct kev_capture *capture;
    struct timeline *timeline;

    (void)state;
    for (uint32_t i = 0; i < 200000; i++) {
        TH(STATE_RUNNING, 5, 1 + i % 3);
    }
    setenv("TMPDIR", "/nowhere", 1);
    timeline = read_all(mk, &capture);
    if (was == NULL) {
        unsetenv("TMPDIR");
    } else {
        setenv("TMPDIR", was, 1);
    }
    free(was);
    assert_int_equal(timeline->outcome, KEV_FAILED);
    assert_non_null(strstr(timeline->fault, "TMPDIR"));
    timeline_free(timeline);
    kev_capture_free(capture);
    mk_free(mk);
}

/* A thread that one CPU's event tells of before another CPU's dump of the state names its process.
 */
static void name_that_comes_later(void **state)
{
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    struct timeline *timeline;
    uint32_t words[2] = {1, 5};

    (void)state;
    TH(STATE_READY, 5, 1);
    mk_string(mk, 0, 10, TRACE_CLASS_PR_TH, 192, words, 2, "late");
    TH(STATE_RUNNING, 5, 1);
    timeline = read_all(mk, &capture);
    assert_int_equal(timeline->nthreads, 1);
    assert_non_null(timeline->threads[0].process);
    assert_string_equal(timeline->threads[0].process, "late");
    timeline_free(timeline);
    kev_capture_free(capture);
    mk_free(mk);
}

/* What a state dump says was so before, for no reason that is known; said again, it is no news. */
static void dumped_states(void **state)
{
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    struct timeline *timeline;
    const struct timeline_span *span;

    (void)state;
    TH(STATE_RUNNING, 2, 1);
    TH(STATE_READY | TRACE_STATE_DUMP, 5, 1);
    TH(STATE_READY | TRACE_STATE_DUMP, 5, 1);
    TH(STATE_READY, 6, 1);
    TH(STATE_READY | TRACE_STATE_DUMP, 6, 1);
    timeline = read_all(mk, &capture);
    assert_int_equal(timeline->nspans, 3);
    span = timeline_span(timeline, 1, 0);
    assert_int_equal(span->state, STATE_READY);
    assert_int_equal(span->cause, TIMELINE_CAUSE_UNKNOWN);
    assert_int_equal(span->flags, 0);
    span = timeline_span(timeline, 2, 0);
    assert_int_equal(span->cause, TIMELINE_CAUSE_THREAD);
    assert_int_equal(span->flags, TIMELINE_FROM);
    timeline_free(timeline);
    kev_capture_free(capture);
    mk_free(mk);
}

/* The end of a thread was lost; its id is another thread from its making on, and a wait of the one
 * before is not the other's. */
static void ids_that_are_used_again(void **state)
{
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    struct timeline *timeline;

    (void)state;
    TH(STATE_RUNNING, 2, 1);
    TH(PR_TH_CREATE | TRACE_STATE_DUMP, 5, 1);
    TH(STATE_SEM | TRACE_STATE_DUMP, 5, 1);
    TH(PR_TH_CREATE, 5, 1);
    TH(STATE_READY, 5, 1);
    TH(STATE_RUNNING, 5, 1);
    timeline = read_all(mk, &capture);
    assert_int_equal(timeline->nthreads, 3);
    assert_int_equal(timeline->threads[1].to, timeline->threads[2].from);
    assert_int_equal(timeline->threads[1].count, 2); /* not known, SEM */
    assert_int_equal(timeline_span(timeline, 1, 1)->state, STATE_SEM);
    assert_int_equal(timeline_span(timeline, 1, 1)->flags & TIMELINE_TO, 0);
    timeline_free(timeline);
    kev_capture_free(capture);
    mk_free(mk);
}

/* An idle thread wakes nobody. Without INT events it may have been an interrupt at any time, but
 * after a reply. */
static void causes_that_are_not_known(void **state)
{
    static const char *const filters[] = {"all classes", "all classes without INT"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mk *mk =
            mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = filters[i]});
        struct kev_capture *capture;
        struct timeline *timeline;

        TH(STATE_RUNNING, 1, 1);
        TH(STATE_READY, 5, 1); /* by the idle thread */
        TH(STATE_RUNNING, 6, 1);
        TH(STATE_READY, 5, 2); /* by 6:1, if by no interrupt that was not recorded */
        put(mk, TRACE_CLASS_COMM, 10, 4, 5);
        TH(STATE_READY, 5, 4);
        put(mk, TRACE_CLASS_KER_CALL, 84, 0x4000, 0);
        TH(STATE_READY, 5, 3);
        timeline = read_all(mk, &capture);
        assert_int_equal(timeline_span(timeline, 1, 0)->cause, TIMELINE_CAUSE_UNKNOWN);
        assert_int_equal(timeline_span(timeline, 3, 0)->cause,
                         i == 0 ? TIMELINE_CAUSE_THREAD : TIMELINE_CAUSE_UNKNOWN);
        assert_int_equal(timeline_span(timeline, 4, 0)->cause, TIMELINE_CAUSE_THREAD);
        assert_int_equal(timeline_span(timeline, 5, 0)->cause,
                         i == 0 ? TIMELINE_CAUSE_THREAD : TIMELINE_CAUSE_UNKNOWN);
        timeline_free(timeline);
        kev_capture_free(capture);
        mk_free(mk);
    }
}

/* A thread is destroyed while it is current; the next event is of its id, made again or run
 * elsewhere. */
static void destroyed_and_there_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct mk *mk =
            mk_new(&(struct mk_options){.ncpu = 2, .checked = true, .filters = "all classes"});
        uint32_t ids[2] = {5, 1}, others[2] = {6, 1}, process[2] = {1, 5};
        struct kev_capture *capture;
        struct timeline *timeline;

        mk_event(mk, 1, 10, TRACE_CLASS_PR_TH, STATE_RUNNING, others, 2);
        TH(PR_TH_CREATE | TRACE_STATE_DUMP, 5, 1);
        TH(STATE_RUNNING, 5, 1);
        TH(STATE_DEAD, 5, 1);
        TH(PR_TH_DESTROY, 5, 1);
        if (i == 0) {
            TH(PR_TH_CREATE, 5, 1);
        } else if (i == 1) {
            mk_string(mk, 0, 10, TRACE_CLASS_PR_TH, PR_TH_PROCCREATE_NAME, process, 2, "again");
        } else {
            mk_event(mk, 1, 100, TRACE_CLASS_PR_TH, STATE_RUNNING, ids, 2);
        }
        for (unsigned n = 0; n < 3; n++) {
            mk_event(mk, 1, 100, TRACE_CLASS_PR_TH, STATE_RUNNING, n % 2 ? ids : others, 2);
            mk_event(mk, 0, 100, TRACE_CLASS_PR_TH, STATE_RUNNING, n % 2 ? others : ids, 2);
        }
        timeline = read_all(mk, &capture);
        assert_int_equal(timeline->outcome, KEV_COMPLETE);
        timeline_free(timeline);
        kev_capture_free(capture);
        mk_free(mk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_nested),
        cmocka_unit_test(large_arrays),
        cmocka_unit_test(no_room),
        cmocka_unit_test(causes_and_lives),
        cmocka_unit_test(name_that_comes_later),
        cmocka_unit_test(dumped_states),
        cmocka_unit_test(destroyed_and_there_again),
        cmocka_unit_test(ids_that_are_used_again),
        cmocka_unit_test(causes_that_are_not_known),
        cmocka_unit_test(losses_known),
    };

    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
