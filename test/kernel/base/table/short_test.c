/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables that grow, and no memory for one more entry: a pulse that is refused has no event, and
 * what is refused is not charged. */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct thread *server, *client;

static int setup(void **state)
{
    (void)state;
    server = world_process(0, 20, DATA);
    client = world_process(0, 10, DATA);
    assert_int_equal(CALL(server, CHANNEL_CREATE, 0), 1);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    CALL(client, CHANNEL_CREATE, 0);
    return 0;
}

static bool short_always(void)
{
    return true;
}

static long send(void)
{
    return CALL(client, MSG_SEND_PULSE, 0, 10, 5, 77);
}

static void test_send_pulse(void **state)
{
    const unsigned *events = &fake_events[TRACE_EV_comm_snd_pulse], before = *events;

    (void)state;
    fake_memory_short = short_always;
    assert_int_equal(send(), -EAGAIN);
    assert_int_equal(*events, before);
    assert_int_equal(client->proc->quota.used[KYMO_LIMIT_PULSES], 0);
    fake_memory_short = NULL;
    assert_int_equal(send(), 0);
    assert_int_equal(*events, before + 1);
    /* a receiver that waits needs no entry */
    CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(sizeof(struct _pulse)), 0);
    assert_int_equal(CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(sizeof(struct _pulse)), 0), BLOCKED);
    fake_memory_short = short_always;
    assert_int_equal(send(), 0);
    assert_int_equal(*events, before + 2);
}

static void test_deliver_event(void **state)
{
    const unsigned *events = &fake_events[TRACE_EV_comm_snd_pulse_exe], before = *events;
    long own = CALL(client, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
    struct sigevent event = {0};

    (void)state;
    SIGEV_PULSE_INIT(&event, (int)own, 15, 3, 4);
    memcpy(world_at(server, AT(2)), &event, sizeof(event));
    CALL(client, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
    uintptr_t rcvid = (uintptr_t)CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(8), 0);
    fake_memory_short = short_always;
    assert_int_equal(CALL(server, MSG_DELIVER_EVENT, rcvid, AT(2)), -EAGAIN);
    assert_int_equal(*events, before);
    fake_memory_short = NULL;
    assert_int_equal(CALL(server, MSG_DELIVER_EVENT, rcvid, AT(2)), 0);
    assert_int_equal(*events, before + 1);
}

static void test_nothing_is_charged(void **state)
{
    struct sigevent event = {0};
    struct quota before = client->proc->quota;

    (void)state;
    memcpy(world_at(client, AT(2)), &event, sizeof(event));
    fake_memory_short = short_always;
    assert_int_equal(CALL(client, CHANNEL_CREATE, 0), -EAGAIN);
    assert_int_equal(CALL(client, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0), -EAGAIN);
    assert_int_equal(CALL(client, TIMER_CREATE, CLOCK_MONOTONIC, AT(2)), -EAGAIN);
    assert_int_equal(memcmp(&before, &client->proc->quota, sizeof(before)), 0);
    fake_memory_short = NULL;
    assert_true(CALL(client, CHANNEL_CREATE, 0) > 0);
    assert_true(CALL(client, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0) > 0);
    assert_true(CALL(client, TIMER_CREATE, CLOCK_MONOTONIC, AT(2)) > 0);
}

static int teardown(void **state)
{
    fake_memory_short = NULL;
    return world_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_send_pulse, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deliver_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_charged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
