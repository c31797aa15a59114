/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log as a whole, at random: several CPUs that trace events of every kind and size, a
 * taker, commands of every kind, the owner's death; at each TRACE_YIELD_POINT something else may
 * come between, as far as it could on a real machine (an event on another CPU, one in an interrupt
 * where interrupts are open, one within an event, the taker where the kernel lock is free). After
 * every operation random_model.c accounts for every event. SEED=n repeats a run;
 * ROUNDS=n is a sample, in which not all need happen.
 */
#include "test/trace/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/loss.h"
#include "test/tool/random.h"

#define OPERATIONS 700
#define ROUNDS 25

static struct {
    uint32_t mode; /* _NTO_TRACE_SETLINEARMODE ... */
    bool overwrite, running, wide, locked;
    unsigned depth;               /* of yields */
    int stopping;                 /* CPU at which a STOP has arrived; -1: none is under way */
    int starting;                 /* likewise, a START */
    unsigned take_chance;         /* of 100: how eager the taker is */
    uint32_t held[FAKE_CPUS * 8]; /* BUSY buffers */
    unsigned nheld;
} world;

static unsigned long yields, nested_events, between_events, between_takes, window_events, windows;
static uint64_t lost_because[KYMO_TRACE_REASONS], recycled; /* in all rounds */

/* ---- events ------------------------------------------------------------------------ */

/* Does tracing run on the CPU, for events of this kind? A STOP goes from CPU to CPU. */
static bool is_on(unsigned cpu, enum kind kind)
{
    if (world.starting >= 0) {
        return !kind_is_guarded(kind) && (int)cpu <= world.starting;
    }
    if (world.stopping >= 0) {
        return !kind_is_guarded(kind) && (int)cpu > world.stopping;
    }
    return world.running;
}

static enum kind any_kind(void)
{
    if (random_below(100) < 60) {
        return random_below(2) ? KIND_USER : KIND_COMM;
    }
    if (random_below(100) < 95) {
        return (enum kind)random_below(KIND_BIG);
    }
    return random_below(2) ? KIND_BIG : KIND_TOO_BIG;
}

/* The event that each CPU is about to record, of those the innermost; 0: none. */
static uint32_t under_way[FAKE_CPUS];

static void event(enum kind kind)
{
    unsigned cpu = trace_host_cpu;
    uint32_t serial = model[cpu].made + 1, outer = under_way[cpu];

    under_way[cpu] = 0;
    if (is_on(cpu, kind)) {
        assert_int_equal(model_made(cpu, kind, world.wide), serial);
        under_way[cpu] = serial;
    }
    event_emit(cpu, serial, kind, world.wide);
    under_way[cpu] = outer;
}

/* No loss while a buffer is FREE, but for what is too big, or within another event, or under the
 * fill policy when it has ended (a buffer that comes back does not begin it again). The events of
 * interrupts in between may use the FREE buffers up. */
static void checked_event(enum kind kind)
{
    unsigned cpu = trace_host_cpu;
    bool had_free = look_count(cpu, TRACE_FREE) > 0 && world.mode != KYMO_TRACE_SETFILLMODE;
    uint64_t lost = had_free ? model_lost(cpu) - model[cpu].recursive : 0;
    unsigned long in_windows = window_events;

    event(kind);
    if (had_free && kind != KIND_TOO_BIG && in_windows == window_events) {
        assert_int_equal(model_lost(cpu) - model[cpu].recursive, lost);
    }
}

/* ---- the taker --------------------------------------------------------------------- */

static void take(void)
{
    struct kymo_trace_buffer b;
    long result = command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b);

    if (world.mode != _NTO_TRACE_SETLINEARMODE && world.running) {
        assert_int_equal(result, -EBUSY);
    } else if (result == 0) {
        model_taken(&b);
        world.held[world.nheld++] = b.index;
    } else {
        assert_int_equal(result, -EAGAIN);
    }
}

static void give(void)
{
    if (world.nheld > 0) {
        unsigned i = random_below(world.nheld);
        uint32_t index = world.held[i];

        world.held[i] = world.held[--world.nheld];
        model_given(index);
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, index), 0);
    }
}

/* ---- what comes between ------------------------------------------------------------ */

static unsigned masked[FAKE_CPUS]; /* how many suspended operations mask interrupts there */

static void between_event(unsigned cpu)
{
    struct fake_where back = fake_on(cpu);

    between_events++;
    if (under_way[cpu]) { /* it waits between two steps of opening a buffer */
        window_events++;
        model_late(cpu, under_way[cpu]);
    }
    unsigned most = under_way[cpu] ? TRACE_BUFFER_SLOTS / 4 : 300; /* some fill a buffer */
    for (unsigned n = random_below(8) ? 1 : random_below(most); n > 0; n--) {
        enum kind kind = any_kind();
        event(kind == KIND_TOO_BIG || kind == KIND_BIG ? KIND_USER : kind);
    }
    fake_back(back);
}

static void between_take(unsigned cpu)
{
    struct fake_where back = fake_on(cpu);

    between_takes++;
    world.locked = true;
    if (random_below(2)) {
        take();
    } else {
        give();
    }
    world.locked = false;
    fake_back(back);
}

/* Within the recording of another event, on the same CPU: a counted drop. */
static void within_event(void)
{
    static const enum kind kinds[] = {KIND_USER, KIND_COMM, KIND_NAME, KIND_STATE};
    enum kind kind = kinds[random_below(4)];
    unsigned cpu = trace_host_cpu;

    nested_events++;
    model[cpu].recursive += is_on(cpu, kind);
    event(kind);
}

static void come_between(const char *where)
{
    unsigned here = trace_host_cpu, cpu = random_below(fake.cpus);

    yields++;
    if (world.depth == 0 && strcmp(where, "window") == 0 && trace_host_irq_depth == 0) {
        windows++;
        model_check_amid(here, under_way[here]);
    }
    if (world.depth >= 3 || random_below(3)) {
        return;
    }
    world.depth++;
    masked[here] += trace_host_irq_depth > 0;
    if (strcmp(where, "reserve") == 0 && random_below(3) == 0) {
        within_event();
    } else if (masked[cpu] == 0) {
        if (!world.locked && random_below(2)) {
            between_take(cpu);
        } else {
            between_event(cpu);
        }
    }
    masked[here] -= trace_host_irq_depth > 0;
    world.depth--;
}

/* ---- commands ---------------------------------------------------------------------- */

static long locked_command(uint32_t cmd, uint32_t arg)
{
    world.locked = true;
    long result = command1(cmd, arg);
    world.locked = false;
    return result;
}

/* Cross-calls go from CPU 0 up: events on those still to come are recorded. */
static void stop_reached(void)
{
    world.stopping = (int)trace_host_cpu;
}

static void stop(void)
{
    fake.cross_called = stop_reached;
    assert_int_equal(locked_command(_NTO_TRACE_STOP, 0), 0);
    fake.cross_called = NULL;
    world.stopping = -1;
    world.running = false;
}

static void start_reached(void)
{
    world.starting = (int)trace_host_cpu;
}

static void start(void)
{
    fake.cross_called = start_reached;
    assert_int_equal(locked_command(_NTO_TRACE_STARTNOSTATE, 0), 0);
    fake.cross_called = NULL;
    world.starting = -1;
    world.running = true;
}

static void flush(void)
{
    bool refused = world.running && world.mode == _NTO_TRACE_SETRINGMODE;

    assert_int_equal(locked_command(_NTO_TRACE_FLUSHBUFFER, 0), refused ? -ECANCELED : 0);
    for (unsigned cpu = 0; cpu < fake.cpus && !refused; cpu++) {
        assert_true(world.running || look_count(cpu, TRACE_ACTIVE) == 0);
    }
}

/* Any CPUs, also some that there are not. No event is lost by it: model_check() would find it. */
static void flush_cpus(void)
{
    bool refused = !world.running || world.mode != _NTO_TRACE_SETLINEARMODE;

    world.locked = true;
    long result = command_as(OWNER, KYMO_TRACE_FLUSHCPUS, random_below(1u << 16), 0, NULL);
    world.locked = false;
    assert_int_equal(result, refused ? -ECANCELED : 0);
}

static void note_policy(void)
{
    model_overwrote |= world.mode == _NTO_TRACE_SETLINEARMODE && world.overwrite;
    model_skipped |= world.mode == _NTO_TRACE_SETLINEARMODE && !world.overwrite;
    model_filled |= world.mode == KYMO_TRACE_SETFILLMODE;
    model_ringed |= world.mode == _NTO_TRACE_SETRINGMODE;
}

static void set_mode(void)
{
    static const uint32_t modes[] = {_NTO_TRACE_SETLINEARMODE, _NTO_TRACE_SETRINGMODE,
                                     KYMO_TRACE_SETFILLMODE};
    uint32_t mode = modes[random_below(3)];

    if (world.running) {
        assert_int_equal(locked_command(mode, 0), -ECANCELED);
        return;
    }
    for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
        model[cpu].discarded += model_in_buffers(cpu);
    }
    world.mode = mode;
    assert_int_equal(locked_command(mode, 0), 0);
    note_policy();
}

static void set_overwrite(void)
{
    world.overwrite = random_below(2);
    note_policy();
    assert_int_equal(
        locked_command(world.overwrite ? _NTO_TRACE_OVERWRITEBUFFER : _NTO_TRACE_SKIPBUFFER, 0), 0);
}

static void set_wide(void)
{
    world.wide = random_below(2);
    assert_int_equal(
        locked_command(world.wide ? _NTO_TRACE_SETALLCLASSESWIDE : _NTO_TRACE_SETALLCLASSESFAST, 0),
        0);
}

/* All BUSY buffers come back, and all but a ring stops. */
static void owner_dies(void)
{
    bool stops = world.mode != _NTO_TRACE_SETRINGMODE;

    world.locked = true;
    fake.cross_called = stop_reached;
    trace_owner_gone(OWNER);
    fake.cross_called = NULL;
    world.stopping = -1;
    world.locked = false;
    world.running &= !stops;
    world.nheld = 0;
    assert_int_equal(trace_running(), world.running);
    for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
        assert_int_equal(look_count(cpu, TRACE_BUSY), 0);
    }
}

static void pass_time(unsigned cpu)
{
    uint64_t left = (1ull << 32) - (uint32_t)fake.clock[cpu];

    switch (random_below(4)) {
    case 0: /* to just before a rollover */
        fake_pass(cpu, left > 50 ? left - random_below(50) - 1 : left);
        break;
    case 1: /* over some */
        fake_pass(cpu, left + ((uint64_t)random_below(3) << 32) + random_below(100));
        break;
    default:
        fake_pass(cpu, random_below(100000));
        break;
    }
    fake.tick = random_below(3);
}

/* ---- one operation ----------------------------------------------------------------- */

static void kernel_exit(unsigned cpu)
{
    struct fake_where back = fake_on(cpu);

    world.locked = true;
    fake_exit();
    world.locked = false;
    /* Whoever was to be told has been: of the last buffer that was closed here. */
    const struct trace_ring *ring = ring_of(cpu);
    uint32_t sequence = ring->closed_sequence;
    if (world.mode == _NTO_TRACE_SETLINEARMODE && !fake_exit_wanted(cpu) && sequence) {
        assert_int_equal(fake.raised_value[cpu],
                         (cpu * model_per_cpu + trace_ring_index(ring, sequence)) << 13 |
                             (sequence & 0x7ff));
    }
    fake_back(back);
}

static void events(unsigned cpu)
{
    struct fake_where back = fake_on(cpu);
    unsigned n = random_below(4) ? random_below(20) : random_below(900);
    enum kind kind = random_below(2) ? KIND_USER : KINDS;

    for (; n > 0; n--) {
        checked_event(kind == KINDS ? any_kind() : kind);
    }
    fake_back(back);
}

static void command_of_any_kind(unsigned cpu)
{
    switch (random_below(11)) {
    case 0:
        stop();
        break;
    case 1:
    case 2:
        start();
        break;
    case 3:
        stop();
        set_mode();
        start();
        break;
    case 4:
        set_mode();
        break;
    case 5:
        set_overwrite();
        break;
    case 6:
        set_wide();
        break;
    case 7:
        assert_int_equal(locked_command(KYMO_TRACE_SETHIGHWATER,
                                        TRACE_BUFFER_SLOTS - random_below(TRACE_BUFFER_SLOTS - 15)),
                         0);
        break;
    case 8:
        flush();
        break;
    case 9:
        flush_cpus();
        break;
    default:
        pass_time(cpu);
        break;
    }
}

static void operate(void)
{
    unsigned cpu = random_below(fake.cpus), r = random_below(100);
    struct fake_where back = fake_on(cpu);

    world.locked = false;
    if (r < world.take_chance) {
        world.locked = true;
        take();
        world.locked = false;
    } else if (r < 2 * world.take_chance) {
        world.locked = true;
        give();
        world.locked = false;
    } else if (r < 90) {
        events(cpu);
        if (random_below(3)) {
            kernel_exit(cpu);
        }
    } else {
        command_of_any_kind(cpu);
    }
    fake_back(back);
}

/* ---- rounds ------------------------------------------------------------------------ */

static void begin(unsigned per_cpu)
{
    uint64_t paddr;

    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, per_cpu, 0, &paddr), 0);
    model_reset(per_cpu);
    world.mode = _NTO_TRACE_SETLINEARMODE;
    world.overwrite = true;
    world.nheld = 0;
    assert_int_equal(command(_NTO_TRACE_SETLINEARMODE), 0);
    assert_int_equal(command(_NTO_TRACE_OVERWRITEBUFFER), 0);
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    note_policy();
    start();
}

/* Everything that is left is taken; what is unseen then is told lost, event by event. */
static void finish(void)
{
    stop();
    while (world.nheld > 0) {
        give();
    }
    for (bool more = true; more;) {
        unsigned before = world.nheld;
        take();
        more = world.nheld > before;
        while (world.nheld > 0) {
            give();
        }
    }
    model_check();
    for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
        assert_int_equal(look_count(cpu, TRACE_FREE), model_per_cpu);
    }
}

static void add_up(void)
{
    for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
        struct kymo_trace_loss loss = loss_of(cpu);

        recycled += loss.recycled;
        for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
            lost_because[reason] += loss.lost_reason[reason];
        }
    }
}

static void one_round(unsigned cpus)
{
    fake_boot(cpus);
    fake.hooked = random_below(2);
    world.stopping = world.starting = -1;
    world.running = world.wide = false;
    world.take_chance = random_below(3) * 15;
    begin(2 + random_below(4));
    fake.yield = come_between;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        operate();
        model_check();
    }
    add_up();
    if (random_below(2)) {
        finish();
        assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    } else {
        owner_dies();
        model_check();
        stop();
        fake.yield = NULL;
        assert_int_equal(command_as(&world, _NTO_TRACE_DEALLOCBUFFER, 0, 0, NULL), 0);
    }
    fake.yield = NULL;
    assert_int_equal(fake.blocks, 0);
}

static void every_event_is_accounted_for(void **state)
{
    const char *given = getenv("ROUNDS");
    unsigned rounds = given == NULL ? ROUNDS : (unsigned)atoi(given);

    (void)state;
    random_start();
    yields = nested_events = between_events = between_takes = window_events = windows = 0;
    for (unsigned round = 0; round < rounds; round++) {
        one_round(1 + round % 3);
    }
    printf("%lu yields, %lu events within, %lu and %lu takes between, %lu in %lu windows\n", yields,
           nested_events, between_events, between_takes, window_events, windows);
    if (rounds < ROUNDS) {
        return;
    }
    assert_true(nested_events > 100 && between_events > 100 && between_takes > 100);
    assert_true(window_events > 100 && windows > 100);
    for (unsigned reason = KYMO_DROP_OVERWRITTEN; reason <= KYMO_DROP_DISCARDED; reason++) {
        printf("lost because %u: %llu\n", reason, (unsigned long long)lost_because[reason]);
        assert_true(lost_because[reason] > 0); /* or nothing is proved of it */
    }
    assert_true(recycled > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_event_is_accounted_for)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
