/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What readers that merge CPUs need: START gives a first buffer of every CPU, before all others;
 * FLUSHCPUS gives another one of a CPU that is quiet, and never costs an event; buffers are taken
 * in the order of their times; an overwritten buffer without events is accounted for.
 */
#include "test/trace/look.h"

#include <stdio.h>
#include <string.h>

#include "test/tool/random.h"
#include "trace/loss.h"

#define PER_CPU 4

static void begin(unsigned cpus, uint32_t mode)
{
    fake_boot(cpus);
    fake.hooked = true;
    start_tracing(PER_CPU, mode);
}

static void insert_on(unsigned cpu, unsigned n)
{
    struct fake_where back = fake_on(cpu);

    insert_events(n);
    fake_back(back);
}

static long flush_cpus(uint32_t low, uint32_t high)
{
    return command_as(OWNER, KYMO_TRACE_FLUSHCPUS, low, high, NULL);
}

/* Takes the next buffer, and gives it back: its CPU; -1: none is READY. */
static struct kymo_trace_buffer taken;
static uint64_t taken_time;
static int next(void)
{
    long result = command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &taken);

    if (result != 0) {
        assert_int_equal(result, -EAGAIN);
        return -1;
    }
    const struct trace_slot *slot = look_slots(taken.cpu, taken.index % ring_of(taken.cpu)->count);
    taken_time = (uint64_t)slot[1].d1 << 32 | slot[0].time;
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, taken.index), 0);
    return (int)taken.cpu;
}

/* ---- START ------------------------------------------------------------------------- */

/* Also when CPU 0 has filled others before anything is taken. */
static void every_cpu_gives_a_first_buffer(void **unused)
{
    (void)unused;
    begin(4, _NTO_TRACE_SETLINEARMODE);
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        assert_int_equal(look_count(cpu, TRACE_READY), 1);
        assert_int_equal(look_count(cpu, TRACE_ACTIVE), 0);
        assert_int_equal(look_slots(cpu, 0)[0].d2, 2);
        assert_int_equal(fake.raised[cpu], 1);
        assert_int_equal(fake.raised_value[cpu], (PER_CPU * cpu) << 13 | 1);
    }
    insert_on(0, 2 * TRACE_BUFFER_SLOTS);
    assert_int_equal(look_count(0, TRACE_READY), 3);
    for (int cpu = 0; cpu < 4; cpu++) {
        assert_int_equal(next(), cpu);
        assert_int_equal(taken.sequence, 1);
        assert_int_equal(taken.slots, 2);
    }
    assert_int_equal(next(), 0);
    assert_int_equal(taken.sequence, 2);
    assert_int_equal(loss_of(0).made, 2 * TRACE_BUFFER_SLOTS);
    assert_int_equal(loss_of(1).made, 0);
    end_tracing();
}

static void each_start_does(void **unused)
{
    (void)unused;
    begin(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0); /* it runs: nothing */
    assert_int_equal(look_count(1, TRACE_READY), 1);
    for (uint32_t sequence = 1; sequence <= 3; sequence++) {
        assert_int_equal(next(), 0);
        assert_int_equal(next(), 1);
        assert_int_equal(taken.sequence, sequence);
        assert_int_equal(next(), -1);
        assert_int_equal(command(_NTO_TRACE_STOP), 0);
        assert_int_equal(next(), -1);
        assert_int_equal(command(_NTO_TRACE_START), TRACE_DUMP_WANTED);
    }
    end_tracing();
}

/* Events are worth more than a TIME. */
static void none_is_taken_from_events(void **unused)
{
    (void)unused;
    begin(2, _NTO_TRACE_SETLINEARMODE);
    insert_on(1, PER_CPU * TRACE_BUFFER_SLOTS);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    uint64_t lost = loss_of(1).lost[TRACE_CLASS_USER];
    assert_int_equal(look_count(1, TRACE_FREE), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(look_count(1, TRACE_READY), PER_CPU);
    assert_int_equal(look_count(0, TRACE_READY), 2);
    assert_int_equal(loss_of(1).lost[TRACE_CLASS_USER], lost);
    end_tracing();
}

/* Nothing may be taken while they run; the first buffer is the one that events go into. */
static void a_ring_and_fill_begin_one(void **unused)
{
    static const uint32_t modes[] = {_NTO_TRACE_SETRINGMODE, KYMO_TRACE_SETFILLMODE};

    (void)unused;
    for (unsigned i = 0; i < 2; i++) {
        begin(3, modes[i]);
        insert_on(1, 5);
        for (unsigned cpu = 0; cpu < 3; cpu++) {
            assert_int_equal(look_active_slots(cpu), cpu == 1 ? 7 : 2);
            assert_int_equal(look_count(cpu, TRACE_FREE), PER_CPU - 1);
            assert_int_equal(fake.raised[cpu], 0);
        }
        assert_int_equal(command(_NTO_TRACE_STOP), 0);
        for (int cpu = 0; cpu < 3; cpu++) {
            assert_int_equal(next(), cpu);
        }
        assert_int_equal(next(), -1);
        end_tracing();
    }
}

static void one_cpu_or_nobody_there(void **unused)
{
    (void)unused;
    begin(1, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(next(), -1);
    end_tracing();
    fake_boot(2);
    start_tracing(PER_CPU, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(next(), -1);
    end_tracing();
}

/* What is pending from before is in the first buffer. */
static void it_tells_of_losses(void **unused)
{
    struct tally tally = {.last = 0};

    (void)unused;
    begin(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    trace_loss_add(&trace_port_cpu_at(1)->loss, KYMO_DROP_TOOBIG, TRACE_CLASS_USER, 7);
    assert_int_equal(next(), 0);
    assert_int_equal(next(), 1);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(look_slots(1, 1)[0].d2, 3);
    assert_int_equal(take_all(&tally), 2);
    assert_int_equal(tally.dropped[KYMO_DROP_TOOBIG][TRACE_CLASS_USER], 7);
    end_tracing();
}

/* ---- FLUSHCPUS --------------------------------------------------------------------- */

static void the_asked_ones_give(void **unused)
{
    (void)unused;
    begin(4, _NTO_TRACE_SETLINEARMODE);
    while (next() >= 0) {
    }
    insert_on(1, 3);
    insert_on(2, 3);
    assert_int_equal(flush_cpus(1u << 1 | 1u << 3, 0xffffffff), 0);
    assert_int_equal(fake.raised[1], 2);
    assert_int_equal(fake.raised[2], 1);
    assert_int_equal(fake.raised[3], 2);
    assert_int_equal(next(), 1);
    assert_int_equal(taken.slots, 6);
    assert_int_equal(look_slots(1, 1)[5].header, 1 << 24 | 0x401); /* until when: TIME */
    assert_int_equal(next(), 3);
    assert_int_equal(taken.slots, 2);
    assert_int_equal(next(), -1);
    assert_int_equal(look_active_slots(2), 5);
    end_tracing();
}

static void it_is_for_linear_recordings(void **unused)
{
    (void)unused;
    fake_boot(2);
    assert_int_equal(flush_cpus(3, 0), -EFAULT);
    begin(2, _NTO_TRACE_SETRINGMODE);
    assert_int_equal(flush_cpus(3, 0), -ECANCELED);
    end_tracing();
    begin(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(flush_cpus(3, 0), -ECANCELED);
    end_tracing();
}

/* With every number of FREE buffers, with an ACTIVE one and without: a FREE one is always left. */
static void it_leaves_a_buffer(void **unused)
{
    (void)unused;
    for (unsigned full = 0; full < PER_CPU; full++) {
        for (unsigned active = 0; active < 2; active++) {
            fake_boot(2);
            start_tracing(PER_CPU, _NTO_TRACE_SETLINEARMODE);
            for (unsigned i = 0; i < full; i++) {
                insert_on(0, 10);
                assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
            }
            insert_on(0, active);
            unsigned free = look_count(0, TRACE_FREE);

            for (unsigned i = 0; i < 2 * PER_CPU; i++) {
                assert_int_equal(flush_cpus(1, 0), 0);
            }
            assert_true(look_count(0, TRACE_FREE) >= (free > 0));
            assert_true(look_count(0, TRACE_ACTIVE) == 0 || free == 0);
            assert_int_equal(loss_of(0).made, 10 * full + active);
            for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
                assert_int_equal(loss_of(0).lost[class], 0);
            }
            end_tracing();
        }
    }
}

/* ---- the order of taking ----------------------------------------------------------- */

static void buffers_are_taken_by_time(void **unused)
{
    static const uint32_t modes[] = {_NTO_TRACE_SETLINEARMODE, _NTO_TRACE_SETRINGMODE,
                                     KYMO_TRACE_SETFILLMODE};

    (void)unused;
    random_start();
    for (unsigned round = 0; round < 120; round++) {
        uint32_t last[FAKE_CPUS] = {0};
        uint64_t before = 0;

        begin(1 + random_below(FAKE_CPUS), modes[round % 3]);
        for (unsigned i = random_below(60); i > 0; i--) {
            unsigned cpu = random_below(fake.cpus);

            insert_on(cpu, 1 + random_below(random_below(3) ? 30 : 600));
            for (unsigned other = 0; other < fake.cpus; other++) { /* one clock for all */
                fake_pass(other, fake.clock[cpu] + 5 > fake.clock[other]
                                     ? fake.clock[cpu] + 5 - fake.clock[other]
                                     : 1);
            }
            if (random_below(10) == 0) {
                fake_pass(cpu, random_below(2) ? 1000 : 1ull << 33);
            }
        }
        assert_int_equal(command(_NTO_TRACE_STOP), 0);
        unsigned there = 0;
        for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
            there += look_count(cpu, TRACE_READY);
        }
        for (; next() >= 0; there--) {
            bool first = modes[round % 3] == _NTO_TRACE_SETLINEARMODE && taken.sequence == 1 &&
                         taken.slots == 2;

            assert_true(taken.sequence > last[taken.cpu]);
            assert_true(taken_time >= before || first);
            assert_true(!first || before == 0); /* START's come first, whatever the clocks say */
            before = first ? 0 : taken_time;
            last[taken.cpu] = taken.sequence;
        }
        assert_int_equal(there, 0);
        end_tracing();
    }
}

/* ---- overwritten buffers ----------------------------------------------------------- */

/* As a capture's reader counts: of one CPU, in the order of the sequence. */
struct gaps {
    uint32_t last;
    uint64_t missing, told;
};

static void gaps_read(struct gaps *gaps, const struct kymo_trace_buffer *b)
{
    struct tally tally = {.last = 0};

    tally_add(&tally, b->cpu, look_slots(b->cpu, b->index % ring_of(b->cpu)->count), b->slots,
              b->sequence, false);
    gaps->missing += gaps->last ? b->sequence - gaps->last - 1 : 0;
    gaps->last = b->sequence;
    for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
        gaps->told += tally.dropped[KYMO_DROP_OVERWRITTEN][class];
    }
}

/* A gap may come before the slots that tell of it. */
static void gaps_check(unsigned cpu, struct gaps *gaps)
{
    struct kymo_trace_loss loss = loss_of(cpu);

    for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
        gaps->told += loss.pending[KYMO_DROP_OVERWRITTEN][class];
    }
    assert_true(gaps->told >= gaps->missing);
}

/* No gap without a loss that tells of it, whatever was in the buffer. */
static void every_gap_is_told(void **unused)
{
    uint64_t empty = 0, missing = 0;

    (void)unused;
    random_start();
    for (unsigned round = 0; round < 200; round++) {
        struct gaps gaps[FAKE_CPUS] = {{0}};

        begin(2 + random_below(FAKE_CPUS - 1), _NTO_TRACE_SETLINEARMODE);
        while (next() >= 0) {
            gaps[taken.cpu].last = taken.sequence;
        }
        for (unsigned i = 0; i < 40; i++) {
            switch (random_below(5)) {
            case 0:
                assert_int_equal(command(_NTO_TRACE_STOP), 0);
                assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
                break;
            case 1:
                assert_int_equal(flush_cpus(random_below(16), 0), 0);
                break;
            case 2:
                assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
                break;
            case 3:
                if (random_below(3) == 0 &&
                    command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &taken) == 0) {
                    gaps_read(&gaps[taken.cpu], &taken);
                    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, taken.index), 0);
                }
                break;
            default:
                insert_on(random_below(fake.cpus), 1 + random_below(1100));
                break;
            }
        }
        assert_int_equal(command(_NTO_TRACE_STOP), 0);
        while (command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &taken) == 0) {
            gaps_read(&gaps[taken.cpu], &taken);
            assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, taken.index), 0);
        }
        for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
            gaps_check(cpu, &gaps[cpu]);
            empty += loss_of(cpu).lost[TRACE_CLASS_CONTROL];
            missing += gaps[cpu].missing;
        }
        end_tracing();
    }
    printf("%llu buffers overwritten, %llu of them without events\n", (unsigned long long)missing,
           (unsigned long long)empty);
    assert_true(empty > 20 && missing > empty + 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cpu_gives_a_first_buffer),
        cmocka_unit_test(each_start_does),
        cmocka_unit_test(none_is_taken_from_events),
        cmocka_unit_test(a_ring_and_fill_begin_one),
        cmocka_unit_test(one_cpu_or_nobody_there),
        cmocka_unit_test(it_tells_of_losses),
        cmocka_unit_test(the_asked_ones_give),
        cmocka_unit_test(it_is_for_linear_recordings),
        cmocka_unit_test(it_leaves_a_buffer),
        cmocka_unit_test(buffers_are_taken_by_time),
        cmocka_unit_test(every_gap_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
