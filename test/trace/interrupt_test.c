/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() from anywhere in the kernel: what may be called, what is refused, when START and
 * STOP happen; and INSERTEVENT: every header there can be.
 */
#include "test/trace/look.h"

#include <string.h>

#include "trace/control.h"
#include "trace/filter.h"
#include "trace/interrupt.h"
#include "trace/loss.h"

static const uint32_t none[4];

/* As from an interrupt's first part. */
static long from_interrupt(uint32_t cmd, const uint32_t args[4], const void *data)
{
    uintptr_t irq = trace_port_irq_save();
    long result = trace_interrupt(cmd, args, data);

    trace_port_irq_restore(irq);
    return result;
}

static void begin(uint32_t mode)
{
    fake_boot(2);
    start_tracing(4, mode);
}

/* The events since the last call, of CPU 0, at most 8; returns how many. */
static struct seen found[8];
static unsigned find(void)
{
    struct kymo_trace_buffer b;
    struct scan scan = {.last_time = 0};
    unsigned n = 0;

    command(_NTO_TRACE_FLUSHBUFFER);
    while (command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b) == 0) {
        assert_int_equal(b.cpu, 0);
        scan_begin(&scan, 0, look_slots(0, b.index), b.slots, b.sequence, b.slots);
        while (scan_next(&scan)) {
            if (scan.seen.class != TRACE_CLASS_CONTROL) {
                assert_in_range(n, 0, 7);
                found[n++] = scan.seen;
            }
        }
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    return n;
}

/* ---- INSERTEVENT ------------------------------------------------------------------- */

static long raw_expected(uint32_t header)
{
    uint32_t class = TRACE_GET_CLASS(header);

    if (header & 0x00fe8000u) {
        return -EINVAL;
    }
    return header >> 30 == 0 && ((class >= 2 && class <= 7) || class == 13) ? 0 : -ENOTSUP;
}

static void raw_headers(void **unused)
{
    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_DELALLCLASSES), 0); /* no filter is asked */
    for (uint32_t class = 0; class < 32; class ++) {
        for (uint32_t high = 0; high < 1u << 17; high = high ? high << 1 : 1) {
            uint32_t header = high << 15 | class << 10 | (class * 37 & 1023);
            uint32_t args[4] = {header, 0xdeadbeef, ~header, 17};
            uint64_t made = loss_of(0).made;
            long result = trace_raw_event(true, args);

            assert_int_equal(result, raw_expected(header));
            assert_int_equal(loss_of(0).made - made, result == 0);
            assert_int_equal(find(), result == 0);
            if (result == 0) { /* its time, CPU and order are the ring's: the scan has looked */
                assert_int_equal(found[0].header & ~TRACE_CPU_MASK, header & 0x7fff);
                assert_int_equal(found[0].slots, 1);
                assert_true(found[0].words[0] == ~header && found[0].words[1] == 17);
            }
        }
    }
    end_tracing();
}

static void raw_needs_the_ability_and_a_start(void **unused)
{
    static const uint32_t args[4] = {TRACE_CLASS_COMM << 10 | 3, 0, 1, 2};

    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    assert_int_equal(trace_raw_event(false, args), -EPERM);
    assert_int_equal(find(), 0);
    assert_int_equal(trace_raw_event(true, args), 0);
    assert_int_equal(find(), 1);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(trace_raw_event(true, args), 0);
    assert_int_equal(find(), 0);
    assert_int_equal(loss_of(0).made, 1);
    end_tracing();
}

/* ---- from an interrupt ------------------------------------------------------------- */

static bool allowed(uint32_t cmd)
{
    static const uint32_t may[] = {_NTO_TRACE_INSERTEVENT,
                                   _NTO_TRACE_INSERTSUSEREVENT,
                                   _NTO_TRACE_INSERTCUSEREVENT,
                                   _NTO_TRACE_INSERTUSRSTREVENT,
                                   _NTO_TRACE_INSERTSCLASSEVENT,
                                   _NTO_TRACE_INSERTCCLASSEVENT,
                                   _NTO_TRACE_START,
                                   _NTO_TRACE_STARTNOSTATE,
                                   _NTO_TRACE_STOP,
                                   _NTO_TRACE_FLUSHBUFFER};
    bool is = false;

    for (unsigned i = 0; i < sizeof(may) / sizeof(may[0]); i++) {
        is |= may[i] == cmd;
    }
    return is;
}

static void the_rest_is_refused(void **unused)
{
    uint64_t data[128] = {0};

    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    for (uint32_t number = 0; number < 0x1100; number++) {
        for (uint32_t count = 0; count < 8; count++) {
            uint32_t cmd = count << 28 | number;

            if (!allowed(cmd)) {
                assert_int_equal(from_interrupt(cmd, none, data), -EPERM);
            }
        }
    }
    assert_int_equal(from_interrupt(0xffffffff, none, data), -EPERM);
    assert_false(fake_exit_wanted(0));
    assert_true(trace_running());
    end_tracing();
}

static void inserts(void **unused)
{
    static const uint32_t words[4] = {1, 2, 3, 4};

    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTSUSEREVENT, (uint32_t[4]){5, 6, 7}, NULL), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTCUSEREVENT, (uint32_t[4]){8, 0, 4}, words), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTUSRSTREVENT, (uint32_t[4]){9}, "text"), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTSCLASSEVENT,
                                    (uint32_t[4]){TRACE_CLASS_COMM, 3, 10, 11}, NULL),
                     0);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTCCLASSEVENT,
                                    (uint32_t[4]){TRACE_CLASS_SYSTEM, 2, 0, 4}, words),
                     0);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTEVENT,
                                    (uint32_t[4]){TRACE_CLASS_INT << 10 | 7, 0, 12, 13}, NULL),
                     0);
    assert_int_equal(find(), 6);
    static const uint32_t headers[] = {6 << 10 | 5, 6 << 10 | 8, 6 << 10 | 9,
                                       7 << 10 | 3, 5 << 10 | 2, 3 << 10 | 7};
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(found[i].header & ~TRACE_CPU_MASK, headers[i]);
    }
    assert_memory_equal(found[1].words, words, sizeof(words));
    assert_string_equal((const char *)found[2].words, "text");
    assert_int_equal(found[3].words[1], 11);
    end_tracing();
}

static void wrong_inserts(void **unused)
{
    static uint32_t words[65];
    char text[KYMO_TRACE_USER_COMBINE_MAX + 1];

    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    memset(text, 'x', sizeof(text)); /* no NUL where one may be looked for */
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTSUSEREVENT, (uint32_t[4]){1024}, NULL),
                     -EINVAL);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTCUSEREVENT, (uint32_t[4]){1, 0, 65}, words),
                     -EINVAL);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTCUSEREVENT, (uint32_t[4]){1, 0, 4}, NULL),
                     -EFAULT);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTUSRSTREVENT, (uint32_t[4]){1}, NULL), -EFAULT);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTUSRSTREVENT, (uint32_t[4]){1}, text), -EINVAL);
    assert_int_equal(from_interrupt(_NTO_TRACE_INSERTSCLASSEVENT, (uint32_t[4]){1, 2}, NULL),
                     -ENOTSUP);
    assert_int_equal(find(), 0);
    end_tracing();
}

/* ---- START and STOP ---------------------------------------------------------------- */

static void they_happen_at_the_exit(void **unused)
{
    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    assert_int_equal(from_interrupt(_NTO_TRACE_STOP, none, NULL), 0);
    assert_true(trace_running() && fake_exit_wanted(0));
    assert_int_equal(trace_user_simple(1, 2, 3), 0); /* still recorded */
    fake_exit();
    assert_false(trace_running());
    assert_int_equal(find(), 1);
    assert_int_equal(from_interrupt(_NTO_TRACE_START, none, NULL), 0);
    assert_false(trace_running());
    assert_int_equal(trace_user_simple(1, 2, 3), 0); /* not yet */
    fake_exit();
    assert_true(trace_running());
    assert_int_equal(trace_user_simple(1, 2, 3), 0);
    assert_int_equal(find(), 1);
    fake_exit(); /* once */
    assert_true(trace_running());
    assert_int_equal(command(_NTO_TRACE_STOP), 0); /* linear: at once */
    end_tracing();
}

static void the_last_one_counts(void **unused)
{
    struct fake_where back;

    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    assert_int_equal(from_interrupt(_NTO_TRACE_STOP, none, NULL), 0);
    back = fake_on(1); /* another CPU's interrupt */
    assert_int_equal(from_interrupt(_NTO_TRACE_STARTNOSTATE, none, NULL), 0);
    fake_back(back);
    fake_exit();
    assert_true(trace_running());
    back = fake_on(1);
    fake_exit();
    fake_back(back);
    assert_true(trace_running());
    assert_int_equal(from_interrupt(_NTO_TRACE_START, none, NULL), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_STOP, none, NULL), 0);
    fake_exit();
    assert_false(trace_running());
    end_tracing();
}

static void a_ring_tells_its_state_at_the_end(void **unused)
{
    (void)unused;
    begin(_NTO_TRACE_SETRINGMODE);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_START, none, NULL), 0);
    fake_exit();
    assert_true(trace_running());
    assert_int_equal(command(_NTO_TRACE_STOP), TRACE_DUMP_THEN_STOP);
    assert_int_equal(trace_state_stop(), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_START, none, NULL), 0);
    fake_exit();
    assert_int_equal(from_interrupt(_NTO_TRACE_STOP, none, NULL), 0); /* nobody to dump */
    fake_exit();
    assert_false(trace_running());
    end_tracing();
}

/* ---- FLUSHBUFFER ------------------------------------------------------------------- */

/* At this CPU's exit, on every CPU, however little is in the buffers; once. */
static void a_flush_happens_at_the_exit(void **unused)
{
    struct fake_where back;

    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        back = fake_on(cpu);
        insert_events(3 + cpu);
        fake_back(back);
    }
    assert_int_equal(from_interrupt(_NTO_TRACE_FLUSHBUFFER, none, NULL), 0);
    insert_events(1); /* the interrupt goes on: in the same buffer */
    assert_int_equal(look_active_slots(0), 6);
    back = fake_on(1); /* another CPU's exit has nothing to do with it */
    fake_exit();
    fake_back(back);
    assert_int_equal(look_active_slots(0), 6);
    assert_true(fake_exit_wanted(0));
    fake_exit();
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        assert_int_equal(look_active_slots(cpu), 0);
        assert_int_equal(look_count(cpu, TRACE_READY), 1);
        assert_int_equal(fake.raised[cpu], 1);
    }
    insert_events(1);
    fake_exit();
    assert_int_equal(look_active_slots(0), 3);
    end_tracing();
}

/* The chapter's case: an interrupt with more events than a buffer has left. */
static void a_flush_in_a_long_interrupt(void **unused)
{
    struct tally tally = {.last = 0};

    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    insert_events(700);
    uintptr_t irq = trace_port_irq_save();
    for (unsigned i = 0; i < 2000; i++) {
        assert_int_equal(trace_user_simple(7, i, 0), 0);
        assert_int_equal(i % 300 ? 0 : trace_interrupt(_NTO_TRACE_FLUSHBUFFER, none, NULL), 0);
    }
    trace_port_irq_restore(irq);
    fake_exit();
    assert_int_equal(look_active_slots(0), 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    take_all(&tally);
    assert_int_equal(tally.events[TRACE_CLASS_USER], 2700);
    end_tracing();
}

/* Beside START and STOP, in any order; and what has changed before the exit. */
static void a_flush_beside_others(void **unused)
{
    (void)unused;
    begin(_NTO_TRACE_SETLINEARMODE);
    insert_events(1);
    assert_int_equal(from_interrupt(_NTO_TRACE_FLUSHBUFFER, none, NULL), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_STOP, none, NULL), 0);
    fake_exit();
    assert_false(trace_running());
    assert_int_equal(find(), 1);
    assert_int_equal(from_interrupt(_NTO_TRACE_START, none, NULL), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_FLUSHBUFFER, none, NULL), 0);
    fake_exit();
    assert_true(trace_running());
    insert_events(2);
    assert_int_equal(from_interrupt(_NTO_TRACE_FLUSHBUFFER, none, NULL), 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert_events(2);
    fake_exit();                               /* a ring runs: not flushed */
    assert_int_equal(look_active_slots(0), 5); /* DROPPED, for what SETRINGMODE discards */
    assert_int_equal(from_interrupt(_NTO_TRACE_FLUSHBUFFER, none, NULL), -ECANCELED);
    assert_false(fake_exit_wanted(0));
    end_tracing();
    assert_int_equal(from_interrupt(_NTO_TRACE_FLUSHBUFFER, none, NULL), -EFAULT);
    assert_false(fake_exit_wanted(0));
}

static unsigned windows, starts_at;

static void start_in_window(void)
{
    if (++windows == starts_at) {
        assert_int_equal(from_interrupt(_NTO_TRACE_STARTNOSTATE, none, NULL), 0);
        fake_exit();
    }
}

#define OWNER_ENDS 0
#define HOOK_ENDS 1

/* The command, or one of these ends, as the kernel's long calls do them. */
static void do_long(uint32_t cmd)
{
    if (cmd != OWNER_ENDS && cmd != HOOK_ENDS) {
        assert_int_equal(command(cmd), 0);
        return;
    }
    trace_interrupt_hold();
    if (cmd == OWNER_ENDS) {
        trace_owner_gone(OWNER);
    } else {
        trace_hook_detached();
    }
    assert_false(trace_running());
    trace_interrupt_release();
}

/* Such a call passes windows, at each of which an interrupt may note a START: it waits until the
 * call is over, and no longer. With losses of many classes, a STOP has several steps. */
static void they_wait_for_a_call(void **unused)
{
    static const uint32_t calls[] = {_NTO_TRACE_STOP,
                                     _NTO_TRACE_DEALLOCBUFFER,
                                     _NTO_TRACE_SETRINGMODE,
                                     _NTO_TRACE_DELALLCLASSES,
                                     OWNER_ENDS,
                                     HOOK_ENDS};

    (void)unused;
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const bool runs =
            calls[i] == _NTO_TRACE_STOP || calls[i] == OWNER_ENDS || calls[i] == HOOK_ENDS;
        bool more = true;
        for (starts_at = 1; more; starts_at++) {
            begin(_NTO_TRACE_SETLINEARMODE);
            insert_events(5);
            for (unsigned slot_class = 2; slot_class < 10; slot_class++) {
                trace_loss_add(&trace_port_cpu_at(0)->loss, KYMO_DROP_TOOBIG, slot_class, 1);
            }
            assert_int_equal(runs ? 0 : command(_NTO_TRACE_STOP), 0);
            windows = 0;
            fake.window = start_in_window;
            do_long(calls[i]);
            more = windows >= starts_at;
            fake.window = NULL;
            assert_false(trace_running());
            fake_exit();
            assert_int_equal(trace_running(), more && calls[i] != _NTO_TRACE_DEALLOCBUFFER);
            if (calls[i] != _NTO_TRACE_DEALLOCBUFFER) {
                insert_events(1);
                end_tracing();
            }
        }
        assert_true(starts_at > 2);
    }
}

static void without_buffers(void **unused)
{
    (void)unused;
    fake_boot(1);
    assert_int_equal(from_interrupt(_NTO_TRACE_START, none, NULL), -ECANCELED);
    assert_int_equal(from_interrupt(_NTO_TRACE_STARTNOSTATE, none, NULL), -ECANCELED);
    assert_false(fake_exit_wanted(0));
    assert_int_equal(from_interrupt(_NTO_TRACE_STOP, none, NULL), 0);
    fake_exit();
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(from_interrupt(_NTO_TRACE_START, none, NULL), 0);
    end_tracing(); /* freed before the exit comes */
    fake_exit();
    assert_false(trace_running());
    fake_exit();
    assert_false(trace_running());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_headers),
        cmocka_unit_test(raw_needs_the_ability_and_a_start),
        cmocka_unit_test(the_rest_is_refused),
        cmocka_unit_test(inserts),
        cmocka_unit_test(wrong_inserts),
        cmocka_unit_test(they_happen_at_the_exit),
        cmocka_unit_test(the_last_one_counts),
        cmocka_unit_test(a_ring_tells_its_state_at_the_end),
        cmocka_unit_test(a_flush_happens_at_the_exit),
        cmocka_unit_test(a_flush_in_a_long_interrupt),
        cmocka_unit_test(a_flush_beside_others),
        cmocka_unit_test(they_wait_for_a_call),
        cmocka_unit_test(without_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
