/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's gate: what the port's predicate refuses is not in the log and counted apart, by class;
 * not asked while not armed, of statically filtered events, of a state dump, of user events, or
 * with tracing off; armed or not, what passes is recorded in the form that the filters say.
 */
#include "test/unit/look.h"

#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/hook.h"
#include "trace/trace.h"

static void begin(void)
{
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    fake.asked = 0;
    fake.refuses = false;
}

static void end(void)
{
    trace_gate_arm(false);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static const uintptr_t call_words[2] = {1, 2};

static void one_of_each(void)
{
    trace_comm_snd_message(1, 2);
    trace_int_entry(7, 0x1000);
    trace_thread_state(1, 2, 3, 10, 1);
    trace_user_simple(5, 6, 7); /* what a program says passes */
}

static uint64_t stopped(unsigned class)
{
    uint64_t counts[TRACE_CLASS_MAX];

    trace_gate_count(trace_port_cpu_at(0), counts);
    return counts[class];
}

static void not_asked_unless_armed(void **state)
{
    (void)state;
    begin();
    one_of_each();
    assert_int_equal(fake.asked, 0);
    assert_int_equal(trace_host_sites[TRACE_EV_comm_snd_message], TRACE_SITE_LOG);
    trace_gate_arm(true);
    assert_int_equal(trace_host_sites[TRACE_EV_comm_snd_message], TRACE_SITE_ALL);
    one_of_each();
    assert_int_equal(fake.asked, 3);
    trace_gate_arm(false);
    assert_int_equal(trace_host_sites[TRACE_EV_comm_snd_message], TRACE_SITE_LOG);
    one_of_each();
    assert_int_equal(fake.asked, 3);
    end();
}

/* made is what is in the log or lost from it: the gate's count is beside it. */
static void refused_events_are_counted_apart(void **state)
{
    (void)state;
    begin();
    trace_gate_arm(true);
    one_of_each();
    struct kymo_trace_loss before = loss_of(0);
    fake.refuses = true;
    one_of_each();
    one_of_each();
    before.made += 2; /* the program's */
    struct kymo_trace_loss after = loss_of(0);
    assert_memory_equal(&before, &after, sizeof(before));
    assert_int_equal(stopped(TRACE_CLASS_COMM), 2);
    assert_int_equal(stopped(TRACE_CLASS_INT), 2);
    assert_int_equal(stopped(TRACE_CLASS_PR_TH), 2);
    assert_int_equal(stopped(TRACE_CLASS_USER), 0);
    assert_int_equal(stopped(TRACE_CLASS_KER_CALL), 0);
    end();
}

static void filtered_events_and_dumps_are_not_asked_about(void **state)
{
    (void)state;
    begin();
    trace_gate_arm(true);
    fake.refuses = true;
    assert_int_equal(command_as(OWNER, _NTO_TRACE_DELEVENT, _NTO_TRACE_INTENTER, 7, NULL), 0);
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_THREAD), 0);
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_COMM), 0);
    one_of_each();
    assert_int_equal(fake.asked, 0);
    assert_int_equal(command1(_NTO_TRACE_ADDCLASS, _NTO_TRACE_THREAD), 0);
    trace_dump_thread_state(1, 2, 3, 10, 1); /* begins the buffer */
    unsigned slots = look_active_slots(0);
    trace_dump_thread_state(1, 2, 3, 10, 1);
    TRACE_DUMP(thread_create, 2, 3);
    assert_int_equal(look_active_slots(0), slots + 2);
    assert_int_equal(fake.asked, 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    one_of_each();
    assert_int_equal(stopped(TRACE_CLASS_COMM) + stopped(TRACE_CLASS_PR_TH), 0);
    end();
}

/* Fast stays fast: a state and a call take one slot; wide ones more, and back. */
static void forms_stay(void **state)
{
    unsigned call = 3 | TRACE_KERCALL_ENTER;

    (void)state;
    begin();
    trace_gate_arm(true);
    trace_thread_state(1, 2, 3, 10, 1); /* begins the buffer */
    unsigned slots = look_active_slots(0);
    trace_thread_state(1, 2, 3, 10, 1);
    assert_int_equal(look_active_slots(0), slots + 1);
    assert_true(trace_kercall_slow(call) && !trace_kercall_wide(call));
    assert_int_equal(command(_NTO_TRACE_SETALLCLASSESWIDE), 0);
    trace_thread_state(1, 2, 3, 10, 1);
    assert_int_equal(look_active_slots(0), slots + 3);
    trace_gate_arm(false);
    assert_true(trace_kercall_slow(call) && trace_kercall_wide(call));
    assert_int_equal(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    assert_true(!trace_kercall_slow(call) && !trace_kercall_wide(call));
    trace_kercall(call, call_words, 2);
    assert_int_equal(look_active_slots(0), slots + 4);
    end();
}

/* What the predicate is given: a row's words, by site and number. */
static void predicates_have_the_words(void **state)
{
    (void)state;
    begin();
    trace_gate_arm(true);
    trace_comm_snd_message(0x80000001, 42);
    assert_int_equal(fake.asked_site, TRACE_EV_comm_snd_message);
    assert_int_equal(fake.asked_words[0], 0x80000001);
    assert_int_equal(fake.asked_words[1], 42);
    assert_int_equal(fake.asked_words[4], 0);
    trace_thread_state(6, 2, 3, 10, 1);
    assert_int_equal(fake.asked_site, TRACE_EV_thread_state);
    assert_int_equal(fake.asked_number, 6);
    assert_int_equal(fake.asked_words[3], 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_asked_unless_armed),
        cmocka_unit_test(refused_events_are_counted_apart),
        cmocka_unit_test(filtered_events_and_dumps_are_not_asked_about),
        cmocka_unit_test(forms_stay),
        cmocka_unit_test(predicates_have_the_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
