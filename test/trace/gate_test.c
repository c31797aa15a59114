/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's gate: what the port's predicate refuses is not in the log and counted apart, by class;
 * not asked while not armed, of statically filtered events, of a state dump, of user events, of
 * names, or with tracing off; armed or not, what passes is recorded in the form that the filters
 * say.
 */
#include "test/trace/look.h"

#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/hook.h"
#include "trace/trace.h"
#include "trace/trigger.h"

#define OTHER ((void *)0x2000)

static void begin(void)
{
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    fake.asked = 0;
    fake.refuses = false;
}

static long gate_as(void *who, const char *name, struct kymo_trace_refusal *why)
{
    struct trace_gate_request request = {.name = name};
    long error = command_as(who, KYMO_TRACE_SETGATE, 0, 0, &request);

    *why = request.why;
    return error;
}

static void gate(const char *name)
{
    struct kymo_trace_refusal why;

    assert_int_equal(gate_as(OWNER, name, &why), 0);
    assert_int_equal(trace_gate_armed, name != NULL);
    assert_true(fake.gate == name);
}

static const struct trace_values call_words = {.value = {1, 2}, .n = 2};

static void one_of_each(void)
{
    trace_comm_snd_message(1, 2);
    trace_int_entry(7, 0x1000);
    trace_thread_state(1, 2, 3, 10, 1);
    trace_user_simple(5, 6, 7); /* what a program says passes */
}

static uint64_t stopped_on(unsigned cpu, unsigned class)
{
    struct kymo_trace_stopped counts;

    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYSTOPPED, cpu, 0, &counts), 0);
    return counts.events[class];
}

static uint64_t stopped(unsigned class)
{
    return stopped_on(0, class);
}

static void not_asked_unless_armed(void **state)
{
    (void)state;
    begin();
    one_of_each();
    assert_int_equal(fake.asked, 0);
    assert_int_equal(trace_host_sites[TRACE_EV_comm_snd_message], TRACE_SITE_LOG);
    gate("p.dif");
    assert_int_equal(trace_host_sites[TRACE_EV_comm_snd_message], TRACE_SITE_ALL);
    one_of_each();
    assert_int_equal(fake.asked, 3);
    gate(NULL);
    assert_int_equal(trace_host_sites[TRACE_EV_comm_snd_message], TRACE_SITE_LOG);
    one_of_each();
    assert_int_equal(fake.asked, 3);
    end_tracing();
}

/* made is what is in the log or lost from it: the gate's count is beside it. */
static void refused_events_are_counted_apart(void **state)
{
    (void)state;
    begin();
    gate("p.dif");
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
    end_tracing();
}

static void filtered_events_and_dumps_are_not_asked_about(void **state)
{
    (void)state;
    begin();
    gate("p.dif");
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
    end_tracing();
}

/* Whose the events are that pass is always known. */
static void names_pass(void **state)
{
    (void)state;
    begin();
    gate("p.dif");
    fake.refuses = true;
    trace_user_simple(5, 6, 7); /* begins the buffer */
    unsigned slots = look_active_slots(0);
    trace_proc_create_name(1, 2, "name"); /* numbers and text: two slots */
    trace_thread_name(2, 3, "name");
    assert_int_equal(look_active_slots(0), slots + 4);
    assert_int_equal(fake.asked, 0);
    trace_proc_destroy(1, 2);
    trace_thread_create(2, 3);
    assert_int_equal(look_active_slots(0), slots + 4);
    assert_int_equal(fake.asked, 2);
    assert_int_equal(stopped(TRACE_CLASS_PR_TH), 2);
    end_tracing();
}

/* Fast stays fast: a state and a call take one slot; wide ones more, and back. */
static void forms_stay(void **state)
{
    unsigned call = 3 | TRACE_KERCALL_ENTER;

    (void)state;
    begin();
    gate("p.dif");
    trace_thread_state(1, 2, 3, 10, 1); /* begins the buffer */
    unsigned slots = look_active_slots(0);
    trace_thread_state(1, 2, 3, 10, 1);
    assert_int_equal(look_active_slots(0), slots + 1);
    assert_true(trace_kercall_slow(call) && !trace_kercall_wide(call));
    assert_int_equal(command(_NTO_TRACE_SETALLCLASSESWIDE), 0);
    trace_thread_state(1, 2, 3, 10, 1);
    assert_int_equal(look_active_slots(0), slots + 3);
    gate(NULL);
    assert_true(trace_kercall_slow(call) && trace_kercall_wide(call));
    assert_int_equal(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    assert_true(!trace_kercall_slow(call) && !trace_kercall_wide(call));
    trace_kercall(call, &call_words);
    assert_int_equal(look_active_slots(0), slots + 4);
    end_tracing();
}

/* What the predicate is given: a row's words, by site and number. */
static void predicates_have_the_words(void **state)
{
    (void)state;
    begin();
    gate("p.dif");
    trace_comm_snd_message(0x80000001, 42);
    assert_int_equal(fake.asked_site, TRACE_EV_comm_snd_message);
    assert_int_equal(fake.asked_words[0], 0x80000001);
    assert_int_equal(fake.asked_words[1], 42);
    assert_int_equal(fake.asked_words[4], 0);
    trace_thread_state(6, 2, 3, 10, 1);
    assert_int_equal(fake.asked_site, TRACE_EV_thread_state);
    assert_int_equal(fake.asked_number, 6);
    assert_int_equal(fake.asked_words[3], 1);
    end_tracing();
}

/* By its owner only, while there are buffers; one at a time; why not is told. */
static void setting_it(void **state)
{
    struct kymo_trace_refusal why;

    (void)state;
    fake_boot(1);
    assert_int_equal(gate_as(OWNER, "p.dif", &why), -EFAULT);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_SETGATE, 0, 0, NULL), -EFAULT);
    assert_int_equal(gate_as(OTHER, "p.dif", &why), -EPERM);
    assert_int_equal(gate_as(OTHER, NULL, &why), -EPERM);
    assert_int_equal(gate_as(OWNER, "!", &why), -EINVAL);
    assert_int_equal(why.reason, KYMO_GATE_ACTION);
    assert_int_equal(why.clause, 3);
    assert_false(trace_gate_armed);
    gate(NULL); /* there is none: good */
    gate("p.dif");
    assert_int_equal(gate_as(OWNER, "q.dif", &why), -EEXIST);
    gate(NULL);
    gate("q.dif");
    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYSTOPPED, 1, 0, &why), -EINVAL);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYSTOPPED, 0, 0, NULL), -EFAULT);
    end_tracing();
}

/* It ends with the buffers, and with its owner, but in a ring, which goes on as it is. */
static void how_it_ends(void **state)
{
    (void)state;
    begin();
    gate("p.dif");
    end_tracing();
    assert_null(fake.gate);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    gate("p.dif");
    trace_owner_gone(OTHER);
    assert_non_null(fake.gate);
    trace_owner_gone(OWNER);
    assert_null(fake.gate);
    start_tracing(2, _NTO_TRACE_SETRINGMODE);
    gate("p.dif");
    trace_owner_gone(OWNER);
    assert_non_null(fake.gate);
    assert_true(trace_running());
    assert_int_equal(command_as(OTHER, _NTO_TRACE_STOP, 0, 0, NULL), 0);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE); /* frees what was left */
    assert_null(fake.gate);
    end_tracing();
}

static unsigned calls;

static void count_call(void)
{
    if (!trace_gate_armed) {
        assert_non_null(fake.gate); /* a CPU may still be asking it */
        calls++;
    }
}

/* The predicate goes only when no CPU is inside it. */
static void no_cpu_asks_what_is_gone(void **state)
{
    (void)state;
    fake_boot(3);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    gate("p.dif");
    fake.cross_called = count_call;
    calls = 0;
    trace_gate_close();
    fake.cross_called = NULL;
    assert_int_equal(calls, 3);
    assert_null(fake.gate);
    end_tracing();
}

/* By CPU; since ALLOCBUFFER. */
static void counts_begin_with_the_buffers(void **state)
{
    (void)state;
    fake_boot(2);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    gate("p.dif");
    fake.refuses = true;
    fake_on(1);
    one_of_each();
    fake_back((struct fake_where){0, 0});
    assert_int_equal(stopped_on(0, TRACE_CLASS_COMM), 0);
    assert_int_equal(stopped_on(1, TRACE_CLASS_COMM), 1);
    gate(NULL);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0);
    assert_int_equal(stopped_on(1, TRACE_CLASS_COMM), 1);
    end_tracing();
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(stopped_on(1, TRACE_CLASS_COMM), 0);
    end_tracing();
}

static uint32_t triggered(void)
{
    struct kymo_trace_owner owner;

    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYOWNER, 0, 0, &owner), 0);
    return owner.triggered;
}

/* The hook of a ring that runs is raised for a trigger, at that CPU's exit, once; not after STOP;
 * the next START forgets it. */
static void a_trigger_is_told_once(void **state)
{
    (void)state;
    fake_boot(2);
    start_tracing(2, _NTO_TRACE_SETRINGMODE);
    unsigned before = fake.raised[1];
    fake_on(1);
    fake_exit();
    assert_int_equal(fake.raised[1], before);
    assert_int_equal(triggered(), 0);
    trace_trigger();
    trace_trigger();
    assert_int_equal(fake.raised[1], before);
    assert_int_equal(triggered(), 1);
    fake_exit();
    assert_int_equal(fake.raised[1], before + 1);
    trace_trigger();
    fake_exit();
    trace_kernel_exit();
    assert_int_equal(fake.raised[1], before + 1);
    fake_back((struct fake_where){0, 0});
    trace_kernel_exit();
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(triggered(), 1);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(triggered(), 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    trace_trigger();
    assert_int_equal(triggered(), 0);
    end_tracing();
}

/* Another CPU that leaves the kernel meanwhile doesn't tell it: the event may not be logged yet. */
static void its_own_cpu_tells_a_trigger(void **state)
{
    (void)state;
    fake_boot(2);
    start_tracing(2, _NTO_TRACE_SETRINGMODE);
    unsigned before[2] = {fake.raised[0], fake.raised[1]};
    struct fake_where back = fake_on(1);
    trace_trigger();
    fake_back(back);
    trace_kernel_exit();
    assert_int_equal(fake.raised[0], before[0]);
    fake_on(1);
    fake_exit();
    assert_int_equal(fake.raised[1], before[1] + 1);
    fake_back(back);
    end_tracing();
}

/* What was recorded before it had one is nothing to the next owner. */
static void new_buffers_have_no_trigger(void **state)
{
    uint64_t paddr;

    (void)state;
    begin();
    trace_trigger();
    assert_int_equal(triggered(), 1);
    end_tracing();
    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, 2, 0, &paddr), 0);
    assert_int_equal(triggered(), 0);
    end_tracing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_asked_unless_armed),
        cmocka_unit_test(refused_events_are_counted_apart),
        cmocka_unit_test(filtered_events_and_dumps_are_not_asked_about),
        cmocka_unit_test(names_pass),
        cmocka_unit_test(forms_stay),
        cmocka_unit_test(predicates_have_the_words),
        cmocka_unit_test(setting_it),
        cmocka_unit_test(how_it_ends),
        cmocka_unit_test(no_cpu_asks_what_is_gone),
        cmocka_unit_test(counts_begin_with_the_buffers),
        cmocka_unit_test(a_trigger_is_told_once),
        cmocka_unit_test(its_own_cpu_tells_a_trigger),
        cmocka_unit_test(new_buffers_have_no_trigger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
