/* SPDX-License-Identifier: BSD-2-Clause */
/* The heaps of timer nodes (kernel/time/timer.c): the order in which nodes fire. */
#include "kernel/arch/irq.h"
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/time/time.h"
#include "test/tool/random.h"

#define MS 1000000u

/* Nodes fire by time, those of one time as they were started, whatever was started and stopped. */
#define SEVERAL 24
static struct timer_node several[SEVERAL];
static unsigned last_fired, count_fired;
static uint32_t order_of[SEVERAL], starts;

static void one_of_several(struct timer_node *node)
{
    unsigned n = (unsigned)(node - several);
    const struct timer_node *before = &several[last_fired];
    assert_true(count_fired == 0 || before->at < node->at ||
                (before->at == node->at && order_of[last_fired] < order_of[n]));
    last_fired = n;
    count_fired++;
}

static void change_several(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 3 * SEVERAL; i++) {
        unsigned n = random_below(SEVERAL);
        if (random_below(3) == 0) {
            timer_node_stop(&several[n]);
        } else {
            order_of[n] = starts++;
            timer_node_start(&several[n], fake_now + clock_ns_to_cycles(random_below(8) * MS));
        }
    }
}

static void test_heap(void **state)
{
    (void)state;
    random_start();
    for (unsigned n = 0; n < SEVERAL; n++) {
        timer_node_init(&several[n], one_of_several);
    }
    for (unsigned round = 0; round < 200; round++) {
        unsigned running = 0;
        world_do(0, change_several, NULL);
        world_check();
        for (unsigned n = 0; n < SEVERAL; n++) {
            running += timer_node_running(&several[n]);
        }
        count_fired = 0;
        fake_now += FAKE_HZ / 100; /* all of them are due */
        world_advance(1);
        assert_int_equal(count_fired, running);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_heap, world_teardown),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
