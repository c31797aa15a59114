/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose the buffers are: the owner's death in each mode, a hook that is detached or never there,
 * what the state dump asks before it goes on, and a second consumer beside the event log.
 */
#include "test/trace/look.h"

#include <string.h>

#include "trace/consumer.h"

#define OTHER ((void *)0x2000)
#define FULL (TRACE_BUFFER_SLOTS - 2)

/* ---- who it is --------------------------------------------------------------------- */

static void check_owner(int32_t pid, bool gone, bool running, unsigned per_cpu)
{
    struct kymo_trace_owner owner;

    memset(&owner, 0xa5, sizeof(owner));
    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYOWNER, 0, 0, &owner), 0);
    assert_int_equal(owner.pid, pid);
    assert_int_equal(owner.gone, gone);
    assert_int_equal(owner.running, running);
    assert_int_equal(owner.per_cpu, per_cpu);
    assert_string_equal(owner.name, "tracelogger");
}

/* What whoever is refused with EEXIST can say about why. */
static void the_owner_is_told(void **state)
{
    struct kymo_trace_owner owner;

    (void)state;
    fake_boot(2);
    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYOWNER, 0, 0, &owner), -EFAULT);
    start_tracing(3, _NTO_TRACE_SETRINGMODE);
    assert_int_equal(alloc_as(OTHER, 7), -EEXIST);
    check_owner(1, false, true, 3); /* not he who was refused */
    trace_owner_gone(OWNER);
    assert_int_equal(alloc_as(OTHER, 7), -EEXIST); /* the ring still runs */
    check_owner(1, true, true, 3);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_STOP, 0, 0, NULL), 0);
    check_owner(1, true, false, 3);
    assert_int_equal(alloc_as(OTHER, 7), 0);
    check_owner(2, false, false, 7);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_DEALLOCBUFFER, 0, 0, NULL), 0);
    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYOWNER, 0, 0, &owner), -EFAULT);
    fake.fail_at = 1;
    assert_int_equal(alloc_as(OWNER, 3), -ENOMEM);
    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYOWNER, 0, 0, &owner), -EFAULT);
}

/* A name that is too long is cut, and ends. */
static void a_long_name_is_cut(void **state)
{
    char name[KYMO_TRACE_NAME_MAX + 20];
    struct trace_caller who = {.owner = OWNER, .pid = 9, .able = true, .name = name};
    struct kymo_trace_owner owner;

    (void)state;
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    fake_boot(1);
    assert_int_equal(trace_control(&who, _NTO_TRACE_ALLOCBUFFER, (uint32_t[4]){2}, &look_paddr), 0);
    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYOWNER, 0, 0, &owner), 0);
    assert_int_equal(strlen(owner.name), KYMO_TRACE_NAME_MAX - 1);
    end_tracing();
}

/* ---- the owner's death ------------------------------------------------------------- */

static void death_of_the_owner_in_linear_mode(void **state)
{
    (void)state;
    fake_boot(2);
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    insert_events(10);
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    assert_int_equal(take_as(OWNER), 0);
    insert_events(20);
    trace_owner_gone(OTHER); /* not he */
    trace_owner_gone(NULL);
    assert_true(trace_running());
    assert_int_equal(look_count(0, TRACE_BUSY), 1);
    trace_owner_gone(OWNER);
    assert_false(trace_running());
    assert_int_equal(look_count(0, TRACE_BUSY), 0);
    assert_int_equal(look_count(0, TRACE_READY), 1); /* what he had not taken is still there */
    assert_int_equal(command_as(OTHER, _NTO_TRACE_FLUSHBUFFER, 0, 0, NULL), 0);
    assert_int_equal(command_as(OTHER, KYMO_TRACE_TAKEBUFFER, 0, 0, &look_taken), 0);
    assert_int_equal(look_taken.slots, 22);
    assert_int_equal(command_as(OTHER, KYMO_TRACE_GIVEBUFFER, look_taken.index, 0, NULL), 0);
    assert_int_equal(loss_of(0).made, 30);
    /* The next logger allocates: what was left goes first. */
    assert_int_equal(alloc_as(OTHER, 2), 0);
    assert_int_equal(fake.blocks, 2);
    assert_int_equal(alloc_as(OWNER, 2), -EEXIST);
    assert_int_equal(loss_of(0).made, 0);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_STARTNOSTATE, 0, 0, NULL), 0);
    insert_events(1);
    assert_int_equal(look_slots(0, 0)[0].d1, 1);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_DEALLOCBUFFER, 0, 0, NULL), 0);
    assert_int_equal(fake.blocks, 0);
}

static void death_of_the_owner_of_a_ring(void **state)
{
    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETRINGMODE);
    insert_events(5);
    trace_owner_gone(OWNER);
    assert_true(trace_running()); /* a ring goes on: it is there for a crash */
    insert_events(5);
    assert_int_equal(look_active_slots(0), 12);
    assert_int_equal(alloc_as(OTHER, 2), -EEXIST);
    assert_int_equal(take_as(OTHER), -EBUSY);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_STOP, 0, 0, NULL), 0);
    assert_int_equal(take_as(OTHER), 0);
    assert_int_equal(look_taken.slots, 12);
    assert_int_equal(alloc_as(OTHER, 3), 0); /* stopped and nobody's: freed and had anew */
    assert_int_equal(look_count(0, TRACE_FREE), 3);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_DEALLOCBUFFER, 0, 0, NULL), 0);
    assert_int_equal(fake.blocks, 0);
}

static void death_of_the_owner_of_a_fill(void **state)
{
    (void)state;
    fake_boot(1);
    start_tracing(2, KYMO_TRACE_SETFILLMODE);
    insert_events(5);
    trace_owner_gone(OWNER);
    assert_false(trace_running());
    assert_int_equal(command_as(OTHER, _NTO_TRACE_DEALLOCBUFFER, 0, 0, NULL), 0);
    assert_int_equal(fake.blocks, 0);
}

static void the_hook_is_detached(void **state)
{
    static const struct {
        uint32_t mode;
        bool runs;
    } cases[] = {{_NTO_TRACE_SETLINEARMODE, false},
                 {_NTO_TRACE_SETRINGMODE, true},
                 {KYMO_TRACE_SETFILLMODE, true}};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        fake_boot(1);
        start_tracing(2, cases[i].mode);
        trace_hook_detached();
        assert_int_equal(trace_running(), cases[i].runs);
        end_tracing();
    }
}

/* Whoever is told may have gone: nothing depends on it. */
static void nobody_listens(void **state)
{
    (void)state;
    fake_boot(1);
    fake.hook = false;
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    insert_events(800);
    fake_exit();
    assert_int_equal(take_as(OWNER), 0);
    assert_int_equal(look_taken.slots, 802);
    end_tracing();
}

/* ---- the state dump's questions ---------------------------------------------------- */

static void room_for_a_dump(void **state)
{
    (void)state;
    fake_boot(1);
    assert_true(trace_dump_room()); /* stopped: it will find out */
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_true(trace_dump_room());
    insert_events(FULL);
    assert_true(trace_dump_room()); /* a FREE one */
    insert_events(1);
    assert_true(trace_dump_room()); /* half of this one */
    insert_events(FULL - 400);
    assert_false(trace_dump_room());
    assert_int_equal(take_as(OWNER), 0);
    assert_false(trace_dump_room());
    fake.freed_told = 0;
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, look_taken.index), 0);
    assert_int_equal(fake.freed_told, 1); /* who waits is woken, and finds room */
    assert_true(trace_dump_room());
    insert_events(FULL);
    assert_false(trace_dump_room());
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(fake.freed_told, 2);
    assert_true(trace_dump_room());
    end_tracing();
    fake_boot(1);
    start_tracing(2, KYMO_TRACE_SETFILLMODE); /* nothing would ever end the wait */
    insert_events(3 * FULL);
    assert_true(trace_dump_room());
    end_tracing();
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETRINGMODE);
    insert_events(3 * FULL);
    assert_true(trace_dump_room());
    end_tracing();
}

/* ---- two consumers ----------------------------------------------------------------- */

static struct trace_ring second_rings[FAKE_CPUS];

static struct trace_ring *second_ring(unsigned cpu)
{
    return &second_rings[cpu];
}

/* Another consumer's buffers, of another size, are its own: states, owner, end. */
static void two_consumers(void **state)
{
    struct trace_consumer second = {.ring_of = second_ring};
    uint32_t index, local;
    unsigned cpu;

    (void)state;
    fake_boot(2);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(trace_consumer_alloc(&second, OTHER, 3, 4096, false), 0);
    assert_int_equal(trace_consumer_alloc(&second, OTHER, 3, 4096, false), -EEXIST);
    assert_int_equal(second.bytes, 2 * 3 * 4096);
    insert_events(10);
    assert_int_equal(trace_ring_obtain(&second_rings[1], false, &local), TRACE_FOUND_FREE);
    trace_ring_begin(&second_rings[1], local);
    memset(trace_ring_data(&second_rings[1], local), 0xab, 4096);
    trace_ring_close(&second_rings[1]);
    index = trace_consumer_take(&second, &cpu, &local);
    assert_int_equal(index, 3);
    assert_int_equal(cpu, 1);
    assert_int_equal(trace_consumer_take(&second, &cpu, &local), TRACE_NONE);
    assert_int_equal(trace_consumer_give(&second, 6), -EINVAL);
    assert_int_equal(trace_consumer_give(&second, 2), -EINVAL);
    trace_owner_gone(OTHER); /* not the log's owner */
    assert_true(trace_running());
    trace_consumer_orphan(&second);
    assert_int_equal(trace_ring_free(&second_rings[1]), 3);
    assert_null(second.owner);
    trace_consumer_free(&second);
    assert_null(second.block);
    assert_int_equal(look_active_slots(0), 12);
    assert_int_equal(fake.blocks, 2);
    end_tracing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_owner_is_told),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(death_of_the_owner_in_linear_mode),
        cmocka_unit_test(death_of_the_owner_of_a_ring),
        cmocka_unit_test(death_of_the_owner_of_a_fill),
        cmocka_unit_test(the_hook_is_detached),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(room_for_a_dump),
        cmocka_unit_test(two_consumers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
