/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine that stops between two steps of a buffer's giving way, with losses of many classes:
 * each is found once in its retained memory, in the buffer or among those that are pending.
 */
#include "test/trace/retained.h"

#include <string.h>

#include "trace/loss.h"

#define LOSER 1 /* the CPU */
static uint64_t losses;
static bool discards;
static unsigned looks;

static void lose_of_many_classes(void)
{
    losses = 0;
    looks = 0;
    for (unsigned slot_class = 2; slot_class < 10; slot_class++) {
        trace_loss_add(&trace_port_cpu_at(LOSER)->loss, KYMO_DROP_TOOBIG, slot_class, slot_class);
        losses += slot_class;
    }
}

static void look_at_losses(void)
{
    struct retained_account accounts[CPUS];

    stop_the_machine();
    assert_true(open_image());
    retained_account(accounts);
    if (discards) { /* until the ring is no more */
        assert_in_range(accounts[LOSER].events + accounts[LOSER].dropped, 0, made[LOSER] + losses);
    } else { /* events that were overwritten in a ring are no losses */
        assert_int_equal(accounts[LOSER].dropped, losses);
    }
    looks++;
}

static void look_in_window(const char *where)
{
    if (strcmp(where, "window") == 0) {
        look_at_losses();
    }
}

static void each_loss_is_found_once(void **state)
{
    (void)state;
    retained_boot(4);
    lose_of_many_classes();
    while (ring_of(LOSER)->sequence < 3) {
        retained_make(LOSER);
    }
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    discards = false;
    look_at_losses();
    discards = true;
    fake.cross_called = look_at_losses;
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0);
    fake.cross_called = NULL;
    assert_true(looks > 3);
    retained_end();

    retained_boot(3);
    lose_of_many_classes();
    discards = false;
    fake.yield = look_in_window;
    for (unsigned i = 0; i < 6000; i++) {
        retained_make(LOSER);
    }
    fake.yield = NULL;
    assert_true(looks > 3);
    retained_end();
}

static void *in_image(const void *at)
{
    return &image[(const uint8_t *)at - fake_window];
}

/* Whatever a window says of its DROPPED slots, nothing outside of the account is changed. */
static void hostile_slots(void **state)
{
    struct retained_account accounts[CPUS];

    (void)state;
    retained_boot(3);
    lose_of_many_classes();
    while (ring_of(LOSER)->sequence < 2) {
        retained_make(LOSER);
    }
    for (unsigned i = 0; i < 3000; i++) {
        stop_the_machine();
        struct trace_buffer *buffer = in_image(&ring_of(LOSER)->buffers[0]);
        struct trace_slot *slots = in_image(trace_ring_data(ring_of(LOSER), 0));

        buffer->dropped_back = (uint16_t)random_below(20);
        slots[2 + random_below(8)].d1 = random_below(random_below(2) ? 1 << 12 : UINT32_MAX);
        assert_true(open_image());
        retained_account(accounts);
    }
    retained_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_loss_is_found_once),
        cmocka_unit_test(hostile_slots),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
