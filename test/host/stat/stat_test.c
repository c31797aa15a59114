/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account of a capture, on workloads whose figures are known.
 */
#include <stdlib.h>
#include <string.h>

#include "host/life.h"
#include "host/stat/stat.h"
#include "test/host/support.h"

static void event2(struct mk *mk, unsigned cpu, uint64_t after, unsigned class, unsigned event,
                   uint32_t a, uint32_t b)
{
    uint32_t words[2] = {a, b};

    mk_event(mk, cpu, after, class, event, words, 2);
}

static void state(struct mk *mk, unsigned cpu, uint64_t after, unsigned state, uint32_t pid)
{
    event2(mk, cpu, after, TRACE_CLASS_PR_TH, state, pid, 1);
}

/* A CPU is covered until its last event: here is one. */
static void last(struct mk *mk, unsigned cpu, uint64_t after)
{
    event2(mk, cpu, after, TRACE_CLASS_USER, 1, 0, 0);
}

static struct stat *account(struct mk *mk)
{
    struct kev_event event;
    struct kev_error error;
    struct stat *stat;

    mk_flush_all(mk);
    stat = stat_new(support_open(mk, NULL));
    assert_non_null(stat);
    while (kev_next(stat->kev, &event, &error) == KEV_EVENT) {
        stat_event(stat, &event);
    }
    stat_finish(stat);
    return stat;
}

static void done(struct stat *stat, struct mk *mk)
{
    kev_close(stat->kev);
    stat_free(stat);
    free(stat);
    mk_free(mk);
}

static char *shown(struct stat *stat, bool all, size_t *size)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, size);

    assert_non_null(to);
    text_events(to, stat, &(struct stat_style){.all = all});
    fclose(to);
    return text;
}

/* 5 runs 100, blocks; idle 50; 6 runs 25 on the other CPU; 5 runs 10 there. */
static void test_times(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    struct thread *five, *six;
    struct stat *stat;

    (void)unused;
    state(mk, 0, 1, STATE_RUNNING, 5);
    state(mk, 1, 1, STATE_RUNNING, 6);
    state(mk, 0, 90, STATE_SEM, 5); /* is still current for 10 */
    state(mk, 0, 10, STATE_RUNNING, STAT_IDLE_PID);
    state(mk, 1, 120, STATE_READY, 5); /* made ready by the other CPU */
    state(mk, 1, 30, STATE_RUNNING, 5);
    state(mk, 1, 10, STATE_READY, 6);
    last(mk, 0, 60);
    stat = account(mk);
    five = thread_find(stat, 5, 1);
    six = thread_find(stat, 6, 1);
    assert_int_equal(five->time[STATE_RUNNING], 110);
    assert_int_equal(five->time[STATE_SEM], 20);
    assert_int_equal(five->time[STATE_READY], 30);
    assert_int_equal(five->runs, 2);
    assert_int_equal(five->migrations, 1);
    assert_int_equal(six->time[STATE_RUNNING], 150);
    assert_int_equal(stat->cpus[0].busy, 100);
    assert_int_equal(stat->cpus[0].idle, 60);
    assert_int_equal(stat->cpus[1].busy, 160);
    done(stat, mk);
}

/* A thread seen running on a second CPU before the first has switched. */
static void test_migration_overlap(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    struct stat *stat;

    (void)unused;
    state(mk, 0, 1, STATE_RUNNING, 5);
    state(mk, 1, 51, STATE_RUNNING, 5);
    state(mk, 1, 100, STATE_RUNNING, STAT_IDLE_PID);
    state(mk, 0, 300, STATE_RUNNING, STAT_IDLE_PID);
    stat = account(mk);
    assert_int_equal(thread_find(stat, 5, 1)->time[STATE_RUNNING], 150);
    assert_int_equal(stat->cpus[0].unknown, 251); /* and from BUFFER to the first event */
    done(stat, mk);
}

/* A thread blocks and is still current while events of another CPU are missing, one of which may
 * have made it READY: in which state it leaves its CPU is not known. */
static void test_blocked_in_a_gap(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    struct stat *stat;

    (void)unused;
    state(mk, 0, 1, STATE_RUNNING, 5);
    state(mk, 1, 1, STATE_RUNNING, 6);
    mk_flush(mk, 1);
    mk_lose_buffer(mk, 1);
    state(mk, 0, 50, STATE_SEM, 5);
    state(mk, 1, 100, STATE_RUNNING, 6);
    state(mk, 0, 100, STATE_RUNNING, STAT_IDLE_PID);
    last(mk, 0, 100);
    last(mk, 1, 150);
    stat = account(mk);
    assert_true(stat->common > 0);
    assert_int_equal(thread_find(stat, 5, 1)->time[STATE_SEM], 0);
    done(stat, mk);
}

static void test_messages(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    struct pair *pair, **pairs;
    struct stat *stat;
    uint32_t npairs;

    (void)unused;
    state(mk, 0, 1, STATE_RUNNING, 5);
    state(mk, 1, 1, STATE_RUNNING, 9);
    mk->cpu[1].now = mk->cpu[0].now;
    for (unsigned i = 1; i <= 100; i++) { /* latencies 10, 20, … 1000; half of it waiting */
        event2(mk, 0, 1, TRACE_CLASS_COMM, 0, 0x408, 9);
        mk->cpu[1].now = mk->cpu[0].now;
        event2(mk, 1, 5 * i, TRACE_CLASS_COMM, 2, 0x408, 9);
        event2(mk, 1, 5 * i, TRACE_CLASS_COMM, i == 7 ? 11 : 10, 1, 5);
        mk->cpu[0].now = mk->cpu[1].now;
    }
    last(mk, 0, 1);
    stat = account(mk);
    pairs = pairs_by_count(stat, &npairs);
    assert_int_equal(npairs, 1);
    pair = pairs[0];
    assert_true(pair->from->pid == 5 && pair->to->pid == 9);
    assert_int_equal(pair->sent, 100);
    assert_int_equal(pair->replied, 99);
    assert_int_equal(pair->errors, 1);
    assert_int_equal(pair->latency.count, 100);
    assert_int_equal(pair->latency.max, 1000);
    assert_int_equal(pair->wait.max, 500);
    assert_in_range(hist_percentile(&pair->latency, 50), 495, 505);
    assert_in_range(hist_percentile(&pair->latency, 90), 891, 909);
    assert_in_range(hist_percentile(&pair->latency, 99), 981, 1000);
    free(pairs);
    done(stat, mk);
}

/* The steps of a histogram: ascending, a quarter octave each at most, with all values. */
static void check_steps(const struct hist *hist)
{
    struct hist_step steps[HIST_STEPS_MOST];
    unsigned n = hist_steps(hist, steps);
    uint64_t count = 0;

    assert_true(n > 2);
    assert_int_equal(steps[0].from, 0);
    for (unsigned i = 0; i < n; i++) {
        count += steps[i].count;
        assert_true(steps[i].from < steps[i].to);
        assert_true(i == 0 || steps[i - 1].to <= steps[i].from);
        assert_true(steps[i].to - steps[i].from <= steps[i].from / 4 + 1);
    }
    assert_int_equal(count, hist->count);
    assert_true(steps[n - 1].to == UINT64_MAX);
}

static void test_histogram(void **unused)
{
    static struct hist hist;

    (void)unused;
    for (uint64_t value = 1; value < UINT64_MAX / 3; value = value * 3 + 1) {
        hist_free(&hist);
        memset(&hist, 0, sizeof(hist));
        hist_add(&hist, value, 7);
        hist_add(&hist, value * 2, 8);
        assert_true(hist_percentile(&hist, 50) >= value);
        assert_true(hist_percentile(&hist, 50) <= value + value / 64 + 1);
        assert_int_equal(hist_percentile(&hist, 100), hist.max);
        assert_int_equal(hist.max_at, 8);
    }
    hist_add(&hist, UINT64_MAX, 9);
    hist_add(&hist, 0, 10);
    check_steps(&hist);
    assert_true(hist_percentile(&hist, 100) == UINT64_MAX);
    assert_int_equal(hist_percentile(&hist, 1), 0);
    hist_free(&hist);
}

/* Nested interrupts: the inner one's time is in both, but the CPU's only once. */
static void test_interrupts(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct stat *stat;

    (void)unused;
    event2(mk, 0, 1, TRACE_CLASS_INT, 1, 27, 0);
    event2(mk, 0, 10, TRACE_CLASS_INT, 1, 33, 0);
    event2(mk, 0, 5, TRACE_CLASS_INT, 2, 33, 0);
    event2(mk, 0, 10, TRACE_CLASS_INT, 2, 27, 0);
    event2(mk, 0, 10, TRACE_CLASS_INT, 2, 44, 0); /* its entry was lost */
    stat = account(mk);
    assert_int_equal(stat->irqs[27].count, 1);
    assert_int_equal(stat->irqs[27].time, 25);
    assert_int_equal(stat->irqs[33].time, 5);
    assert_int_equal(stat->irqs[44].time, 0);
    assert_int_equal(stat->cpus[0].irq_time, 25);
    done(stat, mk);
}

/* The recording began within an interrupt: its entry is there, its exit is not. */
static void test_interrupt_without_exit(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct stat *stat;

    (void)unused;
    event2(mk, 0, 1, TRACE_CLASS_INT, 1, 27, 0);
    state(mk, 0, 10, STATE_RUNNING, 5);
    event2(mk, 0, 10, TRACE_CLASS_INT, 1, 27, 0);
    event2(mk, 0, 7, TRACE_CLASS_INT, 2, 27, 0);
    stat = account(mk);
    assert_int_equal(stat->irqs[27].count, 2);
    assert_int_equal(stat->irqs[27].time, 7);
    assert_int_equal(stat->cpus[0].irq_time, 7);
    done(stat, mk);
}

static void test_calls_and_losses(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    uint32_t wide[4] = {UINT32_MAX, UINT32_MAX, 22, 0};
    struct stat *stat;

    (void)unused;
    event2(mk, 0, 1, TRACE_CLASS_KER_CALL, 11, 1, 2);
    event2(mk, 0, 1, TRACE_CLASS_KER_CALL, 11 + 128, UINT32_MAX, 22);
    mk_event(mk, 0, 1, TRACE_CLASS_KER_CALL, 11 + 128 + 512, wide, 4);
    wide[1] = 0;
    mk_event(mk, 0, 1, TRACE_CLASS_KER_CALL, 11 + 128 + 512, wide, 4); /* 0xffffffff is no error */
    event2(mk, 0, 1, TRACE_CLASS_KER_CALL, 11 + 256, 0, 0);
    event2(mk, 0, 1, TRACE_CLASS_KYMO_CALL, 108 + 128, UINT32_MAX, 600);
    event2(mk, 0, 1, TRACE_CLASS_KYMO_CALL, 108 + 256, 0, 0);
    mk_dropped(mk, 0, KYMO_DROP_OVERWRITTEN, TRACE_CLASS_KER_CALL, 1000);
    mk_flush_all(mk);
    mk_slot(mk,
            &(struct trace_slot){TRACE_HEADER(1, 0, TRACE_CLASS_CONTROL, 8), 0, 2 << 8 | 6, 50});
    mk_slot(mk, &(struct trace_slot){TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, 8), 0,
                                     KYMO_DROP_RECYCLED << 8 | 1, 70}); /* no loss */
    stat = account(mk);
    assert_int_equal(stat->recycled, 70);
    assert_int_equal(stat->calls[11].enter, 1);
    assert_int_equal(stat->calls[11].exit, 3);
    assert_int_equal(stat->calls[11].errors, 2);
    assert_int_equal(stat->calls[11].interrupted, 1);
    assert_int_equal(stat->calls[11].by_error[22], 2);
    assert_int_equal(stat->calls[108].exit, 1);
    assert_int_equal(stat->calls[108].interrupted, 1);
    assert_int_equal(stat->calls[108].by_error[0], 1); /* no table has a number that large */
    assert_int_equal(stat->by_class[TRACE_CLASS_KYMO_CALL], 2);
    assert_int_equal(stat->lost, 1050);
    assert_int_equal(stat->cpus[0].lost[1][TRACE_CLASS_KER_CALL], 1000);
    assert_int_equal(stat->cpus[1].lost[2][TRACE_CLASS_USER], 50);
    assert_int_equal(stat->events, 7);
    done(stat, mk);
}

/* Every event has a row, by class and number: without --all up to 40 of a class. */
static void test_events(void **unused)
{
    static const char *const rows[] = {
        "  KER_CALL   (all kernel calls)                              2    3.39 %\n",
        "  KER_EXIT   (all kernel calls)                              1    1.69 %\n",
        "  THREAD     THRUNNING                                       2    3.39 %\n",
        "  SYSTEM     500                                             3    5.08 %\n",
        "  USER       600                                             1    1.69 %\n",
        "  USER       10 more, together 10 (--all shows them)\n",
        "  CLASS 20   77                                              1    1.69 %\n",
    };
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct stat *stat;
    char *text, *all;
    size_t size;

    (void)unused;
    event2(mk, 0, 1, TRACE_CLASS_KER_CALL, 11, 1, 2);
    event2(mk, 0, 1, TRACE_CLASS_KYMO_CALL, 108, 1, 2);
    event2(mk, 0, 1, TRACE_CLASS_KYMO_CALL, 108 + 128, 1, 2);
    state(mk, 0, 1, STATE_RUNNING, 5);
    event2(mk, 0, 1, TRACE_CLASS_PR_TH, STATE_RUNNING + 512, 5, 1); /* the wide form */
    for (unsigned i = 0; i < 3; i++) {
        event2(mk, 0, 1, TRACE_CLASS_SYSTEM, 500, 1, 2); /* no table has it */
    }
    for (unsigned i = 0; i < STAT_ROWS - 1 + 10; i++) {
        event2(mk, 0, 1, TRACE_CLASS_USER, i < STAT_ROWS - 1 ? i : 900 + i, 1, 2);
    }
    event2(mk, 0, 1, TRACE_CLASS_USER, 600, 1, 2); /* not the wide form of 88 */
    event2(mk, 0, 1, 20, 77, 1, 2);
    stat = account(mk);
    assert_int_equal(stat->by_event[TRACE_CLASS_PR_TH][STATE_RUNNING], 2);
    assert_int_equal(stat->by_event[TRACE_CLASS_USER][600], 1);
    text = shown(stat, false, &size);
    all = shown(stat, true, &size);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_non_null(strstr(text, rows[i]));
    }
    assert_null(strstr(all, "more, together"));
    assert_non_null(strstr(all, "  USER       948 "));
    assert_null(strstr(text, "  USER       948 "));
    free(text);
    free(all);
    done(stat, mk);
}

/* A process limits class THREAD while it is recorded: what runs from then on is not known. */
static void test_filters_change(void **unused)
{
    struct mk *mk =
        mk_new(&(struct mk_options){.ncpu = 1, .filters = "all classes without SYSTEM"});
    struct stat *stat;

    (void)unused;
    state(mk, 0, 1, STATE_RUNNING, 5);
    event2(mk, 0, 50, TRACE_CLASS_KER_CALL, 1, _NTO_TRACE_DELCLASS, _NTO_TRACE_USER);
    event2(mk, 0, 50, TRACE_CLASS_KER_CALL, 1, _NTO_TRACE_SETCLASSPID, _NTO_TRACE_THREAD);
    state(mk, 0, 900, STATE_RUNNING, 5);
    state(mk, 0, 10, STATE_RUNNING, 6);
    stat = account(mk);
    assert_true(stat->filter.stated && stat->filter.changed && !stat->filter.gate);
    assert_int_equal(stat->filter.changed_at - stat->first, 101);
    assert_int_equal(thread_find(stat, 5, 1)->time[STATE_RUNNING], 100);
    assert_int_equal(stat->cpus[0].busy, 100);
    assert_int_equal(stat->common, 101);
    done(stat, mk);
}

static void test_names(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    uint32_t process[2] = {1, 5}, thread[2] = {5, 1};
    struct stat *stat;

    (void)unused;
    mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, 192, process, 2, "server\033[2J");
    mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, 320, thread, 2, "main");
    stat = account(mk);
    assert_string_equal(process_name(process_get(stat, 5)), "server\\033[2J");
    assert_string_equal(process_name(process_get(stat, 6)), "?");
    assert_string_equal(thread_find(stat, 5, 1)->name, "main");
    done(stat, mk);
}

/* A header that says that nobody knows says nothing. */
static void test_filters_unknown(void **unused)
{
    static const char *const texts[] = {"unknown: they were set before a reset", "all classes"};

    (void)unused;
    for (unsigned i = 0; i < 2; i++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .filters = texts[i]});

        last(mk, 0, 5);
        struct stat *stat = account(mk);
        assert_int_equal(stat->filter.stated, i == 1);
        assert_int_equal(filter_doubt(stat) != NULL, i == 0);
        done(stat, mk);
    }
}

/* A board without a clock begins in 1970; whatever else isn't a date is none. */
static void test_dates(void **unused)
{
    static const struct {
        const char *text;
        int year; /* 0: unknown */
    } cases[] = {
        {"Fri Jan  2 03:04:05 2026", 2026},
        {"Sat Jan  1 00:00:00 2000", 2000},
        {"Thu Jan  1 00:00:09 1970", 0},
        {"Fri Dec 31 23:59:59 1999", 0},
        {"Fri Jan  2 03:04:05 2026 x", 0},
        {"Fri Jan  2 03:04 2026", 0},
        {"-", 0},
        {"", 0},
        {"Fri Jan 99 03:04:05 2026", 0},
        {"%s%n", 0},
    };

    (void)unused;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .date = cases[i].text});

        last(mk, 0, 5);
        struct stat *stat = account(mk);
        struct tm date = {0};
        bool known = stat_date(stat, "DATE", &date);
        assert_int_equal(known, cases[i].year != 0);
        assert_true(!known || date.tm_year + 1900 == cases[i].year);
        assert_false(stat_date(stat, "BOOT_DATE", &date));
        done(stat, mk);
    }
}

/* ---- lives: ids that are used again -------------------------------------------------- */

static char *stat_test_json(struct stat *stat)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    assert_non_null(to);
    json_show(to, stat);
    fclose(to);
    return text;
}

/* Thread `tid` of process 5 is made, named, runs and ends. */
static void stat_test_worker(struct mk *mk, const char *name, uint64_t runs)
{
    uint32_t thread[2] = {5, 2};

    event2(mk, 0, 1, TRACE_CLASS_PR_TH, 24, 5, 2);
    mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, 320, thread, 2, name);
    event2(mk, 0, 1, TRACE_CLASS_PR_TH, STATE_RUNNING, 5, 2);
    event2(mk, 0, runs, TRACE_CLASS_PR_TH, STATE_DEAD, 5, 2);
    event2(mk, 0, 0, TRACE_CLASS_PR_TH, 25, 5, 2);
    state(mk, 0, 0, STATE_RUNNING, STAT_IDLE_PID);
}

/* Three threads have the same tid in turn: each has its own row, name and time. */
static void test_lives_of_a_tid(void **unused)
{
    static const char *const rows[] = {
        "\"pid\":5,\"tid\":2,\"process\":\"pool\",\"name\":\"worker-a\"",
        "\"pid\":5,\"tid\":2,\"life\":2,\"process\":\"pool\",\"name\":\"worker-b\"",
        "\"pid\":5,\"tid\":2,\"life\":3,\"process\":\"pool\",\"name\":\"worker-c\"",
    };
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    uint32_t process[2] = {1, 5};
    struct stat *stat;
    char *json, *text = NULL;
    size_t size;

    (void)unused;
    mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, 192, process, 2, "pool");
    stat_test_worker(mk, "worker-a", 1000);
    stat_test_worker(mk, "worker-b", 3000);
    stat_test_worker(mk, "worker-c", 50);
    last(mk, 0, 5);
    stat = account(mk);
    json = stat_test_json(stat);
    for (unsigned i = 0; i < 3; i++) {
        assert_non_null(strstr(json, rows[i]));
    }
    assert_non_null(strstr(json, "\"runs\":1"));
    FILE *to = open_memstream(&text, &size);
    text_threads(to, stat, &(struct stat_style){.all = true});
    fclose(to);
    assert_non_null(strstr(text, "2@2 pool/worker-b"));
    assert_non_null(strstr(text, "2@3 pool/worker-c"));
    free(text);
    free(json);
    done(stat, mk);
}

/* A pid is used again, and so is the tid: the names of both processes stay. */
static void test_lives_of_a_pid(void **unused)
{
    static const char *const names[] = {"first", "second"};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    uint32_t process[2] = {1, 5};
    struct stat *stat;
    char *json;

    (void)unused;
    for (unsigned i = 0; i < 2; i++) {
        mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, 192, process, 2, names[i]);
        event2(mk, 0, 1, TRACE_CLASS_PR_TH, 24, 5, 1);
        state(mk, 0, 1, STATE_RUNNING, 5);
        event2(mk, 0, 10, TRACE_CLASS_COMM, 0, 0x408, 9);
        event2(mk, 0, 10, TRACE_CLASS_COMM, 10, 1, 5);
        event2(mk, 0, 100, TRACE_CLASS_PR_TH, 25, 5, 1);
        mk_string(mk, 0, 0, TRACE_CLASS_PR_TH, 256, process, 2, names[i]);
        state(mk, 0, 0, STATE_RUNNING, STAT_IDLE_PID);
    }
    last(mk, 0, 5);
    stat = account(mk);
    json = stat_test_json(stat);
    assert_non_null(strstr(json, "\"tid\":1,\"process\":\"first\""));
    assert_non_null(strstr(json, "\"tid\":1,\"life\":2,\"process\":\"second\""));
    assert_non_null(strstr(json, "\"from_name\":\"first\",\"to_name\":\"?\",\"sent\":1"));
    assert_non_null(strstr(json, "\"from_name\":\"second\",\"to_name\":\"?\",\"sent\":1"));
    free(json);
    done(stat, mk);
}

/* The names of lives, to and fro. */
static void test_life_names(void **unused)
{
    static const char *const none[] = {"", "5", "5:", "5:2@", "5:2@0", "5:2@2x", "5:2x", "a:2"};
    char text[LIFE_TEXT];
    int32_t pid, tid;
    uint32_t life;

    (void)unused;
    assert_string_equal(life_text(5, 2, 1, text), "5:2");
    assert_string_equal(life_text(5, 2, 3, text), "5:2@3");
    assert_true(life_parse("5:2@3", &pid, &tid, &life));
    assert_true(pid == 5 && tid == 2 && life == 3);
    /* Every number that is printed is read. */
    assert_true(life_parse(life_text(INT32_MAX, INT32_MIN, UINT32_MAX, text), &pid, &tid, &life));
    assert_true(pid == INT32_MAX && tid == INT32_MIN && life == UINT32_MAX);
    assert_false(life_parse("2147483648:2", &pid, &tid, &life));
    assert_false(life_parse("5: 2", &pid, &tid, &life));
    assert_true(life_parse("5:2", &pid, &tid, &life));
    assert_true(pid == 5 && tid == 2 && life == 0);
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_false(life_parse(none[i], &pid, &tid, &life));
    }
}

/* A client dies without a reply: its message is among the slowest, up to its end. */
static void test_client_dies(void **unused)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct stat *stat;
    char *json;

    (void)unused;
    state(mk, 0, 1, STATE_RUNNING, 5);
    event2(mk, 0, 10, TRACE_CLASS_COMM, 0, 0x408, 9);
    state(mk, 0, 1, STATE_SEND, 5);
    state(mk, 0, 1, STATE_RUNNING, 6);
    state(mk, 0, 998, STATE_DEAD, 5);
    last(mk, 0, 5);
    stat = account(mk);
    json = stat_test_json(stat);
    assert_non_null(strstr(json, "\"replied_at_ns\":null,\"latency_ns\":1000000,"));
    assert_non_null(strstr(json, "\"aborted\":true"));
    free(json);
    done(stat, mk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_migration_overlap),
        cmocka_unit_test(test_blocked_in_a_gap),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_interrupt_without_exit),
        cmocka_unit_test(test_calls_and_losses),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_filters_change),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lives_of_a_tid),
        cmocka_unit_test(test_lives_of_a_pid),
        cmocka_unit_test(test_life_names),
        cmocka_unit_test(test_client_dies),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_filters_unknown),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}
