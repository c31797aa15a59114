/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent()'s control commands: who may, what each does in each state, the errno of every wrong
 * argument; the life of the buffers. Who owns them, and if he dies: owner_test.c.
 */
#include "test/trace/look.h"

#include <stdlib.h>
#include <string.h>

#include "trace/control.h"
#include "trace/hook.h"

#define OTHER ((void *)0x2000)
#define FULL (TRACE_BUFFER_SLOTS - 2)

static const uint32_t all_commands[] = {
    _NTO_TRACE_ADDALLCLASSES,
    _NTO_TRACE_DELALLCLASSES,
    _NTO_TRACE_ADDCLASS,
    _NTO_TRACE_DELCLASS,
    _NTO_TRACE_ADDEVENT,
    _NTO_TRACE_DELEVENT,
    _NTO_TRACE_START,
    _NTO_TRACE_STOP,
    _NTO_TRACE_ALLOCBUFFER,
    _NTO_TRACE_DEALLOCBUFFER,
    _NTO_TRACE_FLUSHBUFFER,
    _NTO_TRACE_QUERYEVENTS,
    _NTO_TRACE_SETALLCLASSESFAST,
    _NTO_TRACE_SETALLCLASSESWIDE,
    _NTO_TRACE_SETCLASSFAST,
    _NTO_TRACE_SETCLASSWIDE,
    _NTO_TRACE_SETEVENTFAST,
    _NTO_TRACE_SETEVENTWIDE,
    _NTO_TRACE_SETCLASSPID,
    _NTO_TRACE_SETCLASSTID,
    _NTO_TRACE_SETEVENTPID,
    _NTO_TRACE_SETEVENTTID,
    _NTO_TRACE_CLRCLASSPID,
    _NTO_TRACE_CLRCLASSTID,
    _NTO_TRACE_CLREVENTPID,
    _NTO_TRACE_CLREVENTTID,
    _NTO_TRACE_STARTNOSTATE,
    _NTO_TRACE_SETRINGMODE,
    _NTO_TRACE_SETLINEARMODE,
    _NTO_TRACE_SKIPBUFFER,
    _NTO_TRACE_OVERWRITEBUFFER,
    _NTO_TRACE_QUERYVERSION,
    _NTO_TRACE_QUERYSUPPORT,
    KYMO_TRACE_TAKEBUFFER,
    KYMO_TRACE_GIVEBUFFER,
    KYMO_TRACE_SETFILLMODE,
    KYMO_TRACE_SETHIGHWATER,
    KYMO_TRACE_QUERYLOSS,
    KYMO_TRACE_QUERYOWNER,
    KYMO_TRACE_CLRALLTHREADS,
    KYMO_TRACE_FLUSHCPUS,
};
#define COMMANDS (sizeof(all_commands) / sizeof(all_commands[0]))

/* ---- who may ----------------------------------------------------------------------- */

static void without_the_ability_only_questions(void **state)
{
    struct trace_caller who = {.owner = OWNER, .pid = 1, .tid = 1, .able = false};
    uint64_t data[128];

    (void)state;
    fake_boot(1);
    for (unsigned buffers = 0; buffers < 2; buffers++) {
        for (unsigned i = 0; i < COMMANDS; i++) {
            uint32_t args[4] = {4, 0, 0, 0};
            long expected = all_commands[i] == _NTO_TRACE_QUERYVERSION   ? 640
                            : all_commands[i] == _NTO_TRACE_QUERYSUPPORT ? 1
                                                                         : -EPERM;
            assert_int_equal(trace_control(&who, all_commands[i], args, data), expected);
        }
        assert_int_equal(buffers ? 0 : alloc_as(OWNER, 2), 0);
    }
    end_tracing();
}

/* Others may start, stop, flush, filter and query; not what is the owner's. */
static void the_owner_owns(void **state)
{
    static const uint32_t own[] = {
        _NTO_TRACE_DEALLOCBUFFER, KYMO_TRACE_TAKEBUFFER,    KYMO_TRACE_GIVEBUFFER,
        _NTO_TRACE_SETRINGMODE,   _NTO_TRACE_SETLINEARMODE, KYMO_TRACE_SETFILLMODE,
        KYMO_TRACE_SETHIGHWATER,  _NTO_TRACE_SKIPBUFFER,    _NTO_TRACE_OVERWRITEBUFFER};
    struct kymo_trace_loss loss;

    (void)state;
    fake_boot(1);
    assert_int_equal(alloc_as(OWNER, 2), 0);
    for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        assert_int_equal(command_as(OTHER, own[i], 100, 0, &look_taken), -EPERM);
    }
    assert_int_equal(alloc_as(OTHER, 2), -EEXIST);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_ADDALLCLASSES, 0, 0, NULL), 0);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_STARTNOSTATE, 0, 0, NULL), 0);
    insert_events(4);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_QUERYEVENTS, 0, 0, NULL), 6);
    assert_int_equal(command_as(OTHER, KYMO_TRACE_QUERYLOSS, 0, 0, &loss), 0);
    assert_int_equal(loss.made, 4);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_FLUSHBUFFER, 0, 0, NULL), 0);
    assert_int_equal(command_as(OTHER, _NTO_TRACE_STOP, 0, 0, NULL), 0);
    assert_int_equal(take_as(OWNER), 0);
    end_tracing();
}

/* ---- without buffers, with wrong arguments ----------------------------------------- */

static void without_buffers(void **state)
{
    struct kymo_trace_loss loss;
    uint64_t bytes;

    (void)state;
    fake_boot(2);
    assert_int_equal(command(_NTO_TRACE_START), -ECANCELED);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), -ECANCELED);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), -EFAULT);
    assert_int_equal(command(_NTO_TRACE_QUERYEVENTS), -EFAULT);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), -EFAULT);
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), -ECANCELED);
    assert_int_equal(command(_NTO_TRACE_SETLINEARMODE), -ECANCELED);
    assert_int_equal(command(KYMO_TRACE_SETFILLMODE), -ECANCELED);
    assert_int_equal(take_as(OWNER), -EFAULT);
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, 0), -EFAULT);
    assert_int_equal(command(_NTO_TRACE_SKIPBUFFER), 0); /* holds when there are some */
    assert_int_equal(command(_NTO_TRACE_OVERWRITEBUFFER), 0);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYLOSS, 1, 0, &loss), 0);
    assert_int_equal(loss.made, 0);
    assert_null(trace_buffers(&look_paddr, &bytes));
    assert_int_equal(bytes, 0);
    assert_false(trace_running());
    trace_kernel_exit();
    trace_owner_gone(OWNER);
    trace_hook_detached();
    assert_int_equal(fake.raised[0], 0);
}

static void wrong_arguments(void **state)
{
    struct kymo_trace_loss loss;

    (void)state;
    fake_boot(2);
    assert_int_equal(alloc_as(OWNER, 0), -EINVAL);
    assert_int_equal(alloc_as(OWNER, 1), -EINVAL);
    assert_int_equal(alloc_as(OWNER, 1025), -EINVAL);
    assert_int_equal(alloc_as(OWNER, UINT32_MAX), -EINVAL);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, 2, 0, NULL), -EFAULT);
    assert_int_equal(fake.blocks, 0);
    assert_int_equal(alloc_as(OWNER, 2), 0);
    assert_int_equal(alloc_as(OWNER, 2), -EEXIST);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, NULL), -EFAULT);
    assert_int_equal(take_as(OWNER), -EAGAIN);
    for (uint32_t index = 0; index < 8; index++) {
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, index), -EINVAL);
    }
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, UINT32_MAX), -EINVAL);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, 0), -EINVAL);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, 15), -EINVAL);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, 1025), -EINVAL);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, UINT32_MAX), -EINVAL);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, 16), 0);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, 1024), 0);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYLOSS, 2, 0, &loss), -EINVAL);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYLOSS, UINT32_MAX, 0, &loss), -EINVAL);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYLOSS, 0, 0, NULL), -EFAULT);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYOWNER, 0, 0, NULL), -EFAULT);
    end_tracing();
}

/* Any number of arguments with any number of a command that isn't one of ours. */
static void unknown_commands(void **state)
{
    uint64_t data[128];

    (void)state;
    fake_boot(1);
    for (uint32_t number = 0; number < 0x1010; number++) {
        for (uint32_t args = 0; args < 8; args++) {
            uint32_t cmd = args << 28 | number;
            bool known = false;

            for (unsigned i = 0; i < COMMANDS; i++) {
                known |= cmd == all_commands[i];
            }
            if (!known) {
                assert_int_equal(command_as(OWNER, cmd, 1, 1, data), -ENOTSUP);
            }
        }
    }
    assert_int_equal(command(0xffffffff), -ENOTSUP);
    assert_int_equal(fake.allocs, 0);
}

/* ---- buffers ----------------------------------------------------------------------- */

static void buffers_are_one_zeroed_block(void **state)
{
    uint64_t where = 0, bytes = 0;

    (void)state;
    fake_boot(3);
    assert_int_equal(alloc_as(OWNER, 5), 0);
    const uint8_t *block = trace_buffers(&where, &bytes);
    assert_non_null(block);
    assert_true(where == look_paddr);
    assert_int_equal(bytes, 3 * 5 * TRACE_BUFFER_BYTES);
    for (unsigned cpu = 0; cpu < 3; cpu++) {
        for (unsigned i = 0; i < 5; i++) {
            assert_ptr_equal(look_slots(cpu, i), block + (cpu * 5 + i) * TRACE_BUFFER_BYTES);
            assert_int_equal(look_state(cpu, i), TRACE_FREE);
        }
    }
    for (uint64_t i = 0; i < bytes; i++) {
        assert_int_equal(block[i], 0);
    }
    end_tracing();
    assert_int_equal(fake.unmaps, 1);
    assert_null(trace_buffers(&where, &bytes));
}

static void no_memory(void **state)
{
    uint64_t bytes;

    (void)state;
    for (unsigned fail_at = 1; fail_at <= 2; fail_at++) {
        fake_boot(2);
        fake.fail_at = fail_at;
        assert_int_equal(alloc_as(OWNER, 4), -ENOMEM);
        assert_int_equal(fake.blocks, 0);
        assert_null(trace_buffers(&look_paddr, &bytes));
        assert_int_equal(bytes, 0);
        assert_int_equal(command(_NTO_TRACE_START), -ECANCELED);
        assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), -EFAULT);
        assert_int_equal(alloc_as(OTHER, 4), 0); /* nobody owns what was not had */
        assert_int_equal(command_as(OTHER, _NTO_TRACE_DEALLOCBUFFER, 0, 0, NULL), 0);
    }
    fake_boot(FAKE_CPUS);
    assert_int_equal(alloc_as(OWNER, 1024), 0); /* 64 MB, the most that is contiguous here */
    end_tracing();
    fake.contiguous = TRACE_BUFFER_BYTES * 100;
    assert_int_equal(alloc_as(OWNER, 26), -ENOMEM);
    assert_int_equal(fake.blocks, 0);
    assert_int_equal(alloc_as(OWNER, 25), 0);
    end_tracing();
}

/* Freed while it runs, with buffers in every state; then used again from the beginning. */
static void freed_at_work(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        if (round == 0) {
            fake_boot(2);
        }
        start_tracing(3, _NTO_TRACE_SETLINEARMODE);
        insert_events(2 * FULL + 10);
        assert_int_equal(take_as(OWNER), 0);
        assert_int_equal(look_taken.sequence, 1);
        assert_int_equal(look_count(0, TRACE_READY), 1);
        assert_int_equal(loss_of(0).made, 2 * FULL + 10);
        end_tracing();
        assert_false(trace_running());
        insert_events(3);
        trace_comm_snd_message(1, 2);
        fake_exit();
        assert_int_equal(loss_of(0).made, 0 + loss_of(0).lost[TRACE_CLASS_USER] + FULL);
        assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_DISCARDED], FULL + 10);
    }
}

/* ---- start, stop, modes ------------------------------------------------------------ */

static void start_and_stop(void **state)
{
    (void)state;
    fake_boot(1);
    assert_int_equal(alloc_as(OWNER, 3), 0);
    assert_int_equal(command(_NTO_TRACE_START), TRACE_DUMP_WANTED);
    assert_true(trace_running());
    assert_int_equal(command(_NTO_TRACE_START), 0); /* it runs: no second dump */
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0); /* linear: at once */
    assert_false(trace_running());
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    end_tracing();
}

/* A ring that began with its state ends with it, whoever's STOP has dumped it to the end. */
static void a_ring_dumps_again(void **state)
{
    (void)state;
    fake_boot(1);
    assert_int_equal(alloc_as(OWNER, 3), 0);
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0);
    assert_int_equal(command(_NTO_TRACE_START), TRACE_DUMP_WANTED);
    assert_int_equal(command(_NTO_TRACE_STOP), TRACE_DUMP_THEN_STOP);
    assert_true(trace_running());
    assert_int_equal(command(_NTO_TRACE_STOP), TRACE_DUMP_THEN_STOP); /* the first one has ended */
    assert_true(trace_running());
    assert_int_equal(trace_state_stop(), 0);
    assert_false(trace_running());
    assert_int_equal(command(_NTO_TRACE_START), TRACE_DUMP_WANTED);
    assert_int_equal(command(_NTO_TRACE_STOP), TRACE_DUMP_THEN_STOP);
    assert_int_equal(trace_state_stop(), 0);
    assert_false(trace_running());
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0); /* no state, no dump */
    end_tracing();
}

static void modes_need_a_stop(void **state)
{
    static const uint32_t modes[] = {_NTO_TRACE_SETRINGMODE, _NTO_TRACE_SETLINEARMODE,
                                     KYMO_TRACE_SETFILLMODE};

    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(command(modes[i]), -ECANCELED);
    }
    insert_events(10);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(command(modes[i]), 0);
    }
    end_tracing();
}

/* What a mode command clears is counted; BUSY buffers stay their process's. */
static void a_mode_command_clears(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(2);
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    insert_events(10);
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    assert_int_equal(take_as(OWNER), 0);
    insert_events(20);
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    insert_events(30);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(KYMO_TRACE_SETFILLMODE), 0);
    assert_int_equal(look_count(0, TRACE_BUSY), 1);
    assert_int_equal(look_count(0, TRACE_FREE), 3);
    assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_DISCARDED], 50);
    assert_int_equal(loss_of(0).pending[KYMO_DROP_DISCARDED][TRACE_CLASS_USER], 50);
    assert_int_equal(loss_of(0).made, 60);
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, look_taken.index), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert_events(1);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 1);
    assert_int_equal(tally.dropped[KYMO_DROP_DISCARDED][TRACE_CLASS_USER], 50);
    assert_int_equal(loss_of(0).made, 61);
    end_tracing();
}

/* ---- taking and giving ------------------------------------------------------------- */

static void taken_by_time_and_sequence(void **state)
{
    (void)state;
    fake_boot(2);
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    for (unsigned i = 0; i < 4; i++) {
        struct fake_where back = fake_on(1 - i % 2);

        insert_events(5 + i);
        fake_back(back);
        assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
        fake_pass(0, 100);
        fake_pass(1, 100);
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(take_as(OWNER), 0);
        assert_int_equal(look_taken.cpu, 1 - i % 2);
        assert_int_equal(look_taken.sequence, 1 + i / 2);
        assert_int_equal(look_taken.index, (1 - i % 2) * 4 + i / 2);
        assert_int_equal(look_taken.slots, 2 + 5 + i);
    }
    assert_int_equal(take_as(OWNER), -EAGAIN);
    for (unsigned i = 4; i > 0; i--) { /* given back in any order, each once */
        uint32_t index = (i - 1) / 2 * 4 + (i - 1) % 2;

        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, index), 0);
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, index), -EINVAL);
    }
    assert_int_equal(fake.freed_told, 4);
    end_tracing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_ability_only_questions),
        cmocka_unit_test(the_owner_owns),
        cmocka_unit_test(without_buffers),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(unknown_commands),
        cmocka_unit_test(buffers_are_one_zeroed_block),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(freed_at_work),
        cmocka_unit_test(start_and_stop),
        cmocka_unit_test(a_ring_dumps_again),
        cmocka_unit_test(modes_need_a_stop),
        cmocka_unit_test(a_mode_command_clears),
        cmocka_unit_test(taken_by_time_and_sequence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
