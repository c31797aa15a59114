/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider profile: which names are rates, which probes are made and how many at most, that
 * their timers run from the first enabling to the last.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/provider/profile.h"
#include "trace/dtrace/provider/rate.h"

#include <stdio.h>
#include <string.h>

static struct dtrace_profile *started;
static unsigned starts, stops;
static int answer, run_answer;

static int start_timers(struct dtrace_profile *p)
{
    starts++;
    started = p;
    return answer;
}

static uint64_t runs; /* CPUs on which the probe fires */

static int run_timers(struct dtrace_profile *p, unsigned cpu, bool on)
{
    assert_ptr_equal(p, started);
    assert_true(cpu < FAKE_CPUS);
    assert_int_equal(runs >> cpu & 1, !on);
    if (on && run_answer) {
        return run_answer;
    }
    runs ^= 1u << cpu;
    return 0;
}

static void stop_timers(struct dtrace_profile *p)
{
    runs = 0;
    assert_ptr_equal(p, started);
    stops++;
}

static const struct dtrace_profile_target timers = {start_timers, run_timers, stop_timers};

static uint32_t probe_of(const char *name)
{
    struct dtrace_probe_names p = {0};

    while (dtrace_probe_next(p.id, &p)) {
        if (strcmp(p.provider->name, "profile") == 0 && strcmp(p.name, name) == 0) {
            assert_string_equal(p.module, "");
            assert_string_equal(p.function, "");
            return p.id;
        }
    }
    return 0;
}

/* A consumer of this probe: its id, 0 if it was refused. */
static uint32_t listen(const char *name)
{
    uint32_t id;

    dtrace_probe_provide("profile", "", "", name);
    id = probe_of(name);
    if (id) {
        clause(id, NULL);
        action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
        start();
    }
    return id;
}

static const struct {
    const char *name;
    uint64_t interval; /* 0: no such probe */
} intervals[] = {
    {"tick-1", 1000000000},
    {"tick-1hz", 1000000000},
    {"profile-97", 10309278},
    {"profile-5000", 200000},
    {"profile-5001", 0}, /* too fast */
    {"tick-200000", 0},
    {"tick-200000ns", 200000},
    {"tick-199999ns", 0},
    {"tick-200000nsec", 200000},
    {"tick-200us", 200000},
    {"tick-199us", 0},
    {"tick-250USEC", 250000},
    {"tick-3ms", 3000000},
    {"tick-3mSeC", 3000000},
    {"profile-2s", 2000000000},
    {"tick-2sec", 2000000000},
    {"tick-1m", 60000000000},
    {"tick-1MIN", 60000000000},
    {"tick-1h", 3600000000000},
    {"tick-2Hour", 7200000000000},
    {"tick-1d", 86400000000000},
    {"tick-1day", 86400000000000},
    {"tick-010ms", 10000000}, /* always decimal */
    {"tick-0x10ms", 0},
    {"tick-0", 0},
    {"tick-0s", 0},
    {"tick-", 0},
    {"tick-n", 0},
    {"tick-s", 0},
    {"tick--1s", 0},
    {"tick-+1s", 0},
    {"tick- 1s", 0},
    {"tick-1 s", 0},
    {"tick-1x", 0},
    {"tick-1secs", 0},
    {"tick-1se", 0},
    {"tick-1.5s", 0},
    {"tick-1day ", 0},
    {"tick", 0},
    {"profile", 0},
    {"profile-", 0},
    {"Tick-1s", 0},
    {"ticktick-1s", 0},
    {"tick-106751d", 9223286400000000000},
    {"tick-106752d", 0},               /* over 2^63 ns */
    {"tick-9223372036854775807ns", 0}, /* no one waits for it */
    {"tick-18446744073709551617ms", 0},
    {"tick-0000000000000000000001s", 1000000000},
    {"tick-00000000000000000000000001s", 0}, /* too long a name */
};

static void test_intervals(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
        uint32_t id = listen(intervals[i].name);
        if ((id != 0) != (intervals[i].interval != 0)) {
            fail_msg("%s: probe %u", intervals[i].name, id);
        }
        if (id) {
            assert_int_equal(started->probe, id);
            assert_int_equal(started->interval, intervals[i].interval);
            assert_int_equal(started->tick, intervals[i].name[0] == 't');
            target_close(NULL);
            target_open(NULL);
        }
    }
}

/* What the units say of each other; a size that is too much for 64 bits. */
static void test_units(void **state)
{
    static const char *const pairs[][2] = {{"", "hz"},     {"ns", "nsec"}, {"us", "usec"},
                                           {"ms", "msec"}, {"s", "sec"},   {"m", "min"},
                                           {"h", "hour"},  {"d", "day"}};
    uint64_t a, b;

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        assert_true(dtrace_rate_interval(7, pairs[i][0], &a) &&
                    dtrace_rate_interval(7, pairs[i][1], &b));
        assert_int_equal(a, b);
        assert_true(dtrace_rate_interval(0, pairs[i][0], &a));
        assert_int_equal(a, 0);
        assert_int_equal(dtrace_rate_interval(UINT64_MAX, pairs[i][0], &a), i < 2);
    }
    assert_false(dtrace_rate_interval(1, "n", &a) || dtrace_rate_interval(1, "hzz", &a));
}

static void test_where(void **state)
{
    (void)state;
    dtrace_probe_provide("profile", "m", "", "tick-17");
    dtrace_probe_provide("profile", "", "f", "tick-17");
    dtrace_probe_provide("profil", "", "", "tick-17");
    assert_int_equal(probe_of("tick-17"), 0);
    dtrace_probe_provide("prof*", "", "", "tick-17");
    dtrace_probe_provide("", "", "", "tick-17");
    assert_int_not_equal(probe_of("tick-17"), 0);
    assert_int_not_equal(probe_of("tick-5000"), 0); /* a usual one */
    assert_int_equal(started ? started->probe == probe_of("tick-17") : 0, 0);
}

static void test_timers(void **state)
{
    unsigned before = starts;

    (void)state;
    uint32_t id = listen("tick-33");
    assert_int_equal(starts, before + 1);
    assert_int_equal(started->probe, id);
    dtrace_fire(id, 5, 0, 0, 0, 0);
    take(0);
    assert_int_equal(target.nrecords, 1);
    target_close(NULL);
    assert_int_equal(stops, starts);
    target_open(NULL);
    clause(id, NULL);
    start();
    unsigned cpu;
    dtrace_consumer_stop(target.consumer, &cpu);
    answer = -12; /* no timer is to be had */
    assert_int_equal(stops, starts);
    assert_int_equal(dtrace_consumer_go(target.consumer, &cpu), -12);
    answer = 0;
}

/* ---- on which CPUs ----------------------------------------------------------------- */

enum { ALL = -1, MANY = 6 };

/* One more consumer of this probe, beside the target's. */
static struct dtrace_consumer *create(uint32_t probe, int cpu)
{
    struct dtrace_consumer *consumer;

    image_begin(&target.b);
    clause(probe, NULL);
    action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    if (cpu != ALL) {
        image_option(&target.b, DTRACE_OPT_CPU, (uint64_t)cpu);
    }
    const struct dtrace_image *image = image_end(&target.b);
    assert_int_equal(dtrace_consumer_create(image, target.b.size, 0, &consumer, &target.refusal),
                     0);
    return consumer;
}

static struct dtrace_consumer *one_more(uint32_t probe, int cpu)
{
    struct dtrace_consumer *consumer = create(probe, cpu);
    unsigned begin;

    assert_int_equal(dtrace_consumer_go(consumer, &begin), 0);
    return consumer;
}

static unsigned records_of(struct dtrace_consumer *consumer, unsigned cpu)
{
    struct dtrace_snap snap;

    assert_int_equal(dtrace_buffer_snap(consumer, cpu, target.buffer, sizeof(target.buffer), &snap),
                     0);
    return (unsigned)(snap.size / 24); /* header and one word of 8 bytes */
}

static void fire_everywhere(void)
{
    static const uint64_t args[5];

    for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++) {
        if (runs >> fake.cpu & 1) {
            dtrace_profile_fire(started, args);
        }
    }
    fake.cpu = 0;
}

/* Consumers of any CPUs come and go: after each step the probe runs where they need it and nowhere
 * else, and each gets a tick once and a profile once on each of its CPUs. */
static void test_cpus(void **state)
{
    static const char *const names[] = {"tick-7", "profile-7"};
    struct dtrace_consumer *all[MANY] = {NULL};
    int where[MANY];
    uint32_t seed = 1;

    (void)state;
    for (unsigned step = 0; step < 400; step++) {
        bool tick = step < 200;
        dtrace_probe_provide("profile", "", "", names[!tick]);
        seed = seed * 1664525 + 1013904223;
        unsigned i = (seed >> 16) % MANY;
        if (all[i] || step % 200 > 200 - 2 * MANY) {
            for (unsigned n = 0; n < MANY && !all[i]; n++) {
                i = n;
            }
            if (all[i]) {
                dtrace_consumer_destroy(all[i]);
                all[i] = NULL;
            }
        } else {
            where[i] = (int)((seed >> 24) % (FAKE_CPUS + 1)) - 1;
            all[i] = one_more(probe_of(names[!tick]), where[i]);
        }
        uint64_t want = 0;
        for (unsigned n = 0; n < MANY; n++) {
            if (all[n]) {
                want |= where[n] != ALL ? 1u << where[n] : tick ? 1u : (1u << FAKE_CPUS) - 1;
            }
        }
        assert_int_equal(runs, want);
        fire_everywhere();
        for (unsigned n = 0; n < MANY; n++) {
            for (unsigned cpu = 0; all[n] && cpu < FAKE_CPUS; cpu++) {
                bool there = where[n] == ALL ? !tick || cpu == 0 : (int)cpu == where[n];
                assert_int_equal(records_of(all[n], cpu), there);
            }
        }
    }
}

/* No timer is to be had for the second consumer's CPU: the first one's goes on. */
static void test_cpu_fails(void **state)
{
    uint32_t id = listen("tick-9");
    unsigned cpu;

    (void)state;
    assert_int_equal(runs, 1);
    struct dtrace_consumer *second = create(id, 1);
    run_answer = -12;
    assert_int_equal(dtrace_consumer_go(second, &cpu), -12);
    run_answer = 0;
    assert_int_equal(runs, 1);
    assert_int_equal(dtrace_consumer_go(second, &cpu), 0);
    assert_int_equal(runs, 3);
    dtrace_consumer_destroy(second);
    assert_int_equal(runs, 1);
}

/* They stay, so there is a limit; those that there are can be had. */
static void test_most(void **state)
{
    char name[32];
    unsigned made = 0;

    (void)state;
    for (unsigned i = 0; i < 3 * DTRACE_PROFILE_MOST; i++) {
        snprintf(name, sizeof(name), "tick-%uus", 1000 + i);
        dtrace_probe_provide("profile", "", "", name);
        made += probe_of(name) != 0;
    }
    assert_true(made > 0 && made < DTRACE_PROFILE_MOST);
    unsigned all = 0;
    struct dtrace_probe_names p = {0};
    while (dtrace_probe_next(p.id, &p)) {
        all += strcmp(p.provider->name, "profile") == 0;
    }
    assert_int_equal(all, DTRACE_PROFILE_MOST);
    assert_int_not_equal(listen("tick-1000us"), 0);
}

static int open_all(void **state)
{
    static bool done;

    if (!done) {
        dtrace_machine_init();
        dtrace_profile_register(&timers);
        done = true;
    }
    return target_open(state);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_all, target_close)
    const struct CMUnitTest tests[] = {
        T(test_intervals), T(test_units),     T(test_where), T(test_timers),
        T(test_cpus),      T(test_cpu_fails), T(test_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
