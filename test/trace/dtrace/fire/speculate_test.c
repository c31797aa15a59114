/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speculations in all their states against a naive model: thousands of random calls on both CPUs,
 * with the cleaner between them. After each the records that came out, their order, and every count
 * of what was lost are the model's.
 */
#include "test/trace/dtrace/fire/target.h"

#include "test/tool/random.h"

#include <string.h>

enum { SPECS = 3, ROOM = 3, STEPS = 20000, RECORD = 24 };
enum state { FREE, USED, COMMITTED, DISCARDED };

static struct {
    enum state state;
    unsigned n[FAKE_CPUS];
    uint64_t data[FAKE_CPUS][ROOM];
} spec[SPECS];
static struct dtrace_status want;
static uint64_t out[FAKE_CPUS][SPECS * ROOM]; /* to come out of each CPU's buffer */
static unsigned nout[FAKE_CPUS];

static void begin(void)
{
    const char *const id = "result value 4; ldgs arg1 r1; ret r1";

    memset(spec, 0, sizeof(spec));
    memset(&want, 0, sizeof(want));
    memset(nout, 0, sizeof(nout));
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "call speculation r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_SPECULATE, id);
    action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
    clause(target.probe[2], NULL);
    action(DTRACE_ACT_COMMIT, id);
    clause(target.probe[3], NULL);
    action(DTRACE_ACT_DISCARD, id);
    image_option(&target.b, DTRACE_OPT_NSPEC, SPECS);
    image_option(&target.b, DTRACE_OPT_SPECSIZE, ROOM * RECORD);
    start();
}

static void come_out(unsigned cpu, uint64_t value)
{
    out[cpu][nout[cpu]++] = value;
}

static void move_out(unsigned id, unsigned cpu)
{
    for (unsigned i = 0; i < spec[id].n[cpu]; i++) {
        come_out(cpu, spec[id].data[cpu][i]);
    }
    spec[id].n[cpu] = 0;
}

/* ---- the model --------------------------------------------------------------------- */

static uint64_t model_new(void)
{
    bool waits = false;

    for (unsigned i = 0; i < SPECS; i++) {
        if (spec[i].state == FREE) {
            spec[i].state = USED;
            return i + 1;
        }
        waits |= spec[i].state != USED;
    }
    want.speculations_busy += waits;
    want.speculations_unavailable += !waits;
    return 0;
}

static bool in_use(uint64_t id)
{
    return 0 < id && id <= SPECS && spec[id - 1].state == USED;
}

static void model_speculate(uint64_t id, unsigned cpu, uint64_t value)
{
    if (!in_use(id)) {
        return;
    }
    unsigned *n = &spec[id - 1].n[cpu];
    if (*n == ROOM) {
        want.speculative_drops++;
    } else {
        spec[id - 1].data[cpu][(*n)++] = value;
    }
}

static void model_end(uint64_t id, unsigned cpu, bool commit)
{
    want.errors += id > SPECS;
    if (in_use(id)) {
        spec[id - 1].state = commit ? COMMITTED : DISCARDED;
        if (commit) {
            move_out((unsigned)id - 1, cpu);
        }
    }
}

static void model_clean(void)
{
    for (unsigned i = 0; i < SPECS; i++) {
        for (unsigned cpu = 0; cpu < FAKE_CPUS; cpu++) {
            if (spec[i].state == COMMITTED) {
                move_out(i, cpu);
            } else if (spec[i].state == DISCARDED) {
                spec[i].n[cpu] = 0;
            }
        }
        spec[i].state = spec[i].state == USED ? USED : FREE;
    }
}

/* ---- both -------------------------------------------------------------------------- */

static void check(void)
{
    struct dtrace_status s = status();

    for (unsigned cpu = 0; cpu < FAKE_CPUS; cpu++) {
        take(cpu);
        assert_int_equal(target.nrecords, nout[cpu]);
        for (unsigned i = 0; i < nout[cpu]; i++) {
            assert_int_equal(datum(i, 0), out[cpu][i]);
        }
        assert_int_equal(target.snap.drops, 0);
        nout[cpu] = 0;
    }
    assert_int_equal(s.speculations_busy, want.speculations_busy);
    assert_int_equal(s.speculations_unavailable, want.speculations_unavailable);
    assert_int_equal(s.speculative_drops, want.speculative_drops);
    assert_int_equal(s.errors, want.errors);
}

static void step(uint64_t value)
{
    static const uint64_t odd[] = {0, SPECS + 1, UINT32_MAX, UINT64_MAX};
    unsigned what = random_below(100), cpu = random_below(FAKE_CPUS);
    uint64_t id = random_below(20) ? 1 + random_below(SPECS) : odd[random_below(4)];

    fake.cpu = cpu;
    if (what < 20) {
        come_out(cpu, model_new());
        dtrace_fire(target.probe[0], value, id, 0, 0, 0);
    } else if (what < 70) {
        model_speculate(id, cpu, value);
        dtrace_fire(target.probe[1], value, id, 0, 0, 0);
    } else if (what < 90) {
        bool commit = what < 80;
        model_end(id, cpu, commit);
        dtrace_fire(target.probe[commit ? 2 : 3], value, id, 0, 0, 0);
    } else {
        model_clean();
        dtrace_machine_clean();
    }
    fake.cpu = 0;
}

static void test_random_calls(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 1; i < STEPS; i++) {
        step(i);
        check();
    }
    assert_true(want.speculations_busy > 100 && want.speculations_unavailable > 100);
    assert_true(want.speculative_drops > 100 && want.errors > 100);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_random_calls),
    };
    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
