/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat says only what it knows: captures of a simulated system (model.h) lose events in every way
 * that a capture can, and no figure may contradict what really happened in the time that stat
 * claims to cover; nor may it claim less than the capture shows. ROUNDS=n runs more of them,
 * SEED=n begins with that one.
 */
#include <stdlib.h>
#include <string.h>

#include "host/flow/own.h"
#include "host/stat/stat.h"
#include "test/host/fabricate/model.h"
#include "test/host/support.h"

#define ROUNDS 80
#define EVENTS 700

/* How a capture is made of the model's events. Percentages. */
struct cut {
    const char *name;
    unsigned buffer;     /* events in one at most */
    unsigned ring;       /* of the first buffers of each CPU are gone */
    unsigned tail;       /* of the last ones */
    unsigned lost;       /* chance of any other one */
    bool quiet;          /* without DROPPED */
    const char *filters; /* FILTER_1 */
    unsigned class;      /* events of it, */
    unsigned stopped;    /* and with this chance others, were not recorded */
    unsigned recursive;  /* chance of a single event, DROPPED 4 in the next buffer */
};

static const struct cut cuts[] = {
    {.name = "whole", .buffer = 100},
    {.name = "small buffers", .buffer = 7},
    {.name = "ring", .buffer = 20, .ring = 80},
    {.name = "cut off", .buffer = 20, .tail = 60},
    {.name = "overwritten", .buffer = 15, .lost = 15},
    {.name = "missing", .buffer = 15, .lost = 10, .quiet = true},
    {.name = "recursive", .buffer = 25, .recursive = 1},
    {.name = "ring with losses", .buffer = 12, .ring = 40, .lost = 8, .recursive = 1},
    /* A recursive event would be told of by what is cut off. */
    {.name = "cut off with losses", .buffer = 12, .tail = 20, .lost = 8},
    {.name = "gate", .buffer = 50, .filters = "gate slow.dif", .stopped = 30},
    {.name = "no threads",
     .buffer = 50,
     .filters = "all classes without THREAD",
     .class = TRACE_CLASS_PR_TH},
    {.name = "no messages",
     .buffer = 50,
     .ring = 50,
     .filters = "all classes without COMM",
     .class = TRACE_CLASS_COMM},
    {.name = "no interrupts",
     .buffer = 50,
     .filters = "all classes without INT",
     .class = TRACE_CLASS_INT},
};
#define CUTS (sizeof(cuts) / sizeof(cuts[0]))

struct made {
    const struct model *model;
    const struct cut *cut;
    bool checked; /* format 1.02: the end mark tells that nothing is missing after the
                   * last buffer */
    uint64_t random;
    struct mk *mk;
    bool *kept; /* by event */
    uint64_t dropped[MODEL_CPUS][KYMO_TRACE_REASONS][KEV_CLASSES];
    uint64_t stamp[MODEL_CPUS]; /* of the last slot */
    struct stat *stat;
    struct kev_span *windows; /* in which all CPUs are covered, as stat has it */
    unsigned nwindows;
};

static const char *failing = "";

static unsigned chance(struct made *made)
{
    made->random = made->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(made->random >> 33) % 100;
}

/* ---- the capture ------------------------------------------------------------------- */

static void slot(struct made *made, unsigned cpu, uint64_t time, unsigned class, unsigned number,
                 uint32_t a, uint32_t b)
{
    struct mk_cpu *c = &made->mk->cpu[cpu];

    c->buffer[c->slots++] =
        (struct trace_slot){TRACE_HEADER(cpu, TRACE_STRUCT_S, class, number), (uint32_t)time, a, b};
    made->stamp[cpu] = time;
}

static void time_slot(struct made *made, unsigned cpu, uint64_t time)
{
    made->mk->cpu[cpu].high = (uint32_t)(time >> 32);
    slot(made, cpu, time, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME, (uint32_t)(time >> 32),
         (uint32_t)time);
}

/* BUFFER, TIME and what was lost since, right before the first event. */
static void buffer_begin(struct made *made, unsigned cpu, uint64_t first)
{
    struct mk_cpu *c = &made->mk->cpu[cpu];
    uint64_t time = first - MODEL_STEP / 2;

    c->slots = 0;
    slot(made, cpu, time, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER, c->sequence, 0);
    time_slot(made, cpu, time);
    for (unsigned i = 0; i < KYMO_TRACE_REASONS * KEV_CLASSES; i++) {
        unsigned reason = i / KEV_CLASSES, class = i % KEV_CLASSES;
        uint64_t *lost = &made->dropped[cpu][reason][class];

        if (*lost > 0) {
            slot(made, cpu, ++time, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED, reason << 8 | class,
                 (uint32_t)*lost);
            *lost = 0;
        }
    }
}

static void buffer_keep(struct made *made, unsigned cpu, const unsigned *events, unsigned n)
{
    const struct model_event *all = made->model->events;

    buffer_begin(made, cpu, all[events[0]].time);
    for (unsigned i = 0; i < n; i++) {
        const struct model_event *event = &all[events[i]];

        if (made->cut->recursive > chance(made) && i > 0) {
            made->dropped[cpu][KYMO_DROP_RECURSIVE][event->class]++;
            continue;
        }
        if (event->time >> 32 != made->mk->cpu[cpu].high) {
            time_slot(made, cpu, event->time);
        }
        slot(made, cpu, event->time, event->class, event->number, event->words[0], event->words[1]);
        made->kept[events[i]] = true;
    }
    mk_flush(made->mk, cpu);
}

static void buffer_lose(struct made *made, unsigned cpu, const unsigned *events, unsigned n)
{
    for (unsigned i = 0; i < n && !made->cut->quiet; i++) {
        made->dropped[cpu][KYMO_DROP_OVERWRITTEN][made->model->events[events[i]].class]++;
    }
}

/* What is still to be told at the end: in a buffer of its own, as STOP does, or outside of one, as
 * the tracelogger. */
static void rest_tell(struct made *made, unsigned cpu)
{
    bool outside = made->checked && chance(made) < 50;

    for (unsigned i = 0; i < KYMO_TRACE_REASONS * KEV_CLASSES; i++) {
        unsigned reason = i / KEV_CLASSES, class = i % KEV_CLASSES;
        uint64_t *lost = &made->dropped[cpu][reason][class];

        if (*lost > 0 && outside) {
            mk_tail(made->mk, cpu, reason, class, (uint32_t)*lost);
            *lost = 0;
        } else if (*lost > 0) {
            made->mk->cpu[cpu].sequence++;
            buffer_begin(made, cpu, made->model->now);
            mk_flush(made->mk, cpu);
            return;
        }
    }
}

static void cpu_make(struct made *made, unsigned cpu)
{
    unsigned mine[EVENTS + 16], n = 0;

    for (unsigned i = 0; i < made->model->nevents && n < EVENTS + 16; i++) {
        const struct model_event *event = &made->model->events[i];

        if (event->cpu == cpu && event->class != made->cut->class &&
            chance(made) >= made->cut->stopped) {
            mine[n++] = i;
        }
    }
    unsigned first = n * (made->cut->ring * chance(made) / 100) / 100;
    unsigned last = n - (n - first) * (made->cut->tail * chance(made) / 100) / 100;

    for (unsigned at = 0, size; at < n; at += size) {
        size = 1 + chance(made) * made->cut->buffer / 100;
        size = size < n - at ? size : n - at;
        made->mk->cpu[cpu].sequence++;
        if (at < first) {
            continue;
        }
        if (at >= last) {
            return;
        }
        if (chance(made) < made->cut->lost) {
            buffer_lose(made, cpu, &mine[at], size);
        } else {
            buffer_keep(made, cpu, &mine[at], size);
        }
    }
    rest_tell(made, cpu);
}

/* ---- the account ------------------------------------------------------------------- */

/* The times in which no CPU is uncovered, from the turns. */
static void windows_find(struct made *made)
{
    const struct flow *flow = made->stat->flow;
    unsigned uncovered = flow->uncovered;

    made->windows = calloc(flow->nturns + 1, sizeof(*made->windows));
    for (unsigned i = 0; i < flow->nturns; i++) {
        const struct flow_turn *turn = &flow->turns[i];

        if (turn->covered && --uncovered == 0) {
            made->windows[made->nwindows++] = (struct kev_span){(uint64_t)turn->ns, UINT64_MAX};
        } else if (!turn->covered && uncovered++ == 0) {
            made->windows[made->nwindows - 1].to = (uint64_t)turn->ns;
        }
    }
}

/* Every event that is in the capture is given out. */
static void events_read(struct made *made)
{
    struct kev_event event;
    struct kev_error error;
    unsigned n = 0, kept = 0;

    while (kev_next(made->stat->kev, &event, &error) == KEV_EVENT) {
        n += event.class != TRACE_CLASS_CONTROL;
        stat_event(made->stat, &event);
    }
    for (unsigned i = 0; i < made->model->nevents; i++) {
        kept += made->kept[i];
    }
    assert_int_equal(n, kept);
    stat_finish(made->stat);
}

static struct made *made_new(const struct model *model, const struct cut *cut, bool checked,
                             uint64_t seed)
{
    struct made *made = calloc(1, sizeof(*made));

    made->model = model;
    made->cut = cut;
    made->checked = checked;
    made->random = seed;
    made->kept = calloc(model->nevents, sizeof(*made->kept));
    made->mk = mk_new(
        &(struct mk_options){.ncpu = model->ncpu, .filters = cut->filters, .checked = checked});
    for (unsigned cpu = 0; cpu < model->ncpu; cpu++) {
        cpu_make(made, cpu);
    }
    if (cut->tail == 0) {
        mk_end(made->mk);
    }
    made->stat = stat_new(support_open(made->mk, NULL));
    assert_non_null(made->stat);
    windows_find(made);
    events_read(made);
    return made;
}

static void made_free(struct made *made)
{
    kev_close(made->stat->kev);
    stat_free(made->stat);
    free(made->stat);
    mk_free(made->mk);
    free(made->kept);
    free(made->windows);
    free(made);
}

/* ---- what must hold ---------------------------------------------------------------- */

static int window_of(const struct made *made, uint64_t time)
{
    for (unsigned i = 0; i < made->nwindows; i++) {
        if (time >= made->windows[i].from && time <= made->windows[i].to) {
            return (int)i;
        }
    }
    return -1;
}

/* No event that is missing lies in its CPU's coverage. */
static void check_coverage(const struct made *made)
{
    for (unsigned i = 0; i < made->model->nevents; i++) {
        const struct model_event *event = &made->model->events[i];
        bool covered = false;

        for (unsigned t = 0; t < made->stat->flow->nturns; t++) {
            const struct flow_turn *turn = &made->stat->flow->turns[t];

            if (turn->cpu == event->cpu && (uint64_t)turn->ns <= event->time) {
                covered = turn->covered || (uint64_t)turn->ns == event->time;
            }
        }
        assert_true(made->kept[i] || !covered || event->class == made->cut->class);
    }
}

static void check_cpu(const struct made *made, unsigned n)
{
    const struct cpu *cpu = &made->stat->cpus[n];
    uint64_t busy = 0, idle = 0, covered = 0, least = 0, from = 0;

    for (unsigned t = 0; t < made->stat->flow->nturns; t++) {
        const struct flow_turn *turn = &made->stat->flow->turns[t];
        struct kev_span span = {from, (uint64_t)turn->ns};

        if (turn->cpu != n || turn->covered) {
            from = turn->cpu == n ? (uint64_t)turn->ns : from;
            continue;
        }
        busy += model_cpu_time(made->model, n, false, span);
        idle += model_cpu_time(made->model, n, true, span);
        covered += span.to - span.from;
        for (unsigned i = 0; i < made->model->nevents; i++) {
            const struct model_event *event = &made->model->events[i];

            if (made->kept[i] && event->cpu == n && event->class == TRACE_CLASS_PR_TH &&
                event->number == STATE_RUNNING && event->time >= from && event->time <= span.to) {
                least += span.to - event->time;
                break;
            }
        }
    }
    assert_true(cpu->busy <= busy && cpu->idle <= idle);
    assert_int_equal(cpu->busy + cpu->idle + cpu->unknown, covered);
    assert_int_equal(cpu->busy + cpu->idle, least);
}

static bool is_run(const struct made *made, unsigned i, unsigned cpu)
{
    const struct model_event *event = &made->model->events[i];

    return made->kept[i] && event->class == TRACE_CLASS_PR_TH && event->number == STATE_RUNNING &&
           event->cpu == cpu;
}

/* From when on the state that event i tells is certain: if what ran on that CPU was not known,
 * from the CPU's next THRUNNING on. */
static uint64_t certain_from(const struct made *made, unsigned i, struct kev_span window)
{
    const struct model_event *all = made->model->events;

    for (unsigned before = 0; before <= i; before++) {
        if (all[before].time >= window.from && is_run(made, before, all[i].cpu)) {
            return all[i].time;
        }
    }
    for (unsigned after = i + 1; after < made->model->nevents; after++) {
        if (is_run(made, after, all[i].cpu)) {
            return all[after].time < window.to ? all[after].time : window.to;
        }
    }
    return window.to;
}

/* From the first event that names a thread in a window on, its state is known there. */
static uint64_t thread_least(const struct made *made, int thread)
{
    const struct model_thread *t = &made->model->threads[thread];
    uint64_t least = 0;

    for (unsigned w = 0; w < made->nwindows; w++) {
        struct kev_span span = made->windows[w];

        for (unsigned i = 0; i < made->model->nevents; i++) {
            const struct model_event *event = &made->model->events[i];

            if (made->kept[i] && event->class == TRACE_CLASS_PR_TH && event->time >= span.from &&
                event->time <= span.to && event->words[1] == (uint32_t)t->tid) {
                least += span.to - certain_from(made, i, span);
                break;
            }
        }
    }
    return least;
}

static void check_thread(const struct made *made, int n)
{
    const struct model_thread *t = &made->model->threads[n];
    const struct thread *thread = thread_find(made->stat, t->pid, t->tid);
    uint64_t sum = 0, runs = 0, moves = 0;
    int ran_on = -1;

    if (thread == NULL) {
        assert_int_equal(thread_least(made, n), 0);
        return;
    }
    for (int state = 0; state < STATE_MAX; state++) {
        uint64_t truth = 0;

        for (unsigned w = 0; w < made->nwindows; w++) {
            truth += model_state_time(made->model, n, state, made->windows[w]);
        }
        if (thread->time[state] > truth) {
            print_message("thread %d/%d: %llu cycles in state %d, in truth %llu\n", t->pid, t->tid,
                          (unsigned long long)thread->time[state], state,
                          (unsigned long long)truth);
        }
        assert_true(thread->time[state] <= truth);
        sum += thread->time[state];
    }
    for (unsigned i = 0; i < made->model->nevents; i++) {
        const struct model_event *event = &made->model->events[i];

        if (made->kept[i] && event->words[1] == (uint32_t)t->tid && is_run(made, i, event->cpu)) {
            runs++;
            moves += ran_on >= 0 && ran_on != event->cpu;
            ran_on = event->cpu;
        }
    }
    if (sum < thread_least(made, n)) {
        print_message("thread %d/%d: %llu cycles known, of %llu at least\n", t->pid, t->tid,
                      (unsigned long long)sum, (unsigned long long)thread_least(made, n));
    }
    assert_true(sum >= thread_least(made, n));
    assert_true(thread->runs <= runs);
    assert_true(thread->migrations <= moves);
    if (n < (int)made->model->ncpu) {
        const struct cpu *cpu = &made->stat->cpus[n];

        assert_int_equal(stat_thread_running(made->stat, thread), cpu->idle);
        assert_int_equal(stat_thread_covered(made->stat, thread), cpu->idle + cpu->busy);
    }
}

/* A message of the model with these times, within one window; NULL: there is none. */
static const struct model_message *message_find(const struct made *made, const struct slow *slow)
{
    for (unsigned i = 0; i < made->model->nmessages; i++) {
        const struct model_message *m = &made->model->messages[i];
        const struct model_thread *client = &made->model->threads[m->client];

        if (m->sent == slow->sent && m->replied == slow->ended &&
            client->pid == slow->client->pid && client->tid == slow->client->tid &&
            m->to == slow->to->pid && (slow->received == 0 || m->received == slow->received) &&
            (slow->server == NULL || made->model->threads[m->server].tid == slow->server->tid)) {
            return m;
        }
    }
    return NULL;
}

static void check_messages(const struct made *made)
{
    uint64_t count = 0, longest = 0, seen = 0;
    uint32_t npairs;
    struct pair **pairs = pairs_by_count(made->stat, &npairs);

    for (unsigned i = 0; i < made->model->nmessages; i++) {
        const struct model_message *m = &made->model->messages[i];
        int window = m->replied == 0 ? -1 : window_of(made, m->sent);

        if (window >= 0 && window == window_of(made, m->replied)) {
            count++;
            longest = m->replied - m->sent > longest ? m->replied - m->sent : longest;
        }
    }
    for (uint32_t i = 0; i < npairs; i++) {
        seen += pairs[i]->latency.count;
        assert_true(pairs[i]->latency.max <= longest);
        assert_int_equal(pairs[i]->latency.count, pairs[i]->replied + pairs[i]->errors);
        assert_true(pairs[i]->wait.count <= pairs[i]->sent);
    }
    free(pairs);
    assert_true(seen <= count);
    /* Only those whose sender wasn't known are missing: at most those sent before each CPU's first
     * THRUNNING in a window. */
    if (made->cut == &cuts[0]) {
        assert_true(seen + 2 * made->model->ncpu >= count);
    }
    for (unsigned i = 0; i < made->stat->nslowest; i++) {
        const struct slow *slow = &made->stat->slowest[i];

        assert_non_null(message_find(made, slow));
        assert_true(window_of(made, slow->sent) == window_of(made, slow->ended));
        assert_true(i == 0 || slow->ended - slow->sent <= slow[-1].ended - slow[-1].sent);
    }
    assert_true(made->stat->nslowest == (seen < STAT_SLOWEST ? seen : STAT_SLOWEST));
}

static void check_served(const struct made *made)
{
    uint32_t n;
    struct served **served = served_by_time(made->stat, &n);

    for (uint32_t i = 0; i < n; i++) {
        int client = served[i]->client->tid - 1;
        uint64_t truth = 0;

        for (unsigned w = 0; w < made->nwindows; w++) {
            truth += model_imposed(made->model, client, served[i]->server->pid, made->windows[w]);
        }
        if (served[i]->time > truth) {
            print_message("thread %d of %d had process %d run %llu cycles, in truth %llu\n",
                          served[i]->client->tid, served[i]->client->pid, served[i]->server->pid,
                          (unsigned long long)served[i]->time, (unsigned long long)truth);
        }
        assert_true(served[i]->time <= truth);
    }
    free(served);
}

static void check_interrupts(const struct made *made)
{
    for (unsigned cpu = 0; cpu < made->model->ncpu; cpu++) {
        uint64_t entries = 0, time = 0, entered = 0;

        for (unsigned i = 0; i < made->model->nevents; i++) {
            const struct model_event *event = &made->model->events[i];

            if (event->class != TRACE_CLASS_INT || event->cpu != cpu) {
                continue;
            }
            entries += event->number == 1 && made->kept[i];
            time += event->number == 2 ? event->time - entered : 0;
            entered = event->time;
        }
        assert_int_equal(made->stat->irqs[27 + cpu].count, entries);
        assert_true(made->stat->irqs[27 + cpu].time <= time);
        assert_true(made->stat->irqs[27 + cpu].timed <= entries);
    }
}

/* Of a capture that is known to be whole all CPUs are covered to the end, also one that was quiet
 * before, unless the last thing that is known of it is a loss. */
static void check_whole(const struct made *made)
{
    const struct cut *cut = made->cut;
    bool loses = cut->ring || cut->lost || cut->recursive || cut->stopped;
    uint64_t from = UINT64_MAX, to = 0;

    assert_int_equal(kev_is_whole(made->stat->kev),
                     made->checked && cut->tail == 0 && kev_info(made->stat->kev)->nmissing == 0);
    for (unsigned i = 0; i < made->model->nevents; i++) {
        if (made->kept[i]) {
            to = made->model->events[i].time > to ? made->model->events[i].time : to;
            from = made->model->events[i].time < from ? made->model->events[i].time : from;
        }
    }
    if (made->checked && !loses && cut->tail == 0) {
        assert_true(made->stat->common >= to - from); /* the first buffer's head is before */
    }
}

/* What the recording left out without which figures are missing is said. */
static void check_reason(const struct made *made)
{
    const char *filters = made->cut->filters ? made->cut->filters : "";
    const char *reason = filter_doubt(made->stat) ? filter_doubt(made->stat) : "";

    assert_int_equal(strstr(reason, "THREAD was not recorded") != NULL,
                     strstr(filters, "THREAD") != NULL);
    assert_int_equal(strstr(reason, "gate") != NULL, strstr(filters, "gate") != NULL);
}

static void check_all(const struct made *made)
{
    uint64_t common = 0;

    check_reason(made);
    check_coverage(made);
    check_whole(made);
    for (unsigned w = 0; w < made->nwindows; w++) {
        common += made->windows[w].to - made->windows[w].from;
    }
    assert_int_equal(made->stat->common, common);
    for (unsigned cpu = 0; cpu < made->model->ncpu; cpu++) {
        check_cpu(made, cpu);
    }
    for (unsigned i = 0; i < made->model->nthreads; i++) {
        check_thread(made, (int)i);
    }
    check_messages(made);
    check_served(made);
    check_interrupts(made);
}

/* What a failure is to say. */
static void current_case(unsigned seed, const char *name, bool checked)
{
    static char text[80];

    snprintf(text, sizeof(text), "seed %u, %s%s", seed, name, checked ? "" : ", format 1.01");
    failing = text;
}

static void test_no_figure_contradicts_the_truth(void **unused)
{
    unsigned rounds = getenv("ROUNDS") == NULL ? ROUNDS : (unsigned)atoi(getenv("ROUNDS"));
    unsigned first = getenv("SEED") == NULL ? 1 : (unsigned)atoi(getenv("SEED"));
    uint64_t covered[CUTS] = {0};

    (void)unused;
    for (unsigned seed = first; seed < first + rounds; seed++) {
        struct model *model = model_run(1 + seed % MODEL_CPUS, EVENTS, seed);

        for (unsigned n = 0; n < 2 * CUTS; n++) {
            unsigned i = n / 2;

            current_case(seed, cuts[i].name, n % 2);
            struct made *made = made_new(model, &cuts[i], n % 2, seed);
            check_all(made);
            covered[i] += made->stat->common;
            made_free(made);
        }
        model_free(model);
    }
    for (unsigned i = 0; i < CUTS; i++) {
        /* Else nothing was looked at; but after a gate nothing is known. */
        assert_true((covered[i] > 0) == (cuts[i].stopped == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_figure_contradicts_the_truth),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    if (result != 0) {
        printf("at %s\n", failing);
    }
    support_remove();
    return result;
}
