/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often `kymo diff` reports a change where there is none, how often it finds one that was
 * planted, and whether its intervals hold the truth: on captures of a simulated client and server
 * whose distributions are known, alone and in sets of runs that differ from each other. Seeds are
 * fixed: PAIRS=n makes more pairs, SEED=n begins with that one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/sys/states.h"
#include "host/diff/diff.h"
#include "test/host/support.h"

enum { PAIRS = 24, SET = 5, MESSAGES = 1500, CLIENT = 10, SERVER = 11, IDLE = 1 };

/* Means of exponential or lognormal times in cycles of 1 us. */
struct plan {
    double think, service, spread, interrupt, users;
    double runs; /* deviation of the service time's logarithm between runs */
};

static const struct plan usual = {
    .think = 400, .service = 300, .spread = 0.4, .interrupt = 20, .users = 0.5};

static struct mk *mk;

static double uniform(void)
{
    return (mk_random(mk) + 0.5) / 4294967296.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static void put(double after, unsigned class, unsigned number, uint32_t a, uint32_t b)
{
    uint32_t words[2] = {a, b};

    mk_event(mk, 0, 1 + (uint64_t)after, class, number, words, 2);
}

static void name(uint32_t pid, const char *text)
{
    uint32_t words[2] = {1, pid};

    mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, 192, words, 2, text);
}

#define TH(after, state, pid) put(after, TRACE_CLASS_PR_TH, state, pid, 1)

static void interrupt_put(const struct plan *plan)
{
    put(5, TRACE_CLASS_INT, 1, 27, 0);
    put(-plan->interrupt * log(uniform()), TRACE_CLASS_INT, 2, 27, 0);
}

static void message_put(const struct plan *plan, double service)
{
    put(20, TRACE_CLASS_COMM, 0, 7, SERVER);
    TH(0, STATE_REPLY, CLIENT);
    put(0, TRACE_CLASS_COMM, 2, 7, SERVER);
    TH(0, STATE_RUNNING, SERVER);
    put(service * exp(plan->spread * normal()), TRACE_CLASS_COMM, 10, 1, CLIENT);
    TH(0, STATE_READY, CLIENT);
    TH(5, STATE_RECEIVE, SERVER);
    TH(0, STATE_RUNNING, CLIENT);
}

/* A run's capture as a file; for free() and unlink(). */
static char *run_make(const struct plan *plan, uint64_t seed)
{
    char *path = strdup("build/tmp/diff-XXXXXX");
    double service;

    mk = mk_new(
        &(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes", .seed = seed});
    for (unsigned i = 0; i < 8; i++) {
        mk_random(mk); /* small seeds begin alike */
    }
    service = plan->service * exp(plan->runs * normal());
    name(IDLE, "kymo");
    name(CLIENT, "client");
    name(SERVER, "server");
    TH(1, STATE_RECEIVE, SERVER);
    TH(1, STATE_RUNNING, CLIENT);
    for (unsigned i = 0; i < MESSAGES; i++) {
        message_put(plan, service);
        if (uniform() < plan->users) {
            put(3, TRACE_CLASS_USER, 5, i, 0);
        }
        TH(10, STATE_NANOSLEEP, CLIENT);
        TH(0, STATE_RUNNING, IDLE);
        if (uniform() < 0.7) {
            interrupt_put(plan);
        }
        TH(-plan->think * log(uniform()), STATE_RUNNING, CLIENT);
    }
    mk_flush_all(mk);
    mk_end(mk);
    assert_non_null(path);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    assert_int_equal(mk_save(mk, path), 0);
    mk_free(mk);
    return path;
}

static struct diff *compare(const struct plan *a, const struct plan *b, unsigned captures,
                            uint64_t seed)
{
    const struct plan *plans[2] = {a, b};
    struct diff *diff = calloc(1, sizeof(*diff));

    assert_non_null(diff);
    *diff = (struct diff){.blocks = 32,
                          .resamples = 400,
                          .seed = seed,
                          .confidence = 0.99,
                          .least = 0.0,
                          .least_cpu = 0.001};
    diff->side[0].ncaptures = diff->side[1].ncaptures = captures;
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < captures; i++) {
            diff->side[side].captures[i].path =
                run_make(plans[side], (seed * 2 + side) * SET + i + 1);
        }
        for (unsigned i = 0; i < captures; i++) {
            assert_true(measure_capture(diff, side, diff->side[side].captures[i].path));
        }
    }
    measure_end(diff);
    assert_true(compare_all(diff));
    return diff;
}

static void compared_free(struct diff *diff)
{
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            unlink(diff->side[side].captures[i].path);
        }
    }
    measure_free(diff);
    free(diff);
}

static const struct diff_result *result_of(const struct diff *diff, const char *metric,
                                           const char *series)
{
    for (size_t i = 0; i < diff->nresults; i++) {
        const struct diff_result *result = &diff->results[i];

        if (strcmp(result->series->name, series) == 0 &&
            strcmp(diff_metric_names[result->series->kind][result->metric], metric) == 0) {
            return result;
        }
    }
    fail_msg("%s of %s is missing", metric, series);
    return NULL;
}

static unsigned pairs(void)
{
    return getenv("PAIRS") != NULL ? (unsigned)atoi(getenv("PAIRS")) : PAIRS;
}

static uint64_t first_seed(void)
{
    return getenv("SEED") != NULL ? strtoull(getenv("SEED"), NULL, 0) : 1;
}

/* Of captures of one distribution at most 3 % of what is compared differs at 99 %, and something
 * is compared. */
static void same_is_same(unsigned captures, double runs, unsigned npairs)
{
    struct plan plan = usual;
    size_t compared = 0, changed = 0;

    plan.runs = runs;
    for (unsigned i = 0; i < npairs; i++) {
        struct diff *diff = compare(&plan, &plan, captures, first_seed() + i);

        for (size_t n = 0; n < diff->nresults; n++) {
            const struct diff_result *result = &diff->results[n];

            assert_true(result->verdict == DIFF_SAME || result->verdict == DIFF_CHANGED ||
                        result->verdict == DIFF_FEW);
            compared += result->verdict != DIFF_FEW;
            changed += result->verdict == DIFF_CHANGED;
        }
        compared_free(diff);
    }
    printf("%u captures a side, runs differ by %g: %zu of %zu changed\n", captures, runs, changed,
           compared);
    assert_true(compared >= 20u * npairs);
    assert_true(100 * changed <= 3 * compared);
}

static void no_false_alarms(void **state)
{
    (void)state;
    same_is_same(1, 0, pairs());
}

static void no_false_alarms_between_runs_that_differ(void **state)
{
    (void)state;
    same_is_same(SET, 0.15, pairs() / 4);
}

/* A single run on each side can't know that runs differ: without sets there are false alarms. */
static void sets_are_what_knows_of_runs(void **state)
{
    struct plan plan = usual;
    unsigned changed = 0, n = pairs() / 2;

    (void)state;
    plan.runs = 0.15;
    for (unsigned i = 0; i < n; i++) {
        struct diff *diff = compare(&plan, &plan, 1, first_seed() + i);

        changed += result_of(diff, "message.p50", "client -> server")->verdict == DIFF_CHANGED;
        compared_free(diff);
    }
    assert_true(changed > n / 4);
}

struct truth {
    const char *metric, *series;
    double ratio;
};

/* Each planted change is found in nine of ten pairs, and the interval holds the true ratio. */
static void planted_is_found(const struct plan *b, const struct truth *truths, unsigned ntruths)
{
    unsigned found = 0, held = 0, n = pairs() / 2;

    for (unsigned i = 0; i < n; i++) {
        struct diff *diff = compare(&usual, b, 1, 1000 + first_seed() + i);

        for (unsigned t = 0; t < ntruths; t++) {
            const struct diff_result *result = result_of(diff, truths[t].metric, truths[t].series);
            double truth = log(truths[t].ratio);

            found += result->verdict == DIFF_CHANGED && (result->change > 0) == (truth > 0);
            held += result->low <= truth && truth <= result->high;
        }
        compared_free(diff);
    }
    printf("planted: %u of %u found, %u intervals hold the truth\n", found, n * ntruths, held);
    assert_true(10 * found >= 9 * n * ntruths);
    assert_true(100 * held >= 95 * n * ntruths);
}

static void a_slower_server(void **state)
{
    struct plan b = usual;
    /* A message takes 4 cycles besides, the lognormal's median is its scale; both runs differ in
     * length by a third of the slow-down. */
    double more = 1.25, median = (usual.service * more + 4) / (usual.service + 4),
           p90 = (usual.service * more * exp(usual.spread * 1.2816) + 4) /
                 (usual.service * exp(usual.spread * 1.2816) + 4);
    const struct truth truths[] = {{"message.p50", "client -> server", median},
                                   {"message.p90", "client -> server", p90}};

    (void)state;
    b.service *= more;
    planted_is_found(&b, truths, 2);
}

static void rates_and_interrupts(void **state)
{
    struct plan b = usual;
    const struct truth truths[] = {{"interrupt.p50", "27 (timer)", 0.7}, {"rate", "USER 5", 0.6}};

    (void)state;
    b.interrupt *= 0.7;
    b.users *= 0.6;
    planted_is_found(&b, truths, 2);
}

/* The quantiles of Student's distribution, as any table has them. */
static void students_table(void **state)
{
    static const struct {
        double confidence, freedom, t;
    } rows[] = {{0.95, 1, 12.706}, {0.95, 2, 4.303},   {0.99, 3, 5.841},   {0.99, 4, 4.604},
                {0.99, 9, 3.250},  {0.99, 30, 2.750},  {0.9, 7, 1.895},    {0.999, 5, 6.869},
                {0.5, 1, 1.0},     {0.95, 1e6, 1.962}, {0.99, 0.2, 63.657}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double t = compare_student(rows[i].confidence, rows[i].freedom);

        if (fabs(t - rows[i].t) > 0.001 * rows[i].t) {
            fail_msg("%g at %g: %g", rows[i].confidence, rows[i].freedom, t);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_table),
        cmocka_unit_test(no_false_alarms),
        cmocka_unit_test(no_false_alarms_between_runs_that_differ),
        cmocka_unit_test(sets_are_what_knows_of_runs),
        cmocka_unit_test(a_slower_server),
        cmocka_unit_test(rates_and_interrupts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
