/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static filters: what each class and event of TraceEvent() turns on and off, fast and wide, told
 * by what is then recorded; what is refused; and that sites are patched while tracing runs and only
 * if something changes.
 */
#include "test/trace/look.h"

#include <string.h>

#include "trace/filter.h"
#include "trace/event_args.h"
#include "trace/hook.h"

/* ---- firing everything ------------------------------------------------------------- */

struct fired {
    uint32_t header; /* class and number */
    bool wide;       /* more slots than fast, where the forms differ */
};
#define FIRED_MAX 2048

static struct fired fired[FIRED_MAX];
static unsigned nfired;

#define A(type, name) GIVE_##type
#define GIVE_D 5
#define GIVE_H 5
#define GIVE_X 5
#define GIVE_E 5
#define GIVE_P 5
#define GIVE_I 4
#define GIVE_N "text"
#define STATE_WORDS(fast, wide) 1, 2, 3, 4
#include "test/trace/fire_rows.inc.h"
#undef A

static const struct row {
    void (*fire)(void);
    unsigned class, number, external;
    bool same; /* fast and wide */
} rows[] = {
#define WIDE(...) false
#define SAME true
#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    {fire_##name, TRACE_CLASS_##CLASS, number, _NTO_TRACE_##EXT, wide},
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef WIDE
#undef SAME
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))
static const unsigned calls[] = {0, 1, 11, 31, 32, 127};
#define CALLS (sizeof(calls) / sizeof(calls[0]))
static const unsigned users[] = {0, 1, 31, 32, 500, 1023};
#define USERS (sizeof(users) / sizeof(users[0]))

static void fire_call(unsigned number)
{
    const struct trace_values words = {.value = {1, 2, 3, 4},
                                       .n = trace_kercall_wide(number) ? 4 : 2};

    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_enter + number / 128) && trace_kercall_on(number)) {
        trace_kercall(number, &words);
    }
}

/* Fires one of everything; what was recorded is in fired[]. */
static void fire_all(void)
{
    struct kymo_trace_buffer b;
    struct scan scan = {.last_time = 0};

    for (unsigned i = 0; i < ROWS; i++) {
        rows[i].fire();
    }
    for (unsigned i = 0; i < 3 * CALLS; i++) {
        fire_call(128 * (i / CALLS) + calls[i % CALLS]);
    }
    for (unsigned i = 0; i < USERS; i++) {
        assert_int_equal(trace_user_simple(users[i], 1, 2), 0);
    }
    nfired = 0;
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    while (command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b) == 0) {
        scan_begin(&scan, 0, look_slots(0, b.index), b.slots, b.sequence, b.slots);
        while (scan_next(&scan)) {
            if (scan.seen.class != TRACE_CLASS_CONTROL) {
                assert_in_range(nfired, 0, FIRED_MAX - 1);
                fired[nfired++] = (struct fired){scan.seen.header, scan.seen.slots > 1};
            }
        }
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
}

static unsigned fired_of(unsigned class, unsigned number)
{
    unsigned n = 0;

    for (unsigned i = 0; i < nfired; i++) {
        n += fired[i].header == (class << 10 | number);
    }
    return n;
}

static bool was_wide(unsigned class, unsigned number)
{
    for (unsigned i = 0; i < nfired; i++) {
        if (fired[i].header == (class << 10 | number)) {
            return fired[i].wide;
        }
    }
    fail();
    return false;
}

static void begin(void)
{
    fake_boot(1);
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_DELALLCLASSES), 0);
    fire_all();
    assert_int_equal(nfired, 0);
}

static long add_event(unsigned class, uint32_t event)
{
    return command_as(OWNER, _NTO_TRACE_ADDEVENT, class, event, NULL);
}

static long del_event(unsigned class, uint32_t event)
{
    return command_as(OWNER, _NTO_TRACE_DELEVENT, class, event, NULL);
}

/* ---- classes ----------------------------------------------------------------------- */

/* Does the external class, or the pseudo class, hold that of the row? */
static bool in_class(unsigned class, unsigned of_row)
{
    return class == of_row ||
           (class == _NTO_TRACE_INT &&
            (of_row == _NTO_TRACE_INTENTER || of_row == _NTO_TRACE_INTEXIT ||
             of_row == _NTO_TRACE_INT_HANDLER_ENTER || of_row == _NTO_TRACE_INT_HANDLER_EXIT));
}

static unsigned expected_of_class(unsigned class)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ROWS; i++) {
        n += in_class(class, rows[i].external);
    }
    if (class == _NTO_TRACE_USER) {
        n += USERS;
    }
    if (class >= _NTO_TRACE_KERCALLENTER && class <= _NTO_TRACE_KERCALLINT) {
        n += CALLS;
    }
    return class == _NTO_TRACE_KERCALL ? 3 * CALLS : n;
}

static void a_class_is_its_events(void **state)
{
    (void)state;
    for (unsigned class = _NTO_TRACE_CONTROL; class <= _NTO_TRACE_INT_HANDLER_EXIT; class ++) {
        begin();
        assert_int_equal(command1(_NTO_TRACE_ADDCLASS, class), 0);
        fire_all();
        assert_int_equal(nfired, expected_of_class(class));
        for (unsigned i = 0; i < ROWS; i++) {
            assert_int_equal(fired_of(rows[i].class, rows[i].number),
                             in_class(class, rows[i].external));
        }
        for (unsigned kind = 0; kind < 3; kind++) {
            bool on = class == _NTO_TRACE_KERCALL || class == _NTO_TRACE_KERCALLENTER + kind;
            assert_int_equal(fired_of(TRACE_CLASS_KER_CALL, 128 * kind + 11), on);
            assert_int_equal(fired_of(TRACE_CLASS_KYMO_CALL, 128 * kind + 127), on);
        }
        assert_int_equal(command1(_NTO_TRACE_DELCLASS, class), 0);
        fire_all();
        assert_int_equal(nfired, 0);
        end_tracing();
    }
}

static void all_but_one_class(void **state)
{
    unsigned all = ROWS + 3 * CALLS + USERS;

    (void)state;
    begin();
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    fire_all();
    assert_int_equal(nfired, all);
    for (unsigned class = _NTO_TRACE_CONTROL; class <= _NTO_TRACE_INT_HANDLER_EXIT; class ++) {
        assert_int_equal(command1(_NTO_TRACE_DELCLASS, class), 0);
        fire_all();
        assert_int_equal(nfired, all - expected_of_class(class));
        assert_int_equal(command1(_NTO_TRACE_ADDCLASS, class), 0);
    }
    end_tracing();
}

/* ---- events ------------------------------------------------------------------------ */

/* Adds one event, sees that nothing else is on, and takes it away. */
static void check_event(unsigned class, uint32_t event, unsigned in_slot_class, unsigned number)
{
    assert_int_equal(add_event(class, event), 0);
    fire_all();
    assert_int_equal(fired_of(in_slot_class, number), 1);
    assert_int_equal(nfired, 1);
    assert_int_equal(del_event(class, event), 0);
    fire_all();
    assert_int_equal(nfired, 0);
}

static void an_event_is_itself(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < ROWS; i++) {
        switch (rows[i].external) {
        case _NTO_TRACE_THREAD: /* a mask of states */
            check_event(_NTO_TRACE_THREAD, 1u << rows[i].number, 4, rows[i].number);
            break;
        case _NTO_TRACE_PROCESS: /* a mask: 1 << 0 PROCCREATE ... 1 << 4 PROCTHREAD_NAME */
            check_event(_NTO_TRACE_PROCESS, 1u << (rows[i].number / 64 - 1), 4, rows[i].number);
            break;
        case _NTO_TRACE_SYSTEM:
        case _NTO_TRACE_COMM:
            check_event(rows[i].external, rows[i].number, rows[i].class, rows[i].number);
            break;
        default: /* interrupts: below */
            break;
        }
    }
    for (unsigned i = 0; i < CALLS; i++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            check_event(_NTO_TRACE_KERCALLENTER + kind, calls[i], calls[i] < 100 ? 2 : 13,
                        128 * kind + calls[i]);
        }
    }
    for (unsigned i = 0; i < USERS; i++) {
        check_event(_NTO_TRACE_USER, users[i], 6, users[i]);
    }
    end_tracing();
}

static void masks_name_several(void **state)
{
    (void)state;
    begin();
    assert_int_equal(add_event(_NTO_TRACE_THREAD, 1u << 1 | 1u << 24 | 1u << 25), 0);
    assert_int_equal(add_event(_NTO_TRACE_PROCESS, 0x1f), 0);
    assert_int_equal(add_event(_NTO_TRACE_KERCALL, 11), 0); /* enter, exit and int */
    fire_all();
    assert_int_equal(nfired, 3 + 3 + 3);
    assert_int_equal(del_event(_NTO_TRACE_THREAD, 1u << 24), 0);
    assert_int_equal(del_event(_NTO_TRACE_KERCALLEXIT, 11), 0);
    fire_all();
    assert_int_equal(nfired, 2 + 3 + 2);
    end_tracing();
}

/* Interrupts are filtered by their number. */
static void an_interrupt_is_itself(void **state)
{
    static const unsigned lines[] = {0, 5, 31, 32, 255};

    (void)state;
    begin();
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(add_event(_NTO_TRACE_INTENTER, lines[i]), 0);
        for (unsigned line = 0; line < 256; line++) {
            trace_int_entry(line, 2);
            trace_int_exit(line, 1);
        }
        assert_int_equal(look_active_slots(0), 3);
        assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
        assert_int_equal(take_all(&(struct tally){.last = 0}), 1);
        assert_int_equal(del_event(_NTO_TRACE_INTENTER, lines[i]), 0);
    }
    assert_int_equal(add_event(_NTO_TRACE_INT, 7), 0); /* in all four classes */
    trace_int_entry(7, 2);
    trace_int_exit(7, 1);
    trace_int_handler_entry(1, 7, 2, 3);
    trace_int_handler_exit(7, 1, 2, 3, 4);
    trace_int_exit(8, 1);
    assert_int_equal(loss_of(0).made, 5 + 4);
    /* Numbers above 255 go with their class: on while any of it is. */
    trace_int_entry(0x80000000u, 2);
    assert_int_equal(loss_of(0).made, 5 + 5);
    assert_int_equal(del_event(_NTO_TRACE_INT, 7), 0);
    trace_int_entry(0x80000000u, 2);
    assert_int_equal(loss_of(0).made, 5 + 5);
    /* One less leaves the others. */
    assert_int_equal(add_event(_NTO_TRACE_INTEXIT, 3), 0);
    assert_int_equal(add_event(_NTO_TRACE_INTEXIT, 200), 0);
    assert_int_equal(del_event(_NTO_TRACE_INTEXIT, 3), 0);
    trace_int_exit(3, 1);
    trace_int_exit(200, 1);
    assert_int_equal(loss_of(0).made, 5 + 6);
    end_tracing();
}

/* ---- fast and wide ----------------------------------------------------------------- */

static void wide_class_by_class(void **state)
{
    (void)state;
    begin();
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    for (unsigned class = _NTO_TRACE_CONTROL; class <= _NTO_TRACE_INT_HANDLER_EXIT; class ++) {
        assert_int_equal(command1(_NTO_TRACE_SETCLASSWIDE, class), 0);
        fire_all();
        for (unsigned i = 0; i < ROWS; i++) {
            bool wide = rows[i].external == class;

            if (!rows[i].same && (rows[i].class == 4 || rows[i].class == 7)) {
                assert_int_equal(was_wide(rows[i].class, rows[i].number), wide);
            }
        }
        for (unsigned kind = 0; kind < 3; kind++) {
            assert_int_equal(was_wide(2, 128 * kind + 11),
                             class == _NTO_TRACE_KERCALL || class == 3 + kind);
        }
        assert_int_equal(command1(_NTO_TRACE_SETCLASSFAST, class), 0);
    }
    end_tracing();
}

static void wide_event_by_event(void **state)
{
    (void)state;
    begin();
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_SETEVENTWIDE, 10, 1u << 5, NULL), 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_SETEVENTWIDE, 4, 32, NULL), 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_SETEVENTWIDE, 14, 9, NULL), 0);
    fire_all();
    assert_true(was_wide(4, 5) && was_wide(2, 128 + 32) && was_wide(7, 9));
    assert_false(was_wide(4, 6) || was_wide(2, 32) || was_wide(2, 128 + 31) ||
                 was_wide(2, 256 + 32));
    assert_int_equal(command(_NTO_TRACE_SETALLCLASSESWIDE), 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_SETEVENTFAST, 10, 1u << 5, NULL), 0);
    fire_all();
    assert_true(was_wide(4, 6) && was_wide(2, 256 + 32) && was_wide(7, 9));
    assert_false(was_wide(4, 5));
    end_tracing();
}

/* ---- refused ----------------------------------------------------------------------- */

static void unknown_ones_are_refused(void **state)
{
    static const struct {
        uint32_t class, event;
    } bad[] = {
        {0, 0},        {17, 0},        {99, 0},        {0xffffffff, 0}, {10, 0},
        {10, 1u << 7}, {10, 1u << 26}, {10, 1u << 31}, {9, 0},          {9, 1u << 0},
        {9, 1u << 3},  {9, 1u << 5},   {13, 0},        {13, 1},         {13, 512 + 6},
        {14, 8},       {14, 12},       {3, 128},       {4, 128},        {5, 0xffffffff},
        {2, 128},      {6, 256},       {7, 256},       {12, 1024},      {12, 0xffffffff},
        {11, 1},       {1, 1},
    };
    static const uint32_t commands[] = {_NTO_TRACE_ADDEVENT, _NTO_TRACE_DELEVENT,
                                        _NTO_TRACE_SETEVENTFAST, _NTO_TRACE_SETEVENTWIDE};
    static const uint32_t class_commands[] = {_NTO_TRACE_ADDCLASS, _NTO_TRACE_DELCLASS,
                                              _NTO_TRACE_SETCLASSFAST, _NTO_TRACE_SETCLASSWIDE};
    struct trace_filter before;

    (void)state;
    begin();
    assert_int_equal(command1(_NTO_TRACE_ADDCLASS, _NTO_TRACE_THREAD), 0);
    before = trace_filter;
    for (unsigned c = 0; c < 4; c++) {
        for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            assert_int_equal(command_as(OWNER, commands[c], bad[i].class, bad[i].event, NULL),
                             -ENOTSUP);
        }
        assert_int_equal(command1(class_commands[c], 0), -ENOTSUP);
        assert_int_equal(command1(class_commands[c], 17), -ENOTSUP);
        assert_int_equal(command1(class_commands[c], 0xffffffff), -ENOTSUP);
    }
    assert_memory_equal(&before, &trace_filter, sizeof(before)); /* nothing was changed */
    end_tracing();
}

/* ---- sites ------------------------------------------------------------------------- */

static void sites_are_patched_only_while_it_runs(void **state)
{
    unsigned changes;
    uint64_t paddr;

    (void)state;
    fake_boot(1);
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    assert_int_equal(fake.site_changes, 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, 2, 0, &paddr), 0);
    assert_int_equal(fake.site_changes, 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_false(fake.unsynced);
    changes = fake.site_changes;
    assert_in_range(changes, 20, TRACE_EV_COUNT);
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);     /* on already */
    assert_int_equal(del_event(_NTO_TRACE_USER, 1), 0);         /* its site serves others */
    assert_int_equal(del_event(_NTO_TRACE_THREAD, 1u << 1), 0); /* likewise */
    assert_int_equal(fake.site_changes, changes);
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    assert_int_equal(fake.site_changes, changes + 1);
    assert_int_equal(del_event(_NTO_TRACE_COMM, 3), 0);
    assert_int_equal(fake.site_changes, changes + 2);
    assert_false(fake.unsynced);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    for (unsigned id = 0; id < TRACE_EV_COUNT; id++) {
        assert_false(trace_port_site_on(id));
    }
    assert_int_equal(fake.site_changes, 2 * changes);
    end_tracing();
}

static unsigned messages_site(void)
{
    assert_false(fake.unsynced);
    return trace_host_sites[TRACE_EV_messages];
}

/* The site of messages is what the most demanding of its events needs; but D at the end of calls
 * is served after the message. */
static void the_site_of_messages(void **state)
{
    static const unsigned probed[] = {TRACE_EV_thread_state, TRACE_EV_change_pri,
                                      TRACE_EV_timer_arm, TRACE_EV_comm_rec_message};
    uint64_t paddr;

    (void)state;
    fake_boot(1);
    assert_int_equal(command(_NTO_TRACE_DELALLCLASSES), 0);
    assert_int_equal(command1(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, 2, 0, &paddr), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(messages_site(), TRACE_SITE_OFF);
    for (unsigned logged = 0; logged < 2; logged++) {
        unsigned before = messages_site();
        for (unsigned i = 0; i < sizeof(probed) / sizeof(probed[0]); i++) {
            trace_site_probe(probed[i], true);
            trace_sites_settle();
            assert_int_equal(messages_site(), TRACE_SITE_ALL);
            trace_site_probe(probed[i], false);
            trace_sites_settle();
            assert_int_equal(messages_site(), before);
        }
        trace_site_probe(TRACE_EV_kercall_exit, true);
        trace_sites_settle();
        assert_int_equal(messages_site(), TRACE_SITE_LOG);
        trace_site_probe(TRACE_EV_kercall_exit, false);
        trace_site_probe(TRACE_EV_kercall_enter, true);
        trace_sites_settle();
        assert_int_equal(messages_site(), before);
        trace_site_probe(TRACE_EV_kercall_enter, false);
        trace_sites_settle();
        assert_int_equal(command1(_NTO_TRACE_ADDCLASS, _NTO_TRACE_THREAD), 0);
        assert_int_equal(messages_site(), TRACE_SITE_LOG);
    }
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(messages_site(), TRACE_SITE_OFF);
    end_tracing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_is_its_events),
        cmocka_unit_test(all_but_one_class),
        cmocka_unit_test(an_event_is_itself),
        cmocka_unit_test(masks_name_several),
        cmocka_unit_test(an_interrupt_is_itself),
        cmocka_unit_test(wide_class_by_class),
        cmocka_unit_test(wide_event_by_event),
        cmocka_unit_test(unknown_ones_are_refused),
        cmocka_unit_test(sites_are_patched_only_while_it_runs),
        cmocka_unit_test(the_site_of_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
