/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters by process and thread, against a model that knows only the words of the manual: every
 * event of every class that can be limited, fired by any thread and about any, with limits set and
 * taken away at random; what is recorded, and what is made, is what the model says. SEED=n repeats
 * a run. And what is refused, what survives, and that sites are as before when nothing is limited.
 */
#include "test/trace/look.h"
#include "trace/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/event_args.h"
#include "trace/hook.h"

/* ---- everything that can happen ---------------------------------------------------- */

struct who {
    uint32_t pid, tid;
};
static struct who about; /* the thread that THREAD events tell of */

#define A(type, name) GIVE_##type(name)
#define GIVE_D(name) (#name[0] == 't' ? about.tid : about.pid)
#define GIVE_H(name) 5
#define GIVE_X(name) 5
#define GIVE_E(name) 5
#define GIVE_P(name) 5
#define GIVE_I(name) 4
#define GIVE_N(name) "text"
#define STATE_WORDS(fast, wide) about.pid, about.tid, 10, 1
#include "test/trace/fire_rows.inc.h"
#undef A

struct event {
    void (*fire)(void); /* NULL: a kernel call's */
    unsigned class;     /* external */
    uint32_t event;     /* external: as ADDEVENT has it */
    unsigned header;    /* of its slot: class and number */
};
#define EVENTS_MAX 600
static struct event events[EVENTS_MAX];
static unsigned nevents;

static void add_event(void (*fire)(void), unsigned class, unsigned internal, unsigned number)
{
    uint32_t event = class == _NTO_TRACE_THREAD    ? 1u << number
                     : class == _NTO_TRACE_PROCESS ? 1u << (number / 64 - 1)
                                                   : number;

    assert_in_range(nevents, 0, EVENTS_MAX - 1);
    events[nevents++] = (struct event){fire, class, event, internal << 10 | number};
}

static void list_events(void)
{
    nevents = 0;
#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    add_event(fire_##name, _NTO_TRACE_##EXT, TRACE_CLASS_##CLASS, number);
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
    for (unsigned number = 0; number < 3 * 128; number++) {
        add_event(NULL, _NTO_TRACE_KERCALLENTER + number / 128, number % 128 < 100 ? 2 : 13,
                  number);
        events[nevents - 1].event = number % 128;
    }
}

static bool inserted; /* the events are a program's, by INSERTSCLASSEVENT */

static void fire_call(unsigned number)
{
    const struct trace_values words = {.value = {1, 2, 3, 4},
                                       .n = trace_kercall_wide(number) ? 4 : 2};

    /* A call may be cut by another thread than its own. */
    bool on = number / 128 == 2 ? trace_kercall_of(number, about.pid, about.tid)
                                : trace_kercall_on(number);

    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_enter + number / 128) && on) {
        trace_kercall(number, &words);
    }
}

/* ---- the model --------------------------------------------------------------------- */

#define LIMITABLE \
    (1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << _NTO_TRACE_THREAD | 1u << _NTO_TRACE_VTHREAD | \
     1u << _NTO_TRACE_SYSTEM | 1u << _NTO_TRACE_COMM)

static struct who of_class[32];         /* pid 0: not limited */
static struct who of_event[EVENTS_MAX]; /* by index in events[] */

static bool holds(unsigned class, unsigned of)
{
    return class == of || (class == _NTO_TRACE_KERCALL && of >= 3 && of <= 5);
}

static bool names(unsigned class, uint32_t event, const struct event *e)
{
    return holds(class, e->class) &&
           (class == _NTO_TRACE_THREAD ? (event & e->event) != 0 : event == e->event);
}

/* What a command does, or why not. */
static long model_class(unsigned class, struct who who)
{
    if (class >= 32 || !(LIMITABLE >> class & 1)) {
        return -ENOTSUP;
    }
    for (unsigned one = 0; one < 32; one++) {
        of_class[one] = holds(class, one) ? who : of_class[one];
    }
    return 0;
}

static long model_event(unsigned class, uint32_t event, struct who who)
{
    long result = -ENOTSUP;

    for (unsigned i = 0; i < nevents && class < 32 && (LIMITABLE >> class & 1); i++) {
        if (names(class, event, &events[i])) {
            of_event[i] = who;
            result = 0;
        }
    }
    return result;
}

static bool may(struct who limit, struct who who)
{
    return limit.pid == 0 || (limit.pid == who.pid && (limit.tid == 0 || limit.tid == who.tid));
}

static bool expected(unsigned i, struct who here)
{
    bool its = events[i].class == _NTO_TRACE_THREAD ||
               (events[i].class == _NTO_TRACE_KERCALLINT && !inserted);
    struct who who = its ? about : here;

    return may(of_class[events[i].class], who) && may(of_event[i], who);
}

/* ---- both -------------------------------------------------------------------------- */

static void fire(const struct event *e)
{
    if (inserted) {
        assert_int_equal(
            trace_class_simple(true, e->header >> 10, e->header & 1023, about.pid, about.tid), 0);
    } else if (e->fire) {
        e->fire();
    } else {
        fire_call(e->header & 1023);
    }
}

static void runs_here(struct who who)
{
    fake.thread[trace_host_cpu] = (uint64_t)who.pid << 32 | who.tid;
}

static bool in_order(unsigned *at, unsigned header, struct who here)
{
    while (*at < nevents && !expected(*at, here)) {
        ++*at;
    }
    return *at < nevents && events[(*at)++].header == header;
}

/* Fires one of everything; exactly what the model expects was made and recorded, in order. */
static void check_all(struct who here)
{
    unsigned cpu = trace_host_cpu, at = 0, want = 0;
    struct kymo_trace_buffer b;
    struct scan scan = {.last_time = 0};
    uint64_t made = loss_of(cpu).made;

    runs_here(here);
    for (unsigned i = 0; i < nevents; i++) {
        fire(&events[i]);
        want += expected(i, here);
    }
    assert_int_equal(loss_of(cpu).made - made, want);
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    while (command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b) == 0) {
        scan_begin(&scan, b.cpu, look_slots(b.cpu, b.index % ring_of(b.cpu)->count), b.slots,
                   b.sequence, b.slots);
        while (scan_next(&scan)) {
            if (scan.seen.class != TRACE_CLASS_CONTROL) {
                assert_true(in_order(&at, scan.seen.header & ~TRACE_CPU_MASK, here));
                want--;
            }
        }
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    assert_int_equal(want, 0);
}

static void begin(unsigned cpus)
{
    list_events();
    memset(of_class, 0, sizeof(of_class));
    memset(of_event, 0, sizeof(of_event));
    about = (struct who){5, 1};
    fake_boot(cpus);
    start_tracing(6, _NTO_TRACE_SETLINEARMODE);
    check_all((struct who){5, 1});
}

static void end(void)
{
    assert_int_equal(command(KYMO_TRACE_CLRALLTHREADS), 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* ---- random ------------------------------------------------------------------------ */

static uint32_t state = 1;

static unsigned pick(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (unsigned)(((uint64_t)state * n) >> 32);
}

/* Classes and events that there are and that there aren't. */
static uint32_t pick_event(unsigned class)
{
    if (class == _NTO_TRACE_THREAD) {
        return pick(4) == 0 ? state : 1u << pick(32);
    }
    return class >= 2 && class <= 5 ? pick(132) : pick(16);
}

static void random_command(void)
{
    unsigned class = pick(8) == 0 ? pick(40) : 2 + pick(13);
    uint32_t event = pick_event(class);
    struct who who = {5 + pick(2), pick(3)}, pid = {who.pid, 0}, none = {0, 0};
    long (*set)(void *, uint32_t, const uint32_t *) = command_words;

    switch (pick(9)) {
    case 0:
        assert_int_equal(set(OWNER, _NTO_TRACE_SETCLASSPID, (uint32_t[4]){class, who.pid}),
                         model_class(class, pid));
        break;
    case 1:
        assert_int_equal(set(OWNER, _NTO_TRACE_SETCLASSTID, (uint32_t[4]){class, who.pid, who.tid}),
                         model_class(class, who));
        break;
    case 2:
    case 3:
        assert_int_equal(set(OWNER, _NTO_TRACE_SETEVENTPID, (uint32_t[4]){class, event, who.pid}),
                         model_event(class, event, pid));
        break;
    case 4:
    case 5:
        assert_int_equal(
            set(OWNER, _NTO_TRACE_SETEVENTTID, (uint32_t[4]){class, event, who.pid, who.tid}),
            model_event(class, event, who));
        break;
    case 6:
        assert_int_equal(command1(pick(2) ? _NTO_TRACE_CLRCLASSPID : _NTO_TRACE_CLRCLASSTID, class),
                         model_class(class, none));
        break;
    case 7:
        assert_int_equal(command_as(OWNER,
                                    pick(2) ? _NTO_TRACE_CLREVENTPID : _NTO_TRACE_CLREVENTTID,
                                    class, event, NULL),
                         model_event(class, event, none));
        break;
    default:
        if (pick(8) == 0) {
            assert_int_equal(command(KYMO_TRACE_CLRALLTHREADS), 0);
            memset(of_class, 0, sizeof(of_class));
            memset(of_event, 0, sizeof(of_event));
        }
    }
}

static void gate(bool open)
{
    struct kymo_trace_refusal why;

    trace_gate_close();
    assert_int_equal(open ? trace_gate_open("p.dif", &why) : 0, 0);
}

static void at_random(void **unused)
{
    const char *seed = getenv("SEED");

    (void)unused;
    for (unsigned round = 0; round < 60; round++) {
        uint32_t begun = seed ? (uint32_t)strtoul(seed, NULL, 0) : 1 + round;

        state = begun;
        print_message("SEED=%u\n", begun);
        begin(2);
        for (unsigned i = 0; i < 40; i++) {
            struct fake_where back = fake_on(pick(2));

            about = (struct who){5 + pick(2), 1 + pick(2)};
            inserted = pick(3) == 0;
            check_all((struct who){5 + pick(2), 1 + pick(2)});
            fake_back(back);
            random_command();
            assert_int_equal(
                command(pick(2) ? _NTO_TRACE_SETALLCLASSESFAST : _NTO_TRACE_SETALLCLASSESWIDE), 0);
            gate(pick(2)); /* it lets all through */
        }
        gate(false);
        inserted = false;
        end();
    }
}

/* ---- by name ----------------------------------------------------------------------- */

/* The event is refused if the class can't be limited, whatever the pid; a pid that none can have
 * is. */
static void refused(void **unused)
{
    static const uint32_t never[] = {0, 0xffffffff, 0x80000000};

    (void)unused;
    begin(1);
    for (uint32_t class = 0; class < 40; class ++) {
        long want = class < 32 && (LIMITABLE >> class & 1) ? 0 : -ENOTSUP;

        assert_int_equal(command_words(OWNER, _NTO_TRACE_SETCLASSPID, (uint32_t[4]){class, 9}),
                         want);
        assert_int_equal(command_words(OWNER, _NTO_TRACE_SETCLASSTID, (uint32_t[4]){class, 9, 9}),
                         want);
        assert_int_equal(command1(_NTO_TRACE_CLRCLASSPID, class), want);
        assert_int_equal(command1(_NTO_TRACE_CLRCLASSTID, class), want);
    }
    for (unsigned i = 0; i < 3; i++) {
        uint32_t args[4] = {_NTO_TRACE_COMM, never[i], never[i], 0};

        assert_int_equal(command_words(OWNER, _NTO_TRACE_SETCLASSPID, args), -EINVAL);
        assert_int_equal(command_words(OWNER, _NTO_TRACE_SETCLASSTID, args), -EINVAL);
        args[1] = 0;
        assert_int_equal(command_words(OWNER, _NTO_TRACE_SETEVENTPID, args), -EINVAL);
        assert_int_equal(command_words(OWNER, _NTO_TRACE_SETEVENTTID, args), -EINVAL);
    }
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETCLASSTID, (uint32_t[4]){_NTO_TRACE_COMM, 5, 0xffffffff}),
        -EINVAL);
    assert_int_equal(command_words(OWNER, _NTO_TRACE_SETEVENTTID,
                                   (uint32_t[4]){_NTO_TRACE_COMM, 0, 5, 0xffffffff}),
                     -EINVAL);
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETEVENTPID, (uint32_t[4]){_NTO_TRACE_VTHREAD, 1, 5}),
        -ENOTSUP);
    check_all((struct who){5, 1}); /* nothing was changed */
    end();
}

/* As QNX has them: only CLR* takes a limit away. */
static void they_stay(void **unused)
{
    uint64_t paddr;

    (void)unused;
    begin(1);
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETCLASSTID, (uint32_t[4]){_NTO_TRACE_COMM, 5, 2}),
        model_class(_NTO_TRACE_COMM, (struct who){5, 2}));
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETEVENTPID, (uint32_t[4]){_NTO_TRACE_KERCALLEXIT, 11, 6}),
        model_event(_NTO_TRACE_KERCALLEXIT, 11, (struct who){6, 0}));
    check_all((struct who){5, 1});
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    check_all((struct who){5, 2});
    assert_int_equal(command(_NTO_TRACE_DELALLCLASSES), 0);
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    check_all((struct who){5, 1});
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, 6, 0, &paddr), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    check_all((struct who){5, 1});
    check_all((struct who){6, 2});
    end();
}

/* A limited site asks; all others, and it too once the limit is gone, do not. */
static void only_limited_sites_ask(void **unused)
{
    uint8_t before[TRACE_EV_COUNT];
    unsigned changed = 0;

    (void)unused;
    begin(1);
    for (unsigned id = 0; id < TRACE_EV_COUNT; id++) {
        before[id] = trace_host_sites[id];
        assert_true(before[id] != TRACE_SITE_ALL);
    }
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETEVENTPID, (uint32_t[4]){_NTO_TRACE_COMM, 2, 5}), 0);
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETEVENTPID, (uint32_t[4]){_NTO_TRACE_THREAD, 1u << 24, 5}),
        0);
    assert_false(fake.unsynced);
    for (unsigned id = 0; id < TRACE_EV_COUNT; id++) {
        changed += trace_host_sites[id] != before[id];
    }
    assert_int_equal(changed, 3);
    assert_int_equal(trace_host_sites[TRACE_EV_messages], TRACE_SITE_ALL); /* comm_rec_message's */
    assert_int_equal(trace_host_sites[TRACE_EV_comm_rec_message], TRACE_SITE_ALL);
    assert_int_equal(trace_host_sites[TRACE_EV_thread_create], TRACE_SITE_ALL);
    assert_int_equal(fake.fired, 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_CLREVENTTID, _NTO_TRACE_COMM, 2, NULL), 0);
    assert_int_equal(command(KYMO_TRACE_CLRALLTHREADS), 0);
    for (unsigned id = 0; id < TRACE_EV_COUNT; id++) {
        assert_int_equal(trace_host_sites[id], before[id]);
    }
    end();
}

/* What is limited isn't the gate's to see: static filters, then limits, then the predicate. */
static void the_gate_comes_last(void **unused)
{
    struct who here = {5, 1}, other = {6, 1};

    (void)unused;
    begin(1);
    gate(true);
    fake.refuses = true;
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETCLASSPID, (uint32_t[4]){_NTO_TRACE_COMM, 6}), 0);
    assert_int_equal(
        command_words(OWNER, _NTO_TRACE_SETCLASSPID, (uint32_t[4]){_NTO_TRACE_THREAD, 6}), 0);
    runs_here(here);
    fake.asked = 0;
    trace_comm_snd_message(1, 2);
    trace_thread_state(1, 5, 1, 10, 1);
    trace_thread_create(5, 1);
    assert_int_equal(fake.asked, 0);
    runs_here(other);
    trace_comm_snd_message(1, 2);
    trace_thread_state(1, 6, 1, 10, 1);
    trace_thread_create(6, 1);
    assert_int_equal(fake.asked, 3);
    gate(false);
    end();
}

/* An event of a process as a whole, or of a thread that isn't known, passes what limits a class to
 * one of its threads. */
static void no_thread_passes(void **state)
{
    const uint32_t limit[4] = {_NTO_TRACE_COMM, 5, 3};

    (void)state;
    begin(1);
    assert_int_equal(command_words(OWNER, _NTO_TRACE_SETCLASSTID, limit), 0);
    assert_true(trace_threads_entry(_NTO_TRACE_COMM, 0, 5, 3));
    assert_true(trace_threads_entry(_NTO_TRACE_COMM, 0, 5, 0));
    assert_false(trace_threads_entry(_NTO_TRACE_COMM, 0, 5, 4));
    assert_false(trace_threads_entry(_NTO_TRACE_COMM, 0, 6, 0));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_thread_passes),
        cmocka_unit_test(at_random),
        cmocka_unit_test(refused),
        cmocka_unit_test(they_stay),
        cmocka_unit_test(only_limited_sites_ask),
        cmocka_unit_test(the_gate_comes_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
