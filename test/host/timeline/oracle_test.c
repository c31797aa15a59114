/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline against a simulated system whose every cause is known (simulate.h): no name, state
 * or cause may be wrong, and only what loss or filters hide may be unknown. oracle.h defines the
 * comparison, oracle_known.h has what is not so today. ROUNDS=n captures, the first with SEED=n, or
 * one of chance. WAITS=n: until that many waits were compared. VERBOSE=1 prints all counts.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/timeline/timeline.h"
#include "test/host/fabricate/simulate.h"
#include "test/host/support.h"
#include "test/host/timeline/oracle.h"
#include "test/host/timeline/oracle_known.h"

#define ORACLE_ROUNDS 48
#define ORACLE_STEPS 500
#define ORACLE_WRONG 800 /* of a million facts */
#define ORACLE_NS 1000   /* of a cycle: mkcapture's clock has 1 MHz */

/* Kinds that the timeline gets wrong, or does not know, with the seeds of captures that show it. A
 * row, or its seed, is removed when the kind is mended: one that its seed doesn't show fails the
 * test, so the table only shrinks. */
static const struct oracle_row {
    const char *key;         /* a pattern: of those that match, the first counts */
    uint64_t wrong, unknown; /* 0: it never is */
} oracle_known[] = {
#define ROW(key, wrong, unknown) {key, wrong, unknown},
    ORACLE_KNOWN(ROW)
#undef ROW
};

/* ---- the timeline's answers -------------------------------------------------------- */

static struct oracle_name answer_name(const struct timeline *timeline, uint32_t thread)
{
    const struct timeline_thread *t;

    if (thread == TIMELINE_NONE || thread >= timeline->nthreads) {
        return (struct oracle_name){.tid = 0};
    }
    t = &timeline->threads[thread];
    return (struct oracle_name){.pid = t->pid, .tid = t->tid, .from = t->from, .to = t->to};
}

static void answer_cause(const struct timeline *timeline, const struct timeline_span *next,
                         struct oracle_span *to)
{
    static const uint8_t causes[] = {
        [TIMELINE_CAUSE_UNKNOWN] = ORACLE_CAUSE_UNKNOWN,
        [TIMELINE_CAUSE_SELF] = ORACLE_CAUSE_SELF,
        [TIMELINE_CAUSE_THREAD] = ORACLE_CAUSE_THREAD,
        [TIMELINE_CAUSE_INTERRUPT] = ORACLE_CAUSE_INTERRUPT,
        [TIMELINE_CAUSE_PREEMPTED] = ORACLE_CAUSE_PREEMPTED,
    };

    to->cause = causes[next->cause];
    if (next->cause == TIMELINE_CAUSE_THREAD) {
        to->by = answer_name(timeline, next->by);
    }
    to->number = next->by;
}

static void answer_spans(const struct timeline *timeline, struct oracle_answers *answers)
{
    answers->threads = calloc(timeline->nthreads + 1, sizeof(*answers->threads));
    answers->spans = calloc(timeline->nspans + 1, sizeof(*answers->spans));
    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        answers->threads[answers->nthreads++] =
            (struct oracle_thread){.thread = answer_name(timeline, i),
                                   .name = timeline->threads[i].name,
                                   .process = timeline->threads[i].process};
        for (uint32_t n = 0; n < timeline->threads[i].count; n++) {
            const struct timeline_span *span = timeline_span(timeline, i, n);
            struct oracle_span *to = &answers->spans[answers->nspans++];

            *to = (struct oracle_span){.thread = answer_name(timeline, i),
                                       .from = span->from,
                                       .to = span->to,
                                       .object = span->object,
                                       .message = ORACLE_NEVER,
                                       .cpu = span->cpu,
                                       .priority = span->priority,
                                       .state = span->state == TIMELINE_UNKNOWN ? ORACLE_UNKNOWN
                                                                                : span->state,
                                       .ends = (span->flags & TIMELINE_TO) != 0};
            if (span->state == STATE_MUTEX) {
                to->other = answer_name(timeline, span->other);
            } else if (span->other != TIMELINE_NONE) {
                to->message = timeline->messages[span->other].sent;
            }
            if (n + 1 < timeline->threads[i].count) {
                answer_cause(timeline, timeline_span(timeline, i, n + 1), to);
            }
        }
    }
}

static void answer_others(const struct timeline *timeline, struct oracle_answers *answers)
{
    answers->messages = calloc(timeline->nmessages + 1, sizeof(*answers->messages));
    for (uint32_t i = 0; i < timeline->nmessages; i++) {
        const struct timeline_message *message = &timeline->messages[i];

        answers->messages[answers->nmessages++] =
            (struct oracle_message){.client = answer_name(timeline, message->client),
                                    .server = answer_name(timeline, message->server),
                                    .sent = message->sent,
                                    .received = message->received,
                                    .replied = message->replied,
                                    .error = (message->flags & TIMELINE_ERROR) != 0,
                                    .aborted = (message->flags & TIMELINE_ABORTED) != 0};
    }
    answers->interrupts = calloc(timeline->ninterrupts + 1, sizeof(*answers->interrupts));
    for (uint32_t i = 0; i < timeline->ninterrupts; i++) {
        const struct timeline_interrupt *interrupt = &timeline->interrupts[i];

        answers->interrupts[answers->ninterrupts++] =
            (struct oracle_interrupt){.from = interrupt->from,
                                      .to = interrupt->to,
                                      .number = interrupt->number,
                                      .cpu = interrupt->cpu,
                                      .depth = interrupt->depth};
    }
    answers->calls = calloc(timeline->ncalls + 1, sizeof(*answers->calls));
    for (uint32_t i = 0; i < timeline->ncalls; i++) {
        const struct timeline_call *call = &timeline->calls[i];

        answers->calls[answers->ncalls++] =
            (struct oracle_call){.thread = answer_name(timeline, call->thread),
                                 .from = call->from,
                                 .to = call->to,
                                 .number = call->number,
                                 .ends = (call->flags & TIMELINE_TO) != 0};
    }
}

static void answers_free(struct oracle_answers *answers)
{
    free(answers->threads);
    free(answers->spans);
    free(answers->messages);
    free(answers->interrupts);
    free(answers->calls);
}

/* ---- rounds ------------------------------------------------------------------------ */

static void round_run(uint64_t seed, struct oracle_counts *counts)
{
    struct sim_options options = {.seed = seed,
                                  .cpus = 1 + (unsigned)(seed % SIM_CPUS_MOST),
                                  .steps = ORACLE_STEPS,
                                  .losses = seed / SIM_CPUS_MOST % 3 == 1,
                                  .filters = seed / SIM_CPUS_MOST % 6 == 5,
                                  .fast = seed % 5 == 0};
    struct oracle_answers answers = {.nspans = 0};
    struct truth truth;
    struct mk *mk = sim_run(&options, &truth);
    struct kev_capture *capture = kev_capture_new();
    struct timeline *timeline;

    assert_non_null(mk);
    kev_capture_set_recover(capture, true); /* buffers may be missing unnoticed */
    assert_int_equal(kev_capture_open_memory(capture, mk->bytes, mk->len, "made"), KEV_COMPLETE);
    timeline = timeline_new(capture, NULL, NULL);
    assert_non_null(timeline);
    if (timeline->outcome == KEV_FAILED) {
        fail_msg("SEED=%llu: %s", (unsigned long long)seed, timeline->fault);
    }
    answer_spans(timeline, &answers);
    answer_others(timeline, &answers);
    oracle_compare(&truth, kev_capture_facts(capture)->start, ORACLE_NS, &answers, seed, counts);
    answers_free(&answers);
    timeline_free(timeline);
    kev_capture_free(capture);
    truth_free(&truth);
    mk_free(mk);
}

static int known_row(const char *key)
{
    for (unsigned i = 0; i < sizeof(oracle_known) / sizeof(oracle_known[0]); i++) {
        if (fnmatch(oracle_known[i].key, key, 0) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void example_print(const char *what, uint64_t count, const struct oracle_example *example)
{
    if (count > 0) {
        printf("\n    %s: SEED=%llu %s", what, (unsigned long long)example->seed, example->text);
    }
}

/* How many kinds are wrong, or unknown, that the table does not have; prints them. */
static unsigned counts_judge(const struct oracle_counts *counts, bool verbose)
{
    unsigned bad = 0;

    for (unsigned i = 0; i < counts->nkeys; i++) {
        const struct oracle_count *count = &counts->keys[i];
        int row = known_row(count->key);
        bool wrong = count->wrong > 0 && (row < 0 || oracle_known[row].wrong == 0);
        bool unknown = count->unknown > 0 && row < 0; /* what may be wrong may be unknown, too */

        bad += wrong || unknown;
        if (verbose || wrong || unknown) {
            printf("\n%-24s right %llu wrong %llu unknown %llu", count->key,
                   (unsigned long long)count->right, (unsigned long long)count->wrong,
                   (unsigned long long)count->unknown);
            example_print("wrong", count->wrong, &count->first_wrong);
            example_print("unknown", count->unknown, &count->first_unknown);
        }
    }
    printf("\n");
    return bad;
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *given = getenv(name);

    return given == NULL ? otherwise : strtoull(given, NULL, 0);
}

static void rounds_run(uint64_t seed, uint64_t rounds, uint64_t waits, struct oracle_counts *counts)
{
    printf("SEED=%llu ROUNDS=%llu\n", (unsigned long long)seed, (unsigned long long)rounds);
    fflush(stdout);
    for (uint64_t i = 0; i < rounds || counts->waits < waits; i++) {
        round_run(seed + i, counts);
    }
    printf("%llu waits\n", (unsigned long long)counts->waits);
}

/* The share of wrong facts, of the kinds in the table; in a million: it only falls. */
static void share_check(const struct oracle_counts *counts)
{
    uint64_t all = 0, wrong = 0;

    for (unsigned i = 0; i < counts->nkeys; i++) {
        all += counts->keys[i].right + counts->keys[i].wrong;
        wrong += counts->keys[i].wrong;
    }
    printf("%llu of %llu facts are wrong\n", (unsigned long long)wrong, (unsigned long long)all);
    assert_true(wrong * 1000000 <= all * ORACLE_WRONG);
}

static void no_fact_is_wrong(void **state)
{
    static struct oracle_counts counts;
    uint64_t rounds = number_of("ROUNDS", ORACLE_ROUNDS);
    uint64_t seed = number_of("SEED", 1 + (uint64_t)time(NULL) * 1000);

    (void)state;
    rounds_run(seed, rounds, number_of("WAITS", 0), &counts);
    assert_int_equal(counts_judge(&counts, number_of("VERBOSE", 0) != 0), 0);
    share_check(&counts);
}

static void row_check(const char *key, uint64_t seed, bool wrong)
{
    static struct oracle_counts counts;
    bool occurs = seed == 0;

    if (seed != 0) {
        counts = (struct oracle_counts){.nkeys = 0};
        round_run(seed, &counts);
    }
    for (unsigned n = 0; n < counts.nkeys && !occurs; n++) {
        occurs = fnmatch(key, counts.keys[n].key, 0) == 0 &&
                 (wrong ? counts.keys[n].wrong : counts.keys[n].unknown) > 0;
    }
    if (!occurs) {
        fail_msg("\"%s\" isn't %s any more with SEED=%llu; if it isn't with others, it can go from "
                 "oracle_known.h",
                 key, wrong ? "wrong" : "unknown", (unsigned long long)seed);
    }
}

/* The table of what is known to be wrong has no row too many. */
static void known_rows_occur(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(oracle_known) / sizeof(oracle_known[0]); i++) {
        row_check(oracle_known[i].key, oracle_known[i].wrong, true);
        row_check(oracle_known[i].key, oracle_known[i].unknown, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_rows_occur),
        cmocka_unit_test(no_fact_is_wrong),
    };

    return cmocka_run_group_tests_name("timeline_oracle", tests, NULL, NULL);
}
